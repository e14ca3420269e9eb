"""Scrolling through a thousand real clips, in Chromium: time per frame.

.venv/bin/python -m benchmarks.web.scroll
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA
from benchmarks.web.browser_page import open_page
from tests.support.chromium import launch_chromium
from tests.support.server_process import run_server

import keypose as kp

PX_PER_FRAME = 40.0  # two and a half screens a second
DURATION_MS = 6000
STUTTER_MS = 50.0

# Scrolls down by px in each frame and returns the time of each frame.
SCROLL = """async ([px, forMs]) => {
  const taken = [];
  const start = performance.now();
  let before = start;
  while (performance.now() - start < forMs) {
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    taken.push(now - before);
    before = now;
    document.scrollingElement.scrollBy(0, px);
  }
  return [taken.slice(2), document.scrollingElement.scrollTop];
}"""


def run() -> dict[str, float]:
    files = [file for name in ("cmu30", "cmu30-more") for file in sorted((DATA / name).rglob("*.bvh*"))]
    with tempfile.TemporaryDirectory() as folder:
        with kp.Library(Path(folder) / "clips.db") as library:
            library.add(files)
            n_clips = library.stats().clips
        with (
            run_server(Path(folder) / "clips.db") as server,
            launch_chromium() as browser,
            open_page(browser, server, "/") as browser_page,
        ):
            browser_page.page.wait_for_selector(".card-strip.loaded")
            frame_times, distance_px = browser_page.page.evaluate(SCROLL, [PX_PER_FRAME, DURATION_MS])
    frames = np.array(frame_times)
    stutters = float(100 * np.mean(frames > STUTTER_MS))
    print(f"   {n_clips} clips, {distance_px:.0f} px: {np.median(frames):.1f} ms a frame, 95 % within "
          f"{np.percentile(frames, 95):.0f} ms, the longest {frames.max():.0f} ms; "
          f"{stutters:.1f} % over {STUTTER_MS:g}")  # fmt: skip
    return {
        "scrolled_clips": float(n_clips),
        "scroll_95_ms": float(np.percentile(frames, 95)),
        "scroll_stutters_percent": stutters,
    }


if __name__ == "__main__":
    run()
