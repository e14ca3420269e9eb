"""Segmentation against its slow twin, against reference figures, and in edge cases."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from keypose.rotations import exp, multiply, normalise, to_matrix
from keypose.swings import Settings
from keypose.swings.codec import pack
from keypose.swings.segment import change_threshold, segment_motion
from reference import naive_swings as naive
from support.errors import raises

RULES = [
    (10, 10, 8, 0.003, 0.4, False),
    (3, 4, 2, 0.05, 0.7, False),
    (1, 1, 2, 0.0, 1.5, True),
    (6, 8, 5, 0.02, 0.1, True),
]


def random_rotations(rng: np.random.Generator, frames: int, joints: int) -> np.ndarray:
    """Return rotations (T, J, 4) that swing, rest and change direction."""
    rotations = np.empty((frames, joints, 4))
    for j in range(joints):
        q = normalise(rng.normal(size=4))
        axis, speed = rng.normal(size=3), 0.0
        for t in range(frames):
            rotations[t, j] = q
            if rng.random() < 0.08:
                axis, speed = rng.normal(size=3), float(rng.choice([0.0, 0.001, 0.05, 0.2]))
            step = speed * axis / np.linalg.norm(axis) + 0.01 * speed * rng.normal(size=3)
            q = normalise(multiply(q, exp(step)))
    return rotations


def assert_matches_reference(rotations: np.ndarray, rule) -> int:
    (joint_indices, starts, ends), rotation_vectors, (rest_joints, rest_starts, rest_ends) = _core.swing_spans(
        rotations, *rule
    )
    assert (np.diff(joint_indices) >= 0).all() and (np.diff(rest_joints) >= 0).all()
    for j in range(rotations.shape[1]):
        swings, rests = naive.swing_spans(rotations[:, j], *rule)
        is_joint = joint_indices == j
        assert list(zip(starts[is_joint].tolist(), ends[is_joint].tolist(), strict=True)) == [
            swing[:2] for swing in swings
        ]
        if swings:
            np.testing.assert_allclose(rotation_vectors[is_joint], [swing[2] for swing in swings], rtol=0, atol=1e-12)
        is_rest_joint = rest_joints == j
        assert list(zip(rest_starts[is_rest_joint].tolist(), rest_ends[is_rest_joint].tolist(), strict=True)) == rests
    return len(starts)


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 70))
def test_spans_are_those_of_the_twin(rule, seed, frames):
    assert_matches_reference(random_rotations(np.random.default_rng(seed), frames, 2), rule)


@pytest.mark.data
@pytest.mark.parametrize("rule", RULES[:2])
def test_spans_of_a_real_clip_are_those_of_the_twin(rule, data_dir):
    motion = kp.load(data_dir / "cmu120/swings/35_18.bvh").at_fps(60)
    assert assert_matches_reference(np.ascontiguousarray(motion.rotations), rule) > 50


@pytest.fixture(scope="session")
def twelve(data_dir):
    clips = [kp.load(path).at_fps(60) for path in sorted((data_dir / "cmu120/swings").glob("*.bvh"))]
    assert len(clips) == 12
    return clips


@pytest.mark.data
@pytest.mark.parametrize(
    ("threshold", "reference"),
    [(0.0, 73.6), (0.2, 29.2), (0.3, 25.1), (0.4, 25.0), (0.5, 26.4), (1.0, 46.0), (2.0, 67.0)],
)
def test_error_is_that_of_the_reference(twelve, threshold, reference):
    mean = np.mean([kp.swings(clip, threshold).error(clip, rests=False) for clip in twelve])
    # with nothing allowed, rounding decides which frames are on one axis
    assert mean == pytest.approx(reference, abs=1.0 if threshold == 0 else 0.25)


@pytest.mark.data
def test_rests_make_the_error_smaller(twelve):
    found = [kp.swings(clip) for clip in twelve]
    errors = np.array(
        [[some.error(clip, rests=rests) for rests in (False, True)] for some, clip in zip(found, twelve, strict=True)]
    )
    assert errors.mean(axis=0) == pytest.approx((25.03, 23.75), abs=0.05)
    assert (errors[:, 1] < errors[:, 0]).all()


@pytest.mark.data
def test_joints_that_are_left_out_and_hips_are_exact(twelve):
    clip = twelve[0]
    swings = kp.swings(clip, translation_mm=0)
    played = swings.play()
    assert swings.settings.left_out == (
        "LeftToeBase", "RightToeBase", "LeftFingerBase", "LeftHandIndex1", "LThumb", "RightFingerBase",
        "RightHandIndex1", "RThumb",
    )  # fmt: skip
    left_out = [clip.skeleton.joint(name) for name in swings.settings.left_out]
    assert left_out == [j for j in range(clip.n_joints) if swings.is_left_out(j)]
    np.testing.assert_array_equal(played.rotations[:, left_out], clip.rotations[:, left_out])
    np.testing.assert_array_equal(played.translations, clip.translations)


@pytest.mark.data
@pytest.mark.parametrize("tolerance_mm", [0.1, 1.0, 20.0])
def test_hips_stay_within_the_stated_tolerance(twelve, tolerance_mm):
    for clip in twelve[:6]:
        swings = kp.swings(clip, translation_mm=tolerance_mm)
        off = np.linalg.norm(swings.play().translations - clip.translations, axis=-1).max() * clip.mm_per_unit
        assert off <= tolerance_mm
        assert len(swings.paths[0].keys) < clip.n_frames or tolerance_mm < 1


@pytest.mark.parametrize("tolerance_mm", [5e-324, 1e-300, 1e-12])
def test_a_tolerance_near_zero_is_a_key_on_every_frame(tolerance_mm):
    motion = kp.demo_motion()[:40]
    swings = kp.swings(motion, translation_mm=tolerance_mm)
    assert [len(path.keys) for path in swings.paths] == [40]
    np.testing.assert_array_equal(swings.play().translations, motion.translations)


@pytest.mark.data
def test_frame_rates_agree(data_dir):
    """Windows are times: a clip at 120 fps gives about the swings that it gives at 60."""
    full = kp.load(data_dir / "cmu120/swings/16_05.bvh")
    counts = [kp.swings(full.at_fps(fps)).n_swings for fps in (120, 60, 30)]
    assert max(counts) < 1.2 * min(counts)


def test_left_out_joints_are_named_in_the_order_of_the_skeleton():
    motion = kp.demo_motion()[:60]
    names = motion.skeleton.names
    swings = kp.swings(motion, left_out=["right_foot", "head", "left_foot", "head"])
    joints = sorted(motion.skeleton.joints(["right_foot", "head", "left_foot"]))
    assert swings.settings.left_out == tuple(names[j] for j in joints)
    assert [j for j in range(motion.n_joints) if swings.is_left_out(j)] == joints
    assert kp.swings(motion, left_out=[]).settings.left_out == ()
    assert segment_motion(motion, swings.settings).settings == swings.settings


def test_defaults_are_those_of_the_settings():
    parameters = {name: option.default for name, option in inspect.signature(kp.swings).parameters.items()}
    defaults = {field.name: field.default for field in fields(Settings)}
    assert (
        parameters.pop("left_out") is None and defaults.pop("left_out") == ()
    )  # the small joints, whatever their names
    assert {name: parameters[name] for name in defaults} == defaults and set(parameters) - set(defaults) == {"motion"}


def test_one_axis_is_one_swing():
    turn = np.array((0.3, -0.2, 1.1))
    rotations = exp(np.linspace(0, 1, 31)[:, None] * turn)[:, None]
    motion = build_motion(rotations)
    (swing,) = kp.swings(motion)["bone"]
    assert (swing.start, swing.end) == (0, 30)
    assert swing.angle == pytest.approx(np.linalg.norm(turn))
    np.testing.assert_allclose(swing.axis, turn / np.linalg.norm(turn), atol=1e-12)
    np.testing.assert_allclose(kp.swings(motion).play().rotations, rotations, atol=1e-12)


def test_still_joint_rests_and_holds():
    motion = build_motion(np.tile(exp(np.array((0.1, 0.2, 0.3))), (20, 1, 1)))
    track = kp.swings(motion).track("bone")
    assert track.n_swings == 0
    assert [(rest.start, rest.end) for rest in track.rests] == [(0, 19)]
    np.testing.assert_allclose(kp.swings(motion).play().rotations, motion.rotations, atol=1e-15)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_short_clips(frames):
    motion = build_motion(exp(np.linspace(0, 1, frames)[:, None] * np.array((0.3, 0, 0)))[:, None])
    swings = kp.swings(motion)
    assert swings.play().n_frames == frames
    assert 0 <= swings.error(motion) < 30


def build_motion(rotations: np.ndarray) -> kp.Motion:
    skeleton = kp.Skeleton(("bone",), [-1], [[0.0, 0.0, 0.0]], end_joints=[0], end_offsets=[[0.0, 10.0, 0.0]])
    return kp.Motion("made", skeleton, 60.0, np.zeros((len(rotations), 1, 3)), rotations)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"threshold": -0.1}, "a number from 0 to 3.14159"),
        ({"threshold": float("nan")}, "a number from 0 to 3.14159"),
        ({"threshold": "0.4"}, "a number from 0 to 3.14159"),
        ({"metric": "chord"}, "one of angle, cosine"),
        ({"smoothing_s": -1}, "a number from 0 to 10"),
        ({"window_s": 0}, "a number above 0 and at most 10"),
        ({"fallback": "swings"}, "one of keys"),
        ({"fallback_deg": 0, "fallback": "keys"}, "a number above 0 and at most 180"),
        ({"translation_mm": -1}, "a number from 0 to 1e+06"),
        ({"left_out": 3}, "names of joints, body parts or groups"),
        ({"window_s": 1e9}, "a number above 0 and at most 10"),
        ({"smoothing_s": 1e9}, "a number from 0 to 10"),
        ({"min_duration_s": 1e308}, "a number from 0 to 10"),
        ({"rest_rad_per_s": 1e308}, "a number from 0 to 1e+06"),
        ({"fallback_deg": 181}, "a number above 0 and at most 180"),
        ({"translation_mm": 1e308}, "a number from 0 to 1e+06"),
    ],
)
def test_bad_options_are_rejected(options, expected):
    motion = build_motion(exp(np.linspace(0, 1, 30)[:, None] * np.array((0.3, 0, 0)))[:, None])
    option, value = next(iter(options.items()))
    with raises(kp.OptionError, option=option, value=value, expected=expected):
        kp.swings(motion, **options)


def test_unknown_joints_to_leave_out_are_rejected():
    motion = build_motion(exp(np.linspace(0, 1, 30)[:, None] * np.array((0.3, 0, 0)))[:, None])
    with raises(kp.UnknownJoint, value="wings"):
        kp.swings(motion, left_out="wings")


def test_error_rejects_another_clip():
    motion = build_motion(exp(np.linspace(0, 1, 30)[:, None] * np.array((0.3, 0, 0)))[:, None])
    swings = kp.swings(motion)
    with raises(kp.OptionError, expected="the same number"):
        swings.error(motion[:20])
    with raises(kp.OptionError, expected="the Motion that the swings were found in"):
        swings.error(swings)  # type: ignore[arg-type]
    with raises(kp.OptionError, option="per", value="joint"):
        swings.error(motion, per="joint")  # type: ignore[arg-type]
    with raises(kp.OptionError, expected="a Motion, as kp.load gives it"):
        kp.swings(swings)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"min_duration_s": 10}, {"rest_rad_per_s": 1e6}, {"translation_mm": 1e6}], ids=str)
def test_the_largest_settings_are_possible(options):
    motion = build_motion(exp(np.linspace(0, 1, 30)[:, None] * np.array((0.3, 0, 0)))[:, None])
    assert kp.swings(motion, **options).n_swings == (0 if "translation_mm" not in options else 1)
    assert kp.swings(motion, fallback="keys", fallback_deg=180).n_keys == 0


@pytest.mark.parametrize("fallback", [None, "keys"])
def test_another_threshold_gives_what_is_found_with_it(fallback):
    motion = kp.demo_motion(fps=60)[:300]
    found = kp.swings(motion, fallback=fallback)
    for threshold in (0.0, 0.25, 1.5):
        changed, expected = change_threshold(motion, found, threshold), kp.swings(motion, threshold, fallback=fallback)
        assert changed.settings == expected.settings and pack(changed) == pack(expected)


def test_start_and_end_angles_are_about_the_axis():
    for swing in kp.swings(kp.demo_motion(fps=60)).find("legs"):
        twist = to_matrix(exp(np.deg2rad(swing.start_angle_deg) * swing.axis))
        rest = to_matrix(swing.start_rotation) @ twist.T  # what the joint rotates besides, about another axis
        along = np.array((rest[2, 1] - rest[1, 2], rest[0, 2] - rest[2, 0], rest[1, 0] - rest[0, 1])) @ swing.axis
        assert along == pytest.approx(0.0, abs=1e-9) and abs(swing.start_angle_deg) <= 180.0
        assert swing.end_angle_deg - swing.start_angle_deg == pytest.approx(swing.angle_deg)
