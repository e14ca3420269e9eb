"""Ends of travel: peaks and reversals of made curves, extremes of figures, marks of keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import find_peaks
from keypose.extremes import (
    NEAR_S,
    Extreme,
    TravelEnd,
    find_extremes,
    find_nearest,
    find_reversals,
    find_travel_ends,
    mark_extremes,
)


def naive_peaks(values, min_prominence: float) -> list[tuple[int, float]]:
    """Follow the values: a low, then a high that is enough above it, then a low that is enough below that."""
    peaks, low, high = [], 0, None
    lows = []
    for frame in range(len(values)):
        if high is None:
            low = frame if values[frame] < values[low] else low
            high = frame if values[frame] - values[low] >= min_prominence else None
        elif values[frame] > values[high]:
            high = frame
        elif values[high] - values[frame] >= min_prominence:
            peaks.append(high)
            lows.append(low)
            low, high = frame, None
    lows.append(low)
    return [
        (peak, min(values[peak] - values[before], values[peak] - values[after]))
        for peak, before, after in zip(peaks, lows, lows[1:], strict=False)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_peaks_are_those_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(np.cumsum(rng.normal(size=rng.integers(1, 120))), 1)  # with equal neighbours
    for prominence in (0.1, 1.0, 3.0):
        expected = naive_peaks(values, prominence)
        peaks = find_peaks(values, prominence)
        assert [frame for frame, _ in peaks] == [frame for frame, _ in expected]
        np.testing.assert_allclose([size for _, size in peaks], [size for _, size in expected])


def test_peaks_need_a_rise_and_a_fall() -> None:
    assert find_peaks(np.array([3.0, 2, 1, 0]), 1.0) == find_peaks(np.array([0.0, 1, 2, 3]), 1.0) == []
    assert find_peaks(np.array([0.0, 2, 2, 2, 0.5]), 1.0) == [(1, 1.5)]
    assert find_peaks(np.array([0.0, 2, 1.5, 2, 0]), 1.0) == [(1, 2.0)]  # a dip of half a unit is no end
    assert find_peaks(np.zeros(1), 1.0) == find_peaks(np.zeros(5), 1.0) == []


def test_noise_does_not_add_peaks() -> None:
    smooth = np.sin(np.linspace(0, 6 * np.pi, 361))
    noisy = smooth + np.random.default_rng(0).normal(scale=0.02, size=361)
    peaks = [frame for frame, _ in find_peaks(noisy, 0.3)]
    assert len(peaks) == 3 and np.abs(np.array(peaks) - (30, 150, 270)).max() <= 8


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_path_reverses_where_it_turns_back(fps: float) -> None:
    times = np.arange(round(2 * fps)) / fps
    there_and_back = 0.5 * np.sin(2 * np.pi * times)  # turns at 0.25, 0.75, 1.25, 1.75 s
    path = np.stack([there_and_back, 0.3 * there_and_back, np.zeros_like(times)], axis=1)
    reversals = find_reversals(path, fps)
    np.testing.assert_allclose([frame / fps for frame, _ in reversals], (0.25, 0.75, 1.25, 1.75), atol=0.51 / fps)
    assert all(0.12 < size < 0.25 for _, size in reversals)
    assert find_reversals(path / 5, fps) == []  # too small
    ahead = path + np.multiply.outer(times, (0, 0, 5.0))  # swings on its way ahead, but does not turn back
    assert find_reversals(ahead, fps) == [] == find_reversals(path[:3], fps)


def walk() -> tuple[kp.Motion, np.ndarray]:
    """Return the steps of the demo motion and the frames in which its ankles are farthest apart."""
    motion = kp.demo_motion(fps=60.0)
    ankles = motion.world_positions()[:, [motion.joint("left_foot"), motion.joint("right_foot")]]
    apart = np.hypot(*(ankles[:, 0] - ankles[:, 1])[:, [0, 2]].T) * motion.mm_per_unit / 1000
    return motion, np.array([frame for frame, _ in find_peaks(apart.round(4), 0.15)])


def test_steps_are_extremes_and_passing_poses_are_not() -> None:
    motion, apart = walk()
    extremes = find_extremes(motion)
    frames = np.array([extreme.frame for extreme in extremes])
    steps = [extreme for extreme in extremes if extreme.travel_ends[0].kind == "step"]
    assert len(apart) >= 4 and {extreme.frame for extreme in steps} <= set(apart.tolist())
    nearest = np.abs(np.subtract.outer(apart, frames)).min(axis=1)
    assert nearest.max() <= NEAR_S * motion.fps  # where a more prominent part ends its travel, it counts
    assert frames.tolist() == sorted(frames.tolist()) and {"reach", "high"} <= {
        end.kind for extreme in extremes for end in extreme.travel_ends
    }


def test_extremes_combine_what_happens_together() -> None:
    motion, _ = walk()
    ends, extremes = find_travel_ends(motion), find_extremes(motion)
    members = [end for extreme in extremes for end in extreme.travel_ends]
    assert sorted(members) == sorted(ends) and len(extremes) < len(ends)
    for extreme in extremes:
        first, *others = extreme.travel_ends
        assert (first.frame, first.prominence_m) == (extreme.frame, extreme.prominence_m)
        assert all(other.prominence_m <= first.prominence_m for other in others)
        for other in others:
            limit_s = 0.15 if first.kind == "step" and other.body_part.endswith("_foot") else NEAR_S
            assert abs(other.frame - first.frame) <= limit_s * motion.fps
    assert all(0 < end.frame < motion.n_frames - 1 for end in ends)


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
def test_extremes_do_not_depend_on_the_frame_rate(fps: float) -> None:
    at_60, at_fps = (find_extremes(kp.demo_motion(fps=rate)) for rate in (60.0, fps))
    strong = [extreme.frame / 60.0 for extreme in at_60 if extreme.prominence_m >= 0.3]
    times = np.array([extreme.frame / fps for extreme in at_fps])
    assert len(strong) > 5
    assert np.mean([np.abs(times - each).min() <= NEAR_S + 0.5 / fps for each in strong]) > 0.9


def test_units_and_up_axis_do_not_matter() -> None:
    motion = kp.demo_motion(fps=60)
    skeleton = replace(
        motion.skeleton, offsets=motion.skeleton.offsets * 40, end_offsets=motion.skeleton.end_offsets * 40
    )
    large = replace(motion, skeleton=skeleton, translations=motion.translations * 40, reference_pose=None)
    assert [end[:3] for end in find_travel_ends(large)] == [end[:3] for end in find_travel_ends(motion)]


def test_a_figure_without_limbs_reverses_as_a_whole() -> None:
    skeleton = kp.Skeleton(("a", "b", "c"), [-1, -1, -1], np.zeros((3, 3)))
    times = np.arange(121) / 60.0
    translations = np.broadcast_to([[0.0, 0, 0], [0, 1.0, 0], [0, 1.7, 0]], (121, 3, 3)).copy()
    translations[:, :, 0] += 0.5 * np.sin(2 * np.pi * times)[:, None]
    markers = kp.Motion("markers", skeleton, 60.0, translations, np.tile([1.0, 0, 0, 0], (121, 3, 1)))
    assert [(end.frame, end.kind, end.body_part) for end in find_travel_ends(markers)] == [
        (frame, "reversal", "body") for frame in (15, 45, 75, 105)
    ]
    still = replace(markers, translations=np.zeros((121, 3, 3)))
    assert still.height == 0 and find_extremes(still) == ()
    assert find_extremes(markers[:1]) == ()


def extreme(frame: int, *others: int) -> Extreme:
    ends = tuple(TravelEnd(each, "reach", "left_hand", 0.5) for each in (frame, *others))
    return Extreme(frame, 0.5, ends)


@pytest.mark.parametrize(
    ("keys", "extremes", "marked"),
    [
        ([0, 10, 20, 30], [], [0, 30]),
        ([0, 10, 20, 30], [extreme(20)], [0, 20, 30]),
        ([0, 10, 20, 30], [extreme(22)], [0, 20, 30]),  # within 0.07 s, and no key is closer
        ([0, 10, 20, 21, 30], [extreme(22)], [0, 21, 30]),
        ([0, 10, 20, 21, 30], [extreme(23, 20)], [0, 20, 21, 30]),  # of another part
        ([0, 10, 19, 30], [extreme(22)], [0, 30]),  # 0.1 s away
        ([0], [extreme(0)], [0]),
    ],
)
def test_keys_are_marked(keys: list[int], extremes: list[Extreme], marked: list[int]) -> None:
    flags = mark_extremes(np.array(keys, np.int32), extremes, 30.0)
    assert np.array(keys)[flags].tolist() == marked


def test_the_nearest_of_two_is_the_first() -> None:
    values = np.array([2, 6, 7], np.int32)
    assert find_nearest(values, np.array([0, 2, 4, 5, 9])).tolist() == [0, 0, 0, 1, 2]
    assert find_nearest(values[:1], np.array([0, 9])).tolist() == [0, 0]


@pytest.mark.data
def test_kicks_of_a_real_clip_have_extremes(data_dir) -> None:
    motion = kp.load(data_dir / "cmu30" / "ball_kick" / "135_07.bvh")
    hips, feet = (motion.world_positions()[:, list(motion.joints(name))] for name in ("hips", "feet"))
    reach = np.hypot(*(feet - hips[:, :1])[..., [0, 2]].max(axis=1).T) * motion.mm_per_unit / 1000
    kicks = [frame for frame, _ in find_peaks(reach, 0.4)]
    frames = np.array([each.frame for each in find_extremes(motion)])
    assert kicks and np.abs(np.subtract.outer(kicks, frames)).min(axis=1).max() <= NEAR_S * motion.fps + 1
