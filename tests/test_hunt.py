"""The hunt for a missing `volatile`, in real JVMs: the gallery of bugs and decoys, and single accesses put in order."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import EACH_VERSION, ROOT, Jdk, jdk_called, memgraft
from processes import run
from tiers import deep

from memgraft.formats import read_summaries
from memgraft.hunt import provocations
from memgraft.hunt.suspects import Observation

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "ordering/gallery/gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


gallery = _loaded()
PROGRAMS = {program.name: program for program in gallery.programs()}


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(gallery.compiled(tmp_path_factory.mktemp("gallery")))


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(gallery.compiled(tmp_path_factory.mktemp("released"), [gallery.RELEASED]))


@pytest.fixture(params=EACH_VERSION)
def jdk(request: pytest.FixtureRequest) -> Jdk:
    return jdk_called(request.param)


# The worker's loop does not change what it waits for, so that C2 looks once, before the loop. How fast anything is does
# not matter: the worker is given CPU time to come into the loop, and then to leave it.
LOOP = """
package loop;

import java.lang.management.ManagementFactory;

final class Loop {
  static class Base {
    boolean stopped;
    long mine;
  }

  static final class Worker extends Base implements Runnable {
    @Override
    public void run() {
      while (!stopped) {
        mine++;
      }
    }
  }

  private static long cpuTime(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
  }

  private static boolean worksFor(Thread thread, long nanoseconds) throws InterruptedException {
    long end = cpuTime(thread) + nanoseconds;
    while (thread.isAlive()) {
      if (cpuTime(thread) > end) {
        return true;
      }
      Thread.sleep(2);
    }
    return false;
  }

  public static void main(String[] arguments) throws InterruptedException {
    Worker worker = new Worker();
    Thread thread = new Thread(worker, "worker");
    thread.setDaemon(true);
    thread.start();
    worksFor(thread, 100_000_000);
    worker.stopped = true;
    System.exit(worksFor(thread, 100_000_000) ? 1 : 0);
  }
}
"""


@pytest.fixture(scope="session")
def loop(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """The words of a command that fails unless one field is in order."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "Loop.java").write_text(LOOP)
    done = run(["javac", "--release", "17", "-d", folder, folder / "Loop.java"])
    assert done.returncode == 0, done.stderr
    return ["-Xbatch", "-cp", folder, "loop.Loop"]


def only(tmp_path: Path, *lines: str) -> list[str | Path]:
    file = tmp_path / "only.txt"
    file.write_text("".join(f"{line}\n" for line in lines))
    return ["run", "--ordering", "sc", "--engine", "bytecode", "--only", file]


def test_a_named_field_is_put_in_order(jdk: Jdk, loop: list[str | Path], tmp_path: Path) -> None:
    """The code names it as a field of the subclass."""
    file = ["# what the hunt found", "loop.Loop$Base.stopped"]
    report = tmp_path / "report.json"
    done = memgraft(*only(tmp_path, *file), "--output", report, "--", jdk.java, *loop)
    assert done.returncode == 0, done.stderr
    [jvm] = json.loads(report.read_text())["jvms"]
    found = jvm["grafts"]["bytecode"]
    assert found["only"] == {"unmatched": []}
    fences = {kind: count for kind, count in found["fences"].items() if count}
    assert fences == {"field_loads": 1, "field_stores": 1}
    assert "1 load and 1 store in order, and 0 calls; all others are as they were" in done.stderr


def test_all_others_are_left_as_they_were(jdk: Jdk, loop: list[str | Path], tmp_path: Path) -> None:
    done = memgraft(*only(tmp_path, "loop.Loop$Worker.stopped"), "--", jdk.java, *loop)
    assert done.returncode == 1
    assert "loop.Loop$Worker.stopped named nothing in any class that was loaded" in done.stderr


def test_fields_of_the_jdk_can_be_named(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    names = ["java.util.HashMap$Node.*", "java.util.HashMap.nothing"]
    words = ["java", "-Xlog:disable", "-version"]
    done = memgraft(*only(tmp_path, *names), "--output", report, "--", *words)
    assert done.returncode == 0, done.stderr
    [jvm] = json.loads(report.read_text())["jvms"]
    found = jvm["grafts"]["bytecode"]
    assert found["only"] == {"unmatched": ["java.util.HashMap.nothing"]}
    assert found["fences"]["field_stores"] > 10
    assert found["fences"]["static_loads"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "bytecode"], "expected a field such as org.example.Server.stopped, org.example.Ring.take[], "),
        ([], "expected it together with --engine bytecode"),
    ],
)
def test_a_wrong_line_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    file = tmp_path / "only.txt"
    file.write_text("org.example.Server.stopped\nstopped\n")
    done = memgraft("run", "--ordering", "sc", *words, "--only", file, "--", "java", "-version")
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def test_what_order_does_not_cure_ends_after_a_few_launches(classes: str, tmp_path: Path) -> None:
    """A deadlock, which does not depend on how fast anything is."""
    found = gallery.hunt(PROGRAMS["decoys.Deadlock"], classes, tmp_path / "out")
    assert found["verdict"] == "not a missing volatile"
    assert found["launches"] == 12


