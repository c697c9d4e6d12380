"""A placement's record as it is read: whole, cut, broken, newer, and in pieces as they come."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraft.errors import MemgraftError
from memgraft.tests import placement_record as made
from memgraft.watch.record import LONGEST_FIRST_LINE, RecordError, Tail


def text(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def read(path: Path, content: bytes) -> Tail:
    path.write_bytes(content)
    tail = Tail(path)
    while tail.behind:
        tail.poll()
    return tail


WHOLE = list(made.lines(3, pages=600))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_a_whole_record(file: Path) -> None:
    tail = read(file, text(WHOLE))
    assert tail.error is None
    assert tail.start is not None
    assert tail.start.numbers == [0, 1, 2, 3]
    assert [interval.number for interval in tail.intervals] == [1, 2, 3]
    assert tail.intervals[2].moved == WHOLE[3]["moved"]
    assert tail.end is not None
    assert tail.end.exit_code == 0
    for at in range(3):
        page_map = tail.map_of(at)
        assert page_map is not None
        assert page_map.model_dump(mode="json") == json.loads(json.dumps(WHOLE[at + 1]["map"]))


def test_the_example_of_the_docs_can_be_read(file: Path) -> None:
    formats = (Path(__file__).parents[3] / "docs/formats.md").read_text()
    section = formats.partition("## 13.")[2].partition("\n## ")[0]
    code = "\n".join(line[4:].split(" //")[0] for line in section.splitlines() if line.startswith("    "))
    code = re.sub(r", \.\.\.", "", code).replace("{...}", "{}").replace("[[...]]", "[]")
    decoder, lines = json.JSONDecoder(), []
    while code.strip():
        line, end = decoder.raw_decode(code.strip())
        lines.append(line)
        code = code.strip()[end:]
    lines[0]["nodes"].append(lines[0]["nodes"][0] | {"node": 1})
    tail = read(file, text(lines))
    assert tail.error is None
    assert tail.end is not None
    assert tail.intervals[0].held["share"] == 900


def test_a_line_that_is_being_written_is_waited_for(file: Path) -> None:
    whole = text(WHOLE)
    file.write_bytes(whole[:-40])
    tail = Tail(file)
    assert tail.poll()
    assert tail.end is None
    assert len(tail.intervals) == 3
    assert not tail.poll()
    file.write_bytes(whole)
    assert tail.poll()
    assert tail.end is not None
    assert not tail.poll()


def test_a_file_that_does_not_exist_is_waited_for(file: Path) -> None:
    tail = Tail(file)
    assert not tail.poll()
    file.write_bytes(text(WHOLE[:2]))
    assert tail.poll()
    assert len(tail.intervals) == 1


def test_another_run_in_the_same_file_begins_anew(file: Path) -> None:
    begun = []
    file.write_bytes(text(WHOLE))
    tail = Tail(file, on_begin=lambda: begun.append(True))
    tail.poll()
    file.write_bytes(text([made.start(2, program="cg")]))
    assert tail.poll()
    assert begun == [True]
    assert tail.start is not None
    assert (tail.start.program, tail.intervals, tail.end) == ("cg", [], None)


def changed(at: int, **values: Any) -> list[dict[str, Any]]:
    return [line | values if number == at else line for number, line in enumerate(WHOLE)]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (changed(0, schema=2), "line 1: schema 2: expected 1; another version of Memgraft wrote it"),
        (changed(2, schema=7, moved="other things"), "line 3: schema 7: expected 1; another version"),
        (changed(0, kind="jvm-summary"), "line 1: kind 'jvm-summary': expected 'placement': a record that `memgraft"),
        (changed(2, samples=-3), "line 3: samples -3: expected a number greater than or equal to 0"),
        (changed(2, samples="many"), "line 3: samples 'many': expected a valid integer"),
        (changed(2, samples=2**60), "line 3: samples 1152921504606846976: expected"),
        (changed(2, moved=[[0, 1], [2, 3]]), "line 3: moved 2 rows of 2: expected 4 of 4, as the first line has nodes"),
        (changed(2, number=1), "line 3: number 1: expected more than 1, which the interval before has"),
        (changed(2, at_ms=1), "line 3: at_ms 1.0: expected at least 5003.0"),
        (changed(2, event="pause"), "line 3: event 'pause': expected 'start', 'interval' or 'end'"),
        (changed(1, event="start"), "line 2: event 'start': expected 'start' in the first line, and in no other"),
        (WHOLE[1:], "line 1: event 'interval': expected 'start' in the first line, and in no other"),
        (changed(0, nodes=[]), "line 1: nodes []: expected List should have at least 1 item"),
        (changed(0, nodes=WHOLE[0]["nodes"][:1] * 2), "line 1: nodes [0, 0]: expected each node once"),
        (changed(0, page_bytes=0), "line 1: page_bytes 0: expected"),
        (changed(4, at_ms="late"), "line 5: at_ms 'late': expected"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(file: Path, lines: list[dict[str, Any]], said: str) -> None:
    tail = read(file, text(lines))
    assert isinstance(tail.error, MemgraftError)
    assert tail.error.message.startswith(f"{file}, {said}")
    # It is not read on, and what came before stays.
    assert not tail.poll()
    assert len(tail.intervals) < 4


@pytest.mark.parametrize(
    ("page_map", "said"),
    [
        ({"start": "0x1000", "cells": [[9, 3]]}, "map.ranges.0.cells node 9: expected -1 or a node of the first line"),
        ({"start": "0x1000", "cells": [[0, 0]]}, "map.ranges.0.cells a run of 0 to 0 cells: expected numbers of"),
        ({"start": "0x1000", "cells": [[0, -2]]}, "map.ranges.0.cells a run of -2 to -2 cells: expected"),
        ({"start": "0x1000", "cells": [[0, 2**70]]}, "map.ranges.0.cells"),
        ({"start": "0xffffffffffff0000", "cells": [[0, 17]]}, "map.ranges.0.cells 17 pages from 0xffffffffffff0000"),
        ({"start": "4096", "cells": [[0, 1]]}, "map.ranges.0.start '4096': expected"),
        ({"start": "0x1000", "cells": [[0]]}, "map.ranges.0.cells.0.1 [0]: expected Field required"),
    ],
)
def test_a_wrong_map_is_said_in_one_line(file: Path, page_map: dict[str, Any], said: str) -> None:
    tail = read(file, text(changed(1, map={"cell_pages": 1, "ranges": [page_map]})))
    assert tail.error is not None
    assert tail.error.message.startswith(f"{file}, line 2: {said}")


def test_what_is_no_json_is_shown_shortened(file: Path) -> None:
    tail = read(file, b"\x1b[31mnothing \xff of the kind" + b"x" * 500 + b"\n")
    assert tail.error is not None
    assert tail.error.message.startswith(f"{file}, line 1: \\x1b[31mnothing \\xff of the kindxx")
    assert len(tail.error.message) < 500
    assert tail.error.message.isprintable()


def test_a_file_without_lines_is_not_read_for_ever(file: Path) -> None:
    tail = read(file, b"\x00" * (3 * LONGEST_FIRST_LINE))
    assert tail.error is not None
    assert "line 1" in tail.error.message
    assert "this line does not end" in tail.error.message


def test_what_newer_writers_add_is_ignored(file: Path) -> None:
    tail = read(file, text([line | {"mood": {"good": [1]}} for line in WHOLE]))
    assert tail.error is None
    assert tail.end is not None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, len(text(WHOLE))), max_size=8))
def test_pieces_make_the_same_as_the_whole(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    file, whole = tmp_path_factory.mktemp("pieces") / "run.jsonl", text(WHOLE)
    tail = Tail(file)
    for cut in [*sorted(cuts), len(whole)]:
        file.write_bytes(whole[:cut])
        tail.poll()
    assert tail.error is None
    assert [i.model_dump(mode="json") for i in tail.intervals] == [
        {name: value for name, value in (line | {"map": None, "hindrance": ""}).items() if name != "schema"}
        | {"schema_": 1}
        for line in WHOLE[1:-1]
    ]
    assert tail.end is not None
    assert tail.map_of(2) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("0x1000"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, part in inner for place in places(part, (*here, key)))]


SMALL = [made.start(2), made.interval(1, made.Program(2, 8)), made.end(1)]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_whatever_stands_in_a_line_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = json.loads(json.dumps(SMALL))
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from([place for place in places(lines) if place]))
        holder: Any = lines
        for key in way:
            holder = holder[key]
        holder[last] = data.draw(JSON)
        if not all(isinstance(line, dict) for line in lines):
            break
    check(tmp_path_factory, "".join(json.dumps(line) + "\n" for line in lines).encode())


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_happens_to_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(text(SMALL))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=6))
    check(tmp_path_factory, bytes(content))


def check(folder: pytest.TempPathFactory, content: bytes) -> None:
    """No exception but RecordError, and whatever was taken can be shown."""
    from memgraft.watch import addresses, facts
    from memgraft.watch.history import History

    file = folder.mktemp("fuzz") / "run.jsonl"
    file.write_bytes(content)
    history = History(file)
    while history.tail.behind:
        history.poll()
    error, start = history.tail.error, history.tail.start
    assert error is None or isinstance(error, RecordError)
    assert error is None or "\n" not in error.message
    if start is None:
        return
    facts.about(start, file, "0")
    facts.condition(history.tail)
    for at in range(len(history)):
        state = history.at(at)
        facts.sentence(state, start.dry_run)
        facts.numbers(start, state)
        if found := history.map_at(at):
            layout = history.layout(found[1])
            assert layout.rows * layout.width < 1 << 23
            addresses.paint(layout, found[1], start.numbers, start.page_bytes)
            list(addresses.blocks(layout, found[1], start.page_bytes))
