"""Clips as files over HTTP: byte for byte what Python and the command line write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_sending import send

import keypose as kp
from keypose.cli.app import run
from keypose.errors import MissingExtra
from keypose.formats import writable_suffixes
from keypose.server.failing import problem_of, status_of
from keypose.swings.editing import SwingEdit
from keypose.workbench.taking import PICTURES, formats

FRAMES = [0, 30, 61, 90, 119]
BLENDER = (".fbx", ".blend")  # tests/blender compares those
PLAIN = [suffix for suffix in formats() if suffix not in BLENDER]
TURN = {"op": "rotate", "frame": 61, "joint": "head", "euler_degrees": [0, 25, 0]}
KEYS: dict[str, Any] = {"kind": "keys", "frames": FRAMES, "steps": [TURN]}
STRONGER = {"kind": "swings", "steps": [{"op": "intensify", "joint": "legs", "factor": 1.4}]}


def exported(client: httpx.Client, clip: str, **told: object) -> bytes:
    answer = client.post(f"/api/clips/{clip}/export", json=told)
    assert answer.status_code == 200, answer.text
    suffix = told["format"]
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="walk{suffix}"')
    return answer.content


def keyed(motion: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(motion, FRAMES)


def edited(motion: kp.Motion) -> kp.KeyedMotion:
    by_hand = kp.edit(keyed(motion))
    by_hand.rotate(61, "head", euler_degrees=(0, 25, 0))
    return by_hand.keyed


def stronger(motion: kp.Motion) -> SwingEdit:
    by_hand = kp.swings(motion).edit(motion)
    by_hand.intensify("legs", 1.4)
    return by_hand


def capture(motion: kp.Motion, suffix: str, path: Path) -> None:
    """As the verbs write it."""
    if suffix == ".report.html":
        kp.report(motion, path)
    elif suffix in PICTURES:
        kp.strip(motion, None, path)
    else:
        kp.save(kp.swings(motion) if suffix == ".swings.json" else motion, path)


def through_keys(motion: kp.Motion, suffix: str, path: Path) -> None:
    if suffix == ".report.html":
        kp.report(motion, path, keys=len(FRAMES), pins=tuple(FRAMES))
    elif suffix in PICTURES:
        kp.strip(motion, FRAMES, path, theme="dark", layout="time")
    else:
        kp.save(kp.swings(motion) if suffix == ".swings.json" else keyed(motion), path)


def edit_of_keys(motion: kp.Motion, suffix: str, path: Path) -> None:
    if suffix == ".report.html":
        kp.report(edited(motion).sample(), path, keys=len(FRAMES), pins=tuple(FRAMES))
    elif suffix in PICTURES:
        kp.strip(edited(motion).sample(), FRAMES, path)
    else:
        kp.save(edited(motion), path)


def edit_with_detail(motion: kp.Motion, suffix: str, path: Path) -> None:
    seen = edited(motion).sample(0.5)
    if suffix == ".report.html":
        kp.report(seen, path, keys=len(FRAMES), pins=tuple(FRAMES))
    elif suffix in PICTURES:
        kp.strip(seen, FRAMES, path)
    else:
        kp.save(edited(motion) if suffix == ".keys.json" else seen, path)


def edit_of_swings(motion: kp.Motion, suffix: str, path: Path) -> None:
    by_hand = stronger(motion)
    if suffix == ".swings.json":
        kp.save(by_hand.swings, path)
    else:
        capture(by_hand.play(), suffix, path)


WAYS: dict[str, tuple[dict[str, Any], Callable[[kp.Motion, str, Path], None]]] = {
    "capture": ({}, capture),
    "keys": ({"frames": FRAMES, "theme": "dark", "layout": "time"}, through_keys),
    "edit of keys": ({"draft": KEYS}, edit_of_keys),
    "edit with detail": ({"draft": {**KEYS, "residual": 0.5}}, edit_with_detail),
    "edit of swings": ({"draft": STRONGER}, edit_of_swings),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suffix", PLAIN)
def test_a_file_is_what_the_verbs_write(
    client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path, suffix: str, way: str
) -> None:
    told, write = WAYS[way]
    if suffix == ".swings.json" and way in ("edit of keys", "edit with detail"):
        answer = client.post(f"/api/clips/{walk}/export", json={"format": suffix, **told})
        assert answer.status_code == 400 and "a draft of keys as .swings.json" in answer.text
        return
    path = tmp_path / f"x{suffix.removeprefix('.strip').removeprefix('.report')}"
    write(motion, suffix, path)
    assert exported(client, walk, format=suffix, **told) == path.read_bytes()


def test_every_format_that_is_offered_is_compared(client: httpx.Client) -> None:
    offered = {row["suffix"] for row in client.get("/api/library").json()["formats"]}
    assert offered == {*PLAIN, *BLENDER}
    assert offered >= {suffix for suffix in writable_suffixes(swings=True) if not suffix.endswith(".gz")}


@pytest.mark.parametrize("near", [{"lossless": True}, {"tolerance_mm": 5.0}, {}], ids=str)
def test_a_kps_is_as_near_as_asked(
    client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path, near: dict[str, Any]
) -> None:
    for told, what in (
        ({}, motion),
        ({"draft": {**KEYS, "residual": 0.5}}, edited(motion).sample(0.5)),
        ({"draft": STRONGER}, stronger(motion).play()),
    ):
        kp.save(what, tmp_path / "x.kps", **near)
        assert exported(client, walk, format=".kps", **near, **told) == (tmp_path / "x.kps").read_bytes()
    with kp.open_kps(tmp_path / "x.kps") as stored:
        assert stored.lossless is near.get("lossless", False)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"format": ".kps", "lossless": True, "tolerance_mm": 1.0}, "a file keeps one or the other"),
        ({"format": ".kps", "lossless": True, "frames": FRAMES}, "expected a Motion, as these are for frames"),
        ({"format": ".bvh", "lossless": True}, "lossless with .bvh, expected it with .kps alone"),
    ],
    ids=["both", "keys", "another format"],
)
def test_what_cannot_be_without_loss_is_said(client: httpx.Client, walk: str, told: dict[str, Any], says: str) -> None:
    answer = client.post(f"/api/clips/{walk}/export", json=told)
    assert answer.status_code == 400 and says in answer.json()["error"]["message"]


COMMANDS = {
    **{suffix: ("convert", {"format": suffix}, ()) for suffix in (".bvh", ".gltf", ".usda", ".keys.json")},
    "near": ("compress", {"format": ".kps", "tolerance_mm": 2.0}, ("--tolerance-mm", "2")),
    "lossless": ("compress", {"format": ".kps", "lossless": True}, ("--lossless",)),
    "strip": ("strip", {"format": ".strip.svg"}, ()),
}


@pytest.mark.parametrize("which", COMMANDS)
def test_a_file_is_what_the_command_line_writes(client: httpx.Client, tmp_path: Path, which: str) -> None:
    command, told, options = COMMANDS[which]
    kp.save(kp.demo_motion(fps=30)[100:220], tmp_path / "walk.glb")
    clip = send(client, (tmp_path / "walk.glb").read_bytes(), "walk.glb").json()["clip"]["hash"]
    out = tmp_path / f"walk{told['format'].removeprefix('.strip')}"
    assert run([command, str(tmp_path / "walk.glb"), str(out), *options]) == 0
    assert exported(client, clip, **told) == out.read_bytes()


def test_a_bvh_leaves_without_loss_as_python_writes_it(client: httpx.Client, tmp_path: Path) -> None:
    kp.save(kp.demo_motion(fps=30)[110:220], tmp_path / "walk.bvh")
    clip = send(client, (tmp_path / "walk.bvh").read_bytes(), "walk.bvh").json()["clip"]["hash"]
    kp.save(kp.load(tmp_path / "walk.bvh"), tmp_path / "x.kps", lossless=True)
    assert exported(client, clip, format=".kps", lossless=True) == (tmp_path / "x.kps").read_bytes()


def test_several_clips_leave_without_loss(client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path) -> None:
    answer = client.post("/api/export", json={"clips": [walk], "format": ".kps", "lossless": True})
    kp.save(motion, tmp_path / "walk.kps", lossless=True)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.read("walk.kps") == (tmp_path / "walk.kps").read_bytes()


def test_a_draft_is_taken_away_and_read_again(client: httpx.Client, walk: str, tmp_path: Path) -> None:
    draft = {"kind": "keys", "frames": FRAMES, "steps": [{"op": "move_key", "frame": 61, "to": 66}]}
    (tmp_path / "walk.glb").write_bytes(exported(client, walk, format=".glb", draft=draft))
    assert kp.load_keyed(tmp_path / "walk.glb").keys.tolist() == [0, 30, 66, 90, 119]


def test_where_blender_was_sought_stays_unsaid(
    motion: kp.Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(tmp_path / "python of blender"))
    with pytest.raises(MissingExtra) as caught:
        kp.save(motion, tmp_path / "x.fbx")
    problem = problem_of(caught.value)
    assert problem.message.startswith("python of blender: cannot be started") and status_of(problem) == 501
