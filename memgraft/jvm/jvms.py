"""The JVMs of this machine: where they are looked for, what they are, and what each can take."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from memgraft import native
from memgraft.errors import CannotTakeError, WrongUsageError, one_line
from memgraft.formats import GraftCheck, Jvm, JvmCheck, read_check, read_summaries
from memgraft.grafts.table import CHECK, GRAFTS
from memgraft.jvm.launch import agent_option, java_feature, loadable

CHECK_TIMEOUT_SECONDS = 60
SYSTEM_FOLDER = Path("usr/lib/jvm")
SDKMAN_FOLDER = Path(".sdkman/candidates/java")

ARGUMENT = "argument"
JVM_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""What a JVM reads from its environment and would mix with the check's own options."""

NO_NEWS = re.compile(
    r"^(Picked up |NOTE: Picked up |Error: Could not create the Java Virtual Machine|"
    r"Error: A fatal exception has occurred|.*warning: |\s*$)"
)
"""Lines a JVM prints on standard error that do not say why it failed."""


@dataclass
class Java:
    """A `java` executable and everywhere it was found."""

    path: Path
    """The real path."""
    found_in: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Examined:
    """A JVM and what it said about itself; an unknown text is empty."""

    java: Java
    version: str
    vendor: str
    name: str
    collectors: list[str]
    grafts: dict[str, GraftCheck]


def cache_root(environment: Mapping[str, str]) -> Path:
    """Where Memgraft keeps things of its own (XDG Base Directory Specification)."""
    cache = environment.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path(environment.get("HOME", "/")) / ".cache") / "memgraft"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where it keeps JDKs."""
    return cache_root(environment) / "jdks"


def executable_in(path: Path) -> Path | None:
    """The `java` that `path` is, or has as the home of a JDK or JRE."""
    for candidate in (path / "bin" / "java", path):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def discover(arguments: Sequence[str], environment: Mapping[str, str], root: Path = Path("/")) -> list[Java]:
    """Every JVM once, those named as arguments first. `root` stands in for the file system's root in tests."""
    found: dict[Path, Java] = {}

    def add(java: Path | None, where: str) -> None:
        if java is not None:
            entry = found.setdefault(java.resolve(), Java(java.resolve()))
            if where not in entry.found_in:
                entry.found_in.append(where)

    for argument in arguments:
        java = executable_in(Path(argument))
        if java is None:
            raise WrongUsageError(f"'{argument}' is no JVM: expected a java executable or the home of a JDK or JRE")
        add(java, ARGUMENT)
    if home := environment.get("JAVA_HOME"):
        add(executable_in(Path(home)), "JAVA_HOME")
    for folder in environment.get("PATH", "").split(os.pathsep):
        candidate = Path(folder or ".") / "java"
        add(executable_in(candidate) if candidate.is_file() else None, "PATH")
    home_folder = Path(environment.get("HOME", "/"))
    for where, parent in (
        (f"/{SYSTEM_FOLDER}", root / SYSTEM_FOLDER),
        ("SDKMAN", home_folder / SDKMAN_FOLDER),
        ("Memgraft's cache", cache_folder(environment)),
    ):
        for entry in _subfolders(parent):
            add(executable_in(entry), where)
    return list(found.values())


def default_feature(environment: Mapping[str, str]) -> int | None:
    """The feature number of the JDK that a program gets that names none; None where that cannot be told."""
    return next((java_feature(java.path) for java in discover([], environment)), None)


def _subfolders(parent: Path) -> list[Path]:
    try:
        return sorted(entry for entry in parent.iterdir() if entry.is_dir())
    except OSError:
        return []


def examine_all(javas: Sequence[Java]) -> list[Examined]:
    """What each JVM is and can take; several at a time, as each spends its time starting."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(examine, javas))


def examine(java: Java) -> Examined:
    """Starts the JVM with the agent's `check`; where that fails, asks the JVM for its name and version only."""
    try:
        agent = native.find(native.HOTSPOT_AGENT)
    except CannotTakeError as error:
        return _described(java, error.message)
    with tempfile.TemporaryDirectory(prefix="memgraft-check-") as folder:
        summaries = Path(folder)
        needed = dict.fromkeys(option for graft in GRAFTS for option in graft.jvm_options)
        check = agent_option(loadable(agent, summaries), [CHECK.told()], summaries)
        failure, _ = _ask(java.path, [*needed, check, "-version"])
        try:
            checked = read_check(summaries)
            # What concerns the whole JVM (symbols stripped, say) is refused as at any other start.
            refusals = [summary.refusal.message for summary in read_summaries(summaries) if summary.refusal]
        except CannotTakeError as error:
            return _described(java, error.message)
    if checked is None:
        reasons = (*refusals, failure, "it started, but did not load the agent")
        return _described(java, next(filter(None, reasons)))
    return _checked(java, checked)


def _checked(java: Java, check: JvmCheck) -> Examined:
    return Examined(
        java=java,
        version=check.jvm.version,
        vendor=check.jvm.vendor,
        name=check.jvm.name,
        collectors=check.collectors,
        grafts=check.grafts,
    )


def identify(java: Path) -> Jvm | None:
    """Which JVM this is by its own properties, without loading anything into it; None if it is none."""
    _, output = _ask(java, ["-XshowSettings:properties", "-version"])
    properties = dict(re.findall(r"^\s+([\w.]+) = (.*)$", output, re.MULTILINE))
    version = properties.get("java.vm.version") or properties.get("java.version")
    if not version:
        return None
    feature = re.search(r"\d+", properties.get("java.version", "").removeprefix("1."))
    return Jvm(
        version=version,
        feature=int(feature.group()) if feature else 0,
        vendor=properties.get("java.vm.vendor", ""),
        name=properties.get("java.vm.name", ""),
    )


def _described(java: Java, reason: str) -> Examined:
    """A JVM that could not be checked: what it says of itself, and no graft for `reason`."""
    jvm = identify(java.path)
    return Examined(
        java=java,
        version=jvm.version if jvm else "",
        vendor=jvm.vendor if jvm else "",
        name=jvm.name if jvm else "",
        collectors=[],
        grafts={graft.name: GraftCheck(available=False, reason=reason) for graft in GRAFTS},
    )


def _ask(java: Path, options: Sequence[str]) -> tuple[str, str]:
    """Runs a JVM: why it failed (empty if it did not), and what it printed on standard error."""
    environment = {name: value for name, value in os.environ.items() if name not in JVM_VARIABLES}
    try:
        done = subprocess.run(
            [java, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=CHECK_TIMEOUT_SECONDS,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {CHECK_TIMEOUT_SECONDS} s", ""
    except OSError as error:
        return f"it cannot be started: {os.strerror(error.errno or 0)}", ""
    if done.returncode == 0:
        return "", done.stderr
    # HotSpot prints errors of its own start on standard output ("Error occurred during initialization of VM").
    lines = [*done.stderr.splitlines(), *done.stdout.splitlines()]
    return first_useful(lines) or f"it ended with exit code {done.returncode}", done.stderr


def first_useful(lines: Iterable[str]) -> str:
    """The first line that says why a JVM did not start."""
    return next((one_line(line).removeprefix("Error: ") for line in lines if not NO_NEWS.match(line)), "")
