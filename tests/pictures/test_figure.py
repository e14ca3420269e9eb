"""Bodies of skeletons: parts and their points."""

from __future__ import annotations

import gc
import re
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure import SIDE_COLOURS
from keypose.kinematics import heights_above
from keypose.pictures.figure import MAX_HULLS, Body, build_body
from keypose.pictures.figure.body import find_links
from support.motions import ANY_SKELETON, markers, motion

DEMO = kp.demo_motion(30)
ROOT = Path(__file__).resolve().parents[2]


def kinds(body: Body, side: str | None = None) -> list[str]:
    return sorted(hull.kind for hull in body.hulls if side in (None, hull.side))


def test_parts_of_a_person() -> None:
    body = build_body(DEMO)
    assert kinds(body, "left") == kinds(body, "right") == ["foot", "hand", "limb", "limb", "limb", "limb"]
    assert kinds(body, "middle") == ["core", "core", "head", "nose", "trunk", "trunk"]
    assert body.n_omitted == 0
    assert body.size == pytest.approx(DEMO.height, rel=0.1)
    for hull in body.hulls:
        assert len(hull.points) == len(hull.radii)
        assert all(0 < radius < 0.08 * body.size for radius in hull.radii)
    limbs = [hull for hull in body.hulls if hull.kind == "limb"]
    assert all(len(hull.points) == 2 and hull.radii[0] >= hull.radii[1] for hull in limbs)  # they taper


def test_web_pages_have_the_colours_of_strips_and_exports() -> None:
    table = (ROOT / "web" / "src" / "player" / "colours.ts").read_text()
    assert dict(re.findall(r'(left|middle|right): "(#[0-9a-f]{6})"', table.partition("const SIDES")[2].partition("}")[0])) \
        == SIDE_COLOURS  # fmt: skip
    tokens = (ROOT / "web" / "src" / "styles" / "tokens.css").read_text()
    for side, reds in (("left", True), ("right", False)):  # also on dark paper, in timelines and previews
        colours = re.findall(rf'{side}: "(#\w{{6}})"', table)
        colours += re.findall(r"#\w{6}", re.findall(rf"--{side}: (.*);", tokens)[0])
        assert len(colours) == 4
        assert [int(colour[1:3], 16) > int(colour[5:], 16) for colour in colours] == [reds] * 4, side


def test_no_limbs_to_breasts_and_controls() -> None:
    skeleton = DEMO.skeleton
    joints = {"lPectoral": "chest", "PoleTarget.L": "hips", "Wing": "chest"}
    parents = [*skeleton.parents.tolist(), *(skeleton.anatomy.joint(part) for part in joints.values())]
    n, forward = skeleton.n_joints, (0.0, 0.0, 0.2 * DEMO.height)
    rig = kp.Skeleton(
        (*skeleton.names, *joints),
        np.array(parents),
        np.vstack((skeleton.offsets, [forward] * 3)),
        end_offsets=np.vstack((skeleton.end_offsets, [forward])),
        end_joints=np.append(skeleton.end_joints, n),
    )
    still = np.tile([1.0, 0.0, 0.0, 0.0], (DEMO.n_frames, 3, 1))
    body = build_body(
        replace(
            DEMO,
            skeleton=rig,
            translations=np.concatenate((DEMO.translations, np.tile(rig.offsets[n:], (DEMO.n_frames, 1, 1))), axis=1),
            rotations=np.concatenate((DEMO.rotations, still), axis=1),
            reference_pose=None,
        )
    )
    points = {point for hull in body.hulls for point in hull.points}
    assert n + 2 in points and not {n, n + 1} & points  # only to the wing


def test_size_of_coinciding_joints_is_that_of_their_path() -> None:
    still = motion([-1, 0], np.zeros((2, 3)), frames=20)
    translations = still.translations.copy()
    translations[:, 0, 1] = np.linspace(0, 2.5, 20)
    assert build_body(replace(still, translations=translations)).size == pytest.approx(2.5)
    assert build_body(still).size == 1.0


def test_joints_of_bones_without_length_are_balls() -> None:
    body = build_body(motion([-1, 0, 1], np.zeros((3, 3))))
    assert [hull.points for hull in body.hulls] == [(0,), (1,), (2,)] and body.n_omitted == 0
    marker = build_body(markers(1))
    assert body.hulls[0].radii[0] / body.size > 2 * marker.hulls[0].radii[0] / marker.size  # there is nothing else


