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

from memgraft.errors import CannotTakeError, MemgraftError

HERE = Path(__file__).resolve().parent
KERNEL = HERE.parent.parent / "build/guest/vmlinuz"
"""Of a checkout; setup/guest-kernel fetches it."""
QEMU = "qemu-system-x86_64"
APPLETS = (
    *("sh", "cat", "echo", "grep", "head", "kill", "ls", "mkdir", "mktemp", "mount", "pidof", "poweroff", "sleep"),
    *("stty", "tail", "timeout", "wc"),
)
OUTBOX = "/dev/ttyS1"
"""What the guest writes there is in a file of the host at once (`boot(outbox=...)`)."""


class GuestError(MemgraftError):
    """The emulated machine did not do as told."""


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
    """A static one, or CannotTakeError, which says what is missing of this and the rest."""
    if os.uname().machine != "x86_64":
        raise CannotTakeError(f"the guest is an x86_64 machine, this is {os.uname().machine}")
    if shutil.which(QEMU) is None:
        raise CannotTakeError(f"no {QEMU} to emulate a machine with nodes (package qemu-system-x86)")
    if not KERNEL.exists():
        raise CannotTakeError(
            f"no kernel for an emulated machine at {KERNEL}: setup/guest-kernel of a checkout fetches it"
        )
    found = shutil.which("busybox")
    if found is None or b"not a dynamic" not in subprocess.run(["ldd", found], capture_output=True, check=False).stderr:
        raise CannotTakeError("no static busybox for an emulated machine (package busybox-static)")
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


def _devices(nodes: Sequence[Node], distances: Sequence[Sequence[int]]) -> list[str]:
    """QEMU's arguments for the nodes: which memory and which CPUs each has, and how far they are from each other."""
    devices, first = [], 0
    for number, node in enumerate(nodes):
        last = first + node.cpus - 1
        devices += ["-object", f"memory-backend-ram,id=memory{number},size={node.mebibytes}M"]
        devices += ["-numa", f"node,nodeid={number},cpus={first}-{last},memdev=memory{number}"]
        first = last + 1
    for one, row in enumerate(distances):
        for other, distance in enumerate(row):
            if other != one:
                devices += ["-numa", f"dist,src={one},dst={other},val={distance}"]
    return devices


def boot(
    root: Root,
    nodes: Sequence[Node],
    commands: Sequence[str],
    seconds: int = 1200,
    *,
    numa_balancing: bool = False,
    concurrent: bool = False,
    distances: Sequence[Sequence[int]] = (),
    plugins: Sequence[str] = (),
    outbox: Path | None = None,
) -> list[Done]:
    """Runs the commands one after the other in a guest with these nodes, numbered from 0.

    Without `numa_balancing` no page moves by itself. CPUs take turns on one of this machine's, so that none waits for
    another that does not run; with `concurrent` they run at the same time, as a race needs it, and wait for this
    machine's CPUs, and for each other. `distances`: a row for each node, 10 from a node to itself.
    `plugins`: FILE,NAME=VALUE,... of QEMU, as those of observation/plugin. `outbox`: a file here that gets what the
    guest writes to OUTBOX, which a pipe or another process may read meanwhile.
    """
    (root.folder / "commands").write_text("".join(f"{command}\n" for command in commands))
    image = root.folder.with_suffix(".cpio")
    archive = f"cd '{root.folder}' && find . | '{root.folder}/bin/busybox' cpio -o -H newc >'{image}' 2>'{image}.log'"
    subprocess.run(["sh", "-c", archive], check=True)
    extra = [word for plugin in plugins for word in ("-plugin", plugin)]
    extra += ["-serial", f"file:{outbox}"] if outbox else []
    balancing = "enable" if numa_balancing else "disable"
    threads = "multi" if concurrent else "single"
    cpus = sum(node.cpus for node in nodes)
    command = [
        *[QEMU, "-accel", f"tcg,thread={threads}", "-M", "q35", "-nodefaults", "-no-user-config"],
        # Without cmpxchg16b, in whose emulation QEMU 7.2 has a bug that Linux 6.12 meets.
        *["-cpu", "max,-cx16", "-smp", f"{cpus},sockets={cpus},cores=1,threads=1"],
        *["-m", f"{sum(node.mebibytes for node in nodes)}M", *_devices(nodes, distances)],
        *["-display", "none", "-no-reboot", "-serial", "stdio", *extra, "-kernel", KERNEL, "-initrd", image],
        # Unless told not to check, Linux panics where its timer does not tick in time, as happens on a busy machine.
        *["-append", f"console=ttyS0 quiet panic=-1 no_timer_check numa_balancing={balancing}"],
    ]
    try:
        ran = subprocess.run(
            [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as slow:
        output = (slow.stdout or b"").decode(errors="replace")
        raise GuestError(f"the guest did not end within {seconds} s; it said:\n{output[-3000:]}") from None
    console = ran.stdout.decode(errors="replace").replace("\r", "")
    done = [
        Done(output, int(code))
        for output, code in re.findall(r"^<<< output \d+\n(.*?)^<<< exit \d+ (\d+)$", console, re.MULTILINE | re.DOTALL)
    ]
    online = "0" if len(nodes) == 1 else f"0-{len(nodes) - 1}"
    if f"<<< nodes {online}\n" not in console or len(done) != len(commands):
        raise GuestError(f"the guest did not do as told: {ran.stderr.decode(errors='replace')}\n{console[-3000:]}")
    return done
