"""The web app as people meet it: a real server of a real library, and pages of it in real Chromium."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import keypose as kp
from browsing import Watched
from serving import Served, serving

FPS = 30.0
PATIENCE_S = 60.0  # for anything that a page does: tests also run on machines that are busy with other things
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


Look = Callable[..., AbstractContextManager[Watched]]
T = TypeVar("T")
# Nothing fades or moves, but for what always does
STILL = (
    "document.getAnimations().every((each) => each.playState === 'finished' || each.effect.getTiming().iterations > 1)"
)


@contextmanager
def serving_copy(clips: Path, folder: Path) -> Iterator[Served]:
    """A server of a copy of a library's folder."""
    shutil.copytree(clips, folder / "library")
    with serving(folder / "library" / "clips.db") as running:
        yield running


def cut(name: str, first: int, end: int) -> kp.Motion:
    """Frames ``first`` to before ``end`` of the demo's motion."""
    return replace(kp.demo_motion(fps=FPS)[first:end], name=name)


@contextmanager
def looking(browser: Any, served: Served, path: str = "/", **context: Any) -> Iterator[Watched]:
    """A page of a server; ``context`` is what Playwright's new_context takes."""
    surroundings = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
    surroundings.set_default_timeout(1000 * PATIENCE_S)
    try:
        watched = Watched(surroundings.new_page())
        joint = "&" if "?" in path else "?"
        watched.page.on("console", lambda message: watched.complaints.append(f"{message.type}: {message.text}"))
        watched.page.on("pageerror", lambda error: watched.complaints.append(f"thrown: {error}"))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        watched.page.goto(f"{served.origin}{path}{joint}token={served.token}")
        yield watched
    finally:
        surroundings.close()


def serious_findings(page: Any, axe: str) -> list[tuple[str, str]]:
    """What axe-core finds on a page that keeps somebody from using it: the rule, and the element."""
    until(page, STILL)  # what fades in has come
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        (each["id"], node["html"][:200])
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def expect(seen: Any) -> Any:
    """What Playwright asserts of a page or of what is in it, looked at again until it is so."""
    from playwright.sync_api import expect as expecting

    expecting.set_options(timeout=1000 * PATIENCE_S)
    return expecting(seen)


def until(page: Any, condition: str, arg: Any = None) -> None:
    """Waits until something is so in the page. Playwright's own way needs `eval` there, which the pages forbid."""
    end = time.monotonic() + PATIENCE_S
    while not page.evaluate(condition, arg):
        assert time.monotonic() < end, f"it did not happen: {condition}"
        page.wait_for_timeout(25)


def awaited(look: Callable[[], T], is_good: Callable[[T], bool]) -> T:
    """What ``look`` sees, as soon as it is good."""
    end = time.monotonic() + PATIENCE_S
    while not is_good(found := look()):
        assert time.monotonic() < end, f"it did not become good: {found!r:.200}"
    return found


def by_palette(page: Any, words: str) -> None:
    """Runs the command that these words find, by keys alone."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find a command")
    expect(field).to_be_focused()
    page.keyboard.type(words)
    expect(field).to_have_value(words)
    page.keyboard.press("Enter")
    expect(field).to_be_hidden()
