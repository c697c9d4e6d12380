"""Runs clang-tidy over the C++ sources that a build knows, as many at a time as there are processors.

    tidy.py BUILD          all sources
    tidy.py BUILD COMMIT   those that have changed since COMMIT, or that include what has

A source without findings is not looked at again until it, a header that it includes, its compiler options or the
checks change: ${XDG_CACHE_HOME:-~/.cache}/memgraft/tidy remembers that by their contents.

Clang's static analyzer, which takes most of the time, walks fewer of a function's paths than it would by itself; with
MEMGRAFT_DEEP set (make test-deep AREA=native) it walks all that it would.

Not over tests: the headers of GoogleTest alone cost it half a minute a file, and the compilers' warnings are errors
there too.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = Path(sys.executable).parent / "clang-tidy"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memgraft/tidy"
CACHE_SECONDS = 30 * 24 * 3600
DEEP = "MEMGRAFT_DEEP" in os.environ
FEWER_PATHS = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=75000")]
"""A third of what the analyzer takes by itself for one function: half of the time."""


@dataclass(frozen=True)
class Source:
    """A source file of this repository, how it is compiled, and all files that are read for that."""

    file: Path
    command: str
    reads: frozenset[Path]
    """Itself and every header; empty where it has not been built."""

    @property
    def name(self) -> str:
        return str(self.file.relative_to(ROOT))


def sources_of(build: Path) -> list[Source]:
    commands = json.loads((build / "compile_commands.json").read_text())
    headers = headers_by_object(build)
    found: dict[Path, Source] = {}
    for command in commands:
        folder = Path(command["directory"])
        file = Path(folder, command["file"]).resolve()
        if not file.is_relative_to(ROOT) or file.suffix != ".cpp" or "tests" in file.parts:
            continue
        words = shlex.split(command["command"])
        output = words[words.index("-o") + 1]
        reads = frozenset(Path(folder, name).resolve() for name in headers.get(output, ()))
        found[file] = Source(file, command["command"], reads)
    return [found[file] for file in sorted(found)]


def headers_by_object(build: Path) -> dict[str, list[str]]:
    """What the compiler has read for each object file."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in listed.splitlines():
        if line.startswith("    "):
            names.append(line.strip())
        elif ": #deps" in line:
            names = found[line.partition(": #deps")[0]] = []
    return found


@functools.cache
def content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def key(source: Source) -> str | None:
    """Everything that the findings depend on; None where that is not known."""
    if not source.reads:
        return None
    parts = [tidy_version(), content(ROOT / ".clang-tidy"), source.command.replace(str(ROOT), ".")]
    # Sorted by what is the same in every clone.
    parts += sorted(f"{str(file).replace(str(ROOT), '.')} {content(file)}" for file in source.reads)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def tidy_version() -> str:
    return subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout


def changed_since(commit: str) -> set[Path]:
    commands = (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"])
    changed = set()
    for words in commands:
        listed = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            sys.exit(f"tidy.py: {commit}: expected a commit: {listed.stderr.strip()}")
        changed |= {ROOT / name for name in listed.stdout.splitlines()}
    return changed


def remembered(key: str, deep: bool) -> Path:
    return CACHE / (key if deep else f"{key}-fewer-paths")


def is_known(key: str | None) -> bool:
    """What has been looked at deeply is known to both; what has not, to the gate alone."""
    return key is not None and (remembered(key, True).exists() or (not DEEP and remembered(key, False).exists()))


def tidy(build: Path, source: Source) -> tuple[Source, str]:
    """What clang-tidy finds in it: nothing, if all is well."""
    command = [TIDY, "-p", build, "--quiet", *([] if DEEP else FEWER_PATHS), source.file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return source, f"{done.stdout}{done.stderr}" if done.returncode != 0 else ""


def main() -> int:
    build, *base = sys.argv[1:] or [""]
    if len(base) > 1 or not Path(build, "compile_commands.json").is_file():
        sys.exit(f"tidy.py: {sys.argv[1:]}: expected a build folder with compile_commands.json, and perhaps a commit")
    return check(Path(build), base[0] if base else None)


def check(build: Path, base: str | None) -> int:
    sources = sources_of(build)
    if base:
        changed = changed_since(base)
        if ROOT / ".clang-tidy" not in changed:
            sources = [source for source in sources if not changed.isdisjoint(source.reads | {source.file})]
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.iterdir():
        if old.stat().st_mtime < time.time() - CACHE_SECONDS:
            old.unlink(missing_ok=True)
    keys = {source: key(source) for source in sources}
    new = [source for source in sources if not is_known(keys[source])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, findings in pool.map(lambda source: tidy(build, source), new):
            if findings:
                failed += 1
                print(f"{source.name}:\n{findings}")
            elif keys[source] is not None:
                remembered(str(keys[source]), DEEP).touch()
    print(f"clang-tidy: {len(sources)} files, {len(sources) - len(new)} of them known, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
