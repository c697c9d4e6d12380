"""Hunts for the missing `volatile` in each program of the gallery, and says whether the right field was found.

    gallery.py                       every program
    gallery.py [OPTION]... NAME ...  some, by their class: bugs.StoppingFlag

Options go to `memgraft hunt`. Exit code 0: every bug was found, and no decoy was taken for one. 1: not so. 2: no such
program.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LACKS = re.compile(r"Lacks: ([^/]*?)\n \*/", re.DOTALL)
SHOWS = re.compile(r"Shows with: (.*)")
PART = "some of "
BUGS, DECOYS, RELEASED = KINDS = ("bugs", "decoys", "released")
"""The last ones are bugs in libraries as they were released, which Maven fetches."""


@dataclass(frozen=True)
class Program:
    """A program of the gallery."""

    name: str
    """Its class."""
    answers: tuple[frozenset[str], ...]
    """The sets of fields whose lack of `volatile` is the mistake, any of which is right; none: it is a decoy."""
    part: bool = False
    """Whether a part of such a set is right, too."""
    options: tuple[str, ...] = ()
    """What the hunt needs, or the program does not fail."""

    def is_right(self, finding: dict[str, Any]) -> bool:
        cure = frozenset(named(finding))
        if not self.answers:
            return bool(finding["verdict"] != "found")
        right = any(cure == answer or (self.part and cure <= answer) for answer in self.answers)
        return bool(finding["verdict"] == "found") and right


def named(finding: dict[str, Any]) -> list[str]:
    """What must be volatile: on this machine, and besides by the Java memory model."""
    model = finding.get("model") or {"more": []}
    return [one["name"] for one in (*finding["cure"], *model["more"])]


def programs() -> list[Program]:
    return [
        _program(f"{kind}.{source.stem}", source.read_text(encoding="utf-8"))
        for kind in KINDS
        for source in sorted((HERE / kind).glob("*.java"))
        if "static void main" in source.read_text(encoding="utf-8")
    ]


def _program(name: str, source: str) -> Program:
    """As its comment says: names with `and` between them, such sets with `, or` between them, or `some of` a set."""
    found = LACKS.search(source)
    if found is None:
        return Program(name, ())
    text = re.sub(r"\s+\*?\s*", " ", found[1]).strip()
    sets = text.removeprefix(PART).split(", or ")
    answers = tuple(frozenset(one.strip() for one in names.split(" and ")) for names in sets)
    shows = SHOWS.search(source)
    return Program(name, answers, part=text.startswith(PART), options=tuple(shows[1].split()) if shows else ())


def compiled(folder: Path, kinds: Sequence[str] = (BUGS, DECOYS)) -> str:
    """All of these kinds, as class files below the folder; the class path to run them with."""
    folder.mkdir(exist_ok=True)
    path = [str(folder)]
    if RELEASED in kinds:
        project = HERE / RELEASED
        maven = ["mvn", "--batch-mode", "-q", "-f", str(project / "pom.xml"), "dependency:build-classpath"]
        subprocess.run(maven, check=True, stdout=sys.stderr)
        path.append((project / "target/class-path").read_text(encoding="utf-8").strip())
    command: list[str | Path] = ["javac", "-Xlint:all", "-Werror", "-d", folder, "-cp", ":".join(path)]
    for kind in kinds:
        command.extend(sorted(HERE.glob(f"{kind}/*.java")))
    subprocess.run(command, check=True)
    return ":".join(path)


def hunt(program: Program, classes: str, folder: Path, options: Sequence[str] = ()) -> dict[str, Any]:
    """What `memgraft hunt` says of it."""
    command: list[str | Path] = [ROOT / "bin/memgraft", "hunt", "--json", "--output", folder]
    command += [*program.options, *options, "--", "java", "-cp", classes, program.name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(words: Sequence[str]) -> int:
    options = list(takewhile(lambda word: not word.startswith(tuple(f"{kind}." for kind in KINDS)), words))
    names = words[len(options) :]
    known = {program.name: program for program in programs()}
    if unknown := [name for name in names if name not in known]:
        print(f"gallery.py: no program {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="gallery-") as scratch:
        kinds = [kind for kind in KINDS if any(name.startswith(f"{kind}.") for name in names or known)]
        classes = compiled(Path(scratch) / "classes", kinds)
        for name in names or known:
            found = hunt(known[name], classes, Path(scratch) / name, options)
            right = known[name].is_right(found)
            wrong += not right
            cure = " and ".join(named(found)) or "-"
            print(
                f"{'right' if right else 'WRONG'}  {name}: {found['verdict']}: {cure}; the stock fails in "
                f"{found['stock']['failures']} of {found['stock']['launches']}; {found['launches']} launches, "
                f"{found['seconds']:.0f} s",
                flush=True,
            )
    print(f"{len(names or known) - wrong} of {len(names or known)} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
