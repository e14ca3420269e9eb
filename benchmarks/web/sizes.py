"""How much of the pages a browser loads, gzipped: of the library page, and of a clip's page with three.js.

.venv/bin/python -m benchmarks.web.sizes
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.web.looking import opened
from tests.browsing import chromium
from tests.serving import serving

import keypose as kp
from keypose.server import static_files

STATIC = Path(static_files.__file__).parent / "static"


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        with kp.Library(Path(folder) / "clips.db") as library:
            digest = library.add(kp.demo_motion()).hash
        with serving(Path(folder) / "clips.db") as served, chromium() as browser:
            sizes = {}
            for name, path, there in (
                ("library", "/", ".card-strip.there"),
                ("clip", f"/clips/{digest}", ".strip img"),
            ):
                with opened(browser, served, path) as seen:
                    loaded: list[str] = []
                    seen.page.on("request", lambda request, found=loaded: found.append(urlsplit(request.url).path))
                    seen.page.reload()
                    seen.page.wait_for_selector(there)
                    seen.page.wait_for_timeout(500)
                    sizes[name] = _kilobytes(loaded)
                    sizes[f"{name}_without_three"] = _kilobytes([path for path in loaded if "/three-" not in path])
    print(f"   library page {sizes['library']:.1f} kB; clip page {sizes['clip_without_three']:.1f} kB, with three.js "
          f"{sizes['clip']:.1f} kB")  # fmt: skip
    return {
        "library_page_kb": sizes["library"],
        "clip_page_without_three_kb": sizes["clip_without_three"],
        "clip_page_kb": sizes["clip"],
    }


def _kilobytes(paths: list[str]) -> float:
    files = {STATIC / "index.html", *(STATIC / path.lstrip("/") for path in paths)}
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files if file.is_file()) / 1000


if __name__ == "__main__":
    run()
