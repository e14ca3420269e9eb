"""Export over HTTP gives the bytes that Python and the command line write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import keypose as kp
from keypose.cli.app import run
from keypose.clip_edit.export import PICTURES, export_suffixes
from keypose.errors import MissingExtra
from keypose.formats import writable_suffixes
from keypose.server.error_responses import error_details
from keypose.swings.edit import SwingEdit
from support.errors import check_error_response
from support.upload_requests import send

FRAMES = [0, 30, 61, 90, 119]
BLENDER = (".fbx", ".blend")  # compared in tests/blender
PLAIN = [suffix for suffix in export_suffixes() if suffix not in BLENDER]
ROTATE_STEP = {"op": "rotate", "frame": 61, "joint": "head", "euler_degrees": [0, 25, 0]}
KEYS_DRAFT: dict[str, Any] = {"kind": "keys", "frames": FRAMES, "steps": [ROTATE_STEP]}
SWINGS_DRAFT = {"kind": "swings", "steps": [{"op": "intensify", "joint": "legs", "factor": 1.4}]}


def export(client: httpx.Client, clip: str, **options: Any) -> bytes:
    response = client.post(f"/api/clips/{clip}/export", json=options)
    assert response.status_code == 200, response.text
    suffix, draft, frames = options["format"], options.get("draft"), options.get("frames")
    version = f" (edited {draft['kind']})" if draft else ""
    if frames and suffix != ".swings.json":  # swings are those of the capture
        version = f" ({len(frames)} keys)"
    assert response.headers["content-disposition"].startswith(f'attachment; filename="walk{version}{suffix}"')
    return response.content


def keyed(motion: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(motion, FRAMES)


def edit_keys(motion: kp.Motion) -> kp.KeyedMotion:
    editor = kp.edit(keyed(motion))
    editor.rotate(61, "head", euler_degrees=(0, 25, 0))
    return editor.keyed


def edit_swings(motion: kp.Motion) -> SwingEdit:
    editor = kp.swings(motion).edit(motion)
    editor.intensify("legs", 1.4)
    return editor


def capture(motion: kp.Motion, suffix: str, path: Path) -> None:
    """Write the capture by the Python API."""
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
        kp.report(edit_keys(motion).sample(), path, keys=len(FRAMES), pins=tuple(FRAMES))
    elif suffix in PICTURES:
        kp.strip(edit_keys(motion).sample(), FRAMES, path)
    else:
        kp.save(edit_keys(motion), path)


def edit_with_detail(motion: kp.Motion, suffix: str, path: Path) -> None:
    motion_with_residual = edit_keys(motion).sample(0.5)
    if suffix == ".report.html":
        kp.report(motion_with_residual, path, keys=len(FRAMES), pins=tuple(FRAMES))
    elif suffix in PICTURES:
        kp.strip(motion_with_residual, FRAMES, path)
    else:
        kp.save(edit_keys(motion) if suffix == ".keys.json" else motion_with_residual, path)


def edit_of_swings(motion: kp.Motion, suffix: str, path: Path) -> None:
    editor = edit_swings(motion)
    if suffix == ".swings.json":
        kp.save(editor.swings, path)
    else:
        capture(editor.play(), suffix, path)


SOURCES: dict[str, tuple[dict[str, Any], Callable[[kp.Motion, str, Path], None]]] = {
    "capture": ({}, capture),
    "keys": ({"frames": FRAMES, "theme": "dark", "layout": "time"}, through_keys),
    "edit of keys": ({"draft": KEYS_DRAFT}, edit_of_keys),
    "edit with detail": ({"draft": {**KEYS_DRAFT, "residual": 0.5}}, edit_with_detail),
    "edit of swings": ({"draft": SWINGS_DRAFT}, edit_of_swings),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("suffix", PLAIN)
def test_export_matches_python_api(
    client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path, suffix: str, source: str
) -> None:
    options, write = SOURCES[source]
    if suffix == ".swings.json" and source in ("edit of keys", "edit with detail"):
        response = client.post(f"/api/clips/{walk}/export", json={"format": suffix, **options})
        assert response.status_code == 400 and response.json()["error"]["option"] == "format"
        return
    path = tmp_path / f"x{suffix.removeprefix('.strip').removeprefix('.report')}"
    write(motion, suffix, path)
    assert export(client, walk, format=suffix, **options) == path.read_bytes()


def test_every_export_format_is_compared(client: httpx.Client) -> None:
    suffixes = {row["suffix"] for row in client.get("/api/library").json()["formats"]}
    assert suffixes == {*PLAIN, *BLENDER}
    assert suffixes >= {suffix for suffix in writable_suffixes(swings=True) if not suffix.endswith(".gz")}


@pytest.mark.parametrize("accuracy", [{"lossless": True}, {"tolerance_mm": 5.0}, {}], ids=str)
def test_kps_accuracy(
    client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path, accuracy: dict[str, Any]
) -> None:
    for options, content in (
        ({}, motion),
        ({"draft": {**KEYS_DRAFT, "residual": 0.5}}, edit_keys(motion).sample(0.5)),
        ({"draft": SWINGS_DRAFT}, edit_swings(motion).play()),
    ):
        kp.save(content, tmp_path / "x.kps", **accuracy)
        assert export(client, walk, format=".kps", **accuracy, **options) == (tmp_path / "x.kps").read_bytes()
    with kp.open_kps(tmp_path / "x.kps") as stored:
        assert stored.lossless is accuracy.get("lossless", False)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"format": ".kps", "lossless": True, "tolerance_mm": 1.0}, {"option": "tolerance_mm", "value": 1.0}),
        ({"format": ".kps", "lossless": True, "frames": FRAMES}, {"expected": "a Motion, as these are for frames"}),
        ({"format": ".bvh", "lossless": True}, {"option": "lossless", "value": True}),
    ],
    ids=["both", "keys", "another format"],
)
def test_invalid_lossless_export(
    client: httpx.Client, walk: str, options: dict[str, Any], fields: dict[str, Any]
) -> None:
    response = client.post(f"/api/clips/{walk}/export", json=options)
    check_error_response(response, 400, code="option", **fields)


COMMANDS = {
    **{suffix: ("convert", {"format": suffix}, ()) for suffix in (".bvh", ".gltf", ".usda", ".keys.json")},
    "accuracy": ("compress", {"format": ".kps", "tolerance_mm": 2.0}, ("--tolerance-mm", "2")),
    "lossless": ("compress", {"format": ".kps", "lossless": True}, ("--lossless",)),
    "strip": ("strip", {"format": ".strip.svg"}, ()),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_export_matches_command_line(client: httpx.Client, tmp_path: Path, case: str) -> None:
    command, options, arguments = COMMANDS[case]
    kp.save(kp.demo_motion(fps=30)[100:220], tmp_path / "walk.glb")
    clip = send(client, (tmp_path / "walk.glb").read_bytes(), "walk.glb").json()["clip"]["hash"]
    out = tmp_path / f"walk{options['format'].removeprefix('.strip')}"
    assert run([command, str(tmp_path / "walk.glb"), str(out), *arguments]) == 0
    assert export(client, clip, **options) == out.read_bytes()


def test_lossless_export_of_bvh(client: httpx.Client, tmp_path: Path) -> None:
    kp.save(kp.demo_motion(fps=30)[110:220], tmp_path / "walk.bvh")
    clip = send(client, (tmp_path / "walk.bvh").read_bytes(), "walk.bvh").json()["clip"]["hash"]
    kp.save(kp.load(tmp_path / "walk.bvh"), tmp_path / "x.kps", lossless=True)
    assert export(client, clip, format=".kps", lossless=True) == (tmp_path / "x.kps").read_bytes()


def test_lossless_zip_export(client: httpx.Client, walk: str, motion: kp.Motion, tmp_path: Path) -> None:
    response = client.post("/api/export", json={"clips": [walk], "format": ".kps", "lossless": True})
    kp.save(motion, tmp_path / "walk.kps", lossless=True)
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.read("walk.kps") == (tmp_path / "walk.kps").read_bytes()


def test_exported_draft_can_be_loaded(client: httpx.Client, walk: str, tmp_path: Path) -> None:
    draft = {"kind": "keys", "frames": FRAMES, "steps": [{"op": "move_key", "frame": 61, "to": 66}]}
    (tmp_path / "walk.glb").write_bytes(export(client, walk, format=".glb", draft=draft))
    assert kp.load_keyed(tmp_path / "walk.glb").keys.tolist() == [0, 30, 66, 90, 119]


def test_path_of_blender_is_not_disclosed(motion: kp.Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(tmp_path / "python of blender"))
    with pytest.raises(MissingExtra) as excinfo:
        kp.save(motion, tmp_path / "x.fbx")
    details = error_details(excinfo.value)
    assert (details.code, details.status, details.path) == ("missing_extra", 501, "python of blender")
    assert str(tmp_path) not in details.model_dump_json()
