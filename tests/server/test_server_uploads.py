"""Files that come in: good ones, broken ones and hostile ones."""

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
from server_live import UPLOAD_BYTES, UPLOADS_AT_ONCE, Live, until
from server_sending import bvh, send, waiting_files


def heavy(folder: Path) -> bytes:
    """A file that takes seconds to analyse, within the limit."""
    lines = bvh(folder, 0, 300, 20.0).decode().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith("Frames:"))
    rows = lines[at + 2 :]
    times = int((UPLOAD_BYTES - 100_000) / sum(map(len, rows)))
    lines[at] = f"Frames: {times * len(rows)}\n"
    return "".join(lines[: at + 2] + rows * times).encode()


def test_a_folder_that_was_cleaned_away_is_made_again(live: Live, client: httpx.Client, tmp_path: Path) -> None:
    for folder in live.temporary.glob("keypose-uploads-*"):
        shutil.rmtree(folder)
    assert send(client, bvh(tmp_path, 77), "after the cleaner.bvh").status_code == 201


def test_a_file_becomes_a_clip(client: httpx.Client, tmp_path: Path) -> None:
    data = bvh(tmp_path, 1)
    answer = send(client, data, "Some walk.bvh", tag=["New", "loud"])
    said = answer.json()
    assert answer.status_code == 201 and said["known"] is False
    assert said["clip"]["name"] == "Some walk" and said["clip"]["tags"] == ["loud", "new"]
    assert said["clip"]["n_frames"] == 40
    strip = client.get(f"/api/clips/{said['clip']['hash']}/strip.svg")
    assert strip.status_code == 200 and strip.text.startswith("<svg ")
    again = send(client, gzip.compress(data), "again.bvh.gz").json()
    assert again["known"] is True and again["clip"]["hash"] == said["clip"]["hash"]


