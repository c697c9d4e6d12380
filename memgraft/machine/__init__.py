"""What machine this is, and how busy others keep it.

lscpu and sysfs are read where psutil does not know: caches, NUMA nodes, huge pages, hardware counters.
"""

import ctypes
import errno
import json
import os
import platform
import re
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraft.words import bytes_of

LSCPU_TIMEOUT_SECONDS = 10

# perf_event_open(2): it has no wrapper in libc, so its number is needed (Linux, arch/*/**/syscall*.tbl, and
# include/uapi/asm-generic/unistd.h for aarch64 and riscv64).
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}
PERF_ATTR_SIZE = 64  # PERF_ATTR_SIZE_VER0, the size every kernel with this system call takes
PERF_TYPE_HARDWARE = 0
PERF_COUNT_HW_CPU_CYCLES = 0
PERF_FLAGS_DISABLED_USER_ONLY = 1 << 0 | 1 << 5 | 1 << 6  # disabled, exclude_kernel, exclude_hv

CPU_NAME_FIELDS = [
    *("vendor_id", "cpu family", "model", "stepping", "model name"),  # x86
    *("CPU implementer", "CPU variant", "CPU part", "CPU revision"),  # ARM
    *("cpu", "revision"),  # Power
    *("mvendorid", "marchid", "mimpid", "uarch"),  # RISC-V
]
LONGEST_CPU_NAME = 200


def cpu_name(root: Path = Path("/")) -> str:
    """The model of the first CPU as tables of kernels name it, empty where /proc/cpuinfo does not tell.

    The same name as zeroing/cpu_name.cpp makes of the same file: a brand alone would not tell models apart.
    """
    try:
        text = (root / "proc/cpuinfo").read_text(encoding="latin-1")
    except OSError:
        return ""
    values: dict[str, str] = {}
    for line in text.split("\n"):
        if not line.strip(" \t"):
            break  # the next CPU's paragraph follows
        field, colon, value = line.partition(":")
        if colon:
            values.setdefault(field.strip(" \t"), value)
    words = [word for field in CPU_NAME_FIELDS for word in re.split("[ \t]+", values.get(field, "")) if word]
    return re.sub("[^ -~]", "?", " ".join(words))[:LONGEST_CPU_NAME]


def describe(root: Path = Path("/")) -> dict[str, Any]:
    """The machine as JSON; what cannot be found out is null. `root` holds `sys` and `proc`."""
    import psutil

    fields = _lscpu_fields()
    return {
        "cpu": _model(fields),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "usable_cpus": len(os.sched_getaffinity(0)),
        "cores": psutil.cpu_count(logical=False),
        "hypervisor": fields.get("Hypervisor vendor"),
        "caches": _caches(),
        "numa_nodes": len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or 1,
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": f"{platform.system()} {platform.release()}",
        "transparent_huge_pages": _bracketed(root / "sys/kernel/mm/transparent_hugepage/enabled"),
        "cpu_governor": _text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "hardware_counters": hardware_counters(root),
    }


def cpu_model() -> str:
    """The CPU's brand, for where `cpu_name` knows nothing."""
    return _model(_lscpu_fields())


def _model(fields: Mapping[str, str]) -> str:
    return fields.get("Model name") or platform.processor() or platform.machine()


