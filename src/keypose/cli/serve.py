"""``keypose serve``: the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.library_options import Blobs, Where
from keypose.cli.options import Json

REACHED = Parameter(group=Group("Who can reach it", sort_key=2))


def serve(
    *,
    library: Where = None,
    blobs: Blobs = None,
    demo: Annotated[
        bool, Parameter(negative="", help="A new library with clips made in code, which is gone in the end.")
    ] = False,
    open: Annotated[bool, Parameter(negative="", help="Open the page in the browser.")] = False,
    port: Annotated[
        int | None, Parameter(help="The port to listen on. Otherwise 8600, or the next one that is free."), REACHED
    ] = None,
    host: Annotated[
        str,
        Parameter(show_default=True, help="The address to listen on. Others than this machine need a password."),
        REACHED,
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        Parameter(
            help="A file whose first line is the password for other machines. Otherwise what the environment variable "
            "KEYPOSE_PASSWORD says, or it is asked for."
        ),
        REACHED,
    ] = None,
    json: Json = False,
) -> int:
    """Start the web app: upload, look, search, choose keys, edit, take away.

    Prints the address to open; whoever has it can use the library. A library that
    is not there is made. Only this machine can reach it, unless --host names
    another address, which asks for a password. Ctrl-C ends it.

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
