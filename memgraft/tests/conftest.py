"""What several tests share: Memgraft run as a process of its own, with a stand-in for the native parts."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from memgraft import native

# The same inputs each time and no time limits: a failure means a change of the code, not a busy machine.
settings.register_profile("memgraft", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("memgraft")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A warning is an error."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("error"))


FAKE_PROGRAM = [sys.executable, str(Path(__file__).parent / "fake_program.py")]
PACKAGE_PARENT = Path(__file__).parent.parent.parent

DRIVER = """
import sys
from pathlib import Path
from memgraft import native
native.FOLDER = Path(sys.argv.pop(1))
from memgraft.cli import main
main()
"""

VARIABLES_LEFT_OUT = (
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "JAVA_HOME", "XDG_CACHE_HOME"),
)


@dataclass(frozen=True)
class Done:
    """How a run of Memgraft ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line an error consists of."""
        lines = [line for line in self.err.splitlines() if line.startswith("memgraft: ")]
        assert lines, f"no error line in {self.err!r}"
        return lines[-1]

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Memgraft:
    """The command line, with `natives` for its native folder and `folder` for its working directory."""

    natives: Path
    folder: Path

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", DRIVER, str(self.natives), *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in VARIABLES_LEFT_OUT}
        return {**kept, "PYTHONPATH": str(PACKAGE_PARENT), "HOME": str(self.folder), **variables}

    def __call__(self, *arguments: str, **variables: str) -> Done:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)


def set_up(folder: Path) -> Memgraft:
    """A native folder with an agent that is never loaded, and a working directory."""
    natives, work = folder / "native", folder / "work"
    natives.mkdir()
    work.mkdir()
    (natives / native.HOTSPOT_AGENT).touch()
    return Memgraft(natives, work)


@pytest.fixture
def memgraft(tmp_path: Path) -> Memgraft:
    return set_up(tmp_path)


@pytest.fixture
def natives(memgraft: Memgraft) -> Path:
    return memgraft.natives


def program(*words: str) -> Sequence[str]:
    """The fake program as a command."""
    return [*FAKE_PROGRAM, *words]