def _lscpu(*options: str) -> Any:
    try:
        done = subprocess.run(
            ["lscpu", "-J", *options],
            capture_output=True,
            check=True,
            timeout=LSCPU_TIMEOUT_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
        return json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


def _lscpu_fields() -> dict[str, str]:
    """The flat table of lscpu; newer ones nest it under `children`."""

    def walk(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
        fields: dict[str, str] = {}
        for row in rows:
            fields[str(row.get("field", "")).rstrip(":")] = str(row.get("data", ""))
            fields |= walk(row.get("children", []))
        return fields

    return walk(_lscpu().get("lscpu", []))


def _caches() -> list[dict[str, Any]]:
    """Each level once: size of one instance and how many CPUs' worth there are of it, in bytes."""
    caches = []
    for cache in _lscpu("-B", "-C").get("caches", []):
        try:
            one, together = int(cache["one-size"]), int(cache["all-size"])
        except (KeyError, TypeError, ValueError):
            continue
        if one > 0:
            caches.append({"name": cache.get("name"), "bytes": one, "instances": together // one})
    return caches


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _bracketed(path: Path) -> str | None:
    """The chosen one of `always [madvise] never`."""
    chosen = re.search(r"\[(\w+)\]", _text(path) or "")
    return chosen.group(1) if chosen else None


def hardware_counters(root: Path = Path("/")) -> dict[str, Any]:
    """Whether this process may count CPU cycles, by trying; and if not, why not and what to do."""
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return {"available": False, "reason": f"not known how to ask on {platform.machine()}"}
    flags_at_40 = 40  # offset of the bit field in struct perf_event_attr
    attr = bytearray(PERF_ATTR_SIZE)
    struct.pack_into("=IIQ", attr, 0, PERF_TYPE_HARDWARE, PERF_ATTR_SIZE, PERF_COUNT_HW_CPU_CYCLES)
    struct.pack_into("=Q", attr, flags_at_40, PERF_FLAGS_DISABLED_USER_ONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    this_process, any_cpu, no_group, no_flags = 0, -1, -1, 0
    event = libc.syscall(
        ctypes.c_long(number),
        (ctypes.c_char * PERF_ATTR_SIZE).from_buffer(attr),
        ctypes.c_int(this_process),
        ctypes.c_int(any_cpu),
        ctypes.c_int(no_group),
        ctypes.c_ulong(no_flags),
    )
    if event >= 0:
        os.close(event)
        return {"available": True, "reason": "user-mode cycles can be counted"}
    paranoid = _text(root / "proc/sys/kernel/perf_event_paranoid")
    reasons = {
        errno.EACCES: f"perf_event_paranoid is {paranoid}; `sysctl kernel.perf_event_paranoid=2` or lower allows it",
        errno.EPERM: f"not permitted (perf_event_paranoid is {paranoid}; a container's seccomp filter also does this)",
        errno.ENOENT: "this CPU offers no cycle counter, as in most virtual machines",
        errno.EOPNOTSUPP: "this CPU offers no cycle counter, as in most virtual machines",
        errno.ENODEV: "this CPU offers no cycle counter, as in most virtual machines",
        errno.ENOSYS: "this kernel has no perf events, or a seccomp filter hides them",
    }
    code = ctypes.get_errno()
    return {"available": False, "reason": reasons.get(code, os.strerror(code))}


def kinds(root: Path = Path("/")) -> dict[str, int]:
    """How many hardware threads, cores, processors (packages) and NUMA nodes: as allocation/topology.cpp counts."""
    system = root / "sys/devices/system"
    possible = _cpu_list(_text(system / "cpu/possible") or "0")
    places = []
    for cpu in range(max(possible) + 1):
        here = system / f"cpu/cpu{cpu}/topology"
        package = _text(here / "physical_package_id") or ""
        places.append((str(cpu), (package, _text(here / "core_id") or ""), package, _node(cpu, root)))
    return {kind: len({place[at] for place in places}) for at, kind in enumerate(("cpu", "core", "processor", "node"))}


@dataclass(frozen=True)
class Place:
    """Where a hardware thread is."""

    cpu: int
    core: str
    """Of its package."""
    package: str


def places(usable: Sequence[int], root: Path = Path("/")) -> list[Place]:
    """Of each of these CPUs, as sysfs says."""
    found = []
    for cpu in sorted(usable):
        here = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        core = _text(here / "core_id") or str(cpu)
        found.append(Place(cpu, core, _text(here / "physical_package_id") or ""))
    return found


def halves(usable: Sequence[int], root: Path = Path("/")) -> tuple[list[int], list[int]] | None:
    """Two equal sets of CPUs that share as little as possible, or None with fewer than two CPUs.

    Hardware threads of one core stay together, and so do neighbouring cores (which share caches and nodes): two
    programs on sibling threads would disturb each other most. Only a single core is split between its threads.
    """
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(usable):
        siblings = _text(root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(tuple(_cpu_list(siblings)) if siblings else (cpu,), []).append(cpu)
    groups = sorted(cores.values(), key=lambda group: (_node(group[0], root), group))
    if len(groups) == 1:
        groups = [[cpu] for cpu in groups[0]]
    middle = len(groups) // 2
    first = [cpu for group in groups[:middle] for cpu in group]
    second = [cpu for group in groups[middle : 2 * middle] for cpu in group]
    size = min(len(first), len(second))
    return (first[:size], second[:size]) if size else None


def _cpu_list(text: str) -> list[int]:
    """The kernel's `0-2,5` as numbers."""
    cpus: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        cpus += range(int(low), int(high or low) + 1)
    return cpus


def _node(cpu: int, root: Path) -> int:
    nodes = (root / f"sys/devices/system/cpu/cpu{cpu}").glob("node[0-9]*")
    return min((int(node.name.removeprefix("node")) for node in nodes), default=0)


@dataclass(frozen=True)
class Load:
    """CPU seconds of the whole machine since it started."""

    busy: float
    stolen: float
    total: float

    @classmethod
    def now(cls) -> "Load":
        import psutil

        times = psutil.cpu_times()
        # guest and guest_nice are already part of user and nice (proc(5)).
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        stolen = getattr(times, "steal", 0.0)
        return cls(busy=total - times.idle - getattr(times, "iowait", 0.0) - stolen, stolen=stolen, total=total)

    def shares_since(self, before: "Load", own_seconds: float) -> tuple[float, float]:
        """Of all CPU time since `before`: the share that neither idled nor was ours, and the share that was stolen."""
        total = self.total - before.total
        if total <= 0:
            return 0.0, 0.0
        others = (self.busy - before.busy - own_seconds) / total
        return min(max(others, 0.0), 1.0), min(max((self.stolen - before.stolen) / total, 0.0), 1.0)


def lines(described: dict[str, Any]) -> list[tuple[str, str]]:
    """The machine in short lines of (what, how much)."""
    caches = ", ".join(
        f"{c['name']} {bytes_of(c['bytes'])}" + (f" x {c['instances']}" if c["instances"] > 1 else "")
        for c in described["caches"]
    )
    counters = described["hardware_counters"]
    cpus = f"{described['cpus']} CPUs, {described['cores'] or '?'} cores"
    if described["usable_cpus"] != described["cpus"]:
        cpus += f", of which this process may use {described['usable_cpus']} CPUs"
    return [
        ("CPU", f"{described['cpu']} ({described['architecture']})"),
        ("CPUs", cpus),
        ("virtual", f"yes, under {described['hypervisor']}" if described["hypervisor"] else "no"),
        ("caches", caches or "unknown (lscpu of util-linux tells)"),
        ("NUMA nodes", str(described["numa_nodes"])),
        ("memory", bytes_of(described["memory_bytes"])),
        ("kernel", described["kernel"]),
        ("huge pages", f"transparent: {described['transparent_huge_pages'] or 'unknown'}"),
        ("governor", described["cpu_governor"] or "unknown"),
        ("counters", ("yes: " if counters["available"] else "no: ") + counters["reason"]),
    ]
