"""Heights of bodies by the lengths of their bones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import IDENTITY, multiply, rotate
from keypose.storage import StoredMotion

QUARTER = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])  # about x: what stands along y lies along z


@pytest.fixture(scope="module")
def demo() -> kp.Motion:
    return kp.demo_motion(30)


def lie_down(motion: kp.Motion, rotation: np.ndarray = QUARTER) -> kp.Motion:
    """Return the same movement of a skeleton whose rest pose lies: bones rotated, rotations rotated back."""
    s = motion.skeleton
    back = rotation * (1, -1, -1, -1)
    rotations = multiply(multiply(np.broadcast_to(rotation, motion.rotations.shape), motion.rotations), back)
    rotations[:, 0] = multiply(motion.rotations[:, 0], back)
    skeleton = replace(s, offsets=rotate(rotation, s.offsets), end_offsets=rotate(rotation, s.end_offsets))
    translations = rotate(rotation, motion.translations)
    translations[:, 0] = motion.translations[:, 0]
    return replace(motion, skeleton=skeleton, translations=translations, rotations=rotations)


def without_head_top(motion: kp.Motion) -> kp.Motion:
    s = motion.skeleton
    stays = s.end_joints != motion.joint("head")
    assert not stays.all()
    skeleton = replace(s, end_joints=s.end_joints[stays], end_offsets=s.end_offsets[stays])
    return replace(motion, skeleton=skeleton)


def test_a_figure_with_a_lying_rest_pose_is_as_tall_as_the_standing_one(demo):
    lying = lie_down(demo)
    np.testing.assert_allclose(lying.world_positions(), demo.world_positions(), atol=1e-9)
    assert (demo.height_source, lying.height_source) == ("rest_pose", "bones")
    assert lying.height == pytest.approx(demo.height, rel=0.03)
    assert lying.mm_per_unit == pytest.approx(1700 / lying.height)


def test_the_height_by_bones_is_that_of_every_part_and_pose(demo):
    lying = lie_down(demo)
    raised = lying.rotations.copy()
    raised[:, lying.joint("left_upper_arm")] = multiply(raised[:, lying.joint("left_upper_arm")], QUARTER)
    heights = {lying.height, lying[:10].height, lying[200:].height, replace(lying, rotations=raised).height}
    assert len(heights) == 1
    hips = QUARTER * (1, -1, -1, -1)
    fallen = replace(lying, rotations=multiply(hips, lying.rotations))
    assert fallen.height == lying.height


def test_a_usual_head_stands_in_for_a_missing_one(demo):
    bare = without_head_top(lie_down(demo))
    assert bare.height_source == "bones"
    assert bare.height == pytest.approx(demo.height, rel=0.05)


def test_the_longer_leg_counts(demo):
    lying = lie_down(demo)
    s = lying.skeleton
    offsets = s.offsets.copy()
    offsets[lying.joint("left_shin")] *= 0.5
    assert replace(s, offsets=offsets).stature == pytest.approx(s.stature)
    offsets[lying.joint("right_shin")] *= 0.5
    assert replace(s, offsets=offsets).stature < 0.95 * s.stature


def test_only_what_is_no_body_is_measured_by_its_frames(demo):
    lying = lie_down(demo)
    names = tuple(f"point{j}" for j in range(lying.n_joints))
    unknown = replace(lying, skeleton=replace(lying.skeleton, names=names))
    assert unknown.skeleton.stature is None
    assert unknown.height_source == "frames"
    points = np.concatenate((unknown.world_positions(), unknown.end_positions()), axis=1)
    assert unknown.height == pytest.approx(np.percentile(np.ptp(points[..., 1], axis=1), 95))


def test_a_reference_pose_comes_first(demo):
    lying = replace(lie_down(demo), reference_pose=lie_down(demo)[0])
    assert lying.height_source == "reference_pose"
    points = np.concatenate((demo.world_positions()[0], demo.end_positions()[0]))
    assert lying.height == pytest.approx(np.ptp(points[:, 1]))


def test_bones_without_length_have_no_height(demo):
    s = demo.skeleton
    nothing = replace(s, offsets=np.zeros_like(s.offsets), end_offsets=np.zeros_like(s.end_offsets))
    flat = replace(
        demo[:3],
        skeleton=nothing,
        translations=np.zeros((3, s.n_joints, 3)),
        rotations=np.tile(IDENTITY, (3, s.n_joints, 1)),
    )
    assert (flat.height, flat.height_source) == (0.0, "frames")


def test_legs_that_point_up_do_not_stand(demo):
    """Of bones that all point along y, head and feet are above the hips: tall, but no upright rest pose."""
    s = demo.skeleton
    lengths = np.linalg.norm(s.offsets, axis=1)
    lengths[[0, *(demo.joint(part) for part in ("left_thigh", "right_thigh"))]] = 0.0
    skeleton = replace(
        s,
        offsets=lengths[:, None] * (0, 1, 0),
        end_offsets=np.linalg.norm(s.end_offsets, axis=1)[:, None] * (0, 1, 0),
    )
    assert not skeleton.is_upright("Y")
    assert s.is_upright("Y")
    assert not s.is_upright("-Y")
    assert skeleton.stature == pytest.approx(demo.height, rel=0.1)


def test_tolerances_of_stored_files_follow_the_height(demo, tmp_path):
    """A crouch is no smaller figure: its error in the file is measured by the same height."""
    lying = lie_down(demo)[:40]
    kp.save(lying, tmp_path / "lying.kps", tolerance_mm=2.0)
    with kp.open_kps(tmp_path / "lying.kps") as stored:
        assert isinstance(stored, StoredMotion)
    decoded = kp.load(tmp_path / "lying.kps")
    assert decoded.height == pytest.approx(lying.height, rel=1e-6)
    assert kp.score(lying, decoded).max_mm <= 2.0


class TestRealFiles:
    def test_takes_of_one_actor_are_equally_tall(self, data_dir):
        takes = [kp.load(path) for path in sorted((data_dir / "more-exporters").glob("dataset-1_*.bvh"))]
        assert len(takes) == 3
        assert {take.height_source for take in takes} == {"bones"}
        heights = [take.height for take in takes]
        assert max(heights) == pytest.approx(min(heights), rel=0.02)
        assert 145 < heights[0] < 165  # centimetres; raised hands of the dancer reach over 170

    def test_legs_that_point_up_in_the_rest_pose(self, data_dir):
        motion = kp.load(data_dir / "more-exporters" / "iclone_cc-base_100joints.bvh")
        assert motion.height_source == "bones"
        # The hips are 105 over the ground, the head another 63, which leaves the top of the head.
        assert motion.height == pytest.approx(105 + 63 + 0.075 * motion.height, rel=0.02)

    @pytest.mark.parametrize(
        "name", ["cmu120/09_01.bvh", "cmu120/135_07_kicking.bvh", "formats/bvh/xsens-mvn_60fps.bvh"]
    )
    def test_bones_agree_with_reference_poses(self, data_dir, name):
        motion = kp.load(data_dir / name)
        assert motion.height_source == "reference_pose"
        assert motion.skeleton.stature == pytest.approx(motion.height, rel=0.04)
