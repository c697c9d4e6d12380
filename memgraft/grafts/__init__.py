"""Every graft, declared once: its option, its choices, their parameters, and what a JVM needs to take it.

The options of `run` and `compare`, their help and completion, the JVM options, the agent options and the checks of
`doctor` all follow from the table GRAFTS.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote_from_bytes

from memgraft.errors import WrongUsageError
from memgraft.grafts import buffers


@dataclass(frozen=True)
class Choice:
    """One value of a graft's option."""

    name: str
    help: str
    joins: bool = True
    """False: the runtime already does this by itself, so nothing is loaded and nothing is set."""
    offered: bool = True
    """False: an instrument of Memgraft's own, no value of the option."""
    switches: bool = True
    """Whether it can be switched on and off while the JVM runs, and so be a side of `--pairing epochs`."""
    decides: bool = False
    """Whether it chooses among the others by itself after each collection, and so cannot be a side of epochs."""
    agent: str | None = None
    """What the agent calls it, where that is another name."""
    jvm_options: tuple[str, ...] = ()
    """What this choice needs besides what its graft needs."""


@dataclass(frozen=True)
class Parameter:
    """What belongs to some choices of a graft; its option is `--NAME`, its agent option `NAME=VALUE`."""

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()
    """The choices that take it; none named: all that join."""
    low: int = 0
    high: int = 0
    """Where it is a number: a power of two from `low` to `high`, in bytes."""
    words: tuple[str, ...] = ()
    """Where it is none: its values."""
    file: bool = False
    """Where it is the path of a file; the selection has it absolute."""
    beside: tuple[str, tuple[str, ...]] | None = None
    """Another graft that has to join too, and which of its choices."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    def check(self, value: int | str | Path) -> None:
        """Refuses what the agent would refuse, before anything is started."""
        if self.file:
            if not Path(str(value)).is_file():
                raise WrongUsageError(f"{self.option} {value}: expected a file that exists")
        elif isinstance(value, str):
            if value not in self.words:
                raise WrongUsageError(f"{self.option} {value}: expected {' or '.join(self.words)}")
        elif isinstance(value, Path) or not self.low <= value <= self.high or value & (value - 1):
            raise WrongUsageError(
                f"{self.option} {value}: expected a power of two from {self.low} to {self.high}, in bytes"
            )

    def as_agent_option(self, value: str) -> str:
        """`NAME=VALUE`, with a path as docs/formats.md, format 1, has it."""
        return f"{self.name}={quote_from_bytes(os.fsencode(value), safe='/') if self.file else value}"

    def taken_by(self, graft: "Graft", names: set[str | None]) -> bool:
        """Whether one of these choices takes it."""
        if self.choices:
            return bool(names & set(self.choices))
        return any(name is not None and graft.choice(name).joins for name in names)


@dataclass(frozen=True)
class Flag:
    """A word that may stand among what was typed of a graft; its option is `--NAME`."""

    name: str
    help: str

    @property
    def option(self) -> str:
        return f"--{self.name}"

    def added_to(self, typed: str | None) -> str:
        return f"{typed},{self.name}" if typed else self.name


@dataclass(frozen=True)
class Graft:
    """One family of designs; its option is `--NAME` and its agent option `NAME=CHOICE`."""

    name: str
    help: str
    choices: tuple[Choice, ...]
    jvm_options: tuple[str, ...]
    """What HotSpot must be started with for the joint to be there."""
    parameters: tuple[Parameter, ...] = ()
    flags: tuple[Flag, ...] = ()
    metavar: str = ""
    reads: Callable[[str], Choice] | None = None
    """Makes the choice of what was typed, where that is no name out of a list; `choices` are then examples."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def offered(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if choice.offered)

    @property
    def stock(self) -> Choice:
        """What the runtime does by itself."""
        return next(choice for choice in self.choices if not choice.joins)

    def choice(self, name: str) -> Choice:
        """The choice of that name; WrongUsageError where there is none and it was typed freely."""
        if self.reads is not None:
            return self.reads(name)
        return next(choice for choice in self.choices if choice.name == name)


ORDERING = "ordering"
ZEROING = "zeroing"
GROWING = f"{buffers.THREAD}={buffers.GROWING}"


def _buffers(text: str) -> Choice:
    levels, numa_eden = buffers.without_numa_eden(text)
    choice = _levels(levels)
    if not numa_eden:
        return choice
    agent = f"{choice.agent or choice.name},{buffers.NUMA_EDEN}"
    return replace(choice, name=f"{choice.name},{buffers.NUMA_EDEN}", joins=True, agent=agent)


def _levels(text: str) -> Choice:
    if text == buffers.AUTO:
        return Choice(text, "", switches=False, jvm_options=tuple(buffers.AUTO_JVM_OPTIONS))
    read = buffers.parse(text)
    return Choice(
        read.text,
        "",
        joins=read.text != GROWING,
        switches=False,
        agent=read.agent_option or "none",
        jvm_options=tuple(read.jvm_options),
    )


