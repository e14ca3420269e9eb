"""Files that need others, and come in with them: an .amc with its .asf, a .gltf with its .bin. No other file is read."""

from __future__ import annotations

import gzip
import os
import signal
import threading
import time
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from server_live import UPLOAD_BYTES, Live, until
from server_sending import bvh, send, waiting_files

import keypose as kp
from acclaim_pair import ASF, amc
from gltf_pair import gltf


def together(client: httpx.Client, data: bytes, name: str, companions: dict[str, bytes]) -> httpx.Response:
    """As a page sends it: companions first."""
    told = {"companion": list(companions), "companion_bytes": [len(each) for each in companions.values()]}
    return send(client, b"".join([*companions.values(), data]), name, **told)


def walk(start: int, count: int = 40) -> kp.Motion:
    """A motion that no other test uses."""
    return kp.demo_motion(30.0)[start : start + count]


def added_in_a_shell(folder: Path, name: str, files: dict[str, bytes]) -> str:
    """The hash of a clip that was added where its companions lie beside it."""
    for each, data in files.items():
        (folder / each).write_bytes(data)
    with kp.Library(folder / "clips.db") as library:
        return library.add(folder / name).hash


def refusal(answer: httpx.Response, live: Live) -> dict[str, str]:
    """Why it was not taken; nothing of it stays, and no place of the machine is told."""
    assert answer.status_code == 422, answer.text
    assert waiting_files(live) == set() and "keypose-uploads" not in answer.text
    error: dict[str, str] = answer.json()["error"]
    return error


def test_an_amc_and_its_asf_are_one_clip_as_in_a_shell(client: httpx.Client, live: Live, tmp_path: Path) -> None:
    expected = added_in_a_shell(tmp_path, "07_05.amc", {"07.asf": ASF, "07_05.amc": amc()})
    said = together(client, amc(), "07_05.amc", {"07.asf": ASF}).json()
    assert said["clip"]["hash"] == expected and said["clip"]["name"] == "07_05" and said["known"] is False
    again = together(client, gzip.compress(amc()), "07_05.amc.gz", {"../../07.asf": gzip.compress(ASF)})
    assert again.json()["known"] is True
    assert waiting_files(live) == set()


@pytest.mark.parametrize(
    "uris", [("walk.bin",), ("my%20w%C3%A4lk.bin", "./other.bin"), ("a.bin", "b.bin", "c.bin")], ids=str
)
def test_a_gltf_and_its_buffers_are_one_clip_as_in_a_shell(
    client: httpx.Client, live: Live, tmp_path: Path, uris: tuple[str, ...]
) -> None:
    motion = walk(10 * len(uris), 50)
    data, buffers = gltf(motion, *uris)
    names = [unquote(uri).removeprefix("./") for uri in uris]
    companions = dict(zip(names, buffers, strict=True))
    expected = added_in_a_shell(tmp_path, "walk.gltf", {"walk.gltf": data, **companions})
    said = together(client, data, "walk.gltf", companions).json()
    assert (said["clip"]["hash"], said["clip"]["name"], said["known"]) == (expected, "walk", False)
    assert said["clip"]["n_frames"] == motion.n_frames
    took_apart = {name.replace("ä", "a\u0308"): buffer for name, buffer in reversed(companions.items())}
    again = together(client, gzip.compress(data), "again.gltf.gz", took_apart)  # as some systems spell names
    assert again.json()["known"] is True
    assert waiting_files(live) == set()


def test_a_gltf_without_its_buffer_is_told_to_come_whole(client: httpx.Client, live: Live) -> None:
    data, (buffer,) = gltf(walk(40), "walk.bin")
    alone = refusal(send(client, data, "my walk.gltf"), live)
    assert "'walk.bin'" in alone["message"] and "Choose the .gltf and its .bin together" in alone["remedy"]
    other = refusal(together(client, data, "my walk.gltf", {"run.bin": buffer}), live)
    assert "'walk.bin': not among the files that came with it ('run.bin')" in other["message"]
    assert other["remedy"] == alone["remedy"]
    two, buffers = gltf(walk(40), "a.bin", "b.bin")
    half = refusal(together(client, two, "walk.gltf", {"a.bin": buffers[0]}), live)
    assert half["message"].startswith("walk.gltf: buffers[1].uri: 'b.bin'")


