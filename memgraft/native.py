"""Where the native parts are: one place, `memgraft/native/` beside this file, in a checkout and in an installation."""

from pathlib import Path

from memgraft.errors import CannotTakeError

FOLDER = Path(__file__).parent / "native"
HOTSPOT_AGENT = "libmemgraft_hotspot.so"
BYTECODE_AGENT = "memgraft-ordering.jar"
"""The one part that is Java: CMake does not build it, and an installation without Maven goes without."""
ZERO_BENCH = "memgraft-zero-bench"
BUFFERS_BENCH = "memgraft-buffers-bench"
PLACE = "memgraft-place"
SAMPLER = "libmemgraft_sampler.so"


def find(name: str) -> Path:
    """The absolute path of a native part, or CannotTakeError."""
    path = FOLDER.absolute() / name
    if not path.is_file() and name == BYTECODE_AGENT:
        raise CannotTakeError(
            f"{name} is not at {path}: build it with `make java-agent` in a checkout, or install Memgraft again with "
            "`pip install .`; both need Maven"
        )
    if not path.is_file():
        raise CannotTakeError(
            f"the native part {name} is not at {path}: build it with `make build` in a checkout, or install Memgraft "
            "again with `pip install .`"
        )
    return path