GRAFTS = (
    Graft(
        name="zeroing",
        help="How fresh heap memory becomes zero.",
        choices=(
            # Compiled code leaves its own zeroing out, or does not, when it is compiled.
            Choice(
                "hot-path",
                "the stock's own: compiled code zeroes each object as it allocates",
                joins=False,
                switches=False,
            ),
            Choice("bulk", "a whole TLAB at once, with ordinary stores, when a thread gets it"),
            Choice("non-temporal", "a whole TLAB at once, with stores that bypass the caches"),
            Choice("windows", "a small window of the TLAB at a time, with ordinary stores, just before it is used"),
            Choice(
                "concurrent",
                "a helper thread zeroes the nursery ahead after each collection (Parallel and Serial collectors)",
            ),
            Choice(
                "adaptive",
                "decided after each collection: concurrent where CPUs idle, else what measures best; `run` keeps "
                "hot-path unless some strategy was measured to be a gain for the program",
                decides=True,
            ),
            Choice(
                "pause",
                "the whole free nursery within each collection's pause: measures the bound",
                offered=False,
            ),
        ),
        # Makes HotSpot hand out TLABs that are zeroed as a whole and lets compiled code rely on it (JDK 9 to 25).
        jvm_options=("-XX:+ZeroTLAB",),
        parameters=(
            Parameter(
                name="window",
                metavar="BYTES",
                help="How much windows and adaptive zero at a time: a power of two, 4096 to 1048576; default 32768.",
                choices=("windows", "adaptive"),
                low=4096,
                high=1048576,
            ),
        ),
    ),
    Graft(
        name="buffers",
        help="From where threads' allocation buffers (TLABs) are refilled: sizes of the buffers between them and the "
        "heap, for example thread=64k,core=1m,processor=16m. Kinds: thread, cpu (a hardware thread), core, processor "
        "(a package), node; thread=growing, the default, leaves TLABs to HotSpot. auto: sizes decide themselves after "
        "each collection.",
        choices=(
            Choice(GROWING, "the stock's own: growing TLABs from the heap", joins=False, switches=False),
            Choice("thread=64k,core=1m,processor=16m", "", switches=False),
        ),
        jvm_options=(),
        parameters=(
            Parameter(
                name="take",
                metavar="HOW",
                help="How memory is taken from buffers of one CPU each: atomic (compare-and-swap) or restartable "
                "(rseq(2), no atomic instruction; the default where glibc and Linux have it).",
                words=("atomic", "restartable"),
            ),
            Parameter(
                name="zero-at",
                metavar="WHEN",
                help="With --zeroing: zero each TLAB when it is handed out (tlab, the default), or the lowest buffers "
                "as a whole when they are refilled (refill).",
                words=("tlab", "refill"),
                beside=("zeroing", ("bulk", "non-temporal", "concurrent")),
            ),
        ),
        flags=(
            Flag(
                buffers.NUMA_EDEN,
                "Bind what buffers are filled with to the NUMA node of their CPUs. Without --buffers: buffers of "
                "nodes, under growing TLABs.",
            ),
        ),
        metavar="KIND=SIZE,...|auto",
        reads=_buffers,
    ),
    Graft(
        name=ORDERING,
        help="In which order other threads see what one does to fields and array elements.",
        choices=(
            # Code is compiled in one way or the other.
            Choice("stock", "as the Java memory model allows", joins=False, switches=False),
            Choice(
                "sc",
                "sequentially consistent, in the interpreter and both compilers (Parallel, Serial and G1 collectors)",
                switches=False,
            ),
            Choice(
                "sc-seed",
                "the same with a full fence behind every store, as the volatile-by-default JVM places them: to compare",
                switches=False,
            ),
            # Each of what sc saves over sc-seed alone, and the bounds: to measure (docs/ordering.md).
            Choice("sc-private-objects", "sc-seed but for objects that nobody else has", switches=False, offered=False),
            Choice("sc-final-loads", "sc-seed but for loads of final fields", switches=False, offered=False),
            Choice("sc-last-fences", "sc-seed with one fence for a run of stores", switches=False, offered=False),
            Choice(
                "no-fences",
                "sc without fences in C2's code, and so not sequentially consistent",
                switches=False,
                offered=False,
            ),
            Choice("switches", "the stock without what sc switches off of it", switches=False, offered=False),
        ),
        # What of the compilers would pass the graft by (docs/ordering.md).
        jvm_options=(
            "-XX:-UseLoopInvariantCodeMotion",
            "-XX:-UseFastJNIAccessors",
            "-XX:-OptimizeStringConcat",
            "-XX:-OptimizeFill",
        ),
        parameters=(
            Parameter(
                name="relaxed",
                metavar="FILE",
                help="Classes and methods that C2 compiles with the plain Java memory model, one a line, for example "
                "java.util.HashMap or java.util.HashMap.putVal (docs/ordering.md).",
                choices=("sc", "sc-seed"),
                file=True,
            ),
        ),
    ),
)

