"""The protocol of `--ordering speculative` as a machine with states, and every state that it can come to.

Each location is a field of an object that one thread made, its *owner*. Code accesses it in steps:

1. the *check*: is this thread the owner? Where it is not, the thread *switches* the field's class first;
2. the access;
3. the *guard*: has the class been switched? Where it has, a fence.

The machine reorders whatever no fence keeps in order: once issued, an access is performed at any later time, but not
before an earlier access of its thread to the same location. This is weaker than any CPU, and than any compiler that
keeps accesses on their side of a *poll*. At polls HotSpot stops threads. The interpreter has one at every step.
Compiled code has them between the accesses that it inlined, and takes checks and guards for constants up to the next
one, where HotSpot throws the code away if they have changed.

A switch has three steps: guards fence; every thread is stopped at a poll, with all that it issued performed; checks no
longer look.

A location may be *private* until its owner stores a reference to its object elsewhere, which publishes it. Until then
the owner's accesses have no check, and the guard of its stores is a release fence: what comes before it is performed
before any store behind it. Another thread comes to the location only by a load that got the reference; where its loads
got none, the thread ends there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from ordering.mapping.programs import Access, Outcome, Program, locations_of, values


class Mistake(Enum):
    """A protocol with one thing wrong, which the model must find."""

    NO_STOP = "a switch stops no thread"
    NOT_ITSELF = "a switch leaves accesses of its own thread under way"
    STOP_FIRST = "a switch stops threads before guards fence"
    CHECKS_OFF_FIRST = "checks no longer look before threads were stopped"
    NOBODY_WAITS = "a thread goes on while another one is switching the class"
    GUARD_FIRST = "the guard is asked before the access, and the fence comes behind it"
    LOADS_UNCHECKED = "loads have no check"
    STORES_UNCHECKED = "stores have no check"
    LOADS_UNGUARDED = "loads have no guard"
    STORES_UNGUARDED = "stores have no guard"
    KEEPS_CODE = "compiled code with outdated guards goes on"
    NOT_MADE_YET_IS_OWN = "an object whose owner a racing thread does not see yet counts as its own"
    PRIVATE_UNFENCED = "a private store has no release fence either"
    PRIVATE_FOR_GOOD = "a published object counts as private"


@dataclass(frozen=True)
class Instance:
    """A program, and who made what it accesses."""

    program: Program
    owners: tuple[int | None, ...]
    """By location: a thread, or None for what always has its fence, as static fields and elements have."""
    classes: tuple[int, ...]
    """By location: the class that declares it."""
    compiled: int = 0
    """How many accesses compiled code makes from poll to poll; 0: the interpreter runs it."""
    mistake: Mistake | None = None
    published: tuple[int | None, ...] = ()
    """By location: where its owner stores the reference that others come to it by; None: all come to it."""
    switched: int = 0
    """Classes that were switched before, by bits."""
    written: Mapping[tuple[int, int], int] = field(init=False)
    """By thread and place: what a store stores."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", values(self.program))

    def has(self, mistake: Mistake) -> bool:
        return self.mistake is mistake

    def reference(self, which: int, place: int) -> int | None:
        """Where the reference to what is accessed there was stored, if it is another thread's object."""
        location = self.program[which][place].location
        if location >= len(self.published) or self.owners[location] == which:
            return None
        return self.published[location]

    def is_private(self, which: int, place: int) -> bool:
        """Whether the object accessed there is its owner's, who has not published it yet."""
        location = self.program[which][place].location
        if location >= len(self.published) or self.owners[location] != which or self.published[location] is None:
            return False
        before = self.program[which][:place]
        is_public = any(access.stores and access.location == self.published[location] for access in before)
        return not is_public or self.has(Mistake.PRIVATE_FOR_GOOD)

    def with_mistake(self, mistake: Mistake) -> "Instance":
        return replace(self, mistake=mistake)


class Step(Enum):
    """What a thread does next; each access begins with the first one."""

    CHECK = "check"
    ACCESS = "access"
    GUARD = "guard"
    FENCE = "fence"
    # Of a switch:
    GUARDS_FENCE = "guards fence"
    STOP = "stop"
    CHECKS_OFF = "checks off"


class Mode(NamedTuple):
    """Classes by bits: those whose guards fence, and those whose checks no longer look."""

    fences: int = 0
    unchecked: int = 0


class Running(NamedTuple):
    """A thread."""

    place: int = 0
    step: Step = Step.CHECK
    issued: tuple[int, ...] = ()
    """The places of accesses that are not performed."""
    read: tuple[tuple[int, int], ...] = ()
    """Places, and what their loads read."""
    code: Mode | None = None
    """What compiled code takes for the mode; None: there is none."""
    decided: bool = False
    """Of a guard that was asked too early: whether it fences."""
    released: tuple[int, ...] = ()
    """The places of private stores that have a release fence behind them."""


class State(NamedTuple):
    """Of the whole machine."""

    threads: tuple[Running, ...]
    memory: tuple[int, ...]
    owners_seen: bool
    """Whether every thread sees who made what."""
    mode: Mode = Mode()
    switching: int | None = None
    """The thread that is switching a class: one at a time."""


