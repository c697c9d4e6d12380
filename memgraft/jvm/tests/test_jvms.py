"""Where JVMs are looked for, and what they say of themselves."""

import json
import os
import sys
from pathlib import Path

import pytest

from memgraft import native
from memgraft.errors import WrongUsageError
from memgraft.jvm import jvms
from memgraft.tests.test_formats import REFUSED

PROPERTIES = """Property settings:
    java.vendor = Fake Vendor
    java.version = 11.0.2
    java.vm.name = Fake VM
    java.vm.vendor = Fake Vendor
    java.vm.version = 11.0.2+9

openjdk version "11.0.2"
"""

CHECK = """{"schema": 1, "kind": "jvm-check", "collectors": ["Serial", "Z"],
 "jvm": {"version": "17.0.1+1", "feature": 17, "vendor": "V", "name": "N", "libjvm": "/l", "collector": null},
 "grafts": {"zeroing": {"available": true, "reason": "joins Serial", "collectors": {
   "Serial": {"available": true, "reason": "every joint found"}, "Z": {"available": false, "reason": "no"}}}}}"""


def home(folder: Path, script: str = "exit 1") -> Path:
    """A JDK whose java is a shell script."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return folder


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A JVM that says what it is, and whose start with the agent fails as one without ZeroTLAB does."""
    (tmp_path / "properties").write_text(PROPERTIES)
    script = f"""case "$*" in
      *-agentpath*) echo "Picked up JAVA_TOOL_OPTIONS: x" >&2; echo "Unrecognized VM option 'ZeroTLAB'" >&2
                    echo "Error: Could not create the Java Virtual Machine." >&2; exit 1;;
      *-XshowSettings*) cat {tmp_path}/properties >&2;;
    esac"""
    return home(tmp_path / "described", script)


class TestDiscovery:
    def environment(self, root: Path, **variables: str) -> dict[str, str]:
        return {"HOME": str(root / "home"), "PATH": "", **variables}

    def found(self, root: Path, *arguments: str, **variables: str) -> list[tuple[str, list[str]]]:
        javas = jvms.discover(arguments, self.environment(root, **variables), root)
        return [(str(java.path.parent.parent.relative_to(root)), java.found_in) for java in javas]

    def test_everywhere_it_is_looked_for(self, tmp_path: Path) -> None:
        home(tmp_path / "asked")
        home(tmp_path / "java_home")
        home(tmp_path / "on_path")
        home(tmp_path / "usr/lib/jvm/system")
        home(tmp_path / "home/.sdkman/candidates/java/17-tem")
        home(tmp_path / "home/.cache/memgraft/jdks/temurin-21")
        found = self.found(
            tmp_path,
            str(tmp_path / "asked"),
            JAVA_HOME=str(tmp_path / "java_home"),
            PATH=f"{tmp_path}/none:{tmp_path}/on_path/bin",
        )
        assert found == [
            ("asked", ["argument"]),
            ("java_home", ["JAVA_HOME"]),
            ("on_path", ["PATH"]),
            ("usr/lib/jvm/system", ["/usr/lib/jvm"]),
            ("home/.sdkman/candidates/java/17-tem", ["SDKMAN"]),
            ("home/.cache/memgraft/jdks/temurin-21", ["Memgraft's cache"]),
        ]

    def test_each_once_with_every_place(self, tmp_path: Path) -> None:
        real = home(tmp_path / "usr/lib/jvm/jdk-17")
        (tmp_path / "usr/lib/jvm/default").symlink_to(real)
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/java").symlink_to(real / "bin/java")
        found = self.found(tmp_path, JAVA_HOME=str(tmp_path / "usr/lib/jvm/default"), PATH=f"{tmp_path}/bin")
        assert found == [("usr/lib/jvm/jdk-17", ["JAVA_HOME", "PATH", "/usr/lib/jvm"])]

    def test_an_executable_or_a_home(self, tmp_path: Path) -> None:
        jdk = home(tmp_path / "jdk")
        assert self.found(tmp_path, str(jdk), str(jdk / "bin/java")) == [("jdk", ["argument"])]

    def test_xdg_cache(self, tmp_path: Path) -> None:
        home(tmp_path / "cache/memgraft/jdks/x")
        found = self.found(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert found == [("cache/memgraft/jdks/x", ["Memgraft's cache"])]

    def test_what_is_no_jvm_is_skipped(self, tmp_path: Path) -> None:
        (tmp_path / "usr/lib/jvm/.java-17.jinfo").mkdir(parents=True)
        (tmp_path / "usr/lib/jvm/file").touch()
        (tmp_path / "bin/java").mkdir(parents=True)
        (tmp_path / "usr/lib/jvm/dangling").symlink_to(tmp_path / "nowhere")
        assert self.found(tmp_path, PATH=f"{tmp_path}/bin", JAVA_HOME=str(tmp_path / "gone")) == []

    def test_an_argument_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="is no JVM: expected a java executable or the home"):
            self.found(tmp_path, str(tmp_path))


