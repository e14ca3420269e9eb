"""Fixtures: a server with a few clips, and its pages in a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.clip_page import CLIP
from support.web_pages import CUTS, OpenPage, ServerInfo, cut, open_tab, serve_copy

PAGES = Path(kp.__file__).parent / "server" / "static" / "index.html"
_AXE = Path(__file__).resolve().parents[2] / "tools" / "axe.sh"


@pytest.fixture(scope="session")
def pages() -> None:
    """Require the built pages; skip if they are absent (fail in CI)."""
    if not PAGES.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the pages are not built: make web")


@pytest.fixture(scope="session")
def library_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a library with the cuts; tests get copies."""
    folder = tmp_path_factory.mktemp("clips")
    with kp.Library(folder / "clips.db") as library:
        for name, first, end, tags in CUTS:
            library.add(cut(name, first, end), tags=("demo", *tags))
    return folder


@pytest.fixture(scope="session")
def server(pages: None, library_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """One server for all tests that do not change the library. Modules that change it have their own."""
    with serve_copy(library_folder, tmp_path_factory.mktemp("served")) as process:
        yield process


@pytest.fixture(scope="module")
def hashes(server: ServerInfo) -> dict[str, str]:
    """Hashes of the clips by name."""
    with kp.Library(server.library, create=False) as library:
        return {clip.name: clip.hash for clip in library.clips()}


@pytest.fixture
def clip(server: ServerInfo, hashes: dict[str, str]) -> str:
    """Return the hash of the clip under test, without a draft."""
    with kp.Library(server.library, create=False) as library:
        library.delete_draft(hashes[CLIP])
    return hashes[CLIP]


@pytest.fixture
def open_page(browser: Any, server: ServerInfo) -> OpenPage:
    """Return a function that opens an address with the token: ``with open_page("/?text=walk") as tab``."""
    return lambda path="/", **context: open_tab(browser, server, path, **context)


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the script of axe-core, an accessibility checker."""
    if shutil.which("npm") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no npm on this machine, which installs axe-core")
    folder = subprocess.run([_AXE], check=True, capture_output=True, text=True).stdout.split()[-1]
    return (Path(folder) / "node_modules" / "axe-core" / "axe.min.js").read_text()
