"""Every graft, declared once: its option, its choices, their parameters, and what a JVM needs to take it.

The options of `run` and `compare`, their help and completion, the JVM options, the agent's options and the checks of
`doctor` all follow from the table GRAFTS.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memgraft.errors import WrongUsageError
from memgraft.grafts import buffers
from memgraft.grafts.declarations import AgentOption, Levels, Number, Place, PowerOfTwo, Value, Words
from memgraft.grafts.section import Section


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
    by_bytecode: bool = False
    """Whether only the agent that rewrites classes can do it."""
    agent: str | None = None
    """What the agent calls it, where that is another name."""
    jvm_options: tuple[str, ...] = ()
    """What this choice needs besides what its graft needs."""
    without: tuple[str, ...] = ()
    """The grafts that cannot join beside it."""
    why_without: str = ""


@dataclass(frozen=True, kw_only=True)
class Parameter(AgentOption):
    """What belongs to some choices of a graft; its option is `--NAME`."""

    choices: tuple[str, ...] = ()
    """The choices that take it; none named: all that join."""
    beside: tuple[str, tuple[str, ...]] | None = None
    """Another graft that has to join too, and which of its choices."""
    agent: bool = True
    """False: the native agent is not told."""

    def check(self, value: int | str | Path) -> None:
        """Refuses what the agent would refuse, before anything is started."""
        if isinstance(self.value, Words | PowerOfTwo | Place) and not self.value.right(value):
            raise WrongUsageError(f"{self.option} {value}: expected {self.value.expected}")

    def taken_by(self, graft: "Graft", names: set[str | None]) -> bool:
        """Whether one of these choices takes it."""
        if self.choices:
            return bool(names & set(self.choices))
        return any(name is not None and graft.choice(name).joins for name in names)


@dataclass(frozen=True, kw_only=True)
class Flag(AgentOption):
    """A word that may stand among what was typed of a graft; its option is `--NAME`."""

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
    internal: tuple[AgentOption, ...] = ()
    """Options of the agent that Memgraft itself sets."""
    metavar: str = ""
    reads: Callable[[str], Choice] | None = None
    """Makes the choice of what was typed, where that is no name out of a list; `choices` are then examples."""
    value: Value | None = None
    """What the agent's option takes, where that is not the names of the choices."""
    agent_metavar: str = ""
    source: str = ""
    """The work that the designs come from."""
    section: Callable[[], Section] = Section
    """Makes what is said of it."""

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

    @property
    def agent_options(self) -> tuple[AgentOption, ...]:
        """Of the agent; the first one asks for the graft."""
        joining = [choice for choice in self.choices if choice.joins and not choice.by_bytecode]
        names = Words(
            tuple(choice.name for choice in joining if choice.offered),
            tuple(choice.name for choice in joining if not choice.offered),
        )
        own = AgentOption(
            name=self.name,
            value=self.value or names,
            help=self.help.partition(": ")[0].removesuffix("."),
            metavar=self.agent_metavar,
            source=self.source,
        )
        return (own, *(one for one in self.parameters if one.agent), *self.flags, *self.internal)


ORDERING = "ordering"
ZEROING = "zeroing"
ENGINE = "engine"
WEAK = "weak"
BYTECODE = "bytecode"
"""The engine that rewrites classes, in any JVM."""
BYTECODE_JVM_OPTIONS = ("-XX:-DontCompileHugeMethods",)
"""HotSpot leaves methods of 8,000 bytes and more to its interpreter, and fences make methods longer."""
SPECULATIVE = "speculative"
CHECKS_ALONE = "speculative-checks"
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
        agent=read.agent_option,
        jvm_options=tuple(read.jvm_options),
        without=() if read.thread != 0 else (ZEROING,),
        why_without="it zeroes TLABs, and thread=none leaves none",
    )


# What is said of grafts takes statistics, which need a while to be imported: help and completion do without.


def _zeroing_section() -> Section:
    from memgraft.grafts.zeroing_section import ZeroingSection

    return ZeroingSection()


def _buffers_section() -> Section:
    from memgraft.grafts.buffers_section import BuffersSection

    return BuffersSection()


def _ordering_section() -> Section:
    from memgraft.grafts.ordering_section import OrderingSection

    return OrderingSection()


ONLY = Parameter(
    name="only",
    value=Place(),
    metavar="FILE",
    help="With --engine bytecode: only the accesses named in FILE are put in order, as if they were volatile, one a "
    "line, for example org.example.Server.stopped (docs/hunt.md)",
    choices=("sc", WEAK),
    agent=False,
)
SEED = Parameter(
    name="seed",
    value=Number(),
    metavar="N",
    help="Which of the old values loads get: the same ones for the same N, as far as threads run in the same order",
    default=1,
    choices=(WEAK,),
    agent=False,
)
OBJECTS = AgentOption(
    name=buffers.OBJECTS,
    help="Hand out objects, in a JVM without TLABs (`-XX:-UseTLAB`, JDK 21 and 25)",
)
CHECK_ORDER = AgentOption(
    name="check-order",
    help="Look at C2's graph of every compilation, and at the code of C1 and the interpreter, for accesses without the "
    "barrier that they need",
)
TABLE = AgentOption(
    name="table",
    value=Place(),
    metavar="FILE",
    help="The calibration table of this CPU (`memgraft zero calibrate`)",
    default="kernels by the CPU's family",
)
AGAINST = AgentOption(
    name="against",
    value=Words(("bulk", "non-temporal", "windows", "concurrent"), ("mixed", "pause")),
    metavar="STRATEGY",
    help="Epochs: this strategy and that of `zeroing`, which is not `adaptive`, take turns, A B B A A B B A ..., "
    "switched at collections",
)