AGAINST = "against"
"""The agent's option that names what the other epochs do (docs/formats.md, format 1)."""

Selection = Mapping[str, str]
"""Graft name to the choice made on the command line, and parameter name to its value.

A graft that was not named is absent.
"""


def usage() -> str:
    """The options as they are typed, for messages: `--zeroing hot-path|bulk|...`."""
    return ", ".join(f"{g.option} {g.metavar or '|'.join(c.name for c in g.offered)}" for g in GRAFTS)


def choices(selection: Selection) -> dict[str, Choice]:
    """What was chosen of each graft."""
    return {g.name: g.choice(selection[g.name]) for g in GRAFTS if g.name in selection}


def with_parameters(
    selection: Selection, values: Mapping[str, int | str | Path], against: str | None = None
) -> dict[str, str]:
    """The selection with the parameters given, or WrongUsageError where nothing chosen takes one of them."""
    complete = dict(selection)
    for graft in GRAFTS:
        chosen = {selection.get(graft.name), against}
        for parameter in graft.parameters:
            if parameter.name not in values:
                continue
            parameter.check(values[parameter.name])
            if not parameter.taken_by(graft, chosen):
                expected = " or ".join(parameter.choices) or graft.metavar
                found = selection.get(graft.name) or "left out"
                raise WrongUsageError(
                    f"{parameter.option} {values[parameter.name]}: {graft.option} {found} has no {parameter.name}; "
                    f"expected {graft.option} {expected}, or no {parameter.option}"
                )
            if parameter.beside is not None and selection.get(parameter.beside[0]) not in parameter.beside[1]:
                other, possible = parameter.beside
                raise WrongUsageError(
                    f"{parameter.option} {values[parameter.name]}: expected it together with --{other} "
                    f"{', '.join(possible)}; found {selection.get(other) or f'no --{other}'}"
                )
            value = values[parameter.name]
            complete[parameter.name] = str(Path(str(value)).absolute()) if parameter.file else str(value)
    return complete


def stock_of(selection: Selection) -> dict[str, str]:
    """The same grafts, left to the runtime."""
    return {graft.name: graft.stock.name for graft in GRAFTS if graft.name in selection}


def against(selection: Selection, name: str) -> dict[str, str]:
    """The selection with the choice `name` in place of the one made, for the other side of a comparison."""
    for graft in GRAFTS:
        if graft.name in selection and name in {choice.name for choice in graft.offered}:
            return {**selection, graft.name: name}
        if graft.name in selection and graft.reads is not None and ("=" in name or name == buffers.AUTO):
            return {**selection, graft.name: graft.reads(name).name}
    possible = [
        name
        for graft in GRAFTS
        if graft.name in selection
        for name in ([graft.metavar] if graft.reads else [choice.name for choice in graft.offered])
    ]
    raise WrongUsageError(f"--against {name}: expected one of {', '.join(possible)}")


def joining(selection: Selection) -> dict[str, str]:
    """The part of the selection for which something has to join the runtime, parameters included."""
    joined: dict[str, str] = {}
    for graft in GRAFTS:
        if graft.name not in selection or not graft.choice(selection[graft.name]).joins:
            continue
        joined[graft.name] = selection[graft.name]
        taking = {selection[graft.name], selection.get(AGAINST)}
        names = [parameter.name for parameter in graft.parameters if parameter.taken_by(graft, taking)]
        joined |= {name: selection[name] for name in (*names, AGAINST) if name in selection}
    return joined


def jvm_options(selection: Selection) -> list[str]:
    """What the JVM must be started with for this selection, apart from the agent."""
    joined = [g for g in GRAFTS if g.name in joining(selection)]
    options = [option for g in joined for option in (*g.jvm_options, *g.choice(selection[g.name]).jvm_options)]
    return list(dict.fromkeys(options))


def agent_options(selection: Selection) -> list[str]:
    """`KEY=VALUE` for each graft that joins, and for its parameters (docs/formats.md, format 1)."""
    agents = {g.name: g.choice(selection[g.name]).agent for g in GRAFTS if g.name in selection}
    parameters = {parameter.name: parameter for graft in GRAFTS for parameter in graft.parameters}
    return [
        parameters[name].as_agent_option(value) if name in parameters else f"{name}={agents.get(name) or value}"
        for name, value in joining(selection).items()
    ]


def describe(selection: Selection) -> str:
    """In words: `non-temporal zeroing`, `windows zeroing (window 65536)`."""
    return " and ".join(
        f"{label(selection, [g])} {g.name}{_values(selection, g)}" for g in GRAFTS if g.name in selection
    )


def label(selection: Selection, grafts: Iterable[Graft] = GRAFTS) -> str:
    """In a word: `non-temporal`."""
    return " and ".join(selection[g.name] for g in grafts if g.name in selection)


def _values(selection: Selection, graft: Graft) -> str:
    given = joining(selection)
    values = [f"{p.name} {given[p.name]}" for p in graft.parameters if p.name in given]
    return f" ({', '.join(values)})" if values else ""
