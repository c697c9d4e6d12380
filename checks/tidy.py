"""Runs clang-tidy over the C++ sources that a build knows, as many at a time as there are processors.

Not over tests: the headers of GoogleTest alone cost it half a minute a file, and the compilers' warnings are errors
there too.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = Path(sys.executable).parent / "clang-tidy"


def tidy(build: Path, source: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    command = [TIDY, "-p", build, "--quiet", source]
    return source, subprocess.run(command, capture_output=True, text=True, check=False)


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) != 1 or not Path(arguments[0], "compile_commands.json").is_file():
        print(f"tidy.py: {arguments}: expected a build folder with compile_commands.json", file=sys.stderr)
        return 2
    build = Path(arguments[0])
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = sorted({Path(command["directory"], command["file"]).resolve() for command in commands})
    sources = [
        source
        for source in sources
        if source.is_relative_to(ROOT) and source.suffix == ".cpp" and "tests" not in source.parts
    ]
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
