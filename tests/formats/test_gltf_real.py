"""glTF in, on files of other programs: world positions are those of a straightforward evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from gltf_scene import Twin

import keypose as kp


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "animation", "joints", "frames", "fps"),
    [
        ("BoxAnimated.glb", 0, 3, 90, 24.0),
        ("CesiumMan.glb", 0, 19, 48, 24.0),
        ("Fox.glb", 0, 24, 83, 24.0),
        ("Fox.glb", 1, 24, 18, 24.0),
        ("RiggedFigure.glb", 0, 19, 31, 24.0),
        ("RobotExpressive.glb", 0, 43, 81, 24.0),
        ("RobotExpressive.glb", 10, 43, 24, 24.0),
        ("SimpleSkin_embedded.gltf", 0, 2, 166, 30.0),
        *[("InterpolationTest.glb", k, 9, 61, 30.0) for k in range(9)],
    ],
)
def test_real_files(data_dir, name, animation, joints, frames, fps):
    path = data_dir / "gltf" / name
    motion = kp.load(path, animation=animation)
    assert (motion.n_joints, motion.n_frames, motion.fps) == (joints, frames, fps)
    twin = Twin.of(path)
    start_s = motion.first_frame / fps
    order = _nodes_in_order(twin, motion)
    for frame in (0, frames // 3, frames - 1):
        expected = [twin.world(node, start_s + frame / fps, animation)[:3, 3] for node in order]
        np.testing.assert_allclose(motion.world_positions()[frame], expected, atol=1e-5 * motion.height + 1e-6)


def _nodes_in_order(twin: Twin, motion: kp.Motion) -> list[int]:
    """The node of each joint, found by the place at rest: real files share names."""
    pose = motion.reference_pose
    rest = kp.kinematics.forward(motion.skeleton.parents, pose.translations[None], pose.rotations[None])[0][0]
    places = {node: twin.world(node, 0.0, None)[:3, 3] for node in range(len(twin.json["nodes"]))}
    names = [node.get("name") for node in twin.json["nodes"]]
    found = []
    for j, name in enumerate(motion.skeleton.names):
        own = [n for n, known in enumerate(names) if known and name in (known, f"{known}.001", f"{known}.002")]
        candidates = own or range(len(names))
        found.append(min(candidates, key=lambda n: np.linalg.norm(places[n] - rest[j])))
    return found
