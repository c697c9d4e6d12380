"""What was measured of a program, kept for `run --zeroing adaptive`.

Whether compiled code zeroes its objects itself is settled when a JVM starts, so adaptive zeroing cannot go back to the
stock's own way later. It must know before: from the profile that `compare` and `zero bound` keep of each program.

Joining has its price: compiled code can no longer leave out the clearing of what it fills at once. So a run joins only
where some strategy was measured to be a gain.

A profile is one small JSON file, found by what is known before a JVM runs: the command, the java it will find, the JVM
options in the environment, and the CPU. Whoever changes one of them has another program to measure. The collector is
part of that: it follows from them.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, ValidationError

from memgraft import machine, screen
from memgraft.formats import why
from memgraft.formats.format import Format
from memgraft.jvm.jvms import JVM_VARIABLES, cache_root
from memgraft.jvm.launch import is_java_launcher
from memgraft.version import version
from memgraft.words import change, percent

SCHEMA = 1
BOUND = "pause"
"""The instrument of the bound, in the place of a strategy."""
ADAPTIVE = "adaptive"
CANDIDATES = ("windows", "bulk", "non-temporal")
"""What adaptive chooses among on any collector; all of them measured stand for adaptive itself."""
WORTH = 0.01
"""A gain that is no longer worth a thought: what ten quiet pairs of launches can just tell from nothing."""


class Ratio(Format):
    """A median with its 95 % interval."""

    median: PositiveFloat
    low: PositiveFloat
    high: PositiveFloat


class Measurement(Format):
    """One comparison with the stock."""

    strategy: str
    window: str | None = None
    date: str
    """ISO 8601."""
    memgraft: str
    metric: str
    ratio: Ratio
    verdict: Literal["faster", "slower", "not resolved"]
    pairs: int
    collectors: list[str]
    direct_cost: NonNegativeFloat | None = None

    def __str__(self) -> str:
        name = "the bound" if self.strategy == BOUND else self.strategy
        ratio = f"{self.ratio.median:.3f} [{self.ratio.low:.3f}, {self.ratio.high:.3f}]"
        return f"{name} {ratio} {self.verdict} ({self.date[:10]})"


class Profile(Format):
    """What was measured of one program; one entry per strategy, the newest."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["profile"]
    fingerprint: dict[str, Any]
    measurements: list[Measurement]

    def of(self, strategy: str) -> Measurement | None:
        return next((m for m in self.measurements if m.strategy == strategy), None)


@dataclass(frozen=True)
class Kept:
    """The stock's own hot path kept instead of adaptive zeroing, and why."""

    reason: str
    measurements: list[Measurement]
    file: Path

    def as_json(self) -> dict[str, Any]:
        measurements = [m.model_dump() for m in self.measurements]
        return {"kept": "hot-path", "reason": self.reason, "measurements": measurements, "file": str(self.file)}


def fingerprint(command: Sequence[str], program: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """What tells this program on this machine from others, before it runs."""
    return {
        "command": [str(program.resolve()), *command[1:]],
        "java": _java(program, environment),
        "jvm_options": {name: environment[name] for name in JVM_VARIABLES if environment.get(name)},
        "cpu": machine.cpu_name() or machine.cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
    }


def _java(program: Path, environment: Mapping[str, str]) -> str:
    """The version and vendor of the java that the command is or will most likely find; its path without `release`."""
    if is_java_launcher(program):
        java: Path | None = program
    elif home := environment.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
    else:
        found = shutil.which("java", path=environment.get("PATH"))
        java = Path(found) if found else None
    if java is None:
        return ""
    real = java.resolve()
    try:
        text = (real.parent.parent / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return str(real)
    fields = dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))
    version = fields.get("JAVA_RUNTIME_VERSION") or fields.get("JAVA_VERSION")
    return f"{version} {fields.get('IMPLEMENTOR', '')}".strip() if version else str(real)


def file_of(key: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return cache_root(environment) / "profiles" / f"{digest[:32]}.json"


def read(file: Path) -> Profile | None:
    """The profile; one that cannot be read is left out with a line about it, and replaced by the next measurement."""
    try:
        return Profile.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = why(error) if isinstance(error, ValidationError) else error.strerror
        screen.say(f"warning: the profile {file} cannot be read ({reason}) and is ignored; delete it, or measure again")
        return None


def profile_of(command: Sequence[str], program: Path, environment: Mapping[str, str]) -> tuple[Path, Profile | None]:
    file = file_of(fingerprint(command, program, environment), environment)
    return file, read(file)


def record(
    command: Sequence[str], program: Path, environment: Mapping[str, str], result: Mapping[str, Any]
) -> Path | None:
    """Keeps what a comparison with the stock found (its JSON); None where it cannot be written, which is no failure."""
    figures = result["graft"]["zeroing"]
    measured = Measurement(
        strategy=result["grafts"]["zeroing"],
        window=result["grafts"].get("window"),
        date=result["started"],
        memgraft=version(),
        metric=result["metric"],
        ratio=Ratio(**result["ratio"]),
        verdict=result["verdict"],
        pairs=result["launches"]["grafted"],
        collectors=sorted({jvm["collector"] for jvm in result["jvms"] if jvm["collector"]}),
        direct_cost=figures.get("direct_cost"),
    )
    key = fingerprint(command, program, environment)
    file = file_of(key, environment)
    try:
        known = read(file)
        others = [m for m in known.measurements if m.strategy != measured.strategy] if known else []
        profile = {
            "schema": SCHEMA,
            "kind": "profile",
            "fingerprint": key,
            "measurements": [m.model_dump() for m in (*others, measured)],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        screen.write_file(file, screen.dump(profile))
    except OSError as error:
        screen.say(f"warning: the program's profile could not be kept in {file} ({error.strerror})")
        return None
    return file


def kept(
    command: Sequence[str], program: Path, environment: Mapping[str, str], *, unmeasured: bool = False
) -> Kept | None:
    """Whether, by the program's profile, adaptive zeroing had better leave the stock alone; None: let it join.

    `unmeasured` is whether it joins where the profile settles nothing: a comparison does, which measures just that. A
    plain run does not: so far more programs lose by it than gain, and the stock is what they were tested with.
    """
    file, profile = profile_of(command, program, environment)
    measurements = profile.measurements if profile else []
    if any(m.verdict == "faster" for m in measurements if m.strategy != BOUND):
        return None
    if profile and (settled := _settled(profile, file)):
        return settled
    if unmeasured:
        return None
    reason = "no strategy was measured to be a gain" if measurements else "nothing was measured of this program yet"
    return Kept(f"{reason}; `memgraft compare --zeroing adaptive` measures it", measurements, file)


def _settled(profile: Profile, file: Path) -> Kept | None:
    """Where the profile shows that there is nothing to gain."""
    bound, adaptive = profile.of(BOUND), profile.of(ADAPTIVE)
    if bound is not None and bound.ratio.low > 1 - WORTH:
        gain = max(0.0, 1 - bound.ratio.low)
        return Kept(f"if zeroing cost nothing, the program would gain at most {percent(gain)}", [bound], file)
    if adaptive is not None:
        return Kept(f"adaptive zeroing was measured and is no gain: {_used(adaptive)}", [adaptive], file)
    candidates = [found for name in CANDIDATES if (found := profile.of(name))]
    if len(candidates) == len(CANDIDATES):
        return Kept("every strategy it could choose was measured, and none is a gain", candidates, file)
    return None


def _used(measured: Measurement) -> str:
    return f"the program used between {change(measured.ratio.low)} and {change(measured.ratio.high)}"
