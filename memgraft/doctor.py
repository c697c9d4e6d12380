"""`memgraft doctor`: what this machine and each JVM found can take, and why not."""

import os
from collections.abc import Sequence
from typing import Any

from rich.padding import Padding
from rich.text import Text

from memgraft import machine
from memgraft.errors import WrongUsageError
from memgraft.grafts import table
from memgraft.jvm import jvms
from memgraft.machine import placing_here
from memgraft.screen import Screen
from memgraft.version import version

SCHEMA = 1


def examine(arguments: Sequence[str]) -> dict[str, Any]:
    """Everything doctor knows, as it prints it with --json."""
    examined = jvms.examine_all(jvms.discover(arguments, os.environ))
    for jvm in examined:
        if jvms.ARGUMENT in jvm.java.found_in and not jvm.version:
            raise WrongUsageError(
                f"'{jvm.java.path}' is no JVM ({jvm.grafts['zeroing'].reason}): expected a java executable or the home "
                "of a JDK or JRE"
            )
    return {
        "schema": SCHEMA,
        "kind": "doctor",
        "memgraft": version(),
        "machine": machine.describe(),
        "placement": placing_here.examine(),
        "jvms": [_jvm(jvm) for jvm in examined],
    }


def _jvm(jvm: jvms.Examined) -> dict[str, Any]:
    return {
        "version": jvm.version,
        "vendor": jvm.vendor,
        "name": jvm.name,
        "path": str(jvm.java.path),
        "found_in": jvm.java.found_in,
        "collectors": jvm.collectors,
        "grafts": {name: check.model_dump() for name, check in jvm.grafts.items()},
    }


def show(report: dict[str, Any], screen: Screen) -> None:
    """The same for people."""
    screen.print(Text("This machine", style="bold"))
    for name, value in machine.lines(report["machine"]):
        _line(screen, name, value)
    screen.print()
    screen.print(Text("Placement of pages", style="bold"))
    for name, value in placing_here.lines(report["placement"]):
        _line(screen, name, value)
    if not report["jvms"]:
        screen.print()
        screen.print(Text("No JVM found", style="bold"))
        places = "JAVA_HOME, the PATH, /usr/lib/jvm, SDKMAN and Memgraft's cache were searched"
        screen.print(Padding(f"{places}; name one: memgraft doctor /path/to/jdk", (0, 0, 0, 2)))
    for jvm in report["jvms"]:
        screen.print()
        title = " ".join(filter(None, (jvm["name"] or "unknown JVM", jvm["version"], jvm["vendor"])))
        screen.print(Text(title, style="bold"), soft_wrap=True)
        _line(screen, "path", f"{jvm['path']} ({', '.join(jvm['found_in'])})")
        if jvm["collectors"]:
            _line(screen, "collectors", ", ".join(jvm["collectors"]))
        for name, check in jvm["grafts"].items():
            _graft(screen, name, check)


def _graft(screen: Screen, name: str, check: dict[str, Any]) -> None:
    if not check["available"]:
        # The refusal starts with the name of the JVM, which stands right above it.
        _, looked_for, details = check["reason"].partition("looked for ")
        _line(screen, name, f"no: {looked_for}{details}" if details else f"no: {check['reason']}", "red")
        return
    _line(screen, name, f"yes: {check['reason']}", "green")
    refused = [collector for collector, found in check["collectors"].items() if not found["available"]]
    if refused:
        _line(screen, "", f"not with {', '.join(refused)} (--json says why)")
    if refused and name == table.ORDERING:
        _line(screen, "", "with any collector: --engine bytecode")


def _line(screen: Screen, name: str, value: str, style: str = "") -> None:
    """`name  value`, with further lines of a long value below its first."""
    name_width = 12
    if not screen.is_terminal:
        screen.print(Text(f"  {name:<{name_width}}{value}"), soft_wrap=True)
        return
    lines = Text(value, style=style).wrap(screen, max(screen.width - name_width - 2, 20))
    for index, line in enumerate(lines):
        screen.print(Text(f"  {name if index == 0 else '':<{name_width}}") + line)
