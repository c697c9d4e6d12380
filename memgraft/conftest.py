"""What several tests share: Memgraft run as a process of its own, with a stand-in for the native parts."""

import functools
import json
import os
import py_compile
import signal
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


def pytest_configure() -> None:
    """Ctrl-C interrupts what tests start, even where a shell runs them in the background, where nothing would."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A warning is an error."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("error"))


def quick(source: Path) -> list[str]:
    """How to start a program that tests launch hundreds of times: it is compiled once."""
    return [sys.executable, "-S", "-I", str(py_compile.compile(str(source), doraise=True))]


FAKE_PROGRAM = quick(Path(__file__).parent / "tests/fake_program.py")
PACKAGE_PARENT = Path(__file__).parent.parent

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
        out, err = (self.folder.parent / name for name in ("stdout", "stderr"))
        out.write_text("")
        err.write_text("")
        request = {"natives": str(self.natives), "folder": str(self.folder), "out": str(out), "err": str(err)}
        more = {
            "arguments": arguments,
            "environment": self.environment(**variables),
            "cpus": [*os.sched_getaffinity(0)],
        }
        code = template().run({**request, **more})
        assert "Traceback" not in err.read_text(), err.read_text()
        return Done(code, out.read_text(), err.read_text())


class Template:
    """The process that commands are forked from: template.py."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "tests/template.py"],
            env={**os.environ, "PYTHONPATH": str(PACKAGE_PARENT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, request: dict[str, Any]) -> int:
        """The exit code. What hangs is ended by the test's own time limit, and the template with it."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return int(self.process.stdout.readline())
        except BaseException:
            template.cache_clear()
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            raise


@functools.cache
def template() -> Template:
    """One for all tests of a worker; it ends with it, when its standard input does."""
    return Template()


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
