"""Runs clang-tidy over the C++ sources that a build knows, as many at a time as there are processors.

    checks/tidy.py BUILD             all of them
    checks/tidy.py BUILD --changed   those that the newest changes (checks/areas.py) reach, by the includes that Ninja
                                     wrote down when it built

Not over tests: the headers of GoogleTest alone cost it half a minute a file, and the compilers' warnings are errors
there too.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import areas

ROOT = Path(__file__).resolve().parent.parent
TIDY = Path(sys.executable).parent / "clang-tidy"
EVERYBODYS = ("*.clang-tidy", "checks/tidy.py", "requirements/development.txt")
"""What decides over every file's findings: settings, and which clang-tidy it is."""


def tidy(build: Path, source: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    command = [TIDY, "-p", build, "--quiet", source]
    return source, subprocess.run(command, capture_output=True, text=True, check=False)


def reached(build: Path, files: Iterable[str]) -> set[Path]:
    """What is compiled from these files, themselves or by what they include."""
    changed = {ROOT / file for file in files}
    found = set(changed)
    printed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for entry in printed.split("\n\n"):
        # "object: #deps ...", then a file a line, relative to the build.
        included = {(build / line.strip()).resolve() for line in entry.splitlines()[1:]}
        if included & changed:
            found |= included
    return found


def chosen(sources: list[Path], build: Path, changes: Iterable[str] | None) -> list[Path]:
    """Those that the changes concern; all of them where the changes are not known."""
    if changes is None or any(fnmatch(file, pattern) for file in changes for pattern in EVERYBODYS):
        return sources
    among = reached(build, changes)
    return [source for source in sources if source in among]


def main() -> int:
    arguments = sys.argv[1:]
    only_changed = "--changed" in arguments[1:]
    if len(arguments) != 1 + only_changed or not Path(arguments[0], "compile_commands.json").is_file():
        print(f"tidy.py: {arguments}: expected a build folder with compile_commands.json", file=sys.stderr)
        return 2
    build = Path(arguments[0]).resolve()
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = sorted({Path(command["directory"], command["file"]).resolve() for command in commands})
    sources = [
        source
        for source in sources
        if source.is_relative_to(ROOT) and source.suffix == ".cpp" and "tests" not in source.parts
    ]
    if only_changed:
        sources = chosen(sources, build, areas.changed_files())
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, result in pool.map(lambda source: tidy(build, source), sources):
            if result.returncode != 0:
                failed += 1
                print(f"{source.relative_to(ROOT)}:\n{result.stdout}{result.stderr}")
    print(f"clang-tidy: {len(sources)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
