"""The web app: how quickly pages follow a hand, what a crowd does to the server, how much a browser loads."""

from __future__ import annotations

import shutil

from benchmarks.measure import DATA, not_measured
from benchmarks.web import crowd, scrolling, sizes, slider, uploading


def run() -> dict[str, float]:
    if shutil.which("chromium") is None or not (DATA / "cmu30-more").is_dir():
        print("   Chromium or cmu30-more is not here")
        return not_measured("web")
    return {**sizes.run(), **slider.run(), **uploading.run(), **scrolling.run(), **crowd.run()}
