"""How loads, stores and exchanges of a program are made of a machine's instructions: the candidates."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ordering.mapping.programs import Thread

Isa = Literal["AArch64", "X86"]


@dataclass(frozen=True)
class Step:
    """What an instruction does, as far as memory models tell instructions apart; an exchange takes two steps."""

    kind: Literal["R", "W", "F"]  # load, store, fence
    # A: acquire, Q: processor-consistent acquire, L: release; of a fence what it orders.
    order: Literal["", "A", "Q", "L", "full", "load", "store"] = ""
    exchange: bool = False  # half of one
    single: bool = False  # half of one that is a single instruction, not a load- and a store-exclusive


Code = tuple[Step, ...]


def _nothing(_thread: Thread, _place: int) -> Code:
    return ()


@dataclass(frozen=True)
class Way:
    """The code of each kind of access; `after` adds what depends on the accesses that follow in the thread."""

    load: Code
    store: Code
    exchange: Code
    after: Callable[[Thread, int], Code] = _nothing

    def steps(self, accesses: Thread, place: int) -> Code:
        own = {"R": self.load, "W": self.store, "X": self.exchange}[accesses[place].kind]
        return own + self.after(accesses, place)


@dataclass(frozen=True)
class Candidate:
    """One mapping, or several of which each access of a program may take its own.

    `fails` names programs that end as sequential consistency never would; nothing is there where it is sound.
    """

    name: str
    isa: Isa
    ways: tuple[Way, ...]
    fails: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.fails


# --- AArch64 --------------------------------------------------------------------------------------------------------

LDR, LDAR, LDAPR = Step("R"), Step("R", "A"), Step("R", "Q")
STR, STLR = Step("W"), Step("W", "L")
EXCLUSIVES = (Step("R", "A", exchange=True), Step("W", "L", exchange=True))  # ldaxr; stlxr, and again until it succeeds
SWPAL = (Step("R", "A", exchange=True, single=True), Step("W", "L", exchange=True, single=True))
ISH, ISHLD, ISHST = Step("F", "full"), Step("F", "load"), Step("F", "store")


def _weakest_after_stores(accesses: Thread, place: int) -> Code:
    if not accesses[place].stores:
        return ()
    store_follows = place + 1 < len(accesses) and accesses[place + 1].kind == "W"
    return (ISHST,) if store_follows else (ISH,)


VBD = Way((LDR, ISHLD), (STR, ISH), (*EXCLUSIVES, ISH))
# What HotSpot makes of Java's volatile (JDK 17 to 25): C2 one, the interpreter and C1 the other. An exchange is C2's.
HOTSPOT_C2 = Way((LDAR,), (STLR,), EXCLUSIVES)
HOTSPOT_INTERPRETER = Way((ISH, LDR, ISHLD), (ISH, STR, ISH), (*EXCLUSIVES, ISH))

AARCH64 = (
    Candidate("`ldr; dmb ishld` / `str; dmb ish` (VBD, optimised)", "AArch64", (VBD,)),
    Candidate(
        "`ldr; dmb ishld` / `dmb ish; str; dmb ish` (VBD)",
        "AArch64",
        (Way((LDR, ISHLD), (ISH, STR, ISH), (ISH, *EXCLUSIVES, ISH)),),
    ),
    Candidate(
        "VBD, with `dmb ishst` after a store that a store follows",
        "AArch64",
        (Way((LDR, ISHLD), (STR,), EXCLUSIVES, after=_weakest_after_stores),),
    ),
    Candidate("VBD, exchange `swpal` alone", "AArch64", (Way((LDR, ISHLD), (STR, ISH), SWPAL),)),
    Candidate("`ldar` / `stlr` (HotSpot's C2, volatile)", "AArch64", (HOTSPOT_C2,)),
    Candidate(
        "`dmb ish; ldr; dmb ishld` / `dmb ish; str; dmb ish`, mixed with `ldar` / `stlr` (all of HotSpot, volatile)",
        "AArch64",
        (HOTSPOT_INTERPRETER, HOTSPOT_C2),
    ),
    Candidate(
        "VBD, mixed with `ldar` / `stlr; dmb ish`",
        "AArch64",
        (VBD, Way((LDAR,), (STLR, ISH), (*EXCLUSIVES, ISH))),
    ),
    Candidate("no fence", "AArch64", (Way((LDR,), (STR,), EXCLUSIVES),), fails=("SB", "MP", "LB", "S", "R", "2+2W")),
    Candidate(
        "VBD without `dmb ish` after stores",
        "AArch64",
        (Way((LDR, ISHLD), (STR,), EXCLUSIVES),),
        fails=("SB", "MP", "S", "R", "2+2W"),
    ),
    Candidate(
        "VBD with `dmb ishst` after stores",
        "AArch64",
        (Way((LDR, ISHLD), (STR, ISHST), (*EXCLUSIVES, ISHST)),),
        fails=("SB", "R", "RWC"),
    ),
    Candidate(
        "VBD without `dmb ishld` after loads",
        "AArch64",
        (Way((LDR,), (STR, ISH), (*EXCLUSIVES, ISH)),),
        fails=("MP", "LB", "S", "IRIW"),
    ),
    Candidate(
        "VBD with `dmb ishst` after loads",
        "AArch64",
        (Way((LDR, ISHST), (STR, ISH), (*EXCLUSIVES, ISH)),),
        fails=("MP", "LB", "S", "IRIW"),
    ),
    Candidate(
        "`ldapr` / `stlr`",
        "AArch64",
        (Way((LDAPR,), (STLR,), EXCLUSIVES),),
        fails=("SB",),
    ),
    Candidate(
        "VBD, exchange `ldaxr; stlxr` alone",
        "AArch64",
        (Way((LDR, ISHLD), (STR, ISH), EXCLUSIVES),),
        fails=("Wx Ry | Xy Rx",),
    ),
    Candidate(
        "VBD, mixed with `ldar` / `stlr` (C2's volatile as it is)",
        "AArch64",
        (VBD, HOTSPOT_C2),
        fails=("SB", "R"),
    ),
    Candidate(
        "`ldr; dmb ishld` / `dmb ish; str; dmb ish`, mixed with `ldar` / `stlr` (HotSpot before JDK-8179954)",
        "AArch64",
        (Way((LDR, ISHLD), (ISH, STR, ISH), (ISH, *EXCLUSIVES, ISH)), HOTSPOT_C2),
        fails=("SB",),
    ),
)

# --- x86 ------------------------------------------------------------------------------------------------------------

MOV_LOAD, MOV_STORE = Step("R"), Step("W")
XCHG = (Step("R", exchange=True, single=True), Step("W", exchange=True, single=True))
# Or HotSpot's `lock add $0, (%rsp)`, which is one to everything but the thread's own stack (x86-TSO, axioms of locked
# instructions).
MFENCE = Step("F", "full")


def _before_next_load(accesses: Thread, place: int) -> Code:
    """One fence for a run of stores: after the last of them, and only where a load follows."""
    if accesses[place].kind != "W":
        return ()
    return (MFENCE,) if place + 1 < len(accesses) and accesses[place + 1].kind == "R" else ()


def _before_load_of_another(accesses: Thread, place: int) -> Code:
    """Wrong: what was stored is loaded from the store buffer, and the load after that has no fence before it."""
    if not _before_next_load(accesses, place) or accesses[place + 1].location == accesses[place].location:
        return ()
    return (MFENCE,)


X86 = (
    Candidate("`mov` / `mov; mfence`", "X86", (Way((MOV_LOAD,), (MOV_STORE, MFENCE), XCHG),)),
    Candidate(
        "`mov` / `mov`, one `mfence` after a run of stores and before the next load",
        "X86",
        (Way((MOV_LOAD,), (MOV_STORE,), XCHG, after=_before_next_load),),
    ),
    Candidate("no fence", "X86", (Way((MOV_LOAD,), (MOV_STORE,), XCHG),), fails=("SB", "R", "RWC", "3.SB")),
    Candidate(
        "`mov` / `mfence; mov`",
        "X86",
        (Way((MOV_LOAD,), (MFENCE, MOV_STORE), XCHG),),
        fails=("SB", "R", "RWC", "3.SB"),
    ),
    Candidate(
        "`mov` / `mov`, `mfence` only before a load of another location",
        "X86",
        (Way((MOV_LOAD,), (MOV_STORE,), XCHG, after=_before_load_of_another),),
        fails=("Wx Rx Ry | Wy Rx",),
    ),
)

CANDIDATES = AARCH64 + X86
