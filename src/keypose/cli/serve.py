"""``keypose serve``: start the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.library_options import Blobs, LibraryOption
from keypose.cli.options import Json

NETWORK_GROUP = Parameter(group=Group("Network", sort_key=2))


def serve(
    *,
    library: LibraryOption = None,
    blobs: Blobs = None,
    demo: Annotated[bool, Parameter(negative="", help="Use a temporary library with generated clips.")] = False,
    open: Annotated[bool, Parameter(negative="", help="Open the page in the browser.")] = False,
    port: Annotated[
        int | None,
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
    from keypose.cli.serve_run import run_server

    return run_server(
        library, blobs, demo=demo, open_page=open, host=host, port=port, password_file=password_file, json=json
    )
