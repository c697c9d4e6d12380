"""Keeps the folders' dependencies pointing one way, as ARCHITECTURE.md draws them."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HOTSPOT_BASE = {"stocks/hotspot/join", "stocks/hotspot/options", "stocks/hotspot/clocks"}
HOTSPOT_GRAFTS = {"stocks/hotspot/zeroing", "stocks/hotspot/buffers", "stocks/hotspot/ordering"}

# Which folders' headers a folder may include, besides its own. A folder that is not here may not have C++ yet.
MAY_INCLUDE = {
    "units": set(),
    "zeroing": {"units"},
    "zeroing/ahead": {"units", "zeroing", "linux"},
    "allocation": {"units", "linux"},
    "ordering/bench": set(),
    "linux": {"units"},
    "observation": {"linux"},
    "stocks/hotspot/join": {"units"},
    "stocks/hotspot/options": {"stocks/hotspot/join"},
    "stocks/hotspot/clocks": {"units", "linux"},
    "stocks/hotspot/zeroing": {"units", "zeroing", "zeroing/ahead", *HOTSPOT_BASE},
    # Between the zeroing graft and HotSpot.
    "stocks/hotspot/buffers": {"units", "allocation", "linux", *HOTSPOT_BASE, "stocks/hotspot/zeroing"},
    "stocks/hotspot/ordering": HOTSPOT_BASE,
    "stocks/hotspot": {"linux", *HOTSPOT_BASE, *HOTSPOT_GRAFTS},
    "stocks/hotspot/tests": {
        "units",
        "zeroing",
        "allocation",
        "linux",
        "stocks/hotspot",
        *HOTSPOT_BASE,
        *HOTSPOT_GRAFTS,
    },
    "stocks/hotspot/fuzz": {"stocks/hotspot", *HOTSPOT_BASE, *HOTSPOT_GRAFTS},
    "placement": {"units", "linux", "observation"},
    "workloads/native": set(),
    "tests/guest": set(),
    # A stand-in for what is hunted in, compiled by a test.
    "memgraft/hunt/tests": set(),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CPP = {".h", ".c", ".cpp"}


def area_of(file: Path) -> str | None:
    """The most specific folder of MAY_INCLUDE that holds the file (relative to the root)."""
    areas = [area for area in MAY_INCLUDE if file.is_relative_to(area)]
    return max(areas, key=len, default=None)


def header_area(including: Path, name: str) -> str | None:
    """Where an included header lies: beside the including file, or in some folder's public include folder."""
    for area in MAY_INCLUDE:
        if (ROOT / area / "include" / name).is_file():
            return area
    for folder in (including.parent, *including.parents):
        if (ROOT / folder / name).is_file():
            return area_of(folder / name)
    return None


def main() -> int:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    findings = []
    for file in sorted(Path(line) for line in listed.splitlines() if Path(line).suffix in CPP):
        if not (ROOT / file).is_file():
            continue
        area = area_of(file)
        if area is None:
            findings.append(f"{file}: C++ in a folder that checks/dependencies.py does not know; add it to MAY_INCLUDE")
            continue
        for name in INCLUDE.findall((ROOT / file).read_text()):
            target = header_area(file, name)
            if target is not None and target != area and target not in MAY_INCLUDE[area]:
                findings.append(f'{file}: includes "{name}" of {target}/, but {area}/ may only use {MAY_INCLUDE[area]}')
    # The front door runs the native parts and never reads their sources, and no native part knows of it.
    print("\n".join(findings) if findings else "dependencies: one way")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