def test_a_buffer_of_another_file_is_refused(client: httpx.Client, live: Live) -> None:
    data, (buffer,) = gltf(walk(50), "walk.bin")
    error = refusal(together(client, data, "walk.gltf", {"walk.bin": buffer[:-8]}), live)
    assert error["message"].startswith("walk.gltf: buffers[0] holds ")


@pytest.mark.parametrize(
    ("data", "name", "others"),
    [
        (ASF, "07.asf", (".amc", ".asf")),
        (amc(), "07_05.amc", (".amc", ".asf")),
        (gzip.compress(amc()), "x.amc.gz", (".amc", ".asf")),
        (bytes(range(256)), "walk.bin", (".gltf", ".bin")),
    ],
    ids=["an .asf", "an .amc", "a packed .amc", "a .bin"],
)
def test_half_of_a_pair_is_told_to_come_whole(
    client: httpx.Client, live: Live, data: bytes, name: str, others: tuple[str, ...]
) -> None:
    error = refusal(send(client, data, name), live)
    assert error["message"].startswith(f"{name}: ") and all(each in error["remedy"] for each in others)


def _elsewhere(path: Path, live: Live, library: Path) -> list[str]:
    """Ways to a file that is there, from wherever a careless reader might start."""
    starts = (Path.cwd(), library.parent, live.temporary / "keypose-uploads-x", live.temporary / "a" / "worker-b")
    ways = [str(path), path.as_uri(), *(os.path.relpath(path, start) for start in starts)]
    return [*ways, *(way.replace(".", "%2e").replace("/", "%2f") for way in ways[2:])]


def test_no_uri_leads_anywhere(client: httpx.Client, live: Live, library_path: Path, tmp_path: Path) -> None:
    """The right numbers lie on the disk: were they read, there would be a clip."""
    motion = walk(60)
    _, (buffer,) = gltf(motion, "walk.bin")
    path = tmp_path / "walk.bin"
    path.write_bytes(buffer)
    strange = ("http://127.0.0.1/walk.bin", "//walk.bin", "/walk.bin", "../walk.bin", "./../walk.bin", "sub/walk.bin",
               "..\\walk.bin", "sub%5Cwalk.bin", "c:walk.bin", "walk.bin%00", "walk.gltf", "", "walk.bin/", "WALK.bin")  # fmt: skip
    for uri in (*_elsewhere(path, live, library_path), "/etc/passwd", "../clips.db", *strange):
        data, _ = gltf(motion, uri)
        for companions in ({}, {"walk.bin": buffer}, {str(path): buffer}):
            error = refusal(together(client, data, "walk.gltf", companions), live)
            assert error["message"].startswith("walk.gltf: buffers[0]"), uri


