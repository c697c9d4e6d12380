"""What follows from the summaries that agents left, or did not leave."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError, writing_to
from memgraft.formats import JvmSummary
from memgraft.grafts.table import sections
from memgraft.jvm import launch

SUMMARY_BYTES = 4096
"""More than an agent writes when a graft takes."""


def refusal_of(jvms: Sequence[JvmSummary]) -> MemgraftError | None:
    """The first refusal, as the error it is."""
    for jvm in jvms:
        if jvm.state == "refused":
            if jvm.refusal is None:
                return CannotTakeError(f"the JVM {jvm.jvm} (process {jvm.pid}) refused the graft and did not say why")
            kind = WrongUsageError if jvm.refusal.exit_code == WrongUsageError.exit_code else CannotTakeError
            return kind(jvm.refusal.message)
    return None


def unsound_of(jvms: Sequence[JvmSummary]) -> MemgraftError | None:
    """What makes the run worth nothing, such as code that the graft did not reach."""
    for jvm in jvms:
        for section in sections().values():
            if unsound := section.unsound(jvm):
                return CannotTakeError(f"{jvm.jvm}: {unsound}")
    return None


def require_space(folder: Path) -> None:
    """Raises the system's error where no summary could have been written: a full disk is no unreached JVM."""
    probe = folder / "space"
    with writing_to(folder):
        probe.write_bytes(bytes(SUMMARY_BYTES))
    probe.unlink()


def unreached_error(command: Sequence[str], joined: launch.Joining) -> MemgraftError:
    """For a command that succeeded without any JVM having loaded the agent."""
    other = launch.Via.TOOL if joined.variable == launch.JDK_JAVA_OPTIONS else launch.Via.JDK
    return WrongUsageError(
        f"no JVM that '{command[0]}' started could be reached by {joined.variable}: expected a command that starts "
        f"java; if it does start java, it sets or clears that variable itself: try --via {other.value}"
    )


def joined_as_json(joined: launch.Joining) -> dict[str, Any] | None:
    """What was added to the program's environment; null where nothing was."""
    return {"variable": joined.variable, "options": list(joined.options)} if joined.variable else None


def jvm_as_json(jvm: JvmSummary) -> dict[str, Any]:
    """Format 2 and what follows from it."""
    fields = jvm.model_dump(by_alias=True, exclude_none=True)
    fields["cpu_utilisation"] = jvm.cpu_utilisation
    for name, section in sections().items():
        if derived := section.derived(jvm):
            fields["grafts"][name] |= derived
    return fields
