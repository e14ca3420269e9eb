"""A run of the web app, from the command line's words to its end."""

from __future__ import annotations

import contextlib
import os
import sys
import webbrowser
from collections.abc import Iterator
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from keypose.cli import output
from keypose.cli.exits import UsageError
from keypose.cli.library_options import location
from keypose.errors import FileError, MissingExtra, OptionError

if TYPE_CHECKING:
    from keypose.server.guard.passwords import Password
    from keypose.server.settings import Settings

PASSWORD = "KEYPOSE_PASSWORD"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_server(
    library: str | None,
    blobs: str | None,
    *,
    demo: bool,
    open_page: bool,
    host: str,
    port: int | None,
    password_file: Path | None,
    json: bool,
) -> int:
    """Serves until it is stopped."""
    for name in ONE_THREAD:  # many requests share the cores: none of them takes all. Read when numpy is imported
        os.environ.setdefault(name, "1")
    try:
        from keypose.server.serving import leave_in_time, listening, quiet_logging, serve
        from keypose.server.settings import PORT, Settings
    except ImportError as error:
        raise MissingExtra("the web app needs: pip install 'keypose[serve]'") from error
    if demo and (library is not None or blobs is not None):
        raise UsageError("--demo makes a library of its own, expected no --library and no --blobs with it")
    if port is not None and not 0 <= port < 1 << 16:
        raise UsageError(f"--port {port}: expected a number from 0 to 65535")
    password = _password(host, password_file)
    with _library(library, blobs, demo=demo) as where:
        on = listening(host, PORT if port is None else port, others=port is None)
        settings = Settings(where, host=host, port=on.getsockname()[1], password=password)
        quiet_logging()
        serve(
            settings,
            on,
            on_start=lambda: _tell(settings, open_page=open_page, json=json),
            on_stop=leave_in_time,
        )
    return 0


@contextlib.contextmanager
def _library(library: str | None, blobs: str | None, *, demo: bool) -> Iterator[str]:
    """Where the library is, made where it was not."""
    from keypose.library.library import Library

    if not demo:
        where = location(library)
        with Library(where, blobs=blobs):
            pass
        yield where
        return
    from keypose.server.demo import fill
    from keypose.server.own_folder import own_folder

    with own_folder("keypose-demo-") as folder:
        where = str(folder.path / "demo.db")
        with Library(where) as made:
            fill(made)
        yield where


def _password(host: str, file: Path | None) -> Password | None:
    """The password that other machines need; None where none is asked for."""
    from keypose.server.guard.passwords import Password
    from keypose.server.settings import LOOPBACK

    told = os.environ.pop(PASSWORD, None)  # no other process needs it
    if file is not None:
        told = _first_line(file)
    if told is None:
        if host in LOOPBACK:
            return None
        if not sys.stdin.isatty():
            raise UsageError(f"--host {host}: other machines need a password, expected --password-file or {PASSWORD}")
        told = getpass("A password for other machines: ")
        if getpass("Again: ") != told:
            raise OptionError("the two passwords differ, expected the same twice")
    return Password.of(told)


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as lines:
            return lines.readline(2000).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{file}: the password cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _tell(settings: Settings, *, open_page: bool, json: bool) -> None:
    """Says where the page is, as soon as it is there."""
    if json:
        output.show_json({"url": settings.url, "library": settings.library, "host": settings.host,
                          "port": settings.port, "token": settings.token, "pid": os.getpid()})  # fmt: skip
    else:
        output.line(f"Keypose is at {settings.url}")
        if not settings.is_local:
            output.line(f"other machines reach port {settings.port} of {settings.host} with the password")
            output.warning("what goes over the network is not encrypted: use a tunnel, or a network that you trust")
        output.line("Ctrl-C ends it")
    output.flush()
    if open_page:
        webbrowser.open(settings.url)
