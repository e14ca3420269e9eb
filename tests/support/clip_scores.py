"""Scores of curves, from the server and as displayed on the page."""

from __future__ import annotations

import json
from typing import Any

from support.web_pages import expect

FETCH_SCORE = """async ([path, frames]) => {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ frames });
  const bytes = await (await fetch(path, { method: "POST", headers, body })).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  return new TextDecoder().decode(new Uint8Array(bytes, 4, length));
}"""


def fetch_polished_score(page: Any, clip: str, frames: list[int]) -> dict[str, Any]:
    """Return the score of the exported curves through ``frames``."""
    score: dict[str, Any] = json.loads(page.evaluate(FETCH_SCORE, [f"/api/clips/{clip}/curves", frames]))["score"]
    return score


def format_mm(value: float) -> str:
    """Return a distance in the format of the pages."""
    return f"{value:.2f} mm" if value < 0.995 else f"{value:.1f} mm" if value < 99.5 else f"{value:.0f} mm"


def wait_polished(page: Any, clip: str, frames: list[int]) -> None:
    """Wait until the clip page shows exactly this score as final."""
    score = fetch_polished_score(page, clip, frames)
    expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
    for name, value in (("Mean", "mean_mm"), ("95th percentile", "p95_mm"), ("Worst joint", "max_mm")):
        expect(page.locator(".score > div", has_text=name)).to_contain_text(format_mm(score[value]))
    expect(page.locator(".score.approximate")).to_have_count(0)
