"""A server on its address, from start to end."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from keypose.errors import OptionError
from keypose.server.app import make_app
from keypose.server.receiving import KEEP_ALIVE_S, MOST_HEADER_BYTES, Receiving
from keypose.server.settings import Settings

TRIES = 50  # ports, from the usual one on
WAITING = 1024  # connections that nobody has taken yet
STOP_S = 1  # that answers under way have when the server stops


def listening(host: str, port: int, *, others: bool) -> socket.socket:
    """A socket on an address; where the port is taken, on one of the ``others`` after it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for each in range(port, min(port + TRIES, 1 << 16) if others and port else port + 1):
        made = socket.socket(family, socket.SOCK_STREAM)
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


def serve(settings: Settings, on: socket.socket, *, on_start: Callable[[], None] | None = None) -> None:
    """Serves until Ctrl-C or SIGTERM; then no process and no file is left behind."""
    config = uvicorn.Config(
        make_app(settings),
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
    server = _Server(config, on_start)
    with suppress(KeyboardInterrupt), _told_to_stop():  # that is how it ends
        server.run(sockets=[on])


@contextmanager
def _told_to_stop() -> Iterator[None]:
    """SIGTERM is Ctrl-C: uvicorn stops, then sends itself again what it heard, and whoever is left may tidy up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Server(uvicorn.Server):
    """Says when it is there."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, then tells."""
        await super().startup(sockets)
        if self.started and self._on_start is not None:
            self._on_start()


def quiet_logging() -> None:
    """What went wrong goes to stderr, and nothing else."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("uvicorn.error").addFilter(_not_our_fault)


def _not_our_fault(record: logging.LogRecord) -> bool:
    """Bytes that are no HTTP, and clients that stay connected while the server stops, are no news."""
    said = record.getMessage()
    return not said.startswith(("Invalid HTTP request", "Unsupported upgrade", "Cancel ", "No supported WebSocket"))
