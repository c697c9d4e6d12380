"""What is said of a graft, from its section of the summaries (docs/formats.md, section 2).

The commands ask every graft of the table in turn, and know none by name.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from memgraft.formats import JvmSummary
    from memgraft.grafts.selection import Selection

Row = tuple[str, str]
"""What, and how much."""


class Section:
    """That of a graft of which nothing is said; the others override what they need.

    A JVM that the graft did not join has nothing to say, and is left out.
    """

    def in_words(self, jvm: "JvmSummary") -> str:
        """What follows a JVM's name on its line."""
        del jvm
        return ""

    def lines(self, jvm: "JvmSummary") -> Iterable[str]:
        """The lines after that."""
        del jvm
        return ()

    def table(self, jvms: Sequence["JvmSummary"]) -> "Table | None":
        """Of several JVMs: a row for each."""
        del jvms
        return None

    def warnings(self, jvms: Sequence["JvmSummary"], selection: "Selection") -> Iterable[str]:
        """What a reader of these numbers must know."""
        del jvms, selection
        return ()

    def unsound(self, jvm: "JvmSummary") -> str:
        """What makes the run worth nothing."""
        del jvm
        return ""

    def rows(self, launches: Sequence[Sequence["JvmSummary"]]) -> list[Row]:
        """Of the launches of one side of a comparison: per launch, as median with range or 95 % interval."""
        del launches
        return []

    def derived(self, jvm: "JvmSummary") -> dict[str, Any]:
        """What follows from the section, for --json."""
        del jvm
        return {}


def of_jvm(jvm: "JvmSummary") -> tuple[str, str, str]:
    """The first columns of a table: process, program, JVM."""
    # Without the build and the distributor: a table is narrow, and --json has it all.
    version = f"{jvm.jvm.version.partition('+')[0]}, {jvm.jvm.collector}"
    return str(jvm.pid), jvm.program.split(" ")[0] or "?", version
