"""The models' verdicts on litmus tests that the literature and the makers of the machines give verdicts on."""

import pytest

from ordering.mapping.axioms import LitmusTest, outcomes
from ordering.mapping.mappings import EXCLUSIVES, SWPAL, XCHG, Isa, Step, Way
from ordering.mapping.programs import Access, Outcome, sequentially_consistent_outcomes

INSTRUCTIONS = {
    "ldr": ("R", (Step("R"),)),
    "ldar": ("R", (Step("R", "A"),)),
    "ldapr": ("R", (Step("R", "Q"),)),
    "str": ("W", (Step("W"),)),
    "stlr": ("W", (Step("W", "L"),)),
    "swpal": ("X", SWPAL),
    "ldaxr;stlxr": ("X", EXCLUSIVES),
    "load": ("R", (Step("R"),)),
    "store": ("W", (Step("W"),)),
    "xchg": ("X", XCHG),
}
FENCES = {"dmb.sy": Step("F", "full"), "mfence": Step("F", "full")}
FENCES |= {"dmb.ld": Step("F", "load"), "dmb.st": Step("F", "store")}


def parsed(text: str, isa: Isa) -> LitmusTest:
    """`"str x, dmb.sy, ldr y | ..."`: the threads as they stand, with fences as part of the access before them."""
    made, ways = [], []
    for thread in text.split("|"):
        accesses: list[Access] = []
        codes: list[tuple[Step, ...]] = []
        for word in thread.split(","):
            name, *where = word.split()
            if name in FENCES:
                codes[-1] += (FENCES[name],)
            else:
                kind, code = INSTRUCTIONS[name]
                accesses.append(Access(kind, "xyzw".index(where[0])))  # type: ignore[arg-type]
                codes.append(code)
        made.append(tuple(accesses))
        ways.append(tuple(Way(code, code, code) for code in codes))
    return LitmusTest(tuple(made), tuple(ways), isa)


def weak(text: str, isa: Isa) -> set[Outcome]:
    """What the machine lets it end with beyond sequential consistency."""
    test = parsed(text, isa)
    ends = outcomes(test)
    consistent = sequentially_consistent_outcomes(test.made)
    # A machine that orders more than interleavings do would be none.
    assert consistent <= ends
    return ends - consistent


