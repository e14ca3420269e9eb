"""Keys moved in time in Blender: the residual moves with them, and the curves stay Blender's."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from support.errors import Pattern, warns

pytestmark = pytest.mark.blender

SAME_MM, NEAR_MM = 0.1, 1.01  # where curves stay cubics of time, and where breakdowns are needed

EDIT = '''
import os, sys
import bpy

source, folder, key, further = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def edit(name, moved, start=0, end=0, keys=None, change=None):
    bpy.ops.wm.open_mainfile(filepath=source)
    figure = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    for curve in figure.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for k, point in enumerate(curve.keyframe_points):
            if keys is None or k in keys:
                for part in (point.co, point.handle_left, point.handle_right):
                    part.x = moved(part.x)
        if change is not None:
            change(curve)
        curve.update()
    scene = bpy.context.scene
    scene.frame_end += end
    scene.frame_start += start
    bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/{name}.blend")

def replaced(curve):
    """Deletes a key and adds one elsewhere: same number of keys, but other indices."""
    points = curve.keyframe_points
    frame = points[key].co.x + further
    points.insert(frame, curve.evaluate(frame))
    points.remove(points[2])

edit("replaced", lambda x: x, change=replaced)
edit("further", lambda x: x + further, keys=[key])
edit("slower", lambda x: 2 * x - 1, end=299)
edit("cut", lambda x: 2 * x - 1)
edit("later", lambda x: x + 40, end=40)
edit("all later", lambda x: x + 40, start=40, end=40)
edit("second half", lambda x: x, start=150)
os._exit(0)
'''


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:300]


@pytest.fixture(scope="module")
def keyed(motion) -> kp.KeyedMotion:
    return kp.unbake(motion, keys=12)


def moved_alone(keyed: kp.KeyedMotion) -> tuple[int, int]:
    """Return the index of the key before the widest gap, and half the gap, by which it is moved."""
    gaps = np.diff(keyed.keys)
    key = 1 + int(gaps[1:].argmax())
    return key, int(gaps[key]) // 2


@pytest.fixture(scope="module")
def folder(keyed, blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("moved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        kp.save(keyed, where / "walk.blend")
    (where / "edit.py").write_text(EDIT)
    key, further = map(str, moved_alone(keyed))
    command = [blender_python, where / "edit.py", where / "walk.blend", where, key, further]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    return where


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.fixture(scope="module")
def load_edit(folder):
    """A cached function that loads the keys of an edit."""
    return cache(lambda name: kp.load_keyed(folder / f"{name}.blend"))


def max_error_mm(result: kp.Motion, expected: kp.Motion) -> float:
    """Return the largest distance of any joint, on a figure of 1.7 m."""
    return float(
        np.linalg.norm(result.world_positions() - expected.world_positions(), axis=2).max() * expected.mm_per_unit
    )


def test_a_key_moved_alone(load_edit, folder, keyed):
    """Its handles moved too, so its two spans are no longer cubics of time."""
    result, evaluated = load_edit("further"), kp.load(folder / "further.blend")
    key, further = moved_alone(keyed)
    assert further > 15
    expected = keyed.keys.copy()
    expected[key] += further
    added = np.setdiff1d(result.keys, expected)
    assert np.isin(expected, result.keys).all()
    assert 0 < len(added) <= 5 and not result.extremes[np.isin(result.keys, added)].any()
    assert ((expected[key - 1] < added) & (added < expected[key + 1])).all()
    error = max_error_mm(result.sample(), evaluated)
    assert error < NEAR_MM
    (message,) = (
        re.search(r"up to ([\d.]+) mm .* and [\d.]+ degrees off", n) for n in result.notes if "no cubics" in n
    )
    assert float(message[1]) == pytest.approx(error, rel=0.1)
    assert any(re.match(rf"{len(added)} breakdowns? added \(at {added[0]}\b", note) for note in result.notes)


def test_the_residual_of_a_moved_key_moves_with_it(load_edit, keyed):
    result = load_edit("further")
    expected = keyed.keys.astype(float)
    key, further = moved_alone(keyed)
    expected[key] += further
    assert np.allclose(result.residual.source_frames(expected), keyed.keys, atol=1e-9)
    halfway = (expected[1:] + expected[:-1]) / 2
    assert np.allclose(result.residual.source_frames(halfway), (keyed.keys[1:] + keyed.keys[:-1]) / 2, atol=1e-9)
    assert np.array_equal(result.residual.rotations, keyed.residual.rotations)


@pytest.mark.parametrize("name", ["further", "slower", "later"])
def test_rebake_uses_the_new_timing(load_edit, keyed, name):
    result = load_edit(name)
    assert max_error_mm(kp.rebake(result, keyed, 1.0), result.sample(1.0)) < 1e-6


def test_all_at_half_the_speed(load_edit, motion, keyed):
    """The original at half the speed, with its residual; every curve stays a cubic of time."""
    result = load_edit("slower")
    assert np.array_equal(result.keys, 2 * keyed.keys)
    assert result.n_frames == 599
    assert max_error_mm(result.sample(1.0, frames=np.arange(0, 599, 2)), motion) < SAME_MM
    assert max_error_mm(result.sample(frames=np.arange(0, 599, 2)), motion) > 1  # the residual is not empty


def test_keys_outside_the_scene_range(folder, motion, keyed):
    """Keys outside the scene's range give a warning; the residual also follows those."""
    lost = int((2 * keyed.keys >= 300).sum())
    problem = Pattern(f"^{lost} of 12 keys are left out.* frames 1 to 300,.* range to 1 to 599$")
    with warns(kp.FormatWarning, code="keys_outside_range", value=lost, problem=problem):
        result = kp.load_keyed(folder / "cut.blend")
    inside = 2 * keyed.keys[2 * keyed.keys < 300]
    assert result.n_frames == kp.load(folder / "cut.blend").n_frames == 300
    assert set(inside.tolist()) | {299} <= set(result.keys.tolist())
    assert max_error_mm(result.sample(1.0, frames=np.arange(0, 300, 2)), motion[:150]) < NEAR_MM


def test_all_keys_later(load_edit, motion):
    """The first pose holds with its residual; nothing is compressed in time."""
    result = load_edit("later")
    assert result.n_frames == 340
    assert max_error_mm(result.sample(1.0)[40:], motion) < SAME_MM
    assert np.array_equal(result.residual.source_frames(np.arange(41.0)), np.zeros(41))
    moved = load_edit("all later")
    assert (moved.n_frames, moved.first_frame) == (300, 40)
    assert max_error_mm(moved.sample(1.0), motion) < SAME_MM


def test_the_scene_begins_in_the_middle(folder, motion, keyed):
    lost = int((keyed.keys < 150).sum())
    problem = Pattern(f"^{lost} of 12 keys are left out.* range to 1 to 300$")
    with warns(kp.FormatWarning, code="keys_outside_range", value=lost, problem=problem):
        result = kp.load_keyed(folder / "second half.blend")
    assert (result.n_frames, result.first_frame) == (150, 150)
    assert max_error_mm(result.sample(1.0), motion[150:]) < NEAR_MM
    assert not any("goes along" in note for note in result.notes)  # no key was moved


def test_one_key_deleted_and_one_added(load_edit, keyed):
    """The same number of keys, but none was moved: the residual stays."""
    result = load_edit("replaced")
    assert keyed.keys[2] not in result.keys
    assert result.residual.frames is None
    assert any("detail stays on its frames" in note for note in result.notes)
