"""What this machine offers to `memgraft place`: nodes, monitors, and permission to move pages."""

import ctypes
import mmap
import os
import platform
from pathlib import Path
from typing import Any

# move_pages(2) has no wrapper in libc; Linux, arch/*/**/syscall*.tbl.
MOVE_PAGES = {"x86_64": 279, "aarch64": 239, "riscv64": 239, "ppc64le": 301}
# What the kernel calls memory samples: Intel's PEBS, AMD's IBS, ARM's SPE (Linux, arch/x86/events, drivers/perf).
SAMPLERS = {"cpu/events/mem-loads": "PEBS", "ibs_op": "IBS", "arm_spe_0": "SPE"}
USER_ONLY = 2
"""The largest perf_event_paranoid under which one may watch one's own processes (perf_event_open(2))."""


def examine(root: Path = Path("/")) -> dict[str, Any]:
    """As `memgraft doctor --json` prints it."""
    nodes = len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or 1
    paranoid = _number(root / "proc/sys/kernel/perf_event_paranoid")
    balancing = _number(root / "proc/sys/kernel/numa_balancing")
    return {
        "nodes": nodes,
        "numa_balancing": balancing,
        "perf_event_paranoid": paranoid,
        "hint_faults": _hint_faults(balancing, paranoid),
        "pmu": _pmu(root),
        "move_pages": move_pages(),
    }


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """In short lines of (what, how much)."""
    nodes = found["nodes"]
    return [
        (
            "nodes",
            str(nodes) if nodes > 1 else "1: nothing to place; `memgraft place --dry-run` shows who touches what",
        ),
        *((name, _said(found[key])) for name, key in (("hint faults", "hint_faults"), ("pmu", "pmu"))),
        ("move_pages", _said(found["move_pages"])),
    ]


def _said(check: dict[str, Any]) -> str:
    return f"{'yes' if check['available'] else 'no'}: {check['reason']}"


def _hint_faults(balancing: int | None, paranoid: int | None) -> dict[str, Any]:
    if balancing is None:
        return _check(False, "this kernel has no kernel.numa_balancing (CONFIG_NUMA_BALANCING)")
    if paranoid is None:
        return _check(False, "this kernel has no perf events")
    root = os.geteuid() == 0
    if paranoid > USER_ONLY and not root:
        return _check(
            False, f"kernel.perf_event_paranoid is {paranoid}; {USER_ONLY} or lower allows it, or CAP_PERFMON"
        )
    if balancing:
        return _check(True, f"kernel.numa_balancing is {balancing}")
    if root:
        return _check(True, "kernel.numa_balancing is 0; `memgraft place --numa-balancing` turns it on meanwhile")
    return _check(False, "kernel.numa_balancing is 0; as root `sysctl kernel.numa_balancing=1` turns it on")


def _pmu(root: Path) -> dict[str, Any]:
    devices = root / "sys/bus/event_source/devices"
    found = [name for path, name in SAMPLERS.items() if (devices / path).exists()]
    if found:
        return _check(True, f"{found[0]}: memory samples with address and latency")
    return _check(
        False, f"no PEBS, IBS or SPE under {devices}: virtual machines seldom have them; other monitors need none"
    )


def move_pages() -> dict[str, Any]:
    """By asking where a page of one's own is, which takes the same system call."""
    number = MOVE_PAGES.get(platform.machine())
    if number is None:
        return _check(False, f"not known how to ask on {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    with mmap.mmap(-1, mmap.PAGESIZE) as memory:
        memory[0] = 1
        there = ctypes.c_char.from_buffer(memory)
        page, node = ctypes.c_void_p(ctypes.addressof(there)), ctypes.c_int(-1)
        failed = libc.syscall(
            *(ctypes.c_long(number), ctypes.c_int(0), ctypes.c_ulong(1)),
            *(ctypes.byref(page), None, ctypes.byref(node), ctypes.c_int(0)),
        )
        # The memory cannot be unmapped while it is lent out.
        del there
    if failed or node.value < 0:
        why = os.strerror(ctypes.get_errno() if failed else -node.value)
        return _check(False, f"{why}: the kernel has no NUMA, or a container's filter of system calls forbids it")
    whose = "every user's programs" if os.geteuid() == 0 else "your own programs; others' take CAP_SYS_PTRACE"
    return _check(True, whose)


def _check(available: bool, reason: str) -> dict[str, Any]:
    return {"available": available, "reason": reason}


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
