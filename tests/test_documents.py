"""Every command that the documents print works as printed, with the heap that a JVM takes by itself."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from processes import run
from tiers import deep

# A command, indented, and perhaps a remark behind it.
PRINTED = re.compile(r" {4}((?:bin/)?memgraft .*?)(?: +#.*)?")
# By memory of the machine: a JVM takes a fourth of it, and with it G1's regions.
MACHINES = ["4g", "8g", "24g"]
ELSEWHERE = {
    "place --watch": "a server: test_watch.py looks at its page",
    "watch": "a server: test_watch.py looks at its page",
    "place --pid": "runs beside another program: test_place.py",
    "place --dry-run --pid": "runs beside another program: test_place.py",
    "place --record": "takes a machine with nodes: test_place.py",
    "place --": "takes a machine with nodes: test_place.py",
    "hunt": "launches a program that fails, for minutes: test_hunt.py",
    "paper": "takes hours: test_measuring.py makes each figure at a small size",
}


@dataclass(frozen=True)
class Printed:
    place: str
    command: str

    @property
    def words(self) -> str:
        """Without the program's name and spaces for the eye."""
        return " ".join(self.command.partition("memgraft ")[2].split())

    @property
    def megabytes(self) -> str:
        """That the program allocates: epochs need many collections, also with the eden of a large machine."""
        if "weak" in self.words:
            # Every access to an array looks up its variable.
            return "2"
        return "40000" if "epochs" in self.words else "100"

    @property
    def is_elsewhere(self) -> bool:
        return any(self.words.startswith(begin) for begin in ELSEWHERE)

    @property
    def is_quick(self) -> bool:
        return self.words.startswith(("run", "doctor")) and "litmus" not in self.words

    @property
    def starts_java(self) -> bool:
        return " -- " in self.words and self.words.startswith(("run", "compare", "zero bound"))


def printed() -> list[Printed]:
    found = []
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if match := PRINTED.fullmatch(line):
                found.append(Printed(f"{file.name}:{number}", match[1]))
    return found


def cases() -> list[object]:
    """The gate starts one JVM for each command that is quick, once; what compares and measures is deep."""
    rows = []
    begun: set[str] = set()
    for one in printed():
        if one.is_elsewhere:
            continue
        for machine in MACHINES if one.starts_java else MACHINES[:1]:
            in_gate = one.is_quick and machine == MACHINES[0] and one.words not in begun
            rows.append(pytest.param(one, machine, id=f"{one.place}-{machine}", marks=[] if in_gate else [deep]))
        begun.add(one.words)
    return rows


@pytest.fixture(scope="module")
def folder(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples name, made real: an app.jar, a script that starts it, names of methods and fields."""
    made = tmp_path_factory.mktemp("documents")
    (made / "bin").symlink_to(ROOT / "bin")
    for jar in ("app.jar", "program.jar"):
        classes = ["DocumentedProgram.class", "AllocateSteadily.class"]
        packed = run(
            ["jar", "cfe", made / jar, "DocumentedProgram", *(w for c in classes for w in ("-C", programs, c))]
        )
        assert packed.returncode == 0, packed.stderr
    script = made / "start.sh"
    script.write_text("#!/bin/sh\nexec java -jar app.jar\n")
    script.chmod(0o755)
    (made / "methods.txt").write_text("java.util.HashMap\n")
    (made / "fields.txt").write_text("DocumentedProgram.*\n")
    return made


@pytest.mark.parametrize(("one", "machine"), cases())
def test_a_command_works_as_printed(one: Printed, machine: str, folder: Path, tmp_path: Path) -> None:
    result = run(
        ["bash", "-c", f"cd {folder} && {one.command}"],
        PATH=f"{ROOT / 'bin'}:{os.environ['PATH']}",
        JAVA_TOOL_OPTIONS=f"-XX:MaxRAM={machine}",
        MEGABYTES=one.megabytes,
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert result.returncode == 0, f"{one.command}\n{result.stdout}{result.stderr}"


def test_what_is_not_run_here_is_printed_somewhere() -> None:
    commands = [one.words for one in printed()]
    assert len(commands) > 30
    for begin in ELSEWHERE:
        assert any(command.startswith(begin) for command in commands), f"nothing printed begins with {begin}"
