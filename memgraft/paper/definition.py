"""What a table or figure is: one TOML file each."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from memgraft.errors import MemgraftError, WrongUsageError
from memgraft.formats import why

FAMILIES = ("zeroing", "buffers", "ordering", "placement")
"""The folders of definitions, one per family of grafts."""
PLACES = (
    # A checkout, and what the build put into an installed Memgraft.
    Path(__file__).parent.parent.parent / "experiments",
    Path(__file__).parent / "experiments",
)
PREFIXES = ("zeroing-", "power-zeroing-", "buffers-", "ordering-", "placement-")
"""How names begin, in the order in which they are listed."""

Quantity = Literal[
    "time", "direct-cost", "zeroing-speed", "allocated-megabytes", "allocation-rate", "cpu-utilisation", "waits"
]


class Strict(BaseModel):
    """A word that is not known is a mistake in the file."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class GridPart(Strict):
    """Something measured of every workload under some strategies."""

    title: str
    quantity: Quantity
    strategies: list[str]
    relative_to: str | None = None

    @property
    def needed(self) -> list[str]:
        """The strategies that have to be run."""
        return [*([self.relative_to] if self.relative_to else []), *self.strategies]


class LevelsPart(Strict):
    """Allocation buffers of some levels under TLABs of some sizes: a table for each workload and number of threads."""

    title: str
    quantity: Literal["speed-up", "collections", "foreign", "waste"]
    tlabs: list[str]
    """Sizes, or `growing`: the rows."""
    levels: list[str]
    """As `--buffers` takes them, without the threads' own: the columns."""
    take: Literal["atomic"] | None = None
    """As `--take`; None: as this machine can."""
    relative_to: Literal["same TLABs", "growing TLABs"] | None = None
    """Without buffers: the baseline of a speed-up, and of collections."""

    @model_validator(mode="after")
    def _has_its_baseline(self) -> Self:
        if (self.quantity in {"speed-up", "collections"}) != (self.relative_to is not None):
            raise ValueError(f"'{self.title}': a speed-up and collections are relative to something, and nothing else")
        return self


class OrderingPart(Strict):
    """Times under some orderings: a row for each program."""

    title: str
    quantity: Literal["steady", "first-iteration"]
    orderings: list[str]
    relative_to: str | None = None
    relaxed: list[int] = [0]
    """How many of a program's hottest methods keep the plain memory model."""

    @property
    def strategies(self) -> list[str]:
        """The series, as launches are named."""
        return [relaxed(ordering, methods) for ordering in self.orderings for methods in self.relaxed]

    @property
    def needed(self) -> list[str]:
        return [*([self.relative_to] if self.relative_to else []), *self.strategies]


def relaxed(ordering: str, methods: int) -> str:
    """`sc-seed`, `sc-seed-relaxed-5`."""
    return f"{ordering}-relaxed-{methods}" if methods else ordering


class Programs(Strict):
    """What a figure of buffers or of orderings runs on, unless the command line says otherwise."""

    workloads: list[str]
    threads: list[int] = []
    """None: as many as CPUs."""
    heap: str
    """Of buffers a third of it is the nursery."""
    standalone: bool = False
    """Whether the parts of each are processes of their own."""
    pinned: list[Literal["near", "sockets"]] = []
    """Where as many CPUs as threads are: on one processor as far as they go, or half of them on another one."""


class KernelPart(Strict):
    """Zeroing kernels over sizes."""

    title: str
    mode: str
    kernels: list[str]
    """Names of `memgraft zero bench`; `all`; `chosen-ordinary` and `chosen-non-temporal` for this CPU's."""
    relative_to: str
    """A kernel with as many threads, or `one-thread`: the same kernel with one, against all threads together."""
    threads: Literal["one", "all"] = "one"
    """All: as many as the benchmark started at most."""
    least_bytes: int
    most_bytes: int


class PlacementPart(Strict):
    """Something of runs under `memgraft place`: a row for each kernel, a column for each interval."""

    title: str
    shows: Literal[
        "samples",
        "non-local",
        "non-local-late",
        "reduction",
        "moved",
        "moved-back",
        "overhead",
        "modelled-time",
        "modelled-gain",
        "counted",
        "counted-non-local",
        "counted-non-local-late",
        "counted-reduction",
        "missed",
        "missed-non-local",
        "missed-non-local-late",
        "missed-reduction",
    ]


