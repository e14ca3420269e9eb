"""What tests of a clip's page share: waiting for it, reading it, taking hold of it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from web_served import awaited, expect, until

from browsing import Watched

CLIP = "all of it"  # 370 frames
ROWS = {"keys": 34, "pins": 56}  # pixels from the top of the timeline to the middle of a lane
GUTTER = 8  # pixels left of the first frame's edge


def ready(page: Any) -> None:
    """Waits until keys, strip and curves are there."""
    until(page, "document.querySelector('.strip img')?.complete === true")
    until(page, "document.querySelector('.strip')?.getAttribute('aria-busy') === 'false'")
    until(page, "document.querySelectorAll('.score > div').length === 3")


def keys_of(page: Any) -> list[int]:
    """The frames of the keys, as the strip says them."""
    said = page.locator(".strip img").get_attribute("alt")
    return [int(frame) for frame in re.findall(r"\d+", said.partition("at frames")[2])]


def until_keys(page: Any, frames: list[int]) -> None:
    """Waits until the strip shows just these keys."""
    says = f"{len(frames)} key poses, at frames {', '.join(map(str, frames))}"
    until(page, "(says) => document.querySelector('.strip img')?.alt === says", says)


def asked(page: Any, path: str, told: dict[str, Any] | None = None, method: str | None = None) -> Any:
    """What the API answers to the page."""
    script = """async ([path, told, method]) => {
      const headers = told ? { "Content-Type": "application/json" } : {};
      const body = told ? JSON.stringify(told) : null;
      const response = await fetch(path, { method: method ?? (told ? "POST" : "GET"), headers, body });
      return await response.json();
    }"""
    return page.evaluate(script, [path, told, method])


def query_of(page: Any) -> dict[str, str]:
    """What the address says."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def until_query(page: Any, **values: str | None) -> None:
    """Waits until the address says these values; None: nothing of that name."""
    said = """(values) => {
      const query = new URLSearchParams(location.search);
      return Object.entries(values).every(([name, value]) => query.get(name) === value);
    }"""
    until(page, said, values)


def place_of(page: Any, frame: int, row: str, n_frames: int = 370) -> tuple[float, float]:
    """Where a frame is in a lane of the timeline, in pixels of the window."""
    box = page.locator(".timeline-field canvas").bounding_box()
    per_frame = (box["width"] - 2 * GUTTER) / n_frames
    return box["x"] + GUTTER + (frame + 0.5) * per_frame, box["y"] + ROWS[row]


def written(page: Any) -> str:
    """The address, when it says all that was chosen: 250 ms after the last change. Timers of one page keep their order."""
    return str(page.evaluate("new Promise((done) => setTimeout(() => done(location.href), 300))"))


def frame_of(page: Any) -> int:
    """The frame that is shown."""
    return int(page.get_by_role("slider", name="Frame").get_attribute("aria-valuenow"))


def until_frame(page: Any, frame: int) -> None:
    """Waits until just this frame is shown."""
    expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuenow", str(frame))


def until_rested(page: Any) -> None:
    """Waits until the view is drawn as it stays: finer, a while after the last change. What waits to be drawn comes first."""
    finer = """async () => {
      for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
      const { width, clientWidth } = document.querySelector("canvas.stage");
      return width >= 2 * clientWidth;
    }"""
    until(page, finer)


def picture(page: Any) -> bytes:
    """The view at rest. What lies over it is covered: Chromium does not always smooth round corners to the same bit."""
    until_rested(page)
    over = page.locator(".view-bar > *, .view-tools > *, .figure-label, .edit-overlay")
    return bytes(page.locator("canvas.stage").screenshot(mask=[over]))


def until_picture(page: Any, *, like: bytes | None = None, unlike: bytes | None = None) -> None:
    """Waits until the view at rest is just like another picture of it, or is not."""
    awaited(lambda: picture(page), lambda seen: seen == like if like is not None else seen != unlike)


def slide(page: Any, name: str, value: float) -> None:
    """Moves a slider, as a hand does."""
    page.get_by_role("slider", name=name).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        value,
    )


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drags the mouse from one place to another."""
    page.mouse.move(*start)
    page.mouse.down()
    for step in (0.25, 0.5, 0.75, 1.0):
        page.mouse.move(*(a + step * (b - a) for a, b in zip(start, end, strict=True)))
    page.mouse.up()


def errors(watched: Watched) -> list[str]:
    """What the page complained about. Slow graphics are no complaint."""
    return [said for said in watched.complaints if "GPU stall due to ReadPixels" not in said]
