"""Which version of Memgraft this is."""

import re
from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """The version, declared once in CMakeLists.txt; a checkout that was never installed reads it there."""
    # Most commands need no version, and this takes longer to import than a small command to run.
    from importlib import metadata

    try:
        return metadata.version("memgraft")
    except metadata.PackageNotFoundError:
        build_file = Path(__file__).parent.parent / "CMakeLists.txt"
        declared = re.search(r"project\(memgraft VERSION ([0-9.]+)", build_file.read_text(encoding="utf-8"))
        return declared.group(1) if declared else "0"
