"""`hunt` from outside, with a stand-in for a program that has a JVM under it."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memgraft import native
from memgraft.cli import app
from memgraft.conftest import Done, Memgraft
from memgraft.errors import InterruptedRunError, end_when_asked
from memgraft.hunt.trials import STOCK, Program, Symptom, Trials


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The stand-in, which is compiled for this."""
    program = tmp_path_factory.mktemp("fake") / "fake-program"
    source = Path(__file__).parent / "fake_program.cpp"
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)
    return str(program)


class Hunt:
    def __init__(self, memgraft: Memgraft, fake: str, tmp_path: Path) -> None:
        self.memgraft = memgraft
        self.fake = fake
        self.output = memgraft.folder / "out"
        self.scratch = tmp_path / "scratch"
        self.scratch.mkdir()

    def __call__(self, *words: str, options: tuple[str, ...] = ()) -> Done:
        done = self.memgraft(
            "hunt", "--output", str(self.output), *options, "--", self.fake, *words, TMPDIR=str(self.scratch)
        )
        assert list(self.scratch.iterdir()) == [], "left something in the temporary folder"
        return done

    def found(self, *words: str, options: tuple[str, ...] = ()) -> Any:
        done = self(*words, options=("--json", *options))
        assert done.code == 0, done.err
        found = done.json()
        assert found == json.loads((self.output / "finding.json").read_text())
        return found


@pytest.fixture
def hunt(memgraft: Memgraft, fake: str, tmp_path: Path) -> Hunt:
    (memgraft.natives / native.BYTECODE_AGENT).touch()
    return Hunt(memgraft, fake, tmp_path)


def names(found: Any) -> list[str]:
    return [one["name"] for one in found["cure"]]


def timeless(found: Any) -> Any:
    """All but how long things took."""
    if isinstance(found, dict):
        return {name: timeless(value) for name, value in found.items() if not name.endswith("seconds")}
    return [timeless(one) for one in found] if isinstance(found, list) else found


OTHERS = "others=" + ",".join(f"a.C{number}.f" for number in range(20))


