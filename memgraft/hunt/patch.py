"""The fix as a patch: `volatile` in front of the type where the source declares the field."""

import difflib
import io
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memgraft.errors import CannotTakeError
from memgraft.hunt.search import class_of
from memgraft.hunt.suspects import CALLS, ELEMENTS, WHOLE_CLASS, Suspect

TOOL = "org.memgraft.ordering.sources.FieldDeclaration"
"""In the ordering agent's jar: javac's parser."""
NOT_DECLARED = 1
VOLATILE = "volatile "


@dataclass(frozen=True)
class Declared:
    """Where a field is declared."""

    suspect: str
    file: Path
    offset: int
    """Characters before its type."""
    line: int
    fields: tuple[str, ...]
    """All that the declaration declares."""
    modifier: str = ""
    """`volatile` or `final`, where it is declared so: then the source is not the one that was compiled."""


def is_field(suspect: str) -> bool:
    return not suspect.endswith((ELEMENTS, CALLS, WHOLE_CLASS))


def find(suspect: Suspect, sources: Sequence[Path], java: Path, jar: Path) -> Declared | None:
    """The declaration of a field in one of these folders; CannotTakeError where that java cannot read sources."""
    owner, field = class_of(suspect.name), suspect.name.rpartition(".")[2]
    for file in _files(suspect, sources):
        done = subprocess.run([java, "-cp", jar, TOOL, file, owner, field], capture_output=True, text=True, check=False)
        if done.returncode == NOT_DECLARED:
            continue
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise CannotTakeError(f"{java} cannot read {file}: {said[-1] if said else 'it said nothing'}")
        offset, line, fields, *modifier = done.stdout.split()
        return Declared(suspect.name, file, int(offset), int(line), tuple(fields.split(",")), "".join(modifier))
    return None


def _files(suspect: Suspect, sources: Sequence[Path]) -> Iterable[Path]:
    """Sources that may declare it: of the name that stack frames in its class tell, else of the outermost class."""
    package, _, simple = class_of(suspect.name).rpartition(".")
    outermost = f"{package}.{simple.partition('$')[0]}".removeprefix(".")
    names = {f"{simple.partition('$')[0]}.java": None}
    for accessor in (*suspect.loads, *suspect.stores):
        for frame in accessor.stack:
            # module/package.Class.method(File.java:12)
            method, _, place = frame.rpartition("/")[2].partition("(")
            if f".{method}".startswith((f".{outermost}.", f".{outermost}$")) and ".java:" in place:
                names[place.partition(":")[0]] = None
    for folder in sources:
        for name in names:
            file = folder.joinpath(*package.split("."), name) if package else folder / name
            if file.is_file():
                yield file


def patch(declarations: Iterable[Declared]) -> str:
    """A unified diff, as `patch -p0` takes it."""
    by_file: dict[Path, set[int]] = {}
    for one in declarations:
        if one.modifier:
            continue
        by_file.setdefault(one.file, set()).add(one.offset)
    return "".join(_of_file(file, offsets) for file, offsets in sorted(by_file.items()))


def _of_file(file: Path, offsets: set[int]) -> str:
    # Line ends stay as they are, and javac counts in UTF-16.
    with file.open(encoding="utf-8", newline="") as source:
        before = source.read()
    units = before.encode("utf-16-le")
    for offset in sorted(offsets, reverse=True):
        units = units[: 2 * offset] + VOLATILE.encode("utf-16-le") + units[2 * offset :]
    after = units.decode("utf-16-le")
    old, new = (io.StringIO(text, newline="\n").readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, str(file), str(file))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
