from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features, natural_spline
from keypose.methods.refine import METHOD, curve, rank_frames, refine, refine_table
from keypose.methods.refine.curve import (
    RefineOptions,
    find_curve_keys,
    find_extrema,
    find_straight_sections,
    reduce_keys,
)
from keypose.model import Column, Features
from reference import naive
from support.errors import raises

RULES = RefineOptions(threshold=0.13, min_range=0.25, straight_range=0.01, straight_frames=5, prominence=0.05, jump=0.5)
OPTIONS = asdict(RULES)


def a_curve(rng, frames):
    """Return smooth movement with holds, some noise and occasional spikes."""
    speed = rng.normal(size=frames) * np.repeat(rng.integers(0, 2, frames // 8 + 1), 8)[:frames]
    y = np.convolve(speed.cumsum(), np.ones(3) / 3, mode="same") + rng.normal(size=frames) * rng.choice([0, 0.003, 0.3])
    if rng.random() < 0.3:
        y[rng.integers(frames)] += 10 * np.ptp(y)
    return y * 10 ** rng.uniform(-3, 3) + rng.normal() * 100


def demo_features():
    return compute_features(kp.demo_motion().at_fps(30), "euler", "body")


# Steps of the method against their slow twins


def test_straight_sections_and_extrema_as_the_slow_twins_find_them():
    rng = np.random.default_rng(1)
    for _ in range(300):
        rows, frames = int(rng.integers(1, 4)), int(rng.integers(2, 60))
        curves = rng.normal(size=(rows, frames)).cumsum(axis=1)
        if rng.random() < 0.5:
            curves = np.round(curves)  # plateaus and ties
        bound, min_frames = rng.choice([0.0, 0.5, 1.0, 3.0]), int(rng.integers(2, 8))
        sections = [(c, s, e) for c in range(rows) for s, e in naive.refine_sections(curves[c], bound, min_frames)]
        assert find_straight_sections(curves, bound, min_frames) == sections
        tops = [c * frames + t for c in range(rows) for t in naive.refine_extrema(curves[c], bound)]
        assert find_extrema(curves, bound).tolist() == tops


def test_keys_of_curves_as_the_slow_twin_finds_them():
    rng = np.random.default_rng(2)
    for _ in range(60):
        frames = int(rng.integers(4, 90))
        values = np.stack([a_curve(rng, frames) for _ in range(3)], axis=1)
        options = OPTIONS if rng.random() < 0.5 else {
            "threshold": rng.uniform(0, 0.5), "min_range": rng.uniform(0, 0.5), "straight_range": rng.uniform(0, 0.1),
            "straight_frames": int(rng.integers(4, 9)), "prominence": rng.uniform(0, 0.5), "jump": rng.uniform(0.1, 1),
        }  # fmt: skip
        keys, fixed = find_curve_keys(values, RefineOptions(**options))
        for d in range(3):
            twin_keys, twin_fixed, _ = naive.refine_curve(values[:, d].tolist(), **options)
            assert set(np.flatnonzero(keys[d])) == twin_keys
            assert set(np.flatnonzero(fixed[d])) == twin_fixed


def test_blocks_of_curves_change_nothing(monkeypatch):
    values = np.stack([a_curve(np.random.default_rng(seed), 200) for seed in range(9)], axis=1)
    together = find_curve_keys(values, RULES)
    monkeypatch.setattr(curve, "BLOCK_VALUES", 401)
    for single, other in zip(together, find_curve_keys(values, RULES), strict=True):
        assert np.array_equal(single, other)


def test_reduction_as_the_slow_twin_does_it():
    rng = np.random.default_rng(3)
    for _ in range(500):
        frames = int(rng.integers(2, 40))
        keys = rng.random(frames) < rng.random()
        fixed = keys & (rng.random(frames) < rng.random())
        keys[[0, -1]] = fixed[[0, -1]] = True
        twin = naive.refine_reduce(set(np.flatnonzero(keys)), set(np.flatnonzero(fixed)))
        assert np.flatnonzero(reduce_keys(keys, fixed)).tolist() == twin


def test_reduction_by_hand():
    keys, fixed = np.zeros(34, bool), np.zeros(34, bool)
    keys[[0, 3, 4, 5, 6, 9, 10, 11, 14, 15, 18, 19, 22, 23, 24, 26, 27, 29, 31, 32, 33]] = True
    fixed[[0, 9, 11, 18, 23, 33]] = True
    # A run of four loses its second; a middle between two fixed goes, a fixed middle stays; of a pair the later stays,
    # but not where one of the two is fixed.
    left = [0, 3, 5, 6, 9, 11, 15, 18, 19, 22, 23, 24, 27, 29, 31, 33]
    assert np.flatnonzero(reduce_keys(keys, fixed)).tolist() == left


def test_ranking_as_the_slow_twin_finds_it():
    rng = np.random.default_rng(4)
    for case in range(150):
        frames = int(rng.integers(2, 50))
        values = rng.normal(size=(frames, 2)).cumsum(axis=0)
        if case % 3 == 0:
            values = np.exp(np.arange(frames) * rng.uniform(0.1, 3))[:, None] * [1.0, 0.5]  # one-sided: many rounds
        if case % 7 == 0:
            values = np.round(values / values.std() if values.std() else values)
        keys = rng.random(frames) < rng.random()
        keys[[0, -1]] = True
        order, off = rank_frames(values, keys)
        twin_order, twin_off = naive.refine_ranking(values, set(np.flatnonzero(keys)))
        assert order.tolist() == twin_order
        np.testing.assert_allclose(off, twin_off)


# Properties of the method


def test_before_reduction_the_spline_stays_within_the_threshold():
    features = demo_features()
    keys, _ = find_curve_keys(features.values, RULES)
    frames = np.arange(features.n_frames)
    checked = 0
    for d, y in enumerate(features.values.T):
        if np.ptp(y) < 1e-6:
            continue
        at = np.flatnonzero(keys[d])
        off = np.abs(natural_spline(at, y[at], frames) - y)
        sections = naive.refine_sections((y - y.min()) / np.ptp(y), 0.01, 5)
        straight = {t for s, e in sections for t in range(s + 1, e)}
        for i in range(1, len(at)):
            inside = [t for t in range(at[i - 1] + 1, at[i]) if t not in straight]
            if inside:
                checked += len(inside)
                assert off[inside].max() <= 0.13 * max(np.ptp(y[inside]), 0.25 * np.ptp(y)) + 1e-9 * np.ptp(y)
    assert checked > 1000


def test_a_lower_threshold_follows_more_closely():
    y = a_curve(np.random.default_rng(7), 400)
    strict = RefineOptions(**{**OPTIONS, "threshold": 0.02})
    counts, errors = [], []
    for rules in (RULES, strict):
        at = np.flatnonzero(find_curve_keys(y[:, None], rules)[0][0])
        counts.append(len(at))
        errors.append(np.abs(natural_spline(at, y[at], np.arange(400)) - y).mean())
    assert counts[0] < counts[1]
    assert errors[1] < errors[0]


def test_fixed_frames_of_a_known_curve():
    """A hold, a bump, a hold, a spike of one frame."""
    y = np.zeros(60)
    y[20:31] = np.sin(np.linspace(0, np.pi, 11))
    y[45] = 1.0
    keys, fixed = find_curve_keys(y[:, None], RULES)
    assert np.flatnonzero(fixed[0]).tolist() == [0, 1, 19, 20, 25, 30, 31, 43, 44, 45, 46, 47, 58, 59]
    assert not (fixed & ~keys).any()
    assert not keys[0, 2:19].any()


def test_keys_do_not_depend_on_the_scale_of_a_curve():
    rng = np.random.default_rng(8)
    values = np.stack([a_curve(rng, 150) for _ in range(3)], axis=1)
    scaled = values * [4.0, 0.25, -2.0]
    assert np.array_equal(find_curve_keys(values, RULES)[0], find_curve_keys(scaled, RULES)[0])


def test_constants_far_from_zero_have_no_keys_of_noise():
    rng = np.random.default_rng(9)
    values = np.stack([180 + 1e-13 * rng.normal(size=100), 1e-14 * rng.normal(size=100), np.zeros(100)], axis=1)
    table = refine_table(Features(values, 30, tuple(Column("hip", axis) for axis in "xyz")))
    assert table.rows[0].keys_per_axis == (2, 2, 2)
    assert refine(Features(values, 30)).natural == 2


@pytest.mark.parametrize("fps", (10, 24, 25, 29.97, 30, 50, 59.94, 60, 100, 120))
def test_keys_at_any_rate_as_the_slow_twin_finds_them(fps):
    rng = np.random.default_rng(10)
    for n_frames in (1, 2, 3, 5, 40, 113):
        values = np.stack([a_curve(rng, max(n_frames, 4))[:n_frames] for _ in range(3)], axis=1)
        features = Features(values, fps, tuple(Column("hip", axis) for axis in "xyz"))
        frames, own = naive.refine_joint(values, fps, OPTIONS)
        ladder, row = refine(features), refine_table(features).rows[0]
        assert ladder.natural == len(frames)
        assert ladder.at(ladder.natural).frames.tolist() == list(row.key_frames) == frames
        assert frames[0] == 0
        assert frames[-1] == n_frames - 1
        assert row.keys == len(own)
        assert row.n_frames == len(naive.refine_samples(n_frames, fps))


@pytest.mark.parametrize("fps", (24, 25, 60, 120))
def test_the_same_movement_has_the_same_keys_at_other_rates(fps):
    pairs = list(zip(*(kp.refine_table(kp.demo_motion(rate)).rows for rate in (30, fps)), strict=True))
    if fps % 30 == 0:
        for slow, fast in pairs:
            assert [frame * fps // 30 for frame in slow.key_frames[:-1]] == list(fast.key_frames[:-1])
            assert slow._replace(key_frames=(), max_error_ratios=()) == fast._replace(
                key_frames=(), max_error_ratios=()
            )
        return
    distances_s = []
    for slow, other in pairs:
        assert len(other.key_frames) == pytest.approx(len(slow.key_frames), rel=0.2)
        own, others = np.array(slow.key_frames) / 30, np.array(other.key_frames) / fps
        distances_s.append(np.abs(others[:, None] - own).min(axis=0))
    assert (np.concatenate(distances_s) < 1.01 / 30).mean() > 0.95


def test_more_frames_a_second_are_not_more_keys():
    y = np.repeat(np.random.default_rng(10).permutation(10), 40)
    slow = refine_table(Features(y[::4, None], 30)).rows[0]
    fast = refine_table(Features(y[:, None], 120)).rows[0]
    assert slow.keys == fast.keys == 40  # ten holds, four points each
    assert slow.n_frames == fast.n_frames == 100
    assert [4 * frame for frame in slow.key_frames[:-1]] + [399] == list(fast.key_frames)
    for features in (Features(y[::4, None], 30), Features(y[:, None], 120)):
        assert refine_table(features, straight_s=0.33).rows[0].keys_per_axis == (40,)
        assert refine_table(features, straight_s=0.34).rows[0].keys_per_axis != (40,)


def test_too_many_frames_at_30_fps_are_an_error():
    with raises(OptionError, problem="would make 3e+10 frames: too many"):
        refine(Features(np.zeros((1_000_000, 1)), 0.001))


def test_the_natural_selection_is_the_union_over_joints():
    features = demo_features()
    ladder = refine(features, threshold=0.3, prominence=0.3, min_range=0.3)
    union = set()
    options = OPTIONS | {"threshold": 0.3, "prominence": 0.3, "min_range": 0.3}
    for columns in features.joints.values():
        keys, fixed = {0, features.n_frames - 1}, {0, features.n_frames - 1}
        for d in columns:
            if np.ptp(features.values[:, d]) > 1e-6:
                twin_keys, twin_fixed, _ = naive.refine_curve(features.values[:, d].tolist(), **options)
                keys, fixed = keys | twin_keys, fixed | twin_fixed
        union |= set(naive.refine_reduce(keys, fixed))
    assert ladder.natural == len(union)
    assert set(ladder.at(ladder.natural)) == union


def test_the_ladder_goes_from_the_ends_to_every_frame():
    features = demo_features()
    ladder = refine(features)
    assert ladder.counts.tolist() == list(range(2, features.n_frames + 1))
    assert ladder.at(2).frames.tolist() == [0, features.n_frames - 1]
    assert ladder.at(2).order.tolist() == [0, features.n_frames - 1]
    assert (np.diff(ladder.cost_values) <= 0).all()
    assert ladder.cost_values[-1] == 0
    short = refine(features, max_keys=10)
    assert short.counts[-1] == 10
    assert short.natural is None
    assert np.array_equal(short.at(10).frames, ladder.at(10).frames)


def test_few_keys_beat_even_spacing():
    """Largest error of linear in-betweens over all curves: order by importance against equal gaps."""
    features = demo_features()
    ladder, frames, values = refine(features), np.arange(features.n_frames), features.values

    def max_error(keys):
        return max(np.abs(np.interp(frames, keys, y[keys]) - y).max() for y in values.T)

    for count in (features.n_frames // 10, features.n_frames // 5):
        even = np.arange(count) * (features.n_frames - 1) // (count - 1)
        assert max_error(ladder.at(count).frames) < max_error(even)


def test_a_heavier_joint_comes_first():
    values = np.zeros((101, 2))
    values[:51, 0] = np.interp(np.arange(51), [0, 25, 50], [0, 1, 0])
    values[50:, 1] = np.interp(np.arange(51), [0, 25, 50], [0, 1, 0])
    assert refine(Features(values * [1, 2], 30)).at(3).order[2] == 75
    assert refine(Features(values * [2, 1], 30)).at(3).order[2] == 25
    assert 75 not in refine(Features(values * [1, 0], 30), max_keys=5).at(5)


@pytest.mark.parametrize("frames", (1, 2, 3, 4, 50))
def test_little_and_constant_features(frames):
    for values in (np.zeros((frames, 3)), np.full((frames, 2), 7.3), np.arange(frames)[:, None] * 0.1):
        ladder = refine(Features(values, 30), max_keys=1000)
        assert ladder.counts.tolist() == list(range(min(frames, 2), frames + 1))
        assert ladder.cost_values.max() < 1e-12
        assert len(refine_table(Features(values, 30)).rows) == values.shape[1]
        for selection in ladder:
            assert (np.diff(selection.frames) > 0).all()
    assert refine(Features(np.full((frames, 2), 7.3), 30)).natural == min(frames, 2)


def test_extreme_numbers_and_options():
    rng = np.random.default_rng(11)
    noise = rng.normal(size=(40, 2))
    for values in (noise * 1e14, noise * 1e-90, noise + 1e12):
        assert refine(Features(values, 30)).counts[-1] == 40
    for name, value in (("threshold", 1e308), ("straight_s", 1e308), ("jump", 1e308), ("straight_range", 1e308)):
        assert refine(Features(noise, 30), **{name: value}).counts[-1] == 40
    assert refine(Features(noise, 30), **dict.fromkeys(METHOD.options, 0)).natural == 40


@pytest.mark.parametrize("name", tuple(METHOD.options))
@pytest.mark.parametrize("value", (-0.1, float("nan"), float("inf"), "0.1", None))
def test_bad_option_errors_name_the_valid_range(name, value):
    for function in (refine, refine_table):
        with raises(OptionError, expected="a number of at least 0"):
            function(Features(np.zeros((5, 1)), 30), **{name: value})


def test_every_option_has_help():
    assert set(METHOD.options) == set(METHOD.options_help)


# The table


def test_table_has_the_columns_of_the_paper():
    values = np.stack([a_curve(np.random.default_rng(seed), 60) for seed in range(6)], axis=1)
    columns = tuple(Column(joint, axis) for joint in ("hip", "knee") for axis in "ZXY")
    table = refine_table(Features(values, 30, columns))
    keys, fixed = find_curve_keys(values, RULES)
    for row, own in zip(table.rows, (slice(0, 3), slice(3, 6)), strict=True):
        assert row.n_frames == 60
        assert row.keys_per_axis == tuple(keys[own].sum(axis=1))
        assert row.overlap == keys[own].any(axis=0).sum()
        assert row.keys == reduce_keys(keys[own].any(axis=0), fixed[own].any(axis=0)).sum()
        assert row.removed_ratio == 1 - row.keys / 60
    assert table.mean_keys == np.mean([row.keys for row in table.rows])
    assert table.mean_overlap_ratio == pytest.approx(table.mean_overlap / 60)
    assert table.mean_removed_ratio == pytest.approx(1 - table.mean_keys / 60)
    header, hip, knee, mean, errors = str(table).splitlines()
    assert header.split() == "joint frames keys per axis overlap keys removed max error".split()
    first = table.rows[0]
    axes = "/".join(map(str, first.keys_per_axis))
    worst = f"{max(first.max_error_ratios):.1%}"
    cells = [first.joint, "60", axes, str(first.overlap), str(first.keys), f"{first.removed_ratio:.1%}", worst]
    assert hip.split() == cells
    assert knee.startswith("knee")
    assert mean.split()[-1] == f"{table.mean_removed_ratio:.1%}"
    assert len({len(line) for line in (header, hip, knee)}) == 1
    assert len(mean) < len(header)
    assert errors == (
        f"largest error of a curve, as a share of its amplitude: median {table.median_error_ratio:.1%}, "
        f"at most {table.p90_error_ratio:.1%} for 90 % of the curves"
    )


@pytest.mark.parametrize("fps", (25, 30, 120))
def test_largest_errors_are_those_of_the_spline_through_the_keys(fps):
    values = np.stack([*(a_curve(np.random.default_rng(seed), 120) for seed in range(3)), np.full(120, 7.0)], axis=1)
    columns = tuple(Column(joint, axis) for joint in ("hip", "knee") for axis in "xy")
    table = refine_table(Features(values, fps, columns))
    errors = []
    for d, column in enumerate(columns[:3]):
        keys = list(table.rows[d // 2].key_frames)
        spline = naive.natural_spline(keys, values[keys, d], range(120))
        errors.append(np.abs(spline - values[:, d]).max() / np.ptp(values[:, d]))
        assert table.rows[d // 2].max_error_ratios["xy".index(column.channel)] == pytest.approx(errors[-1])
    assert table.rows[1].max_error_ratios[1] is None
    assert table.max_error_ratios == pytest.approx(tuple(errors))
    assert table.median_error_ratio == pytest.approx(sorted(errors)[1])
    assert table.p90_error_ratio == pytest.approx(0.2 * sorted(errors)[1] + 0.8 * sorted(errors)[2])
    still = refine_table(Features(np.zeros((9, 2)), fps))
    assert (still.max_error_ratios, still.median_error_ratio, still.p90_error_ratio) == ((), 0, 0)


def test_table_of_joints_with_unlike_numbers_of_axes():
    values = np.stack([a_curve(np.random.default_rng(seed), 60) for seed in range(3)], axis=1)
    table = refine_table(Features(values, 30, (Column("hip", "y"), Column("knee", "x"), Column("knee", "y"))))
    hip, knee = (row.keys_per_axis for row in table.rows)
    assert table.mean_keys_per_axis == ((hip[0] + knee[0]) / 2, knee[1])


# Speed


def test_rounds_grow_like_the_logarithm(monkeypatch):
    frames, rng = 1 << 14, np.random.default_rng(12)
    t = np.arange(frames) / frames
    hard = {
        "noise": rng.normal(size=frames),
        "walk": rng.normal(size=frames).cumsum(),
        "growth": np.exp(20 * t),
        "chirp": np.sin(1 / (t + 1e-4)),
        "step": (t > 0.5) * 1.0,
        "sawtooth": (t * 200) % 1,
        "root": np.sqrt(t),
    }
    rounds = [0]
    find_new_keys = curve._find_new_keys

    def count_round(*arguments):
        rounds[0] += 1
        return find_new_keys(*arguments)

    monkeypatch.setattr(curve, "_find_new_keys", count_round)
    strict = RefineOptions(**OPTIONS | {"threshold": 1e-4, "min_range": 1.0, "prominence": 2.0, "straight_range": 0.0})
    for name, y in hard.items():
        rounds[0] = 0
        find_curve_keys(y[:, None], strict)
        assert rounds[0] <= 3 * 14, name


def test_time_is_linear_in_the_frames():
    rng = np.random.default_rng(13)
    values = rng.normal(size=(1 << 15, 6)).cumsum(axis=0)

    def seconds(frames):
        features = Features(values[:frames], 30)
        durations = []
        for _ in range(3):
            start = time.process_time()
            refine(features)
            durations.append(time.process_time() - start)
        return min(durations)

    assert seconds(1 << 15) < 8 * seconds(1 << 13)  # four times the frames; sixteen if it were quadratic
