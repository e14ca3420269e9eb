"""URLs of our own pages, for redirects."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import Scope

MAX_PARAMETERS = 1000
_SAFE = "/-._~!$&'()*+,;=:@%"


def current_url(scope: Scope, *, without: str | None = None) -> str:
    """Return path and query of a request, without one of its parameters.

    Always on this server: browsers take ``//elsewhere`` and ``/\\elsewhere`` for another host.
    """
    path = "/" + quote(scope["path"].replace("\\", "/").lstrip("/"), safe=_SAFE.replace("%", ""))
    pairs = query_parameters(scope)
    query = urlencode([(name, value) for name, value in pairs if name != without])
    return f"{path}?{query}" if query else path


def local_url(address: str) -> str:
    """Return ``address`` if it is on this server, else "/"."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return quote(address, safe=_SAFE + "?#") if is_local and "\\" not in address else "/"


def query_parameters(scope: Scope) -> list[tuple[str, str]]:
    """Return the query parameters in order; none if there are more than MAX_PARAMETERS."""
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return []
