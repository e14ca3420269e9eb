"""The whole way of an artist: unbake to .blend, edit it in Blender, put the captured detail back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

EDIT = """
import bpy, sys
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
action = next(o for o in bpy.data.objects if o.type == "ARMATURE").animation_data.action
curves = [c for c in action.fcurves if '"Hips"' in c.data_path and c.data_path.endswith("location")]
assert curves
for curve in curves:
    for point in curve.keyframe_points:
        for part in (point.co, point.handle_left, point.handle_right):
            part[1] += 0.25 if curve.array_index == 0 else 0.0
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


def test_there_and_back(keypose, blender_python: str, tmp_path: Path) -> None:
    motion = kp.demo_motion(fps=30.0)[:120]
    kp.save(motion, tmp_path / "walk.bvh")
    (made,) = keypose("unbake", tmp_path / "walk.bvh", tmp_path / "walk.blend", "--keys", 14)["unbaked"]
    assert made["keeps_keys"]
    same = keypose("rebake", tmp_path / "walk.blend", tmp_path / "same.bvh", "--residual", 1)
    assert (same["keys"], same["from"]) == (14, str(tmp_path / "walk.keys.json"))
    off = kp.load(tmp_path / "same.bvh").world_positions() - motion.world_positions()
    assert np.abs(off).max() * motion.mm_per_unit < 0.1

    (tmp_path / "edit.py").write_text(EDIT)
    command = [blender_python, tmp_path / "edit.py", tmp_path / "walk.blend", tmp_path / "edited.blend"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    keypose("rebake", tmp_path / "edited.blend", tmp_path / "final.bvh", "--from", made["keys_file"], "--residual", 1)
    moved = kp.load(tmp_path / "final.bvh").world_positions() - motion.world_positions()
    along = moved - moved.mean(axis=(0, 1))
    assert np.linalg.norm(moved.mean(axis=(0, 1))) == pytest.approx(0.25, abs=1e-3)  # metres, as the figure is
    assert np.abs(along).max() * motion.mm_per_unit < 0.1  # moved as a whole, and all its detail with it
