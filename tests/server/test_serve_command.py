"""The command ``keypose serve``."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import keypose as kp
from keypose.cli.serve import THREAD_VARIABLES
from support.live_server import is_alive, runs, until


@pytest.fixture(autouse=True)
def _threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the environment variables that the command sets."""
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")


@contextmanager
def run_server(
    folder: Path, *options: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run the command in a folder; yield the process and what it printed."""
    command = [sys.executable, "-m", "keypose", "serve", "--json", *options]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            lines = []
            while not lines or lines[-1] not in ("}\n", ""):
                lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
            yield process, json.loads("".join(lines))
        finally:
            process.kill()


@contextmanager
def sighup_handler(handler: Any) -> Iterator[None]:
    """Set the SIGHUP handler that child processes inherit; the tests may run under nohup."""
    previous = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, previous)


def children(pid: int) -> set[int]:
    return {int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()}


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serves_new_library_and_stops(tmp_path: Path, stop: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with sighup_handler(signal.SIG_DFL), run_server(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, info):
        assert info["url"] == f"http://127.0.0.1:{info['port']}/?token={info['token']}" and info["pid"] == process.pid
        with httpx.Client(
            verify=False, trust_env=False, headers={"Authorization": f"Bearer {info['token']}"}
        ) as program:
            assert program.get(f"http://127.0.0.1:{info['port']}/api/library").json()["n_clips"] == 0
            workers = children(process.pid)
            start_time = time.monotonic()
            process.send_signal(stop)  # while a connection is open
            code = process.wait(20)
        assert time.monotonic() - start_time < 10.0
        assert code == 0
        assert workers and not any(map(is_alive, workers))
        assert process.stderr is not None and process.stderr.read() == ""
    assert (tmp_path / "clips.db").is_file()
    assert list(temporary.iterdir()) == []


def test_open_uses_private_file(tmp_path: Path, browser: Any) -> None:
    """The token is in no list of processes; the page opens and is authenticated, while the browser command runs."""
    temporary, record = tmp_path / "temporary", tmp_path / "argument"
    temporary.mkdir()
    script = tmp_path / "browser.sh"
    script.write_text(f'#!/bin/sh\necho "$1" >{record}\nwhile [ -e {record} ]; do sleep 0.1; done\n')
    script.chmod(0o700)
    kp.Library(tmp_path / "clips.db").close()
    environment = {"TMPDIR": str(temporary), "BROWSER": f"{script} %s"}
    with run_server(tmp_path, "--port", "0", "--open", **environment) as (process, info):
        until(lambda: record.exists() and record.read_text().endswith("\n"))
        url = record.read_text().strip()
        assert url.startswith("file://") and info["token"] not in url
        file = Path(url.removeprefix("file://"))
        assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
        page = browser.new_page()
        page.goto(url)
        page.get_by_role("heading", name="Library").wait_for(state="attached")
        assert page.url == f"http://127.0.0.1:{info['port']}/"
        assert page.evaluate("fetch('/api/library').then((response) => response.status)") == 200
        page.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        record.unlink()
    assert list(temporary.iterdir()) == []


def test_workers_exit_with_killed_server(tmp_path: Path) -> None:
    with run_server(tmp_path, "--port", "0") as (process, _):
        workers = children(process.pid)
        assert workers
        process.kill()
        process.wait(10)
        until(lambda: not any(map(runs, workers)))


def test_next_server_removes_stale_files(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with run_server(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, _):
        process.kill()
        process.wait(10)
    (left,) = temporary.iterdir()
    with run_server(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (first, _):
        mine = set(temporary.iterdir())
        assert len(mine) == 1 and left not in mine
        with run_server(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (other, _):
            assert mine < set(temporary.iterdir())  # files of a running server are not removed
            for process in (other, first):
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
    assert list(temporary.iterdir()) == []


def test_exits_during_blocked_write(tmp_path: Path) -> None:
    """Another process holds the write lock of the library."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with kp.Library(tmp_path / "clips.db") as library:
        clip = library.add(kp.demo_motion(fps=30)[20:60], name="walk")
    with run_server(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, info):
        headers = {"Authorization": f"Bearer {info['token']}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{info['port']}", trust_env=False, headers=headers) as program:
            other = sqlite3.connect(tmp_path / "clips.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            calls = threading.Thread(target=_tag, args=(program, clip.hash))
            calls.start()
            time.sleep(1.0)
            workers = children(process.pid)
            start_time = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
            elapsed_s = time.monotonic() - start_time
            calls.join()
            other.close()
        assert code == 0 and elapsed_s < 10.0
        assert workers and not any(map(runs, workers))
        assert process.stderr is not None and process.stderr.read() == ""
    assert list(temporary.iterdir()) == []
    with kp.Library(tmp_path / "clips.db") as library:
        assert library.clip("walk").tags == ()


def _tag(program: httpx.Client, digest: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        program.post("/api/clips/tags", json={"clips": [digest], "add": ["late"]}, timeout=60.0)


def test_nohup(tmp_path: Path) -> None:
    with sighup_handler(signal.SIG_IGN), run_server(tmp_path, "--port", "0") as (process, _):
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_demo_library(tmp_path: Path) -> None:
    with run_server(tmp_path, "--demo", "--port", "0") as (process, info):
        with httpx.Client(
            verify=False, trust_env=False, headers={"Authorization": f"Bearer {info['token']}"}
        ) as program:
            page = program.get(f"http://127.0.0.1:{info['port']}/api/clips").json()
        assert page["total"] >= 12 and {"walk", "kick", "jump", "turn"} <= {
            each["tag"] for each in page["facets"]["tags"]
        }
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert not Path(info["library"]).parent.exists() and list(tmp_path.iterdir()) == []


def test_occupied_port(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from keypose.cli.app import run
    from keypose.server.serve import open_socket

    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        with open_socket("127.0.0.1", port, try_next_ports=True) as other:
            assert port < other.getsockname()[1] < port + 50
        assert run(["serve", "--library", str(tmp_path / "c.db"), "--port", str(port)]) == 1
    assert f"port {port}: cannot be listened on" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--host", "0.0.0.0"], 2, "lets other machines in without a password"),
        (["--host", "0.0.0.0", "--password-file", "none.txt"], 1, "the password cannot be read"),
        (["--host", "0.0.0.0", "--password-file", "short.txt"], 1, "expected 10 to 1000"),
        (["--demo", "--library", "x.db"], 2, "--demo makes a library of its own"),
        (["--port", "70000"], 2, "expected a number from 0 to 65535"),
        (["--host", "no such host"], 1, "cannot be listened on"),
    ],
)
def test_invalid_options(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    message: str,
) -> None:
    from keypose.cli.app import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: PTH123, SIM115
    monkeypatch.delenv("KEYPOSE_PASSWORD", raising=False)
    if "no such host" in options:
        monkeypatch.setenv("KEYPOSE_PASSWORD", "long enough")
    (tmp_path / "short.txt").write_text("short\n")
    assert run(["serve", *options]) == code
    assert message in capfd.readouterr().err
    sys.stdin.close()


def test_missing_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """In a checkout in which they were not built: no library is created and no port opened."""
    from keypose.cli.app import run
    from keypose.server import static_files

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(static_files, "FILES", static_files.StaticFiles(tmp_path / "static"))
    assert run(["serve", "--json"]) == 1
    captured = capfd.readouterr()
    assert json.loads(captured.out)["error_fields"]["code"] == "no_pages"
    assert run(["serve"]) == 1
    # The golden message of this error:
    message = f"error: {tmp_path / 'static'}: the pages of the web app are not built; in the checkout, type: make web"
    assert " ".join(capfd.readouterr().err.split()) == message
    assert list(tmp_path.iterdir()) == []


def test_other_machines_need_password(tmp_path: Path) -> None:
    kp.Library(tmp_path / "clips.db").close()
    with run_server(tmp_path, "--host", "0.0.0.0", "--port", "0", KEYPOSE_PASSWORD="open sesame") as (process, info):
        origin = f"http://127.0.0.1:{info['port']}"
        for pid in children(process.pid):
            assert b"open sesame" not in Path(f"/proc/{pid}/environ").read_bytes()
        with httpx.Client(verify=False, trust_env=False, headers={"Origin": origin}, base_url=origin) as browser:
            assert browser.get("/api/library", headers={"Host": f"evil.example:{info['port']}"}).status_code == 421
            assert browser.get("/api/library").status_code == 401
            assert browser.post("/login", data={"password": "open sesame"}).status_code == 303
            assert browser.get("/api/library").status_code == 200


def test_server_releases_large_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the call is checked: the effect is measured on a worker."""
    from keypose.server import serve
    from keypose.server.settings import Settings

    calls: list[str] = []
    monkeypatch.setattr(serve, "release_large_blocks", lambda: calls.append("memory"))
    monkeypatch.setattr(serve._Server, "run", lambda self, sockets: calls.append("served"))
    with socket.socket() as sock:
        serve.serve(Settings("none.db"), sock)
    assert calls == ["memory", "served"]
