"""The demo motion: plausible by measurements, the same at every frame rate."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

import keypose as kp
from keypose.demo import demo_motion, footwork
from keypose.demo.footwork import interpolate_keys
from keypose.rotations import angle_between, log, rotate, to_euler
from support.errors import raises

FPS = 120.0


@pytest.fixture(scope="module")
def demo() -> kp.Motion:
    return demo_motion(FPS)


def at(motion: kp.Motion, name: str) -> np.ndarray:
    """World positions (T, 3) of one joint."""
    return motion.world_positions()[:, motion.joint(name)]


def between(motion: kp.Motion, start_s: float, end_s: float) -> slice:
    return slice(round(start_s * motion.fps), round(end_s * motion.fps))


def heading_deg(motion: kp.Motion, joint: str = "Hips") -> np.ndarray:
    rotations = motion.world_rotations()[:, motion.joint(joint)]
    direction = rotate(rotations, np.broadcast_to([0.0, 0.0, 1.0], (motion.n_frames, 3)))
    return np.rad2deg(np.unwrap(np.arctan2(direction[:, 0], direction[:, 2])))


def contact_spans(motion: kp.Motion) -> dict[str, list[tuple[int, int]]]:
    """First and last frame of each contact, by foot."""
    contacts = motion.foot_contacts()
    spans = {}
    for k, foot in enumerate(contacts.feet):
        frames = np.flatnonzero(contacts.in_contact[:, k])
        runs = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)
        spans[foot] = [(int(run[0]), int(run[-1])) for run in runs]
    return spans


class TestFigure:
    def test_is_human_and_stands_on_the_floor_facing_z(self, demo):
        assert 24 <= demo.n_joints <= 31
        assert demo.height == pytest.approx(1.70, abs=0.005)
        assert (demo.up, demo.metres_per_unit) == ("Y", 1.0)
        assert demo.skeleton.rest_positions[:, 1].min() == pytest.approx(0.0, abs=1e-9)
        left_toe, left_ankle, right_ankle = at(demo, "LeftToeBase"), at(demo, "LeftFoot"), at(demo, "RightFoot")
        assert left_toe[0, 2] > left_ankle[0, 2] + 0.1
        assert left_ankle[0, 0] > right_ankle[0, 0] + 0.15

    def test_left_and_right_are_mirror_images(self, demo):
        s = demo.skeleton
        for name in s.names:
            if name.startswith("Left"):
                mirrored = s.offsets[s.names.index(name.replace("Left", "Right"))] * (-1, 1, 1)
                assert np.allclose(s.offsets[s.names.index(name)], mirrored)

    def test_every_joint_is_recognised(self, demo):
        assert demo.skeleton.anatomy.unrecognised_joints == ()


class TestSampling:
    def test_the_same_call_gives_the_same_motion(self, demo):
        repeated = demo_motion(FPS)
        assert np.array_equal(repeated.translations, demo.translations)
        assert np.array_equal(repeated.rotations, demo.rotations)

    @pytest.mark.parametrize("fps", [60, 40, 30, 24, 1])
    def test_every_rate_samples_one_continuous_motion(self, demo, fps):
        slow = demo_motion(fps)
        every = round(FPS / fps)
        assert slow.n_frames == -(-demo.n_frames // every)
        assert np.abs(slow.translations - demo.translations[::every]).max() < 1e-9
        assert angle_between(slow.rotations, demo.rotations[::every]).max() < 1e-7

    def test_a_seed_changes_a_trace_of_sway_and_not_the_footwork(self, demo):
        other = demo_motion(FPS, seed=7)
        apart = np.linalg.norm(other.world_positions() - demo.world_positions(), axis=-1)
        assert 0.001 < apart.max() < 0.08
        toes = list(demo.joints(("LeftToeBase", "RightToeBase")))
        assert apart[:, toes].max() < 1e-9

    @pytest.mark.parametrize("fps", [0, -30, np.nan, np.inf, 1e9, 1e-320, 0.5, "x", None, [30], 1j])
    def test_an_invalid_rate_is_rejected(self, fps):
        with raises(kp.OptionError, expected="a number from 1 to 10000"):
            demo_motion(fps)

    @pytest.mark.parametrize("seed", [-1, 0.5, np.nan, np.inf, "x", None, [1]])
    def test_an_invalid_seed_is_rejected(self, seed):
        with raises(kp.OptionError, option="seed"):
            demo_motion(seed=seed)

    def test_takes_less_than_a_tenth_of_a_second(self):
        spent = []
        for _ in range(5):
            start = time.process_time()
            demo_motion()
            spent.append(time.process_time() - start)
        assert min(spent) < 0.1

    def test_round_trip_through_a_file(self, demo, tmp_path):
        kp.save(demo, tmp_path / "demo.bvh")
        loaded = kp.load(tmp_path / "demo.bvh")
        assert loaded.skeleton.names == demo.skeleton.names
        assert np.abs(loaded.world_positions() - demo.world_positions()).max() < 1e-5


class TestContinuity:
    def test_no_joint_rotates_faster_than_a_body_can(self, demo):
        steps = np.rad2deg(angle_between(demo.rotations[:-1], demo.rotations[1:]))
        assert steps.max() < 12.0 * 120.0 / FPS

    def test_accelerations_have_no_jumps(self):
        """A jump has the same size at every frame rate; a continuous change halves."""

        def max_change(fps: float) -> float:
            positions = demo_motion(fps).world_positions()
            accelerations = np.diff(positions, 2, axis=0) * fps**2
            return float(np.linalg.norm(np.diff(accelerations, axis=0), axis=-1).max())

        assert max_change(960.0) < 0.6 * max_change(480.0)

    def test_the_root_accelerates_as_a_body_does(self, demo):
        accelerations = np.linalg.norm(np.diff(at(demo, "Hips"), 2, axis=0) * FPS**2, axis=1)
        assert accelerations.max() < 40.0  # at the landing
        assert accelerations[: round((footwork.CROUCH_S - 0.6) * FPS)].max() < 8.0  # in walk and turn


class TestJointLimits:
    @pytest.mark.parametrize("side", ["Left", "Right"])
    @pytest.mark.parametrize("seed", range(4))
    def test_knees_and_elbows_are_hinges_that_bend_one_way(self, side, seed):
        m = demo_motion(60, seed)
        knee = np.rad2deg(log(m.rotations[:, m.joint(f"{side}Leg")]))
        elbow = np.rad2deg(log(m.rotations[:, m.joint(f"{side}ForeArm")])) * (-1 if side == "Left" else 1)
        assert np.abs(knee[:, 1:]).max() < 1e-6
        assert knee[:, 0].min() > 3.0
        assert knee[:, 0].max() < 135.0
        assert np.abs(elbow[:, [0, 2]]).max() < 1e-6
        assert elbow[:, 1].min() > 3.0
        assert elbow[:, 1].max() < 145.0

    @pytest.mark.parametrize(
        ("joint", "flexion", "limits"),
        [
            ("UpLeg", -1.0, (-30.0, 125.0)),  # degrees, + forward
            ("Foot", 1.0, (-42.0, 50.0)),  # + toes down
            ("ToeBase", -1.0, (-5.0, 65.0)),  # + toes up
        ],
    )
    @pytest.mark.parametrize("side", ["Left", "Right"])
    def test_hips_ankles_and_toes_stay_within_human_limits(self, demo, side, joint, flexion, limits):
        rotations = np.rad2deg(to_euler(demo.rotations[:, demo.joint(side + joint)], "XZY"))
        bends = flexion * rotations[:, 0]
        assert limits[0] < bends.min()
        assert bends.max() < limits[1]
        assert np.abs(rotations[:, 1:]).max() < 45.0

    def test_trunk_and_head_stay_within_human_limits(self, demo):
        for joint, limit in (("Spine", 25.0), ("Spine1", 25.0), ("Spine2", 25.0), ("Neck", 35.0), ("Head", 35.0)):
            assert np.rad2deg(np.linalg.norm(log(demo.rotations[:, demo.joint(joint)]), axis=1)).max() < limit


class TestFeet:
    def test_nothing_goes_through_the_floor(self, demo):
        points = np.concatenate((demo.world_positions(), demo.end_positions()), axis=1)
        assert points[..., 1].min() > -0.01

    def test_standing_feet_do_not_slide(self, demo):
        for foot, spans in contact_spans(demo).items():
            toe = at(demo, f"{foot.capitalize()}ToeBase")[:, [0, 2]]
            for start, end in spans:
                slide = np.linalg.norm(toe[start : end + 1] - toe[(start + end) // 2], axis=1)
                assert slide.mean() < 0.0005
                inside = slide[8:-8]  # without landing and lift-off
                assert inside.max() < 0.002

    def test_the_walk_goes_left_right_left_right(self, demo):
        landings = sorted(
            (start / FPS, foot) for foot, spans in contact_spans(demo).items() for start, _ in spans if start
        )
        walk = [(time_s, foot) for time_s, foot in landings if time_s < footwork.TURN_S]
        assert [foot for _, foot in walk] == ["left", "right"] * 4
        assert all(0.4 < b - a < 0.65 for (a, _), (b, _) in pairwise(walk))

    def test_in_the_walk_one_foot_always_stands(self, demo):
        assert demo.foot_contacts().in_contact[: round(footwork.TURN_S * FPS)].any(axis=1).all()

    @pytest.mark.parametrize("side", ["Left", "Right"])
    def test_the_heel_leaves_first_and_lands_first(self, demo, side):
        toe, ankle = at(demo, f"{side}ToeBase"), at(demo, f"{side}Foot")
        rise = ankle[:, 1] - toe[:, 1]
        flat = rise[0]
        first = 0 if side == "Left" else 1
        lift_s = footwork.WALK_S + (2 + first) * footwork.STEP_S
        lift_off, landing = round(lift_s * FPS), round((lift_s + footwork.SWING_S) * FPS)
        assert rise[lift_off] > flat + 0.05
        assert toe[lift_off, 1] == pytest.approx(toe[0, 1], abs=1e-6)
        assert rise[landing] < flat - 0.02
        assert toe[landing, 1] > toe[0, 1] + 0.02


class TestPhases:
    def test_it_stands_at_both_ends(self, demo):
        for frames in (slice(0, 20), slice(-60, None)):
            speed = np.linalg.norm(np.diff(demo.world_positions()[frames], axis=0), axis=-1) * FPS
            assert speed.max() < 0.1
            assert demo.foot_contacts().in_contact[frames].all()

    def test_it_walks_along_a_curve(self, demo):
        walk = between(demo, footwork.WALK_S, footwork.TURN_S)
        hips = at(demo, "Hips")[walk][:, [0, 2]]
        path = np.linalg.norm(np.diff(hips, axis=0), axis=1).sum()
        assert path > 3.5
        assert np.linalg.norm(hips[-1] - hips[0]) < 0.97 * path
        heading_change = heading_deg(demo)[walk]
        assert 60 < heading_change[-1] - heading_change[0] < 100

    def test_arms_swing_against_the_legs(self, demo):
        walk = between(demo, footwork.WALK_S + footwork.STEP_S, footwork.TURN_S - footwork.STEP_S)
        h = np.deg2rad(heading_deg(demo))[walk]
        forward = np.stack((np.sin(h), 0 * h, np.cos(h)), axis=1)
        ahead = {n: np.sum((at(demo, n) - at(demo, "Hips"))[walk] * forward, axis=1) for n in demo.skeleton.names}
        assert np.corrcoef(ahead["LeftHand"], ahead["LeftFoot"])[0, 1] < -0.7
        assert np.corrcoef(ahead["RightHand"], ahead["RightFoot"])[0, 1] < -0.7

    def test_the_chest_turns_against_the_hips(self, demo):
        walk = between(demo, footwork.WALK_S + footwork.STEP_S, footwork.TURN_S - footwork.STEP_S)
        swings = []
        for joint in ("Hips", "Spine2"):
            rotation = heading_deg(demo, joint)[walk]
            k = np.arange(len(rotation))
            swings.append(rotation - np.polyval(np.polyfit(k, rotation, 3), k))  # without the curve of the path
        assert np.ptp(swings[0]) > 8
        assert np.ptp(swings[1]) > 3
        assert np.corrcoef(*swings)[0, 1] < -0.7

    def test_the_pelvis_bobs_twice_in_a_stride(self, demo):
        walk = between(demo, footwork.WALK_S + footwork.STEP_S, footwork.TURN_S - footwork.STEP_S)
        height = at(demo, "Hips")[walk, 1]
        assert 0.02 < np.ptp(height) < 0.07
        spectrum = np.abs(np.fft.rfft((height - height.mean()) * np.hanning(len(height))))
        strongest_hz = np.fft.rfftfreq(len(height), 1 / FPS)[spectrum.argmax()]
        assert strongest_hz == pytest.approx(1 / footwork.STEP_S, abs=0.3)

    def test_it_turns_around_and_the_head_leads(self, demo):
        h = heading_deg(demo)
        before, after = (round(s * FPS) for s in (footwork.TURN_S, footwork.TURN_S + 2.0))
        assert abs(h[after] - h[before] - 180) < 20
        head = heading_deg(demo, "Head")
        middle = round((footwork.TURN_S + 0.9) * FPS)
        assert 10 < head[middle] - h[middle] < 60

    def test_it_flies_as_a_stone_does(self, demo):
        flight = between(demo, footwork.TAKE_OFF_S + 0.02, footwork.TOUCH_S - 0.02)
        accelerations = np.diff(at(demo, "Hips")[flight], 2, axis=0) * FPS**2
        assert np.abs(accelerations - (0.0, -9.81, 0.0)).max() < 0.05
        assert not demo.foot_contacts().in_contact[flight].any()
        toes = at(demo, "LeftToeBase")[flight, 1], at(demo, "RightToeBase")[flight, 1]
        assert min(t.max() for t in toes) > 0.25

    def test_it_crouches_before_the_jump_and_gives_way_after_it(self, demo):
        height = at(demo, "Hips")[:, 1]
        assert height[between(demo, footwork.CROUCH_S - 0.1, footwork.CROUCH_S + 0.1)].min() < 0.7
        assert height[between(demo, footwork.TOUCH_S, footwork.TOUCH_S + 0.5)].min() < 0.75
        assert height.max() > 1.15

    def test_it_kicks_with_a_chambered_knee_on_a_standing_leg(self, demo):
        knee = np.rad2deg(log(demo.rotations[:, demo.joint("RightLeg")])[:, 0])
        chamber, impact, back = (round(s * FPS) for s in (footwork.CHAMBER_S, footwork.IMPACT_S, footwork.RETURN_S))
        assert knee[chamber] > 80
        assert knee[impact] < 40
        assert knee[back] > 80
        foot, hips = at(demo, "RightFoot"), at(demo, "Hips")
        assert foot[impact, 1] > 1.0
        assert np.linalg.norm((foot - hips)[impact, [0, 2]]) > 0.7
        kick = between(demo, footwork.KICK_S - 0.2, footwork.DOWN_S + 0.2)
        left = demo.foot_contacts().in_contact[kick, demo.foot_contacts().feet.index("left")]
        assert left.all()


class TestCurves:
    KEYS = ((0.0, 1.0), (0.5, 2.0), (1.5, 2.5), (2.0, 0.0), (3.0, 0.0))

    def test_goes_through_its_keys_and_holds_outside(self):
        times = np.array([-5.0, *(time for time, _ in self.KEYS), 9.0])
        assert np.allclose(interpolate_keys(times, self.KEYS), [1.0, 1.0, 2.0, 2.5, 0.0, 0.0, 0.0])

    def test_does_not_swing_beyond_its_keys(self):
        curve = interpolate_keys(np.linspace(0, 3, 1000), self.KEYS)
        assert curve.min() >= -1e-12
        assert curve.max() <= 2.5 + 1e-12

    @pytest.mark.parametrize("time", [time for time, _ in KEYS])
    def test_is_smooth_to_the_second_derivative(self, time):
        h = 1e-4
        before, after = (interpolate_keys(time + side * h * np.arange(3), self.KEYS) for side in (-1, 1))
        assert (after[1] - after[0]) / h == pytest.approx((before[0] - before[1]) / h, abs=0.01)
        for side in (before, after):
            assert (side[0] - 2 * side[1] + side[2]) / h**2 == pytest.approx(
                0.0, abs=0.2
            )  # the slope changes by hundreds between keys

    def test_states_of_single_keys_are_met(self):
        t = np.linspace(0.0, 1.0, 11)
        falling = {0.0: ((2.0,), (-9.81,)), 1.0: ((2.0 - 9.81,), (-9.81,))}
        curve = interpolate_keys(t, ((0.0, 0.0), (1.0, 2.0 - 9.81 / 2)), falling)
        assert np.allclose(curve, 2.0 * t - 9.81 / 2 * t**2)

    def test_one_key_is_a_constant_and_several_values_are_columns(self):
        assert np.allclose(interpolate_keys(np.arange(3.0), ((1.0, 4.0),)), 4.0)
        assert interpolate_keys(np.arange(3.0), ((0.0, 4.0, 5.0), (1.0, 4.0, 7.0))).tolist() == [[4, 5], [4, 7], [4, 7]]

    def test_keys_out_of_order_are_rejected(self):
        with raises(kp.OptionError, expected="increasing times"):
            interpolate_keys(np.arange(3.0), ((1.0, 4.0), (0.0, 5.0)))
