"""Headless Chromium for tests of pages, with console messages and requests recorded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class WatchedPage:
    """An open page with its console messages, exceptions and requested URLs."""

    page: Any  # playwright.sync_api.Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def launch_chromium() -> Iterator[Any]:
    """Launch Chromium (``playwright.sync_api.Browser``)."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        raise FileNotFoundError("chromium is not on this machine: tools/chromium.sh installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Any, file: Path, **context: Any) -> Iterator[WatchedPage]:
    """Open a page from disk; ``context`` are options of Playwright's new_context (viewport, color_scheme, ...)."""
    browser_context = browser.new_context(**context)
    try:
        watched = WatchedPage(browser_context.new_page())
        watched.page.on("console", lambda message: watched.errors.append(f"{message.type}: {message.text}"))
        watched.page.on("pageerror", lambda error: watched.errors.append(f"thrown: {error}"))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        watched.page.goto(file.resolve().as_uri())
        yield watched
    finally:
        browser_context.close()
