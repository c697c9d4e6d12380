"""What `--buffers` takes, and what it refuses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft import formats
from memgraft.errors import WrongUsageError
from memgraft.grafts.buffers import KINDS, Buffers, parse, shown
from memgraft.grafts.buffers_section import lines, rows
from memgraft.grafts.selection import Selection, select


def test_three_levels() -> None:
    buffers = parse("thread=64k,core=1m,processor=16M")
    assert buffers == Buffers(65536, (("core", 2**20), ("processor", 2**24)))
    assert buffers.text == "thread=64k,core=1m,processor=16m"
    assert buffers.jvm_options == ["-XX:TLABSize=65536", "-XX:-ResizeTLAB"]
    assert buffers.agent_option == "core:1048576+processor:16777216"


def test_growing_tlabs_are_hotspots_own() -> None:
    assert parse("thread=growing,cpu=1m").jvm_options == []
    assert parse("cpu=1m") == parse("thread=growing,cpu=1m")
    assert parse("thread=growing").agent_option == "none"


def test_small_tlabs_alone_need_no_buffers() -> None:
    assert parse("thread=16k").agent_option == "none"
    assert parse("thread=16k").jvm_options == ["-XX:TLABSize=16384", "-XX:-ResizeTLAB"]


def test_tlabs_below_hotspots_least_set_that_too() -> None:
    assert parse("thread=1k").jvm_options == ["-XX:MinTLABSize=1024", "-XX:TLABSize=1024", "-XX:-ResizeTLAB"]
    assert parse("thread=2k").jvm_options == ["-XX:TLABSize=2048", "-XX:-ResizeTLAB"]


def test_without_tlabs_buffers_hand_out_objects() -> None:
    buffers = parse("thread=none,processor=4m")
    assert buffers == Buffers(0, (("processor", 2**22),))
    assert buffers.text == "thread=none,processor=4m"
    assert buffers.jvm_options == ["-XX:-UseTLAB"]
    assert buffers.agent_option == "processor:4194304,objects"
    assert parse("thread=none").agent_option == "none,objects"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' names no level"),
        ("core=none", "'core=none' has no size"),
        ("thread=0", "'thread=0' has no size"),
        ("64k", "'64k' names no level"),
        ("chip=1m", "'chip=1m' names no level"),
        ("core=1m,core=2m", "core is there twice"),
        ("processor=16m,core=1m", "core comes after processor"),
        ("core=1m,thread=64k", "thread comes after core"),
        ("thread=64k,core=100k", "core=100k is no larger multiple of thread=64k"),
        ("core=1m,processor=1m", "processor=1m is no larger multiple of core=1m"),
        ("core=16m,processor=1m", "processor=1m is no larger multiple of core=16m"),
        ("core=", "'core=' has no size"),
        ("core=growing", "'core=growing' has no size"),
        ("core=0", "'core=0' has no size"),
        ("core=-1m", "'core=-1m' has no size"),
        ("core=1001", "'core=1001' has no size"),
        ("core=17g", "'core=17g' has no size"),
        ("core=17179869192", "has no size; expected bytes, a multiple of 8 up to 16g"),
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


def with_values(choices: dict[str, str], **values: str) -> Selection:
    return select(choices, {name.replace("_", "-"): value for name, value in values.items()})


def test_what_the_agent_is_told() -> None:
    selection = with_values({"zeroing": "bulk", "buffers": "cpu=1m"}, take="atomic", zero_at="refill")
    assert selection.agent_options == ["zeroing=bulk", "buffers=cpu:1048576", "take=atomic", "zero-at=refill"]
    assert select({"buffers": "auto"}).agent_options == ["buffers=auto"]
    assert select({"buffers": "auto"}).jvm_options == ["-XX:TLABSize=65536", "-XX:-ResizeTLAB"]
    assert select({"buffers": "thread=growing"}).agent_options == []
    assert select({"buffers": "thread=16k"}).agent_options == ["buffers=none"]
    without = select({"zeroing": "hot-path", "buffers": "thread=none,cpu=1m"})
    assert (without.agent_options, without.jvm_options) == (["buffers=cpu:1048576,objects"], ["-XX:-UseTLAB"])


def test_without_tlabs_nothing_zeroes_them() -> None:
    with pytest.raises(WrongUsageError) as refused:
        select({"zeroing": "bulk", "buffers": "thread=none,cpu=1m"})
    assert str(refused.value) == (
        "--buffers thread=none,cpu=1m: expected no --zeroing, or --zeroing hot-path: it zeroes TLABs, and thread=none "
        "leaves none; found --zeroing bulk"
    )
    both = select({"zeroing": "bulk", "buffers": "cpu=1m"})
    with pytest.raises(WrongUsageError, match="--buffers thread=none: expected no --zeroing"):
        both.other_side("thread=none")


def test_a_value_that_nothing_takes_is_refused_by_names_that_can_be_typed() -> None:
    with pytest.raises(WrongUsageError, match="expected --zeroing windows or adaptive, or no --window"):
        select({"zeroing": "bulk"}, {"window": 8192})


@pytest.mark.parametrize(
    ("choices", "values", "why"),
    [
        ({"buffers": "cpu=1m"}, {"take": "lock"}, "--take lock: expected atomic or restartable"),
        (
            {"zeroing": "bulk"},
            {"take": "atomic"},
            "--take atomic: --buffers left out has no take; expected --buffers KIND",
        ),
        ({"buffers": "thread=growing"}, {"take": "atomic"}, "--buffers thread=growing has no take"),
        (
            {"buffers": "cpu=1m"},
            {"zero_at": "refill"},
            "together with --zeroing bulk, non-temporal, concurrent; found no",
        ),
        ({"buffers": "cpu=1m", "zeroing": "windows"}, {"zero_at": "refill"}, "concurrent; found windows"),
    ],
)
def test_parameters_that_do_not_fit(choices: dict[str, str], values: dict[str, str], why: str) -> None:
    with pytest.raises(WrongUsageError) as refused:
        with_values(choices, **values)
    assert why in str(refused.value)


def level(**fields: object) -> dict[str, object]:
    times = {"requests": 90, "median_nanoseconds": 41.0, "p99_nanoseconds": 200.0, "highest_nanoseconds": 900.0}
    return {
        "kind": "cpu",
        "bytes": 2**20,
        "buffers": 2,
        "take": "restartable",
        "taken": 100,
        "taken_bytes": 1638400,
        "refills": 10,
        "foreign": 1,
        "foreign_percent": 1.0,
        "contended": 3,
        "moved": 0,
        "waste_at_refills_bytes": 0,
        "waste_at_collections_bytes": 4096,
        "latency": times,
        **fields,
    }


def test_a_level_that_does_not_fit_is_told_first() -> None:
    levels = [level(bytes=2**19, asked_bytes=2**20), level(kind="node", asked_bytes=0)]
    told = list(lines(formats.Buffers.model_validate({"levels": levels, "collections": 9})))
    assert told[0] == (
        "cpu=512k instead of 1m: half of a G1 region, as HotSpot chose it; a larger -XX:G1HeapRegionSize holds larger "
        "buffers"
    )
    as_asked = formats.Buffers.model_validate({"levels": [level(asked_bytes=2**20)], "collections": 9})
    assert not any("instead" in line for line in lines(as_asked))


def test_objects_are_called_so() -> None:
    heap = {"tlabs": 20, "latency": level()["latency"]}
    buffers = {"levels": [level()], "collections": 9, "hands_out": "objects", "heap": heap}
    assert list(lines(formats.Buffers.model_validate(buffers)))[-1].startswith("the heap itself: 20 objects; median ")
    jvm = {"schema": 1, "kind": "jvm-summary", "state": "ended", "pid": 1, "grafts": {"buffers": buffers}}
    jvm["jvm"] = {"version": "21", "feature": 21, "vendor": "", "name": ""}
    told = dict(rows([[formats.JvmSummary.model_validate_json(json.dumps(jvm))]]))
    assert told["objects from the heap itself"] == "20"
    assert "cpu=1m: median time of an object" in told


def test_an_automatic_size_is_explained() -> None:
    change = {
        "collection": 7,
        "reason": "busy",
        "bytes_before": 2**20,
        "bytes": 2**21,
        "waste_percent": 0.2,
        "foreign_percent": 0.0,
        "contended_percent": 0.4,
        "refills_per_buffer": 61.0,
    }
    moved = {"kind": "cpu", "first_bytes": 2**20, "bytes": 2**21, "changes": 1, "decisions": {"busy": 1, "right": 8}}
    stayed = {"kind": "thread", "first_bytes": 65536, "bytes": 65536, "changes": 0, "decisions": {"right": 9}}
    buffers = formats.Buffers.model_validate(
        {"levels": [level()], "collections": 9, "sizes": [stayed, {**moved, "last_change": change}]}
    )
    told = list(lines(buffers))
    assert told[0].startswith("cpu=1m (2 buffers, restartable): 100 requests, 10 refills, 1.0 % foreign, 3 contended; ")
    assert told[0].endswith("4 KiB at 9 collections; median 41.0 ns, 99 % below 200 ns")
    assert told[1] == "thread: stayed at 64k (right 9)"
    assert told[2] == (
        "cpu: 1m became 2m in 1 step (busy 1, right 8); the last, at collection 7, from 1m to 2m: busy "
        "(0.2 % lost, 0.0 % foreign, 0.4 % contended, 61 refills of each)"
    )


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