def outcomes(made: Instance) -> set[Outcome]:
    """What its runs can come to, as programs.sequentially_consistent_outcomes has it."""
    seen_at_once = not made.has(Mistake.NOT_MADE_YET_IS_OWN)  # Otherwise it makes no difference when.
    mode = Mode(made.switched, made.switched)
    start = State((Running(),) * len(made.program), (0,) * locations_of(made.program), seen_at_once, mode)
    seen, left, found = {start}, [start], set[Outcome]()
    while left:
        state = left.pop()
        if _has_ended(made, state):
            found.add((*(tuple(value for _, value in sorted(t.read)) for t in state.threads), state.memory))
        for after in _steps(made, state):
            if after not in seen:
                seen.add(after)
                left.append(after)
    return found


def _has_ended(made: Instance, state: State) -> bool:
    return all(_is_over(made, state, which) and not thread.issued for which, thread in enumerate(state.threads))


def _is_over(made: Instance, state: State, which: int) -> bool:
    """Whether a thread has made all its accesses, or has looked for a reference and got none."""
    thread = state.threads[which]
    return thread.place == len(made.program[which]) or _has_reference(made, thread, which) is False


def _has_reference(made: Instance, thread: Running, which: int) -> bool | None:
    """To what its next access needs one for; None: a load that may get it is under way."""
    source = made.reference(which, thread.place)
    if source is None:
        return True
    places = [place for place in range(thread.place) if made.program[which][place].location == source]
    if any(value for place, value in thread.read if place in places):
        return True
    return None if any(place in thread.issued for place in places) else False


def _steps(made: Instance, state: State) -> Iterator[State]:
    """Every state that may come next."""
    if not state.owners_seen:
        yield state._replace(owners_seen=True)
    for which, thread in enumerate(state.threads):
        yield from _performed(made, state, which)
        if thread.place < len(made.program[which]) and _has_reference(made, thread, which):
            yield from _advanced(made, state, which)


def _with(state: State, which: int, thread: Running) -> State:
    return state._replace(threads=(*state.threads[:which], thread, *state.threads[which + 1 :]))


def _performed(made: Instance, state: State, which: int) -> Iterator[State]:
    """One of the issued accesses of a thread happens."""
    thread = state.threads[which]
    touched = set[int]()
    for place in thread.issued:
        access = made.program[which][place]
        if access.location in touched:
            continue
        touched.add(access.location)
        if access.stores and _is_held(thread, place):
            continue
        issued = tuple(other for other in thread.issued if other != place)
        released = tuple(fence for fence in thread.released if any(earlier <= fence for earlier in issued))
        after = thread._replace(issued=issued, released=released)
        if access.loads:
            after = after._replace(read=(*after.read, (place, state.memory[access.location])))
            yield _with(state, which, after)
        else:
            value = made.written[which, place]
            memory = (value if at == access.location else old for at, old in enumerate(state.memory))
            yield _with(state, which, after)._replace(memory=tuple(memory))


def _is_held(thread: Running, place: int) -> bool:
    """Whether a release fence is between a store and an access before it that is not performed."""
    return any(earlier <= fence < place for earlier in thread.issued for fence in thread.released)


def _advanced(made: Instance, state: State, which: int) -> Iterator[State]:
    """A thread takes its next step, where nothing holds it up."""
    thread = state.threads[which]
    access = made.program[which][thread.place]
    early = made.has(Mistake.GUARD_FIRST)
    if made.compiled and thread.code is None:
        # It is compiled at any time before it runs.
        yield _with(state, which, thread._replace(code=state.mode))
    elif thread.step is Step.CHECK:
        yield from _checked(made, state, which)
    elif thread.step is Step.ACCESS:
        issued = thread._replace(issued=(*thread.issued, thread.place))
        if early:
            yield _behind_guard(made, state, which, issued, fences=thread.decided)
        else:
            yield _with(state, which, issued._replace(step=Step.GUARD))
    elif thread.step is Step.GUARD:
        fences = _fences(made, state, thread, access)
        if access.stores and made.is_private(which, thread.place):
            releases = fences and not made.has(Mistake.PRIVATE_UNFENCED)
            released = (*thread.released, thread.place) if releases else thread.released
            yield _behind_guard(made, state, which, thread._replace(released=released), fences=False)
        elif early:
            yield _with(state, which, thread._replace(step=Step.ACCESS, decided=fences))
        else:
            yield _behind_guard(made, state, which, thread, fences=fences)
    elif thread.step is Step.FENCE:
        # Behind a store it waits for all accesses, behind a load for loads.
        if not any(access.stores or made.program[which][place].loads for place in thread.issued):
            yield _with(state, which, _next(made, thread, state.mode))
    else:
        yield from _switched(made, state, which)


def _mode(state: State, thread: Running) -> Mode:
    """What the thread takes the mode for."""
    return state.mode if thread.code is None else thread.code


