"""The table of the best zeroing kernels as a file: one per CPU model, read by the native library (docs/formats.md).

Light, since a launch with a graft asks for it too.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memgraft import machine
from memgraft.screen import write_file

FIRST_LINE = "memgraft-zeroing-table 1"


@dataclass(frozen=True)
class Row:
    """A row of the table: the kernel of a mode and a number of threads, from a size on."""

    mode: str
    threads: int
    from_bytes: int
    kernel: str


def text_of(cpu: str, made: Sequence[Row], remark: str) -> str:
    """The table as the library reads it (docs/formats.md)."""
    lines = [f"{row.mode} {row.threads} {row.from_bytes} {row.kernel}" for row in made]
    return "\n".join([FIRST_LINE, f"cpu {cpu}", f"# {remark}", "# MODE THREADS FROM-BYTES KERNEL", *lines, ""])


def write(path: Path, cpu: str, made: Sequence[Row], remark: str) -> None:
    """Replaces the file at once: a program that loads it meanwhile reads the old table or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text_of(cpu, made, remark))


def default_path(cpu: str) -> Path:
    """Where the table of a CPU model is kept (XDG Base Directory Specification: a relative XDG_CACHE_HOME is void)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        cache = Path.home() / ".cache"
    slug = re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-")
    return cache / "memgraft" / "zeroing" / f"{slug}.table"


def table_for_this_cpu() -> Path | None:
    """The table that `memgraft zero calibrate` wrote for this CPU model; None where there is none."""
    cpu = machine.cpu_name()
    path = default_path(cpu)
    return path if cpu and path.is_file() else None
