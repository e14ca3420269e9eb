"""Spikes of the capture: detection, warnings, repair."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.curves.capture_faults import MIN_JOINT_RATIO, _find_jumps, find_spikes
from keypose.rotations import exp, multiply
from reference.naive_spikes import naive_jumps
from support.flips import turn_over

FPS = 60


@pytest.fixture(scope="module")
def demo() -> kp.Motion:
    return kp.demo_motion(FPS)


def spike(motion: kp.Motion, frame: int, joint: str, degrees: float = 0.0, mm: float = 0.0) -> kp.Motion:
    """Return the motion with one frame in which a joint is turned about x and shifted upwards."""
    rotations, translations = motion.rotations.copy(), motion.translations.copy()
    j = motion.joint(joint)
    rotations[frame, j] = multiply(rotations[frame, j], exp(np.deg2rad([degrees, 0.0, 0.0])))
    translations[frame, j, 1] += mm / motion.mm_per_unit
    return replace(motion, rotations=rotations, translations=translations)


def test_a_clean_motion_has_none(demo):
    assert kp.find_capture_faults(demo) == ()
    assert kp.repair_capture(demo) is demo
    for fps in (24, 30, 120):
        assert kp.find_capture_faults(kp.demo_motion(fps)) == ()


@pytest.mark.parametrize("degrees", [20, 45, 80, 150])
def test_a_turned_joint_is_found_with_its_frame_joint_and_size(demo, degrees):
    faulty = spike(demo, 100, "left_upper_arm", degrees)
    (fault,) = find_spikes(faulty)
    assert (fault.kind, fault.joint, fault.first_frame, fault.last_frame) == ("spike", "LeftArm", 100, 100)
    assert fault.size_deg == pytest.approx(degrees, abs=4)
    repaired = kp.repair_capture(faulty)
    moved_mm = np.linalg.norm((faulty.world_positions() - demo.world_positions())[100], axis=-1) * demo.mm_per_unit
    assert fault.size_mm >= 0.9 * moved_mm.max()  # the hand has a site at its end, which moves farther
    assert kp.score(demo, repaired).max_mm < 5.0


def test_a_body_that_jumps_is_found(demo):
    faulty = spike(demo, 200, "hips", mm=60)
    (fault,) = find_spikes(faulty)
    assert (fault.joint, fault.first_frame) == ("Hips", 200)
    assert fault.size_mm == pytest.approx(60, abs=6)
    assert kp.score(demo, kp.repair_capture(faulty)).max_mm < 5.0


def test_repair_changes_that_frame_of_that_joint_alone(demo):
    faulty = spike(spike(demo, 60, "head", 40), 200, "hips", mm=80)
    repaired = kp.repair_capture(faulty)
    turned = (repaired.rotations != faulty.rotations).any(axis=-1)
    shifted = (repaired.translations != faulty.translations).any(axis=-1)
    assert np.argwhere(turned).tolist() == [[60, demo.joint("head")]]
    assert np.argwhere(shifted).tolist() == [[200, demo.joint("hips")]]
    assert find_spikes(repaired) == ()
    assert repaired.notes[-1].startswith("repaired: frame 60: Head jumps by ")
    assert faulty.notes == demo.notes


def test_a_spike_in_a_hold_and_one_between_clean_frames(demo):
    held = replace(
        demo,
        translations=np.repeat(demo.translations[:1], 40, axis=0),
        rotations=np.repeat(demo.rotations[:1], 40, axis=0),
    )
    assert find_spikes(held) == ()
    (fault,) = find_spikes(spike(held, 20, "right_forearm", 8))
    assert (fault.joint, fault.first_frame) == ("RightForeArm", 20)


def test_flips_and_spikes_are_one_list(demo):
    faulty = turn_over(spike(demo, 60, "head", 40), "left_hand", (100, 103))
    faults = kp.find_capture_faults(faulty)
    assert [(fault.kind, fault.joint, fault.first_frame, fault.last_frame) for fault in faults] == [
        ("spike", "Head", 60, 60),
        ("flip", "LeftHand", 100, 102),
    ]
    assert faults[1].size_deg == pytest.approx(180, abs=30)
    assert kp.find_capture_faults(kp.repair_capture(faulty)) == ()


def test_what_comes_back_later_or_not_is_no_spike(demo):
    rotations = demo.rotations.copy()
    j = demo.joint("left_upper_arm")
    turn = exp(np.deg2rad([30.0, 0.0, 0.0]))
    rotations[100:, j] = multiply(rotations[100:, j], turn)
    assert find_spikes(replace(demo, rotations=rotations)) == ()
    rotations = demo.rotations.copy()
    rotations[100:102, j] = multiply(rotations[100:102, j], turn)
    assert find_spikes(replace(demo, rotations=rotations)) == ()


def test_a_quick_reversal_is_no_spike(demo):
    """A joint that swings out and back at constant speed turns around in a single frame."""
    frames = np.arange(41)
    angles = np.deg2rad(12.0) * np.minimum(frames, 40 - frames)
    rotations = np.repeat(demo.rotations[:1], 41, axis=0)
    rotations[:, demo.joint("right_upper_arm")] = exp(angles[:, None] * np.array([[1.0, 0.0, 0.0]]))
    swing = replace(demo, translations=np.repeat(demo.translations[:1], 41, axis=0), rotations=rotations)
    assert find_spikes(swing) == ()


def test_angles_that_cancel_out_are_no_spike(demo):
    """A joint turns and the joints below it turn back: nothing moves."""
    rotations = demo.rotations.copy()
    turn = exp(np.deg2rad([0.0, 25.0, 0.0]))
    parent = demo.joint("left_forearm")
    rotations[100, parent] = multiply(rotations[100, parent], turn)
    for child in np.flatnonzero(demo.skeleton.parents == parent).tolist():
        rotations[100, child] = multiply(turn * (1, -1, -1, -1), rotations[100, child])
    bone = demo.skeleton.offsets[demo.joint("left_hand")]
    if np.linalg.norm(np.cross(bone, [0.0, 1.0, 0.0])) < 1e-6 * np.linalg.norm(bone):
        assert find_spikes(replace(demo, rotations=rotations)) == ()
    else:  # the hand itself moves
        (fault,) = find_spikes(replace(demo, rotations=rotations))
        assert fault.joint == "LeftForeArm"


def test_sign_of_quaternions_does_not_matter(demo):
    faulty = spike(demo, 100, "left_upper_arm", 30)
    rotations = faulty.rotations.copy()
    rotations[::3] *= -1.0
    assert find_spikes(replace(faulty, rotations=rotations)) == find_spikes(faulty)


def test_frames_at_the_ends_have_none(demo):
    for frame in (0, 1, demo.n_frames - 2, demo.n_frames - 1):
        assert find_spikes(spike(demo, frame, "head", 60), np.array([frame], np.int32)) == ()
    for n_frames in (1, 2, 3, 4, 5):
        assert kp.find_capture_faults(demo[:n_frames]) == ()


def test_a_figure_without_height_has_none():
    dot = kp.Motion(
        "dot", kp.Skeleton(("a",), [-1], [[0, 0, 0]]), 30, np.zeros((9, 1, 3)), np.tile([1.0, 0, 0, 0], (9, 1, 1))
    )
    assert kp.find_capture_faults(dot) == ()
    assert kp.repair_capture(dot) is dot


def test_jumps_are_those_of_the_slow_twin(demo):
    random = np.random.default_rng(5)
    faulty = demo
    for frame in (30, 31, 77, 140):
        faulty = spike(faulty, frame, "left_upper_arm", float(random.uniform(5, 60)))
    frames = np.arange(2, faulty.n_frames - 2, dtype=np.int32)
    for values, min_size in ((faulty.rotations, 0.01), (faulty.world_positions(), 0.004)):
        assert _find_jumps(values, frames, 6, min_size, MIN_JOINT_RATIO) == naive_jumps(
            values, 6, min_size, MIN_JOINT_RATIO
        )


@pytest.fixture(scope="module")
def faulty(demo) -> kp.Motion:
    return spike(demo, 100, "left_upper_arm", 60)


class TestWarnings:
    @pytest.mark.parametrize(
        "choose",
        [
            lambda m: kp.select(m, keys=12, pins=[100]),
            lambda m: kp.select(m, auto=True, pins=[100]),
            lambda m: kp.unbake(m, tolerance_mm=3.0),
            lambda m: kp.unbake(m, keys=20, pins=[100]),
            lambda m: kp.unbake(m, method="uniform", keys=m.n_frames),
            lambda m: kp.unbake(m, per="joint", tolerance_mm=5.0),
        ],
    )
    def test_keys_that_are_spikes_are_named(self, faulty, choose):
        with pytest.warns(kp.FormatWarning) as records:
            choose(faulty)
        (warning,) = [record.message for record in records]
        assert warning.code == "spike"
        assert (warning.value.first_frame, warning.value.joint) == (100, "LeftArm")
        assert warning.value.size_mm > 150
        assert "a key is at or beside a spike: frame 100: LeftArm jumps by " in str(warning)
        assert "kp.repair_capture" in str(warning)

    def test_strips_name_the_poses_that_they_choose(self, demo):
        faulty = spike(demo, 100, "spine", 120)
        with pytest.warns(kp.FormatWarning, match="spike: frame 100: "):
            kp.strip(faulty)

    def test_frames_that_are_given_are_not_named(self, faulty):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kp.unbake(faulty, [0, 100, faulty.n_frames - 1])
            kp.strip(faulty, [0, 100])
            kp.select(kp.repair_capture(faulty), keys=12, pins=[100])

    def test_a_repaired_capture_needs_no_keys_for_the_spike(self, demo, faulty):
        clean = kp.unbake(demo, auto=True).n_keys
        with pytest.warns(kp.FormatWarning):
            followed = kp.unbake(faulty, auto=True)
        repaired = kp.unbake(kp.repair_capture(faulty), auto=True)
        assert kp.score(demo, followed).max_mm > 100
        assert kp.score(demo, repaired).max_mm < 20
        assert abs(repaired.n_keys - clean) <= 1


class TestRealClips:
    def test_kicks_and_impacts_are_none(self, data_dir):
        kicks = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")
        assert find_spikes(kicks) == ()
        for name in ("13_17", "14_02", "135_09"):  # punches at 30 fps: an arm turns around within a frame or two
            (path,) = (data_dir / "cmu30" / "punching").glob(f"{name}.bvh")
            arms = [fault for fault in find_spikes(kp.load(path)) if "Arm" in fault.joint or "Hand" in fault.joint]
            assert arms == [], name

    def test_spikes_that_were_looked_at(self, data_dir):
        found = [
            fault.first_frame
            for fault in find_spikes(kp.load(data_dir / "cmu120" / "86_01_mixed-jumps-kicks-punches.bvh"))
        ]
        assert found == [430, 2304]
        (fault,) = find_spikes(kp.load(data_dir / "formats" / "bvh" / "kinect-openni_mm_hash-names.bvh"))
        assert (fault.joint, fault.first_frame) == ("LEFT_ELBOW", 193)
