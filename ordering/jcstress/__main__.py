"""Runs jcstress's samples and judges their outcomes; bin/jcstress finds Java and what jcstress needs."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ordering.jcstress import results, samples

MODES = ("sanity", "quick", "default", "tough", "stress")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="jcstress", add_help=False, allow_abbrev=False)
    parser.add_argument("--java", type=Path, required=True)
    parser.add_argument("--class-path", required=True)
    parser.add_argument("--jvm", action="append", default=[])
    parser.add_argument("--tests", default="*")
    parser.add_argument("--mode", choices=MODES, default="quick")
    parser.add_argument("--forks", type=int, default=1)
    parser.add_argument("--unsplit", action="store_true")
    parser.add_argument("--expect", choices=("sc", "reordered"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args(arguments)
    names = samples.matching(asked.tests)
    if not names:
        parser.error(f"--tests {asked.tests}: no such sample; --list lists them")
    if asked.list:
        print(*names, sep="\n")
        return 0
    command = [asked.java, "-cp", asked.class_path, "org.openjdk.jcstress.Main", "-v"]
    command += ["-m", asked.mode, "-f", str(asked.forks)]
    command += ["-t", "|".join(f"{re.escape(samples.PREFIX + name)}$" for name in names)]
    if asked.unsplit:
        command += ["-sc", "false"]
    if asked.jvm:
        command += ["-jvmArgsPrepend", " ".join(asked.jvm)]
    # jcstress leaves files where it is started.
    with tempfile.TemporaryDirectory(prefix="jcstress-") as folder:
        done = subprocess.run(command, check=False, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        tests = results.read(done.stdout)
    except results.ReadError as error:
        print(done.stdout, end="", file=sys.stderr)
        print(f"jcstress: {error} (exit code {done.returncode})", file=sys.stderr)
        return 1
    if asked.json:
        for test in tests:
            print(json.dumps(test.as_json()))
    else:
        print(*results.lines(tests), sep="\n")
    wrong = list(results.complaints(tests, names, asked.expect, samples.SEEN_REORDERED))
    for line in wrong:
        print(f"jcstress: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
