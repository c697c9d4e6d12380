"""The commands from a checkout, on real JVMs and on commands whose answer is known."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Jdk, fetched_jdk, memgraft
from processes import clean_environment, run
from tiers import deep


def one_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line on standard error of a command that failed with `code` and printed nothing else."""
    assert result.returncode == code, result.stdout + result.stderr
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("Picked up ", "NOTE: Picked up "))]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("memgraft: ")
    return lines[0]


# --- doctor ---------------------------------------------------------------------------------------------------------


def test_doctor_joins_every_jdk_it_should() -> None:
    homes = {version: fetched_jdk(version).home for version in ("11", "17", "21", "25")}
    result = memgraft("doctor", "--json", *homes.values())
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["schema"] == 1
    by_home = {Path(jvm["path"]).parent.parent: jvm for jvm in report["jvms"]}
    for version, home in homes.items():
        jvm = by_home[home]
        assert jvm["version"].startswith(version)
        assert jvm["vendor"]
        assert jvm["grafts"]["zeroing"]["available"] is (version != "11")
        assert jvm["grafts"]["zeroing"]["reason"]
    assert report["machine"]["cpu"]


def test_doctor_finds_the_jdk_on_the_path(distribution_jdk: Jdk) -> None:
    result = memgraft("doctor", "--json")
    paths = {Path(jvm["path"]).resolve() for jvm in json.loads(result.stdout)["jvms"]}
    assert distribution_jdk.java.resolve() in paths


def test_doctor_gives_the_reason_for_a_stripped_jvm(distribution_jdk: Jdk, tmp_path: Path) -> None:
    from test_agent import copy_with_libjvm

    stripped = copy_with_libjvm(distribution_jdk, tmp_path / "stripped", "--strip-unneeded")
    report = json.loads(memgraft("doctor", "--json", stripped.home).stdout)
    [jvm] = [jvm for jvm in report["jvms"] if Path(jvm["path"]).is_relative_to(stripped.home)]
    assert jvm["grafts"]["zeroing"]["available"] is False
    assert "stripped" in jvm["grafts"]["zeroing"]["reason"]


def test_doctor_for_people_fits_a_terminal() -> None:
    result = memgraft("doctor", COLUMNS="80", NO_COLOR="1")
    assert result.returncode == 0
    assert "zeroing" in result.stdout
    assert "\x1b" not in result.stdout


def test_doctor_says_what_takes_any_collector() -> None:
    lines = memgraft("doctor", NO_COLOR="1").stdout.splitlines()
    [at, *_] = [number for number, line in enumerate(lines) if line.split()[:2] == ["ordering", "yes:"]]
    assert "not with" in lines[at + 1]
    assert "with any collector: --engine bytecode" in lines[at + 2]


def test_doctor_says_what_is_no_jvm(tmp_path: Path) -> None:
    assert str(tmp_path) in one_line(memgraft("doctor", tmp_path), 2)


# --- run ------------------------------------------------------------------------------------------------------------


def java_program(programs: Path, *arguments: str) -> list[str]:
    return ["java", "-cp", str(programs), *arguments]


def run_json(*arguments: str | Path, **changes: str) -> dict:
    result = memgraft("run", "--json", *arguments, **changes)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("strategy", ["bulk", "non-temporal"])
def test_run_grafts_and_summarises(strategy: str, programs: Path) -> None:
    report = run_json("--zeroing", strategy, "--", *java_program(programs, "ShowJoints", "hello"))
    [jvm] = report["jvms"]
    assert jvm["state"] == "ended"
    assert jvm["program"] == "ShowJoints hello"
    zeroing = jvm["grafts"]["zeroing"]
    assert zeroing["strategy"] == strategy
    assert zeroing["tlabs"] > 0
    assert 0 < zeroing["direct_cost"] < 1


