"""The shell, its files, and what is shown where there is none."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import apart
import httpx
import pytest
from fastapi import FastAPI
from server_live import Live

from keypose.server.routes import pages
from keypose.server.static_files import StaticFiles

SHELL = b"<!doctype html><script type=module src=/assets/main-1a2b.js></script>"
SCRIPT = b"console.log('keypose');" * 200


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of built pages, in place of those that may be there."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(SHELL)
    (folder / "icon.svg").write_bytes(b"<svg/>")
    (folder / "assets" / "main-1a2b.js").write_bytes(SCRIPT)
    monkeypatch.setattr(pages, "FILES", StaticFiles(folder))
    return folder


class Browser:
    """Looks at the pages alone, without the guard."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.app.include_router(pages.router)

    def get(self, path: str, **options: Any) -> httpx.Response:
        async def get() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://pages", verify=False) as client:
                return await client.get(path, **options)

        return apart.run(get())


@pytest.fixture
def browser() -> Browser:
    return Browser()


def test_every_page_is_the_same_shell(built: Path, browser: Browser) -> None:
    for path in ("/", f"/clips/{'a' * 64}?frame=3", f"/compare/{'a' * 64}"):
        answer = browser.get(path)
        assert answer.content == SHELL and answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        assert browser.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert browser.get("/clips/abc").status_code == 422 and browser.get("/index.html").status_code == 404


def test_files_with_a_hash_stay_and_are_sent_compressed(built: Path, browser: Browser) -> None:
    answer = browser.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "gzip"})
    assert answer.content == SCRIPT and answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) == len(gzip.compress(SCRIPT, 9, mtime=0)) < len(SCRIPT) / 4
    assert "immutable" in answer.headers["cache-control"] and "javascript" in answer.headers["content-type"]
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
def test_no_address_leads_out_of_the_folder(live: Live, path: str) -> None:
    """Asked for as they are: clients tidy such addresses up."""
    with live.connection() as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert said.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")) and b"root:" not in said and b"make_app" not in said


def test_pages_that_are_built_again_are_read_again(built: Path, browser: Browser) -> None:
    assert browser.get("/").content == SHELL
    (built / "index.html").write_bytes(b"new")
    os.utime(built / "index.html", (1, 1))
    assert browser.get("/").content == b"new"


def test_pages_that_are_not_built_say_what_to_type(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pages, "FILES", StaticFiles(tmp_path / "none"))
    answer = browser.get("/")
    assert answer.status_code == 503 and "make web" in answer.text and "make web" in caplog.text


def test_an_address_of_nothing_has_a_page_with_words(client: httpx.Client) -> None:
    for path in ("/no/<script>", "/clips/abc", f"/clips/{'x' * 64}"):
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 404 and "Not found" in answer.text and "<script" not in answer.text
        assert 'href="/"' in answer.text and "sha256-" in answer.headers["content-security-policy"]
