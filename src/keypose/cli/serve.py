"""``keypose serve``: start the web app."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from getpass import getpass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from keypose.cli import output
from keypose.cli.library_options import Blobs, LibraryOption, resolve_location
from keypose.cli.options import Json, WholeNumber
from keypose.cli.output import UsageError
from keypose.errors import FileError, MissingExtra, OptionError

if TYPE_CHECKING:
    from keypose.server.settings import Password, Settings

PASSWORD_VARIABLE = "KEYPOSE_PASSWORD"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
NETWORK_GROUP = Parameter(group=Group("Network", sort_key=2))


def serve(
    *,
    library: LibraryOption = None,
    blobs: Blobs = None,
    demo: Annotated[bool, Parameter(negative="", help="Use a temporary library with generated clips.")] = False,
    open: Annotated[bool, Parameter(negative="", help="Open the page in the browser.")] = False,
    port: Annotated[
        WholeNumber,
        Parameter(help="The port to listen on. Default: 8600, or the next free one."),
        NETWORK_GROUP,
    ] = None,
    host: Annotated[
        str,
        Parameter(show_default=True, help="The address to listen on. Other machines need a password."),
        NETWORK_GROUP,
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        Parameter(
            help="A file whose first line is the password for other machines. Default: the environment variable "
            "KEYPOSE_PASSWORD, or a prompt."
        ),
        NETWORK_GROUP,
    ] = None,
    json: Json = False,
) -> int:
    """Start the web app: upload, view, search, choose keys, edit, export.

    Prints the address to open; whoever has it can use the library. A library that
    does not exist is created. Only this machine can reach it, unless --host gives
    another address, which requires a password. Ctrl-C stops it.

    For example:
      keypose serve
      keypose serve --library archive.db --open
      keypose serve --demo
      keypose serve --host 0.0.0.0 --password-file secret.txt
    """

    return run_server(
        library, blobs, demo=demo, open_page=open, host=host, port=port, password_file=password_file, json=json
    )


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
    """Serve until stopped; return the exit code."""
    for name in THREAD_VARIABLES:  # many requests share the cores; these are read when numpy is imported
        os.environ.setdefault(name, "1")
    try:
        from keypose.server.serve import configure_logging, exit_soon, open_socket, serve
        from keypose.server.settings import PORT, Settings
        from keypose.server.static_files import FILES
    except ImportError as error:
        raise MissingExtra("the web app needs", "pip install 'keypose[serve]'") from error
    if demo and (library is not None or blobs is not None):
        raise UsageError(
            "makes a library of its own", option="demo", value=True, expected="no --library and no --blobs with it"
        )
    if port is not None and not 0 <= port < 1 << 16:
        raise UsageError(option="port", value=port, expected="a number from 0 to 65535")
    if FILES.index is None:
        raise FileError(
            "the pages of the web app are not built",
            code="no_pages",
            path=FILES.folder,
            hint="in the checkout, type: make web",
        )
    password = _read_password(host, password_file)
    with _prepare_library(library, blobs, demo=demo) as location:
        listening_socket = open_socket(host, PORT if port is None else port, try_next_ports=port is None)
        settings = Settings(location, host=host, port=listening_socket.getsockname()[1], password=password)
        configure_logging()
        with _make_redirect_page(settings) if open_page else contextlib.nullcontext() as redirect_page:
            serve(
                settings,
                listening_socket,
                on_start=lambda: _print_address(settings, redirect_page, json=json),
                on_stop=exit_soon,
            )
    return 0


@contextlib.contextmanager
def _make_redirect_page(settings: Settings) -> Iterator[Path]:
    """Yield a file that only this user can read and that redirects to the server.

    It is opened in place of the address with the token, which other users would see in the list of processes.
    """
    from keypose.server.temp_dirs import temp_dir

    url = escape(settings.url)
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Keypose</title>'
        f'<meta http-equiv="refresh" content="0; url={url}"></head>'
        f'<body><a href="{url}">Open Keypose</a></body></html>\n'
    )
    with temp_dir("keypose-open-") as folder:
        path = folder.path / "open.html"
        path.touch(0o600)
        path.write_text(text, encoding="utf-8")
        yield path


@contextlib.contextmanager
def _prepare_library(library: str | None, blobs: str | None, *, demo: bool) -> Iterator[str]:
    """Yield the location of the library, created if it does not exist."""
    from keypose.library.library import Library

    if not demo:
        location = resolve_location(library)
        with Library(location, blobs=blobs):
            pass
        yield location
        return
    from keypose.server.serve import add_demo_clips
    from keypose.server.temp_dirs import temp_dir

    with temp_dir("keypose-demo-") as folder:
        location = str(folder.path / "demo.db")
        with Library(location) as demo_library:
            add_demo_clips(demo_library)
        yield location


def _read_password(host: str, file: Path | None) -> Password | None:
    """Return the password for other machines; None if none is needed."""
    from keypose.server.settings import LOOPBACK, Password

    text = os.environ.pop(PASSWORD_VARIABLE, None)  # not inherited by other processes
    if file is not None:
        text = _read_first_line(file)
    if text is None:
        if host in LOOPBACK:
            return None
        if not sys.stdin.isatty():
            raise UsageError(
                "lets other machines in without a password",
                option="host",
                value=host,
                expected=f"--password-file or {PASSWORD_VARIABLE}",
            )
        text = getpass("A password for other machines: ")
        if getpass("Again: ") != text:
            raise OptionError("the two passwords differ", expected="the same twice")
    return Password.create(text)


def _read_first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as lines:
            return lines.readline(2000).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"the password cannot be read ({getattr(error, 'strerror', None) or error})", path=file
        ) from None


def _print_address(settings: Settings, redirect_page: Path | None, *, json: bool) -> None:
    """Print the address when the server has started, and open the page that redirects to it, if any."""
    if json:
        output.print_json(
            {
                "url": settings.url,
                "library": settings.library,
                "host": settings.host,
                "port": settings.port,
                "token": settings.token,
                "pid": os.getpid(),
            }
        )
    else:
        output.print_line(f"Keypose is at {settings.url}")
        if not settings.is_local:
            output.print_line(f"other machines reach port {settings.port} of {settings.host} with the password")
            output.print_warning(
                "what goes over the network is not encrypted: use a tunnel, or a network that you trust"
            )
        output.print_line("Ctrl-C ends it")
    output.flush()
    if redirect_page is not None:
        # In a thread, as some browsers run in the foreground: the page needs the server meanwhile.
        threading.Thread(target=webbrowser.open, args=(redirect_page.as_uri(),), daemon=True).start()
