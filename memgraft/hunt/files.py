"""What a hunt leaves in its folder when it ends."""

from collections.abc import Sequence
from pathlib import Path

from memgraft.hunt import page
from memgraft.hunt.finding import Finding
from memgraft.hunt.sarif import sarif
from memgraft.screen import dump, write_file

FINDING = "finding.json"
SARIF = "finding.sarif"
PAGE = "report.html"
PATCH = "fix.patch"


def write(finding: Finding, folder: Path, sources: Sequence[Path]) -> Path:
    """Writes all of it; the page."""
    write_file(folder / FINDING, dump(finding.as_json()))
    write_file(folder / SARIF, dump(sarif(finding, sources, Path.cwd())))
    if finding.patch:
        write_file(folder / PATCH, finding.patch)
    write_file(folder / PAGE, page.render(finding))
    return folder / PAGE
