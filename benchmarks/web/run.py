"""The web app: response times of pages, behaviour of the server under load, and page sizes."""

from __future__ import annotations

import shutil

from benchmarks.measure import DATA, unmeasured_figures
from benchmarks.web import load, scroll, sizes, slider, upload


def run() -> dict[str, float]:
    if shutil.which("chromium") is None or not (DATA / "cmu30-more").is_dir():
        print("   Chromium or cmu30-more is not here")
        return unmeasured_figures("web")
    return {**sizes.run(), **slider.run(), **upload.run(), **scroll.run(), **load.run()}
