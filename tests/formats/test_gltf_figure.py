"""The skinned figure in a glTF file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats.orientation import metres_per_unit
from support.gltf_motions import CASES, figure
from support.gltf_scene import ReferenceEvaluator


def skin_vertices(path: Path, time_s: float) -> tuple[np.ndarray, np.ndarray, ReferenceEvaluator]:
    """Return the skinned vertices, the joint of each, and the evaluated file."""
    reference = ReferenceEvaluator.of(path)
    attributes = reference.json["meshes"][0]["primitives"][0]["attributes"]
    positions = np.array(reference.values(attributes["POSITION"]))
    joints = np.array(reference.values(attributes["JOINTS_0"]))[:, 0].astype(int)
    entry = reference.json["accessors"][reference.json["skins"][0]["inverseBindMatrices"]]
    start = reference.json["bufferViews"][entry["bufferView"]]["byteOffset"]
    inverse = np.frombuffer(reference.buffers[0], "<f4", 16 * entry["count"], start).reshape(-1, 4, 4).swapaxes(1, 2)
    move = np.array([reference.world(j, time_s) @ inverse[j] for j in range(entry["count"])])
    return np.einsum("vab,vb->va", move[joints], np.c_[positions, np.ones(len(positions))])[:, :3], joints, reference


@pytest.mark.parametrize("case", ["plain", "Z up, inches", "reference pose", "markers"])
def test_the_figure_follows_its_joints(tmp_path, case):
    motion = CASES[case]
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    frame = motion.n_frames - 1
    vertices, joints, reference = skin_vertices(path, frame / motion.fps)
    for j in range(motion.n_joints):
        own = vertices[joints == j]
        assert len(own), f"nothing is bound to {motion.skeleton.names[j]}"
        far = np.linalg.norm(own - reference.world(j, frame / motion.fps)[:3, 3], axis=1)
        assert far.min() < 0.1
        assert far.max() < 0.6  # no bone is longer


def test_the_figure_is_as_tall_as_the_person_and_tells_left_from_right(tmp_path):
    path = tmp_path / "clip.glb"
    kp.save(CASES["plain"], path)
    reference = ReferenceEvaluator.of(path)
    accessor = reference.json["accessors"][reference.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    assert accessor["max"][1] - accessor["min"][1] == pytest.approx(CASES["plain"].height, rel=0.08)
    materials = reference.json["materials"]
    assert [m["name"] for m in materials] == ["middle", "left", "right"]
    red, _, blue = np.array([m["pbrMetallicRoughness"]["baseColorFactor"][:3] for m in materials]).T
    assert red[1] > 0.5 > 0.1 > blue[1], "left is orange, as in strips"
    assert blue[2] > 0.5 > 0.1 > red[2], "right is blue"


@pytest.mark.parametrize("face", [None, (0.0, 0.0, 0.0), (0.0, 0.001, 0.0)])
def test_a_head_without_crown_gets_a_size(tmp_path, face):
    """Some exporters end at the joint of the head, or have a face in its place."""
    motion = CASES["plain"]
    s = motion.skeleton
    head = s.anatomy.joint("head")
    is_other = s.end_joints != head
    skeleton = replace(s, end_offsets=s.end_offsets[is_other], end_joints=s.end_joints[is_other])
    if face is not None:
        skeleton = replace(skeleton, end_offsets=[*skeleton.end_offsets, face], end_joints=[*skeleton.end_joints, head])
    heights = []
    for name, each in (("with.glb", motion), ("without.glb", replace(motion, skeleton=skeleton))):
        kp.save(each, tmp_path / name)
        vertices, joints, _ = skin_vertices(tmp_path / name, 0.0)
        heights.append(np.ptp(vertices[joints == head][:, 1]))
    assert heights[1] == pytest.approx(heights[0], rel=0.3)


def test_faces_look_outward(tmp_path):
    path = tmp_path / "clip.glb"
    kp.save(CASES["markers"], path)
    vertices, joints, reference = skin_vertices(path, 0.0)
    primitive = reference.json["meshes"][0]["primitives"][0]
    normals = np.array(reference.values(primitive["attributes"]["NORMAL"]))
    corners = np.array(reference.values(primitive["indices"])).astype(int).reshape(-1, 3)
    assert len(corners) == 3 * 8
    centres = np.array([reference.world(j, 0.0)[:3, 3] for j in joints[corners[:, 0]]])
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)
    assert (np.einsum("na,na->n", facing, (a + b + c) / 3 - centres) > 0).all()
    assert (np.einsum("na,na->n", facing, normals[corners[:, 0]]) > 0).all()


@pytest.mark.parametrize(
    ("height", "expected"),
    [(1.7, 1.0), (170.0, 0.01), (1650.0, 0.001), (67.0, 0.0254), (5.6, 0.3048), (26.5, 0.05644), (17.0, 0.1)],
)
def test_natural_size(height, expected):
    motion = figure()
    taller = height / motion.height
    skeleton = replace(
        motion.skeleton, offsets=motion.skeleton.offsets * taller, end_offsets=motion.skeleton.end_offsets * taller
    )
    motion = replace(motion, skeleton=skeleton, translations=motion.translations * taller)
    assert motion.height == pytest.approx(height)
    assert metres_per_unit(motion) == pytest.approx(expected)


def test_unit_of_a_point_and_of_a_motion_with_unit():
    assert metres_per_unit(CASES["one point"]) == 1.0
    assert metres_per_unit(figure(metres_per_unit=3.0)) == 3.0
