"""Time from choosing a file of 1,000 frames to its strip on the screen, in Chromium.

.venv/bin/python -m benchmarks.web.upload
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.web.browser_page import open_page
from benchmarks.web.clips import write_cuts
from tests.support.chromium import launch_chromium
from tests.support.server_process import run_server

import keypose as kp

N_FRAMES = 1000
N_FILES = 12

# Measures from the change event of the file picker until the card of that name shows its strip.
WATCH = """(name) => {
  const picker = document.querySelector(".pick-files");
  window.stripVisible = new Promise((resolve) => {
    picker.addEventListener("change", () => {
      const start = performance.now();
      const look = () => {
        const names = [...document.querySelectorAll(".card-name")];
        const card = names.find((each) => each.textContent === name)?.closest(".card");
        const strip = card?.querySelector(".card-strip.loaded");
        if (strip) requestAnimationFrame(() => resolve(performance.now() - start));
        else requestAnimationFrame(look);
      };
      look();
    }, { once: true, capture: true });
  });
}"""


def run() -> dict[str, float]:
    """Return seconds until the strip is visible: of the first file after server start, and of the slowest file."""
    with tempfile.TemporaryDirectory() as folder:
        files = write_cuts(Path(folder), N_FRAMES, N_FILES)
        megabytes = files[0].stat().st_size / 1e6
        with kp.Library(Path(folder) / "clips.db") as library:
            library.add(kp.demo_motion())
        with (
            run_server(Path(folder) / "clips.db") as server,
            launch_chromium() as browser,
            open_page(browser, server, "/") as browser_page,
        ):
            browser_page.page.wait_for_selector(".card-strip.loaded")
            seconds = []
            for file in files:
                browser_page.page.evaluate(WATCH, file.stem)
                browser_page.page.set_input_files(".pick-files", str(file))
                seconds.append(browser_page.page.evaluate("() => window.stripVisible") / 1000)
    print(f"   {N_FILES} files of {N_FRAMES} frames ({megabytes:.1f} MB each): the first strip after "
          f"{seconds[0]:.2f} s, then {np.median(seconds[1:]):.2f} s, at most {max(seconds):.2f} s")  # fmt: skip
    return {"first_strip_s": seconds[0], "strip_of_upload_s": float(np.max(seconds))}


if __name__ == "__main__":
    run()
