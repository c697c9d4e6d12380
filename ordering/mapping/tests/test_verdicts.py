"""Each mapping is as sound as it is said to be, and the README says what was found."""

from pathlib import Path

import pytest

from ordering.mapping.mappings import CANDIDATES, VBD, Candidate, Way
from ordering.mapping.programs import critical_cycles, text_of
from ordering.mapping.verdicts import Verdict, example, judge, judge_all, programs_for, row

README = Path(__file__).resolve().parent.parent / "README.md"
NAMES = [f"{candidate.isa}: {candidate.name}" for candidate in CANDIDATES]


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return dict(zip(NAMES, judge_all(CANDIDATES), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_verdict_is_the_expected_one_and_the_readmes(name: str, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[name]
    assert verdict.as_expected, example(verdict)
    assert row(verdict) in README.read_text().splitlines()


def test_every_mutant_is_told_apart_from_what_it_was_made_of(verdicts: dict[str, Verdict]) -> None:
    for isa in ("AArch64", "X86"):
        sound = [v.sound for v in verdicts.values() if v.candidate.isa == isa]
        assert sum(sound) >= 2
        assert len(sound) - sum(sound) >= 3


def test_a_candidate_that_is_not_what_it_is_said_to_be_is_noticed() -> None:
    weakened = Way(VBD.load, VBD.store[:1], VBD.exchange)
    verdict = judge(Candidate("weakened", "AArch64", (weakened,)))
    assert not verdict.as_expected
    assert example(verdict) == "Wx Wy | Wy Wx: memory 1 2"
    assert not judge(Candidate("said to fail", "AArch64", (VBD,), fails=("SB",))).as_expected


@pytest.mark.parametrize("mixed", [False, True])
def test_a_program_is_tried_once(mixed: bool) -> None:
    programs = programs_for(mixed=mixed)
    assert len(programs) == len(set(programs))
    assert {text_of(made) for made in critical_cycles(most_threads=3)} <= {text_of(made) for made in programs}
