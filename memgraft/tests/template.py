"""A process that has imported all of Memgraft, and forks one for each command line that it is asked to run.

Importing takes longer than most commands, of which the tests run hundreds. A request is a line of JSON on standard
input: natives, folder, environment, cpus, arguments, out, err (files). The answer is the exit code, negative for a
signal.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import memgraft


def import_everything() -> None:
    """What some command may import; also for setup/python, which has no packages for tests."""
    for module in pkgutil.walk_packages(memgraft.__path__, "memgraft."):
        if ".tests" not in module.name and not module.name.endswith(("__main__", "conftest")):
            importlib.import_module(module.name)
    # What these import when they need it.
    importlib.import_module("scipy.stats")


def serve() -> dict[str, Any]:
    """Answers requests until there are no more; returns in each child, with its request."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            request: dict[str, Any] = json.loads(line)
            return request
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


def become(request: dict[str, Any]) -> None:
    """Makes of this process what the interpreter would have begun with."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    os.sched_setaffinity(0, request["cpus"])
    modes = {os.devnull: os.O_RDONLY, request["out"]: os.O_WRONLY, request["err"]: os.O_WRONLY}
    for number, (name, mode) in enumerate(modes.items()):
        opened = os.open(name, mode)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["-c", *request["arguments"]]


def end(code: int) -> NoReturn:
    """Ends as the interpreter does, but lets be what it would take apart: copies of all of the template's memory."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    import_everything()
    # A collection would write to all of it, and so would have to copy it.
    gc.collect()
    gc.freeze()
    asked = serve()
    become(asked)
    from memgraft import native
    from memgraft.cli import main

    native.FOLDER = Path(asked["natives"])
    try:
        main()
    except SystemExit as ended:
        end(ended.code if isinstance(ended.code, int) else 1)
    end(0)
