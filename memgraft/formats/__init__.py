"""Reading the formats of docs/formats.md: what the native agent and measured programs write.

pydantic checks the types, so that a truncated or foreign file becomes one clear line instead of a wrong number.
Fields that a newer writer added are ignored; another `schema` number is refused.
"""

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from memgraft.errors import CannotTakeError
from memgraft.formats.format import Format
from memgraft.formats.ordering import BytecodeOrdering, Ordering

GIGA = 1e9


class Jvm(Format):
    """Which JVM this is; `libjvm` and `collector` are unknown when it refused early."""

    version: str
    feature: int
    vendor: str
    name: str
    libjvm: str | None = None
    collector: str | None = None

    def __str__(self) -> str:
        collector = f", {self.collector} collector" if self.collector else ""
        return f"{self.name} {self.version} ({self.vendor}{collector})"


class Share(Format):
    """What one kind of thread zeroed."""

    bytes: NonNegativeInt = 0
    seconds: NonNegativeFloat = 0.0


class By(Format):
    """Who zeroed: the allocating threads, the helper thread, the VM within collection pauses."""

    thread: Share | None = None
    helper: Share | None = None
    pause: Share | None = None


class Helper(Format):
    """The helper thread of concurrent zeroing, and how those that allocate met it."""

    started: bool
    reason: str = ""
    """Why it did not start."""
    ready_bytes: NonNegativeInt = 0
    waits: NonNegativeInt = 0
    """Times that a thread waited for a block which the helper was in the midst of."""
    wait_seconds: NonNegativeFloat = 0.0
    steals: NonNegativeInt = 0
    """Blocks that an allocating thread zeroed itself because the helper had not come to them."""
    longest_close_seconds: NonNegativeFloat = 0.0
    """The longest that a collection waited for the helper to stop."""


class Decision(Format):
    """One change of adaptive's mind."""

    collection: NonNegativeInt
    strategy: str
    running_threads: NonNegativeFloat | None = None
    cpus: NonNegativeFloat | None = None
    idle_cpus: NonNegativeFloat | None = None
    gigabytes_per_second: NonNegativeFloat | None = None
    reason: str = ""


EpochSide = Literal["grafted", "baseline"]


class Epoch(Format):
    """The time from the end of one collection to the start of the next."""

    collection: NonNegativeInt
    side: EpochSide
    mutator_cpu_seconds: NonNegativeFloat
    """Of all threads but compilers, collector and VM; zeroing by threads and by the helper included."""
    wall_seconds: NonNegativeFloat = 0.0
    bytes: NonNegativeInt
    """Allocated in it."""
    zeroing_seconds: NonNegativeFloat = 0.0


class Epochs(Format):
    """What each epoch cost, where two strategies were switched at collections."""

    grafted: str
    baseline: str
    records: list[Epoch] = Field(default_factory=list)


class Zeroing(Format):
    """What the zeroing graft did in one JVM; the counts come with the JVM's end."""

    strategy: str
    kernel: str
    tlabs: NonNegativeInt = 0
    missed_tlabs: NonNegativeInt = 0
    bytes: NonNegativeInt = 0
    cycles: NonNegativeInt = 0
    seconds: NonNegativeFloat = 0.0
    window_bytes: NonNegativeInt | None = None
    windows: NonNegativeInt | None = None
    window_waste_bytes: NonNegativeInt | None = None
    fresh_bytes: NonNegativeInt | None = None
    """Never touched since the JVM started, so zero already and not zeroed."""
    by: By | None = None
    helper: Helper | None = None
    collections: NonNegativeInt | None = None
    decisions: dict[str, NonNegativeInt] | None = None
    """Adaptive: collections after which each strategy was chosen."""
    log: list[Decision] | None = None
    """Adaptive: its changes of mind, the newest last."""
    epochs: Epochs | None = None

    @property
    def gigabytes_per_second(self) -> float | None:
        """BytesZeroed / ZeroingCycles (Yang 2011, section 5.3) as GB/s; None when nothing was zeroed."""
        return self.bytes / self.seconds / GIGA if self.seconds > 0 else None


class Latency(Format):
    """How long requests for a TLAB took, in nanoseconds, in classes an eighth of a power of two wide.

    Without the readings of the clock.
    """

    requests: NonNegativeInt
    median_nanoseconds: NonNegativeFloat
    p99_nanoseconds: NonNegativeFloat
    highest_nanoseconds: NonNegativeFloat


class BufferLevel(Format):
    """What happened on one level of the buffers."""

    kind: str
    bytes: NonNegativeInt
    """Of each buffer."""
    asked_bytes: NonNegativeInt | None = None
    """What the user asked for; more than `bytes` where G1's regions hold no such buffer. 0 where nobody asked."""
    buffers: NonNegativeInt
    take: Literal["atomic", "restartable"]
    taken: NonNegativeInt
    """Times that memory was taken from a buffer, by threads or by lower levels."""
    taken_bytes: NonNegativeInt
    refills: NonNegativeInt
    foreign: NonNegativeInt
    """Of those taken, from the buffer of another CPU than the one at completion."""
    foreign_percent: NonNegativeFloat
    contended: NonNegativeInt
    moved: NonNegativeInt
    waste_at_refills_bytes: NonNegativeInt
    waste_at_collections_bytes: NonNegativeInt
    latency: Latency


class FromHeap(Format):
    """TLABs that no buffer could serve."""

    tlabs: NonNegativeInt
    latency: Latency


