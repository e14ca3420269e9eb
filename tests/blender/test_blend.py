"""Keyed motions as .blend files: real Blender shows our curves, key by key and between keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from blend_files import ALL, CUBIC, FIRST, TOLERANCE_MM

from keypose.model import Curves
from keypose.model.curves import Place
from keypose.rotations import normalise, sign_continuous

pytestmark = pytest.mark.blender


@pytest.mark.data
@pytest.mark.parametrize("name", [*CUBIC, "straight Euler"])
def test_blender_shows_our_sampling_at_frames_and_between_them(shown, name):
    file = shown[name]
    assert file.off_mm(0, file.keyed.sample(frames=file.at)).max() < TOLERANCE_MM


@pytest.mark.data
def test_straight_quaternions_go_straight_in_their_components(shown):
    """Ours turn at constant speed; Blender interpolates the components, which is the same way at another speed."""
    file = shown["straight"]
    place = Place.of(file.keyed.keys, file.at)
    turns = normalise(Curves(sign_continuous(file.keyed.rotations.values)).at(place))
    sampled = file.keyed.sample(frames=file.at)
    assert file.off_mm(0, replace(sampled, rotations=turns)).max() < TOLERANCE_MM
    off = file.off_mm(0, sampled)
    assert off[np.isin(file.at, file.keyed.keys)].max() < TOLERANCE_MM
    assert 0.5 < off.max() < 5


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_the_residual_puts_the_detail_back(shown, name):
    """Whole: the original on every frame. In part: what we sample."""
    file = shown[name]
    whole = file.at == np.rint(file.at)
    assert file.off_mm(1, file.keyed.sample(1.0, frames=file.at))[whole].max() < TOLERANCE_MM
    if name != "straight":
        assert file.off_mm(2, file.keyed.sample(0.5, frames=file.at))[whole].max() < TOLERANCE_MM
        assert file.off_mm(1, file.keyed.sample(1.0, frames=file.at)).max() < 2 * TOLERANCE_MM
    detail = file.off_mm(0, file.keyed.sample(1.0, frames=file.at))
    assert name == "one key" or detail.max() > 1  # there is something to put back


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_keys_stand_where_ours_do_with_handles_at_a_third(shown, name):
    file = shown[name]
    keys = file.keyed.keys + FIRST
    gaps = np.diff(keys)
    assert (file.answer["counts"] == len(keys)).all()
    points = file.answer["points"].reshape(-1, len(keys), 6)
    assert (points[:, :, 2] == keys).all()
    assert np.allclose(points[:, :-1, 4] - keys[:-1], gaps / 3, atol=1e-4)
    assert np.allclose(keys[1:] - points[:, 1:, 0], gaps / 3, atol=1e-4)
    assert set(file.answer["interpolations"].tolist()) == {"BEZIER" if file.keyed.is_cubic else "LINEAR"}
    wanted = np.where(file.keyed.extremes, "EXTREME", "BREAKDOWN")
    assert (file.answer["kinds"].reshape(-1, len(keys)) == wanted).all()


@pytest.mark.data
def test_angles_and_their_handles_are_our_numbers(shown):
    file = shown["euler"]
    keyed = file.keyed
    reach = np.diff(keyed.keys) / 3
    for j, (bone, order) in enumerate(zip(keyed.skeleton.names, keyed.rotation_orders, strict=True)):
        assert file.facts["rotation_modes"][bone] == order[::-1]
        for k, axis in enumerate(order):
            points = file.curve(bone, "rotation_euler", "XYZ".index(axis))
            angles = keyed.rotations.values[:, j, k]
            assert np.allclose(points[:, 3], angles, atol=1e-6)
            assert np.allclose(points[:-1, 5], angles[:-1] + reach * keyed.rotations.leaving[:-1, j, k], atol=1e-5)
            assert np.allclose(points[1:, 1], angles[1:] - reach * keyed.rotations.arriving[1:, j, k], atol=1e-5)


@pytest.mark.data
def test_quaternion_curves_are_ours_in_the_axes_of_the_bones(shown):
    """One orthogonal map for each joint takes values, and handles, from ours to Blender's."""
    file = shown["walk"]
    curves = file.keyed.rotations
    reach = np.diff(file.keyed.keys)[:, None] / 3
    for j, bone in enumerate(file.keyed.skeleton.names):
        points = np.stack([file.curve(bone, "rotation_quaternion", c) for c in range(4)], axis=1)  # (K, 4, 6)
        ours = np.concatenate((
            curves.values[:, j],
            curves.values[:-1, j] + reach * curves.leaving[:-1, j],
            curves.values[1:, j] - reach * curves.arriving[1:, j],
        ))  # fmt: skip
        theirs = np.concatenate((points[..., 3], points[:-1, :, 5], points[1:, :, 1]))
        change, *_ = np.linalg.lstsq(ours, theirs, rcond=None)
        assert np.abs(ours @ change - theirs).max() < 2e-6
        assert np.allclose(np.linalg.norm(theirs, axis=1), np.linalg.norm(ours, axis=1), atol=2e-6)


@pytest.mark.data
def test_what_an_animator_finds(shown):
    file = shown["walk"]
    facts = file.facts
    assert (facts["fps"], facts["range"], facts["metres"]) == (60.0, [1, 259], 1.0)
    assert (facts["mode"], facts["action"], facts["residual"]) == ("POSE", "07_05_walk", 0.0)
    assert set(facts["rotation_modes"].values()) == {"QUATERNION"}
    assert facts["corners"] > 1000  # a body
    moving = {name.split('"')[1] for name in file.answer["curves"].tolist() if "location" in name}
    assert moving == {"Hips"}
    heights = file.answer["positions"][0][..., 2]
    assert -0.1 < heights.min() < 0.2
    assert 1.2 < heights.max() < 1.8
