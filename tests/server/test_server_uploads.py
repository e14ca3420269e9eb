"""Uploads: valid, broken and hostile files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from support.errors import check_error_response
from support.live_server import MAX_UPLOAD_BYTES, MAX_UPLOADS, LiveServer, until
from support.upload_requests import bvh, send, uploaded_files


def heavy(folder: Path) -> bytes:
    """A file that takes seconds to analyse, within the limit."""
    lines = bvh(folder, 0, 300, 20.0).decode().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith("Frames:"))
    rows = lines[at + 2 :]
    times = int((MAX_UPLOAD_BYTES - 100_000) / sum(map(len, rows)))
    lines[at] = f"Frames: {times * len(rows)}\n"
    return "".join(lines[: at + 2] + rows * times).encode()


def test_removed_folder_is_created_again(live: LiveServer, client: httpx.Client, tmp_path: Path) -> None:
    for folder in live.temporary.glob("keypose-uploads-*"):
        shutil.rmtree(folder)
    assert send(client, bvh(tmp_path, 77), "after the cleaner.bvh").status_code == 201


def test_upload(client: httpx.Client, tmp_path: Path) -> None:
    data = bvh(tmp_path, 1)
    response = send(client, data, "Some walk.bvh", tag=["New", "loud"])
    result = response.json()
    assert response.status_code == 201 and result["is_duplicate"] is False
    assert result["clip"]["name"] == "Some walk" and result["clip"]["tags"] == ["loud", "new"]
    assert result["clip"]["n_frames"] == 40
    strip = client.get(f"/api/clips/{result['clip']['hash']}/strip.svg")
    assert strip.status_code == 200 and strip.text.startswith("<svg ")
    again = send(client, gzip.compress(data), "again.bvh.gz").json()
    assert again["is_duplicate"] is True and again["clip"]["hash"] == result["clip"]["hash"]


def test_uploads_are_refused_while_the_bytes_of_the_library_are_gone(
    client: httpx.Client, live: LiveServer, library_path: Path, tmp_path: Path
) -> None:
    """As on a disk that is not mounted. The log has the path, the response has not, and no traceback is logged."""
    folder, data = Path(f"{library_path}.blobs"), bvh(tmp_path, 78)
    digest = send(client, bvh(tmp_path, 79), "unread.bvh").json()["clip"]["hash"]
    folder.rename(tmp_path / "away")
    try:
        folder.mkdir()
        response = send(client, data, "lost.bvh")
        assert check_error_response(response, 503, code="missing_blobs")["hint"].endswith(
            "mount the disk of the library."
        )
        assert list(folder.iterdir()) == []
        response = client.get(f"/api/clips/{digest}/frames")
        assert check_error_response(response, 500, code="missing_blob")["message"] == (
            "the file of this clip is not there"
        )
        log = live.log.read_text()
        assert f"{folder}: the files of all clips are missing" in log and f"{folder}/{digest[:2]}/{digest}" in log
        assert "Traceback" not in log
    finally:
        folder.rmdir()
        (tmp_path / "away").rename(folder)
    assert client.get("/api/clips", params={"text": "lost"}).json()["total"] == 0
    assert send(client, data, "lost.bvh").status_code == 201


@pytest.mark.parametrize(
    ("name", "clip_name"),
    [
        ("../../x.bvh", "x"),
        ("..\\..\\win.bvh", "win"),
        ("/etc/passwd", "passwd"),
        ("a\0b\r\nSet-Cookie: x=y.bvh", None),
        ("<img src=x onerror=alert(1)>.bvh", "<img src=x onerror=alert(1)>"),
        ("....", "...."),
        ("con.bvh", "con"),
        ("‮gpj.bvh", None),
        ("ü" * 900, None),
    ],
)
def test_file_names_are_not_paths(
    client: httpx.Client, live: LiveServer, library_path: Path, tmp_path: Path, name: str, clip_name: str | None
) -> None:
    before = sorted(library_path.parent.rglob("*"))
    data = bvh(tmp_path, 10 + len(name) % 60, 30 + sum(map(ord, name)) % 50)
    response = send(client, data, name)
    assert response.status_code == 201 and response.headers["content-type"] == "application/json"
    clip = response.json()["clip"]
    assert clip_name is None or clip["name"] == clip_name
    assert clip["name"].isprintable() and "set-cookie" not in response.headers
    assert client.get("/api/clips", params={"text": "no such words"}).headers["x-content-type-options"] == "nosniff"
    new = [path for path in sorted(library_path.parent.rglob("*")) if path not in before and path.is_file()]
    assert [path.name for path in new if ".db" not in path.name] == [clip["hash"]]
    page = client.get(f"/clips/{clip['hash']}", headers={"Accept": "text/html"})
    assert clip["name"] not in page.text or clip["name"].isalnum()


def test_scripts_in_joint_names_stay_text(client: httpx.Client, tmp_path: Path) -> None:
    data = bvh(tmp_path, 3, 33).replace(b"JOINT Head", b"JOINT <script>alert(1)</script>")
    assert b"<script>" in data
    clip = send(client, data, "joints.bvh").json()["clip"]
    details = client.get(f"/api/clips/{clip['hash']}")
    assert (
        details.headers["content-type"] == "application/json" and details.headers["x-content-type-options"] == "nosniff"
    )
    assert "<script>alert(1)</script>" in [joint["name"] for joint in details.json()["joints"]]
    for path in (f"/api/clips/{clip['hash']}/strip.svg", f"/api/clips/{clip['hash']}/strip.svg?frames=1,2"):
        assert "<script" not in client.get(path).text


def test_invalid_file_has_line_and_hint(client: httpx.Client, tmp_path: Path) -> None:
    lines = bvh(tmp_path, 0).split(b"\n")
    at = next(k for k, line in enumerate(lines) if b"CHANNELS 3" in line)
    lines[at] = lines[at].replace(b"CHANNELS 3", b"CHANNELS 5")
    response = send(client, b"\n".join(lines), "../broken.bvh")
    error = check_error_response(response, 422, path="broken.bvh", line=at + 1)
    assert error["message"].startswith(f"broken.bvh:{at + 1}: ") and f"line {at + 1}" in error["hint"]


@pytest.mark.parametrize("data", [b"", b"no motion", b"\x89PNG\r\n\x1a\n", b"\x1f\x8b\x08\0broken", b"HIERARCHY\nROOT"])
def test_unreadable_files(client: httpx.Client, data: bytes) -> None:
    response = send(client, data, "thing.bvh")
    assert response.status_code == 422 and response.json()["error"]["hint"]
    assert "/tmp" not in response.text


def test_notes_have_no_paths(client: httpx.Client, tmp_path: Path) -> None:
    cut = bvh(tmp_path, 7, 35).rstrip()[:-40]
    result = send(client, cut, "cut short: 1.bvh").json()
    (note,) = result["notes"]
    assert note.startswith("the last row has ") and result["clip"]["n_frames"] == 34


def test_zip_bomb(client: httpx.Client) -> None:
    bomb = gzip.compress(b"HIERARCHY\n" + b" " * (200 << 20), 9)
    assert len(bomb) < 1 << 20
    response = send(client, bomb, "bomb.bvh.gz")
    check_error_response(response, 413, code="limit", path="bomb.bvh.gz")


def test_limits_of_a_file(client: httpx.Client) -> None:
    deep = 1100
    joint = "{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    text = "".join(f"{'JOINT' if k else 'ROOT'} j{k}\n{joint}" for k in range(deep))
    end = "End Site\n{\nOFFSET 0 1 0\n}\n" + "}\n" * deep
    row = " ".join(["0"] * 3 * deep)
    data = f"HIERARCHY\n{text}{end}MOTION\nFrames: 1\nFrame Time: 0.1\n{row}\n"
    response = send(client, data.encode(), "deep.bvh")
    error = check_error_response(response, 413, code="limit", path="deep.bvh")
    assert "depth" in error["problem"] and error["line"]


def test_max_uploads(live: LiveServer, client: httpx.Client, tmp_path: Path) -> None:
    data = [bvh(tmp_path, 100 + k, 50) for k in range(3)]
    connections = [live.connection() for _ in range(MAX_UPLOADS)]
    head = f"POST /api/uploads?name=a.bvh HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\nContent-Length: 9\r\n\r\nH"
    for connection in connections:
        connection.sendall(head.encode())
    until(lambda: len(uploaded_files(live)) >= MAX_UPLOADS)
    response = send(client, data[0], "one more.bvh")
    check_error_response(response, 429, code="too_many_requests")
    for connection in connections:
        connection.close()
    until(lambda: not uploaded_files(live))
    with ThreadPoolExecutor(3) as executor:
        assert [response.status_code for response in executor.map(lambda each: send(client, each, "w.bvh"), data)] == [
            201
        ] * 3


def test_disconnected_client_leaves_nothing(live: LiveServer, client: httpx.Client, tmp_path: Path) -> None:
    """While sending and during the analysis: no file, no clip and no busy process is left."""
    total, data = client.get("/api/clips").json()["total"], heavy(tmp_path)
    head = f"POST /api/uploads?name=gone.bvh HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\n"
    for body in (data[: len(data) // 2], data):
        connection = live.connection()
        connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + body)
        until(lambda: bool(uploaded_files(live)))
        time.sleep(0.3)
        connection.close()
        until(lambda: not uploaded_files(live))
    assert send(client, bvh(tmp_path, 77, 44), "after.bvh").status_code == 201
    assert client.get("/api/clips").json()["total"] == total + 1
    assert client.get("/api/clips", params={"text": "gone"}).json()["total"] == 0


def test_killed_worker_is_replaced(live: LiveServer, client: httpx.Client, tmp_path: Path) -> None:
    data = heavy(tmp_path)
    responses: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: responses.append(send(client, data, "heavy.bvh")))
    thread.start()
    until(lambda: any(path.stat().st_size == len(data) for path in uploaded_files(live)))
    time.sleep(0.3)
    for pid in live.children():
        os.kill(pid, signal.SIGKILL)
    thread.join()
    error = check_error_response(responses[0], 503, code="worker")
    assert "SIGKILL" in error["problem"] and responses[0].headers["retry-after"] and error["hint"]
    assert send(client, bvh(tmp_path, 88, 44), "next.bvh").status_code == 201
    clip = client.get("/api/clips", params={"text": "next"}).json()["clips"][0]["hash"]
    assert client.get(f"/api/clips/{clip}").status_code == 200
    assert json.loads(client.get("/api/clips", params={"text": "heavy"}).text)["total"] == 0
