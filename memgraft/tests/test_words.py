"""Numbers in words."""

import pytest

from memgraft import words
from memgraft.errors import one_line


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (64, "64 B"), (1023, "1023 B"), (1024, "1 KiB"), (37486592, "35.75 MiB"), (2**40 * 3, "3 TiB")],
)
def test_bytes(count: int, text: str) -> None:
    assert words.bytes_of(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ns"),
        (1.0, "1.00 s"),
        (0.0456, "45.6 ms"),
        (0.00000789, "7.89 us"),
        (3e-9, "3.00 ns"),
        (99.96, "100 s"),
        (1234.5, "1,234 s"),
    ],
)
def test_seconds(seconds: float, text: str) -> None:
    assert words.seconds_of(seconds) == text


def test_an_interval_keeps_its_medians_unit() -> None:
    assert words.seconds_with_interval(0.5, 0.4999, 1.5) == "500 ms [500, 1,500]"


@pytest.mark.parametrize(("ratio", "text"), [(0.969, "3.1 % less"), (1.2, "20.0 % more"), (1.001, "0.10 % more")])
def test_change(ratio: float, text: str) -> None:
    assert words.change(ratio) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"), [(1, "launch", "1 launch"), (2, "launch", "2 launches"), (1000, "TLAB", "1,000 TLABs")]
)
def test_counts(number: int, noun: str, text: str) -> None:
    assert words.count_of(number, noun) == text


def test_messages_are_one_safe_line() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("\x1b[31mred\x07") == "\\x1b[31mred\\x07"
    assert one_line("± fine") == "± fine"
