"""What tests of a clip's page share: waiting for it, reading it, taking hold of it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from web_served import until

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


def frame_of(page: Any) -> int:
    """The frame that is shown."""
    return int(page.get_by_role("slider", name="Frame").get_attribute("aria-valuenow"))


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
