"""`memgraft run --suggest-relaxed N`: the methods in which a program spends most time, by the JVM's own profiler.

As L. Liu chose methods to relax (dissertation 2020, section 3.4.1.4). JDK Flight Recorder samples every JVM of the run;
a sample counts for the method whose code was running, also where that was inlined into another.
"""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraft.errors import CannotTakeError
from memgraft.words import percent

COMPILED = ("JIT compiled", "Inlined")
"""Samples of the interpreter say nothing: it keeps everything in order."""
JDK_PACKAGES = ("java.", "javax.", "jdk.", "sun.", "com.sun.")
NAMEABLE = re.compile(r"[\w$.<>]+\(\S*\)\S+")
"""What a line of `--relaxed` can say; hidden classes have names of the moment."""


@dataclass(frozen=True)
class Suggestion:
    """A method, and its share of all samples."""

    method: str
    share: float

    @property
    def of_jdk(self) -> bool:
        return self.method.startswith(JDK_PACKAGES)

    def as_json(self) -> dict[str, Any]:
        return {"method": self.method, "share": self.share, "of_jdk": self.of_jdk}


def jvm_options(folder: Path) -> tuple[str, ...]:
    """What makes each JVM leave its recording in the folder when it ends."""
    return (f"-XX:StartFlightRecording=settings=profile,dumponexit=true,filename={folder}", "-Xlog:jfr+startup=error")


def suggestions(folder: Path, count: int, homes: Iterable[Path]) -> list[Suggestion]:
    """The `count` hottest methods of the recordings in `folder`; CannotTakeError where they cannot be read."""
    recordings = sorted(folder.glob("*.jfr"))
    if not recordings:
        raise CannotTakeError(
            "no method can be suggested: expected a recording of JDK Flight Recorder from the program's JVM; found "
            "none: the JVM was killed, or was built without the module jdk.jfr"
        )
    tool = reader(homes)
    samples: Counter[str] = Counter()
    for recording in recordings:
        samples.update(_methods(_events(tool, recording)))
    return hottest(samples, count)


def hottest(samples: Counter[str], count: int) -> list[Suggestion]:
    """Those with most samples that can be named, hottest first; shares are of all samples."""
    total = samples.total()
    named = [method for method, _ in samples.most_common() if NAMEABLE.fullmatch(method)]
    return [Suggestion(method, samples[method] / total) for method in named[:count]]


def reader(homes: Iterable[Path]) -> Path:
    """`jfr`, which JDKs have and mere runtimes do not."""
    for home in homes:
        tool = home / "bin/jfr"
        if os.access(tool, os.X_OK):
            return tool
    if found := shutil.which("jfr"):
        return Path(found)
    raise CannotTakeError(
        "no method can be suggested: expected the tool jfr of a JDK, to read recordings with; found none on the PATH "
        "nor beside the JVM: put a JDK of the same version or newer on the PATH"
    )


def _events(tool: Path, recording: Path) -> list[dict[str, Any]]:
    options = ["--json", "--events", "jdk.ExecutionSample", "--stack-depth", "1"]
    command = [str(tool), "print", *options, str(recording)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        events: list[dict[str, Any]] = json.loads(done.stdout)["recording"]["events"]
    except (ValueError, KeyError, TypeError):
        reason = next(iter(done.stderr.splitlines()), f"exit code {done.returncode}")
        raise CannotTakeError(
            f"{tool} cannot read {recording.name}: {reason}; use the jfr of the program's JDK"
        ) from None
    return events


def _methods(events: Sequence[dict[str, Any]]) -> list[str]:
    """The running method of each sample, as `--relaxed` names methods."""
    found = []
    for event in events:
        frames = (event["values"].get("stackTrace") or {}).get("frames") or []
        if frames and frames[0]["type"] in COMPILED:
            method = frames[0]["method"]
            owner = method["type"]["name"].replace("/", ".")
            found.append(f"{owner}.{method['name']}{method['descriptor']}")
    return found


def lines(suggested: Sequence[Suggestion]) -> list[str]:
    """The program's own methods, then the JDK's, ready for a file."""
    made = []
    for title, of_jdk in (("of the program", False), ("of the JDK", True)):
        mine = [suggestion for suggestion in suggested if suggestion.of_jdk == of_jdk]
        if mine:
            made.append(f"# {title}: the methods that took most time; relax those that need no order among threads")
            made += [f"{suggestion.method}  # {percent(suggestion.share)}" for suggestion in mine]
    return made
