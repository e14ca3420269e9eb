"""glTF files of other programs: world positions agree with a reference evaluation."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from support.gltf_scene import ReferenceEvaluator


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
    reference = ReferenceEvaluator.of(path)
    start_s = motion.first_frame / fps
    order = _nodes_in_order(reference, motion)
    for frame in (0, frames // 3, frames - 1):
        expected = [reference.world(node, start_s + frame / fps, animation)[:3, 3] for node in order]
        np.testing.assert_allclose(motion.world_positions()[frame], expected, atol=1e-5 * motion.height + 1e-6)


@pytest.mark.data
def test_what_is_not_read_of_real_characters(data_dir):
    animations, parts = kp.load(data_dir / "characters" / "Knight.glb").notes
    assert animations.startswith("of 76 animations the first, '1H_Melee_Attack_Chop', is read")
    assert [part.split(" (")[0] for part in parts.split("; ")] == ["not read: 6 skinned meshes", "1 skin", "9 props"]
    assert "1 scale track ('Cube')" in kp.load(data_dir / "gltf" / "InterpolationTest.glb").notes[-1]
    notes = kp.load(data_dir / "gltf" / "RobotExpressive.glb").notes
    assert any("3 morph targets ('Angry', 'Surprised', 'Sad'); 1 morph track ('Head')" in note for note in notes)
    assert len(notes) == 2  # nothing about its scales, which are even


def _nodes_in_order(reference: ReferenceEvaluator, motion: kp.Motion) -> list[int]:
    """Return the node of each joint, found by its rest position, as real files share names."""
    pose = motion.reference_pose
    rest = kp.kinematics.forward(motion.skeleton.parents, pose.translations[None], pose.rotations[None])[0][0]
    positions = {node: reference.world(node, 0.0, None)[:3, 3] for node in range(len(reference.json["nodes"]))}
    names = [node.get("name") for node in reference.json["nodes"]]
    result = []
    for j, name in enumerate(motion.skeleton.names):
        own = [
            n
            for n, node_name in enumerate(names)
            if node_name and name in (node_name, f"{node_name}.001", f"{node_name}.002")
        ]
        candidates = own or range(len(names))
        result.append(min(candidates, key=lambda n: np.linalg.norm(positions[n] - rest[j])))
    return result
