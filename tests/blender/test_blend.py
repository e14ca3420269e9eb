"""Keyed motions as .blend files: their curves in real Blender, at keys and between them."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure import SIDE_COLOURS, linear_colour
from keypose.model import Curves, note_code
from keypose.model.keyed_motion import SpanPosition
from keypose.rotations import align_signs, normalise
from support.blend_files import ALL, CUBIC, FIRST, TOLERANCE_MM

pytestmark = pytest.mark.blender


@pytest.mark.data
@pytest.mark.parametrize("name", [*CUBIC, "straight Euler"])
def test_blender_agrees_with_sampling_at_frames_and_between_them(blend_results, name):
    file = blend_results[name]
    assert file.errors_mm(0, file.keyed.sample(frames=file.frames)).max() < TOLERANCE_MM


@pytest.mark.data
def test_linear_quaternions_are_linear_in_their_components(blend_results):
    """Keypose rotates at constant speed; Blender interpolates the components: the same path at another speed."""
    file = blend_results["straight"]
    place = SpanPosition.locate(file.keyed.keys, file.frames)
    rotations = normalise(Curves(align_signs(file.keyed.rotations.values)).at(place))
    sampled = file.keyed.sample(frames=file.frames)
    assert file.errors_mm(0, replace(sampled, rotations=rotations)).max() < TOLERANCE_MM
    error = file.errors_mm(0, sampled)
    assert error[np.isin(file.frames, file.keyed.keys)].max() < TOLERANCE_MM
    assert 0.5 < error.max() < 5


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_the_residual_restores_the_original(blend_results, name):
    """Share 1: the original on every frame. A smaller share: as sampled by Keypose."""
    file = blend_results[name]
    whole = file.frames == np.rint(file.frames)
    assert file.errors_mm(1, file.keyed.sample(1.0, frames=file.frames))[whole].max() < TOLERANCE_MM
    if name != "straight":
        assert file.errors_mm(2, file.keyed.sample(0.5, frames=file.frames))[whole].max() < TOLERANCE_MM
        assert file.errors_mm(1, file.keyed.sample(1.0, frames=file.frames)).max() < 2 * TOLERANCE_MM
    detail = file.errors_mm(0, file.keyed.sample(1.0, frames=file.frames))
    assert name == "one key" or detail.max() > 1  # the residual is not empty


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_keys_and_handles(blend_results, name):
    file = blend_results[name]
    keys = file.keyed.keys + FIRST
    gaps = np.diff(keys)
    assert (file.answer["counts"] == len(keys)).all()
    points = file.answer["points"].reshape(-1, len(keys), 6)
    assert (points[:, :, 2] == keys).all()
    assert np.allclose(points[:, :-1, 4] - keys[:-1], gaps / 3, atol=1e-4)
    assert np.allclose(keys[1:] - points[:, 1:, 0], gaps / 3, atol=1e-4)
    assert set(file.answer["interpolations"].tolist()) == {"BEZIER" if file.keyed.is_cubic else "LINEAR"}
    expected = np.where(file.keyed.extremes, "EXTREME", "BREAKDOWN")
    assert (file.answer["kinds"].reshape(-1, len(keys)) == expected).all()


@pytest.mark.data
def test_euler_angles_and_handles_are_unchanged(blend_results):
    file = blend_results["euler"]
    keyed = file.keyed
    reach = np.diff(keyed.keys) / 3
    for j, (bone, order) in enumerate(zip(keyed.skeleton.names, keyed.rotation_orders, strict=True)):
        assert file.facts["rotation_modes"][bone] == order[::-1]
        for k, axis in enumerate(order):
            points = file.curve(bone, "rotation_euler", "XYZ".index(axis))
            angles = keyed.rotations.values[:, j, k]
            assert np.allclose(points[:, 3], angles, atol=1e-6)
            assert np.allclose(points[:-1, 5], angles[:-1] + reach * keyed.rotations.out_tangents[:-1, j, k], atol=1e-5)
            assert np.allclose(points[1:, 1], angles[1:] - reach * keyed.rotations.in_tangents[1:, j, k], atol=1e-5)


@pytest.mark.data
def test_quaternion_curves_in_the_axes_of_the_bones(blend_results):
    """One orthogonal map for each joint converts values and handles to Blender's."""
    file = blend_results["walk"]
    curves = file.keyed.rotations
    reach = np.diff(file.keyed.keys)[:, None] / 3
    for j, bone in enumerate(file.keyed.skeleton.names):
        points = np.stack([file.curve(bone, "rotation_quaternion", c) for c in range(4)], axis=1)  # (K, 4, 6)
        ours = np.concatenate((
            curves.values[:, j],
            curves.values[:-1, j] + reach * curves.out_tangents[:-1, j],
            curves.values[1:, j] - reach * curves.in_tangents[1:, j],
        ))  # fmt: skip
        theirs = np.concatenate((points[..., 3], points[:-1, :, 5], points[1:, :, 1]))
        change, *_ = np.linalg.lstsq(ours, theirs, rcond=None)
        assert np.abs(ours @ change - theirs).max() < 2e-6
        assert np.allclose(np.linalg.norm(theirs, axis=1), np.linalg.norm(ours, axis=1), atol=2e-6)


@pytest.mark.data
def test_scene_settings(blend_results):
    file = blend_results["walk"]
    facts = file.facts
    assert (facts["fps"], facts["range"], facts["metres"]) == (60.0, [1, 259], 1.0)
    assert (facts["mode"], facts["action"], facts["residual"]) == ("POSE", "07_05_walk", 0.0)
    assert set(facts["rotation_modes"].values()) == {"QUATERNION"}
    assert facts["corners"] > 1000  # a body
    for side, colour in facts["colours"].items():
        assert colour == pytest.approx(linear_colour(SIDE_COLOURS[side]), abs=1e-6), side
    assert facts["palettes"]["LeftArm"] == "THEME02"  # orange
    assert facts["palettes"]["RightArm"] == "THEME04"  # blue
    assert facts["palettes"]["Hips"] == "DEFAULT"
    moving = {name.split('"')[1] for name in file.answer["curves"].tolist() if "location" in name}
    assert moving == {"Hips"}
    heights = file.answer["positions"][0][..., 2]
    assert -0.1 < heights.min() < 0.2
    assert 1.2 < heights.max() < 1.8


def test_meshes_beside_the_figure_are_noted(blender_python, tmp_path, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
    own, other = tmp_path / "own.blend", tmp_path / "hat.blend"
    kp.save(kp.unbake(kp.demo_motion(fps=20)[:20], [0, 10, 19]), own)
    script = f"""
import bpy
bpy.ops.wm.open_mainfile(filepath={str(own)!r})
bpy.ops.mesh.primitive_cube_add()
hat = bpy.context.object
hat.name = "hat"
hat.shape_key_add(name="Basis")
hat.shape_key_add(name="smile")
bpy.ops.wm.save_as_mainfile(filepath={str(other)!r})
"""
    subprocess.run([blender_python, "-c", script], capture_output=True, check=True, timeout=300)
    assert kp.load(own).notes == () == kp.load_keyed(own).notes
    (note,) = kp.load(other).notes
    assert note == "not read: 1 prop ('hat'); 1 morph target ('smile')" and note_code(note) == "not_read"
