"""Quoting, the choice of the variable, starts, ends and signals."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft.errors import WrongUsageError
from memgraft.grafts.declarations import percent_encoded
from memgraft.grafts.selection import select
from memgraft.jvm import launch
from memgraft.jvm.launch import JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, Joining, Via

ELF = b"\x7fELF rest of a binary"


def split_as_a_jvm_does(text: str) -> list[str]:
    """What HotSpot's parse_options_buffer and the launcher's JLI_AddArgsFromEnvVar both do.

    Quotes of both kinds may start anywhere in a word, and nothing escapes anything.
    """
    words, position = [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        word = ""
        while position < len(text) and not text[position].isspace():
            if text[position] in "'\"":
                end = text.index(text[position], position + 1)
                word += text[position + 1 : end]
                position = end + 1
            else:
                word += text[position]
                position += 1
        words.append(word)
    return words


def make_java(home: Path, release: str | None = 'JAVA_VERSION="17.0.1"\n', content: bytes = ELF) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_bytes(content)
    java.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release)
    return java


class TestQuoting:
    @given(st.text(alphabet=st.sampled_from("ab=,/\\ '\"\t\n%-"), min_size=1))
    def test_any_option_arrives_as_it_was(self, option: str) -> None:
        assert split_as_a_jvm_does(launch.quoted(option)) == [option]

    def test_plain_options_stay_readable(self) -> None:
        assert launch.quoted("-XX:+ZeroTLAB") == "-XX:+ZeroTLAB"

    @given(st.binary(min_size=1).filter(lambda b: b"\0" not in b))
    def test_paths_survive_the_agent_option(self, raw: bytes) -> None:
        encoded = percent_encoded(os.fsdecode(raw))
        assert unquote_to_bytes(encoded) == raw
        assert not set(encoded) & set(", ='\"\n")


class TestEnvironment:
    def test_ours_comes_in_front_of_what_is_there(self) -> None:
        joining = Joining(JAVA_TOOL_OPTIONS, ("-XX:+ZeroTLAB", "-agentpath:/a b/x.so=zeroing=bulk"))
        environment = joining.environment({JAVA_TOOL_OPTIONS: "-Xmx1g", "HOME": "/h"})
        assert environment == {
            JAVA_TOOL_OPTIONS: '-XX:+ZeroTLAB "-agentpath:/a b/x.so=zeroing=bulk" -Xmx1g',
            "HOME": "/h",
        }

    def test_nothing_changes_where_nothing_joins(self) -> None:
        base = {"A": "1", JAVA_TOOL_OPTIONS: "-Xmx1g"}
        assert Joining().environment(base) == base
        selection = select({"zeroing": "hot-path"})
        assert launch.join(selection, JAVA_TOOL_OPTIONS, Path("/agent.so"), Path("/s")) == Joining()

    def test_a_graft_brings_its_jvm_options_and_the_agent(self) -> None:
        joined = launch.join(select({"zeroing": "bulk"}), JDK_JAVA_OPTIONS, Path("/n/agent.so"), Path("/s/a,b"))
        assert joined.options == ("-XX:+ZeroTLAB", "-agentpath:/n/agent.so=zeroing=bulk,summary=/s/a%2Cb")

    def test_the_agent_gets_the_table_of_this_cpu_and_counts_where_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(launch, "table_for_this_cpu", lambda: Path("/c/a,b.table"))
        joined = launch.join(select({"zeroing": "bulk"}), JDK_JAVA_OPTIONS, Path("/n/agent.so"), Path("/s"), alone=True)
        assert joined.options[-1] == "-agentpath:/n/agent.so=zeroing=bulk,counters,table=/c/a%2Cb.table,summary=/s"

    def test_without_zeroing_the_agent_gets_no_table_and_would_refuse_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launch, "table_for_this_cpu", lambda: Path("/c/a.table"))
        joined = launch.join(select({"buffers": "cpu=1m"}), JDK_JAVA_OPTIONS, Path("/n/agent.so"), Path("/s"))
        assert "buffers=" in joined.options[-1]
        assert "table=" not in joined.options[-1]


class TestVariable:
    def test_a_java_launcher_of_9_or_later_reads_its_own(self, tmp_path: Path) -> None:
        assert launch.choose_variable(make_java(tmp_path), Via.AUTO) == JDK_JAVA_OPTIONS

    def test_a_link_to_it_too(self, tmp_path: Path) -> None:
        link = tmp_path / "java"
        link.symlink_to(make_java(tmp_path / "jdk"))
        assert launch.choose_variable(link, Via.AUTO) == JDK_JAVA_OPTIONS

    @pytest.mark.parametrize("release", ['JAVA_VERSION="1.8.0_412"\n', None, "garbage", 'JAVA_VERSION="x"'])
    def test_jdk_8_and_unknown_ones_do_not(self, tmp_path: Path, release: str | None) -> None:
        assert launch.choose_variable(make_java(tmp_path, release), Via.AUTO) == JAVA_TOOL_OPTIONS

    def test_the_runtime_inside_a_jdk_8(self, tmp_path: Path) -> None:
        (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_412"\n')
        assert launch.java_feature(make_java(tmp_path / "jre", None)) == 8

    def test_a_script_named_java_may_start_anything(self, tmp_path: Path) -> None:
        assert launch.choose_variable(make_java(tmp_path, content=b"#!/bin/sh\n"), Via.AUTO) == JAVA_TOOL_OPTIONS

    def test_other_programs(self) -> None:
        assert launch.choose_variable(Path("/bin/sh"), Via.AUTO) == JAVA_TOOL_OPTIONS

    def test_asked_for(self, tmp_path: Path) -> None:
        assert launch.choose_variable(Path("/bin/sh"), Via.JDK) == JDK_JAVA_OPTIONS
        assert launch.choose_variable(make_java(tmp_path), Via.TOOL) == JAVA_TOOL_OPTIONS


class TestLoadable:
    def test_a_plain_path_is_used_as_it_is(self, tmp_path: Path) -> None:
        agent = tmp_path / "with space" / "agent.so"
        assert launch.loadable(agent, tmp_path) == agent

    @pytest.mark.parametrize("name", ["a=b", "it's", 'say "x"'])
    def test_a_path_that_agentpath_cannot_hold_gets_a_link(self, tmp_path: Path, name: str) -> None:
        agent = tmp_path / name / "agent.so"
        agent.parent.mkdir()
        agent.touch()
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        link = launch.loadable(agent, scratch)
        assert link.parent == scratch
        assert link.resolve() == agent.resolve()
        assert launch.loadable(agent, scratch) == link

    def test_nowhere_to_put_a_link(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="TMPDIR"):
            launch.loadable(tmp_path / "a=b" / "agent.so", tmp_path / "c=d")


class TestFindProgram:
    def test_not_found(self) -> None:
        with pytest.raises(WrongUsageError, match="'no-such-program' not found"):
            launch.find_program(["no-such-program"])

    def test_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="does not exist"):
            launch.find_program([str(tmp_path / "no")])

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="is a folder"):
            launch.find_program([str(tmp_path)])

    def test_not_executable(self, tmp_path: Path) -> None:
        (tmp_path / "f").touch()
        with pytest.raises(WrongUsageError, match="is not executable"):
            launch.find_program([str(tmp_path / "f")])

    def test_nothing_at_all(self) -> None:
        with pytest.raises(WrongUsageError, match="no command"):
            launch.find_program([])


def run(code: str, **options: object) -> launch.Ended:
    program = launch.start([sys.executable, "-c", code], Path(sys.executable), os.environ, **options)  # type: ignore[arg-type]
    [ended] = launch.wait(program)
    return ended


class TestStart:
    def test_exit_codes(self) -> None:
        assert run("raise SystemExit(7)").exit_code == 7
        assert run("import os; os.kill(os.getpid(), 9)").exit_code == 137

    def test_cpu_time_counts_descendants(self) -> None:
        burn = "import time\nwhile time.process_time() < 0.3: pass"
        ended = run(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])")
        assert ended.cpu_seconds >= 0.3
        assert ended.max_rss_bytes > 1_000_000

    def test_runs_where_it_is_told_and_leaves_this_process_alone(self) -> None:
        before = os.sched_getaffinity(0)
        cpu = max(before)
        assert run(f"import os; raise SystemExit(os.sched_getaffinity(0) != {{{cpu}}})", cpus=[cpu]).exit_code == 0
        assert os.sched_getaffinity(0) == before

    def test_two_at_once_have_their_own_times(self) -> None:
        command = [sys.executable, "-c", "import sys, time; time.sleep(float(sys.argv[1]))"]
        slow, quick = (launch.start([*command, s], Path(sys.executable), os.environ) for s in ("0.6", "0"))
        ends = launch.wait(slow, quick)
        assert ends[0].wall_seconds >= 0.6
        assert ends[1].wall_seconds < ends[0].wall_seconds

    def test_one_that_fails_ends_the_other(self) -> None:
        sleeping = launch.start(["sleep", "60"], launch.find_program(["sleep"]), os.environ, own_group=True)
        failing = launch.start(["false"], launch.find_program(["false"]), os.environ, own_group=True)
        ends = launch.wait(sleeping, failing)
        assert [ended.exit_code for ended in ends] == [128 + signal.SIGTERM, 1]
        assert sleeping.stopped
        assert not failing.stopped

    def test_a_script_of_this_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "start-it.sh").write_text(f"#!/bin/sh\necho $0 >{tmp_path}/said\n")
        (tmp_path / "start-it.sh").chmod(0o755)
        monkeypatch.chdir(tmp_path)
        [ended] = launch.wait(launch.start(["./start-it.sh"], launch.find_program(["./start-it.sh"]), os.environ))
        assert ended.exit_code == 0
        assert (tmp_path / "said").read_text() == "./start-it.sh\n"

    def test_no_program_at_all(self, tmp_path: Path) -> None:
        script = tmp_path / "script"
        script.write_text("no shebang line\n")
        script.chmod(0o755)
        with pytest.raises(WrongUsageError, match="cannot be started: it is neither"):
            launch.start([str(script)], script, os.environ)


class TestSignals:
    def test_sigterm_is_passed_on(self) -> None:
        with launch.forwarding() as signals:
            program = launch.start(["sleep", "60"], launch.find_program(["sleep"]), os.environ)
            signals.watch([program])
            os.kill(os.getpid(), signal.SIGTERM)
            [ended] = launch.wait(program)
        assert ended.exit_code == 128 + signal.SIGTERM
        assert signals.received == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    def test_a_signal_between_start_and_watch_is_not_lost(self) -> None:
        with launch.forwarding() as signals:
            program = launch.start(["sleep", "60"], launch.find_program(["sleep"]), os.environ, own_group=True)
            os.kill(os.getpid(), signal.SIGINT)
            signals.watch([program])
            [ended] = launch.wait(program)
        assert ended.exit_code == 128 + signal.SIGTERM
        assert signals.received == signal.SIGINT

    def test_the_second_signal_kills_a_group_that_does_not_end(self) -> None:
        stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
        with launch.forwarding() as signals:
            program = launch.start(
                [sys.executable, "-c", stubborn],
                Path(sys.executable),
                os.environ,
                stdout=(write := os.pipe())[1],
                own_group=True,
            )
            os.read(write[0], 1)
            signals.watch([program])
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            [ended] = launch.wait(program)
        for end in write:
            os.close(end)
        assert ended.exit_code == 128 + signal.SIGKILL

    def test_what_is_ignored_stays_ignored(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with launch.forwarding():
                assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGHUP, before)


def test_describe_exit() -> None:
    assert launch.describe_exit(1) == "exit code 1"
    assert launch.describe_exit(137) == "exit code 137 (SIGKILL)"
    assert launch.describe_exit(255) == "exit code 255"


@given(st.lists(st.text(min_size=1).filter(lambda t: "\0" not in t), min_size=1))
def test_shown_commands_can_be_typed_again(command: list[str]) -> None:
    assert shlex.split(launch.shown(command)) == command


def test_the_shell_agrees_about_quoting() -> None:
    words = ["a b", "it's", '"']
    out = subprocess.run(f"printf '%s|' {launch.shown(words)}", shell=True, capture_output=True, check=True)  # noqa: S602
    assert out.stdout.decode().split("|")[:-1] == words


def test_the_calibration_of_this_cpu_goes_to_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selection = select({"zeroing": "adaptive"})
    monkeypatch.setattr(launch, "table_for_this_cpu", lambda: None)
    without = launch.join(selection, "V", tmp_path / "a.so", tmp_path / "s")
    monkeypatch.setattr(launch, "table_for_this_cpu", lambda: tmp_path / "a,b")
    joined = launch.join(selection, "V", tmp_path / "a.so", tmp_path / "s")
    assert "table=" not in without.options[-1]
    assert f"zeroing=adaptive,table={tmp_path}/a%2Cb,summary=" in joined.options[-1]
