"""Watching a placement: a live page over the record that `memgraft place --record` writes."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from memgraft import screen


def serve(
    record: Path,
    *,
    jvm: Path | None = None,
    port: int = 0,
    browser: bool = True,
    show: Callable[[str], None] = screen.say,
    stopped: threading.Event | None = None,
) -> None:
    """Serves the live page of a record, prints its address (`show`), and opens it in a browser if there is a display.

    Returns when `stopped` is set; in the main thread Ctrl-C raises KeyboardInterrupt once the server has ended. May run
    in any thread. The record need not exist yet, its folder must.
    """
    from memgraft.watch import server

    with ExitStack() as stack:

        def announce(address: str) -> None:
            show(address)
            if browser and server.has_display():
                server.open_browser(stack.enter_context(server.browser_file(address)))

        server.serve(record, jvm=jvm, port=port, show=announce, say=screen.say, stopped=stopped)
