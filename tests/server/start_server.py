"""Starts a real server with short clocks; settings come as JSON on the command line, its address goes to stdout."""

from __future__ import annotations

import json
import os
import sys

from keypose.server.guard import bodies
from keypose.server.guard.passwords import Password
from keypose.server.receiving import Receiving
from keypose.server.serving import listening, quiet_logging, serve
from keypose.server.settings import Settings


def main() -> None:
    told = json.loads(sys.argv[1])
    clock_s = told.pop("clock_s")
    Receiving.headers_s = bodies.IDLE_S = bodies.START_S = clock_s
    Receiving.most_connections = told.pop("most_connections")
    if told.get("password"):
        told["password"] = Password.of(told["password"])
    on = listening(told.get("host", "127.0.0.1"), 0, others=False)
    settings = Settings(**told, port=on.getsockname()[1])
    quiet_logging()
    said = {"origin": settings.origin, "token": settings.token, "port": settings.port, "pid": os.getpid()}
    serve(settings, on, on_start=lambda: print(json.dumps(said), flush=True))


if __name__ == "__main__":
    main()
