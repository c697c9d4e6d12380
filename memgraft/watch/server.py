"""The server of the live page: on the loopback device only, and only for those who know its address.

Other users of the machine can reach the port, and so can pages that a browser has open; the address holds a random
token, without which every request ends with 403.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from memgraft.errors import WrongUsageError
from memgraft.watch.history import History
from memgraft.watch.jvm import JvmSeries
from memgraft.watch.page import Page

HOST = "127.0.0.1"
TOKEN_BYTES = 24
POLL_SECONDS = 0.25
Say = Callable[[str], None]


class _Refused(RequestHandler):
    """The answer to whatever does not begin with the token."""

    def prepare(self) -> None:
        self.set_status(403)
        self.finish("403: expected the whole address that `memgraft watch` printed, with its token\n")


def _listen(history: History, series: JvmSeries | None, port: int) -> tuple[BaseServer, str]:
    """A server that is not started yet, and the address of its page."""
    try:
        door = socket.create_server((HOST, port))
    except OSError as error:
        raise WrongUsageError(
            f"--port {port}: {os.strerror(error.errno) if error.errno else error}; choose a free one, or 0 for any"
        ) from None
    door.setblocking(False)
    host = f"{HOST}:{door.getsockname()[1]}"
    token = secrets.token_urlsafe(TOKEN_BYTES)

    def show(document: Document) -> None:
        Page(document, history, series, f"ws://{host}")

    tornado = BokehTornado(
        {"/": Application(FunctionHandler(show))},
        prefix=token,
        extra_websocket_origins=[host],
        # What a browser sends stays out of what the page is made of.
        include_headers=[],
        include_cookies=[],
        default_handler_class=_Refused,
    )
    http = HTTPServer(tornado)
    http.add_socket(door)
    return BaseServer(IOLoop.current(), tornado, http), f"http://{host}/{token}/"


async def _watch(record: Path, jvm: Path | None, port: int, show: Say, say: Say, stopped: threading.Event) -> None:
    history, series = History(record), JvmSeries(jvm) if jvm else None
    told = False
    while not (history.poll() and history.tail.start) and not stopped.is_set():
        if history.tail.error:
            raise history.tail.error
        if not told:
            say(f"waiting for {record} and its first line")
            told = True
        await asyncio.sleep(POLL_SECONDS)
    server, address = _listen(history, series, port)
    server.start()
    try:
        show(address)
        told = False
        while not stopped.is_set():
            history.poll()
            if series is not None:
                series.poll()
            if history.tail.error and not told:
                say(str(history.tail.error))
                told = True
            await asyncio.sleep(0 if history.tail.behind else POLL_SECONDS)
    finally:
        server.stop()
        server.unlisten()


def serve(
    record: Path,
    *,
    jvm: Path | None = None,
    port: int = 0,
    show: Say,
    say: Say,
    stopped: threading.Event | None = None,
) -> None:
    """Serves the page until `stopped` is set, or Ctrl-C in the main thread; other threads may call it as well.

    `show` gets the page's address, once; `say` what is worth a line. Waits for a record that does not exist yet.
    """
    if not record.absolute().parent.is_dir():
        raise WrongUsageError(
            f"{record}: the folder {record.parent} does not exist; expected a record, or where one will be"
        )
    if record.is_dir():
        raise WrongUsageError(f"{record} is a folder; expected a record that `memgraft place --record FILE` writes")
    if jvm is not None and not jvm.is_dir():
        raise WrongUsageError(f"--jvm {jvm}: no such folder; expected the summary folder of a grafted JVM")
    # Bokeh and Tornado would log every refused request.
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    asyncio.run(_watch(record, jvm, port, show, say, stopped or threading.Event()))


@contextlib.contextmanager
def browser_file(address: str) -> Iterator[str]:
    """A file of this user's that leads a browser to the page: an address on a command line is everybody's to read."""
    with tempfile.NamedTemporaryFile("w", prefix="memgraft-watch-", suffix=".html") as file:
        file.write(
            '<!DOCTYPE html><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={address}">\n'
        )
        file.flush()
        yield Path(file.name).as_uri()


def has_display() -> bool:
    """Whether a browser would have a window; one of a terminal would take the terminal away."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_browser(uri: str) -> bool:
    return has_display() and webbrowser.open(uri)
