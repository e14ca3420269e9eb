"""The web app as people meet it: a real server of a real library, and pages of it in real Chromium."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import keypose as kp
from browsing import Watched

FPS = 30.0
STOP_S = 15.0
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


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    url: str  # with the token: what a person opens first
    origin: str
    token: str
    library: Path


@contextmanager
def serving(library: Path) -> Iterator[Served]:
    """``keypose serve`` of a library, in a process of its own."""
    command = [sys.executable, "-m", "keypose", "serve", "--library", str(library), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, f"the server ended: {process.wait()}"
                text += line
            said = json.loads(text)
            yield Served(said["url"], said["url"].partition("/?")[0], said["token"], library)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def cut(name: str, first: int, end: int) -> kp.Motion:
    """Frames ``first`` to before ``end`` of the demo's motion."""
    return replace(kp.demo_motion(fps=FPS)[first:end], name=name)


@contextmanager
def looking(browser: Any, served: Served, path: str = "/", **context: Any) -> Iterator[Watched]:
    """A page of a server; ``context`` is what Playwright's new_context takes."""
    surroundings = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
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
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        (each["id"], node["html"][:200])
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def until(page: Any, condition: str, arg: Any = None, within_s: float = 30.0) -> None:
    """Waits until something is so in the page. Playwright's own way needs `eval` there, which the pages forbid."""
    end = time.monotonic() + within_s
    while not page.evaluate(condition, arg):
        assert time.monotonic() < end, f"it did not happen: {condition}"
        page.wait_for_timeout(25)
