"""A program that fails by a rule, and behaves as one with a JVM and the ordering agent under it.

Its words are `name=value`. conflicts=a.A.x,a.A.y;b.B.z: it fails when all names of one conflict are left plain.
always=1: it fails whatever is in order. slow=1: it fails unless something takes time, be it in order or not.
others=a.A.u,a.A.v: further names that threads share. alone=a.A.t: a name that only one thread touches.
rare=a.A.r: it also fails in every fifth launch as long as this name is left plain (needs count=FILE).
lull=FROM:TO: of these launches none fails by `rare`.
late=a.A.l:N: from the Nth launch on it also fails as long as this name is left plain (needs count=FILE).
busy=FROM:TO: of these launches only every fifth fails, as if the machine had other work (needs count=FILE).
still=a.A.s: a conflict of this name alone, which also stops failing where nothing but this name takes time.
model=a.A.m: with weak memory it also fails as long as this name is left plain; model=none: whatever is in order.
light=1: it also stops failing where the agent is there and nothing takes time.
shy=1: it fails only where C2 is stressed.
counted=a.A.c: a name of a conflict that both threads count up.
hidden=a.A.h: a name of a conflict that no thread was seen to touch. refuse=CODE: the agent refuses the JVM.
refuse-hotspot=1: the engine hotspot does. refuse-weak=1: the agent does with weak memory.
missed=CLASS: one that could not be rewritten. mute=1: there is no summary.
hang=1, prints=TEXT: how it fails, instead of an exit code. count=FILE gets a line per launch.
"""

# A hunt launches it a hundred times: what it imports, it imports where it needs it.
# ruff: noqa: PTH123
import os
import sys
import time

words = dict(word.split("=", 1) for word in sys.argv[1:])
conflicts = [conflict.split(",") for conflict in words.get("conflicts", "").split(";") if conflict]
launches = 0
if "count" in words:
    with open(words["count"], "a+", encoding="utf-8") as counted:
        counted.write("launch\n")
        counted.seek(0)
        launches = len(counted.readlines())


def split(options: str) -> list[str]:
    if "'" not in options and '"' not in options:
        return options.split()
    import shlex

    return shlex.split(options)


def read_path(told: str) -> str:
    """As the agent reads it: what it would take for something else is written `%2C`."""
    if "%" not in told:
        return told
    from urllib.parse import unquote

    return unquote(told)


given = split(os.environ.get("JAVA_TOOL_OPTIONS", ""))
agent = next((word for word in given if word.startswith(("-javaagent:", "-agentpath:"))), "")
hotspot = agent.startswith("-agentpath:")
options = dict((part + "=").split("=")[:2] for part in agent.partition("=")[2].split(",") if part)
named = []
if "only" in options:
    with open(read_path(options["only"]), encoding="utf-8") as only:
        named = only.read().split()
everything = bool(agent) and not options.keys() & {"only", "observe", "weak"}
slow = bool(named) or everything


def in_order(name: str) -> bool:
    by_class = f"{name.rpartition('.')[0]}.*"
    return everything or ("delay" not in options and (name in named or by_class in named))


fails = "always" in words or any(not any(in_order(name) for name in conflict) for conflict in conflicts)
if "rare" in words and not in_order(words["rare"]):
    first, _, last = words.get("lull", "0:0").partition(":")
    fails |= launches % 5 == 0 and not int(first) <= launches <= int(last)
if "late" in words:
    name, _, number = words["late"].partition(":")
    fails |= not in_order(name) and launches >= int(number)
if "still" in words:
    fails |= not in_order(words["still"]) and not ("delay" in options and named == [words["still"]])
if "model" in words and "weak" in options:
    fails |= not in_order(words["model"])
if "shy" in words and "-XX:+StressLCM" not in given:
    fails = False
if "slow" in words:
    fails = not slow
if "light" in words:
    fails &= slow or not agent
if "busy" in words:
    first, _, last = words["busy"].partition(":")
    fails &= not int(first) <= launches <= int(last) or launches % 5 == 0

if "summary" in options and "mute" not in words:
    numbers = ("classes", "hidden_classes", "early_hidden_classes", "checked_classes", "unfenced", "failed")
    bytecode: dict[str, object] = dict.fromkeys(numbers, 0)
    kinds = ("field", "static", "element")
    fences = {f"{kind}_{what}": 0 for kind in kinds for what in ("loads", "stores")}
    bytecode["fences"] = fences | dict.fromkeys(("weak_accesses", "handle_calls", "copies", "intrinsics"), 0)
    if "missed" in words:
        bytecode |= {"failed": 1, "failed_classes": {words["missed"]: "too large"}}
    if "observe" in options:
        jdk = {f"{name}" for conflict in conflicts for name in conflict if name.startswith("java.")}
        shared = [
            name for conflict in conflicts for name in conflict if name not in jdk and name != words.get("hidden")
        ]
        shared += words.get("others", "").split(",") if "others" in words else []
        shared += [words[one].partition(":")[0] for one in ("late", "still") if one in words]
        shared += [words["model"]] if words.get("model", "none") != "none" else []
        shared += [words["rare"]] if words.get("rare", "none") != "none" else []
        one: dict[str, object] = {
            "thread": "one",
            "id": 1,
            "order": 2,
            "times": 3,
            "stack": ["org.example.A.run(A.java:7)"],
        }
        two: dict[str, object] = {
            "thread": "two",
            "id": 2,
            "order": 1,
            "times": 1,
            "stack": ["org.example.A.stop(A.java:9)"],
        }
        both = [one, {**two, "stack": ["org.example.A.stop(A.java:10)"]}]
        accesses = [
            {"name": name, "loads": both, "stores": both}
            if name == words.get("counted")
            else {"name": name, "loads": [one], "stores": [two]}
            for name in shared
        ]
        if "alone" in words:
            accesses.append({"name": words["alone"], "loads": [one], "stores": [one]})
        if "hidden" in words:
            accesses.append({"name": words["hidden"], "loads": [], "stores": []})
        bytecode["observed"] = {"accesses": accesses, "jdk_classes": sorted(name.rpartition(".")[0] for name in jdk)}
    summary: dict[str, object] = {"schema": 1, "kind": "jvm-summary", "state": "ended", "pid": 4_000_000}
    summary["jvm"] = {"version": "17.0.1+1", "feature": 17, "vendor": "Fake", "name": "Fake VM"}
    summary |= {"grafts": {"bytecode": bytecode}, "wall_seconds": 0.5, "user_seconds": 0.5, "system_seconds": 0.0}
    summary |= {"program": "org.example.Main"}
    refuses = ("weak" in options and "refuse-weak" in words) or (hotspot and "refuse-hotspot" in words)
    if "refuse" in words or refuses:
        told: dict[str, object] = {"looked_for": "joints", "found": "none", "advice": "use another JVM"}
        told |= {"message": "this fake JVM takes no agent", "exit_code": int(words.get("refuse", "3"))}
        summary |= {"state": "refused", "refusal": told}
    with open(f"{read_path(options['summary'])}/jvm-1-{time.time_ns()}.json", "w", encoding="utf-8") as file:
        # There are no quotation marks in it, and importing json takes longer than all the rest.
        file.write(str(summary).replace("'", '"'))
if fails and "hang" in words:
    time.sleep(3600)
if fails and "prints" in words:
    print(words["prints"], file=sys.stderr)
elif fails:
    sys.exit(1)
