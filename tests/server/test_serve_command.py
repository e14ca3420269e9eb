"""``keypose serve``, as it is typed."""

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
from server_live import is_alive, runs, until

import keypose as kp
from keypose.cli.serve_run import ONE_THREAD


@pytest.fixture(autouse=True)
def _threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command sets for its own process is not for the tests after these."""
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "1")


@contextmanager
def serving(folder: Path, *options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The program in a folder, and what it said when it was there."""
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
def heard(how: Any) -> Iterator[None]:
    """How processes that are started meanwhile take SIGHUP; the tests themselves may run under nohup."""
    before = signal.signal(signal.SIGHUP, how)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def children(pid: int) -> set[int]:
    return {int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()}


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_serves_a_new_library_and_ends_at_once(tmp_path: Path, stop: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with heard(signal.SIG_DFL), serving(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, said):
        assert said["url"] == f"http://127.0.0.1:{said['port']}/?token={said['token']}" and said["pid"] == process.pid
        with httpx.Client(
            verify=False, trust_env=False, headers={"Authorization": f"Bearer {said['token']}"}
        ) as program:
            assert program.get(f"http://127.0.0.1:{said['port']}/api/library").json()["clips"] == 0
            workers = children(process.pid)
            began = time.monotonic()
            process.send_signal(stop)  # while a connection is open
            code = process.wait(20)
        assert time.monotonic() - began < 10.0
        assert code == 0
        assert workers and not any(map(is_alive, workers))
        assert process.stderr is not None and process.stderr.read() == ""
    assert (tmp_path / "clips.db").is_file()
    assert list(temporary.iterdir()) == []


def test_workers_leave_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as (process, _):
        workers = children(process.pid)
        assert workers
        process.kill()
        process.wait(10)
        until(lambda: not any(map(runs, workers)))


def test_what_a_killed_server_left_is_removed_by_the_next(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with serving(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, _):
        process.kill()
        process.wait(10)
    (left,) = temporary.iterdir()
    with serving(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (one, _):
        mine = set(temporary.iterdir())
        assert len(mine) == 1 and left not in mine
        with serving(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (other, _):
            assert mine < set(temporary.iterdir())  # of one that runs nothing is removed
            for process in (other, one):
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
    assert list(temporary.iterdir()) == []


def test_it_leaves_in_the_middle_of_a_change_that_does_not_end(tmp_path: Path) -> None:
    """Another process has been writing to the library for long."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with kp.Library(tmp_path / "clips.db") as library:
        clip = library.add(kp.demo_motion(fps=30)[20:60], name="walk")
    with serving(tmp_path, "--port", "0", TMPDIR=str(temporary)) as (process, said):
        headers = {"Authorization": f"Bearer {said['token']}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{said['port']}", trust_env=False, headers=headers) as program:
            other = sqlite3.connect(tmp_path / "clips.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            asked = threading.Thread(target=_tag, args=(program, clip.hash))
            asked.start()
            time.sleep(1.0)
            workers = children(process.pid)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
            took = time.monotonic() - began
            asked.join()
            other.close()
        assert code == 0 and took < 10.0
        assert workers and not any(map(runs, workers))
        assert process.stderr is not None and process.stderr.read() == ""
    assert list(temporary.iterdir()) == []
    with kp.Library(tmp_path / "clips.db") as library:
        assert library.clip("walk").tags == ()


def _tag(program: httpx.Client, digest: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        program.post("/api/clips/tag", json={"clips": [digest], "add": ["late"]}, timeout=60.0)


def test_nohup_is_heeded(tmp_path: Path) -> None:
    with heard(signal.SIG_IGN), serving(tmp_path, "--port", "0") as (process, _):
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_the_demo_has_clips(tmp_path: Path) -> None:
    with serving(tmp_path, "--demo", "--port", "0") as (process, said):
        with httpx.Client(
            verify=False, trust_env=False, headers={"Authorization": f"Bearer {said['token']}"}
        ) as program:
            page = program.get(f"http://127.0.0.1:{said['port']}/api/clips").json()
        assert page["total"] >= 12 and {"walk", "kick", "jump", "turn"} <= {
            each["tag"] for each in page["facets"]["tags"]
        }
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert not Path(said["library"]).parent.exists() and list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from keypose.cli.app import run
    from keypose.server.serving import listening

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with listening("127.0.0.1", port, others=True) as other:
            assert port < other.getsockname()[1] < port + 50
        assert run(["serve", "--library", str(tmp_path / "c.db"), "--port", str(port)]) == 1
    assert f"port {port}: cannot be listened on" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--host", "0.0.0.0"], 2, "other machines need a password"),
        (["--host", "0.0.0.0", "--password-file", "none.txt"], 1, "the password cannot be read"),
        (["--host", "0.0.0.0", "--password-file", "short.txt"], 1, "expected 10 to 1000"),
        (["--demo", "--library", "x.db"], 2, "--demo makes a library of its own"),
        (["--port", "70000"], 2, "expected a number from 0 to 65535"),
        (["--host", "no such host"], 1, "cannot be listened on"),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    says: str,
) -> None:
    from keypose.cli.app import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: PTH123, SIM115
    monkeypatch.delenv("KEYPOSE_PASSWORD", raising=False)
    if "no such host" in options:
        monkeypatch.setenv("KEYPOSE_PASSWORD", "long enough")
    (tmp_path / "short.txt").write_text("short\n")
    assert run(["serve", *options]) == code
    assert says in capfd.readouterr().err
    sys.stdin.close()


def test_other_machines_come_in_by_the_password_alone(tmp_path: Path) -> None:
    kp.Library(tmp_path / "clips.db").close()
    with serving(tmp_path, "--host", "0.0.0.0", "--port", "0", KEYPOSE_PASSWORD="open sesame") as (process, said):
        origin = f"http://127.0.0.1:{said['port']}"
        for pid in children(process.pid):
            assert b"open sesame" not in Path(f"/proc/{pid}/environ").read_bytes()
        with httpx.Client(verify=False, trust_env=False, headers={"Origin": origin}, base_url=origin) as browser:
            assert browser.get("/api/library", headers={"Host": f"evil.example:{said['port']}"}).status_code == 421
            assert browser.get("/api/library").status_code == 401
            assert browser.post("/login", data={"password": "open sesame"}).status_code == 303
            assert browser.get("/api/library").status_code == 200


def test_the_server_gives_memory_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its workers do, who are measured."""
    from keypose.server import serving
    from keypose.server.settings import Settings

    asked: list[str] = []
    monkeypatch.setattr(serving, "give_back_large", lambda: asked.append("memory"))
    monkeypatch.setattr(serving._Server, "run", lambda self, sockets: asked.append("served"))
    with socket.socket() as on:
        serving.serve(Settings("none.db"), on)
    assert asked == ["memory", "served"]
