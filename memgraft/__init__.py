"""Memgraft: grafts memory-system designs onto stock runtimes and measures what each does to a program."""

import re
from importlib import metadata
from pathlib import Path


def _version() -> str:
    """The version, declared once in CMakeLists.txt; a checkout that was never installed reads it there."""
    try:
        return metadata.version("memgraft")
    except metadata.PackageNotFoundError:
        build_file = Path(__file__).parent.parent / "CMakeLists.txt"
        declared = re.search(r"project\(memgraft VERSION ([0-9.]+)", build_file.read_text(encoding="utf-8"))
        return declared.group(1) if declared else "0"


__version__ = _version()
