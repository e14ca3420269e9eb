"""Real headless Chromium, for tests of pages: nothing that a page does there goes unnoticed."""

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
class Watched:
    """An open page, what it said on the console or threw, and which addresses it asked for."""

    page: Any  # playwright.sync_api.Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running Chromium (``playwright.sync_api.Browser``)."""
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
def opened(browser: Any, file: Path, **context: Any) -> Iterator[Watched]:
    """A page opened from disk; ``context`` is what Playwright's new_context takes (viewport, color_scheme, ...)."""
    surroundings = browser.new_context(**context)
    try:
        watched = Watched(surroundings.new_page())
        watched.page.on("console", lambda message: watched.complaints.append(f"{message.type}: {message.text}"))
        watched.page.on("pageerror", lambda error: watched.complaints.append(f"thrown: {error}"))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        watched.page.goto(file.resolve().as_uri())
        yield watched
    finally:
        surroundings.close()
