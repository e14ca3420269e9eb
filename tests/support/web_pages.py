"""A real server of a real library, and its pages in Chromium."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import keypose as kp
from support.chromium import WatchedPage
from support.server_process import ServerInfo, run_server

FPS = 30.0
TIMEOUT_S = 60.0  # for anything that a page does: tests also run on busy machines
# Name, first frame, frame after the last one, tags: parts of kp.demo_motion(fps=30)
CUTS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("walk", 20, 110, ("walk", "slow")),
    ("walk again", 30, 130, ("walk",)),
    ("turn", 120, 190, ("turn",)),
    ("jump", 190, 260, ("jump", "fast")),
    ("landing", 225, 262, ("jump",)),
    ("kick", 265, 350, ("kick", "fast")),
    ("high kick", 290, 345, ("kick",)),
    ("all of it", 0, 370, ("walk", "turn", "jump", "kick")),
)


OpenPage = Callable[..., AbstractContextManager[WatchedPage]]
T = TypeVar("T")
# No animation is running, apart from endless ones
NO_ANIMATION = (
    "document.getAnimations().every((each) => each.playState === 'finished' || each.effect.getTiming().iterations > 1)"
)


@contextmanager
def serve_copy(clips: Path, folder: Path) -> Iterator[ServerInfo]:
    """Serve a copy of a library's folder."""
    shutil.copytree(clips, folder / "library")
    with run_server(folder / "library" / "clips.db") as process:
        yield process


def cut(name: str, first: int, end: int) -> kp.Motion:
    """Return frames ``first`` to before ``end`` of the demo motion."""
    return replace(kp.demo_motion(fps=FPS)[first:end], name=name)


@contextmanager
def open_tab(
    browser: Any, server: ServerInfo, path: str = "/", *, will_route: bool = False, **context: Any
) -> Iterator[WatchedPage]:
    """Open a page of the server; ``context`` are options of Playwright's new_context.

    ``will_route``: the test calls ``page.route`` after the page has loaded. Chromium may let requests that follow soon
    afterwards pass, unless requests were intercepted from the beginning.
    """
    browser_context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
    browser_context.set_default_timeout(1000 * TIMEOUT_S)
    try:
        if will_route:
            browser_context.route("**/matches-nothing", lambda route: route.continue_())
        tab = WatchedPage(browser_context.new_page())
        separator = "&" if "?" in path else "?"
        tab.page.on("console", lambda message: tab.errors.append(f"{message.type}: {message.text}"))
        tab.page.on("pageerror", lambda error: tab.errors.append(f"thrown: {error}"))
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.goto(f"{server.origin}{path}{separator}token={server.token}")
        yield tab
    finally:
        browser_context.close()


def serious_violations(page: Any, axe: str) -> list[tuple[str, str]]:
    """Return serious and critical violations found by axe-core: the rule and the element."""
    wait_until(page, NO_ANIMATION)  # fade-ins are complete
    page.evaluate(axe)
    violations = page.evaluate("async () => (await axe.run()).violations")
    return [
        (each["id"], node["html"][:200])
        for each in violations
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def expect(target: Any) -> Any:
    """Return Playwright's retrying assertions for a page or locator."""
    from playwright.sync_api import expect as playwright_expect

    playwright_expect.set_options(timeout=1000 * TIMEOUT_S)
    return playwright_expect(target)


def wait_until(page: Any, condition: str, arg: Any = None) -> None:
    """Wait until a condition holds in the page. Playwright's own function needs `eval`, which the pages forbid."""
    end = time.monotonic() + TIMEOUT_S
    while not page.evaluate(condition, arg):
        assert time.monotonic() < end, f"timeout: {condition}"
        page.wait_for_timeout(25)


def poll(read: Callable[[], T], is_good: Callable[[T], bool]) -> T:
    """Call ``read`` until its value is good, and return it."""
    end = time.monotonic() + TIMEOUT_S
    while not is_good(value := read()):
        assert time.monotonic() < end, f"timeout, last value: {value!r:.200}"
    return value


def run_command(page: Any, text: str) -> None:
    """Run the command that this text finds in the palette, by keyboard."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search commands")
    expect(field).to_be_focused()
    page.keyboard.type(text)
    expect(field).to_have_value(text)
    page.keyboard.press("Enter")
    expect(field).to_be_hidden()