def test_names_of_companions_are_names_and_nothing_else(client: httpx.Client, live: Live, tmp_path: Path) -> None:
    data, (buffer,) = gltf(walk(70), "..walk.bin")
    target = tmp_path / "..walk.bin"
    said = together(client, data, "walk.gltf", {str(target): buffer})
    assert said.status_code == 201 and not target.exists() and waiting_files(live) == set()


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"companion": "07.asf", "companion_bytes": len(ASF + amc())}, "expected a file behind them"),
        ({"companion": "07.asf", "companion_bytes": 10**15}, "expected a file behind them"),
        ({"companion": "07.asf", "companion_bytes": -1}, "companion_bytes"),
        ({"companion": "07.asf"}, "expected for each a size and a name of its own"),
        ({"companion_bytes": len(ASF)}, "expected for each a size and a name of its own"),
        ({"companion": "a/", "companion_bytes": 4}, "expected for each a size and a name of its own"),
        ({"companion": ["a/x", "b/x"], "companion_bytes": [4, 4]}, "expected for each a size and a name of its own"),
        ({"companion": list("abcdefghijklmnopqrstu"), "companion_bytes": [1] * 21}, "companion"),
        ({"companion": ["a", "b"], "companion_bytes": [4, len(ASF) - 4]}, "expected its .asf and no other file"),
    ],
    ids=str,
)
def test_companions_that_are_none_are_refused(
    client: httpx.Client, live: Live, told: dict[str, object], says: str
) -> None:
    answer = send(client, ASF + amc(), "07_05.amc", **told)
    assert answer.status_code in (400, 422) and says in answer.json()["error"]["message"]
    assert "keypose-uploads" not in answer.text and waiting_files(live) == set()


def test_an_error_in_a_companion_names_it(client: httpx.Client, live: Live) -> None:
    broken = ASF.replace(b"length 4", b"length x")
    error = refusal(together(client, amc(), "07_05.amc", {"a/07.asf": broken}), live)
    assert error["message"].startswith("07.asf:") and error["line"]
    other = ASF.replace(b"thigh", b"upper")
    error = refusal(together(client, amc(), "07_05.amc", {"07.asf": other}), live)
    assert error["message"].startswith("07_05.amc:") and "in 07.asf" in error["message"]


def test_what_needs_no_companion_gets_none(client: httpx.Client, live: Live, tmp_path: Path) -> None:
    kp.save(walk(80), tmp_path / "whole.gltf")
    whole = (tmp_path / "whole.gltf").read_bytes()
    for data, says in (
        (bvh(tmp_path, 2), "BVH needs no other file, expected it without 07.asf"),
        (whole, "asks for no other file, expected it without 07.asf"),
        (ASF, "a skeleton without motion"),
        (b"nonsense", "starts with b'nonsense'"),
    ):
        error = refusal(together(client, data, "walk.amc", {"07.asf": ASF}), live)
        assert error["message"].startswith(f"walk.amc: {says}")


def test_what_was_noticed_in_a_companion_is_told(client: httpx.Client) -> None:
    strange = ASF.replace(b":hierarchy", b":colour\n  red\n:hierarchy")
    said = together(client, amc(70).rpartition(b"shin")[0], "07_06.amc", {"07.asf": strange}).json()
    assert len(said["notes"]) == 2 and not any("/" in note for note in said["notes"])
    assert said["notes"][0].startswith("07.asf:28: ") and said["notes"][1].startswith("frame 70 ")


def test_limits_hold_for_companions(client: httpx.Client, live: Live) -> None:
    bomb = gzip.compress(b":version 1.10\n" + b" " * (200 << 20), 9)
    packed = together(client, amc(), "07_05.amc", {"07.asf": bomb})
    assert packed.status_code == 413 and packed.json()["error"]["message"].startswith("07.asf: ")
    large = together(client, amc(), "07_05.amc", {"07.asf": ASF + b" " * UPLOAD_BYTES})
    assert large.status_code == 413 and waiting_files(live) == set()


def test_a_worker_that_is_killed_leaves_nothing_of_companions(live: Live, client: httpx.Client) -> None:
    data = amc(60_000)  # takes seconds to analyse
    heard: list[httpx.Response] = []
    sending = threading.Thread(target=lambda: heard.append(together(client, data, "long.amc", {"07.asf": ASF})))
    sending.start()
    until(lambda: any(path.stat().st_size == len(ASF + data) for path in waiting_files(live)))
    time.sleep(0.3)
    for pid in live.children():
        os.kill(pid, signal.SIGKILL)
    sending.join()
    assert heard[0].status_code == 503, heard[0].text
    left = [path for folder in live.temporary.glob("keypose-uploads-*") for path in folder.rglob("*")]
    assert [path for path in left if path.is_file()] == []