class TestExamine:
    @pytest.fixture(autouse=True)
    def _agent(self, natives: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(native, "FOLDER", natives)

    def test_a_jvm_that_checks_itself(self, tmp_path: Path) -> None:
        # A JVM with the agent: writes the check into the folder that the agent option names.
        script = f"""{sys.executable} - "$@" <<'END'
import sys
from pathlib import Path
from urllib.parse import unquote
agent = next(a for a in sys.argv if a.startswith("-agentpath:"))
assert "-XX:+ZeroTLAB" in sys.argv and "=check,summary=" in agent
Path(unquote(agent.partition("summary=")[2]), "check-1-1.json").write_text('''{CHECK}''')
END"""
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", script) / "bin/java"))
        assert (examined.version, examined.vendor, examined.name) == ("17.0.1+1", "V", "N")
        assert examined.collectors == ["Serial", "Z"]
        assert examined.grafts["zeroing"].available

    def test_one_that_refuses_the_options_says_why(self, described: Path) -> None:
        examined = jvms.examine(jvms.Java(described / "bin/java"))
        assert (examined.version, examined.vendor, examined.name) == ("11.0.2+9", "Fake Vendor", "Fake VM")
        assert not examined.grafts["zeroing"].available
        assert examined.grafts["zeroing"].reason == "Unrecognized VM option 'ZeroTLAB'"

    def test_one_that_ignores_the_agent(self, tmp_path: Path) -> None:
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", "exit 0") / "bin/java"))
        assert examined.grafts["zeroing"].reason == "it started, but did not load the agent"
        assert examined.version == ""

    def test_one_that_refuses_as_a_whole(self, tmp_path: Path) -> None:
        refused = json.dumps(REFUSED)
        script = f"""for a in "$@"; do case "$a" in -agentpath*)
          printf '%s' '{refused}' > "${{a##*summary=}}/jvm-1-1.json"; exit 3;; esac; done"""
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", script) / "bin/java"))
        assert examined.grafts["zeroing"].reason == REFUSED["refusal"]["message"]

    def test_one_that_hangs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jvms, "CHECK_TIMEOUT_SECONDS", 0.2)
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", "exec sleep 60") / "bin/java"))
        assert "did not answer within" in examined.grafts["zeroing"].reason

    def test_garbage_instead_of_a_check(self, tmp_path: Path) -> None:
        script = 'for a in "$@"; do case "$a" in -agentpath*) echo "{" > "${a##*summary=}/check-1-1.json";; esac; done'
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", script) / "bin/java"))
        assert "cannot be read" in examined.grafts["zeroing"].reason

    def test_options_of_the_caller_do_not_reach_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in jvms.JVM_VARIABLES:
            monkeypatch.setenv(variable, "-Dx=y")
        script = "env | grep -c -e " + " -e ".join(jvms.JVM_VARIABLES) + " >&2; exit 1"
        examined = jvms.examine(jvms.Java(home(tmp_path / "jdk", script) / "bin/java"))
        assert examined.grafts["zeroing"].reason == "0"

    def test_without_the_agent_every_jvm_is_still_listed(
        self, described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(native, "FOLDER", tmp_path / "nothing")
        examined = jvms.examine(jvms.Java(described / "bin/java"))
        assert examined.version == "11.0.2+9"
        assert "make build" in examined.grafts["zeroing"].reason


def test_identify(described: Path) -> None:
    jvm = jvms.identify(described / "bin/java")
    assert jvm is not None
    assert (jvm.version, jvm.feature, jvm.collector) == ("11.0.2+9", 11, None)
    assert jvms.identify(Path("/bin/true")) is None


@pytest.mark.parametrize(
    ("lines", "useful"),
    [
        (["Picked up JAVA_TOOL_OPTIONS: -X", "Error: bad", "more"], "bad"),
        (
            ["OpenJDK 64-Bit Server VM warning: Option X was deprecated", "", "Could not find agent library"],
            "Could not",
        ),
        (["NOTE: Picked up JDK_JAVA_OPTIONS: x"], ""),
        ([], ""),
    ],
)
def test_first_useful_line(lines: list[str], useful: str) -> None:
    assert jvms.first_useful(lines).startswith(useful)
    assert bool(jvms.first_useful(lines)) == bool(useful)


def test_a_home_that_cannot_be_listed(tmp_path: Path) -> None:
    locked = tmp_path / "usr/lib/jvm"
    locked.mkdir(parents=True)
    locked.chmod(0)
    try:
        assert jvms.discover([], {"PATH": "", "HOME": os.devnull}, tmp_path) == []
    finally:
        locked.chmod(0o755)
