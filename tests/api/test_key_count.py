"""Choosing the number of keys: tolerance, cliffs, contacts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import keypose as kp
from keypose.api.key_count import LinearError, select_automatically
from keypose.api.method_input import contact_frames
from keypose.arrays import runs
from keypose.curves import interpolate_linear
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Ladder
from support.errors import raises


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
    errors = LinearError(motion, 20, 150)
    for frames in ([20, 60, 149], [50, 51, 120], [70]):
        selection = kp.Selection(frames, motion.n_frames, "test")
        part = motion[20:150]
        score = kp.score(part, interpolate_linear(part, [frame - 20 for frame in frames]))
        scale = motion.mm_per_unit / part.mm_per_unit
        assert errors.max_error_mm(selection) == pytest.approx(score.max_mm * scale)
        assert errors.mean_error_mm(selection) == pytest.approx(score.mean_mm * scale)


def test_a_tolerance_in_a_range(motion):
    chosen = kp.select(motion, tolerance_mm=30.0, frames=(40, 140))
    assert chosen.frames[0] == 40 and chosen.frames[-1] == 139
    assert LinearError(motion, 40, 140).max_error_mm(chosen) <= 30.0


def test_a_tolerance_that_cannot_be_met(motion):
    with raises(OptionError, hint="with 4 keys it is 897.9 mm"):
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


def test_auto_looks_at_millimetres_in_the_range():
    motion = kp.demo_motion(fps=30)
    for frames in ((0, 370), (40, 240)):
        ladder = kp.ladder(motion, frames=frames)
        selection = select_automatically(ladder, LinearError(motion, *frames))
        assert list(kp.select(motion, auto=True, frames=frames)) == list(selection)
        assert LinearError(motion, *frames).mean_error_mm(selection) <= 17.0
        blind = select_automatically(ladder, None)
        assert len(blind) < len(selection) and LinearError(motion, *frames).mean_error_mm(blind) > 17.0
    part = kp.select(motion, auto=True, frames=(40, 240))
    assert 2 <= len(part) <= 40 and list(part) == [40 + frame for frame in kp.select(motion[40:240], auto=True)]


def test_a_tolerance_may_need_more_keys_than_a_ladder_usually_has():
    motion = kp.demo_motion(fps=120)[:600]
    default_keys = int(kp.ladder(motion).counts[-1])
    chosen = kp.select(motion, tolerance_mm=0.05)
    assert len(chosen) > default_keys
    errors = LinearError(motion, 0, 600)
    assert errors.max_error_mm(chosen) <= 0.05 < errors.max_error_mm(kp.select(motion, keys=len(chosen) - 1))


def test_auto_needs_no_height(motion):
    points = kp.Motion(
        "point",
        kp.Skeleton(("a",), [-1], np.zeros((1, 3))),
        30,
        motion.translations[:, :1] * [1, 0, 1],
        motion.rotations[:, :1],
    )
    assert points.height == 0 and 2 <= len(kp.select(points, auto=True)) <= 40


@pytest.mark.parametrize("method", METHODS)
def test_auto_is_sane_for_every_method(motion, method):
    chosen = kp.select(motion, method, auto=True)
    assert 2 <= len(chosen) <= 40


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


def test_auto_takes_the_strongest_cliff_in_its_range_and_else_the_knee():
    keys = np.arange(2, 60)
    costs = 100 * 0.98**keys
    costs[keys >= 12] /= 3
    costs[keys >= 50] /= 10  # beyond one key in five frames
    assert len(select_automatically(flat_ladder(costs), None)) == 12
    assert len(select_automatically(flat_ladder(np.ones(58)), None)) == 2
    steady = select_automatically(flat_ladder(100 * 0.9**keys), None)
    assert 2 <= len(steady) <= 40
    bent = np.concatenate((np.geomspace(100, 1, 14), np.geomspace(1, 0.5, 45)[1:]))
    assert len(select_automatically(flat_ladder(bent), None)) == 15


def test_a_cliff_that_leaves_too_much_error_is_passed_over(motion):
    errors = LinearError(motion, 0, motion.n_frames)
    ladder = kp.ladder(motion, max_keys=40)
    sane = next(count for count in range(8, 41) if errors.mean_error_mm(ladder.at(count)) <= 17.0)
    costs = 0.99 ** np.arange(39)
    costs[ladder.counts >= 4] /= 10  # a forged strong cliff: the error of four keys is far above 17 mm
    costs[ladder.counts >= sane] /= 2
    synthetic = dataclasses.replace(ladder, cost_values=costs)
    assert errors.mean_error_mm(ladder.at(4)) > 17.0
    assert len(select_automatically(synthetic, errors)) == sane and len(select_automatically(synthetic, None)) == 4


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
    with raises(OptionError, option="pins", value="contacts"):
        kp.ladder(markers, pins="contacts")
