"""A machine with several NUMA nodes, emulated: QEMU boots the distribution's kernel with a test's own files.

Emulation places pages as hardware does, and is slow: so placement can be tested on it, and never time.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
KERNEL = HERE.parent.parent / "build/guest/vmlinuz"
QEMU = "qemu-system-x86_64"
APPLETS = ("sh", "cat", "mktemp", "mount", "poweroff")


@dataclass(frozen=True)
class Node:
    """A node with so many CPUs, which are numbered through, and so much memory."""

    cpus: int
    mebibytes: int


@dataclass(frozen=True)
class Done:
    """A command that ran in the guest."""

    output: str
    exit_code: int


def busybox() -> str:
    """A static one, or a skip that says what is missing of this and the rest."""
    if os.uname().machine != "x86_64":
        pytest.skip(f"the guest is an x86_64 machine, this is {os.uname().machine}")
    if shutil.which(QEMU) is None:
        pytest.skip(f"no {QEMU} (package qemu-system-x86)")
    if not KERNEL.exists():
        pytest.skip("no kernel for a guest: setup/guest-kernel could not fetch it")
    found = shutil.which("busybox")
    if found is None or b"not a dynamic" not in subprocess.run(["ldd", found], capture_output=True, check=False).stderr:
        pytest.skip("no static busybox (package busybox-static)")
    return found


class Root:
    """The guest's files, made in a folder of the host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "proc", "sys", "dev", "tmp"):
            (folder / name).mkdir(parents=True)
        shutil.copy(busybox(), folder / "bin/busybox")
        for applet in APPLETS:
            (folder / "bin" / applet).symlink_to("busybox")
        shutil.copy(HERE / "init", folder / "init")

    def add(self, source: Path, target: str) -> None:
        """A file or a folder, and where the host's loader finds the libraries of what is in it."""
        to = self.folder / target.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        files = [source]
        if source.is_dir():
            shutil.copytree(source, to, symlinks=True)
            files = [f for f in source.rglob("*") if f.is_file() and (f.name.endswith(".so") or os.access(f, os.X_OK))]
        else:
            shutil.copy(source, to)
        told = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
        for library in set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", told, re.MULTILINE)):
            copy = self.folder / library.lstrip("/")
            if not Path(library).is_relative_to(source) and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, copy)


def boot(root: Root, nodes: Sequence[Node], commands: Sequence[str], seconds: int = 300) -> list[Done]:
    """Runs the commands one after the other in a guest with these nodes, numbered from 0."""
    (root.folder / "commands").write_text("".join(f"{command}\n" for command in commands))
    image = root.folder.with_suffix(".cpio")
    archive = f"cd '{root.folder}' && find . | '{root.folder}/bin/busybox' cpio -o -H newc >'{image}' 2>'{image}.log'"
    subprocess.run(["sh", "-c", archive], check=True)
    devices, first = [], 0
    for number, node in enumerate(nodes):
        last = first + node.cpus - 1
        devices += ["-object", f"memory-backend-ram,id=memory{number},size={node.mebibytes}M"]
        devices += ["-numa", f"node,nodeid={number},cpus={first}-{last},memdev=memory{number}"]
        first = last + 1
    command = [
        *[QEMU, "-accel", "tcg,thread=multi", "-M", "q35", "-nodefaults", "-no-user-config"],
        # Without cmpxchg16b, in whose emulation QEMU 7.2 has a bug that Linux 6.12 meets.
        *["-cpu", "max,-cx16", "-smp", f"{first},sockets={first},cores=1,threads=1"],
        *["-m", f"{sum(node.mebibytes for node in nodes)}M", *devices],
        *["-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", KERNEL, "-initrd", image],
        # No page is to move but by who is tested.
        *["-append", "console=ttyS0 quiet panic=-1 numa_balancing=disable"],
    ]
    try:
        ran = subprocess.run(
            [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as slow:
        output = (slow.stdout or b"").decode(errors="replace")
        pytest.fail(f"the guest did not end within {seconds} s; it said:\n{output[-3000:]}")
    console = ran.stdout.decode(errors="replace").replace("\r", "")
    done = [
        Done(output, int(code))
        for output, code in re.findall(r"^<<< output \d+\n(.*?)^<<< exit \d+ (\d+)$", console, re.MULTILINE | re.DOTALL)
    ]
    online = "0" if len(nodes) == 1 else f"0-{len(nodes) - 1}"
    if f"<<< nodes {online}\n" not in console or len(done) != len(commands):
        pytest.fail(f"the guest did not do as told: {ran.stderr.decode(errors='replace')}\n{console[-3000:]}")
    return done