def test_limbs_lie_between_the_joints_of_that_side() -> None:
    names, body = DEMO.skeleton.anatomy.body_parts, build_body(DEMO)
    pairs = {tuple(names[p] for p in hull.points) for hull in body.hulls if hull.kind == "limb"}
    assert pairs == {
        (f"{side}_{upper}", f"{side}_{lower}")
        for side in ("left", "right")
        for upper, lower in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand"))
    }


def test_order_of_body_points() -> None:
    body, frames = build_body(DEMO), [0, 17, 200]
    points = body.points_at(DEMO, frames)
    joints, ends = DEMO.world_positions()[frames], DEMO.end_positions()[frames]
    n_skeleton_points = joints.shape[1] + ends.shape[1]
    assert points.shape == (3, n_skeleton_points + len(body.carriers), 3)
    assert np.allclose(points[:, :n_skeleton_points], np.concatenate((joints, ends), axis=1))
    for k, (joint, offset) in enumerate(zip(body.carriers, body.offsets, strict=True)):
        distance = np.linalg.norm(points[:, n_skeleton_points + k] - joints[:, joint], axis=-1)
        assert np.allclose(distance, np.linalg.norm(offset))  # it is carried, not left behind
    assert max(max(hull.points) for hull in body.hulls) < points.shape[1]


def test_nose_and_toes_point_forward() -> None:
    body = build_body(DEMO)
    points = body.points_at(DEMO, range(0, DEMO.n_frames, 7))
    body_parts = DEMO.skeleton.anatomy.body_parts
    left = points[:, body_parts.index("left_thigh")] - points[:, body_parts.index("right_thigh")]
    up = points[:, body_parts.index("head")] - points[:, body_parts.index("hips")]
    ahead = np.cross(left, up)
    (nose,) = [hull for hull in body.hulls if hull.kind == "nose"]
    (head,) = [hull for hull in body.hulls if hull.kind == "head"]
    gaze = points[:, nose.points[1]] - points[:, head.points[0]]
    assert (np.einsum("fk,fk->f", gaze, ahead) > 0).mean() > 0.95
    for foot in (hull for hull in body.hulls if hull.kind == "foot"):
        ankle, _, heel, tip = foot.points
        assert np.linalg.norm(points[:, tip] - points[:, ankle], axis=-1).min() > 0.05 * body.size
        assert (np.einsum("fk,fk->f", points[:, heel] - points[:, ankle], points[:, tip] - points[:, ankle]) < 0).all()


def test_only_requested_frames_are_computed() -> None:
    m = replace(DEMO)
    build_body(m).points_at(m, [3])
    assert "_world" not in vars(m)


def test_a_root_on_the_floor_is_no_part_of_the_body() -> None:
    names = ("Reference", "Hips", "Spine", "Head", "LeftUpLeg", "RightUpLeg")
    offsets = [[0, 0, 0], [0, 1.0, 0], [0, 0.3, 0], [0, 0.3, 0], [0.1, -0.1, 0], [-0.1, -0.1, 0]]
    body = build_body(motion([-1, 0, 1, 2, 1, 1], offsets, names=names))
    assert all(0 not in hull.points for hull in body.hulls)


def test_helper_joints_are_not_drawn_as_limbs() -> None:
    names = ("Hips", "Spine", "Neck", "Head", "LeftEye", "Jaw", "LeftArm", "LeftArmTwist", "LeftForeArm", "LeftHand",
             "LeftHandIndex1", "LeftHandIndex2", "LeftUpLeg", "LeftLeg", "LeftFoot")  # fmt: skip
    parents = [-1, 0, 1, 2, 3, 3, 1, 6, 6, 8, 9, 10, 0, 12, 13]
    offsets = np.zeros((len(names), 3))
    for k, offset in enumerate([[0, 1, 0], [0, 0.3, 0], [0, 0.3, 0], [0, 0.15, 0], [0.03, 0.05, 0.1], [0, 0, 0.08],
                                [0.2, 0.2, 0], [0.15, 0, 0], [0.3, 0, 0], [0.25, 0, 0], [0.1, 0, 0], [0.04, 0, 0],
                                [0.1, -0.1, 0], [0, -0.45, 0], [0, -0.4, 0]]):  # fmt: skip
        offsets[k] = offset
    body = build_body(motion(parents, offsets, names=names))
    used_points = {point for hull in body.hulls for point in hull.points}
    assert used_points.isdisjoint({4, 5, 7, 10, 11})
    assert "hand" in kinds(body, "left")


def test_longest_limbs_are_drawn_and_others_counted() -> None:
    lengths = np.random.default_rng(0).permutation(1000) + 100.0
    m = motion([-1, *([0] * 1000)], np.concatenate(([[0, 0, 0]], lengths[:, None] * [0, 1, 0])))
    body = build_body(m)
    ends = [hull.points[1] for hull in body.hulls]
    assert len(ends) == MAX_HULLS
    assert np.linalg.norm(m.skeleton.offsets[ends], axis=1).min() == 100 + 1000 - MAX_HULLS
    assert body.n_omitted == 1000 - MAX_HULLS


