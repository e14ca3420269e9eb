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

import keypose as kp
from acclaim_pair import ASF, amc


def bvh(folder: Path, start: int, count: int = 40, fps: float = 30.0) -> bytes:
    """A file that no other test uses."""
    path = folder / f"{start}-{count}-{fps:g}.bvh"
    kp.save(kp.demo_motion(fps)[start : start + count], path)
    return path.read_bytes()


def send(client: httpx.Client, data: bytes, name: str, **options: object) -> httpx.Response:
    return client.post("/api/uploads", params={"name": name, **options}, content=data)


def heavy(folder: Path) -> bytes:
    """A file that takes seconds to analyse, within the limit."""
    lines = bvh(folder, 0, 300, 20.0).decode().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith("Frames:"))
    rows = lines[at + 2 :]
    times = int((UPLOAD_BYTES - 100_000) / sum(map(len, rows)))
    lines[at] = f"Frames: {times * len(rows)}\n"
    return "".join(lines[: at + 2] + rows * times).encode()


def waiting_files(live: Live) -> set[Path]:
    """Of this server: others may run at the same time."""
    found = (path for folder in live.temporary.glob("keypose-uploads-*") for path in folder.iterdir())
    return {path for path in found if path.is_file()}  # workers have folders there


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


def test_a_file_that_needs_others_is_told_so(client: httpx.Client, tmp_path: Path) -> None:
    kp.save(kp.demo_motion(30.0)[:40], tmp_path / "walk.gltf")
    scene = json.loads((tmp_path / "walk.gltf").read_text())
    for uri in ("walk.bin", "/etc/passwd", "../clips.db"):  # of which none is read
        scene["buffers"][0]["uri"] = uri
        answer = send(client, json.dumps(scene).encode(), "my walk.gltf")
        assert answer.status_code == 422
        if uri == "walk.bin":
            line = "keypose library add 'my walk.gltf' --library clips.db"
            assert answer.json()["error"]["remedy"].endswith(line)


@pytest.mark.parametrize(("data", "name"), [(ASF, "07.asf"), (amc(), "07_05.amc"), (gzip.compress(amc()), "x.amc.gz")])
def test_half_of_a_pair_is_told_to_come_whole(client: httpx.Client, data: bytes, name: str) -> None:
    answer = send(client, data, name)
    error = answer.json()["error"]
    assert answer.status_code == 422 and ".asf" in error["remedy"] and ".amc" in error["remedy"]
    assert error["message"].startswith(f"{name}: ")


def test_a_pair_is_one_clip_as_in_a_shell(client: httpx.Client, live: Live, tmp_path: Path) -> None:
    (tmp_path / "07.asf").write_bytes(ASF)
    (tmp_path / "07_05.amc").write_bytes(amc())
    with kp.Library(tmp_path / "clips.db") as library:
        expected = library.add(tmp_path / "07_05.amc")
    pair = {"skeleton": "07.asf", "skeleton_bytes": len(ASF)}
    said = send(client, ASF + amc(), "07_05.amc", **pair).json()
    assert said["clip"]["hash"] == expected.hash and said["clip"]["name"] == "07_05" and said["known"] is False
    packed = gzip.compress(ASF)
    pair = {"skeleton": "../../07.asf", "skeleton_bytes": len(packed)}
    assert send(client, packed + gzip.compress(amc()), "07_05.amc.gz", **pair).json()["known"] is True
    assert waiting_files(live) == set()


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"skeleton": "07.asf", "skeleton_bytes": len(ASF + amc())}, "expected its name, and a motion behind"),
        ({"skeleton": "07.asf", "skeleton_bytes": 10**15}, "expected its name, and a motion behind"),
        ({"skeleton": "07.asf", "skeleton_bytes": -1}, "skeleton_bytes"),
        ({"skeleton": "07.asf"}, "expected its name, and a motion behind"),
        ({"skeleton_bytes": len(ASF)}, "expected its name, and a motion behind"),
    ],
    ids=str,
)
def test_a_pair_that_is_none_is_refused(client: httpx.Client, live: Live, told: dict[str, object], says: str) -> None:
    answer = send(client, ASF + amc(), "07_05.amc", **told)
    assert answer.status_code in (400, 422) and says in answer.json()["error"]["message"]
    assert "keypose-uploads" not in answer.text and waiting_files(live) == set()


def test_an_error_in_the_skeleton_names_it(client: httpx.Client, live: Live) -> None:
    broken = ASF.replace(b"length 4", b"length x")
    answer = send(client, broken + amc(), "07_05.amc", skeleton="a/07.asf", skeleton_bytes=len(broken))
    error = answer.json()["error"]
    assert error["message"].startswith("07.asf:") and error["line"] and "keypose-uploads" not in answer.text
    other = ASF.replace(b"thigh", b"upper")
    answer = send(client, other + amc(), "07_05.amc", skeleton="07.asf", skeleton_bytes=len(other))
    assert answer.json()["error"]["message"].startswith("07_05.amc:") and "in 07.asf" in answer.text
    assert waiting_files(live) == set()


def test_only_an_amc_has_a_skeleton(client: httpx.Client, tmp_path: Path) -> None:
    for other in (bvh(tmp_path, 2), ASF, b"nonsense"):
        answer = send(client, ASF + other, "walk.amc", skeleton="07.asf", skeleton_bytes=len(ASF))
        assert answer.status_code == 422 and answer.json()["error"]["message"].startswith("walk.amc: ")


def test_what_was_noticed_is_told_without_places_of_the_machine(client: httpx.Client, tmp_path: Path) -> None:
    cut = bvh(tmp_path, 7, 35).rstrip()[:-40]
    said = send(client, cut, "cut short: 1.bvh").json()
    (note,) = said["notes"]
    assert note.startswith("the last row has ") and said["clip"]["n_frames"] == 34
    strange = ASF.replace(b":hierarchy", b":colour\n  red\n:hierarchy")
    said = send(
        client, strange + amc(70).rpartition(b"shin")[0], "07_06.amc", skeleton="07.asf", skeleton_bytes=len(strange)
    ).json()
    assert len(said["notes"]) == 2 and not any("/" in note for note in said["notes"])
    assert said["notes"][0].startswith("07.asf:28: ") and said["notes"][1].startswith("frame 70 ")


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
