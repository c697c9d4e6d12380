"""Stands in for memgraft-zero-bench: prints planted speeds as Google Benchmark does, and obeys a table.

Its one argument of its own, in front, is a JSON file: {"speeds": {"KERNEL/MODE/THREADS": speed or {BYTES: speed}},
"sizes": [...], "by_table": {...}}; `by_table` replaces speeds where a table is in force, as if the machine had changed.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

NOISE = 0.002
DEFAULT = "memset"


def value(arguments: list[str], option: str) -> str | None:
    return next((a.removeprefix(option) for a in arguments if a.startswith(option)), None)


def looked_up(table: Path | None, mode: str, threads: int, size: int) -> str:
    found = DEFAULT
    for line in table.read_text().splitlines()[2:] if table else []:
        if line.startswith("#"):
            continue
        row_mode, row_threads, from_bytes, kernel = line.split(" ")
        if (row_mode, int(row_threads)) == (mode, threads) and int(from_bytes) <= size:
            found = kernel
    return found


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    arguments = sys.argv[2:]
    with Path(sys.argv[1]).with_name("asked").open("a") as asked:
        asked.write(" ".join(arguments) + "\n")
    named = value(arguments, "--memgraft_table=")
    table = Path(named) if named else None
    largest = int(value(arguments, "--memgraft_largest=") or 1 << 62)
    repetitions = int(value(arguments, "--benchmark_repetitions=") or 1)
    speeds: dict[str, Any] = {**plan["speeds"], **(plan.get("by_table", {}) if table else {})}

    def speed(kernel: str, mode: str, threads: int, size: int) -> float:
        planted = speeds[f"{kernel}/{mode}/{threads}"]
        return float(planted[str(size)] if isinstance(planted, dict) else planted)

    noise = random.Random(len(named or ""))  # noqa: S311  the same each time
    rows = [{"run_name": "zero/lookup", "run_type": "iteration", "cpu_time": 1.5}]
    for series in [*speeds, *(f"calibrated/{s.split('/', 1)[1]}" for s in speeds if s.startswith(f"{DEFAULT}/"))]:
        kernel, mode, threads = series.split("/")
        for size in plan["sizes"]:
            if size > largest:
                continue
            really = looked_up(table, mode, int(threads), size) if kernel == "calibrated" else kernel
            name = f"zero/{kernel}/{mode}/{size}" + (f"/threads:{threads}" if threads != "1" else "")
            for _ in range(repetitions):
                fast = speed(really, mode, int(threads), size) * noise.uniform(1 - NOISE, 1 + NOISE)
                row = {"run_name": name, "run_type": "iteration", "bytes_per_second": fast * 1e9}
                rows.append(row | ({"label": really} if kernel == "calibrated" else {}))
    context = {"cpu": "fake", "streamed_bytes": "1048576", "late_bytes": "4096", "chosen_ordinary": "avx2"}
    json.dump({"context": {**context, "chosen_non_temporal": "non-temporal-64"}, "benchmarks": rows}, sys.stdout)


if __name__ == "__main__":
    main()
