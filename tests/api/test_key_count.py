"""Choosing the number of keys: tolerance, auto, contacts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import keypose as kp
from keypose.api.key_count import (
    FittedErrorMeasure,
    LadderErrorMeasure,
    LinearErrorMeasure,
    auto_tolerance,
    select_automatically,
)
from keypose.api.method_input import contact_frames
from keypose.api.selection_report import select_with_report
from keypose.arrays import runs
from keypose.curves import interpolate_linear
from keypose.curves.capture_faults import remove_flips
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Ladder
from support.errors import Pattern, raises
from support.flips import turn_over


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:200]


@pytest.mark.one_python
@pytest.mark.parametrize("method", ["salient", "simplify", "farthest", "uniform", "refine"])
@pytest.mark.parametrize("tolerance_mm", [0.0, 15.0, 80.0, 1e6])
def test_fewest_keys_within_a_tolerance(motion, method, tolerance_mm):
    """The result equals a search over every smaller number of keys."""
    part = motion[:80]
    chosen = kp.select(part, method, tolerance_mm=tolerance_mm)
    ladder = kp.ladder(part, method, max_keys=part.n_frames)
    errors = {len(each): kp.score(part, interpolate_linear(part, each.frames)).max_mm for each in ladder}
    assert errors[len(chosen)] <= tolerance_mm
    assert all(errors[count] > tolerance_mm for count in errors if count < len(chosen))


def test_a_span_is_measured_as_in_the_whole(motion):
    errors = LinearErrorMeasure(motion, 20, 150)
    for frames in ([20, 60, 149], [50, 51, 120], [70]):
        selection = kp.Selection(frames, motion.n_frames, "test")
        part = motion[20:150]
        score = kp.score(part, interpolate_linear(part, [frame - 20 for frame in frames]))
        scale = motion.mm_per_unit / part.mm_per_unit
        assert errors.max_error(selection) == pytest.approx(score.max_mm * scale)


def test_a_tolerance_in_a_range(motion):
    chosen = kp.select(motion, tolerance_mm=30.0, frames=(40, 140))
    assert chosen.frames[0] == 40 and chosen.frames[-1] == 139
    assert LinearErrorMeasure(motion, 40, 140).max_error(chosen) <= 30.0


def test_a_tolerance_that_cannot_be_met(motion):
    with raises(
        OptionError, problem="no selection of 2 to 4 keys stays within 1 mm", hint="with 4 keys it is 897.9 mm"
    ):
        kp.select(motion, tolerance_mm=1.0, max_keys=4)
    for wrong in (-1.0, float("nan"), float("inf"), "five", None.__class__):
        with raises(OptionError, option="tolerance_mm"):
            kp.select(motion, tolerance_mm=wrong)
    flat = dataclasses.replace(motion, translations=np.zeros_like(motion.translations))
    flat = dataclasses.replace(
        flat,
        skeleton=dataclasses.replace(
            flat.skeleton, offsets=np.zeros((motion.n_joints, 3)), end_offsets=np.zeros_like(flat.skeleton.end_offsets)
        ),
    )
    with raises(OptionError, code="no_height"):
        kp.select(flat, tolerance_mm=5.0)


def fitted_error_mm(motion: kp.Motion, frames: np.ndarray) -> float:
    return kp.score(motion, build_keyed_motion(motion, np.asarray(frames, np.int32))).max_mm


@pytest.mark.parametrize("frames", [[0, 60, 129], [0, 1, 100, 129], [30, 31, 80], [70]], ids=str)
def test_spans_have_the_error_of_fitted_curves(motion, frames):
    """Also where the pose of the first or last key is held."""
    part = motion[20:150]
    errors = FittedErrorMeasure.from_costs(compute_inbetween_costs(motion)[20:150], 20)
    selection = kp.Selection([20 + frame for frame in frames], motion.n_frames, "test")
    expected = fitted_error_mm(part, frames) * motion.mm_per_unit / part.mm_per_unit
    assert errors.max_error(selection) == pytest.approx(expected)
    ladder = Ladder.from_paths("test", motion.n_frames, [len(frames)], selection.frames, [1.0])
    assert errors.first_within(ladder, expected * 1.001) is not None
    assert errors.first_within(ladder, expected * 0.999) is None


@pytest.mark.one_python
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("salient", {"cost": "chord"}),
        ("salient", {"cost": "inbetween"}),
        ("farthest", {}),
        ("uniform", {}),
        ("refine", {}),
    ],
    ids=str,
)
def test_auto_takes_the_fewest_keys_within_one_percent_of_the_height(motion, method, options):
    """Compared with a search over every number of keys; a cliff may add up to a quarter."""
    ladder = kp.ladder(motion, method, max_keys=motion.n_frames, **options)
    chosen = kp.select(motion, method, auto=True, **options)
    errors = {len(each): fitted_error_mm(motion, each.frames) for each in ladder}
    fewest = min(count for count, error in errors.items() if error <= 17.0)
    assert errors[len(chosen)] <= 17.0
    cliffs = [cliff.keys for cliff in ladder.cliffs() if cliff.strength >= 0.25 and errors[cliff.keys] <= 17.0]
    within = [count for count in cliffs if fewest < count <= 1.25 * fewest]
    assert len(chosen) == (within[0] if within else fewest)


def test_auto_of_salient_measures_the_curves_that_its_number_depends_on(motion):
    chosen = kp.select(motion, auto=True)
    assert chosen.frames.tolist() == kp.select(motion, auto=True, cost="inbetween").frames.tolist()
    assert len(chosen) < len(kp.select(motion, auto=True, cost="chord"))
    assert abs(len(chosen) - kp.unbake(motion).n_keys) <= 0.1 * len(chosen)  # without polish
    for options in ({"smoothing_s": 0.05}, {"features": "root_matched"}):  # of the cost chord
        assert len(kp.select(motion, auto=True, **options)) > len(chosen)


@pytest.mark.data
def test_auto_does_not_depend_on_the_frame_rate(data_dir):
    """Selected by chords, the numbers of keys of this walk are 20, 23, 35 and 54."""
    walk = kp.load(data_dir / "cmu120/07_05_walk.bvh")
    counts = np.array([len(kp.select(walk.at_fps(fps), auto=True)) for fps in (24, 30, 60, 120)])
    assert np.abs(counts / np.median(counts) - 1).max() <= 0.2


def test_auto_does_not_select_flips(motion):
    flipped = turn_over(motion, "LeftArm", (61, 63))
    assert np.abs(flipped.world_positions() - motion.world_positions()).max() * motion.mm_per_unit > 100
    for method in ("salient", "farthest"):
        steady, other = (select_with_report(each, method, auto=True) for each in (remove_flips(flipped), flipped))
        assert list(other.selection) == list(steady.selection)
        assert other.score.is_worst_in_flip and other.score.max_outside_flips_mm <= 17.0 < 100 < other.score.max_mm
        assert other.score.max_outside_flips_mm == pytest.approx(steady.score.max_mm)
        assert other.span_mm.max() == pytest.approx(steady.span_mm.max())


def test_auto_in_a_range():
    motion = kp.demo_motion(fps=30)
    part = kp.select(motion, auto=True, frames=(40, 240))
    assert list(part) == [40 + frame for frame in kp.select(motion[40:240], auto=True)]


def test_auto_of_a_loop_measures_the_span_across_the_end():
    there = kp.demo_motion(fps=10.0)[10:25]
    back = dataclasses.replace(there, translations=there.translations[::-1][1:], rotations=there.rotations[::-1][1:])
    loop = kp.concatenate([there, back])
    chosen = kp.select(loop, cost="inbetween", loop=True, auto=True)
    turned = np.append(np.arange(chosen.frames[0], 28), np.arange(chosen.frames[0] + 1))
    rotated = loop.at_frames(turned)
    assert fitted_error_mm(rotated, np.append(chosen.frames - chosen.frames[0], 28)) <= 17.0


def test_auto_goes_up_to_max_keys(motion):
    assert len(kp.select(motion, "uniform", auto=True)) > 12
    assert len(kp.select(motion, "uniform", auto=True, max_keys=12)) == 12


def test_one_percent_of_what(motion):
    """Of the height of a body; of the largest extent of anything else."""
    assert auto_tolerance(motion) == 17.0
    points = np.array([[[0.0, 0, 0], [3.0, 1.0, 0]], [[10.0, 0, 0], [13.0, 1.0, 0]]])
    skeleton = kp.Skeleton(("a", "b"), [-1, -1], np.zeros((2, 3)))
    pair = kp.Motion("pair", skeleton, 30.0, points, np.tile([1.0, 0, 0, 0], (2, 2, 1)))
    assert auto_tolerance(pair) == pytest.approx(0.01 * 3.0 * pair.mm_per_unit)
    alone = kp.Motion(
        "point", kp.Skeleton(("a",), [-1], np.zeros((1, 3))), 30.0, points[:, :1], np.tile([1.0, 0, 0, 0], (2, 1, 1))
    )
    assert alone.height == 0 and auto_tolerance(alone) == pytest.approx(0.1)
    assert auto_tolerance(kp.Features(np.array([[0.0, 5.0], [8.0, 5.0]]), 30.0)) == pytest.approx(0.08)
    assert auto_tolerance(compute_inbetween_costs(pair)) == pytest.approx(auto_tolerance(pair))


def test_auto_of_edge_costs_is_relative_to_the_largest_cost(motion):
    edges = compute_inbetween_costs(motion[:60]).build_table(59)
    ladder = kp.ladder(edges, max_keys=60)
    chosen = kp.select(edges, auto=True, max_keys=60)
    limit = 0.01 * ladder.cost_values.max()
    assert ladder.costs[len(chosen)] <= limit
    assert all(cost > limit for count, cost in ladder.costs.items() if count < len(chosen) / 1.25)


def test_a_tolerance_may_need_more_keys_than_a_ladder_usually_has():
    motion = kp.demo_motion(fps=120)[:600]
    default_keys = int(kp.ladder(motion).counts[-1])
    chosen = kp.select(motion, tolerance_mm=0.05)
    assert len(chosen) > default_keys
    errors = LinearErrorMeasure(motion, 0, 600)
    assert errors.max_error(chosen) <= 0.05 < errors.max_error(kp.select(motion, keys=len(chosen) - 1))


def test_auto_needs_no_height(motion):
    points = kp.Motion(
        "point",
        kp.Skeleton(("a",), [-1], np.zeros((1, 3))),
        30,
        motion.translations[:, :1] * [1, 0, 1],
        motion.rotations[:, :1],
    )
    assert points.height == 0 and 2 <= len(kp.select(points, auto=True)) <= 60


@pytest.mark.parametrize("method", METHODS)
def test_auto_is_sane_for_every_method(motion, method):
    chosen = kp.select(motion, method, auto=True)
    assert 2 <= len(chosen) < motion.n_frames
    assert fitted_error_mm(motion, chosen.frames) <= 17.0


@pytest.mark.parametrize("frames", [1, 2, 3, 5, 9])
def test_auto_on_very_short_clips(motion, frames):
    assert 1 <= len(kp.select(motion[:frames], auto=True)) <= frames
    assert 1 <= len(kp.select(motion[:frames], tolerance_mm=3.0)) <= frames


def test_auto_stops_at_the_corners_of_a_polygon():
    """Nine straight segments at uneven speed: ten keys leave no error."""
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(10, 8)) * 50
    steps = rng.integers(8, 20, size=9)
    pieces = [
        a + (b - a) * np.linspace(0, 1, n, endpoint=False)[:, None] ** 1.3
        for a, b, n in zip(corners[:-1], corners[1:], steps, strict=True)
    ]
    points = np.concatenate((*pieces, corners[-1:]))
    chosen = kp.select(points, auto=True)
    assert chosen.frames.tolist() == np.concatenate(([0], np.cumsum(steps))).tolist()


def flat_ladder(costs) -> Ladder:
    return Ladder.from_order("test", 200, range(len(costs) + 1), costs, min_keys=2)


@pytest.mark.parametrize(("cliff", "expected"), [(22, 22), (25, 25), (26, 20), (18, 20)])
def test_auto_takes_a_cliff_with_up_to_a_quarter_more_keys(cliff, expected):
    keys = np.arange(2, 60)
    costs = np.where(keys < 20, 3.0, 1.0) * 0.999**keys
    costs[keys >= cliff] /= 1.5
    ladder = flat_ladder(costs)
    assert len(select_automatically(ladder, LadderErrorMeasure(ladder), 1.5)) == expected


def test_auto_ignores_weak_cliffs():
    keys = np.arange(2, 60)
    for drop, expected in ((1.27, 20), (1.30, 22)):
        costs = np.where(keys < 20, 3.0, 1.0) * 0.999**keys
        costs[keys >= 22] /= drop
        ladder = flat_ladder(costs)
        assert len(select_automatically(ladder, LadderErrorMeasure(ladder), 1.5)) == expected


def test_auto_takes_the_strongest_cliff_within_the_tolerance():
    keys = np.arange(2, 60)
    costs = np.where(keys < 24, 3.0, 1.0) * 0.999**keys
    costs[keys >= 26] /= 1.3
    costs[keys >= 29] /= 1.4
    ladder = flat_ladder(costs)
    assert len(select_automatically(ladder, LadderErrorMeasure(ladder), 1.5)) == 29

    class WorseThanItsCost(LadderErrorMeasure):
        def max_error(self, selection: kp.Selection) -> float:
            return 9.0 if len(selection) == 29 else super().max_error(selection)

    assert len(select_automatically(ladder, WorseThanItsCost(ladder), 1.5)) == 26


def test_auto_without_a_selection_within_the_tolerance_takes_the_largest():
    ladder = flat_ladder(0.99 ** np.arange(30))
    assert len(select_automatically(ladder, LadderErrorMeasure(ladder), 0.1)) == 31


def test_runs():
    flags = np.array([1, 1, 0, 0, 1, 0, 1], bool)
    assert runs(flags) == [(0, 2), (4, 5), (6, 7)] and runs(np.zeros(3, bool)) == []


def test_contacts_are_pinned_where_feet_touch_and_leave():
    motion = kp.demo_motion(fps=60)
    touching = motion.foot_contacts().in_contact
    pinned = set(contact_frames(motion))
    for foot in touching.T:
        for start, stop in runs(foot):
            assert {start, stop - 1} <= pinned
    hips = motion.world_positions()[:, motion.joint("hips"), 1]
    flights = [r for r in runs(~touching.any(axis=1)) if r[0] > 0 and r[1] < motion.n_frames]
    for start, stop in flights:
        assert start + int(np.argmax(hips[start:stop])) in pinned
    assert flights, "the demo motion jumps"
    selection = kp.ladder(motion, pins="contacts")
    assert pinned <= set(selection.at(int(selection.counts[0])))
    both = kp.ladder(motion, pins=["contacts", 33])
    assert 33 in both.at(int(both.counts[-1])) and both.counts[0] == len(pinned | {0, 33, motion.n_frames - 1})


def test_only_contacts_of_the_range_are_pinned():
    motion = kp.demo_motion(fps=60)
    inside = [frame for frame in contact_frames(motion) if 200 <= frame < 400]
    ladder = kp.ladder(motion, pins="contacts", frames=(200, 400))
    first = ladder.at(int(ladder.counts[0]))
    assert set(first) == {200, 399, *inside} and 0 < len(inside) < len(contact_frames(motion))


def test_a_flight_that_the_clip_cuts_off_has_no_top():
    motion = kp.demo_motion(fps=60)
    (start, stop), *_ = [
        r for r in runs(~motion.foot_contacts().in_contact.any(axis=1)) if r[1] - r[0] >= 6 and r[0] > 0
    ]
    cut = motion[: (start + stop) // 2]
    assert all(frame < start for frame in contact_frames(cut))


def test_a_glimpse_of_a_flight_is_none(monkeypatch):
    motion = kp.demo_motion(fps=60)[:120]
    touching = np.ones((120, 2), bool)
    touching[40:44] = False  # four frames: 0.07 s
    touching[60:70] = False
    monkeypatch.setattr(kp.Motion, "foot_contacts", lambda self: kp.FootContacts(("left", "right"), touching))
    contacts = contact_frames(motion)
    assert {0, 39, 44, 59, 70, 119} <= set(contacts) and len(contacts) == 7
    assert 60 <= (set(contacts) - {0, 39, 44, 59, 70, 119}).pop() < 70


def test_without_feet_there_are_no_contacts():
    skeleton = kp.Skeleton(("a", "b"), [-1, 0], np.ones((2, 3)))
    markers = kp.Motion(
        "markers", skeleton, 30, np.random.default_rng(0).normal(size=(40, 2, 3)), np.tile([1.0, 0, 0, 0], (40, 2, 1))
    )
    with raises(OptionError, option="pins", value="contacts", problem=Pattern("no foot is recognised$")):
        kp.ladder(markers, pins="contacts")