def test_run_leaves_input_and_output_to_the_program(programs: Path) -> None:
    command = [ROOT / "bin/memgraft", "run", "--zeroing", "bulk", "--", *java_program(programs, "AllocateUntilTold")]
    result = subprocess.run(
        command, input="stop\n", capture_output=True, text=True, check=False, env=clean_environment()
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "allocating\nevery node intact\n"
    assert "direct cost" in result.stderr


def test_hot_path_loads_no_agent_and_sets_nothing(programs: Path) -> None:
    shown = memgraft("run", "--zeroing", "hot-path", "--", *java_program(programs, "ShowJoints"))
    assert shown.returncode == 0
    assert shown.stdout == "started \n"
    assert "agent was not loaded" in shown.stderr
    # The same program shows the traces where there are any.
    grafted = memgraft("run", "--zeroing", "bulk", "--", *java_program(programs, "ShowJoints"))
    for trace in ("mapped: ", "environment: ", "option: -XX:+ZeroTLAB"):
        assert trace in grafted.stdout


def test_run_reaches_java_behind_a_script_env_and_spaces(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "with spaces, and = signs"
    folder.mkdir()
    script = folder / "start me.sh"
    script.write_text(f"#!/bin/sh\njava -cp '{programs}' ShowJoints one\nexec java -cp '{programs}' ShowJoints two\n")
    script.chmod(0o755)
    report = run_json("--zeroing", "bulk", "--", script, TMPDIR=str(folder))
    assert sorted(jvm["program"] for jvm in report["jvms"]) == ["ShowJoints one", "ShowJoints two"]
    report = run_json("--zeroing", "bulk", "--", "env", "WITH=env", *java_program(programs, "ShowJoints"))
    assert len(report["jvms"]) == 1


def test_run_keeps_the_users_own_jvm_options(programs: Path) -> None:
    for variable, command in (
        ("JDK_JAVA_OPTIONS", java_program(programs, "ShowJoints")),
        ("JAVA_TOOL_OPTIONS", ["env", *java_program(programs, "ShowJoints")]),
    ):
        report = run_json("--zeroing", "bulk", "--", *command, **{variable: "-XX:+UseSerialGC"})
        assert report["jvms"][0]["jvm"]["collector"] == "Serial"


def test_run_reaches_maven_and_javac(tmp_path: Path) -> None:
    assert run_json("--zeroing", "bulk", "--", "mvn", "--version")["jvms"][0]["state"] == "ended"
    source = tmp_path / "Empty.java"
    source.write_text("class Empty {}")
    report = run_json("--zeroing", "bulk", "--", "javac", "-d", tmp_path, source)
    assert len(report["jvms"]) == 1
    assert (tmp_path / "Empty.class").exists()


def test_run_reports_a_failing_program(programs: Path) -> None:
    result = memgraft("run", "--zeroing", "bulk", "--", "sh", "-c", f"java -cp '{programs}' ShowJoints; exit 7")
    assert result.returncode == 1
    assert "exit code 7" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--zeroing", "bukl", "--", "java", "-version"], 2, "bukl"),
        (["--", "java", "-version"], 2, "no graft given"),
        (["--zeroing", "bulk", "--"], 2, "command"),
        (["--zeroing", "bulk", "--", "no-such-command"], 2, "no-such-command"),
        (["--zeroing", "bulk", "--", "true"], 2, "no JVM"),
        (["--zeroing", "bulk", "--via", "telepathy", "--", "java", "-version"], 2, "telepathy"),
        (["--zeroing", "bulk", "--", "java", "-XX:+UseZGC", "-version"], 3, "found the Z collector"),
        (["--zeroing", "bulk", "--", "java", "-XX:-ZeroTLAB", "-version"], 3, "-XX:-ZeroTLAB"),
    ],
)
def test_run_refuses_in_one_line(arguments: list[str], code: int, expected: str) -> None:
    assert expected in one_line(memgraft("run", *arguments), code)


def test_run_refuses_other_jvms_in_one_line(distribution_jdk: Jdk, tmp_path: Path) -> None:
    from test_agent import copy_with_libjvm

    stripped = copy_with_libjvm(distribution_jdk, tmp_path / "stripped", "--strip-unneeded")
    line = one_line(memgraft("run", "--zeroing", "bulk", "--", stripped.java, "-version"), 3)
    assert "stripped" in line
    line = one_line(memgraft("run", "--zeroing", "bulk", "--", fetched_jdk("11").java, "-version"), 3)
    assert "found JDK 11" in line


