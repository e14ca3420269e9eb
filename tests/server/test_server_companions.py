"""Uploads with companions: an .amc with its .asf, a .gltf with its .bin. No other file is read."""

from __future__ import annotations

import gzip
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

import keypose as kp
from keypose.server.workers.upload_worker import BUFFER_HINT, SKELETON_HINT
from support.acclaim_pair import ASF, amc
from support.errors import check_error_response
from support.gltf_pair import gltf
from support.live_server import MAX_UPLOAD_BYTES, LiveServer, until
from support.upload_requests import bvh, send, uploaded_files


def send_with_companions(client: httpx.Client, data: bytes, name: str, companions: dict[str, bytes]) -> httpx.Response:
    """Upload a file after its companions, like the page."""
    params = {"companion": list(companions), "companion_bytes": [len(item) for item in companions.values()]}
    return send(client, b"".join([*companions.values(), data]), name, **params)


def short_walk(start: int, count: int = 40) -> kp.Motion:
    """A motion that no other test uses."""
    return kp.demo_motion(30.0)[start : start + count]


def add_from_folder(folder: Path, name: str, files: dict[str, bytes]) -> str:
    """Return the hash of a clip added from a folder with its companions."""
    for item, data in files.items():
        (folder / item).write_bytes(data)
    with kp.Library(folder / "clips.db") as library:
        return library.add(folder / name).hash


def check_rejected(response: httpx.Response, live: LiveServer, **fields: Any) -> dict[str, Any]:
    """Return the error of a rejected upload; check that no file is left and no path is disclosed."""
    assert uploaded_files(live) == set() and "keypose-uploads" not in response.text
    return check_error_response(response, 422, **fields)


def test_amc_with_asf(client: httpx.Client, live: LiveServer, tmp_path: Path) -> None:
    expected = add_from_folder(tmp_path, "07_05.amc", {"07.asf": ASF, "07_05.amc": amc()})
    result = send_with_companions(client, amc(), "07_05.amc", {"07.asf": ASF}).json()
    assert result["clip"]["hash"] == expected and result["clip"]["name"] == "07_05" and result["is_duplicate"] is False
    again = send_with_companions(client, gzip.compress(amc()), "07_05.amc.gz", {"../../07.asf": gzip.compress(ASF)})
    assert again.json()["is_duplicate"] is True
    assert uploaded_files(live) == set()


@pytest.mark.parametrize(
    "uris", [("walk.bin",), ("my%20w%C3%A4lk.bin", "./other.bin"), ("a.bin", "b.bin", "c.bin")], ids=str
)
def test_gltf_with_buffers(client: httpx.Client, live: LiveServer, tmp_path: Path, uris: tuple[str, ...]) -> None:
    motion = short_walk(10 * len(uris), 50)
    data, buffers = gltf(motion, *uris)
    names = [unquote(uri).removeprefix("./") for uri in uris]
    companions = dict(zip(names, buffers, strict=True))
    expected = add_from_folder(tmp_path, "walk.gltf", {"walk.gltf": data, **companions})
    result = send_with_companions(client, data, "walk.gltf", companions).json()
    assert (result["clip"]["hash"], result["clip"]["name"], result["is_duplicate"]) == (expected, "walk", False)
    assert result["clip"]["n_frames"] == motion.n_frames
    decomposed_names = {name.replace("ä", "a\u0308"): buffer for name, buffer in reversed(companions.items())}
    again = send_with_companions(
        client, gzip.compress(data), "again.gltf.gz", decomposed_names
    )  # Unicode as decomposed by macOS
    assert again.json()["is_duplicate"] is True
    assert uploaded_files(live) == set()


def test_gltf_without_buffer(client: httpx.Client, live: LiveServer) -> None:
    data, (buffer,) = gltf(short_walk(40), "walk.bin")
    fields = {"code": "missing_buffer", "path": "my walk.gltf", "hint": BUFFER_HINT}
    without_buffer = check_rejected(send(client, data, "my walk.gltf"), live, **fields)
    assert "'walk.bin'" in without_buffer["problem"]
    other = check_rejected(send_with_companions(client, data, "my walk.gltf", {"run.bin": buffer}), live, **fields)
    assert "'walk.bin'" in other["problem"] and "'run.bin'" in other["problem"]
    two, buffers = gltf(short_walk(40), "a.bin", "b.bin")
    response = send_with_companions(client, two, "walk.gltf", {"a.bin": buffers[0]})
    incomplete = check_rejected(response, live, code="missing_buffer", path="walk.gltf")
    assert incomplete["subject"] == "buffers[1].uri" and incomplete["value"] == "b.bin"


