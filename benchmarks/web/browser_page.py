"""Pages of a running server in Chromium, with counts of their requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.support.server_process import ServerInfo

WIDTH, HEIGHT = 1280, 800


class BrowserPage:
    """An open page; records requests to other hosts, and counts requests by last path component."""

    def __init__(self, page: Any, server: ServerInfo) -> None:
        self.page = page
        self.foreign_urls: list[str] = []
        self.request_counts: dict[str, int] = {}
        self._host = urlsplit(server.origin).netloc
        page.on("request", lambda request: self._count_request(request.url))

    def _count_request(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme in ("http", "https", "ws", "wss") and address.netloc != self._host:
            self.foreign_urls.append(url)
        kind = address.path.rpartition("/")[2]
        self.request_counts[kind] = self.request_counts.get(kind, 0) + 1


@contextmanager
def open_page(browser: Any, server: ServerInfo, path: str) -> Iterator[BrowserPage]:
    """Open a page of the app, authorised by the token."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    try:
        browser_page = BrowserPage(context.new_page(), server)
        separator = "&" if "?" in path else "?"
        browser_page.page.goto(f"{server.origin}{path}{separator}token={server.token}")
        yield browser_page
    finally:
        context.close()
