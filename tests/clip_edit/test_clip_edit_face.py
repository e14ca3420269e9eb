"""The face points where the body points, and moves with the head."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_clip_edit_display_space import reorient

import keypose as kp
from keypose.arrays import Floats
from keypose.clip_edit import build_frame_data, compute_display_space
from keypose.clip_edit.display_data import find_face
from keypose.kinematics import UPS
from keypose.rotations import from_euler, multiply

# Files of several exporters: names, units, up axes and joint axes all differ.
FILES = (
    "cmu30/basketball/06_04.bvh",
    "formats/bvh/cmu05_20_daz.bvh",
    "formats/bvh/cmu05_20_mb.bvh",
    "formats/bvh/cmu131_01_max.bvh",
    "formats/bvh/59joints_fingers_zup.bvh",
    "gltf/CesiumMan.glb",
    "gltf/RiggedFigure.glb",
)


def _face_directions(motion: kp.Motion) -> Floats:
    """Return unit directions (T, 3) from the head to the face, in display space."""
    data = build_frame_data(motion, compute_display_space(motion), face=find_face(motion))
    head = motion.skeleton.anatomy.body_parts.index("head")
    directions = data.face[:, 0].astype(np.float64) - data.positions[:, head]
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _hip_directions(motion: kp.Motion) -> Floats:
    """Return horizontal unit directions (T, 3) ahead of the hips."""
    positions = compute_display_space(motion).to_display(motion.world_positions())
    body_parts = motion.skeleton.anatomy.body_parts
    left_direction = positions[:, body_parts.index("left_thigh")] - positions[:, body_parts.index("right_thigh")]
    front = np.cross(left_direction, (0.0, 1.0, 0.0))
    return front / np.linalg.norm(front, axis=1, keepdims=True)


@pytest.mark.parametrize("up", UPS)
def test_face_direction_matches_hips(motion: kp.Motion, up: str) -> None:
    other = reorient(motion, up, 39.37)
    cosines = np.einsum("tk,tk->t", _face_directions(other), _hip_directions(other))
    assert np.median(cosines) > 0.9


@pytest.mark.parametrize("name", FILES)
def test_face_direction_of_real_files(data_dir: Path, name: str) -> None:
    motion = kp.load(data_dir / name)
    assert np.median(np.einsum("tk,tk->t", _face_directions(motion), _hip_directions(motion))) > 0.7


def test_face_rotates_with_head(motion: kp.Motion) -> None:
    head = motion.skeleton.joint("head")
    face = find_face(motion)
    assert face is not None and face.head == head
    rotations = motion.rotations.copy()
    rotations[:, head] = multiply(rotations[:, head], from_euler(np.deg2rad((0.0, 60.0, 0.0)), "XYZ"))
    looks_aside = replace(motion, rotations=rotations)
    space = compute_display_space(motion)
    before, after = (build_frame_data(each, space, face=face) for each in (motion, looks_aside))
    np.testing.assert_array_equal(before.positions[:, head], after.positions[:, head])
    directions = [each.face[:, 0] - each.positions[:, head] for each in (before, after)]
    angles = np.rad2deg(
        np.arccos(np.einsum("tk,tk->t", *directions) / np.prod([np.linalg.norm(w, axis=1) for w in directions], axis=0))
    )
    np.testing.assert_allclose(angles, 60.0, atol=12.0)
    np.testing.assert_allclose(np.linalg.norm(directions[0], axis=1), 0.17, atol=0.03)  # metres


def test_no_face_without_head() -> None:
    skeleton = kp.Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 1.0, 0]]))
    still = kp.Motion("arm", skeleton, 30.0, np.tile(skeleton.offsets, (4, 1, 1)), np.tile((1.0, 0, 0, 0), (4, 2, 1)))
    assert find_face(still) is None
    assert build_frame_data(still, compute_display_space(still), face=find_face(still)).face.shape == (4, 0, 3)
