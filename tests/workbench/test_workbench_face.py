"""Where a figure looks: the same way as its body at first, along with its head ever after, whatever its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_workbench_space import turned

import keypose as kp
from keypose.arrays import Floats
from keypose.kinematics import UPS
from keypose.rotations import from_euler, multiply
from keypose.workbench import page_space, shown
from keypose.workbench.face import face_of

# Files of several exporters: names, units, ways up and axes of joints all differ.
FILES = (
    "cmu30/basketball/06_04.bvh",
    "formats/bvh/cmu05_20_daz.bvh",
    "formats/bvh/cmu05_20_mb.bvh",
    "formats/bvh/cmu131_01_max.bvh",
    "formats/bvh/59joints_fingers_zup.bvh",
    "gltf/CesiumMan.glb",
    "gltf/RiggedFigure.glb",
)


def _ways(motion: kp.Motion) -> Floats:
    """Unit ways (T, 3) from the head to the face, on the page."""
    seen = shown(motion, page_space(motion), face=face_of(motion))
    head = motion.skeleton.anatomy.parts.index("head")
    ways = seen.face[:, 0].astype(np.float64) - seen.positions[:, head]
    return ways / np.linalg.norm(ways, axis=1, keepdims=True)


def _fronts(motion: kp.Motion) -> Floats:
    """Unit ways (T, 3) ahead of the hips, level with the floor."""
    places = page_space(motion).places(motion.world_positions())
    joints = motion.skeleton.anatomy.parts
    left = places[:, joints.index("left_thigh")] - places[:, joints.index("right_thigh")]
    front = np.cross(left, (0.0, 1.0, 0.0))
    return front / np.linalg.norm(front, axis=1, keepdims=True)


@pytest.mark.parametrize("up", UPS)
def test_a_face_looks_where_the_body_goes(motion: kp.Motion, up: str) -> None:
    other = turned(motion, up, 39.37)
    agreeing = np.einsum("tk,tk->t", _ways(other), _fronts(other))
    assert np.median(agreeing) > 0.9


@pytest.mark.parametrize("name", FILES)
def test_faces_of_every_exporter_look_ahead(data_dir: Path, name: str) -> None:
    motion = kp.load(data_dir / name)
    assert np.median(np.einsum("tk,tk->t", _ways(motion), _fronts(motion))) > 0.7


def test_a_face_turns_with_its_head(motion: kp.Motion) -> None:
    head = motion.skeleton.joint("head")
    face = face_of(motion)
    assert face is not None and face.head == head
    rotations = motion.rotations.copy()
    rotations[:, head] = multiply(rotations[:, head], from_euler(np.deg2rad((0.0, 60.0, 0.0)), "XYZ"))
    looks_aside = replace(motion, rotations=rotations)
    space = page_space(motion)
    before, after = (shown(each, space, face=face) for each in (motion, looks_aside))
    np.testing.assert_array_equal(before.positions[:, head], after.positions[:, head])
    ways = [each.face[:, 0] - each.positions[:, head] for each in (before, after)]
    angles = np.rad2deg(
        np.arccos(np.einsum("tk,tk->t", *ways) / np.prod([np.linalg.norm(w, axis=1) for w in ways], axis=0))
    )
    np.testing.assert_allclose(angles, 60.0, atol=12.0)
    np.testing.assert_allclose(np.linalg.norm(ways[0], axis=1), 0.17, atol=0.03)  # metres


def test_nothing_looks_anywhere_without_a_head() -> None:
    skeleton = kp.Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 1.0, 0]]))
    still = kp.Motion("arm", skeleton, 30.0, np.tile(skeleton.offsets, (4, 1, 1)), np.tile((1.0, 0, 0, 0), (4, 2, 1)))
    assert face_of(still) is None
    assert shown(still, page_space(still), face=face_of(still)).face.shape == (4, 0, 3)