def test_buffer_of_another_file(client: httpx.Client, live: LiveServer) -> None:
    data, (buffer,) = gltf(short_walk(50), "walk.bin")
    response = send_with_companions(client, data, "walk.gltf", {"walk.bin": buffer[:-8]})
    error = check_rejected(response, live, path="walk.gltf")
    assert error["problem"].startswith("buffers[0] holds ")


@pytest.mark.parametrize(
    ("data", "name", "code", "hint"),
    [
        (ASF, "07.asf", "no_animation", SKELETON_HINT),
        (amc(), "07_05.amc", "needs_other_file", SKELETON_HINT),
        (gzip.compress(amc()), "x.amc.gz", "needs_other_file", SKELETON_HINT),
        (bytes(range(256)), "walk.bin", "no_animation", BUFFER_HINT),
    ],
    ids=["an .asf", "an .amc", "a packed .amc", "a .bin"],
)
def test_incomplete_pair(client: httpx.Client, live: LiveServer, data: bytes, name: str, code: str, hint: str) -> None:
    check_rejected(send(client, data, name), live, code=code, path=name, hint=hint)


def _paths_to(path: Path, live: LiveServer, library: Path) -> list[str]:
    """Return paths to an existing file, relative to every folder a reader might start from."""
    starts = (Path.cwd(), library.parent, live.temporary / "keypose-uploads-x", live.temporary / "a" / "worker-b")
    paths = [str(path), path.as_uri(), *(os.path.relpath(path, start) for start in starts)]
    return [*paths, *(each_path.replace(".", "%2e").replace("/", "%2f") for each_path in paths[2:])]


def test_uris_open_no_files(client: httpx.Client, live: LiveServer, library_path: Path, tmp_path: Path) -> None:
    """A valid buffer is on disk: if it were read, there would be a clip."""
    motion = short_walk(60)
    _, (buffer,) = gltf(motion, "walk.bin")
    path = tmp_path / "walk.bin"
    path.write_bytes(buffer)
    invalid_uris = ("http://127.0.0.1/walk.bin", "//walk.bin", "/walk.bin", "../walk.bin", "./../walk.bin", "sub/walk.bin",
               "..\\walk.bin", "sub%5Cwalk.bin", "c:walk.bin", "walk.bin%00", "walk.gltf", "", "walk.bin/", "WALK.bin")  # fmt: skip
    for uri in (*_paths_to(path, live, library_path), "/etc/passwd", "../clips.db", *invalid_uris):
        data, _ = gltf(motion, uri)
        for companions in ({}, {"walk.bin": buffer}, {str(path): buffer}):
            response = send_with_companions(client, data, "walk.gltf", companions)
            error = check_rejected(response, live, path="walk.gltf")
            assert (error["subject"] or error["problem"]).startswith("buffers[0]"), uri


def test_companion_names_are_not_paths(client: httpx.Client, live: LiveServer, tmp_path: Path) -> None:
    data, (buffer,) = gltf(short_walk(70), "..walk.bin")
    target = tmp_path / "..walk.bin"
    data = send_with_companions(client, data, "walk.gltf", {str(target): buffer})
    assert data.status_code == 201 and not target.exists() and uploaded_files(live) == set()


