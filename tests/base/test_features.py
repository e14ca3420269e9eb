"""Motion -> Features: every kind against its definition, joints, weights, smoothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import keypose as kp
from keypose.errors import ModelError, OptionError, UnknownJoint
from keypose.features import BLOCK_FRAMES, build_array_features, compute_features, gaussian_filter
from keypose.model import Column, Features
from reference import naive
from support.errors import Pattern, raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:80]


def columns_of(features: Features, joint: str) -> np.ndarray:
    return features.values[:, list(features.joints[joint])]


def test_world_positions(motion):
    features = compute_features(motion, "world", "all")
    np.testing.assert_allclose(features.values, motion.world_positions().reshape(80, -1))
    assert features.columns[:2] == (Column(motion.skeleton.names[0], "x"), Column(motion.skeleton.names[0], "y"))


def test_root_matched_follows_the_paper(motion):
    """[sqrt(5) y of the hips, p_j - p_hips of the others]: distances of frames are what counts."""
    names, world = motion.skeleton.names, motion.world_positions()
    features = compute_features(motion, "root_matched", "major", {"left_hand": 4.0})
    hips, hand, foot = (motion.joint(part) for part in ("hips", "left_hand", "right_foot"))
    assert len(features.joints) == 9 and len(features.columns) == 1 + 8 * 3
    np.testing.assert_allclose(columns_of(features, names[hips])[:, 0], np.sqrt(5.0) * world[:, hips, 1])
    np.testing.assert_allclose(columns_of(features, names[hand]), 2.0 * (world[:, hand] - world[:, hips]))
    np.testing.assert_allclose(columns_of(features, names[foot]), world[:, foot] - world[:, hips])


def test_root_matched_ignores_position_but_not_heading(motion):
    elsewhere = motion.translations.copy()
    elsewhere[:, 0] += [30.0, 0.0, -12.0]
    moved = dataclasses.replace(motion, translations=elsewhere)
    np.testing.assert_allclose(
        compute_features(moved, "root_matched", "major").values,
        compute_features(motion, "root_matched", "major").values,
    )
    rotated = motion.rotations.copy()
    rotated[:, 0] = np.stack([np.array([0.0, 0.0, 1.0, 0.0])] * 80)
    assert not np.allclose(
        compute_features(dataclasses.replace(motion, rotations=rotated), "root_matched", "major").values,
        compute_features(motion, "root_matched", "major").values,
    )


def test_unmatched_keeps_heights_and_ignores_position(motion):
    names, world = motion.skeleton.names, motion.world_positions()
    hips, hand = motion.joint("hips"), motion.joint("left_hand")
    features = compute_features(motion, "unmatched", "major")
    np.testing.assert_allclose(columns_of(features, names[hips])[:, 0], world[:, hips, 1])
    expected = world[:, hand] - world[:, hips] * [1, 0, 1]
    np.testing.assert_allclose(columns_of(features, names[hand]), expected)


def test_height_is_along_the_motions_own_up_axis(motion):
    up_is_z = dataclasses.replace(motion, up="Z")
    hips = motion.skeleton.names[motion.joint("hips")]
    features = compute_features(up_is_z, "unmatched", "major", {"hips": 1.0})
    np.testing.assert_allclose(columns_of(features, hips)[:, 0], motion.world_positions()[:, motion.joint("hips"), 2])


def test_parent_relative(motion):
    names, world = motion.skeleton.names, motion.world_positions()
    features = compute_features(motion, "parent_relative", "all")
    for j, parent in enumerate(motion.skeleton.parents):
        expected = world[:, j] - (world[:, parent] if parent >= 0 else 0.0)
        np.testing.assert_allclose(columns_of(features, names[j]), expected)


def test_euler_curves(motion):
    features = compute_features(motion, "euler", ["left_thigh"])
    joint = motion.joint("left_thigh")
    np.testing.assert_allclose(features.values, motion.euler_curves()[:, joint])
    order = motion.skeleton.rotation_orders[joint]
    assert [column.channel for column in features.columns] == [f"{axis}rotation" for axis in order]


def test_weights_by_name_and_by_group_the_later_one_counts(motion):
    features = compute_features(motion, "world", "all", {"arms": 9.0, "left_hand": 0.0})
    plain = compute_features(motion, "world", "all")
    names = motion.skeleton.names
    np.testing.assert_allclose(columns_of(features, names[motion.joint("left_hand")]), 0.0)
    right = names[motion.joint("right_forearm")]
    np.testing.assert_allclose(columns_of(features, right), 3.0 * columns_of(plain, right))


def test_invalid_joints_and_weights(motion):
    with raises(UnknownJoint, value="left_hnd"):
        compute_features(motion, "world", ["left_hnd"])
    with raises(UnknownJoint, value="handz"):
        compute_features(motion, "world", "all", {"handz": 2})
    for joints in ([], (), 5):
        with raises(OptionError, option="joints"):
            compute_features(motion, "world", joints)
    for weight in (-1, float("nan"), float("inf"), "3", None, [1]):
        with raises(OptionError, option="weights"):
            compute_features(motion, "world", "all", {"hands": weight})
    assert compute_features(motion, "world", ["left_foot"], {"hands": 0}).values.any()  # no error if nothing is dropped
    assert len(compute_features(motion, "world", {"left_foot", "left_hand"}).joints) == 2
    with raises(OptionError, option="weights"):
        compute_features(motion, "world", ["left_foot"], {"hands": 2})
    with raises(OptionError, option="weights"):
        compute_features(motion, "world", "all", [("hands", 2)])
    with raises(OptionError, option="features", value="wrold"):
        compute_features(motion, "wrold", "all")


def test_figures_without_known_parts_use_every_joint():
    skeleton = kp.Skeleton(("a", "b", "c"), [-1, 0, 1], np.ones((3, 3)))
    still = kp.Motion("x", skeleton, 30, np.ones((4, 3, 3)), np.tile([1.0, 0, 0, 0], (4, 3, 1)))
    assert list(compute_features(still, "root_matched", "major").joints) == ["a", "b", "c"]
    assert list(compute_features(still, "world", "body").joints) == ["a", "b", "c"]


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.3, 7.0, 40.0])
def test_smoothing_against_the_plain_sum(sigma):
    values = np.random.default_rng(2).normal(size=(150, 2)) + 1e6
    np.testing.assert_allclose(gaussian_filter(values, sigma), naive.gaussian(values, sigma, 4.0), rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        gaussian_filter(values, sigma, 2.0), naive.gaussian(values, sigma, 2.0), rtol=0, atol=1e-8
    )


def test_long_takes_are_smoothed_in_blocks_without_a_seam():
    values = np.random.default_rng(1).normal(size=(2 * BLOCK_FRAMES + 100, 2)).cumsum(axis=0) + 1000.0
    fast = gaussian_filter(values, 7.0, 2.0)
    for edge in (BLOCK_FRAMES, 2 * BLOCK_FRAMES):
        near = slice(edge - 60, edge + 60)
        np.testing.assert_allclose(fast[near][20:-20], naive.gaussian(values[near], 7.0, 2.0)[20:-20], rtol=1e-12)


def test_smoothing_reaches_no_farther_than_the_clip():
    values = np.random.default_rng(1).normal(size=(60, 2))
    for sigma in (1e4, 1e12, 1e300, np.inf):
        np.testing.assert_allclose(gaussian_filter(values, sigma), np.tile(values.mean(axis=0), (60, 1)), atol=1e-4)


def test_smoothing_is_in_seconds_and_keeps_constants(motion):
    rough = compute_features(motion, "world", "all")
    smooth = compute_features(motion, "world", "all", smoothing_s=0.2)
    np.testing.assert_allclose(smooth.values, gaussian_filter(rough.values, 6.0))
    np.testing.assert_allclose(gaussian_filter(np.full((30, 2), 7.0), 5.0), 7.0, rtol=1e-14)
    for wrong in (-1.0, float("nan"), "soft", 1e9):
        with raises(OptionError, option="smoothing_s"):
            compute_features(motion, "world", "all", smoothing_s=wrong)


def test_plain_arrays():
    features = build_array_features([[1, 2], [3, 4], [5, 7]], None)
    assert features.values.dtype == np.float64 and [c.joint for c in features.columns] == ["column 0", "column 1"]
    with raises(OptionError, option="smoothing_s", value=1.0, problem=Pattern("^needs fps= ")):
        build_array_features(np.zeros((4, 2)), None, smoothing_s=1.0)
    for wrong in (np.zeros((2, 2, 2, 2)), np.zeros((0, 3)), np.zeros((3, 0)), [[np.nan]], [["a"]]):
        with pytest.raises(ModelError):
            build_array_features(wrong, 30.0)