# --- compare --------------------------------------------------------------------------------------------------------


def compare(output: Path, *arguments: str | Path) -> dict:
    result = memgraft("compare", "--json", "--output", output, *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_compare_finds_a_known_effect(programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "1.25")
    report = compare(tmp_path / "out", "--zeroing", "bulk", "--launches", "7", "--", *command)
    assert report["verdict"] == "slower"
    assert report["metric"] == "iteration-cpu"
    assert 1.15 < report["ratio"]["low"] <= report["ratio"]["median"] <= report["ratio"]["high"] < 1.35
    assert report["ratio"]["low"] <= 1.25 <= report["ratio"]["high"]
    assert report["launches"] == {"baseline": 7, "grafted": 7, "switched": 0}


@deep
def test_compare_finds_a_known_gain(programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "0.8")
    report = compare(tmp_path / "out", "--zeroing", "non-temporal", "--launches", "6", "--", *command)
    assert report["verdict"] == "faster"
    assert report["ratio"]["high"] < 0.9


@deep
def test_compare_resolves_nothing_where_nothing_is(programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "1")
    report = compare(tmp_path / "out", "--zeroing", "bulk", "--launches", "7", "--", *command)
    assert report["verdict"] == "not resolved"
    assert report["ratio"]["low"] <= 1 <= report["ratio"]["high"]


def test_compare_of_the_stock_with_itself_loads_no_agent(programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "2")
    report = compare(tmp_path / "out", "--zeroing", "hot-path", "--launches", "6", "--", *command)
    # Were the agent loaded, the program would have taken twice as long.
    assert report["verdict"] == "not resolved"
    assert "bytes" not in report["graft"]["zeroing"]


@deep
def test_compare_of_a_workload_has_all_that_a_reader_needs(tmp_path: Path) -> None:
    command = [ROOT / "bin/workload", "lusearch", "--size", "small", "--iterations", "3"]
    report = compare(tmp_path / "out", "--zeroing", "non-temporal", "--launches", "6", "--", *command)
    assert report["schema"] == 2
    assert set(report["ratio"]) >= {"median", "low", "high"}
    assert report["verdict"] in {"faster", "slower", "not resolved"}
    assert report["launches"] == {"baseline": 6, "grafted": 6, "switched": 0}
    zeroing = report["graft"]["zeroing"]
    assert zeroing["bytes"] > 0
    assert 0 < zeroing["gigabytes_per_second"] < 1000
    assert 0 < zeroing["direct_cost"] < 1
    assert zeroing["missed_tlabs"] == 0
    page = Path(report["report"])
    assert page.is_file()
    text = page.read_text()
    assert "http://" not in text.split("<body")[1].split("<script")[0]
    assert len((tmp_path / "out/launches.jsonl").read_text().splitlines()) == 13


def test_compare_stops_at_a_wrong_result(programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "1", "other")
    result = memgraft("compare", "--output", tmp_path / "out", "--zeroing", "bulk", "--", *command)
    assert result.returncode == 1
    assert "WRONG RESULT" in result.stderr
    assert (tmp_path / "out/launches.jsonl").read_text().count("\n") == 2


def test_compare_pairs_at_the_same_time(programs: Path, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: two launches cannot have one each")
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "1.5")
    # The launches of a pair count up the same file, so only the size of the effect can be known.
    report = compare(
        tmp_path / "out", "--zeroing", "bulk", "--launches", "6", "--pairing", "concurrent", "--", *command
    )
    assert report["verdict"] == "slower"
    assert report["pairing"] == "concurrent"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--zeroing", "bulk", "--launches", "5", "--", "java", "-version"], 2, "at least 6"),
        (["--zeroing", "bukl", "--", "java", "-version"], 2, "bukl"),
        (["--zeroing", "bulk", "--", "true"], 2, "no JVM"),
        (["--zeroing", "bulk", "--", "java", "-XX:+UseZGC", "-version"], 3, "found the Z collector"),
    ],
)
def test_compare_refuses_in_one_line(arguments: list[str], code: int, expected: str, tmp_path: Path) -> None:
    assert expected in one_line(memgraft("compare", "--output", tmp_path / "out", *arguments), code)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 64 KiB."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder])
    if mounted.returncode != 0:
        pytest.skip(f"only root can mount a small disk: {mounted.stderr.strip()}")
    yield folder
    run(["umount", folder])