def test_the_one_field_is_found_among_many(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.stopped", OTHERS, "alone=a.A.mine")
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.stopped"]
    assert found["suspects"] == 21
    assert found["stock"] == {"launches": 10, "failures": 10, "symptoms": {"exit code 1": 10}}
    assert found["consistent"]["failures"] == 0
    confirmed = found["confirmed"]
    assert confirmed["stock"]["failures"] == confirmed["stock"]["launches"] >= 6
    assert confirmed["ordered"]["failures"] == 0
    assert confirmed["delayed"]["failures"] == confirmed["delayed"]["launches"]
    assert confirmed["chance_of_no_difference"] < 0.002
    assert found["cure"][0]["stores"] == [
        {"thread": "two", "id": 2, "order": 1, "times": 1, "stack": ["org.example.A.stop(A.java:9)"]}
    ]


def test_the_other_engine_is_asked_too(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.stopped", OTHERS)
    assert found["hotspot"]["failures"] == 0 < found["hotspot"]["launches"]
    assert found["notes"] == []


def test_the_memory_model_is_asked_whether_that_is_enough(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", OTHERS)
    model = found["model"]
    assert (model["enough"], model["more"]) == (True, [])
    assert model["everything"]["failures"] == model["found"]["failures"] == 0
    assert model["everything"]["launches"] == model["found"]["launches"] == 6
    said = hunt("conflicts=a.A.x", OTHERS, options=("--resume",)).out
    assert "those found, weak memory        0         6" in said
    assert "by the Java memory model" not in said


def test_what_the_memory_model_needs_besides_is_found(hunt: Hunt) -> None:
    """On this machine one field is enough; where loads may get old values, it takes another one."""
    words = ("conflicts=a.A.x", "model=a.A.y", OTHERS)
    found = hunt.found(*words)
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.x"]
    model = found["model"]
    assert not model["enough"]
    assert model["everything"]["failures"] == 0
    assert model["found"]["failures"] == model["found"]["launches"] >= 10
    assert [one["name"] for one in model["more"]] == ["a.A.y"]
    assert model["more"][0]["stores"][0]["thread"] == "two"
    page = (hunt.output / "report.html").read_text()
    assert "a.A.y: declare it volatile" in page
    assert "weak memory, in order: a.A.x" in page
    rules = json.loads((hunt.output / "finding.sarif").read_text())["runs"][0]["results"]
    assert [one["message"]["text"].partition(":")[0] for one in rules] == ["a.A.x", "a.A.y"]
    said = " ".join(hunt(*words, options=("--resume",)).out.split())
    assert "That is enough on this machine and not by the Java memory model: with weak memory " in said
    assert " launches failed with it in order; a.A.y must be in order, too." in said
    assert "a.A.y: declare it volatile" in said


def test_another_failure_with_weak_memory_says_nothing_of_what_was_found(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", "model=none", OTHERS)
    assert names(found) == ["a.A.x"]
    assert found["model"] is None
    assert found["notes"] == [
        (
            "with weak memory it fails with all suspects in order, too: whether what was found is enough by the Java "
            "memory model is not known"
        )
    ]


def test_the_finding_does_not_depend_on_weak_memory(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", "refuse-weak=1", OTHERS)
    assert (found["verdict"], names(found), found["model"]) == ("found", ["a.A.x"], None)
    assert found["notes"] == ["weak memory could not be tried: this fake JVM takes no agent"]


def test_classes_of_the_jdk_are_not_asked_about(hunt: Hunt) -> None:
    """With weak memory they are as they were."""
    assert hunt.found("conflicts=java.util.ArrayList.size", OTHERS)["model"] is None


def test_the_finding_does_not_depend_on_the_other_engine(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.stopped", "refuse-hotspot=1", OTHERS)
    assert names(found) == ["a.A.stopped"]
    assert found["hotspot"] is None
    assert found["notes"] == ["the engine hotspot could not be asked, too: this fake JVM takes no agent"]


def test_it_says_so_in_words(hunt: Hunt) -> None:
    done = hunt("conflicts=a.A.stopped,a.A.count", "others=a.B.f")
    assert done.code == 0
    said = done.out
    assert "Missing volatile: a.A.count. With it in order 0 of " in said
    assert "a.A.count: declare it volatile" in said
    assert "stored by thread two: org.example.A.stop(A.java:9)" in said
    assert "It would also vanish with a.A.stopped in order instead." in said
    assert "It fails as soon as nothing but a.A.count and a.A.stopped is left as it is." in said
    assert done.err.splitlines()[-1] == f"memgraft: the page with every launch: {hunt.output / 'report.html'}"


def test_a_counter_that_two_flags_guard_is_not_named_for_them(hunt: Hunt) -> None:
    """Alone it would do: one field instead of two."""
    words = ["conflicts=a.A.first,a.A.count;a.A.second,a.A.count", "others=a.B.f"]
    assert names(hunt.found(*words)) == ["a.A.count"]
    again = (*words, "counted=a.A.count")
    hunt.output = hunt.output.with_name("again")
    assert names(hunt.found(*again)) == ["a.A.first", "a.A.second"]


def test_two_mistakes_at_once_are_both_found(hunt: Hunt) -> None:
    assert names(hunt.found("conflicts=a.A.x;b.B.y[]", OTHERS)) == ["a.A.x", "b.B.y[]"]


def test_what_fails_less_often_is_found_too(hunt: Hunt, tmp_path: Path) -> None:
    """With the first one in order it seems to be gone, and is not."""
    found = hunt.found("conflicts=a.A.x", "rare=a.A.r", f"count={tmp_path / 'launches'}", OTHERS)
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.r", "a.A.x"]
    assert found["conflicts"] == [["a.A.x"], ["a.A.r"]]
    assert found["confirmed"]["ordered"]["failures"] == 0
    assert any(phase["doing"].startswith("it still fails now and then with a.A.x") for phase in found["phases"])
    # 342 where the hunt must be as sure that all suspects cure it as it is of the set that it names.
    assert found["launches"] < 320


def test_time_is_blamed_only_for_all_that_it_takes(hunt: Hunt, tmp_path: Path) -> None:
    """The first one found also helps where it only takes time; both together do not."""
    found = hunt.found("still=a.A.x", "rare=a.A.r", f"count={tmp_path / 'launches'}", OTHERS)
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.r", "a.A.x"]


def test_time_is_not_blamed_where_it_only_helps(hunt: Hunt, tmp_path: Path) -> None:
    """With what is only slow it fails in a third of the launches; a tenth would be gone, and all still there."""
    found = hunt.found("conflicts=a.A.x", "eased=5", f"count={tmp_path / 'launches'}", OTHERS)
    looked = [phase["doing"] for phase in found["phases"]]
    assert "fresh launches, by turns: nothing in order, and only as slow" in looked
    assert "fresh launches, by turns: nothing in order, the set found in order, and only as slow" in looked
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.x"]
    confirmed = found["confirmed"]
    assert confirmed["ordered"]["failures"] == 0 < confirmed["delayed"]["failures"] < confirmed["delayed"]["launches"]


def test_fresh_launches_that_contradict_a_set_lead_to_another_search(hunt: Hunt, tmp_path: Path) -> None:
    """The second mistake shows for the first time when the set is tried again."""
    found = hunt.found("conflicts=a.A.x", "late=a.A.y:40", f"count={tmp_path / 'launches'}", OTHERS)
    assert found["verdict"] == "found"
    assert names(found) == ["a.A.x", "a.A.y"]
    assert [phase["doing"] for phase in found["phases"]].count("the smallest set of 22 suspects") == 2


@pytest.mark.parametrize("busy", ["11:60", "20:60", "36:90"])
def test_other_work_on_the_machine_is_not_taken_for_a_cure(hunt: Hunt, tmp_path: Path, busy: str) -> None:
    """While there is some, the program fails less often, whatever is in order."""
    found = hunt.found("conflicts=a.A.x,a.A.y", f"busy={busy}", f"count={tmp_path / 'launches'}", OTHERS)
    assert found["verdict"] == "found"
    assert names(found) in (["a.A.x"], ["a.A.y"])
    assert found["confirmed"]["chance_of_no_difference"] <= 0.001
    assert found["launches"] < 400


def test_what_remains_in_any_order_is_told(hunt: Hunt, tmp_path: Path) -> None:
    found = hunt.found("conflicts=a.A.x", "rare=none", f"count={tmp_path / 'launches'}", OTHERS)
    assert names(found) == ["a.A.x"]
    assert "it still fails now and then, and does so with all suspects in order" in found["notes"]


def test_what_stops_for_a_while_is_not_taken_for_cured_by_all_suspects(hunt: Hunt, tmp_path: Path) -> None:
    """It stops just when all of them are tried for the rarer failure, and the search then leaves nothing else."""
    words = ["conflicts=a.A.x", "rare=none", "lull=111:141", "others=a.A.o"]
    found = hunt.found(*words, f"count={tmp_path / 'launches'}")
    assert names(found) == ["a.A.x"]
    assert "it still fails now and then, and does so with all suspects in order" in found["notes"]


def test_what_fails_seldom_is_made_to_fail_more_often(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", "shy=1", OTHERS)
    assert names(found) == ["a.A.x"]
    assert "StressLCM" in found["provocation"]
    assert found["unprovoked"] == {"launches": 20, "failures": 0, "symptoms": {}}
    assert found["stock"]["failures"] == found["stock"]["launches"] == 20
    tried = {launch["setting"] for phase in found["phases"][:2] for launch in phase["launches"]}
    assert tried == {"stock", "stock+stressed", "stock+eager", "stock+loaded", "stock+pinned"}
    later = {launch["setting"].partition("-")[0] for phase in found["phases"][2:] for launch in phase["launches"]}
    assert later == {
        "all+stressed",
        "ordered+stressed",
        "delayed+stressed",
        "stock+stressed",
        "hotspot+stressed",
        "weak+stressed",
    }
    page = (hunt.output / "report.html").read_text()
    assert "nothing in order: the stock (stressed)" in page
    assert "It fails more often like this" in page


def test_it_is_launched_as_it_is_where_that_is_asked_for(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", "shy=1", options=("--no-provoke", "--time", "4s"))
    assert found["verdict"] == "never failed"
    assert [phase["doing"] for phase in found["phases"]] == ["the stock: how often does it fail?"]


def test_a_name_that_no_thread_was_seen_to_share_is_found_too(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.rare", "hidden=a.A.rare", OTHERS)
    assert names(found) == ["a.A.rare"]
    assert found["where"] == "all accesses in its own classes"


def test_classes_of_the_jdk_are_named_as_a_whole(hunt: Hunt) -> None:
    done = hunt("conflicts=java.util.ArrayList.size", OTHERS)
    assert "java.util.ArrayList: threads share such an object without synchronization; use a lock" in done.out


def test_what_order_does_not_cure_ends_at_once(hunt: Hunt) -> None:
    found = hunt.found("always=1", OTHERS)
    assert found["verdict"] == "not a missing volatile"
    assert found["launches"] == 12
    assert found["cure"] == []


def test_what_time_alone_cures_is_no_missing_volatile(hunt: Hunt) -> None:
    found = hunt.found("slow=1", OTHERS)
    assert found["verdict"] == "timing may explain it"
    assert found["delayed"]["failures"] == 0
    assert found["cure"] == []


def test_what_the_agent_alone_cures_is_no_missing_volatile(hunt: Hunt) -> None:
    found = hunt.found("conflicts=a.A.x", "light=1", OTHERS)
    assert found["verdict"] == "timing may explain it"
    assert found["notes"] == ["with the agent in the JVM and nothing in order it stops failing, too"]
    assert found["phases"][-1]["doing"] == "fresh launches, by turns: nothing in order, and with the agent in the JVM"


def test_a_program_that_never_fails_is_not_hunted_in(hunt: Hunt) -> None:
    done = hunt(options=("--time", "2s"))
    assert done.code == 0
    assert "It never failed in " in done.out
    assert "There is nothing to hunt for until it fails more often" in done.out


def test_a_hang_is_a_failure(fake: str, tmp_path: Path) -> None:
    """However long a launch takes until it hangs."""
    program = Program([fake, "always=1", "hang=1"], Path(fake), "JAVA_TOOL_OPTIONS", tmp_path / "agent.jar")
    trials = Trials(program, Symptom(hang_seconds=0.2), tmp_path)
    assert trials.once(STOCK) == "ran longer than 0.2 s"
    assert trials.counts[STOCK].as_json() == {
        "launches": 1,
        "failures": 1,
        "symptoms": {"ran longer than 0.2 s": 1},
    }


def test_what_it_prints_may_be_the_failure(hunt: Hunt) -> None:
    words = ("conflicts=a.A.x", "prints=lost 3 of 9 updates")
    assert hunt.found(*words, options=("--time", "2s"))["verdict"] == "never failed"
    hunt.output = hunt.output.with_name("again")
    found = hunt.found(*words, options=("--fails-when", r"lost \d+"))
    assert found["stock"]["symptoms"] == {"printed 'lost 3'": 10}
    assert names(found) == ["a.A.x"]
    assert "lost 3 of 9 updates" in next((hunt.output / "failures").glob("*-stock.txt")).read_text()


def test_an_exit_code_may_be_none(hunt: Hunt) -> None:
    assert hunt.found("conflicts=a.A.x", options=("--any-exit-code", "--time", "2s"))["verdict"] == "never failed"


def test_a_hunt_goes_on_where_it_ended(hunt: Hunt, tmp_path: Path) -> None:
    """Each launch is made once: the second hunt takes those of the first."""
    launches = tmp_path / "launches"
    words = ("conflicts=a.A.x", OTHERS, f"count={launches}")
    first = hunt.found(*words)
    made = len(launches.read_text().splitlines())
    journal = hunt.output / "journal.jsonl"
    assert len(journal.read_text().splitlines()) == first["launches"] == made - 1
    second = hunt.found(*words, options=("--resume",))
    assert len(launches.read_text().splitlines()) == made
    assert timeless(second) == timeless(first)
    lines = journal.read_text().splitlines()
    # The last one as a full disk leaves it.
    journal.write_text("\n".join([*lines[:-5], lines[-5][:20]]))
    third = hunt.found(*words, options=("--resume",))
    assert len(launches.read_text().splitlines()) == made + 5
    assert timeless(third) == timeless(first)


def test_ctrl_c_ends_the_launch_and_says_how_to_go_on(hunt: Hunt, tmp_path: Path) -> None:
    launches = tmp_path / "launches"
    arguments = ["hunt", "--output", str(hunt.output), "--", hunt.fake, "always=1", "hang=1", f"count={launches}"]
    started = subprocess.Popen(
        hunt.memgraft.command(*arguments),
        env=hunt.memgraft.environment(),
        cwd=hunt.memgraft.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not launches.exists():
        assert started.poll() is None
    started.send_signal(signal.SIGINT)
    out, err = started.communicate()
    assert (started.returncode, out) == (130, "")
    assert err.splitlines()[-1] == (
        f"memgraft: the hunt was interrupted; --resume --output {hunt.output} goes on with it"
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_between_two_launches_says_how_to_go_on(
    hunt: Hunt, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    monkeypatch.setattr(native, "FOLDER", hunt.memgraft.natives)
    monkeypatch.setattr("memgraft.hunt.hunt.Hunt.run", lambda _hunt: signal.raise_signal(number))
    old = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        for one in old:
            signal.signal(one, signal.SIG_DFL)
        # What Python itself does with it, unless the tests are run in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        end_when_asked()
        with pytest.raises(InterruptedRunError) as ended:
            app(["hunt", "--output", str(hunt.output), "--", hunt.fake], standalone_mode=False)
    finally:
        for one, before in old.items():
            signal.signal(one, before)
    assert ended.value.message == f"the hunt was interrupted; --resume --output {hunt.output} goes on with it"
    assert ended.value.exit_code == code


def test_a_hunt_that_runs_out_of_time_says_what_it_was_at(hunt: Hunt) -> None:
    done = hunt("conflicts=a.A.x", OTHERS, options=("--time", "1ms"))
    assert done.code == 0
    assert "Out of time at: " in done.out
    assert "Go on with --resume" in done.out


def test_a_finding_stands_where_no_time_was_left_for_the_memory_model(hunt: Hunt) -> None:
    words = ("conflicts=a.A.x", OTHERS)
    first = hunt.found(*words)
    journal = hunt.output / "journal.jsonl"
    without = [line for line in journal.read_text().splitlines(keepends=True) if '"weak-' not in line]
    journal.write_text("".join(without))
    # It is over before the first launch of the earlier hunt is read: those take no time.
    found = hunt.found(*words, options=("--resume", "--time", "0.001ms"))
    assert (found["verdict"], names(found)) == ("found", ["a.A.x"])
    assert (first["model"]["enough"], found["model"]) == (True, None)
    assert found["notes"] == ["there was no time left to ask what the Java memory model needs in order"]


@pytest.mark.parametrize(
    ("options", "words", "said", "code"),
    [
        (("--resume",), (), "expected the folder of an earlier hunt", 2),
        (("--hang", "soon"), (), "--hang soon: expected a time above 0 such as 500ms, 5s or 1m", 2),
        (("--sources", "/no/such"), (), "--sources /no/such: expected a folder of Java sources", 2),
        (("--fails-when", "("), (), "--fails-when (: expected a regular expression; ", 2),
        ((), ("conflicts=a.A.x", "refuse=3"), "this fake JVM takes no agent", 3),
        (
            (),
            ("conflicts=a.A.x", "missed=org.example.Large"),
            "1 class could not be rewritten, such as org.example.Large",
            3,
        ),
        ((), ("conflicts=a.A.x", "mute=1"), "no JVM that", 2),
        ((), ("always=1", "mute=1"), "exit code 1 before any JVM that it started could be reached", 3),
    ],
)
def test_what_cannot_be_hunted_is_refused(
    hunt: Hunt, options: tuple[str, ...], words: tuple[str, ...], said: str, code: int
) -> None:
    done = hunt(*words, options=options)
    assert done.code == code
    assert said in done.error


def test_a_folder_of_another_hunt_is_not_mixed_with_this_one(hunt: Hunt) -> None:
    hunt.found("always=1")
    assert hunt("always=1").error.endswith(": expected a new folder, or --resume to go on with the hunt in it")
    other = hunt("always=2", options=("--resume",))
    assert other.code == 2
    assert "expected the command of that hunt" in other.error
