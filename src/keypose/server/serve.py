"""Run the server: open its socket, serve, handle signals, exit."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import uvicorn

from keypose.demo import demo_motion, footwork
from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.model import Motion
from keypose.server.app import make_app
from keypose.server.http_protocol import KEEP_ALIVE_S, MAX_HEADER_BYTES, HeaderLimit, TimedHttpProtocol
from keypose.server.settings import Settings
from keypose.server.temp_dirs import remove_all
from keypose.server.workers.process import release_large_blocks

MAX_PORTS = 50  # to try, from the default one on
BACKLOG = 1024  # connections that were not accepted yet
STOP_S = 1  # for responses in progress when the server stops
EXIT_S = 5.0  # until the process exits then, at the latest

SOURCE = "keypose.demo_motion"
LICENCE = "MIT, as Keypose"

# Name: start and end in seconds, tags.
_CUTS = {
    "Walk along a curve": (footwork.WALK_S - 0.4, footwork.TURN_S, ("walk", "locomotion")),
    "First steps": (footwork.WALK_S - 0.6, footwork.WALK_S + 4 * footwork.STEP_S, ("walk", "start")),
    "Turn around": (footwork.TURN_S - 0.2, footwork.TURN_S + 2.2, ("turn",)),
    "Jump forward": (footwork.CROUCH_S - 0.7, footwork.ABSORB_S + 0.7, ("jump",)),
    "Landing": (footwork.TOUCH_S - 0.15, footwork.ABSORB_S + 0.7, ("jump", "landing")),
    "Front kick": (footwork.BACK_S + 0.3, footwork.STAND_S + 0.3, ("kick", "fight")),
    "Step back and kick": (footwork.BACK_S - 0.2, footwork.DOWN_S + 0.4, ("kick", "fight")),
    "Whole performance": (0.0, footwork.DURATION_S, ("walk", "turn", "jump", "kick")),
}


def open_socket(host: str, port: int, *, try_next_ports: bool) -> socket.socket:
    """Return a listening socket; with ``try_next_ports`` on one of the following ports if ``port`` is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + MAX_PORTS, 1 << 16) if try_next_ports and port else port + 1):
        # With an explicit protocol, else asyncio does not set TCP_NODELAY: 40 ms more for every response.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, candidate))
            sock.listen(BACKLOG)
        except OSError as error:
            sock.close()
            reason = error.strerror or str(error)
        else:
            return sock
    raise OptionError(f"{host} port {port}: cannot be listened on ({reason})", hint="--port names another")


def serve(
    settings: Settings,
    sock: socket.socket,
    *,
    on_start: Callable[[], None] | None = None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve until Ctrl-C, SIGTERM or SIGHUP; no process and no file is left behind."""
    release_large_blocks()
    config = uvicorn.Config(
        HeaderLimit(make_app(settings)),
        http=TimedHttpProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        proxy_headers=False,
    )
    server = _Server(config, on_start, on_stop)
    with suppress(KeyboardInterrupt), _handle_stop_signals(server):  # the normal end
        server.run(sockets=[sock])


@contextmanager
def _handle_stop_signals(server: uvicorn.Server) -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C: uvicorn stops, then raises the signal again, and callers can clean up.

    SIGHUP, from a closing terminal, is handled alike unless ``nohup`` ignores it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {signal.SIGTERM: signal.signal(signal.SIGTERM, signal.default_int_handler)}
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        previous[signal.SIGHUP] = signal.signal(signal.SIGHUP, server.handle_exit)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def exit_soon() -> None:
    """Exit this process within EXIT_S, whatever its threads do: a write may wait long for another one.

    Changes of the library are atomic, so nothing is left half done, as if the process were killed.
    """
    timer = threading.Timer(EXIT_S, _exit)
    timer.daemon = True
    timer.start()


def _exit() -> None:
    remove_all()
    os._exit(0)


class _Server(uvicorn.Server):
    """Calls ``on_start`` when it listens, and ``on_stop`` before it stops."""

    def __init__(
        self, config: uvicorn.Config, on_start: Callable[[], None] | None, on_stop: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call ``on_start``."""
        await super().startup(sockets)
        if self.started and self._on_start is not None:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Call ``on_stop``, then stop."""
        if self._on_stop is not None:
            self._on_stop()
        await super().shutdown(sockets)


def configure_logging() -> None:
    """Log warnings and errors to stderr."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("uvicorn.error").addFilter(_is_relevant)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # lost connections are reported as errors


def _is_relevant(record: logging.LogRecord) -> bool:
    """Return whether to log a record: not invalid HTTP, nor clients that are connected while the server stops."""
    if record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError):
        return False
    message = record.getMessage()
    return not message.startswith(("Invalid HTTP request", "Unsupported upgrade", "Cancel ", "No supported WebSocket"))


def add_demo_clips(library: Library) -> None:
    """Add the demo clips to a library."""
    for motion, tags in demo_clips():
        library.add(motion, tags=("demo", *tags), source=SOURCE, licence=LICENCE)


def demo_clips() -> Iterator[tuple[Motion, tuple[str, ...]]]:
    """Yield sections of the demo motion with their tags, at two frame rates and with a different sway."""
    for suffix, fps, seed in (("", 120.0, 0), (", 60 fps", 60.0, 1)):
        performance = demo_motion(fps, seed)
        for name, (start_s, end_s, tags) in _CUTS.items():
            cut = performance[round(start_s * fps) : min(round(end_s * fps) + 1, performance.n_frames)]
            yield replace(cut, name=f"{name}{suffix}"), tags
