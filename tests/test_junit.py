"""`@WeakMemoryTest` in a real build: Maven, Surefire and JUnit, with the example's own project."""

import shutil
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, memgraft
from processes import run
from tiers import deep

EXAMPLE = ROOT / "ordering/example"
JAR = ROOT / "memgraft/native/memgraft-ordering.jar"

SAMPLE = """
package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;
import org.memgraft.ordering.junit.WeakMemoryTest;

class SampleTest {
  private int prepared;

  @BeforeEach
  void prepare() throws Exception {
    prepared++;
    boolean weak =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .anyMatch(word -> word.startsWith("-javaagent:"));
    String who = (weak ? "weak-" : "build-") + ProcessHandle.current().pid();
    Files.writeString(Path.of(System.getProperty("prepared"), who), "");
  }

  @WeakMemoryTest(launches = 0)
  void wrong() {}

  @WeakMemoryTest(launches = 1, seconds = 1)
  void hangs() throws InterruptedException {
    Thread.sleep(Long.MAX_VALUE);
  }

  @WeakMemoryTest(launches = 1, seed = 7, seconds = 240, jvm = "-XX:TieredStopAtLevel=1")
  void fails() {
    System.out.println("a \\"quote\\"");
    fail("no letter");
  }

  @Nested
  class Inner {
    @WeakMemoryTest(launches = 1, seconds = 240, jvm = {"-Dmine=one two", "-XX:TieredStopAtLevel=1"})
    void passes(@TempDir Path folder) {
      assertEquals(1, prepared);
      assertEquals("one two", System.getProperty("mine"));
      assertTrue(Files.isDirectory(folder));
      assertTrue(
          ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
              .anyMatch(word -> word.startsWith("-javaagent:") && word.endsWith("=weak=1")));
    }
  }
}
"""


@dataclass(frozen=True)
class Outcome:
    name: str
    failed: bool
    said: str


def outcomes(project: Path, test: str) -> dict[str, Outcome]:
    """Of all invocations of one class's tests, by the method's name."""
    prepared = project / "prepared"
    prepared.mkdir(exist_ok=True)
    command = ["mvn", "--batch-mode", "--no-transfer-progress", "-f", project / "pom.xml", f"-Dmemgraft.jar={JAR}"]
    done = run(
        [*command, f"-Dtest={test}", f"-Dprepared={prepared}", "-DargLine=-Xmx256m -XX:TieredStopAtLevel=1", "test"]
    )
    reports = list((project / "target/surefire-reports").glob("*.xml"))
    assert reports, done.stdout
    found = {}
    for report in reports:
        for case in ET.parse(report).iter("testcase"):  # noqa: S314 our own build's
            said = "".join(
                f"{wrong.get('message')}\n{wrong.text}" for wrong in case if wrong.tag in {"failure", "error"}
            )
            name = case.get("name", "")
            found[name] = Outcome(name, bool(said), said)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    shutil.copytree(EXAMPLE, made, ignore=shutil.ignore_patterns("target"))
    return made


def test_each_launch_is_a_jvm_with_weak_memory(project: Path) -> None:
    (project / "src/test/java/org/example/SampleTest.java").write_text(SAMPLE)
    found = outcomes(project, "SampleTest*")
    by_method = {name.partition("(")[0]: outcome for name, outcome in found.items()}
    passes = by_method["passes"]
    assert not passes.failed, passes.said
    fails = by_method["fails"].said
    assert "with weak memory (seed 7): org.opentest4j.AssertionFailedError: no letter" in fails
    assert "at org.example.SampleTest.fails(SampleTest.java:" in fails
    assert 'a "quote"' in fails
    hangs = by_method["hangs"].said
    assert "with weak memory (seed 1): did not end within 1 s" in hangs
    wrong = by_method["wrong"].said
    assert "@WeakMemoryTest(launches = 0, seconds = 60): expected 1 or more of each" in wrong
    # Only where the method runs; the one that hangs may not have come so far.
    prepared = [file.name for file in (project / "prepared").iterdir()]
    assert 2 <= len(prepared) <= 3
    assert all(name.startswith("weak-") for name in prepared)


def argument_file(said: str) -> str:
    return next(word for word in said.split() if word.startswith("@") and word.endswith(".args"))


@deep
def test_the_example_fails_without_its_volatile_alone(project: Path, tmp_path: Path) -> None:
    """The dice let a seed in two or so pass, at most: all ten, in one of a thousand builds."""
    found = outcomes(project, "MailboxTest").values()
    weak = [one for one in found if "OnAnyMachine" in one.name]
    [stock] = [one for one in found if one not in weak]
    assert not stock.failed, stock.said
    assert len(weak) == 10
    wrong = [one for one in weak if one.failed]
    assert wrong, "ten launches have passed"
    assert all("there is a letter, and it is not there" in one.said for one in wrong)
    folder = tmp_path / "hunt"
    sources = ["--sources", project / "src/main/java"]
    command = ["java", argument_file(wrong[0].said)]
    done = memgraft("hunt", "--weak", *sources, "--output", folder, "--", *command)
    assert done.returncode == 0, done.stderr
    assert "Missing volatile: org.example.Mailbox.there." in done.stdout
    patched = run(["patch", "-p0", "-d", "/", "-i", folder / "fix.patch"])
    assert patched.returncode == 0, patched.stdout
    assert not any(one.failed for one in outcomes(project, "MailboxTest").values())
