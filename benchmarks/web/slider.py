"""Time from moving the keys slider to redrawn keys and strip, in Chromium.

.venv/bin/python -m benchmarks.web.slider
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.web.browser_page import BrowserPage, open_page
from benchmarks.web.clips import write_cuts
from tests.support.chromium import launch_chromium
from tests.support.server_process import ServerInfo, run_server

import keypose as kp

LENGTHS = (1500, 5000)
N_STEPS = 60
MIN_KEYS, MAX_KEYS = 6, 40  # keys; at 5,000 frames there are no selections of fewer than four
SETTLE_S = 30.0

# Sets the slider to a number of keys; returns the milliseconds until the keys and the strip are redrawn.
STEP = """async (count) => {
  const range = document.querySelector("input.keys-slider");
  const redrawn = new Promise((resolve) => {
    const ends = {};
    new PerformanceObserver((list, observer) => {
      for (const entry of list.getEntries()) ends[entry.name] = entry.startTime + entry.duration;
      if (ends["keys-redrawn"] && ends["strip-redrawn"]) { observer.disconnect(); resolve(ends); }
    }).observe({ type: "measure" });
  });
  const start = performance.now();
  range.value = String(count);
  range.dispatchEvent(new Event("input", { bubbles: true }));
  const ends = await redrawn;
  return [ends["keys-redrawn"] - start, ends["strip-redrawn"] - start];
}"""
# Drags the slider through numbers, one every 50 ms; returns, for each, the time until a strip at least as new is drawn.
DRAG = """async (counts) => {
  const range = document.querySelector("input.keys-slider");
  const redraws = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.name === "strip-redrawn") redraws.push([entry.startTime, entry.startTime + entry.duration]);
  });
  observer.observe({ type: "measure" });
  const inputs = [];
  for (const count of counts) {
    inputs.push(performance.now());
    range.value = String(count);
    range.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
  observer.disconnect();
  return inputs.map((at) => Math.min(...redraws.filter(([start]) => start >= at - 1).map(([, end]) => end)) - at);
}"""


def run() -> dict[str, float]:
    """Return 95th percentiles in milliseconds by clip length, and how often ladders were computed."""
    figures: dict[str, float] = {"ladders_while_browsing": 0.0, "foreign_requests": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        with kp.Library(Path(folder) / "clips.db") as library:
            hashes = {n: library.add(write_cuts(Path(folder), n, 1)[0]).hash for n in LENGTHS}
        with run_server(Path(folder) / "clips.db") as server, launch_chromium() as browser:
            for n_frames, digest in hashes.items():
                figures |= _measure_slider(browser, server, digest, n_frames, figures)
    return figures


def _measure_slider(
    browser: Any, server: ServerInfo, digest: str, n_frames: int, figures: dict[str, float]
) -> dict[str, float]:
    counts = np.linspace(MIN_KEYS, MAX_KEYS, N_STEPS).round().astype(int).tolist()
    counts = [count for k, count in enumerate(counts) if k == 0 or count != counts[k - 1]]
    with open_page(browser, server, f"/clips/{digest}?keys={MIN_KEYS - 1}") as browser_page:
        wait_until_idle(browser_page)
        counts_before = dict(browser_page.request_counts)
        steps = np.array([browser_page.page.evaluate(STEP, count) for count in counts])
        repeated = np.array([browser_page.page.evaluate(STEP, count) for count in counts[::-1][1:]])
        ladders = browser_page.request_counts.get("ladder", 0) - counts_before.get("ladder", 0)
        foreign = len(browser_page.foreign_urls)
    with open_page(browser, server, f"/clips/{digest}?keys={MIN_KEYS - 1}") as browser_page:  # with empty caches
        wait_until_idle(browser_page)
        drag_times = np.array(browser_page.page.evaluate(DRAG, counts))
    p95 = {
        "keys": _p95(steps[:, 0]),
        "strip": _p95(steps[:, 1]),
        "again": _p95(repeated[:, 1]),
        "drag": _p95(drag_times),
    }
    print(f"   {n_frames} frames: keys {np.median(steps[:, 0]):.0f} ms, 95 % within {p95['keys']:.0f}; "
          f"strip {np.median(steps[:, 1]):.0f} ms, 95 % within {p95['strip']:.0f}; "
          f"seen before {np.median(repeated[:, 1]):.0f} ms, 95 % within {p95['again']:.0f}; "
          f"dragged, 20 numbers a second: {np.median(drag_times):.0f} ms, 95 % within {p95['drag']:.0f}")  # fmt: skip
    return {
        **{f"{kind}_95_ms_at_{n_frames}": value for kind, value in p95.items()},
        "ladders_while_browsing": figures["ladders_while_browsing"] + ladders,
        "foreign_requests": figures["foreign_requests"] + foreign,
    }


def wait_until_idle(browser_page: BrowserPage) -> None:
    """Wait until keys, strip and curves are drawn and no more requests are sent."""
    browser_page.page.wait_for_selector("input.keys-slider:not([disabled])")
    browser_page.page.wait_for_selector(".strip[aria-busy=false] img")
    end, quiet = time.monotonic() + SETTLE_S, 0
    while quiet < 4 and time.monotonic() < end:
        before = sum(browser_page.request_counts.values())
        browser_page.page.wait_for_timeout(250)
        quiet = quiet + 1 if sum(browser_page.request_counts.values()) == before else 0


def _p95(values: Any) -> float:
    return float(np.percentile(values, 95))


if __name__ == "__main__":
    run()
