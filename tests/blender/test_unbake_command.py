"""The workflow of an artist: unbake to .blend, edit it in Blender, add the residual again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = [pytest.mark.blender, pytest.mark.one_python]

EDIT = """
import bpy, sys
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
action = next(o for o in bpy.data.objects if o.type == "ARMATURE").animation_data.action
curves = [c for c in action.layers[0].strips[0].channelbags[0].fcurves if '"Hips"' in c.data_path and c.data_path.endswith("location")]
assert curves
for curve in curves:
    for point in curve.keyframe_points:
        for part in (point.co, point.handle_left, point.handle_right):
            part[1] += 0.25 if curve.array_index == 0 else 0.0
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
"""


MOVE = """
import bpy, sys
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
action = next(o for o in bpy.data.objects if o.type == "ARMATURE").animation_data.action
for curve in action.layers[0].strips[0].channelbags[0].fcurves:
    for point in curve.keyframe_points:
        if round(point.co.x) == int(sys.argv[3]):
            for part in (point.co, point.handle_left, point.handle_right):
                part[0] += 2
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
"""


@pytest.fixture
def keypose(blender_python: str):
    def call(*arguments: object) -> dict:
        command = [sys.executable, "-m", "keypose", *map(str, arguments), "--json"]
        env = {**os.environ, "KEYPOSE_BLENDER_PYTHON": blender_python}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return call


def test_round_trip_with_an_edit(keypose, blender_python: str, tmp_path: Path) -> None:
    motion = kp.demo_motion(fps=30.0)[:120]
    kp.save(motion, tmp_path / "walk.bvh")
    (unbaked,) = keypose("unbake", tmp_path / "walk.bvh", tmp_path / "walk.blend", "--keys", 14)["unbaked"]
    assert unbaked["keeps_keys"]
    same = keypose("rebake", tmp_path / "walk.blend", tmp_path / "same.bvh", "--residual", 1)
    assert (same["keys"], same["from"], same["timing"]) == (14, str(tmp_path / "walk.blend"), "frames")
    error = kp.load(tmp_path / "same.bvh").world_positions() - motion.world_positions()
    assert np.abs(error).max() * motion.mm_per_unit < 0.1

    (tmp_path / "edit.py").write_text(EDIT)
    command = [blender_python, tmp_path / "edit.py", tmp_path / "walk.blend", tmp_path / "edited.blend"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    keypose(
        "rebake", tmp_path / "edited.blend", tmp_path / "final.bvh", "--from", unbaked["keys_file"], "--residual", 1
    )
    moved = kp.load(tmp_path / "final.bvh").world_positions() - motion.world_positions()
    along = moved - moved.mean(axis=(0, 1))
    assert np.linalg.norm(moved.mean(axis=(0, 1))) == pytest.approx(0.25, abs=1e-3)  # metres, as the figure is
    assert np.abs(along).max() * motion.mm_per_unit < 0.1  # moved as a whole, with its residual

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "edited.blend").rename(tmp_path / "elsewhere" / "shot_v2.blend")  # without a sidecar
    own = keypose("rebake", tmp_path / "elsewhere" / "shot_v2.blend", tmp_path / "own.bvh", "--residual", "100%")
    assert own["from"] == str(tmp_path / "elsewhere" / "shot_v2.blend")
    error = kp.load(tmp_path / "own.bvh").world_positions() - kp.load(tmp_path / "final.bvh").world_positions()
    assert np.abs(error).max() * motion.mm_per_unit < 0.01


def test_the_residual_moves_with_a_moved_key(keypose, blender_python: str, tmp_path: Path) -> None:
    motion = kp.demo_motion(fps=30.0)[:120]
    kp.save(motion, tmp_path / "walk.bvh")
    (unbaked,) = keypose("unbake", tmp_path / "walk.bvh", tmp_path / "walk.blend", "--keys", 14)["unbaked"]
    (tmp_path / "move.py").write_text(MOVE)
    key = unbaked["frames"][6]
    command = [blender_python, tmp_path / "move.py", tmp_path / "walk.blend", tmp_path / "v2.blend", str(1 + key)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for options, timing in (([], "own"), (["--from", unbaked["keys_file"]], "own"), (["--timing", "frames"], "frames")):
        out = tmp_path / f"{len(options)}_{timing}.bvh"
        report = keypose("rebake", tmp_path / "v2.blend", out, "--residual", 1, *options)
        assert report["timing"] == timing
    by_keys, options, by_frames = (kp.load(tmp_path / name) for name in ("0_own.bvh", "2_own.bvh", "2_frames.bvh"))
    assert np.abs(by_keys.world_positions() - options.world_positions()).max() < 1e-6
    apart = np.abs(by_keys.world_positions() - by_frames.world_positions()).max(axis=(1, 2)) * motion.mm_per_unit
    before, after = unbaked["frames"][5], unbaked["frames"][7]
    assert apart[before + 1 : after].max() > 0.1
    assert apart[: before + 1].max() < 1e-3 > apart[after:].max()


def test_formats_command_uses_the_other_python(blender_python: str) -> None:
    env = os.environ | {"KEYPOSE_BLENDER_PYTHON": blender_python}
    command = [sys.executable, "-m", "keypose", "formats", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["FBX"]["installed"]
    assert rows["Blender"]["installed"]
