"""Addresses of our own pages, to be sent back to a browser."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import Scope

MOST = 1000  # parameters
_SAFE = "/-._~!$&'()*+,;=:@%"


def here(scope: Scope, *, without: str | None = None) -> str:
    """Path and query of a request, without one of its parameters.

    Always of this server: ``//elsewhere`` and ``/\\elsewhere`` would be another one to a browser.
    """
    path = "/" + quote(scope["path"].replace("\\", "/").lstrip("/"), safe=_SAFE.replace("%", ""))
    pairs = parameters(scope)
    query = urlencode([(name, value) for name, value in pairs if name != without])
    return f"{path}?{query}" if query else path


def inside(address: str) -> str:
    """An address that somebody gave, if it is one of our own pages; else that of the first page."""
    fine = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return quote(address, safe=_SAFE + "?#") if fine and "\\" not in address else "/"


def parameters(scope: Scope) -> list[tuple[str, str]]:
    """The parameters of a query, in order; none where there are absurdly many."""
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MOST)
    except ValueError:
        return []
