"""What the summary of one JVM says of the ordering graft (docs/formats.md, section 2)."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from memgraft.formats.format import Format


class FencesBefore(Format):
    """The fences behind stores that another one does not make unnecessary, by what can come next.

    Of several, the first one here is told.
    """

    loads: NonNegativeInt = 0
    unknown: NonNegativeInt = 0
    calls: NonNegativeInt = 0
    ends: NonNegativeInt = 0
    """Of methods: what their callers do next is not known."""


class OfC2(Format):
    """What the ordering graft did in C2, in accesses that it parsed (inlined ones each time)."""

    methods: NonNegativeInt
    """Compilations."""
    loads: NonNegativeInt
    stores: NonNegativeInt
    relaxed: NonNegativeInt
    """Of both, left to the Java memory model: `--relaxed` names their method, or an annotation is on it."""
    annotated: NonNegativeInt
    """Of `relaxed`, because of the annotation alone."""
    final_loads: NonNegativeInt
    """Of `loads`, of final fields, which do not change: left as they are."""
    private_loads: NonNegativeInt
    """Of `loads`, of objects that no other thread can have yet: left as they are."""
    private_stores: NonNegativeInt
    private_later: NonNegativeInt
    """Further stores that turned out to be of that kind when the whole method was parsed."""
    joined_fences: NonNegativeInt
    """Fences that another one makes unnecessary."""
    fences_before: FencesBefore = Field(default_factory=FencesBefore)
    fences_at_ends: NonNegativeInt = 0
    """Methods with a fence at their end, which makes those unnecessary that have nothing but the end next."""
    atomics: NonNegativeInt
    fences_behind_calls: NonNegativeInt
    """Behind calls of stubs, which may write."""


class OfC1(Format):
    """The same in C1."""

    methods: NonNegativeInt
    loads: NonNegativeInt
    stores: NonNegativeInt
    fences_behind_calls: NonNegativeInt


class OfInterpreter(Format):
    """The same in the interpreter."""

    loads: NonNegativeInt = 0
    """Places in its templates; none where the machine keeps loads in order by itself."""
    stores: NonNegativeInt


class C1Check(Format):
    """What C1's code shows, as it is emitted."""

    methods: NonNegativeInt
    """Compilations that came as far as emitting code."""
    stores: NonNegativeInt
    """To fields and elements, and copies of arrays."""
    own: NonNegativeInt
    """To the JVM's own memory, which needs no fence: counters, cards, the thread."""
    unsafe: NonNegativeInt
    """Of `stores`, without a fence behind them; and code that was not seen emitted."""
    unsafe_methods: list[str] = Field(default_factory=list)


class InterpreterCheck(Format):
    """What the interpreter's code shows, as it is generated."""

    stores: NonNegativeInt
    """Places in its templates."""
    unsafe: NonNegativeInt


class OrderCheck(Format):
    """What C2's own graphs show of every compilation, and others' code, whatever the graft believes to have done."""

    methods: NonNegativeInt
    accesses: NonNegativeInt
    """Of fields and array elements."""
    excused: NonNegativeInt
    """Of these, without a barrier, and rightly so."""
    unsafe: NonNegativeInt
    """Of these, without the barrier that they need."""
    unsafe_methods: list[str] = Field(default_factory=list)
    """The first of the methods that they are in."""
    c1: C1Check | None = None
    interpreter: InterpreterCheck | None = None


class Ordering(Format):
    """What the ordering graft did in one JVM."""

    placement: str
    c2: OfC2
    c1: OfC1
    interpreter: OfInterpreter
    check: OrderCheck | None = None


class BytecodeFences(Format):
    """How many places in bytecode got fences."""

    field_loads: NonNegativeInt
    field_stores: NonNegativeInt
    static_loads: NonNegativeInt
    static_stores: NonNegativeInt
    element_loads: NonNegativeInt
    element_stores: NonNegativeInt
    private_stores: NonNegativeInt = 0
    """Stores to fields and elements of objects that no other thread can have: with a release fence alone."""
    weak_accesses: NonNegativeInt
    """Calls of methods that access memory without the order of a volatile."""
    handle_calls: NonNegativeInt
    """Calls of method handles, and of what a language's own invokedynamic stands for."""
    copies: NonNegativeInt
    """Calls that copy or fill many elements."""
    intrinsics: NonNegativeInt
    """Calls of methods that compilers replace by code of their own, where that touches what others may write."""

    @property
    def loads(self) -> int:
        return self.field_loads + self.static_loads + self.element_loads

    @property
    def stores(self) -> int:
        return self.field_stores + self.static_stores + self.element_stores + self.private_stores

    @property
    def calls(self) -> int:
        return self.weak_accesses + self.handle_calls + self.copies + self.intrinsics


class Only(Format):
    """Of the file that names the accesses to put in order."""

    unmatched: list[str] = Field(default_factory=list)
    """Its lines that named nothing in any class."""


class Weak(Format):
    """Of a memory whose loads may get old values."""

    loads: NonNegativeInt
    """Those that could get an old value."""
    stale_loads: NonNegativeInt
    """Of these, those that did."""


class Accessor(Format):
    """A thread that loaded or stored something at one place in the code."""

    thread: str
    """Its name."""
    id: int
    """Tells it from others of that name in the same JVM."""
    order: NonNegativeInt
    """Counts the first comings of all threads to all places."""
    times: NonNegativeInt
    """How often it came there."""
    stack: list[str]
    """Frames when it came there first, the innermost first."""


class Accesses(Format):
    """What threads did to one field, or to the array elements of one method."""

    name: str
    loads: list[Accessor]
    stores: list[Accessor]


class Observed(Format):
    """Which threads loaded and stored what in the classes of the program."""

    accesses: list[Accesses]
    jdk_classes: list[str]
    """Those of the JVM's own that were loaded at the end."""


class Speculation(Format):
    """Of fields that need no fence as long as each object stays with the thread that made it."""

    classes: NonNegativeInt
    """Those that declare such fields."""
    switched: NonNegativeInt
    """Of these, those whose accesses got their fences after all."""
    switched_classes: dict[str, str] = Field(default_factory=dict)
    """Some of them, and why."""
    seconds: NonNegativeFloat
    """All switches took."""
    ended: str | None = None
    """Why no class is speculated on any more."""
    failed_checks: dict[str, NonNegativeInt] | None = None
    """Where no class is ever switched: some of those that would have been, and how often a check failed."""


class BytecodeOrdering(Format):
    """What the engine bytecode of the ordering graft did in one JVM."""

    classes: NonNegativeInt
    """Rewritten, those again that the JVM had before."""
    fences: BytecodeFences
    hidden_classes: NonNegativeInt
    """Of the classes: hidden ones, such as those of lambdas."""
    early_hidden_classes: NonNegativeInt
    """Hidden ones that were there before the agent, and so stay as they are: the JDK's own."""
    checked_classes: NonNegativeInt
    unfenced: NonNegativeInt
    """Accesses in these without a fence."""
    unfenced_methods: list[str] = Field(default_factory=list)
    failed: NonNegativeInt
    """Classes that could not be rewritten."""
    failed_classes: dict[str, str] = Field(default_factory=dict)
    """Some of them, and why."""
    only: Only | None = None
    """Where only some accesses were put in order."""
    weak: Weak | None = None
    """Where loads could get old values instead."""
    speculation: Speculation | None = None
    """Where objects were taken to stay with the threads that made them."""
    observed: Observed | None = None
    """Where accesses were observed instead."""
