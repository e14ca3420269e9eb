"""Scrolling through a thousand real clips, in Chromium: how long each frame takes.

.venv/bin/python -m benchmarks.web.scrolling
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA
from benchmarks.web.looking import opened
from tests.browsing import chromium
from tests.serving import serving

import keypose as kp

PX_PER_FRAME = 40.0  # two and a half screens a second
FOR_MS = 6000
STUTTER_MS = 50.0

# Scrolls down, a little with each frame, and says how long each took.
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
        with serving(Path(folder) / "clips.db") as served, chromium() as browser, opened(browser, served, "/") as seen:
            seen.page.wait_for_selector(".card-strip.there")
            taken, way = seen.page.evaluate(SCROLL, [PX_PER_FRAME, FOR_MS])
    frames = np.array(taken)
    stutters = float(100 * np.mean(frames > STUTTER_MS))
    print(f"   {n_clips} clips, {way:.0f} px: {np.median(frames):.1f} ms a frame, 95 % within "
          f"{np.percentile(frames, 95):.0f} ms, the longest {frames.max():.0f} ms; "
          f"{stutters:.1f} % over {STUTTER_MS:g}")  # fmt: skip
    return {
        "scrolled_clips": float(n_clips),
        "scroll_95_ms": float(np.percentile(frames, 95)),
        "scroll_stutters_percent": stutters,
    }


if __name__ == "__main__":
    run()
