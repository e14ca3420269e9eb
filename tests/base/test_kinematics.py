from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import kinematics
from keypose.arrays import Floats
from keypose.formats.orientation import find_up
from keypose.kinematics import UPS, Up
from keypose.model import Skeleton

AXES = {"X": 0, "Y": 1, "Z": 2}


def along(up: Up) -> Floats:
    """The unit vector of an up axis."""
    vector = np.zeros(3)
    vector[AXES[up[-1]]] = -1.0 if up[0] == "-" else 1.0
    return vector


def runs(in_contact: np.ndarray) -> list[tuple[int, int]]:
    """First frame and frame after the last of each contact."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], in_contact.astype(int), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


# The up axis


@pytest.mark.parametrize("up", UPS)
def test_up_axis_heights_and_extent(up: Up) -> None:
    points = np.array([0.5, -2.0, 3.0])[:, None] * along(up)
    assert kinematics.heights_above(points, up).tolist() == [0.5, -2.0, 3.0]
    assert kinematics.vertical_extent(points, up) == 5.0


@pytest.mark.parametrize("up", UPS)
def test_dominant_up(up: Up) -> None:
    rng = np.random.default_rng(1)
    below = rng.normal(size=(50, 3))
    above = below + 10 * along(up) + rng.normal(size=(50, 3))
    above[:20] = below[:20] - 10 * along(up)  # on the head for less than half the time
    assert kinematics.dominant_up(below, above) == up


@pytest.mark.parametrize("direction", [(0, 0, 0), (1, 1, 0), (1, -1, 1)])
def test_no_dominant_up(direction: tuple[int, int, int]) -> None:
    assert kinematics.dominant_up(np.zeros((5, 3)), np.tile(np.array(direction, float), (5, 1))) is None


def test_is_upright() -> None:
    t_pose = np.array([[0, 0, 0], [0, 17, 0], [8.5, 14, 0], [-8.5, 14, 0.0]])
    assert kinematics.is_upright(t_pose, "Y")
    assert kinematics.is_upright(t_pose, "X")  # arms as wide as the figure is tall
    assert not kinematics.is_upright(t_pose, "Z")
    assert not kinematics.is_upright(np.zeros((4, 3)), "Y")


def figure(rest_up: Up) -> Skeleton:
    """Hips, head and two feet, drawn standing along one axis without arms."""
    up = along(rest_up)
    side = np.roll(up, 1)
    offsets = [0 * up, 0.8 * up, 0.1 * side - 0.9 * up, -0.1 * side - 0.9 * up]
    return Skeleton(("Hips", "Head", "LeftFoot", "RightFoot"), np.array([-1, 0, 0, 0]), np.array(offsets))


def turn(a: Floats, b: Floats) -> Floats:
    """Return the quaternion that rotates unit vector a to b, which is perpendicular to it or the same."""
    if np.allclose(a, b):
        return np.array([1.0, 0, 0, 0])
    return np.concatenate(([np.sqrt(0.5)], np.sqrt(0.5) * np.cross(a, b)))


def up_of(rest_up: Up, head_to: Floats, hips: Floats) -> Up:
    skeleton = figure(rest_up)
    translations = np.tile(skeleton.offsets, (20, 1, 1))
    translations[:, 0] = hips
    rotations = np.zeros((20, 4, 4))
    rotations[..., 0] = 1.0
    rotations[:, 0] = turn(along(rest_up), head_to)
    return find_up(skeleton, translations, rotations)


@pytest.mark.parametrize("up", ["X", "Y", "Z"])
def test_up_of_a_figure_that_stands_as_it_is_drawn(up: Up) -> None:
    assert up_of(up, along(up), np.array([3.0, -40.0, 7.0])) == up


def test_up_of_a_figure_turned_by_its_root_onto_the_floor_at_zero() -> None:
    assert up_of("Y", along("Z"), np.array([5.0, 3.0, 0.93])) == "Z"


def test_up_of_a_figure_that_lies() -> None:
    assert up_of("Y", along("Z"), np.array([0.0, 0.2, 5.0])) == "Y"
    assert up_of("Z", along("X"), np.array([-5.0, 0.2, 0.1])) == "Z"


def test_up_of_non_figures_is_the_default() -> None:
    skeleton = Skeleton(("base", "child"), np.array([-1, 0]), np.array([[0, 0, 0], [1.0, 0, 0]]))
    rotations = np.tile([1.0, 0, 0, 0], (3, 2, 1))
    assert find_up(skeleton, np.tile(skeleton.offsets, (3, 1, 1)), rotations, default="Z") == "Z"


# Height


@pytest.mark.parametrize("up", UPS)
def test_height_of_an_upright_rest_pose(up: Up) -> None:
    skeleton = figure(up)
    motion = kp.Motion("lies", skeleton, 30, skeleton.offsets[None], np.tile([1.0, 0, 0, 0], (1, 4, 1)), up=up)
    assert motion.height == pytest.approx(1.7)
    assert motion.mm_per_unit == pytest.approx(1000.0)


def test_height_over_the_frames_where_the_rest_pose_lies() -> None:
    skeleton = figure("Y")
    bent = np.tile(skeleton.offsets, (101, 1, 1))
    bent[:, 1] *= np.linspace(0, 1, 101)[:, None]  # the head rises from the hips to its position
    rotations = np.tile([1.0, 0, 0, 0], (101, 4, 1))
    rotations[:, 0] = turn(along("Y"), along("Z"))
    motion = kp.Motion("rises", skeleton, 30, bent, rotations, up="Z")
    assert motion.height == pytest.approx(0.9 + 0.8 * 0.95)


# Ground contacts


def naive_contacts(feet: Floats, fps: float, up: Up, metres_per_unit: float) -> list[list[bool]]:
    """The slow obvious twin: frame by frame, then gap by gap, then contact by contact."""
    frames, count, points, _ = feet.shape
    axis, sign = AXES[up[-1]], -1.0 if up[0] == "-" else 1.0

    def place(t: int, f: int, p: int) -> Floats:
        return feet[t, f, p] * metres_per_unit

    def height(t: int, f: int, p: int) -> float:
        return float(sign * place(t, f, p)[axis])

    def speed(t: int, f: int, p: int) -> float:
        before, after = max(t - 1, 0), min(t + 1, frames - 1)
        if before == after:
            return 0.0
        distance = np.linalg.norm(place(after, f, p) - place(before, f, p))
        return float(distance / ((after - before) / fps))

    floor = np.percentile(
        [min(height(t, f, p) for f in range(count) for p in range(points)) for t in range(frames)], 5.0
    )
    result = []
    for f in range(count):
        down = [
            any(height(t, f, p) - floor < 0.08 and speed(t, f, p) < 0.25 for p in range(points)) for t in range(frames)
        ]
        lifted = [t for t in range(frames) if not down[t]]
        for t in lifted:  # a gap is closed if contacts on both sides of it are less than 0.05 s apart
            before = [s for s in range(t) if s not in lifted]
            after = [s for s in range(t, frames) if s not in lifted]
            down[t] = bool(before and after) and round((after[0] - before[-1] - 1) / fps, 6) < 0.05
        long_enough = list(down)
        for t in range(frames):
            first = last = t
            while down[t] and first > 0 and down[first - 1]:
                first -= 1
            while down[t] and last < frames - 1 and down[last + 1]:
                last += 1
            long_enough[t] = down[t] and round((last - first + 1) / fps, 6) >= 0.1
        result.append(long_enough)
    return np.array(result).T.tolist()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 80),
    points=st.integers(1, 2),
    fps=st.sampled_from([30.0, 60.0, 120.0, 1 / 0.0083333]),
    up=st.sampled_from(UPS),
)
def test_contacts_agree_with_the_slow_twin(seed: int, frames: int, points: int, fps: float, up: Up) -> None:
    rng = np.random.default_rng(seed)
    # Feet that stand and jump alternately, with noise of about the speed limit.
    lifted = np.repeat(rng.random((frames, 2)) < 0.4, rng.integers(1, 12), axis=0)[:frames]
    feet = rng.normal(scale=0.07 / fps, size=(frames, 2, points, 3)).cumsum(axis=0)
    feet += lifted[:, :, None, None] * rng.uniform(0, 0.3) * along(up)
    got = kinematics.find_ground_contacts(feet * 20, fps, up, 1 / 20)
    assert got.tolist() == naive_contacts(feet * 20, fps, up, 1 / 20)


def steps(lifted: list[tuple[int, int]], frames: int, fps: float = 120.0) -> list[tuple[int, int]]:
    """Return the contacts of one foot that stands except in some spans of frames."""
    feet = np.zeros((frames, 1, 1, 3))
    for start, end in lifted:
        feet[start:end, ..., 1] = 1.0
    in_contact = kinematics.find_ground_contacts(feet, fps, "Y", 1.0)
    return runs(in_contact[:, 0])


@pytest.mark.parametrize("fps", [120.0, 1 / 0.0083333])
def test_short_gaps_are_closed_and_short_contacts_dropped(fps: float) -> None:
    # A jump of one frame also affects the speed of its two neighbours: a gap of n + 2 frames.
    assert steps([(50, 53)], 100, fps) == [(0, 100)]  # 5 frames, 42 ms
    assert steps([(50, 54)], 100, fps) == [(0, 49), (55, 100)]  # 6 frames, 50 ms
    assert steps([(30, 40), (54, 60)], 100, fps) == [(0, 29), (41, 53), (61, 100)]  # 12 frames stand, 100 ms
    assert steps([(30, 40), (53, 60)], 100, fps) == [(0, 29), (61, 100)]  # 11 frames
    assert steps([(0, 3)], 100, fps) == [(4, 100)]  # before the first contact there is no gap to close


def test_a_slide_and_a_hovering_foot_are_no_contact() -> None:
    feet = np.zeros((120, 2, 1, 3))
    feet[:, 0, 0, 0] = np.arange(120) / 120 * 0.3  # slides at 0.3 m/s
    feet[:, 1, 0, 1] = 0.1  # hovers
    assert not kinematics.find_ground_contacts(feet, 120.0, "Y", 1.0).any()
    assert kinematics.find_ground_contacts(feet, 120.0, "Y", 0.75).all()  # a smaller figure: 0.225 m/s and 0.075 m


def test_the_toe_alone_is_enough() -> None:
    feet = np.zeros((60, 1, 2, 3))
    feet[:, 0, 0, 1] = 0.1 + np.arange(60) / 60  # the heel rises
    assert kinematics.find_ground_contacts(feet, 60.0, "Y", 1.0).all()


@pytest.mark.data
def test_a_real_walk_alternates_left_and_right(data_dir: Path) -> None:
    for clip, rate in (("cmu120/07_05_walk", 1.0), ("formats/bvh/motionbuilder_root-offset_8walk", 1.5)):
        motion = kp.load(data_dir / f"{clip}.bvh")
        contacts = motion.foot_contacts()
        assert contacts.feet == ("left", "right")
        steps_of = [(*run, k) for k in (0, 1) for run in runs(contacts.in_contact[:, k])]
        order = [foot for _, _, foot in sorted(steps_of)]
        assert len(order) >= 5, clip
        assert all(a != b for a, b in pairwise(order)), clip
        full = [end - start for start, end, _ in sorted(steps_of)[1:-1]]
        assert all(0.3 * motion.fps / rate < frames < 1.0 * motion.fps for frames in full), clip


@pytest.mark.data
def test_heights_of_cmu_figures(data_dir: Path) -> None:
    for file in (data_dir / "cmu120").glob("*.bvh"):
        assert 62.5 < kp.load(file).mm_per_unit < 68.0, file.name
