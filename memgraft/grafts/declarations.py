"""How an option of the agent is declared: its key, the values that it takes, its default, its meaning, its source.

All options are declared in memgraft/grafts/table.py. The command line's options follow from there, and so do the header
that the agent checks its options with and the table in docs/formats.md, which checks/agent_options.py writes.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_from_bytes

from memgraft.words import listed


@dataclass(frozen=True)
class Number:
    """A whole number, which the command line reads."""

    @property
    def expected(self) -> str:
        return "a whole number"


@dataclass(frozen=True)
class Words:
    """One of these words."""

    names: tuple[str, ...]
    instruments: tuple[str, ...] = ()
    """Further words, for measuring: the agent takes them, the command line does not."""

    @property
    def expected(self) -> str:
        return listed(self.names, "or")

    def right(self, value: object) -> bool:
        return value in self.names


@dataclass(frozen=True)
class PowerOfTwo:
    """A number of bytes, a power of two within bounds that it may reach."""

    least: int
    most: int

    @property
    def expected(self) -> str:
        return f"a power of two from {self.least} to {self.most}, in bytes"

    def right(self, value: object) -> bool:
        return isinstance(value, int) and self.least <= value <= self.most and not value & (value - 1)


@dataclass(frozen=True)
class Levels:
    """Kinds of buffers with their sizes (memgraft/grafts/buffers.py reads what users type of them), or a word."""

    kinds: tuple[str, ...]
    """The nearest to a thread first."""
    multiple: int
    """In bytes: what every size is a multiple of. It is also a multiple of the size before it, and larger."""
    most: int
    """The largest size, in bytes."""
    words: tuple[str, ...]

    form = "KIND:BYTES+KIND:BYTES"

    @property
    def expected(self) -> str:
        return (
            f"{self.form} with kinds of {listed(self.kinds, 'and')} in this order, each once, and sizes that "
            f"are multiples of {self.multiple} and larger multiples of the one before, up to {self.most}; or "
            f"{listed(self.words, 'or')}"
        )


@dataclass(frozen=True)
class Place:
    """The path of a file or of a folder. `%` and two hexadecimal digits stand for a byte."""

    folder: bool = False

    @property
    def expected(self) -> str:
        return f"a {'folder' if self.folder else 'file'} that exists"

    def right(self, value: object) -> bool:
        path = Path(str(value))
        return path.is_dir() if self.folder else path.is_file()


@dataclass(frozen=True)
class Alone:
    """No value: the key stands by itself."""

    expected = "no value"


Value = Words | Number | PowerOfTwo | Levels | Place | Alone


@dataclass(frozen=True, kw_only=True)
class AgentOption:
    """One option of the agent."""

    name: str
    """Its key; on the command line, where it is an option there too, `--NAME`."""
    value: Value = Alone()
    help: str
    """What it is for: a sentence without its full stop."""
    metavar: str = ""
    default: int | str = ""
    """What holds without the option: a value of it, or words."""
    source: str = ""
    """The work that the design comes from."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def usage(self) -> str:
        """As messages list it: `window=BYTES`."""
        return self.name if isinstance(self.value, Alone) else f"{self.name}={self.metavar}"

    @property
    def expected(self) -> str:
        """As refusals have it: `window=BYTES with a power of two from 4096 to 1048576, in bytes`."""
        match self.value:
            case Alone():
                return self.name
            case Words() | Levels():
                return f"{self.name}={self.value.expected}"
            case _:
                return f"{self.usage} with {self.value.expected}"

    def told(self, value: int | str | Path = "") -> str:
        """As the agent is told it: `window=65536` (docs/formats.md, section 1)."""
        if isinstance(self.value, Alone):
            return self.name
        return f"{self.name}={percent_encoded(str(value)) if isinstance(self.value, Place) else value}"


def percent_encoded(path: str) -> str:
    """A path as an option of the agent takes it (docs/formats.md, section 1), whatever bytes it is made of."""
    return quote_from_bytes(os.fsencode(path), safe="/")
