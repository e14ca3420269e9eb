"""From a chosen file of 1,000 frames to its strip on the screen, in Chromium.

.venv/bin/python -m benchmarks.web.uploading
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.web.clips import cuts
from benchmarks.web.looking import opened
from tests.browsing import chromium
from tests.serving import serving

import keypose as kp

N_FRAMES = 1000
N_FILES = 12

# Starts the clock when the page is given files, and stops it when the card of that name shows its strip.
WATCH = """(name) => {
  const picker = document.querySelector(".pick-files");
  window.stripSeen = new Promise((resolve) => {
    picker.addEventListener("change", () => {
      const start = performance.now();
      const look = () => {
        const names = [...document.querySelectorAll(".card-name")];
        const card = names.find((each) => each.textContent === name)?.closest(".card");
        const strip = card?.querySelector(".card-strip.there");
        if (strip) requestAnimationFrame(() => resolve(performance.now() - start));
        else requestAnimationFrame(look);
      };
      look();
    }, { once: true, capture: true });
  });
}"""


def run() -> dict[str, float]:
    """Seconds until the strip is seen: of the very first file after the start of the server, and of those after it."""
    with tempfile.TemporaryDirectory() as folder:
        files = cuts(Path(folder), N_FRAMES, N_FILES)
        megabytes = files[0].stat().st_size / 1e6
        with kp.Library(Path(folder) / "clips.db") as library:
            library.add(kp.demo_motion())
        with serving(Path(folder) / "clips.db") as served, chromium() as browser, opened(browser, served, "/") as seen:
            seen.page.wait_for_selector(".card-strip.there")
            taken = []
            for file in files:
                seen.page.evaluate(WATCH, file.stem)
                seen.page.set_input_files(".pick-files", str(file))
                taken.append(seen.page.evaluate("() => window.stripSeen") / 1000)
    print(f"   {N_FILES} files of {N_FRAMES} frames ({megabytes:.1f} MB each): the first strip after "
          f"{taken[0]:.2f} s, then {np.median(taken[1:]):.2f} s, at most {max(taken):.2f} s")  # fmt: skip
    return {"first_strip_s": taken[0], "strip_of_upload_s": float(np.max(taken))}


if __name__ == "__main__":
    run()
