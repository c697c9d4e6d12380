"""Stack frames as a JVM prints them, and where sources have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# loader/module@version/org.example.Server$Worker.run(Server.java:12); loader and module may be missing.
_FRAME = re.compile(
    r"(?:[^()]*/)?(?P<owner>[^()/]+)\.(?P<method>[^()/.]+)\((?P<file>[^(): ]+\.[^(): ]+)(?::(?P<line>\d+))?\)"
)


@dataclass(frozen=True)
class Frame:
    """A place in the code."""

    owner: str
    """The class, with a `$` before a nested one."""
    method: str
    file: str
    """Its name, without a folder."""
    line: int | None

    @property
    def place(self) -> str:
        """As in `Server.java:12`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def in_constructor(self) -> bool:
        """Whether it is the place of an object, or of a class, that is being made."""
        return self.method in {"<init>", "<clinit>"}

    def source(self, folders: Sequence[Path]) -> Path | None:
        """The file in one of these folders of sources."""
        package = self.owner.rpartition(".")[0]
        within = Path(*package.split("."), self.file) if package else Path(self.file)
        return next((folder / within for folder in folders if (folder / within).is_file()), None)


def parsed(text: str) -> Frame | None:
    """The frame, where its source is known."""
    found = _FRAME.fullmatch(text)
    if found is None:
        return None
    line = found["line"]
    return Frame(found["owner"], found["method"], found["file"], int(line) if line else None)
