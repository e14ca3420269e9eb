"""Requests that nobody sends by mistake: refused at once, in the usual shape, and without a word in the log."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import httpx
import pytest
from server_live import Live, started

import keypose as kp

MANY = "&".join(["a"] * 1001)
SOON_S = 1.0  # on a busy machine; it was five seconds and more

FLOODS = {
    "hashes": ("/api/clips/remove", {"clips": [""] * 500_000}),
    "steps": ("/edited", {"draft": {"kind": "keys", "frames": [0, 9], "steps": [{"op": "x"}] * 10_000}}),
    "fields": ("/ladder", {f"x{k}": 1 for k in range(150_000)}),
    "weights": ("/ladder", {"weights": {f"x{k}": "a" for k in range(120_000)}}),
    "frames": ("/unbaked", {"frames": ["x"] * 400_000}),
}
NO_OPTIONS = {
    "deep": "[" * 400 + "]" * 400,
    "deeper": "[" * 980 + "]" * 980,
    "not a number": "NaN",
    "without end": "1e400",
    "beyond bounds": "1" * 4000,
}


@pytest.mark.parametrize("path", ["/%1b%5b31mred%0aERROR:fake?token=x&", "/?", "/login?back=/&"])
def test_a_flood_of_parameters_is_no_fault(live: Live, path: str) -> None:
    before = len(live.log.read_bytes())
    with live.stranger() as stranger:
        answer = stranger.get(path + MANY, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
        assert 400 <= answer.status_code < 500
        assert stranger.get(path + MANY).status_code < 500
    assert b"Traceback" not in live.log.read_bytes()[before:]


@pytest.mark.parametrize("flood", FLOODS)
def test_long_nonsense_keeps_nobody_waiting(client: httpx.Client, walk: str, flood: str) -> None:
    path, told = FLOODS[flood]
    body = json.dumps(told, separators=(",", ":"))
    start = time.perf_counter()
    answer = client.post(path if path.startswith("/api") else f"/api/clips/{walk}{path}", content=body, headers=_JSON)
    assert answer.status_code in (413, 422) and answer.json()["error"]["message"]
    assert time.perf_counter() - start < SOON_S


_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("option", NO_OPTIONS)
def test_options_are_plain(client: httpx.Client, walk: str, option: str) -> None:
    body = f'{{"options": {{"objective": {NO_OPTIONS[option]}}}}}'
    answer = client.post(f"/api/clips/{walk}/ladder", content=body, headers=_JSON)
    assert answer.status_code in (400, 422) and answer.json()["error"]["kind"]


def test_hardly_any_frames_are_one(client: httpx.Client, walk: str) -> None:
    assert client.get(f"/api/clips/{walk}/frames", params={"fps": "5e-324"}).status_code == 200


def test_only_a_token_stands_for_an_origin(live: Live) -> None:
    with live.client() as browser:
        del browser.headers["Origin"]
        nothing = {"clips": ["0" * 64], "add": ["x"]}
        assert browser.post("/api/clips/tag", json=nothing).status_code == 403
        assert browser.post("/api/clips/tag", json=nothing, headers={"Authorization": "Basic eDp5"}).status_code == 403
    with live.program() as program:
        assert program.post("/api/clips/tag", json=nothing).status_code == 404


def test_clips_are_tagged_once(client: httpx.Client, walk: str) -> None:
    start = time.perf_counter()
    tags = [f"x{k}" for k in range(50)]
    told = {"clips": [walk] * 10_000, "add": tags, "remove": tags}
    answer = client.post("/api/clips/tag", json=told)
    assert answer.status_code == 200 and [clip["hash"] for clip in answer.json()["clips"]] == [walk]
    assert time.perf_counter() - start < 5.0


def test_damage_of_the_library_is_no_fault_of_a_file(kept_library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "library"
    shutil.copytree(kept_library, folder)
    with kp.Library(folder / "clips.db") as library:
        clip = library.clip("walk")
    blob = next(path for path in folder.rglob("*") if path.name.startswith(clip.blob))
    blob.write_bytes(b"damaged")
    with started(tmp_path / "log", folder / "clips.db") as live, live.client() as client:
        said = client.get(f"/api/clips/{clip.hash}/frames")
        assert said.status_code == 500 and said.json()["error"]["kind"] == "Damaged"
        assert "verify" in said.json()["error"]["remedy"] and str(tmp_path) not in said.text
