"""A program that behaves as one with JVMs under it: it reads the variables a JVM reads and leaves its summaries.

Its words are `name=value`: exit=N, signal=N, iterations=N, checksum=TEXT, refuse=CODE, jvms=N, state=running|ended,
missed=N, seconds=S (of a stock iteration), factor=F (grafted over stock), garbage=1, reads=VARIABLE, sleep=S,
stderr=TEXT, collector=NAME, tlabs=N, epochs=N, pause=S (CPU seconds of zeroing 1 MB within pauses), allocated=N (bytes
per iteration).
"""

# Tests launch it a thousand times: it imports as little as it can, and nothing that the hunt's stand-in has, too.
# ruff: noqa: PTH123
from __future__ import annotations

import itertools
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def split(told: str) -> list[str]:
    if "'" not in told and '"' not in told:
        return told.split()
    import shlex

    return shlex.split(told)


def read_path(told: str) -> str:
    """As the agent reads it: what it would take for something else is written `%2C`."""
    if "%" not in told:
        return told
    from urllib.parse import unquote

    return unquote(told)


words = dict(word.split("=", 1) for word in sys.argv[1:])
options = split(os.environ.get(words.get("reads", "JAVA_TOOL_OPTIONS"), ""))
agent = next((option.partition("=")[2] for option in options if option.startswith("-agentpath:")), "")
agent_options = dict(part.split("=", 1) for part in agent.split(",") if "=" in part)
grafted = bool(agent_options)
print("hello from the program")
print(words.get("stderr", ""), file=sys.stderr, flush=True)

jvm = {"version": "17.0.1+1", "feature": 17, "vendor": "Fake", "name": "Fake VM"}
for number in range(int(words.get("jvms", "1")) if grafted else 0):
    summary = {"schema": 1, "kind": "jvm-summary", "state": words.get("state", "ended"), "pid": 4_000_000 + number}
    if "refuse" in words:
        summary |= {"state": "refused", "jvm": jvm}
        summary["refusal"] = {
            "message": "the fake graft cannot join: looked for joints; found none; use another JVM",
            "looked_for": "joints",
            "found": "none",
            "advice": "use another JVM",
            "exit_code": int(words["refuse"]),
        }
    else:
        zeroing: dict[str, Any] = {"strategy": agent_options["zeroing"], "kernel": "avx512"}
        if summary["state"] == "ended":
            tlabs = int(words.get("tlabs", "100"))
            zeroing |= {"tlabs": tlabs, "missed_tlabs": int(words.get("missed", "0")), "bytes": tlabs * 1_000_000}
            zeroing |= {"cycles": 25_000_000, "seconds": 0.01}
            if agent_options["zeroing"] in ("concurrent", "adaptive"):
                zeroing["helper"] = {"started": True, "reason": "", "waits": 2, "wait_seconds": 0.001, "steals": 3}
                zeroing["by"] = {"thread": {"bytes": 0, "seconds": 0.0}}
                zeroing["by"]["helper"] = {"bytes": tlabs * 1_000_000, "seconds": 0.01}
                zeroing["decisions"] = {"concurrent": 12, "windows": 30}
            if agent_options["zeroing"] == "pause":
                zeroing["by"] = {"pause": {"bytes": 1_000_000, "seconds": float(words.get("pause", "0"))}}
            if "against" in agent_options:
                factor = float(words.get("factor", "1.0"))
                records = [
                    {"collection": number, "side": side, "mutator_cpu_seconds": seconds, "bytes": 20_000_000}
                    for number, (side, seconds) in zip(
                        range(int(words.get("epochs", "0"))),
                        itertools.cycle([("baseline", 0.02), *[("grafted", 0.02 * factor)] * 2, ("baseline", 0.02)]),
                        strict=False,
                    )
                ]
                sides = {"grafted": agent_options["zeroing"], "baseline": agent_options["against"]}
                zeroing["epochs"] = sides | {"records": records}
            absent = {"name": "cache_misses", "unit": "events", "available": False, "reason": "no counters here"}
            counted = (
                ("cpu_time", "nanoseconds", 3e9),
                ("memory_read", "bytes", 2048),
                ("page_faults", "events", 99),
            )
            present = [{"name": n, "unit": u, "available": True, "value": v} for n, u, v in counted]
            summary["counters"] = [*present, absent]
            summary |= {"program": "org.example.Main a b", "wall_seconds": 0.5}
            summary |= {"user_seconds": 0.75, "system_seconds": 0.25}
        summary |= {"jvm": {**jvm, "libjvm": "/fake/libjvm.so", "collector": words.get("collector", "G1")}}
        summary["grafts"] = {"zeroing": zeroing}
    text = "{ half" if "garbage" in words else json.dumps(summary)
    path = f"{read_path(agent_options['summary'])}/jvm-{summary['pid']}-{time.time_ns()}.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
if "refuse" in words and grafted:
    sys.exit(int(words["refuse"]))

seconds = float(words.get("seconds", "1.0")) * (float(words.get("factor", "1.0")) if grafted else 1.0)
for number in range(int(words.get("iterations", "0"))):
    # A spread that is the same in every launch of a side, so that results repeat exactly.
    cpu = seconds * (2.0 if number == 0 else 1.0)
    line = {"memgraft_iteration": number, "workload": "fake", "wall_seconds": cpu, "cpu_seconds": cpu}
    line |= {"worker_cpu_seconds": cpu * 0.9}
    if "allocated" in words:
        line["allocated_bytes"] = int(words["allocated"])
    line["checksum"] = words.get("checksum", "c") + (words.get("grafted_checksum", "") if grafted else "")
    print(json.dumps(line))
sys.stdout.flush()
if "sleep" in words:
    print("asleep", file=sys.stderr, flush=True)
    time.sleep(float(words["sleep"]))
if "signal" in words:
    os.kill(os.getpid(), int(words["signal"]))
sys.exit(int(words.get("exit", "0")))
