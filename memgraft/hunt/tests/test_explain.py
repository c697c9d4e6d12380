"""Which reordering fits what threads were seen to do."""

import pytest

from memgraft.formats.ordering import Accessor
from memgraft.hunt.explain import Explanation, Pattern, explain
from memgraft.hunt.frames import Frame, parsed
from memgraft.hunt.suspects import Suspect

ORDERS = iter(range(1, 10_000))


def at(thread: str, line: int, *, times: int = 1, method: str = "run") -> Accessor:
    """Each later one in a test came there later."""
    frame = f"app//org.example.Server.{method}(Server.java:{line})"
    return Accessor(thread=thread, id=hash(thread), order=next(ORDERS), times=times, stack=[frame])


def told(explanation: Explanation | None) -> tuple[Pattern, list[tuple[str, list[str]]]]:
    assert explanation is not None
    threads = [
        (thread, [step.told(explanation.short(step.name)) for step in steps]) for thread, steps in explanation.threads
    ]
    return explanation.pattern, threads


def test_each_thread_stores_and_then_loads_what_the_other_stores() -> None:
    x_store, y_load = at("one", 1), at("one", 2)
    y_store, x_load = at("two", 3), at("two", 4)
    x = Suspect("a.A.x", loads=[x_load], stores=[x_store])
    y = Suspect("a.A.y", loads=[y_load], stores=[y_store])
    found = explain([x, y], [])
    assert told(found) == (
        Pattern.STORE_BUFFERING,
        [("one", ["x = ...", "... = y"]), ("two", ["y = ...", "... = x"])],
    )
    assert found is not None
    assert "the old value of x and of y" in found.words


def test_a_load_before_the_store_is_no_store_buffering() -> None:
    y_load, x_store = at("one", 1), at("one", 2)
    y_store, x_load = at("two", 3), at("two", 4)
    x = Suspect("a.A.x", loads=[x_load], stores=[x_store])
    y = Suspect("a.A.y", loads=[y_load], stores=[y_store])
    found = explain([x, y], [])
    assert found is not None
    assert found.pattern is not Pattern.STORE_BUFFERING


def passed(store: str) -> tuple[Suspect, Suspect]:
    """The data, and the flag behind it."""
    data_store, flag_store = at("sender", 1, method=store), at("sender", 2)
    flag_load, data_load = at("receiver", 3, times=100), at("receiver", 4)
    data = Suspect("a.Mail.letter", loads=[data_load], stores=[data_store])
    return data, Suspect("a.Box.there", loads=[flag_load], stores=[flag_store])


def test_a_flag_is_seen_before_the_data() -> None:
    data, flag = passed("send")
    assert told(explain([flag], [data])) == (
        Pattern.MESSAGE_PASSING,
        [("sender", ["letter = ...", "there = ..."]), ("receiver", ["... = there", "... = letter"])],
    )


def test_an_object_is_seen_before_its_fields() -> None:
    data, flag = passed("<init>")
    found = explain([flag], [data])
    assert found is not None
    assert found.pattern is Pattern.PUBLICATION
    assert "a new there whose letter its constructor has not set yet" in found.words


def test_the_flag_is_what_was_found_and_not_the_data() -> None:
    data, flag = passed("send")
    found = explain([data], [flag])
    assert found is not None
    assert found.pattern is not Pattern.MESSAGE_PASSING


def test_a_loop_looks_once() -> None:
    flag = Suspect("a.A.stopped", loads=[at("worker", 7, times=1000)], stores=[at("main", 9)])
    found = explain([flag], [])
    assert told(found) == (Pattern.STALE_LOOP, [("main", ["stopped = ..."]), ("worker", ["... = stopped"])])
    assert found is not None
    assert "1,000 times" in found.words


def test_a_loop_that_stores_it_too_is_none_that_looks_once() -> None:
    both = Suspect("a.A.count", loads=[at("worker", 7, times=1000)], stores=[at("worker", 8), at("main", 9)])
    found = explain([both], [])
    assert found is not None
    assert found.pattern is Pattern.OLD_VALUE


def test_what_is_not_known_is_not_explained() -> None:
    assert explain([Suspect("a.A.f")], []) is None
    assert explain([Suspect("a.A.f", loads=[at("one", 1)], stores=[at("one", 2)])], []) is None
    assert explain([Suspect("java.util.ArrayList.*", loads=[at("one", 1)], stores=[at("two", 2)])], []) is None


def test_fields_of_one_name_are_told_with_their_classes() -> None:
    one = Suspect("a.Left.ready", loads=[], stores=[at("one", 1)])
    other = Suspect("a.Right$Side.ready", loads=[at("one", 2)], stores=[at("two", 3)])
    one = Suspect(one.name, loads=[at("two", 4)], stores=one.stores)
    assert told(explain([one, other], [])) == (
        Pattern.STORE_BUFFERING,
        [
            ("one", ["Left.ready = ...", "... = Right$Side.ready"]),
            ("two", ["Right$Side.ready = ...", "... = Left.ready"]),
        ],
    )


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("bugs.A$B.run(A.java:12)", Frame("bugs.A$B", "run", "A.java", 12)),
        ("java.base/java.lang.Thread.run(Thread.java:840)", Frame("java.lang.Thread", "run", "Thread.java", 840)),
        ("app//a.A.<init>(A.java:3)", Frame("a.A", "<init>", "A.java", 3)),
        ("app/a.module@1.2/A.main(A.java)", Frame("A", "main", "A.java", None)),
        ("java.base/java.lang.Object.wait(Native Method)", None),
        ("a.A.run(Unknown Source)", None),
        ("a.Script.run(Script.scala:3)", Frame("a.Script", "run", "Script.scala", 3)),
    ],
)
def test_frames(text: str, frame: Frame | None) -> None:
    assert parsed(text) == frame
