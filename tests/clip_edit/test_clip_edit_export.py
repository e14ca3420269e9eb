"""Exports have the bytes that kp.save, kp.strip and kp.report write."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_clip_edit_drafts import keys_draft, swing_steps, swings_draft

import keypose as kp
from keypose.clip_edit import ClipEditor, ExportOptions, describe_motion, export_clip, safe_stem
from keypose.clip_edit.export import MAX_LENGTH, export_suffixes, unique_names
from keypose.clip_edit.steps import Rotate
from keypose.errors import MissingExtra, OptionError
from keypose.formats import writable_suffixes
from support.character_files import character_glb
from support.errors import raises

FRAMES = (0, 31, 60, 88, 119)
DENSE = (".bvh", ".glb", ".gltf", ".usda", ".usdc", ".kps", ".keys.json")
SPARSE = DENSE
HAS_BPY = importlib.util.find_spec("bpy") is not None


def save_bytes(content: Any, path: Path, **options: Any) -> bytes:
    kp.save(content, path, **options)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", DENSE)
def test_export_of_capture(editor: ClipEditor, tmp_path: Path, suffix: str) -> None:
    exported = export_clip(editor, ExportOptions(suffix))
    assert exported.data == save_bytes(editor.motion, tmp_path / f"other{suffix}")
    assert exported.name == f"{safe_stem(editor.motion.name)}{suffix}"


@pytest.mark.parametrize("suffix", SPARSE)
def test_export_of_keys(editor: ClipEditor, tmp_path: Path, suffix: str) -> None:
    exported = export_clip(editor, ExportOptions(suffix, frames=FRAMES))
    assert exported.data == save_bytes(kp.unbake(editor.motion, FRAMES), tmp_path / f"other{suffix}")
    linear = export_clip(editor, ExportOptions(suffix, frames=FRAMES, interpolation="linear"))
    assert linear.data != exported.data


def test_versions_of_a_clip_have_different_names(editor: ClipEditor) -> None:
    stem, draft = safe_stem(editor.motion.name), keys_draft(Rotate(frame=60, joint="head", euler_degrees=(0, 30, 0)))
    unedited = keys_draft()
    for options, name in (
        (ExportOptions(".bvh"), f"{stem}.bvh"),
        (ExportOptions(".bvh", frames=FRAMES), f"{stem} (5 keys).bvh"),
        (ExportOptions(".keys.json", keys=2), f"{stem} (2 keys).keys.json"),
        (ExportOptions(".bvh", frames=(0,)), f"{stem} (1 key).bvh"),
        (ExportOptions(".bvh", draft=unedited), f"{stem} (5 keys).bvh"),
        (ExportOptions(".bvh", draft=replace(unedited, residual=0.25)), f"{stem} (5 keys, detail 0.25).bvh"),
        (ExportOptions(".bvh", draft=draft), f"{stem} (edited keys).bvh"),
        (ExportOptions(".bvh", draft=swings_draft(swing_steps(editor)[0])), f"{stem} (edited swings).bvh"),
        (ExportOptions(".swings.json", frames=FRAMES), f"{stem}.swings.json"),  # those of the capture
        (ExportOptions(".strip.svg", frames=FRAMES), f"{stem} (5 keys).strip.svg"),
    ):
        assert export_clip(editor, options).name == name


def test_export_of_number_of_keys(editor: ClipEditor, tmp_path: Path) -> None:
    gap = editor.motion.n_frames - 1
    chosen = kp.select(editor.motion, "salient", keys=6, cost="inbetween", max_gap_frames=gap, top_only=False)
    exported = export_clip(editor, ExportOptions(".keys.json", keys=6))
    assert exported.data == save_bytes(kp.unbake(editor.motion, chosen), tmp_path / "x.keys.json")


@pytest.mark.parametrize("suffix", SPARSE)
def test_export_of_keys_draft(editor: ClipEditor, tmp_path: Path, suffix: str) -> None:
    draft = keys_draft(Rotate(frame=60, joint="head", euler_degrees=(0, 30, 0)))
    expected_edit = kp.edit(kp.unbake(editor.motion, FRAMES))
    expected_edit.rotate(60, "head", euler_degrees=(0, 30, 0))
    assert export_clip(editor, ExportOptions(suffix, draft=draft)).data == save_bytes(
        expected_edit.keyed, tmp_path / f"x{suffix}"
    )
    sampled = export_clip(editor, ExportOptions(suffix, draft=replace(draft, residual=0.5))).data
    content = expected_edit.keyed if suffix == ".keys.json" else expected_edit.keyed.sample(0.5)
    assert sampled == save_bytes(content, tmp_path / f"y{suffix}")


def test_export_of_swings(editor: ClipEditor, tmp_path: Path) -> None:
    assert export_clip(editor, ExportOptions(".swings.json")).data == save_bytes(
        kp.swings(editor.motion), tmp_path / "a.swings.json"
    )
    step = swing_steps(editor)[0]
    expected_edit = kp.swings(editor.motion).edit(editor.motion)
    expected_edit.scale(expected_edit.swings[step.joint][1], 1.4)
    draft = swings_draft(step)
    assert export_clip(editor, ExportOptions(".swings.json", draft=draft)).data == save_bytes(
        expected_edit.swings, tmp_path / "b.swings.json"
    )
    assert export_clip(editor, ExportOptions(".bvh", draft=draft)).data == save_bytes(
        expected_edit.play(), tmp_path / "b.bvh"
    )


def test_export_of_kps(editor: ClipEditor, tmp_path: Path) -> None:
    exported = export_clip(editor, ExportOptions(".kps", tolerance_mm=5.0))
    assert exported.data == save_bytes(editor.motion, tmp_path / "x.kps", tolerance_mm=5.0)
    assert len(exported.data) < len(export_clip(editor, ExportOptions(".kps", tolerance_mm=0.1)).data)
    lossless_file = export_clip(editor, ExportOptions(".kps", lossless=True))
    assert lossless_file.data == save_bytes(editor.motion, tmp_path / "y.kps", lossless=True)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_export_of_strip(editor: ClipEditor, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    for frames in (FRAMES, None):
        kp.strip(editor.motion, frames, path)
        assert export_clip(editor, ExportOptions(f".strip{suffix}", frames=frames)).data == path.read_bytes()
    kp.strip(editor.motion, FRAMES, path, theme="dark", layout="time")
    options = ExportOptions(f".strip{suffix}", frames=FRAMES, theme="dark", layout="time")
    assert export_clip(editor, options).data == path.read_bytes()


def test_export_of_report(editor: ClipEditor, tmp_path: Path) -> None:
    kp.report(editor.motion, tmp_path / "x.html", keys=5, pins=FRAMES)
    exported = export_clip(editor, ExportOptions(".report.html", frames=FRAMES))
    assert exported.data == (tmp_path / "x.html").read_bytes()
    assert exported.media_type == "text/html; charset=utf-8"


@pytest.mark.skipif(HAS_BPY, reason="Blender's module is here")
@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_export_needs_blender(editor: ClipEditor, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    with raises(MissingExtra, code="missing_extra"):
        export_clip(editor, ExportOptions(suffix))


def test_every_format_can_be_exported() -> None:
    assert {each for each in writable_suffixes(swings=True) if not each.endswith(".gz")} <= set(export_suffixes())


@pytest.mark.parametrize(
    ("options", "fields", "message"),
    [
        ({"format": ".exe"}, {"option": "format", "value": ".exe"}, "format='.exe', expected one of .bvh"),
        ({"format": "../x.bvh"}, {"option": "format", "value": "../x.bvh"}, "format='../x.bvh', expected one of .bvh"),
        (
            {"format": ".bvh", "frames": (0,), "keys": 4},
            {"expected": "one of them or none"},
            "several of frames, joint_keys, keys and draft, expected one of them or none",
        ),
        (
            {"format": ".bvh", "tolerance_mm": 1.0},
            {"option": "tolerance_mm", "value": 1.0},
            "tolerance_mm=1.0 with .bvh, expected it with .kps alone",
        ),
        (
            {"format": ".bvh", "lossless": True},
            {"option": "lossless", "value": True},
            "lossless=True with .bvh, expected it with .kps alone",
        ),
        (
            {"format": ".kps", "lossless": True, "tolerance_mm": 1.0},
            {"option": "tolerance_mm", "value": 1.0},
            "tolerance_mm=1.0 cannot be combined with lossless: a file has one or the other",
        ),
        ({"format": ".bvh", "keys": 1}, {"option": "keys", "value": 1}, "keys=1, expected at least 2"),
        (
            {"format": ".swings.json", "draft": keys_draft()},
            {"option": "format", "value": ".swings.json"},
            "format='.swings.json' with a draft of keys, expected a draft of swings, or none",
        ),
    ],
)
def test_invalid_exports(editor: ClipEditor, options: dict[str, Any], fields: dict[str, Any], message: str) -> None:
    """Messages of exports are pinned here only."""
    with raises(OptionError, **fields) as excinfo:
        export_clip(editor, ExportOptions(**options))
    assert str(excinfo.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("walk", "walk"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("<script>alert(1)</script>", "_script_alert(1)_script_"),
        ("a\\b:c*d?", "a_b_c_d_"),
        (".hidden", "hidden"),
        ("CON", "CON_"),
        ("nul.txt", "nul_.txt"),
        ("Aux .v2.take", "Aux _.v2.take"),
        ("LPT¹", "LPT¹_"),
        ("console.log", "console.log"),
        ("Läufer 走", "Läufer 走"),
        ("\r\nSet-Cookie: x", "_Set-Cookie_ x"),
        ("", "clip"),
        ("...", "clip"),
        ("\ud800", "clip"),
    ],
)
def test_safe_stem(name: str, stem: str) -> None:
    assert safe_stem(name) == stem


@given(st.text())
def test_safe_stem_is_no_path(name: str) -> None:
    stem = safe_stem(name)
    assert stem and not set(stem) & set('/\\:*?"<>|\0\n\r') and stem[0] not in ".-~" and stem[-1] not in ". "
    assert len(stem) <= MAX_LENGTH + 1
    stem.encode("utf-8")


def test_unique_names() -> None:
    assert unique_names(["walk.bvh", "Walk.bvh", "walk.bvh", "run.keys.json", "run.keys.json"]) == (
        "walk.bvh", "Walk (2).bvh", "walk (3).bvh", "run.keys.json", "run (2).keys.json",
    )  # fmt: skip


def test_motion_details(editor: ClipEditor) -> None:
    details, motion = describe_motion(editor), editor.motion
    assert details.has_body and [joint.name for joint in details.joints] == list(motion.skeleton.names)
    assert [joint.parent for joint in details.joints] == motion.skeleton.parents.tolist()
    assert details.joint_groups["hands"] == motion.skeleton.anatomy.groups["hands"]
    foot_contacts = motion.foot_contacts()
    for column, foot in enumerate(foot_contacts.feet):
        frames = {frame for first, last in details.contacts[foot] for frame in range(first, last + 1)}
        assert frames == set(foot_contacts.in_contact[:, column].nonzero()[0].tolist())
    swings = kp.swings(motion)
    assert len(details.swings) == swings.n_swings
    for bar in details.swings:
        own = swings[bar.joint][bar.index]
        assert (bar.start, bar.end) == (own.start, own.end)


def test_export_into_the_file_of_the_clip(motion: kp.Motion, tmp_path: Path) -> None:
    path = tmp_path / "hero.glb"
    path.write_bytes(character_glb(motion))
    motion = kp.load(path)
    editor = ClipEditor(replace(motion, name="renamed"))
    options = ExportOptions(".glb", frames=(frames := (0, 31, 119)), into_source=True)
    exported = export_clip(editor, options, path.read_bytes())
    assert exported.name == "renamed (3 keys, character).glb"
    keyed = kp.unbake(motion, frames)
    assert exported.data == save_bytes(keyed, tmp_path / "result.glb", into=path)
    whole = export_clip(editor, replace(options, reduce_tracks=False), path.read_bytes())
    assert whole.data == save_bytes(keyed, tmp_path / "result.glb", into=path, reduce_tracks=False) != exported.data
    capture = export_clip(editor, ExportOptions(".glb", into_source=True), path.read_bytes())
    assert capture.data == save_bytes(motion, tmp_path / "result.glb", into=path)
    for source in (None, b"HIERARCHY"):
        with raises(OptionError, option="into_source", value=True):
            export_clip(editor, options, source)
    with raises(OptionError, option="into_source", value=True):
        ExportOptions(".bvh", frames=frames, into_source=True)
