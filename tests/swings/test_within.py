"""The smallest swings within a bound, and sweeps of the threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.api.swings import levers_mm, mean_sweep, sweep, swings_within
from keypose.metrics import position_errors_mm
from keypose.rotations import angle_between
from keypose.swings.codec import pack, unpack
from support.errors import Pattern, raises

CLIPS = ["swings/09_02", "49_06_cartwheel"]


@pytest.fixture(scope="module", params=CLIPS)
def clip(request, data_dir) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / f"{request.param}.bvh").at_fps(60)[:160]


def largest_deg(motion: kp.Motion, other: kp.Motion) -> float:
    return float(np.rad2deg(angle_between(motion.rotations, other.rotations)).max())


def largest_mm(motion: kp.Motion, other: kp.Motion) -> float:
    return float(position_errors_mm(motion, other).max())


@pytest.mark.data
def test_rotations_stay_within_degrees_after_packing(clip):
    sizes = []
    for bound in (0.3, 2.0, 8.0):
        swings = swings_within(clip, max_deg=bound, thresholds=(0.3, 0.5))
        assert 0.9 * bound < largest_deg(clip, swings.play()) <= bound
        data = pack(swings)
        assert largest_deg(clip, unpack(data).play()) <= bound
        assert swings.settings.fallback == "keys" and swings.settings.fallback_deg == bound
        sizes.append(len(data))
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 1.2 * sizes[-1]
    assert swings.n_swings > 0


@pytest.mark.data
def test_positions_stay_within_millimetres_after_packing(clip):
    sizes = []
    for bound in (3.0, 20.0, 80.0):
        swings = swings_within(clip, max_mm=bound, thresholds=(0.3, 0.5))
        assert 0.7 * bound < largest_mm(clip, swings.play()) <= bound
        data = pack(swings)
        assert largest_mm(clip, unpack(data).play()) <= bound
        assert swings.settings.translation_mm < bound
        sizes.append(len(data))
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 1.2 * sizes[-1]


@pytest.mark.data
def test_the_smallest_of_the_thresholds_is_taken(clip):
    thresholds = (0.2, 0.4, 1.0)
    sizes = [len(pack(swings_within(clip, max_deg=3.0, thresholds=(value,)))) for value in thresholds]
    swings = swings_within(clip, max_deg=3.0, thresholds=thresholds)
    assert len(pack(swings)) == min(sizes) < max(sizes)
    assert swings.settings.threshold == thresholds[sizes.index(min(sizes))]


@pytest.mark.data
def test_options_of_swings_are_accepted(clip):
    options = {"metric": "cosine", "min_duration_s": 0.2, "left_out": ["head"], "translation_mm": 0.5}
    swings = swings_within(clip, max_deg=4.0, thresholds=(0.3,), **options)
    plain = kp.swings(clip, 0.3, fallback="keys", fallback_deg=4.0, **options)
    assert swings.settings == plain.settings
    head = clip.skeleton.joint("head")
    assert [j for j in range(clip.n_joints) if swings.is_left_out(j)] == [head]
    assert swings.settings.left_out == (clip.skeleton.names[head],)
    for mine, theirs in zip(swings.paths, plain.paths, strict=True):
        np.testing.assert_array_equal(mine.keys, theirs.keys)


@pytest.mark.data
def test_a_tiny_bound_adds_keys_and_leaves_out_no_joint(data_dir):
    motion = kp.load(data_dir / "cmu120" / "swings" / "16_02.bvh")[:120]
    swings, plain = swings_within(motion, max_deg=0.001), kp.swings(motion)
    raw = [j for j, track in enumerate(swings.tracks) if track.is_raw(120)]
    out = [j for j in range(motion.n_joints) if swings.is_left_out(j)]
    assert len(raw) > 2 * len(out) and motion.skeleton.joint("hips") in set(raw) - set(out)
    assert [motion.skeleton.names[j] for j in out] == list(plain.settings.left_out) == list(swings.settings.left_out)
    assert [row.left_out for row in swings.timeline().rows] == [row.left_out for row in plain.timeline().rows]
    assert swings.n_keys == sum(track.n_keys for j, track in enumerate(swings.tracks) if j not in out)
    assert swings.size().left_out == plain.size().left_out
    (row,) = sweep(motion, (0.4,), fallback="keys", fallback_deg=0.001)
    assert row.n_keys == swings.n_keys


@pytest.mark.data
def test_a_sweep_matches_swings_at_each_threshold(clip):
    rows = sweep(clip, (0.0, 0.4, 2.0))
    for row in rows:
        swings = kp.swings(clip, row.threshold)
        assert (row.error_deg, row.n_swings, row.bytes) == (swings.error(clip), swings.n_swings, len(pack(swings)))
        assert row.n_keys == 0
    assert len(rows) == 3 and rows.min_error.threshold == 0.4
    keyed = sweep(clip, (0.0, 0.4, 2.0), fallback="keys", fallback_deg=3.0)
    for before, after in zip(rows, keyed, strict=True):
        swings = kp.swings(clip, after.threshold, fallback="keys", fallback_deg=3.0)
        assert after.error_deg == swings.error(clip) < before.error_deg
        assert after.n_keys > 0


def test_levers_are_the_lengths_of_the_longest_chains():
    offsets = np.array([[0, 0, 0], [0, 10, 0], [0, 0, 30], [5, 0, 0], [0, 40, 0]], float)
    skeleton = kp.Skeleton(
        names=("a", "b", "c", "d", "e"),
        parents=np.array([-1, 0, 1, 0, 3], np.int32),
        offsets=offsets,
        end_offsets=np.array([[0, 5.0, 0]]),
        end_joints=np.array([2], np.int32),
    )
    rotations = np.tile(np.array((1.0, 0, 0, 0)), (2, 5, 1))
    motion = kp.Motion(
        name="x", skeleton=skeleton, fps=30.0, translations=np.tile(offsets, (2, 1, 1)), rotations=rotations
    )
    lengths = np.array([45.0, 35.0, 5.0, 40.0, 0.0])
    np.testing.assert_allclose(levers_mm(motion), np.maximum(lengths * motion.mm_per_unit, 50.0))


def test_bad_arguments_are_rejected():
    motion = kp.demo_motion()[:60]
    bound = Pattern("^one bound: max_deg= .* or max_mm= ")
    with raises(kp.OptionError, code="missing_argument", expected=bound):
        swings_within(motion)
    with raises(kp.OptionError, code="conflicting_options", expected=bound):
        swings_within(motion, max_deg=1.0, max_mm=1.0)
    for name in ("max_deg", "max_mm"):
        for nonsense in (0, -3.0, float("inf"), "5", 1e308):
            with raises(kp.OptionError, option=name, value=nonsense):
                swings_within(motion, **{name: nonsense})
        with raises(kp.OptionError, hint="give a larger bound"):
            swings_within(motion, **{name: 1e-16}, thresholds=(0.4,))
        with raises(kp.OptionError, option="thresholds"):
            swings_within(motion, **{name: 5.0}, thresholds=())
        with raises(kp.OptionError, option="thresholds", value=-1.0, expected="a number from 0 to 3.14159"):
            swings_within(motion, **{name: 5.0}, thresholds=(0.4, -1.0))
    with raises(kp.OptionError, option="translation_mm", value=2.0, expected=Pattern("^less than max_mm=2$")):
        swings_within(motion, max_mm=2.0, translation_mm=2.0)
    with raises(kp.OptionError, expected="a Motion, as kp.load gives it"):
        swings_within(kp.swings(motion), max_deg=1.0)
    with raises(kp.OptionError, option="fallback", value="splines"):
        sweep(motion, (0.4,), fallback="splines")
    with raises(kp.OptionError, option="fallback_deg", value=0.0):
        sweep(motion, (0.4,), fallback="keys", fallback_deg=0.0)


def test_a_figure_without_height_has_no_millimetres():
    motion = kp.demo_motion()[:30]
    flat = replace(
        motion,
        skeleton=replace(
            motion.skeleton, offsets=0 * motion.skeleton.offsets, end_offsets=0 * motion.skeleton.end_offsets
        ),
        translations=0 * motion.translations,
        reference_pose=None,
    )
    with raises(kp.OptionError, code="no_height"):
        swings_within(flat, max_mm=5.0)
    assert largest_deg(flat, swings_within(flat, max_deg=2.0).play()) <= 2.0


def test_one_threshold_may_stand_alone():
    motion = kp.demo_motion()[:60]
    assert sweep(motion, 0.4) == sweep(motion, np.float64(0.4)) == sweep(motion, (0.4,))
    alone, from_array = (swings_within(motion, max_deg=5, thresholds=some) for some in (0.4, np.array([0.4])))
    assert pack(alone) == pack(from_array)
    for wrong in (None, "0.4", True, {0.4: 1}, object()):
        for of in (lambda some: sweep(motion, some), lambda some: swings_within(motion, max_deg=5, thresholds=some)):
            with raises(kp.OptionError, option="thresholds"):
                of(wrong)


def test_the_widest_bounds_pack_and_unpack():
    motion = kp.demo_motion()[:60]
    for bounds in ({"max_deg": 180.0}, {"max_mm": 1e6}):
        swings = swings_within(motion, **bounds)
        assert unpack(pack(swings)).settings == swings.settings


def test_the_mean_of_sweeps_is_that_of_each_threshold():
    motion = kp.demo_motion()
    sweeps = [sweep(part, (0.2, 0.4)) for part in (motion[:60], motion[60:150], motion[150:200])]
    for n, row in enumerate(mean_sweep(sweeps)):
        for figure in ("threshold", "error_deg", "n_swings", "n_keys", "bytes"):
            assert getattr(row, figure) == pytest.approx(np.mean([getattr(part.rows[n], figure) for part in sweeps]))
    with raises(kp.OptionError, expected="the same ones for a mean"):
        mean_sweep([sweeps[0], sweep(motion[:60], 0.4)])
    with raises(kp.OptionError, expected="at least one"):
        mean_sweep([])