@pytest.mark.parametrize(
    ("params", "fields"),
    [
        ({"companion": "07.asf", "companion_bytes": len(ASF + amc())}, {"expected": "a file behind them"}),
        ({"companion": "07.asf", "companion_bytes": 10**15}, {"expected": "a file behind them"}),
        ({"companion": "07.asf", "companion_bytes": -1}, {"option": "companion_bytes.0"}),
        ({"companion": "07.asf"}, {"expected": "for each a size and a name of its own"}),
        ({"companion_bytes": len(ASF)}, {"expected": "for each a size and a name of its own"}),
        ({"companion": "a/", "companion_bytes": 4}, {"expected": "for each a size and a name of its own"}),
        (
            {"companion": ["a/x", "b/x"], "companion_bytes": [4, 4]},
            {"expected": "for each a size and a name of its own"},
        ),
        ({"companion": list("abcdefghijklmnopqrstu"), "companion_bytes": [1] * 21}, {"option": "companion"}),
    ],
    ids=str,
)
def test_invalid_companions(
    client: httpx.Client, live: LiveServer, params: dict[str, object], fields: dict[str, str]
) -> None:
    response = send(client, ASF + amc(), "07_05.amc", **params)
    status, code = (422, "request") if "option" in fields else (400, "option")
    check_error_response(response, status, code=code, **fields)
    assert "keypose-uploads" not in response.text and uploaded_files(live) == set()


def test_other_companions_than_the_skeleton(client: httpx.Client, live: LiveServer) -> None:
    response = send(client, ASF + amc(), "07_05.amc", companion=["a", "b"], companion_bytes=[4, len(ASF) - 4])
    error = check_rejected(response, live, path="07_05.amc")
    assert "'a', 'b'" in error["problem"] and ".asf" in error["problem"]


def test_error_in_companion(client: httpx.Client, live: LiveServer) -> None:
    broken = ASF.replace(b"length 4", b"length x")
    response = send_with_companions(client, amc(), "07_05.amc", {"a/07.asf": broken})
    assert check_rejected(response, live, path="07.asf")["line"]
    other = ASF.replace(b"thigh", b"upper")
    response = send_with_companions(client, amc(), "07_05.amc", {"07.asf": other})
    assert "in 07.asf" in check_rejected(response, live, path="07_05.amc")["problem"]


def test_unneeded_companion(client: httpx.Client, live: LiveServer, tmp_path: Path) -> None:
    kp.save(short_walk(80), tmp_path / "whole.gltf")
    embedded = (tmp_path / "whole.gltf").read_bytes()
    for data, fields in (
        (bvh(tmp_path, 2), {"code": "unneeded_file", "expected": "it without 07.asf"}),
        (embedded, {"code": "unneeded_file", "expected": "it without 07.asf"}),
        (ASF, {"code": "no_animation"}),
        (b"nonsense", {"line": None}),
    ):
        response = send_with_companions(client, data, "walk.amc", {"07.asf": ASF})
        check_rejected(response, live, path="walk.amc", **fields)


def test_notes_about_companion(client: httpx.Client) -> None:
    invalid_uris = ASF.replace(b":hierarchy", b":colour\n  red\n:hierarchy")
    result = send_with_companions(client, amc(70).rpartition(b"shin")[0], "07_06.amc", {"07.asf": invalid_uris}).json()
    assert len(result["notes"]) == 2 and not any("/" in note for note in result["notes"])
    assert result["notes"][0].startswith("07.asf:28: ") and result["notes"][1].startswith("frame 70 ")


def test_limits_of_companions(client: httpx.Client, live: LiveServer) -> None:
    bomb = gzip.compress(b":version 1.10\n" + b" " * (200 << 20), 9)
    compressed = send_with_companions(client, amc(), "07_05.amc", {"07.asf": bomb})
    check_error_response(compressed, 413, code="limit", path="07.asf")
    large = send_with_companions(client, amc(), "07_05.amc", {"07.asf": ASF + b" " * MAX_UPLOAD_BYTES})
    assert large.status_code == 413 and uploaded_files(live) == set()


def test_killed_worker_leaves_no_files(live: LiveServer, client: httpx.Client) -> None:
    data = amc(60_000)  # takes seconds to analyse
    responses: list[httpx.Response] = []
    thread = threading.Thread(
        target=lambda: responses.append(send_with_companions(client, data, "long.amc", {"07.asf": ASF}))
    )
    thread.start()
    until(lambda: any(path.stat().st_size == len(ASF + data) for path in uploaded_files(live)))
    time.sleep(0.3)
    for pid in live.children():
        os.kill(pid, signal.SIGKILL)
    thread.join()
    assert responses[0].status_code == 503, responses[0].text
    files = [path for folder in live.temporary.glob("keypose-uploads-*") for path in folder.rglob("*")]
    assert [path for path in files if path.is_file()] == []
