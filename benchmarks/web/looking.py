"""Pages of a running server in Chromium, and what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.serving import Served

WIDTH, HEIGHT = 1280, 800


class Page:
    """An open page; which addresses it asked for that are not the server's, and how often each of the server's."""

    def __init__(self, page: Any, served: Served) -> None:
        self.page = page
        self.foreign: list[str] = []
        self.asked: dict[str, int] = {}
        self._host = urlsplit(served.origin).netloc
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self._host:
            self.foreign.append(url)
        kind = parts.path.rpartition("/")[2]
        self.asked[kind] = self.asked.get(kind, 0) + 1


@contextmanager
def opened(browser: Any, served: Served, path: str) -> Iterator[Page]:
    """A page of the app, as somebody who has the token."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    try:
        seen = Page(context.new_page(), served)
        joint = "&" if "?" in path else "?"
        seen.page.goto(f"{served.origin}{path}{joint}token={served.token}")
        yield seen
    finally:
        context.close()