@pytest.mark.parametrize("name", ANY_SKELETON)
def test_any_skeleton_has_a_body(name: str) -> None:
    m = ANY_SKELETON[name]
    body = build_body(m)
    assert 1 <= len(body.hulls) <= MAX_HULLS + 200
    assert body.size > 0
    assert np.isfinite(body.points_at(m, [0])).all()


def test_markers_take_their_side_from_names_that_come_in_pairs() -> None:
    m = motion([-1] * 5, np.eye(5, 3), names=("Sub:LFHD", "Sub:RFHD", "Sub:LONE", "LeftWrist", "C7"))
    sides = {hull.points[0]: hull.side for hull in build_body(m).hulls if hull.kind == "marker"}
    assert [sides[k] for k in range(5)] == ["left", "right", "middle", "left", "middle"]


def test_rods_join_markers_that_keep_their_distance() -> None:
    t = np.linspace(0, 6, 40)
    elbow = np.stack((0.1 * np.sin(t), 1 + 0 * t, 0 * t), axis=1)
    wrist = elbow + 0.25 * np.stack((np.cos(t), np.sin(t), 0 * t), axis=1)
    hand = elbow + 0.32 * np.stack((np.cos(t), np.sin(t), 0 * t), axis=1)
    astray = np.stack((np.cos(3 * t), 0.3 * np.sin(2 * t), t), axis=1)
    world = np.stack((elbow, wrist, hand, astray), axis=1)
    assert sorted(find_links(world, 1.7)) == [(0, 1), (1, 2)]
    assert find_links(world[:1], 1.7) == []
    assert find_links(markers(60).translations, 1700.0) == []
    m = motion([-1] * 4, np.zeros((4, 3)), frames=40)
    body = build_body(replace(m, translations=world * 1000))
    assert sorted(hull.points for hull in body.hulls if hull.kind == "limb") == [(0, 1), (1, 2)]
    assert kinds(body).count("marker") == 4


def test_body_cache_does_not_keep_the_motion_alive() -> None:
    m = replace(DEMO)
    body = build_body(m)
    assert build_body(m) is body
    reference = weakref.ref(m)
    del m, body
    gc.collect()
    assert reference() is None


@pytest.mark.data
def test_real_people_of_every_exporter_stand_on_their_feet(data_dir) -> None:
    paths = [data_dir / "formats" / "bvh" / f"{name}.bvh" for name in
             ("cmu05_20_daz", "cmu131_01_max", "59joints_fingers_zup", "fair_zup_dab", "xsens-mvn_60fps")]  # fmt: skip
    paths.append(data_dir / "more-exporters" / "iclone_cc-base_100joints.bvh")
    for path in (*paths, data_dir / "gltf" / "CesiumMan.glb", data_dir / "asf-amc" / "07_05.amc"):
        m = kp.load(path)
        body = build_body(m)
        assert {"head", "hand", "foot", "trunk"} <= set(kinds(body)), path.name
        assert kinds(body, "left") == kinds(body, "right"), path.name
        points = heights_above(body.points_at(m, range(0, m.n_frames, max(1, m.n_frames // 20))), m.up)
        feet = [p for hull in body.hulls if hull.kind == "foot" for p in hull.points]
        for hull in body.hulls:
            if hull.kind in ("hand", "foot"):  # no slab from a hand to a foot
                ends = body.points_at(m, [m.n_frames // 2])[0, list(hull.points)]
                assert np.linalg.norm(ends - ends[0], axis=1).max() < 0.25 * body.size, path.name
        head = next(hull.points[0] for hull in body.hulls if hull.kind == "head")
        assert np.median(points[:, head] - points[:, feet].min(axis=1)) > 0.5 * body.size, path.name


@pytest.mark.data
def test_a_fox_has_a_tail_and_a_snout(data_dir) -> None:
    m = kp.load(data_dir / "gltf" / "Fox.glb")
    body = build_body(m)
    ends = [hull.points[-1] for hull in body.hulls]
    tail = [m.skeleton.names[end] for end in ends if end < m.n_joints and "Tail" in m.skeleton.names[end]]
    assert len(tail) >= 2
    (head,) = [hull for hull in body.hulls if hull.kind == "head"]
    skull, snout = (body.points_at(m, [0])[0, p] for p in head.points)
    assert snout[2] > skull[2]  # it looks along z
