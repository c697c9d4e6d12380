"""What is read from jcstress's console report, and how it is judged."""

import pytest

from ordering.jcstress import results, samples

DEKKER = "JMMSample_05_TotalOrder.PlainDekker"


def block(name: str, rows: str, status: str = "OK") -> str:
    return f"""
.......... [{status}] {samples.PREFIX}{name}

  Compilation: split
    actor1: C2
    actor2: Interpreter

  JVM args: [-XX:+StressLCM]

  Observed state   Occurrences              Expectation  Interpretation
{rows}

"""


ROWS = """\
            0, 0       534,034   ACCEPTABLE_INTERESTING  Violates sequential consistency
            0, 1    32,937,274               ACCEPTABLE  Trivial under sequential consistency
            1, 1             0               ACCEPTABLE  Trivial under sequential consistency
"""


def report(*blocks: str) -> str:
    # What is printed while it runs looks the same, and does not count.
    return block(DEKKER, ROWS) + "\nRUN RESULTS:\n----\n\n*** INTERESTING tests\n" + "".join(blocks)


def test_runs_of_a_sample_are_added_up() -> None:
    [test] = results.read(report(block(DEKKER, ROWS), block(DEKKER, ROWS), block("APISample_01_Simple", ROWS)))
    assert (test.name, test.runs, test.wrong) == (DEKKER, 2, [])
    assert test.outcomes == {"0, 0": 1_068_068, "0, 1": 65_874_548, "1, 1": 0}
    assert test.not_sc == {"0, 0": 1_068_068}
    assert test.forbidden == {}
    assert test.as_json()["not_sc"] == 1_068_068
    assert [o["grade"] for o in test.as_json()["outcomes"]] == ["not sc", "sc", "sc"]
    assert "2 runs" in next(results.lines([test]))
    assert "not sc: [0, 0] 1,068,068" in next(results.lines([test]))


def test_what_was_expected() -> None:
    reordered = results.read(report(block(DEKKER, ROWS)))
    assert list(results.complaints(reordered, [DEKKER], "reordered", [DEKKER])) == []
    assert list(results.complaints(reordered, [DEKKER], None, [])) == []
    [wrong] = results.complaints(reordered, [DEKKER], "sc", [DEKKER])
    assert wrong == f"{DEKKER}: 0, 0 534,034 times, which is not sequentially consistent"
    in_order = results.read(report(block(DEKKER, ROWS.replace("534,034", "0      "))))
    assert list(results.complaints(in_order, [DEKKER], "sc", [DEKKER])) == []
    assert list(results.complaints(in_order, [DEKKER], "reordered", [DEKKER])) == [f"{DEKKER}: nothing was reordered"]


def test_what_is_always_wrong() -> None:
    other = "JMMSample_05_TotalOrder.VolatileDekker"
    rows = ROWS.replace("ACCEPTABLE_INTERESTING", "             FORBIDDEN")
    tests = results.read(report(block(other, rows, "FAILED")))
    found = list(results.complaints(tests, [DEKKER, other], None, []))
    assert found == [
        f"{DEKKER}: no outcome at all",
        f"{other}: 1 of 1 runs ended with FAILED",
        f"{other}: 0, 0 534,034 times, which the Java memory model forbids",
    ]


def test_what_is_no_report() -> None:
    with pytest.raises(results.ReadError, match="no results"):
        results.read("FATAL: No matching tests.\n")
    with pytest.raises(results.ReadError, match=r"a row of .*PlainDekker"):
        results.read(report(block(DEKKER, "  0, 0  many  ACCEPTABLE  Trivial\n")))


def test_samples_are_named_by_patterns() -> None:
    assert samples.matching("*Dekker,nothing") == [name for name in samples.SAMPLES if name.endswith("Dekker")]
    assert samples.matching("PlainDekker") == []
    assert set(samples.SEEN_REORDERED) <= set(samples.SAMPLES)
