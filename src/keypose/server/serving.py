"""A server on its address, from start to end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from keypose.errors import OptionError
from keypose.server.app import make_app
from keypose.server.memory import give_back_large
from keypose.server.own_folder import remove_all
from keypose.server.receiving import KEEP_ALIVE_S, MOST_HEADER_BYTES, Receiving, ShortHeads
from keypose.server.settings import Settings

TRIES = 50  # ports, from the usual one on
WAITING = 1024  # connections that nobody has taken yet
STOP_S = 1  # that answers under way have when the server stops
LEAVE_S = 5.0  # that it takes at most to leave then


def listening(host: str, port: int, *, others: bool) -> socket.socket:
    """A socket on an address; where the port is taken, on one of the ``others`` after it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for each in range(port, min(port + TRIES, 1 << 16) if others and port else port + 1):
        # By its name, else asyncio lets the kernel hold small pieces back: 40 ms for every answer.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, each))
            made.listen(WAITING)
        except OSError as error:
            made.close()
            said = error.strerror or str(error)
        else:
            return made
    raise OptionError(f"{host} port {port}: cannot be listened on ({said}); --port names another")


def serve(
    settings: Settings,
    on: socket.socket,
    *,
    on_start: Callable[[], None] | None = None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serves until Ctrl-C, SIGTERM or SIGHUP; then no process and no file is left behind."""
    give_back_large()
    config = uvicorn.Config(
        ShortHeads(make_app(settings)),
        http=Receiving,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=WAITING,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        proxy_headers=False,
    )
    server = _Server(config, on_start, on_stop)
    with suppress(KeyboardInterrupt), _told_to_stop(server):  # that is how it ends
        server.run(sockets=[on])


@contextmanager
def _told_to_stop(server: uvicorn.Server) -> Iterator[None]:
    """SIGTERM is Ctrl-C: uvicorn stops, then sends itself again what it heard, and whoever is left may tidy up.

    So is SIGHUP, of a terminal that closes; ``nohup`` has it ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, signal.default_int_handler)}
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, server.handle_exit)
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def leave_in_time() -> None:
    """Leaves this process soon, whatever its threads still do: a change of the library may wait long for another one.

    What it has changed by then is whole, as it is when a process is killed.
    """
    leaving = threading.Timer(LEAVE_S, _leave)
    leaving.daemon = True
    leaving.start()


def _leave() -> None:
    remove_all()
    os._exit(0)


class _Server(uvicorn.Server):
    """Says when it is there, and when it is about to leave."""

    def __init__(
        self, config: uvicorn.Config, on_start: Callable[[], None] | None, on_stop: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, then tells."""
        await super().startup(sockets)
        if self.started and self._on_start is not None:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tells, then ends what is under way."""
        if self._on_stop is not None:
            self._on_stop()
        await super().shutdown(sockets)


def quiet_logging() -> None:
    """What went wrong goes to stderr, and nothing else."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("uvicorn.error").addFilter(_not_our_fault)


def _not_our_fault(record: logging.LogRecord) -> bool:
    """Bytes that are no HTTP, and clients that stay connected while the server stops, are no news."""
    if record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError):
        return False
    said = record.getMessage()
    return not said.startswith(("Invalid HTTP request", "Unsupported upgrade", "Cancel ", "No supported WebSocket"))
