"""A finding as a hunt makes it, for tests of what is written of one."""

from pathlib import Path

from memgraft.formats.ordering import Accessor
from memgraft.hunt.finding import Confirmed, Finding, Phase, Verdict
from memgraft.hunt.patch import Declared
from memgraft.hunt.suspects import Observation, Suspect
from memgraft.hunt.trials import Count, Kind, Launched, Setting

SOURCE = """\
package org.example;

class Server implements Runnable {
  /* \U0001f600 */ boolean stopped;

  public void run() {
    while (!stopped) {}
  }
}
"""


def accessor(thread: str, line: int, order: int, method: str = "run") -> Accessor:
    frames = [f"org.example.Server.{method}(Server.java:{line})", "java.base/java.lang.Thread.run(Thread.java:840)"]
    return Accessor(thread=thread, id=order, order=order, times=50, stack=frames)


def found(folder: Path, name: str = "org.example.Server.stopped", thread: str = "worker") -> Finding:
    file = folder / "src/org/example/Server.java"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SOURCE, encoding="utf-8")
    suspect = Suspect(name, loads=[accessor(thread, 7, 1)], stores=[accessor("main", 4, 2, "stop")])
    failed, passed = Count(10, 10), Count(10, 0)
    in_order = Setting(Kind.ORDERED, frozenset({name}))
    return Finding(
        command=["java", "org.example.Server"],
        verdict=Verdict.FOUND,
        phases=[
            Phase("the stock", 0.0, [Launched(Setting(Kind.STOCK), "exit code 1", 1.5)] * 10),
            Phase("fresh launches", 15.0, [Launched(in_order, "", 1.5)] * 10),
        ],
        stock=failed,
        observation=Observation({name: suspect}),
        suspects=frozenset({name}),
        cure=frozenset({name}),
        conflicts=[frozenset({name})],
        confirmed=Confirmed(failed, passed, failed),
        declared={
            name: Declared(
                name, file, SOURCE.encode("utf-16-le").index("boolean".encode("utf-16-le")) // 2, 4, ("stopped",)
            )
        },
    )
