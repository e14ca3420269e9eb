"""A library of a few clips, and a server for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import keypose as kp
from support.live_server import MAX_UPLOAD_BYTES, MAX_UPLOADS, LiveServer, start_server


@pytest.fixture(scope="session")
def library_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips; tests get copies."""
    folder = tmp_path_factory.mktemp("library")
    demo = kp.demo_motion(fps=30)
    with kp.Library(folder / "clips.db") as library:
        library.add(demo[20:140], name="walk", tags=("walk", "demo"))
        library.add(demo[260:360], name="kick", tags=("kick", "demo"))
        library.add(demo[150:230], name="<script>alert(1)</script>", tags=("demo",))
    return folder


@pytest.fixture(scope="session")
def library_path(library_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the server that most tests share."""
    folder = tmp_path_factory.mktemp("shared") / "library"
    shutil.copytree(library_template, folder)
    return folder / "clips.db"


@pytest.fixture(scope="session")
def live(library_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    log = tmp_path_factory.mktemp("log") / "stderr"
    limits = {"max_upload_bytes": MAX_UPLOAD_BYTES, "max_uploads": MAX_UPLOADS, "max_unpacked_bytes": 32 << 20}
    with start_server(log, library_path, upload_workers=1, upload_timeout_s=20.0, **limits) as server:
        yield server


@pytest.fixture(scope="session")
def client(live: LiveServer) -> Iterator[httpx.Client]:
    with live.client() as browser:
        yield browser


@pytest.fixture(scope="session")
def hashes(library_template: Path) -> dict[str, str]:
    """Hashes of the clips by name. Not asked of the server: a test may have uploaded a clip of the same name."""
    with kp.Library(library_template / "clips.db") as library:
        return {clip.name: clip.hash for clip in library}


@pytest.fixture(scope="session")
def walk(hashes: dict[str, str]) -> str:
    return hashes["walk"]


@pytest.fixture(scope="session")
def motion(library_template: Path, walk: str) -> kp.Motion:
    """The clip named walk."""
    with kp.Library(library_template / "clips.db") as library:
        return replace(library.get(walk), name="walk")
