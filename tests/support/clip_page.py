"""Helpers for tests of the clip page: wait for it, read it, operate it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.chromium import WatchedPage
from support.web_pages import expect, poll, wait_until

CLIP = "all of it"  # 370 frames
ROWS = {"keys": 34, "pins": 56}  # pixels from the top of the timeline to the middle of a lane
GUTTER = 8  # pixels to the left of the edge of the first frame


def wait_ready(page: Any) -> None:
    """Wait until keys, strip and curves are loaded."""
    wait_until(page, "document.querySelector('.strip img')?.complete === true")
    wait_until(page, "document.querySelector('.strip')?.getAttribute('aria-busy') === 'false'")
    wait_until(page, "document.querySelectorAll('.score > div').length >= 3")


def read_keys(page: Any) -> list[int]:
    """Return the key frames from the alternative text of the strip."""
    alt = page.locator(".strip img").get_attribute("alt")
    return [int(frame) for frame in re.findall(r"\d+", alt.partition("at frames")[2])]


def wait_keys(page: Any, frames: list[int]) -> None:
    """Wait until the strip shows exactly these keys."""
    alt = f"{len(frames)} key poses, at frames {', '.join(map(str, frames))}"
    wait_until(page, "(alt) => document.querySelector('.strip img')?.alt === alt", alt)


def call_api(page: Any, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    """Return the JSON response of the API to a request of the page."""
    script = """async ([path, body, method]) => {
      const headers = body ? { "Content-Type": "application/json" } : {};
      const response = await fetch(path, { method: method ?? (body ? "POST" : "GET"), headers, body: body && JSON.stringify(body) });
      return await response.json();
    }"""
    return page.evaluate(script, [path, body, method])


def read_query(page: Any) -> dict[str, str]:
    """Return the parameters of the address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_query(page: Any, **values: str | None) -> None:
    """Wait until the address has these values; None: the parameter is absent."""
    condition = """(values) => {
      const query = new URLSearchParams(location.search);
      return Object.entries(values).every(([name, value]) => query.get(name) === value);
    }"""
    wait_until(page, condition, values)


def timeline_point(page: Any, frame: int, row: str, n_frames: int = 370) -> tuple[float, float]:
    """Return the position of a frame in a lane of the timeline, in pixels of the window."""
    box = page.locator(".timeline-field canvas").bounding_box()
    per_frame = (box["width"] - 2 * GUTTER) / n_frames
    return box["x"] + GUTTER + (frame + 0.5) * per_frame, box["y"] + ROWS[row]


def settled_address(page: Any) -> str:
    """Return the address after pending changes are written (250 ms after the last one). Timers of one page keep their order."""
    return str(page.evaluate("new Promise((done) => setTimeout(() => done(location.href), 300))"))


def read_frame(page: Any) -> int:
    """Return the current frame."""
    return int(page.get_by_role("slider", name="Frame").get_attribute("aria-valuenow"))


def wait_frame(page: Any, frame: int) -> None:
    """Wait until this frame is shown."""
    expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuenow", str(frame))


def wait_rendered(page: Any) -> None:
    """Wait until the view is drawn at full resolution, after pending draws."""
    is_fine = """async () => {
      for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
      const { width, clientWidth } = document.querySelector("canvas.stage");
      return width >= 2 * clientWidth;
    }"""
    wait_until(page, is_fine)


def take_picture(page: Any) -> bytes:
    """Return a screenshot of the view. Overlays are masked: Chromium's antialiasing of round corners is not deterministic."""
    wait_rendered(page)
    overlays = page.locator(".view-bar > *, .view-tools > *, .figure-label, .edit-overlay")
    return bytes(page.locator("canvas.stage").screenshot(mask=[overlays]))


def wait_picture(page: Any, *, like: bytes | None = None, unlike: bytes | None = None) -> None:
    """Wait until the screenshot equals ``like``, or differs from ``unlike``."""
    poll(lambda: take_picture(page), lambda current: current == like if like is not None else current != unlike)


def set_slider(page: Any, name: str, value: float) -> None:
    """Set a slider, with an input event."""
    page.get_by_role("slider", name=name).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        value,
    )


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag the mouse from one point to another."""
    page.mouse.move(*start)
    page.mouse.down()
    for step in (0.25, 0.5, 0.75, 1.0):
        page.mouse.move(*(a + step * (b - a) for a, b in zip(start, end, strict=True)))
    page.mouse.up()


def export_clip(page: Any, folder: Path, source: str, suffix: str) -> Path:
    """Export the clip through the dialog; return the file."""
    page.locator(".clip-actions").get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(source, exact=True).click()
    dialog.locator(f"input[value='{suffix}']").check()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    page.wait_for_selector("dialog", state="detached")
    return path


def page_errors(tab: WatchedPage) -> list[str]:
    """Return the console messages of the page, without warnings about slow graphics."""
    return [message for message in tab.errors if "GPU stall due to ReadPixels" not in message]