def _bit(made: Instance, access: Access) -> int:
    return 1 << made.classes[access.location]


def _fences(made: Instance, state: State, thread: Running, access: Access) -> bool:
    if made.owners[access.location] is None:
        return True
    unguarded = made.has(Mistake.LOADS_UNGUARDED if access.loads else Mistake.STORES_UNGUARDED)
    return bool(_mode(state, thread).fences & _bit(made, access)) and not unguarded


def _behind_guard(made: Instance, state: State, which: int, thread: Running, *, fences: bool) -> State:
    after = thread._replace(step=Step.FENCE) if fences else _next(made, thread, state.mode)
    return _with(state, which, after)


def _next(made: Instance, thread: Running, mode: Mode) -> Running:
    """The thread at its next access, where compiled code may have come to a poll."""
    after = thread._replace(place=thread.place + 1, step=Step.CHECK, decided=False)
    at_poll = made.compiled and after.place % made.compiled == 0
    return _again(made, after, mode) if at_poll else after


def _again(made: Instance, thread: Running, mode: Mode) -> Running:
    """Compiled code that takes the mode for another is thrown away, and compiled again."""
    return thread._replace(code=mode) if thread.code is not None and not made.has(Mistake.KEEPS_CODE) else thread


def _fails(made: Instance, state: State, which: int, access: Access) -> bool:
    """Whether a thread's check says that the object is another's."""
    owner = made.owners[access.location]
    unchecked = made.has(Mistake.LOADS_UNCHECKED if access.loads else Mistake.STORES_UNCHECKED)
    looks = not _mode(state, state.threads[which]).unchecked & _bit(made, access)
    if owner is None or unchecked or not looks:
        return False
    # Where it is not seen who made the object, it was nobody; its maker always sees it.
    return owner != which and (state.owners_seen or not made.has(Mistake.NOT_MADE_YET_IS_OWN))


def _checked(made: Instance, state: State, which: int) -> Iterator[State]:
    thread = state.threads[which]
    access = made.program[which][thread.place]
    bit = _bit(made, access)
    passed = thread._replace(step=Step.GUARD if made.has(Mistake.GUARD_FIRST) else Step.ACCESS)
    nobody_waits = made.has(Mistake.NOBODY_WAITS) and state.mode.fences & bit
    if nobody_waits or not _fails(made, state, which, access):
        yield _with(state, which, passed)
    elif state.switching is None and state.mode.unchecked & bit:
        # Another thread has switched it since this code was compiled.
        yield _with(state, which, _again(made, passed, state.mode))
    elif state.switching is None:
        yield _with(state, which, thread._replace(step=_order(made)[0]))._replace(switching=which)


def _order(made: Instance) -> tuple[Step, Step, Step]:
    """Of a switch's steps."""
    if made.has(Mistake.STOP_FIRST):
        return (Step.STOP, Step.GUARDS_FENCE, Step.CHECKS_OFF)
    if made.has(Mistake.CHECKS_OFF_FIRST):
        return (Step.GUARDS_FENCE, Step.CHECKS_OFF, Step.STOP)
    return (Step.GUARDS_FENCE, Step.STOP, Step.CHECKS_OFF)


def _switched(made: Instance, state: State, which: int) -> Iterator[State]:
    thread = state.threads[which]
    bit = _bit(made, made.program[which][thread.place])
    after = state
    if thread.step is Step.GUARDS_FENCE:
        after = state._replace(mode=state.mode._replace(fences=state.mode.fences | bit))
    elif thread.step is Step.CHECKS_OFF:
        after = state._replace(mode=state.mode._replace(unchecked=state.mode.unchecked | bit))
    elif not made.has(Mistake.NO_STOP):
        if not all(_is_stopped(made, state, other) for other in range(len(state.threads))):
            return
        after = state._replace(threads=tuple(_again(made, other, state.mode) for other in state.threads))
    order = _order(made)
    thread = after.threads[which]
    if thread.step is not order[-1]:
        yield _with(after, which, thread._replace(step=order[order.index(thread.step) + 1]))
        return
    first = Step.GUARD if made.has(Mistake.GUARD_FIRST) else Step.ACCESS
    yield _with(after, which, _again(made, thread._replace(step=first), after.mode))._replace(switching=None)


def _is_stopped(made: Instance, state: State, which: int) -> bool:
    """Whether a thread can stand at a poll now, with nothing under way."""
    thread = state.threads[which]
    if which == state.switching:
        return not thread.issued or made.has(Mistake.NOT_ITSELF)
    return not thread.issued and (not made.compiled or _is_at_poll(made, state, which))


def _is_at_poll(made: Instance, state: State, which: int) -> bool:
    """Whether compiled code is: between two of its stretches, at its end, or where a check that fails calls the JVM."""
    thread = state.threads[which]
    accesses = made.program[which]
    if thread.step is not Step.CHECK:
        return False
    if thread.place % made.compiled == 0 or _is_over(made, state, which):
        return True
    return _fails(made, state, which, accesses[thread.place])