@pytest.mark.parametrize(
    ("name", "called"),
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
def test_names_are_names_and_nothing_else(
    client: httpx.Client, live: Live, library_path: Path, tmp_path: Path, name: str, called: str | None
) -> None:
    before = sorted(library_path.parent.rglob("*"))
    data = bvh(tmp_path, 10 + len(name) % 60, 30 + sum(map(ord, name)) % 50)
    answer = send(client, data, name)
    assert answer.status_code == 201 and answer.headers["content-type"] == "application/json"
    clip = answer.json()["clip"]
    assert called is None or clip["name"] == called
    assert clip["name"].isprintable() and "set-cookie" not in answer.headers
    assert client.get("/api/clips", params={"words": "no such words"}).headers["x-content-type-options"] == "nosniff"
    new = [path for path in sorted(library_path.parent.rglob("*")) if path not in before and path.is_file()]
    assert [path.name for path in new if ".db" not in path.name] == [clip["hash"]]
    page = client.get(f"/clips/{clip['hash']}", headers={"Accept": "text/html"})
    assert clip["name"] not in page.text or clip["name"].isalnum()


def test_scripts_in_joint_names_stay_text(client: httpx.Client, tmp_path: Path) -> None:
    data = bvh(tmp_path, 3, 33).replace(b"JOINT Head", b"JOINT <script>alert(1)</script>")
    assert b"<script>" in data
    clip = send(client, data, "joints.bvh").json()["clip"]
    facts = client.get(f"/api/clips/{clip['hash']}")
    assert facts.headers["content-type"] == "application/json" and facts.headers["x-content-type-options"] == "nosniff"
    assert "<script>alert(1)</script>" in [joint["name"] for joint in facts.json()["joints"]]
    for path in (f"/api/clips/{clip['hash']}/strip.svg", f"/api/clips/{clip['hash']}/strip.svg?frames=1,2"):
        assert "<script" not in client.get(path).text


def test_a_broken_file_is_told_with_its_line_and_what_to_do(client: httpx.Client, tmp_path: Path) -> None:
    lines = bvh(tmp_path, 0).split(b"\n")
    at = next(k for k, line in enumerate(lines) if b"CHANNELS 3" in line)
    lines[at] = lines[at].replace(b"CHANNELS 3", b"CHANNELS 5")
    answer = send(client, b"\n".join(lines), "../broken.bvh")
    error = answer.json()["error"]
    assert answer.status_code == 422 and error["kind"] == "FormatError" and error["line"] == at + 1
    assert error["message"].startswith(f"broken.bvh:{at + 1}: ") and f"line {at + 1}" in error["remedy"]


@pytest.mark.parametrize("data", [b"", b"no motion", b"\x89PNG\r\n\x1a\n", b"\x1f\x8b\x08\0broken", b"HIERARCHY\nROOT"])
def test_what_is_no_motion_is_refused(client: httpx.Client, data: bytes) -> None:
    answer = send(client, data, "thing.bvh")
    assert answer.status_code == 422 and answer.json()["error"]["remedy"]
    assert "/tmp" not in answer.text


def test_what_was_noticed_is_told_without_places_of_the_machine(client: httpx.Client, tmp_path: Path) -> None:
    cut = bvh(tmp_path, 7, 35).rstrip()[:-40]
    said = send(client, cut, "cut short: 1.bvh").json()
    (note,) = said["notes"]
    assert note.startswith("the last row has ") and said["clip"]["n_frames"] == 34


def test_bombs_are_refused(client: httpx.Client) -> None:
    bomb = gzip.compress(b"HIERARCHY\n" + b" " * (200 << 20), 9)
    assert len(bomb) < 1 << 20
    answer = send(client, bomb, "bomb.bvh.gz")
    assert answer.status_code == 413 and answer.json()["error"]["kind"] == "LimitError"


def test_a_file_that_asks_for_too_much_is_refused(client: httpx.Client) -> None:
    deep = 1100
    joint = "{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    text = "".join(f"{'JOINT' if k else 'ROOT'} j{k}\n{joint}" for k in range(deep))
    end = "End Site\n{\nOFFSET 0 1 0\n}\n" + "}\n" * deep
    row = " ".join(["0"] * 3 * deep)
    data = f"HIERARCHY\n{text}{end}MOTION\nFrames: 1\nFrame Time: 0.1\n{row}\n"
    answer = send(client, data.encode(), "deep.bvh")
    error = answer.json()["error"]
    assert answer.status_code == 413 and error["kind"] == "LimitError" and "depth" in error["message"] and error["line"]


def test_only_so_many_at_once(live: Live, client: httpx.Client, tmp_path: Path) -> None:
    data = [bvh(tmp_path, 100 + k, 50) for k in range(3)]
    connections = [live.connection() for _ in range(UPLOADS_AT_ONCE)]
    head = f"POST /api/uploads?name=a.bvh HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\nContent-Length: 9\r\n\r\nH"
    for connection in connections:
        connection.sendall(head.encode())
    until(lambda: len(waiting_files(live)) >= UPLOADS_AT_ONCE)
    answer = send(client, data[0], "one more.bvh")
    assert answer.status_code == 429 and answer.json()["error"]["kind"] == "TooMuchAsked"
    for connection in connections:
        connection.close()
    until(lambda: not waiting_files(live))
    with ThreadPoolExecutor(3) as three:
        assert [done.status_code for done in three.map(lambda each: send(client, each, "w.bvh"), data)] == [201] * 3


def test_a_client_that_goes_takes_its_work_along(live: Live, client: httpx.Client, tmp_path: Path) -> None:
    """In the middle of sending, and in the middle of the analysis: no file, no clip, no process stays busy."""
    total, data = client.get("/api/clips").json()["total"], heavy(tmp_path)
    head = f"POST /api/uploads?name=gone.bvh HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\n"
    for part in (data[: len(data) // 2], data):
        connection = live.connection()
        connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + part)
        until(lambda: bool(waiting_files(live)))
        time.sleep(0.3)
        connection.close()
        until(lambda: not waiting_files(live))
    assert send(client, bvh(tmp_path, 77, 44), "after.bvh").status_code == 201
    assert client.get("/api/clips").json()["total"] == total + 1
    assert client.get("/api/clips", params={"words": "gone"}).json()["total"] == 0


def test_a_worker_that_is_killed_is_replaced(live: Live, client: httpx.Client, tmp_path: Path) -> None:
    data = heavy(tmp_path)
    heard: list[httpx.Response] = []
    sending = threading.Thread(target=lambda: heard.append(send(client, data, "heavy.bvh")))
    sending.start()
    until(lambda: any(path.stat().st_size == len(data) for path in waiting_files(live)))
    time.sleep(0.3)
    for pid in live.children():
        os.kill(pid, signal.SIGKILL)
    sending.join()
    assert heard[0].status_code == 503 and "SIGKILL" in heard[0].json()["error"]["message"]
    assert heard[0].headers["retry-after"] and heard[0].json()["error"]["remedy"]
    assert send(client, bvh(tmp_path, 88, 44), "next.bvh").status_code == 201
    clip = client.get("/api/clips", params={"words": "next"}).json()["clips"][0]["hash"]
    assert client.get(f"/api/clips/{clip}").status_code == 200
    assert json.loads(client.get("/api/clips", params={"words": "heavy"}).text)["total"] == 0