ARM_ALLOWS = {
    "SB": "str x, ldr y | str y, ldr x",
    "SB+dmb.sy+po": "str x, dmb.sy, ldr y | str y, ldr x",
    "SB+dmb.lds": "str x, dmb.ld, ldr y | str y, dmb.ld, ldr x",
    "SB+dmb.sts": "str x, dmb.st, ldr y | str y, dmb.st, ldr x",
    "SB+popls": "stlr x, ldr y | stlr y, ldr x",
    "SB+popas": "str x, ldar y | str y, ldar x",
    "SB+polqs": "stlr x, ldapr y | stlr y, ldapr x",
    "MP": "str x, str y | ldr y, ldr x",
    "MP+dmb.sy+po": "str x, dmb.sy, str y | ldr y, ldr x",
    "MP+po+dmb.sy": "str x, str y | ldr y, dmb.sy, ldr x",
    "MP+dmb.ld+dmb.sy": "str x, dmb.ld, str y | ldr y, dmb.sy, ldr x",
    "MP+dmb.sy+dmb.st": "str x, dmb.sy, str y | ldr y, dmb.st, ldr x",
    "MP, released too early": "stlr x, str y | ldar y, ldr x",
    "LB": "ldr x, str y | ldr y, str x",
    "LB+dmb.sts": "ldr x, dmb.st, str y | ldr y, dmb.st, str x",
    "S": "str x, str y | ldr y, str x",
    "R+dmb.st+dmb.sy": "str x, dmb.st, str y | str y, dmb.st, ldr x",
    "R": "str x, str y | str y, ldr x",
    "2+2W": "str x, str y | str y, str x",
    "WRC": "str x | ldr x, str y | ldr y, ldr x",
    "WRC+po+dmb.sy": "str x | ldr x, str y | ldr y, dmb.sy, ldr x",
    "IRIW": "str x | ldr x, ldr y | str y | ldr y, ldr x",
    "IRIW+dmb.sy+po": "str x | ldr x, dmb.sy, ldr y | str y | ldr y, ldr x",
    "SB, exclusives": "ldaxr;stlxr x, ldr y | ldaxr;stlxr y, ldr x",
    "ISA2+dmb.sy+po+dmb.sy": "str x, dmb.sy, str y | ldr y, str z | ldr z, dmb.sy, ldr x",
}
ARM_FORBIDS = {
    "SB+dmb.sys": "str x, dmb.sy, ldr y | str y, dmb.sy, ldr x",
    "SB+polas": "stlr x, ldar y | stlr y, ldar x",
    "MP+dmb.sys": "str x, dmb.sy, str y | ldr y, dmb.sy, ldr x",
    "MP+dmb.st+dmb.ld": "str x, dmb.st, str y | ldr y, dmb.ld, ldr x",
    "MP+popl+poap": "str x, stlr y | ldar y, ldr x",
    "MP+popl+poqp": "str x, stlr y | ldapr y, ldr x",
    "LB+dmb.lds": "ldr x, dmb.ld, str y | ldr y, dmb.ld, str x",
    "LB+popls": "ldr x, stlr y | ldr y, stlr x",
    "LB+poaps": "ldar x, str y | ldar y, str x",
    "S+dmb.st+dmb.ld": "str x, dmb.st, str y | ldr y, dmb.ld, str x",
    "R+dmb.sys": "str x, dmb.sy, str y | str y, dmb.sy, ldr x",
    "2+2W+dmb.sts": "str x, dmb.st, str y | str y, dmb.st, str x",
    "2+2W+popls": "str x, stlr y | str y, stlr x",
    "WRC+dmb.lds": "str x | ldr x, dmb.ld, str y | ldr y, dmb.ld, ldr x",
    "IRIW+dmb.lds, as it is multi-copy atomic": "str x | ldr x, dmb.ld, ldr y | str y | ldr y, dmb.ld, ldr x",
    "IRIW+poaps": "str x | ldar x, ldr y | str y | ldar y, ldr x",
    "SB, swpal": "swpal x, ldr y | swpal y, ldr x",
    "ISA2+dmb.st+dmb.ld+dmb.ld": "str x, dmb.st, str y | ldr y, dmb.ld, str z | ldr z, dmb.ld, ldr x",
    "CoRR": "str x | ldr x, ldr x",
    "CoWW": "str x, str x",
    "CoWR": "str x, ldr x | str x",
    "CoRW": "ldr x, str x | str x",
    "two exchanges": "ldaxr;stlxr x | ldaxr;stlxr x",
    "an exchange and a store": "swpal x | str x",
}
# Owens, Sarkar, Sewell 2009, section 2, by its names; the rest by those of Herding cats.
X86_ALLOWS = {
    "SB": "store x, load y | store y, load x",
    "SB+mfence+po": "store x, mfence, load y | store y, load x",
    "iwp2.4": "store x, load x, load y | store y, load y, load x",
    "n6": "store x, load x, load y | store y, store x",
    "rwc-unfenced": "store x | load x, load y | store y, load x",
    "R": "store x, store y | store y, load x",
    "SB, mfence too early": "store x, load x, load y | store y, mfence, load x",
}
X86_FORBIDS = {
    "SB+mfences": "store x, mfence, load y | store y, mfence, load x",
    "amd10": "store x, mfence, load x, load y | store y, mfence, load y, load x",
    "MP": "store x, store y | load y, load x",
    "LB": "load x, store y | load y, store x",
    "S": "store x, store y | load y, store x",
    "R+po+mfence": "store x, store y | store y, mfence, load x",
    "2+2W": "store x, store y | store y, store x",
    "WRC": "store x | load x, store y | load y, load x",
    "IRIW": "store x | load x, load y | store y | load y, load x",
    "rwc-fenced": "store x | load x, load y | store y, mfence, load x",
    "n4": "load x, store x | load x, store x",
    "SB, xchg": "xchg x, load y | xchg y, load x",
    "SB, one xchg each side of a load": "store x, xchg z, load y | store y, xchg z, load x",
    "CoRR": "store x | load x, load x",
    "two exchanges": "xchg x | xchg x",
}


@pytest.mark.parametrize("name", ARM_ALLOWS)
def test_aarch64_allows(name: str) -> None:
    assert weak(ARM_ALLOWS[name], "AArch64")


@pytest.mark.parametrize("name", ARM_FORBIDS)
def test_aarch64_forbids(name: str) -> None:
    assert not weak(ARM_FORBIDS[name], "AArch64")


@pytest.mark.parametrize("name", X86_ALLOWS)
def test_x86_allows(name: str) -> None:
    assert weak(X86_ALLOWS[name], "X86")


@pytest.mark.parametrize("name", X86_FORBIDS)
def test_x86_forbids(name: str) -> None:
    assert not weak(X86_FORBIDS[name], "X86")


def test_store_buffering_shows_as_both_loads_reading_what_was_there_before() -> None:
    both_old = {((0,), (0,), (1, 1))}
    assert weak(ARM_ALLOWS["SB"], "AArch64") == both_old
    assert weak(X86_ALLOWS["SB"], "X86") == both_old


def test_message_passing_shows_as_the_message_without_what_it_told_of() -> None:
    # P1 reads y = 1 and then x = 0.
    assert weak(ARM_ALLOWS["MP"], "AArch64") == {((), (1, 0), (1, 1))}
