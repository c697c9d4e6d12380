"""What is typed wrong ends in one line and exit code 2; help, version and JSON go where they belong."""

import contextlib
import re
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from memgraft import native
from memgraft.conftest import Memgraft, program
from memgraft.grafts import table
from memgraft.version import version

EPOCHS = ("compare", "--pairing", "epochs", "--zeroing")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nope"], "no such command 'nope'"),
        (["zero"], "missing command"),
        (["run"], "no graft given"),
        (["run", "--zeroing", "bulk", "--"], "no command given: expected `-- COMMAND...`"),
        (["run", "--", "java"], "no graft given: expected at least one of --zeroing hot-path|bulk|non-temporal|"),
        (["run", "--zeroing", "pause", "--", "java"], "'pause' is not one of 'hot-path', 'bulk', 'non-temporal'"),
        (["run", "--zeroing", "bulk", "--window", "8192", "--", "java"], "--window 8192: --zeroing bulk has no window"),
        (["run", "--zeroing", "windows", "--window", "5000", "--", "java"], "--window 5000: expected a power of two"),
        (["run", "--zeroing", "windows", "--window", "2048", "--", "java"], "--window 2048: expected a power of two"),
        (
            ["compare", "--zeroing", "bulk", "--against", "luck", "--", "java"],
            "--against luck: expected one of hot-path",
        ),
        (["compare", "--zeroing", "bulk", "--against", "pause", "--", "java"], "--against pause: expected one of"),
        ([*EPOCHS, "hot-path", "--", "java"], "--pairing epochs cannot switch to --zeroing hot-path"),
        (
            [*EPOCHS, "bulk", "--against", "hot-path", "--", "java"],
            "cannot switch to --against hot-path: compiled code",
        ),
        ([*EPOCHS, "bulk", "--against", "adaptive", "--", "java"], "cannot switch to --against adaptive: it chooses"),
        ([*EPOCHS, "adaptive", "--", "java"], "cannot switch to --zeroing adaptive: it chooses for itself"),
        ([*EPOCHS, "bulk", "--", "java"], "both sides are bulk; expected two strategies to switch between"),
        ([*EPOCHS, "windows", "--launches", "0", "--", "java"], "--launches 0: expected at least 1"),
        ([*EPOCHS, "windows", "--metric", "wall", "--", "java"], "--metric wall with --pairing epochs"),
        ([*EPOCHS, "windows", "--warmup-iterations", "1", "--", "java"], "--warmup-iterations 1 with --pairing epochs"),
        (["run", "--zeroing", "warm", "--", "java"], "'warm' is not one of 'hot-path', 'bulk', 'non-temporal'"),
        (["run", "--zeroing", "bulk", "--via", "post", "--", "java"], "'post' is not one of 'auto'"),
        (["run", "--zeroing", "bulk", "--no-such", "--", "java"], "no such option: --no-such"),
        (["run", "--zeroing", "bulk", "--", "no-such-program"], "command 'no-such-program' not found"),
        (["run", "--zeroing", "bulk", "--output", "no/such/x.json", "--", "ls"], "the folder no/such does not exist"),
        (["compare", "--zeroing", "bulk", "--launches", "5", "--", "java"], "--launches 5: expected at least 6"),
        (
            ["compare", "--zeroing", "bulk", "--launches", "many", "--", "java"],
            "--launches many: expected a valid integer;",
        ),
        (
            ["compare", "--zeroing", "bulk", "--warmup-launches", "-1", "--", "java"],
            "--warmup-launches -1: expected a number greater than or equal to 0; see `memgraft compare --help`",
        ),
        (["buffers", "scale", "--rate", "inf"], "--rate inf: expected a number less than or equal to 1000;"),
        (["compare", "--zeroing", "bulk", "--metric", "luck", "--", "java"], "'luck' is not one of 'auto'"),
        (["compare", "--zeroing", "bulk", "--pairing", "odd", "--", "java"], "'odd' is not one of 'alternate'"),
        (["compare", "--", "java"], "no graft given"),
        (["doctor", "/no/such/java"], "'/no/such/java' is no JVM"),
        (["zero", "bench", "extra"], "extra"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(memgraft: Memgraft, arguments: list[str], expected: str) -> None:
    done = memgraft(*arguments)
    assert done.code == 2
    assert done.out == ""
    [line] = done.err.splitlines()
    assert line.startswith("memgraft: ")
    assert expected in line
    assert "Value error" not in line


@pytest.mark.parametrize("arguments", [["run", "--zeroing", "bulk"], ["compare", "--zeroing", "bulk"]])
def test_a_missing_agent_is_said_before_anything_starts(memgraft: Memgraft, arguments: list[str]) -> None:
    next(memgraft.natives.iterdir()).unlink()
    done = memgraft(*arguments, "--", "touch", "started")
    assert done.code == 3
    assert "make build" in done.error
    assert not (memgraft.folder / "started").exists()


def test_help_names_every_graft_and_choice(memgraft: Memgraft) -> None:
    for command in ("run", "compare"):
        text = memgraft(command, "--help").out
        for graft in table.GRAFTS:
            assert graft.option in text
            for choice in graft.offered:
                assert choice.name in text
            for parameter in graft.parameters:
                assert parameter.option in text


def test_nothing_typed_is_help(memgraft: Memgraft) -> None:
    done = memgraft()
    assert done.code == 0
    assert done.out.startswith("Usage: memgraft")
    assert "Exit codes" in done.out


def test_version(memgraft: Memgraft) -> None:
    assert memgraft("--version").out == f"memgraft {version()}\n"


def test_version_is_the_one_in_the_build_file() -> None:
    build = (Path(__file__).parent.parent.parent / "CMakeLists.txt").read_text()
    assert f"project(memgraft VERSION {version()} " in build


def test_a_reader_that_leaves_is_no_error(memgraft: Memgraft) -> None:
    with subprocess.Popen(
        ["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "bash", *memgraft.command("doctor")],
        env=memgraft.environment(),
        stderr=subprocess.PIPE,
    ) as process:
        _, errors = process.communicate()
    assert errors == b""
    assert process.returncode == 0


def test_an_unwritable_folder_is_one_line(memgraft: Memgraft) -> None:
    (memgraft.folder / "file").touch()
    done = memgraft("compare", "--zeroing", "bulk", "--output", "file/below", "--", *program())
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "file" in done.error


def test_no_traceback_for_a_mistake_of_our_own(memgraft: Memgraft) -> None:
    # A stand-in for a mistake: the driver breaks a module that `doctor` uses.
    broken = (
        "import memgraft.doctor; memgraft.doctor.examine = lambda java: 1 / 0\nfrom memgraft.cli import main\nmain()"
    )
    command = memgraft.command("doctor")
    done = subprocess.run(
        [command[0], "-c", broken, "doctor"], env=memgraft.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "a mistake in Memgraft itself: ZeroDivisionError" in line


def interrupt_when_asleep(memgraft: Memgraft, number: int, *arguments: str) -> tuple[int, str]:
    """Starts Memgraft without a terminal, sends it a signal once its program sleeps, and waits for its end."""
    marker = memgraft.folder / "errors"
    with marker.open("wb") as errors:
        process = subprocess.Popen(
            memgraft.command(*arguments),
            cwd=memgraft.folder,
            env=memgraft.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            while not any("asleep" in log.read_text() for log in [marker, *memgraft.folder.glob("*/logs/*.err")]):
                assert process.poll() is None, marker.read_text()
                time.sleep(0.02)
            process.send_signal(number)
            code = process.wait(600)  # only what hangs takes so long
        except BaseException:
            end_session(process)
            raise
    return code, marker.read_text()


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Kills it and what it started, whatever groups they are in."""
    for other in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            other.kill()
    process.kill()
    process.wait()


class TestInterruption:
    def test_run_waits_for_its_program_and_ends_with_130(self, memgraft: Memgraft) -> None:
        command = ["run", "--zeroing", "bulk", "--", *program("sleep=60")]
        code, errors = interrupt_when_asleep(memgraft, signal.SIGINT, *command)
        assert code == 130
        assert "was interrupted" in errors.splitlines()[-1]

    def test_run_passes_sigterm_on_and_reports_the_programs_code(self, memgraft: Memgraft) -> None:
        command = ["run", "--zeroing", "bulk", "--", *program("sleep=60")]
        code, errors = interrupt_when_asleep(memgraft, signal.SIGTERM, *command)
        assert code == 1
        assert "ended with exit code 143 (SIGTERM)" in errors.splitlines()[-1]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_compare_keeps_what_it_has(self, memgraft: Memgraft, number: int) -> None:
        command = ["compare", "--zeroing", "bulk", "--output", "out", "--", *program("sleep=60")]
        code, errors = interrupt_when_asleep(memgraft, number, *command)
        assert code == 128 + number
        assert re.search(r"after 0 counted launches; what was measured is in .*launches\.jsonl", errors)
        assert len((memgraft.folder / "out/launches.jsonl").read_text().splitlines()) == 1

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_what_was_started_ends_with_it(self, memgraft: Memgraft, number: signal.Signals) -> None:
        bench = memgraft.natives / native.ZERO_BENCH
        # More than a pipe holds: when all of it is read, Memgraft waits for the end.
        fills = "head -c 1000000 /dev/zero"
        marks = "mkdir -p bench/logs && echo $$ asleep >bench/logs/process.err"
        bench.write_text(f"#!/bin/sh\n{fills}\n{marks}\nexec sleep 60\n")
        bench.chmod(0o755)
        code, errors = interrupt_when_asleep(memgraft, number, "zero", "bench")
        assert code == 128 + number
        assert errors.splitlines()[-1] == f"memgraft: ended by {number.name}"
        process, _ = (memgraft.folder / "bench/logs/process.err").read_text().split()
        assert not psutil.pid_exists(int(process))

    def test_what_nohup_keeps_from_it_stays_so(self, memgraft: Memgraft) -> None:
        bench = memgraft.natives / native.ZERO_BENCH
        bench.write_text("#!/bin/sh\nkill -HUP $PPID\necho went on >&2\nexit 3\n")
        bench.chmod(0o755)
        done = subprocess.run(
            ["nohup", *memgraft.command("zero", "bench")],
            cwd=memgraft.folder,
            env=memgraft.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 128 + signal.SIGHUP
        assert "went on" in done.stderr