class EmulationPart(Strict):
    """Something of programs whose instructions were counted on AArch64, in an emulator: a row for each program."""

    title: str
    shows: Literal["fences", "instructions", "modelled-time"]
    orderings: list[str] = []
    """Of instructions: the series. Of fences: one, of which there is a series for each kind of fence."""
    instructions_per_cycle: float = 1.0
    """Of modelled time, but for fences."""
    models: list[str] = []
    """Of modelled time: the series, which are emulations.MODELS."""


class Guest(Strict):
    """What figures of placement run on, in an emulated machine."""

    kernels: list[str]
    intervals: list[float]
    """Seconds between two migrations."""
    counted: bool = False
    """Whether the emulator counts all accesses besides."""


class Published(Strict):
    """A number, or words in its place, as they are printed."""

    of: str
    value: str
    section: str


class PublishedTable(Strict):
    """A table as it is printed."""

    columns: list[str]
    rows: list[list[str]]


class Definition(Strict):
    """One table or figure."""

    name: str
    title: str
    item: str
    source: str
    section: str
    here: str = ""
    """What is measured here, and how that differs."""
    needs: str | None = None
    """What it takes that Memgraft cannot measure: then it is listed and not run."""
    elsewhere: str | None = None
    """What of the paper's machine or design Memgraft has nothing of: then too."""
    unpublished: str = ""
    """What the source shows and does not print."""
    aliases: list[str] = []
    programs: Programs | None = None
    """Only with parts of levels or of orderings."""
    guest: Guest | None = None
    """Only with parts of placement."""
    emulated: list[str] = []
    """Only with parts of emulations: on which workloads."""
    part: list[GridPart | KernelPart | LevelsPart | OrderingPart | PlacementPart | EmulationPart] = []
    published: list[Published] = []
    table: PublishedTable | None = None

    @property
    def grid(self) -> list[GridPart]:
        return [part for part in self.part if isinstance(part, GridPart)]

    @property
    def levels(self) -> list[LevelsPart]:
        return [part for part in self.part if isinstance(part, LevelsPart)]

    @property
    def orderings(self) -> list[OrderingPart]:
        return [part for part in self.part if isinstance(part, OrderingPart)]

    @property
    def placements(self) -> list[PlacementPart]:
        return [part for part in self.part if isinstance(part, PlacementPart)]

    @property
    def emulations(self) -> list[EmulationPart]:
        return [part for part in self.part if isinstance(part, EmulationPart)]

    @property
    def family(self) -> str:
        """Figures of one family can share launches; kernels have none, and go with zeroing."""
        if self.placements:
            return "placement"
        if self.emulations:
            return "emulation"
        return "buffers" if self.levels else "ordering" if self.orderings else "zeroing"

    @property
    def runs_java(self) -> bool:
        """Whether a JVM runs for it: none does for zeroing kernels, nor for placement's."""
        return bool(self.grid or self.levels or self.orderings or self.emulations)

    @property
    def kernels(self) -> list[KernelPart]:
        return [part for part in self.part if isinstance(part, KernelPart)]


def read(file: Path) -> Definition:
    try:
        fields = tomllib.loads(file.read_text(encoding="utf-8"))
        return Definition.model_validate({**fields, "name": file.stem})
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        reason = why(error) if isinstance(error, ValidationError) else str(error)
        raise MemgraftError(f"{file} defines no table or figure ({reason})") from None


@cache
def definitions() -> tuple[Definition, ...]:
    """All of them, a source after the other, each in the order of its numbers."""
    place = next((place for place in PLACES if place.is_dir()), PLACES[-1])
    files = [file for family in FAMILIES for file in (place / family).glob("*.toml")]
    return tuple(sorted(map(read, files), key=_order))


def _order(definition: Definition) -> tuple[int, list[int], str]:
    numbers = [int(digits) for digits in re.findall(r"\d+", definition.name)]
    family = next((at for at, prefix in enumerate(PREFIXES) if definition.name.startswith(prefix)), len(PREFIXES))
    return family, numbers, definition.name


def find(name: str) -> Definition:
    """The definition of that name, or of an obvious other spelling: `zeroing-figure-5.11`, `zeroing-fig-5.1a`."""
    typed = name.lower()
    plain = re.sub(r"-(figure|fig\.?)-?", "-", typed)
    for definition in definitions():
        if {typed, plain} & {definition.name, *definition.aliases}:
            return definition
    raise WrongUsageError(f"no table or figure '{name}'; `memgraft paper` lists them")
