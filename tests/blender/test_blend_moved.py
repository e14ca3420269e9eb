"""Keys that an artist moved in time in Blender: the captured detail goes along, and the curves stay Blender's."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

SAME_MM, NEAR_MM = 0.1, 1.01  # where curves stay cubics of time, and where breakdowns must do

EDIT = '''
import os, sys
import bpy

source, folder, key, further = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def edit(name, moved, start=0, end=0, keys=None, change=None):
    bpy.ops.wm.open_mainfile(filepath=source)
    figure = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    for curve in figure.animation_data.action.fcurves:
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
    """Deletes a key and adds one elsewhere: the next keys are no longer the n-th, though there are as many."""
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
    """The key before the widest gap, and half the gap: where it is moved."""
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
def edited(folder):
    """Reads the keys of an edit once."""
    return cache(lambda name: kp.load_keyed(folder / f"{name}.blend"))


def off_mm(found: kp.Motion, wanted: kp.Motion) -> float:
    """The greatest distance of any joint, on a figure of 1.7 m."""
    return float(np.linalg.norm(found.world_positions() - wanted.world_positions(), axis=2).max() * wanted.mm_per_unit)


def test_a_key_moved_alone(edited, folder, keyed):
    """Handles went along, so its two spans are no cubics of time any more."""
    found, seen = edited("further"), kp.load(folder / "further.blend")
    key, further = moved_alone(keyed)
    assert further > 15
    wanted = keyed.keys.copy()
    wanted[key] += further
    added = np.setdiff1d(found.keys, wanted)
    assert np.isin(wanted, found.keys).all()
    assert 0 < len(added) <= 5 and not found.extremes[np.isin(found.keys, added)].any()
    assert ((wanted[key - 1] < added) & (added < wanted[key + 1])).all()
    off = off_mm(found.sample(), seen)
    assert off < NEAR_MM
    (said,) = (re.search(r"up to ([\d.]+) mm .* and [\d.]+ degrees off", n) for n in found.notes if "no cubics" in n)
    assert float(said[1]) == pytest.approx(off, rel=0.1)
    assert any(re.match(rf"{len(added)} breakdowns? added \(at {added[0]}\b", note) for note in found.notes)


def test_the_detail_of_a_moved_key_is_at_its_new_place(edited, keyed):
    found = edited("further")
    wanted = keyed.keys.astype(float)
    key, further = moved_alone(keyed)
    wanted[key] += further
    assert np.allclose(found.residual.source_of(wanted), keyed.keys, atol=1e-9)
    halfway = (wanted[1:] + wanted[:-1]) / 2
    assert np.allclose(found.residual.source_of(halfway), (keyed.keys[1:] + keyed.keys[:-1]) / 2, atol=1e-9)
    assert np.array_equal(found.residual.turns, keyed.residual.turns)


@pytest.mark.parametrize("name", ["further", "slower", "later"])
def test_rebake_takes_the_timing_along(edited, keyed, name):
    found = edited(name)
    assert off_mm(kp.rebake(found, keyed, 1.0), found.sample(1.0)) < 1e-6


def test_all_at_half_the_speed(edited, motion, keyed):
    """The original at half the speed, detail and all; every curve stays a cubic of time."""
    found = edited("slower")
    assert np.array_equal(found.keys, 2 * keyed.keys)
    assert found.n_frames == 599
    assert off_mm(found.sample(1.0, frames=np.arange(0, 599, 2)), motion) < SAME_MM
    assert off_mm(found.sample(frames=np.arange(0, 599, 2)), motion) > 1  # there is detail


def test_keys_that_the_scene_does_not_play(folder, motion, keyed):
    """What plays is what is read, the rest is said; the detail follows keys that are not played too."""
    lost = int((2 * keyed.keys >= 300).sum())
    said = rf"{lost} of 12 keys are left out.* frames 1 to 300,.* range to 1 to 599"
    with pytest.warns(kp.FormatWarning, match=said):
        found = kp.load_keyed(folder / "cut.blend")
    inside = 2 * keyed.keys[2 * keyed.keys < 300]
    assert found.n_frames == kp.load(folder / "cut.blend").n_frames == 300
    assert set(inside.tolist()) | {299} <= set(found.keys.tolist())
    assert off_mm(found.sample(1.0, frames=np.arange(0, 300, 2)), motion[:150]) < NEAR_MM


def test_all_keys_later(edited, motion):
    """The first pose holds with its detail; nothing is squeezed."""
    found = edited("later")
    assert found.n_frames == 340
    assert off_mm(found.sample(1.0)[40:], motion) < SAME_MM
    assert np.array_equal(found.residual.source_of(np.arange(41.0)), np.zeros(41))
    moved = edited("all later")
    assert (moved.n_frames, moved.first_frame) == (300, 40)
    assert off_mm(moved.sample(1.0), motion) < SAME_MM


def test_the_scene_begins_in_the_middle(folder, motion, keyed):
    lost = int((keyed.keys < 150).sum())
    with pytest.warns(kp.FormatWarning, match=rf"{lost} of 12 keys are left out.* range to 1 to 300"):
        found = kp.load_keyed(folder / "second half.blend")
    assert (found.n_frames, found.first_frame) == (150, 150)
    assert off_mm(found.sample(1.0), motion[150:]) < NEAR_MM
    assert not any("goes along" in note for note in found.notes)  # no key was moved


def test_a_key_deleted_here_and_one_added_there(edited, keyed):
    """As many keys, but none was moved: the detail stays where it was."""
    found = edited("replaced")
    assert keyed.keys[2] not in found.keys
    assert found.residual.frames is None
    assert any("detail stays on its frames" in note for note in found.notes)