def test_threads_are_observed_in_a_real_jvm(jdk: Jdk, loop: list[str | Path], tmp_path: Path) -> None:
    """Whatever the loop does."""
    option = f"-javaagent:{ROOT / 'memgraft/native/memgraft-ordering.jar'}=observe,summary={tmp_path}"
    run([jdk.java, option, *loop])
    [jvm] = read_summaries(tmp_path)
    bytecode = jvm.grafts.bytecode
    assert bytecode is not None
    assert bytecode.observed is not None
    assert "java.lang.Object" in bytecode.observed.jdk_classes
    observation = Observation()
    observation.add(bytecode.observed)
    # The counter is the worker's alone.
    assert observation.shared == {"loop.Loop$Base.stopped"}
    assert observation.own == {"loop.Loop$Base.stopped", "loop.Loop$Base.mine"}
    stopped = observation.suspects["loop.Loop$Base.stopped"]
    assert [one.thread for one in stopped.loads] == ["worker"]
    assert [one.thread for one in stopped.stores] == ["main"]
    assert stopped.stores[0].stack[0].startswith("loop.Loop.main(Loop.java:")
    assert stopped.polls == stopped.loads[0].times > 0


@deep
def test_the_field_is_found_whatever_the_jvm(jdk: Jdk, loop: list[str | Path], tmp_path: Path) -> None:
    done = memgraft("hunt", "--json", "--output", tmp_path / "out", "--", jdk.java, *loop)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "found"
    assert [one["name"] for one in found["cure"]] == ["loop.Loop$Base.stopped"]
    assert found["suspects"] == 1


@deep
@two_cpus
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_gallery(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    path = request.getfixturevalue("released" if name.startswith("released.") else "classes")
    found = gallery.hunt(program, path, tmp_path / "out")
    assert program.is_right(found), json.dumps(found, indent=2)


def test_every_jvm_knows_what_makes_a_failure_frequent(jdk: Jdk) -> None:
    for provocation in provocations.ALL:
        options = [option for option in provocation.jvm_options if "IgnoreUnrecognized" not in option]
        done = run([jdk.java, *options, "-version"])
        assert done.returncode == 0, done.stderr


def test_every_bug_of_the_gallery_says_what_it_lacks() -> None:
    assert {name: bool(program.answers) for name, program in PROGRAMS.items()} == {
        name: not name.startswith("decoys.") for name in PROGRAMS
    }
    assert PROGRAMS["bugs.SleepyWorker"].answers == (
        frozenset({"bugs.SleepyWorker.asleep", "bugs.SleepyWorker.requests"}),
    )
    assert len(PROGRAMS["bugs.TornPair"].answers) == 2


def test_a_finding_of_the_gallery_is_judged_by_what_the_program_lacks() -> None:
    def judged(name: str, *fields: str, verdict: str = "found") -> bool:
        cure = [{"name": f"{name}.{field}"} for field in fields]
        return bool(PROGRAMS[name].is_right({"verdict": verdict, "cure": cure}))

    assert judged("bugs.StoppingFlag", "stopping")
    assert not judged("bugs.StoppingFlag", "reports")
    assert not judged("bugs.StoppingFlag", "stopping", "reports")
    assert not judged("bugs.StoppingFlag", verdict="not a missing volatile")
    besides = {"more": [{"name": "bugs.TornPair.version"}]}
    torn = {"verdict": "found", "cure": [{"name": "bugs.TornPair.right"}]}
    assert not PROGRAMS["bugs.TornPair"].is_right(torn)
    assert PROGRAMS["bugs.TornPair"].is_right({**torn, "model": besides})
    assert judged("bugs.PetersonsLock", "turn", "wants1")
    assert not judged("bugs.PetersonsLock", "turn", "inside")
    assert judged("decoys.Deadlock", verdict="not a missing volatile")
    assert not judged("decoys.LostUpdates", "count")


@deep
def test_a_program_of_the_gallery_that_does_not_exist_is_named() -> None:
    done = run([sys.executable, ROOT / "ordering/gallery/gallery.py", "bugs.Nothing"])
    assert done.returncode == 2
    assert done.stderr.startswith("gallery.py: no program bugs.Nothing; there are: bugs.ApplicationId, ")
