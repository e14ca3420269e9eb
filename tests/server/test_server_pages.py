"""The pages: index.html, assets, and error pages."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from keypose.server.routes import pages
from keypose.server.static_files import StaticFiles
from support import event_loop
from support.live_server import LiveServer

INDEX = b"<!doctype html><script type=module src=/assets/main-1a2b.js></script>"
SCRIPT = b"console.log('keypose');" * 200


@pytest.fixture
def built_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of built pages that replaces the real ones."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(INDEX)
    (folder / "icon.svg").write_bytes(b"<svg/>")
    (folder / "assets" / "main-1a2b.js").write_bytes(SCRIPT)
    monkeypatch.setattr(pages, "FILES", StaticFiles(folder))
    return folder


class Browser:
    """Client of the page routes, without middleware."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.app.include_router(pages.router)

    def get(self, path: str, **options: Any) -> httpx.Response:
        async def get() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://pages", verify=False) as client:
                return await client.get(path, **options)

        return event_loop.run(get())


@pytest.fixture
def browser() -> Browser:
    return Browser()


def test_every_page_is_index_html(built_pages: Path, browser: Browser) -> None:
    for path in ("/", f"/clips/{'a' * 64}?frame=3", f"/compare/{'a' * 64}"):
        response = browser.get(path)
        assert response.content == INDEX and response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache"
        assert browser.get(path, headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    assert browser.get("/clips/abc").status_code == 422 and browser.get("/index.html").status_code == 404


def test_assets_are_immutable_and_compressed(built_pages: Path, browser: Browser) -> None:
    response = browser.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "gzip"})
    assert response.content == SCRIPT and response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(gzip.compress(SCRIPT, 9, mtime=0)) < len(SCRIPT) / 4
    assert "immutable" in response.headers["cache-control"] and "javascript" in response.headers["content-type"]
    plain = browser.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert plain.content == SCRIPT and "content-encoding" not in plain.headers and plain.headers["vary"]
    icon = browser.get("/icon.svg")
    assert icon.headers["content-type"] == "image/svg+xml" and icon.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2fapp.py",
        "/assets/../../app.py",
        "/%2e%2e/app.py",
        "//etc/passwd",
        "/assets",
        "/.\\app.py",
        "/\0",
    ],
)
def test_paths_outside_the_folder(live: LiveServer, path: str) -> None:
    """Sent raw: HTTP clients normalise such paths."""
    with live.connection() as connection:
        request = f"GET {path} HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert (
        received.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
        and b"root:" not in received
        and b"make_app" not in received
    )


def test_rebuilt_pages_are_reloaded(built_pages: Path, browser: Browser) -> None:
    assert browser.get("/").content == INDEX
    (built_pages / "index.html").write_bytes(b"new")
    os.utime(built_pages / "index.html", (1, 1))
    assert browser.get("/").content == b"new"


def test_missing_pages(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pages, "FILES", StaticFiles(tmp_path / "none"))
    response = browser.get("/")
    assert response.status_code == 503 and "make web" in response.text and "make web" in caplog.text


def test_not_found_page(client: httpx.Client) -> None:
    for path in ("/no/<script>", "/clips/abc", f"/clips/{'x' * 64}"):
        response = client.get(path, headers={"Accept": "text/html"})
        assert response.status_code == 404 and "Page not found" in response.text and "<script" not in response.text
        assert 'href="/"' in response.text and "sha256-" in response.headers["content-security-policy"]
