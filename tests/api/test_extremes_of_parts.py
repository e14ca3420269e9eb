"""A leading part of the body: keys at the ends of its travel, and the parts that are at one at each key."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.api.selection_report import select_with_report
from keypose.extremes import NEAR_S, Extreme, TravelEnd, find_extremes, is_of_leading_part, list_parts_at_keys
from support.errors import raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:240]


def count_hits(motion: kp.Motion, keys, part) -> tuple[int, int]:
    """Return how many ends of travel of a part there are, and how many have a key within 0.07 s."""
    ends = [end for each in find_extremes(motion) for end in each.travel_ends if is_of_leading_part(end, part)]
    frames = sorted({end.frame for end in ends})
    near = [np.abs(np.asarray(keys) - frame).min() <= NEAR_S * motion.fps for frame in frames]
    return len(frames), sum(near)


def test_keys_are_at_the_ends_of_travel_of_the_leading_part(motion: kp.Motion) -> None:
    hits = np.zeros((2, 2), int)
    for part in ("right_hand", "left_hand", "left_foot", "right_foot"):
        best, led = (kp.unbake(motion, keys=20, leading=each, residual=False) for each in (None, part))
        assert led.n_keys == 20
        assert kp.score(motion, led).max_mm <= 1.05 * kp.score(motion, best).max_mm + 1e-9
        for row, keyed in enumerate((best, led)):
            hits[row] += count_hits(motion, keyed.keys, part)
    assert hits[0, 0] >= 10 and hits[1, 1] > 1.1 * hits[0, 1]


def test_it_matters_which_part_leads(motion: kp.Motion) -> None:
    keys = [kp.unbake(motion, keys=20, leading=part, residual=False).keys.tolist() for part in ("hands", "feet")]
    assert keys[0] != keys[1]
    assert count_hits(motion, keys[0], "hands")[1] > count_hits(motion, keys[1], "hands")[1]
    assert count_hits(motion, keys[1], "feet")[1] > count_hits(motion, keys[0], "feet")[1]


@pytest.mark.parametrize("options", [{"keys": 20}, {"tolerance_mm": 60.0}, {"auto": True}], ids=str)
def test_select_and_the_report_have_it_too(motion: kp.Motion, options: dict) -> None:
    selection = kp.select(motion, leading="hands", **options)
    assert len(selection) == len(kp.select(motion, extremes_first=False, **options))
    report = select_with_report(motion, leading="hands", **options)
    assert list(report.selection) == list(selection)
    assert len(report.extreme_parts) == len(selection)
    marked = [key for key, parts in zip(selection, report.extreme_parts, strict=True) if parts]
    assert count_hits(motion, marked, "hands")[1] > 0


def test_the_parts_of_a_key_are_those_that_mark_it(motion: kp.Motion) -> None:
    keyed = kp.unbake(motion, keys=20, extremes_first=True, residual=False)
    parts = list_parts_at_keys(keyed.keys, find_extremes(motion), motion.fps)
    has_part = np.array([bool(each) for each in parts])
    assert has_part[1:-1].tolist() == keyed.extremes[1:-1].tolist()


def test_a_part_is_listed_at_its_own_frame_and_at_the_nearest_key() -> None:
    hand, foot = TravelEnd(50, "reach", "left_hand", 0.5), TravelEnd(54, "low", "left_foot", 0.2)
    extremes = (Extreme(50, 0.5, (hand, foot)),)
    assert list_parts_at_keys(np.array([0, 50, 54, 90]), extremes, 60.0) == ((), ("left_hand",), ("left_foot",), ())
    assert list_parts_at_keys(np.array([0, 52, 90]), extremes, 60.0) == ((), ("left_hand", "left_foot"), ())
    assert list_parts_at_keys(np.array([0, 46, 90]), extremes, 60.0) == ((), ("left_hand",), ())
    assert list_parts_at_keys(np.array([0, 40, 90]), extremes, 60.0) == ((), (), ())


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("hands", ["left_hand", "right_hand"]),
        ("feet", ["left_foot", "right_foot", "feet"]),
        ("left_foot", ["left_foot", "feet"]),
        ("hips", ["hips"]),
        (None, []),
    ],
)
def test_groups_and_steps(part, expected: list[str]) -> None:
    parts = ("left_hand", "right_hand", "left_foot", "right_foot", "feet", "left_shin", "hips", "body")
    assert [each for each in parts if is_of_leading_part(TravelEnd(0, "reach", each, 1.0), part)] == expected


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda m: kp.select(m, keys=5, leading="wing"), {"value": "wing"}),
        (lambda m: kp.unbake(m, keys=5, leading=3), {"value": 3}),
        (lambda m: kp.select(m, "farthest", keys=5, leading="hands"), {"value": "hands"}),
        (lambda m: kp.unbake(m, keys=5, leading="hands", objective="sum"), {"value": "hands"}),
        (lambda m: kp.unbake(m, keys=5, leading="hands", extremes_first=False), {"value": "hands"}),
        (lambda m: kp.unbake(m, keys=5, leading="hands", per="joint"), {}),
    ],
)
def test_where_it_is_impossible_it_is_refused(motion: kp.Motion, call, fields: dict) -> None:
    with raises(kp.OptionError, option="leading", **fields):
        call(motion)
