"""A server of a few clips, and how to open its pages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clip_page import CLIP
from web_served import CUTS, Look, Served, cut, looking, serving_copy

import keypose as kp

PAGES = Path(kp.__file__).parent / "server" / "static" / "index.html"
_AXE = Path(__file__).resolve().parents[2] / "tools" / "axe.sh"


@pytest.fixture(scope="session")
def pages() -> None:
    """The built pages; tests that need them are skipped, by name, where they are absent (never in CI)."""
    if not PAGES.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the pages are not built: make web")


@pytest.fixture(scope="session")
def kept_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the cuts; tests get copies."""
    folder = tmp_path_factory.mktemp("clips")
    with kp.Library(folder / "clips.db") as library:
        for name, first, end, tags in CUTS:
            library.add(cut(name, first, end), tags=("demo", *tags))
    return folder


@pytest.fixture(scope="session")
def served(pages: None, kept_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests that leave the library as it is. Files of tests that change it have one of their own."""
    with serving_copy(kept_clips, tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="module")
def hashes(served: Served) -> dict[str, str]:
    """Of the clips by name, as they were when the server started."""
    with kp.Library(served.library, create=False) as library:
        return {clip.name: clip.hash for clip in library.clips()}


@pytest.fixture
def clip(served: Served, hashes: dict[str, str]) -> str:
    """The hash of the clip that is looked at. Nobody edits it yet, whatever other tests did."""
    with kp.Library(served.library, create=False) as library:
        library.drop_draft(hashes[CLIP])
    return hashes[CLIP]


@pytest.fixture
def look(browser: Any, served: Served) -> Look:
    """Opens an address of the app, as somebody who has the token: ``with look("/?words=walk") as watched``."""
    return lambda path="/", **context: looking(browser, served, path, **context)


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which judges whether a page can be used without eyes or a mouse."""
    if shutil.which("npm") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no npm on this machine, which installs axe-core")
    folder = subprocess.run([_AXE], check=True, capture_output=True, text=True).stdout.split()[-1]
    return (Path(folder) / "node_modules" / "axe-core" / "axe.min.js").read_text()