class Numa(Format):
    """What NUMA-Eden did with the fillings of the buffers."""

    nodes: NonNegativeInt
    """With 1 there is nothing to bind."""
    fillings: NonNegativeInt = 0
    local_fillings: NonNegativeInt = 0
    """Of these, on their node already."""
    moved_fillings: NonNegativeInt = 0
    remote_fillings: NonNegativeInt = 0
    """Left on another node, because the heap had no more."""
    spares_used: NonNegativeInt = 0
    bound_bytes: NonNegativeInt = 0
    waste_at_collections_bytes: NonNegativeInt = 0
    failures: NonNegativeInt = 0
    """Of system calls; `reason` is the last one's."""
    reason: str = ""


class SizeChange(Format):
    """What made an automatic size change, of what was counted from one collection to the next."""

    collection: int
    reason: str
    bytes_before: NonNegativeInt
    bytes: NonNegativeInt
    waste_percent: NonNegativeFloat
    """Of what the heap handed out: lost at a collection, as is to be expected."""
    foreign_percent: NonNegativeFloat
    contended_percent: NonNegativeFloat
    refills_per_buffer: NonNegativeFloat


class OwnSize(Format):
    """What an automatic size came to."""

    kind: str
    first_bytes: NonNegativeInt
    bytes: NonNegativeInt
    changes: NonNegativeInt
    decisions: dict[str, NonNegativeInt]
    """How many collections ended in each."""
    last_change: SizeChange | None = None


class Buffers(Format):
    """What the buffers graft did in one JVM."""

    zero_at: Literal["tlab", "refill"] = "tlab"
    hands_out: Literal["TLABs", "objects"] = "TLABs"
    sizes: list[OwnSize] = Field(default_factory=list)
    """Only where they decide themselves; the threads' buffers first."""
    levels: list[BufferLevel] = Field(default_factory=list)
    heap: FromHeap | None = None
    refill_latency: Latency | None = None
    clock_nanoseconds: NonNegativeFloat = 0
    """What was taken off each time."""
    collections: NonNegativeInt | None = None
    numa: Numa | None = None


class Grafts(Format):
    """What each graft did in one JVM; one that did not join is absent.

    Of a graft that is not here `model_extra` has what its agent wrote.
    """

    model_config = ConfigDict(extra="allow")

    zeroing: Zeroing | None = None
    buffers: Buffers | None = None
    ordering: Ordering | None = None
    bytecode: BytecodeOrdering | None = None
    """Of the ordering graft, too, where its engine is bytecode."""


class Refusal(Format):
    """Why a JVM did not take a graft."""

    message: str
    exit_code: int


class Counter(Format):
    """One hardware counter of a whole JVM, or why there is none."""

    name: str
    unit: str = ""
    available: bool
    reason: str = ""
    value: NonNegativeFloat = 0
    running_share: float = 1.0
    """The part of the time in which it could count; `value` is scaled up by it."""


class JvmSummary(Format):
    """Format 2: one JVM that loaded the agent."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["jvm-summary"]
    state: Literal["running", "ended", "refused"]
    pid: int
    jvm: Jvm
    program: str = ""
    wall_seconds: NonNegativeFloat = 0.0
    user_seconds: NonNegativeFloat = 0.0
    system_seconds: NonNegativeFloat = 0.0
    grafts: Grafts = Field(default_factory=Grafts)
    counters: list[Counter] = Field(default_factory=list)
    refusal: Refusal | None = None

    @property
    def cpu_seconds(self) -> float:
        return self.user_seconds + self.system_seconds

    @property
    def cpu_utilisation(self) -> float | None:
        """(UserTime + SystemTime) / ExecutionTime (Yang 2011, section 5.3); 1.0 is one CPU."""
        return self.cpu_seconds / self.wall_seconds if self.wall_seconds > 0 else None

    @property
    def direct_cost(self) -> float | None:
        """ZeroingCycles / (UserTime + SystemTime) (Yang 2011, section 5.1), both as CPU seconds."""
        zeroing = self.grafts.zeroing
        return zeroing.seconds / self.cpu_seconds if zeroing and self.cpu_seconds > 0 else None


class Availability(Format):
    """Whether something can take a graft."""

    available: bool
    reason: str


class GraftCheck(Availability):
    """Whether a JVM can take a graft, and with which collectors."""

    collectors: dict[str, Availability] = Field(default_factory=dict)


class JvmCheck(Format):
    """Format 3: what one JVM can take."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["jvm-check"]
    jvm: Jvm
    collectors: list[str]
    grafts: dict[str, GraftCheck]


_Model = TypeVar("_Model", bound=Format)


def why(error: ValidationError) -> str:
    """The first thing that is wrong, in one phrase."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _read(path: Path, model: type[_Model]) -> _Model:
    try:
        return model.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        reason = why(error) if isinstance(error, ValidationError) else str(error)
        raise CannotTakeError(
            f"{path} cannot be read ({reason}): expected a {model.__name__} of docs/formats.md, schema 1; check that "
            "the disk is not full and that the agent and the command line are of the same Memgraft"
        ) from None


def read_summaries(folder: Path) -> list[JvmSummary]:
    """The summaries in `folder`, one per JVM, in the order in which they were first written."""

    def started(path: Path) -> tuple[int, str]:
        digits = path.stem.rpartition("-")[2]
        return (int(digits) if digits.isdecimal() else 0, path.name)

    return [_read(path, JvmSummary) for path in sorted(folder.glob("jvm-*.json"), key=started)]


def read_check(folder: Path) -> JvmCheck | None:
    """The check that a JVM wrote into `folder`, if it came to that."""
    for path in folder.glob("check-*.json"):
        return _read(path, JvmCheck)
    return None
