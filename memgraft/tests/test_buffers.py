"""What `--buffers` takes, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft.buffers import KINDS, Buffers, parse, shown
from memgraft.errors import WrongUsageError


def test_three_levels() -> None:
    buffers = parse("thread=64k,core=1m,processor=16M")
    assert buffers == Buffers(65536, (("core", 2**20), ("processor", 2**24)))
    assert buffers.text == "thread=64k,core=1m,processor=16m"
    assert buffers.jvm_options == ["-XX:TLABSize=65536", "-XX:-ResizeTLAB"]
    assert buffers.agent_option == "core:1048576+processor:16777216"


def test_growing_tlabs_are_hotspots_own() -> None:
    assert parse("thread=growing,cpu=1m").jvm_options == []
    assert parse("cpu=1m") == parse("thread=growing,cpu=1m")
    assert parse("thread=growing").agent_option is None


def test_small_tlabs_alone_need_no_agent() -> None:
    assert parse("thread=16k").agent_option is None
    assert parse("thread=16k").jvm_options == ["-XX:TLABSize=16384", "-XX:-ResizeTLAB"]


def test_tlabs_below_hotspots_least_set_that_too() -> None:
    assert parse("thread=1k").jvm_options == ["-XX:MinTLABSize=1024", "-XX:TLABSize=1024", "-XX:-ResizeTLAB"]
    assert parse("thread=2k").jvm_options == ["-XX:TLABSize=2048", "-XX:-ResizeTLAB"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' names no level"),
        ("64k", "'64k' names no level"),
        ("chip=1m", "'chip=1m' names no level"),
        ("core=1m,core=2m", "core is there twice"),
        ("processor=16m,core=1m", "core comes after processor"),
        ("core=1m,thread=64k", "thread comes after core"),
        ("thread=64k,core=100k", "core=100k is no multiple of thread=64k"),
        ("core=1m,processor=1m", "processor=1m is no multiple of core=1m"),
        ("core=16m,processor=1m", "processor=1m is no multiple of core=16m"),
        ("core=", "'core=' has no size"),
        ("core=growing", "'core=growing' has no size"),
        ("core=0", "'core=0' has no size"),
        ("core=-1m", "'core=-1m' has no size"),
        ("core=1001", "'core=1001' has no size"),
        ("core=17g", "'core=17g' has no size"),
        ("core=1t", "'core=1t' has no size"),
        ("thread=512", "below HotSpot's least TLAB"),
    ],
)
def test_one_line_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(WrongUsageError) as refused:
        parse(text)
    assert str(refused.value).startswith(f"--buffers {text}: ")
    assert why in str(refused.value)
    assert "expected" in str(refused.value)


@given(st.text(alphabet="threadcpuonsg=,0123456789km", max_size=40))
def test_anything_else_is_refused_the_same_way(text: str) -> None:
    try:
        buffers = parse(text)
    except WrongUsageError:
        return
    assert parse(buffers.text) == buffers


@given(st.integers(min_value=1, max_value=2**34))
def test_sizes_are_shown_exactly(words: int) -> None:
    text = shown(words * 8)
    count, unit = (text[:-1], text[-1]) if text[-1] in "kmg" else (text, "")
    assert int(count) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[unit] == words * 8


def test_the_kinds_are_in_order() -> None:
    assert KINDS == ("thread", "cpu", "core", "processor", "node")
