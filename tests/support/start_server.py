"""Start a real server with short timeouts; takes settings as JSON on the command line, prints its address."""

from __future__ import annotations

import json
import os
import sys

from keypose.server.http_protocol import TimedHttpProtocol
from keypose.server.middleware import headers
from keypose.server.serve import configure_logging, open_socket, serve
from keypose.server.settings import Password, Settings


def main() -> None:
    options = json.loads(sys.argv[1])
    timeout_s = options.pop("timeout_s")
    TimedHttpProtocol.headers_s = headers.MAX_LAG_S = timeout_s
    TimedHttpProtocol.max_connections = options.pop("max_connections")
    if options.get("password"):
        options["password"] = Password.create(options["password"])
    sock = open_socket(options.get("host", "127.0.0.1"), 0, try_next_ports=False)
    settings = Settings(**options, port=sock.getsockname()[1])
    configure_logging()
    info = {"origin": settings.origin, "token": settings.token, "port": settings.port, "pid": os.getpid()}
    serve(settings, sock, on_start=lambda: print(json.dumps(info), flush=True))


if __name__ == "__main__":
    main()
