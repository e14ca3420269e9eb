from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats.base import BLENDER_PYTHONS


def test_the_demo_makes_files_that_hold_its_motion(keypose, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    result = keypose("demo", out, "--fps", "30", "--json")
    assert (result.code, result.err) == (0, "")
    report = json.loads(result.out)
    motion = kp.demo_motion(fps=30.0)
    assert (report["n_frames"], report["fps"], report["n_joints"]) == (motion.n_frames, 30.0, motion.n_joints)
    files = ["demo.bvh", "demo.glb", "demo.kps", "demo_unbaked.glb", "demo_unbaked.keys.json", "demo_stronger.glb"]
    pictures = ["demo_strip.svg", "demo_strip.png", "demo_path.svg", "demo_swings.svg", "demo_report.html"]
    assert sorted(path.name for path in out.iterdir()) == sorted(files + pictures)
    assert all(kp.load(out / name).n_frames == motion.n_frames for name in files)
    written = [step for step in report["steps"] if step["bytes"] is not None]
    assert [step["bytes"] for step in written] == [(out / name).stat().st_size for name in files + pictures]
    twelve = kp.select(motion, keys=12)
    assert (out / "demo_strip.svg").read_text() == kp.strip(motion, twelve).svg
    assert (out / "demo_strip.png").read_bytes() == kp.strip(motion, twelve).png()
    assert (out / "demo_path.svg").read_text() == kp.strip(motion, twelve, layout="path").svg
    assert "<h1" in (out / "demo_report.html").read_text()
    errors = {step["description"]: step["error_mm"] for step in report["steps"] if step["error_mm"] is not None}
    assert len(errors) == 7  # of each file, and of the detail added back
    assert 0.5 < errors.pop(f"read {out / 'demo.kps'}") <= 1.0
    assert max(errors.values()) < 0.1
    assert all(step["seconds"] > 0 for step in report["steps"])
    chosen = [step["keys"] for step in report["steps"] if step["keys"] is not None]
    assert chosen == [list(kp.select(motion, "farthest", keys=6)), list(twelve)]


def test_the_demo_does_the_main_job(keypose, tmp_path: Path) -> None:
    report = json.loads(keypose("demo", tmp_path, "--fps", "30", "--json").out)
    motion = kp.demo_motion(fps=30.0)
    keyed = kp.unbake(motion, auto=True)
    assert report["n_keys"] == keyed.n_keys < 0.5 * motion.n_frames
    assert report["score"]["mean_mm"] == kp.score(motion, keyed).mean_mm
    for name in ("demo_unbaked.glb", "demo_unbaked.keys.json"):
        assert kp.load_keyed(tmp_path / name).keys.tolist() == keyed.keys.tolist()
    back = [step for step in report["steps"] if step["description"].startswith("added the detail back")]
    assert [step["error_mm"] < 0.01 for step in back] == [True]


def test_the_demo_edits_swings(keypose, tmp_path: Path) -> None:
    report = json.loads(keypose("demo", tmp_path, "--fps", "30", "--json").out)
    motion = kp.demo_motion(fps=30.0)
    assert f"found {kp.swings(motion).n_swings} swings" in [step["description"] for step in report["steps"]]
    stronger = kp.load(tmp_path / "demo_stronger.glb")
    heights = [
        np.ptp(clip.world_positions()[:, clip.joint("right_foot"), 1]) / clip.height for clip in (motion, stronger)
    ]
    assert heights[1] > 1.1 * heights[0]


def test_demo_prints_its_steps(keypose, tmp_path: Path) -> None:
    result = keypose("demo", tmp_path, "--fps", "10")
    assert result.code == 0
    assert re.match(r"a figure of \d+ joints: \d+ frames at 10 fps, ", result.out)
    *_, last = result.out.splitlines()
    assert last.startswith(
        f"next: open {tmp_path / 'demo_report.html'} in a browser, {tmp_path / 'demo_unbaked.glb'} in any "
    )
    assert (
        len(re.findall(r"^ +[\d.]+ ms  (made|wrote|read|chose|unbaked|found|added) ", result.out, re.MULTILINE)) == 19
    )
    assert re.search(
        r"^\d+ keys in place of \d+ frames, [\d.]+ % removed; curves between them:$", result.out, re.MULTILINE
    )
    assert re.search(r"^  error +[\d.]+ mm on average, 95 % within ", result.out, re.MULTILINE)
    assert re.search(r"^  rotations +[\d.]+ degrees off on average, ", result.out, re.MULTILINE)
    assert keypose(*shlex.split(last.split("try: keypose ")[1])).code == 0


def test_the_demo_says_what_extras_would_add(keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    real = importlib.util.find_spec
    hidden = ("sqlalchemy", "fastapi", "pxr", "bpy")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in hidden else real(name))
    result = keypose("demo", tmp_path, "--fps", "10")
    assert result.code == 0
    *lines, last = result.out.splitlines()
    assert [line.partition(": pip install ") for line in lines[-5:]] == [
        ("for a library of clips with search by example", ": pip install ", "'keypose[library]'"),
        ("for the web app", ": pip install ", "'keypose[serve]'"),
        ("for .usda .usdc .usd files", ": pip install ", "'keypose[usd]'"),
        ("for .fbx files", ": pip install ", f"'keypose[fbx]' (Python {BLENDER_PYTHONS})"),
        ("for .blend files", ": pip install ", f"'keypose[blender]' (Python {BLENDER_PYTHONS})"),
    ]
    assert last.startswith("next: ")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    assert "pip install" not in keypose("demo", tmp_path, "--fps", "10").out


def test_the_demo_wants_a_folder(keypose, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = keypose("demo", tmp_path / "file", "--fps", "10")
    assert result.code == 1
    assert "the folder cannot be made" in result.err