GRAFTS = (
    Graft(
        name=ZEROING,
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
                "mixed",
                "non-temporal, but for the first window of each TLAB, which is used at once: measures what that gives",
                offered=False,
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
                value=PowerOfTwo(4096, 2**20),
                metavar="BYTES",
                help="How much windows and adaptive zero at a time",
                default=32768,
                choices=("windows", "adaptive", "mixed"),
            ),
        ),
        internal=(AGAINST, TABLE),
        agent_metavar="STRATEGY",
        source="Yang 2011",
        section=_zeroing_section,
    ),
    Graft(
        name="buffers",
        help="From where threads' allocation buffers (TLABs) are refilled: sizes of the buffers between them and the "
        "heap, for example thread=64k,core=1m,processor=16m. Kinds: thread, cpu (a hardware thread), core, processor "
        "(a package), node; thread=growing, the default, leaves TLABs to HotSpot, thread=none does without them. auto: "
        "sizes decide themselves after each collection.",
        choices=(
            Choice(GROWING, "the stock's own: growing TLABs from the heap", joins=False, switches=False),
            Choice("thread=64k,core=1m,processor=16m", "", switches=False),
        ),
        jvm_options=(),
        parameters=(
            Parameter(
                name="take",
                value=Words(("atomic", "restartable")),
                metavar="HOW",
                help="How memory is taken from buffers of one CPU each: by compare-and-swap (atomic), or by rseq(2) "
                "without any atomic instruction (restartable)",
                default="restartable where glibc and Linux have it",
            ),
            Parameter(
                name="zero-at",
                value=Words(("tlab", "refill")),
                metavar="WHEN",
                help="When memory in buffers is zeroed: each TLAB when it is handed out, or the lowest buffers as a "
                "whole when they are refilled",
                default="tlab",
                beside=(ZEROING, ("bulk", "non-temporal", "concurrent")),
            ),
        ),
        flags=(
            Flag(
                name=buffers.NUMA_EDEN,
                help="Bind what buffers are filled with to the NUMA node of their CPUs, in buffers of nodes where "
                "there are no others",
                source="Tikir 2005, NUMA-Eden",
            ),
        ),
        internal=(OBJECTS,),
        metavar="KIND=SIZE,...|auto",
        reads=_buffers,
        value=Levels(buffers.KINDS[1:], buffers.MULTIPLE, buffers.MOST_BYTES, (buffers.AUTO, buffers.NONE)),
        agent_metavar="KIND:BYTES",
        source="Kirsch, Payer and Röck, about 2012",
        section=_buffers_section,
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
            Choice(
                WEAK,
                "the contrary: loads in the program's own classes may get old values, as far as the Java memory model "
                "allows, in any JVM from 17 on (engine bytecode)",
                switches=False,
                by_bytecode=True,
            ),
            Choice(
                SPECULATIVE,
                "sequentially consistent as well; fields of objects that stay with the thread that made them need no "
                "fence, class by class, in HotSpot from 17 on (engine bytecode)",
                switches=False,
                by_bytecode=True,
            ),
            Choice(
                CHECKS_ALONE,
                "speculative without ever switching a class, and so not sequentially consistent",
                switches=False,
                by_bytecode=True,
                offered=False,
            ),
            Choice(
                "sc-bytecode",
                "sc with the engine bytecode",
                switches=False,
                by_bytecode=True,
                offered=False,
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
                value=Place(),
                metavar="FILE",
                help="Classes and methods that C2 compiles with the plain Java memory model, one a line, for example "
                "java.util.HashMap or java.util.HashMap.putVal (docs/ordering.md)",
                choices=("sc", "sc-seed"),
            ),
            Parameter(
                name=ENGINE,
                value=Words(("hotspot", BYTECODE)),
                metavar="ENGINE",
                help="What makes it so: the joints of HotSpot's compilers and interpreter (hotspot), or fences in the "
                "bytecode of every class, in any JVM from 17 on, with any collector (bytecode)",
                default="hotspot",
                choices=("sc",),
                agent=False,
            ),
            ONLY,
            SEED,
        ),
        internal=(CHECK_ORDER,),
        agent_metavar="PLACEMENT",
        source="Liu 2020, chapters 3 and 4",
        section=_ordering_section,
    ),
)

SUMMARY = AgentOption(
    name="summary",
    value=Place(folder=True),
    metavar="FOLDER",
    help="Write one summary there for this JVM (section 2)",
    default="refusals go to standard error",
)
LIVE = AgentOption(
    name="live",
    help="Write the summary again after a collection, at most once a second, for `memgraft watch --jvm`; with "
    "`summary`",
)
COUNTERS = AgentOption(name="counters", help="Count what the hardware can, and put it into the summary")
CHECK = AgentOption(
    name="check",
    help="Look for every joint of every graft, write the check (section 3) and leave the process with 0 before the "
    "program starts; with `summary`",
)
AGENT_OPTIONS = (SUMMARY, LIVE, COUNTERS, CHECK)
"""Those of no graft."""


def sections() -> dict[str, Section]:
    """What is said of each graft, by its name."""
    return {graft.name: graft.section() for graft in GRAFTS}


def usage() -> str:
    """The options as they are typed, for messages: `--zeroing hot-path|bulk|...`."""
    return ", ".join(f"{g.option} {g.metavar or '|'.join(c.name for c in g.offered)}" for g in GRAFTS)
