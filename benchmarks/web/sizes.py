"""Gzipped size of the files that a browser loads for the library page and for a clip page with three.js.

.venv/bin/python -m benchmarks.web.sizes
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.web.browser_page import open_page
from tests.support.chromium import launch_chromium
from tests.support.server_process import run_server

import keypose as kp
from keypose.server import static_files

STATIC = Path(static_files.__file__).parent / "static"


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        with kp.Library(Path(folder) / "clips.db") as library:
            digest = library.add(kp.demo_motion()).hash
        with run_server(Path(folder) / "clips.db") as server, launch_chromium() as browser:
            sizes = {}
            for name, path, selector in (
                ("library", "/", ".card-strip.loaded"),
                ("clip", f"/clips/{digest}", ".strip img"),
            ):
                with open_page(browser, server, path) as browser_page:
                    loaded_paths: list[str] = []
                    browser_page.page.on(
                        "request", lambda request, paths=loaded_paths: paths.append(urlsplit(request.url).path)
                    )
                    browser_page.page.reload()
                    browser_page.page.wait_for_selector(selector)
                    browser_page.page.wait_for_timeout(500)
                    sizes[name] = _gzipped_kb(loaded_paths)
                    sizes[f"{name}_without_three"] = _gzipped_kb(
                        [path for path in loaded_paths if "/three-" not in path]
                    )
    print(f"   library page {sizes['library']:.1f} kB; clip page {sizes['clip_without_three']:.1f} kB, with three.js "
          f"{sizes['clip']:.1f} kB")  # fmt: skip
    return {
        "library_page_kb": sizes["library"],
        "clip_page_without_three_kb": sizes["clip_without_three"],
        "clip_page_kb": sizes["clip"],
    }


def _gzipped_kb(paths: list[str]) -> float:
    files = {STATIC / "index.html", *(STATIC / path.lstrip("/") for path in paths)}
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files if file.is_file()) / 1000


if __name__ == "__main__":
    run()