def test_compare_names_the_full_disk(full_disk: Path, programs: Path, tmp_path: Path) -> None:
    command = java_program(programs, "SetIterations", str(tmp_path / "counter"), "1")
    result = memgraft("compare", "--output", full_disk / "out", "--zeroing", "bulk", "--launches", "6", "--", *command)
    line = one_line(result, 2)
    assert "No space left on device" in line
    assert str(full_disk / "out") in line


def test_compare_says_which_launch_failed(programs: Path, tmp_path: Path) -> None:
    result = memgraft(
        *["compare", "--output", tmp_path / "out", "--zeroing", "bulk", "--"],
        *["sh", "-c", f"java -cp '{programs}' ShowJoints; echo what went wrong >&2; exit 9"],
    )
    line = one_line(result, 1)
    for part in ("exit code 9", "what went wrong", "launch 1"):
        assert part in line


# --- zero bench, workloads, the demo --------------------------------------------------------------------------------


def test_zero_bench_measures_every_kernel() -> None:
    result = memgraft("zero", "bench", "--quick", "--largest", "64", "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["schema"] == 2
    for kernel in ("word-4", "memset", "calibrated", "rep-stosb"):
        measured = {row["mode"] for row in report["results"] if row["kernel"] == kernel}
        assert measured == {"resident", "streaming", "streaming-late", "streaming-used"}, kernel
    threads = {1, len(os.sched_getaffinity(0))}
    assert {row["threads"] for row in report["results"]} == threads


def test_zero_calibrate_writes_a_table_that_the_library_takes(calibration: tuple[Path, dict], tmp_path: Path) -> None:
    folder, report = calibration
    shutil.copytree(folder / "memgraft", tmp_path / "memgraft")
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    [table] = (tmp_path / "memgraft/zeroing").iterdir()
    assert report["table"] == str(folder / "memgraft/zeroing" / table.name)
    assert (folder / "zeroing.html").stat().st_size > 0
    kernels = {row["kernel"] for row in report["measured"]["results"]} - {"calibrated"}
    assert {row["kernel"] for row in report["rows"]} <= kernels
    chosen = {(d["mode"], d["threads"], d["bytes"]): d["kernel"] for d in report["decisions"]}
    for row in report["verified"]["results"]:
        if row["kernel"] == "calibrated" and not report["put_back_to_memset"]:
            # What the library looked up in the table is what was decided.
            assert row["stands_for"] == chosen[row["mode"], row["threads"], row["bytes"]]

    bench = memgraft("zero", "bench", "--quick", "--largest", "64", **cache)
    assert bench.returncode == 0, bench.stderr
    assert f"calibrated: by {table}" in bench.stdout.replace("\n", "")

    table.write_text(table.read_text().replace("\ncpu ", "\ncpu not "))
    line = one_line(memgraft("zero", "bench", "--quick", "--largest", "64", **cache), 3)
    assert "is for the CPU 'not " in line
    assert "memgraft zero calibrate" in line


def test_workload_litmus_is_the_litmus_tests() -> None:
    listed = run([ROOT / "bin/workload", "litmus", "--list", "--test", "store-buffering"])
    assert listed.returncode == 0, listed.stderr
    assert "sb/field-int" in listed.stdout
    unknown = run([ROOT / "bin/workload", "litmus", "--test", "store-bufering"])
    assert unknown.returncode == 2
    assert "store-bufering" in unknown.stderr


def test_demo_of_a_missing_volatile() -> None:
    result = run(
        ["make", "--no-print-directory", "-C", ROOT, "demo", "DEMO_SERVER=--launches 1 --requests 20000 --no-hunt"]
    )
    assert result.returncode == 0, result.stdout + result.stderr
    rows = {row[0]: row[1:] for line in result.stdout.splitlines() if len(row := cells(line)) == 3}
    assert rows["requests left for the worker"] == ["20,000", "20,000"]
    assert rows["requests that it slept over"][1] == "0"
    assert rows["heartbeats told to stop"] == ["1", "1"]
    assert rows["heartbeats that went on"][1] == "0"


def cells(line: str) -> list[str]:
    """Of a table's row."""
    return [cell.strip() for cell in line.split("│")[1:-1]]


def test_demo_says_what_it_does_not_know() -> None:
    result = run([ROOT / ".venv/bin/python", ROOT / "ordering/demo/show.py", "--launches", "no"])
    assert result.returncode == 2
    assert "'no': expected a whole number, 1 or more" in result.stderr


@deep
def test_demo_shows_what_a_missing_volatile_does() -> None:
    """C2 reads a flag once, in every launch; a request is slept over in one of some hundred, of 600,000."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: no two threads run at once")
    result = run(["make", "--no-print-directory", "-C", ROOT, "demo"])
    assert result.returncode == 0, result.stdout + result.stderr
    rows = {row[0]: row[1:] for line in result.stdout.splitlines() if len(row := cells(line)) == 3}
    assert rows["heartbeats that went on"] == ["3", "0"]
    assert int(rows["requests that it slept over"][0].replace(",", "")) > 0
    assert rows["requests that it slept over"][1] == "0"
    assert "Missing volatile: JobServer.stopped." in result.stdout


@deep
def test_demo_at_small_size(tmp_path: Path) -> None:
    """Of the zeroing; what it compares here starts faster than its own program."""
    words = ["DEMO_LAUNCHES=6", f"DEMO_OUTPUT={tmp_path / 'demo'}", "DEMO_WORKLOAD=churn --size small --iterations 2"]
    result = run(["make", "--no-print-directory", "-C", ROOT, "demo-zeroing", *words])
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "demo/report.html").is_file()
    assert "over 6 pairs of launches" in " ".join(result.stdout.split())


def test_an_installed_memgraft_works_away_from_the_checkout(tmp_path: Path, programs: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is missing: setup/packages build installs it")
    # Its dependencies come from this checkout's environment; what is tested is that the wheel carries the native parts.
    wheel = tmp_path / "wheel"
    # Built beside the others, by a compiler of the same name: a compiler cache knows what it knows by the path from the
    # checkout, and by that name.
    options = ["--quiet", "--no-deps", "--config-settings", f"build-dir={ROOT / 'build/wheel'}"]
    compilers = {"CC": "cc", "CXX": "c++"} | {name: os.environ[name] for name in ("CC", "CXX") if name in os.environ}
    built = run([ROOT / ".venv/bin/python", "-m", "pip", "wheel", *options, "-w", wheel, ROOT], **compilers)
    assert built.returncode == 0, built.stderr
    [file] = wheel.glob("memgraft-*.whl")
    target = tmp_path / "site"
    run([ROOT / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, file])
    command = ["import memgraft.cli, sys; sys.path_importer_cache.clear(); memgraft.cli.main()"]
    result = run(
        [
            *[ROOT / ".venv/bin/python", "-P", "-c", *command, "run", "--zeroing", "bulk", "--"],
            *java_program(programs, "ShowJoints"),
        ],
        PYTHONPATH=str(target),
    )
    assert result.returncode == 0, result.stderr
    assert str(target) in result.stdout
    python = [ROOT / ".venv/bin/python", "-P", "-c", *command]
    listed = run([*python, "paper", "--json"], PYTHONPATH=str(target))
    assert {"zeroing-5.11", "buffers-figure-2"} <= {paper["name"] for paper in json.loads(listed.stdout)["papers"]}
    refused = run([*python, "paper", "zeroing-5.11"], PYTHONPATH=str(target))
    assert "run `bin/memgraft paper` in a checkout" in one_line(refused, 3)
    weak = run([*python, "run", "--ordering", "weak", "--", "java", "-version"], PYTHONPATH=str(target))
    assert weak.returncode == 0, weak.stderr
