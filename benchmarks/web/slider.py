"""From the slider for the number of keys to redrawn keys and strip, in Chromium.

.venv/bin/python -m benchmarks.web.slider
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.web.clips import cuts
from benchmarks.web.looking import Page, opened
from tests.browsing import chromium
from tests.serving import Served, serving

import keypose as kp

LENGTHS = (1500, 5000)
N_STEPS = 60
LEAST, MOST = 6, 40  # keys; at 5,000 frames there are no selections of fewer than four
SETTLE_S = 30.0

# The slider goes to a number; what comes back is how long until keys, and until the strip, are on the screen.
STEP = """async (count) => {
  const range = document.querySelector("input.keys-slider");
  const seen = new Promise((resolve) => {
    const found = {};
    new PerformanceObserver((list, observer) => {
      for (const entry of list.getEntries()) found[entry.name] = entry.startTime + entry.duration;
      if (found["keys-redrawn"] && found["strip-redrawn"]) { observer.disconnect(); resolve(found); }
    }).observe({ type: "measure" });
  });
  const start = performance.now();
  range.value = String(count);
  range.dispatchEvent(new Event("input", { bubbles: true }));
  const ends = await seen;
  return [ends["keys-redrawn"] - start, ends["strip-redrawn"] - start];
}"""
# The slider is dragged through numbers, one each 50 ms; how long until a strip as new as each number is there.
DRAG = """async (counts) => {
  const range = document.querySelector("input.keys-slider");
  const shown = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.name === "strip-redrawn") shown.push([entry.startTime, entry.startTime + entry.duration]);
  });
  observer.observe({ type: "measure" });
  const told = [];
  for (const count of counts) {
    told.push(performance.now());
    range.value = String(count);
    range.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
  observer.disconnect();
  return told.map((at) => Math.min(...shown.filter(([asked]) => asked >= at - 1).map(([, end]) => end)) - at);
}"""


def run() -> dict[str, float]:
    """Milliseconds that 95 of 100 changes take at most, by the length of the clip, and how often keys were computed."""
    figures: dict[str, float] = {"ladders_while_browsing": 0.0, "foreign_requests": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        with kp.Library(Path(folder) / "clips.db") as library:
            hashes = {n: library.add(cuts(Path(folder), n, 1)[0]).hash for n in LENGTHS}
        with serving(Path(folder) / "clips.db") as served, chromium() as browser:
            for n_frames, digest in hashes.items():
                figures |= _browsed(browser, served, digest, n_frames, figures)
    return figures


def _browsed(browser: Any, served: Served, digest: str, n_frames: int, so_far: dict[str, float]) -> dict[str, float]:
    counts = np.linspace(LEAST, MOST, N_STEPS).round().astype(int).tolist()
    counts = [count for k, count in enumerate(counts) if k == 0 or count != counts[k - 1]]
    with opened(browser, served, f"/clips/{digest}?keys={LEAST - 1}") as seen:
        _settled(seen)
        asked = dict(seen.asked)
        steps = np.array([seen.page.evaluate(STEP, count) for count in counts])
        again = np.array([seen.page.evaluate(STEP, count) for count in counts[::-1][1:]])
        ladders = seen.asked.get("ladder", 0) - asked.get("ladder", 0)
        foreign = len(seen.foreign)
    with opened(browser, served, f"/clips/{digest}?keys={LEAST - 1}") as seen:  # with nothing seen before
        _settled(seen)
        dragged = np.array(seen.page.evaluate(DRAG, counts))
    p95 = {"keys": _p95(steps[:, 0]), "strip": _p95(steps[:, 1]), "again": _p95(again[:, 1]), "drag": _p95(dragged)}
    print(f"   {n_frames} frames: keys {np.median(steps[:, 0]):.0f} ms, 95 % within {p95['keys']:.0f}; "
          f"strip {np.median(steps[:, 1]):.0f} ms, 95 % within {p95['strip']:.0f}; "
          f"seen before {np.median(again[:, 1]):.0f} ms, 95 % within {p95['again']:.0f}; "
          f"dragged, 20 numbers a second: {np.median(dragged):.0f} ms, 95 % within {p95['drag']:.0f}")  # fmt: skip
    return {
        **{f"{kind}_95_ms_at_{n_frames}": value for kind, value in p95.items()},
        "ladders_while_browsing": so_far["ladders_while_browsing"] + ladders,
        "foreign_requests": so_far["foreign_requests"] + foreign,
    }


def _settled(seen: Page) -> None:
    """Waits until keys, strip and curves are there and nothing is asked for any more."""
    seen.page.wait_for_selector("input.keys-slider:not([disabled])")
    seen.page.wait_for_selector(".strip[aria-busy=false] img")
    end, quiet = time.monotonic() + SETTLE_S, 0
    while quiet < 4 and time.monotonic() < end:
        before = sum(seen.asked.values())
        seen.page.wait_for_timeout(250)
        quiet = quiet + 1 if sum(seen.asked.values()) == before else 0


def _p95(values: Any) -> float:
    return float(np.percentile(values, 95))


if __name__ == "__main__":
    run()
