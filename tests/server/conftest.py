"""A library of a few clips, and a server of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from server_live import UPLOAD_BYTES, UPLOADS_AT_ONCE, Live, started

import keypose as kp


@pytest.fixture(scope="session")
def kept_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips; tests get copies."""
    folder = tmp_path_factory.mktemp("library")
    demo = kp.demo_motion(fps=30)
    with kp.Library(folder / "clips.db") as library:
        library.add(demo[20:140], name="walk", tags=("walk", "demo"))
        library.add(demo[260:360], name="kick", tags=("kick", "demo"))
        library.add(demo[150:230], name="<script>alert(1)</script>", tags=("demo",))
    return folder


@pytest.fixture(scope="session")
def library_path(kept_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the server that most tests share."""
    folder = tmp_path_factory.mktemp("shared") / "library"
    shutil.copytree(kept_library, folder)
    return folder / "clips.db"


@pytest.fixture(scope="session")
def live(library_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    log = tmp_path_factory.mktemp("log") / "stderr"
    limits = {"upload_bytes": UPLOAD_BYTES, "uploads_at_once": UPLOADS_AT_ONCE, "unpacked_bytes": 32 << 20}
    with started(log, library_path, upload_workers=1, upload_s=20.0, **limits) as running:
        yield running


@pytest.fixture(scope="session")
def client(live: Live) -> Iterator[httpx.Client]:
    with live.client() as browser:
        yield browser


@pytest.fixture(scope="session")
def hashes(client: httpx.Client) -> dict[str, str]:
    """Of the clips by name."""
    return {clip["name"]: clip["hash"] for clip in client.get("/api/clips").json()["clips"]}


@pytest.fixture(scope="session")
def walk(hashes: dict[str, str]) -> str:
    return hashes["walk"]


@pytest.fixture(scope="session")
def motion(kept_library: Path, walk: str) -> kp.Motion:
    """The clip called walk."""
    with kp.Library(kept_library / "clips.db") as library:
        return replace(library.get(walk), name="walk")
