"""Keys at extremes: as pins, and moved there at the cost of slightly larger errors."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.api.selection_report import select_with_report
from keypose.extremes import NEAR_S, find_extremes
from support.errors import Pattern, raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:240]


def missed_m(motion: kp.Motion, keys) -> float:
    """Return the sum of the weights of extremes without a key within 0.07 s."""
    distances = [np.abs(np.asarray(keys) - extreme.frame).min() for extreme in find_extremes(motion)]
    weights = [extreme.weight for extreme in find_extremes(motion)]
    return sum(weight for weight, each in zip(weights, distances, strict=True) if each > NEAR_S * motion.fps)


@pytest.mark.parametrize("n_keys", [12, 20, 30])
def test_unbake_moves_keys_to_extremes(motion: kp.Motion, n_keys: int) -> None:
    best, moved = (kp.unbake(motion, keys=n_keys, extremes_first=first) for first in (False, True))
    assert best.keys.tolist() == kp.unbake(motion, keys=n_keys).keys.tolist()
    assert moved.n_keys == n_keys and missed_m(motion, moved.keys) <= missed_m(motion, best.keys)
    assert kp.score(motion, moved).max_mm <= 1.05 * kp.score(motion, best).max_mm + 1e-9
    assert (moved.keys[0], moved.keys[-1]) == (0, motion.n_frames - 1)
    assert kp.score(motion, moved.sample(1.0)).max_mm < 1e-6


def test_fewer_extremes_are_without_a_key(motion: kp.Motion) -> None:
    misses = np.array(
        [
            [
                missed_m(motion, kp.unbake(motion, keys=n, extremes_first=first, residual=False).keys)
                for n in (12, 16, 24)
            ]
            for first in (False, True)
        ]
    )
    assert misses[1].sum() < 0.8 * misses[0].sum()


def test_automatic_keys_are_at_extremes(motion: kp.Motion) -> None:
    keyed = kp.unbake(motion, residual=False)
    best = kp.unbake(motion, auto=True, extremes_first=False, residual=False)
    assert keyed.n_keys == best.n_keys and keyed.keys.tolist() != best.keys.tolist()
    assert missed_m(motion, keyed.keys) < missed_m(motion, best.keys)
    assert kp.score(motion, keyed).max_mm <= min(17.0, 1.05 * kp.score(motion, best).max_mm)
    selection, plain = (kp.select(motion, auto=True, extremes_first=first) for first in (None, False))
    assert len(selection) == len(plain) and missed_m(motion, selection.frames) <= missed_m(motion, plain.frames)


@pytest.mark.parametrize("tolerance_mm", [8.0, 20.0])
def test_a_tolerance_holds(motion: kp.Motion, tolerance_mm: float) -> None:
    best, moved = (
        kp.unbake(motion, tolerance_mm=tolerance_mm, extremes_first=first, residual=False) for first in (None, True)
    )
    assert moved.n_keys == best.n_keys and kp.score(motion, moved).max_mm <= tolerance_mm
    for options in ({}, {"cost": "inbetween"}):
        chosen = kp.select(motion, tolerance_mm=5 * tolerance_mm, extremes_first=True, **options)
        assert len(chosen) == len(kp.select(motion, tolerance_mm=5 * tolerance_mm, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"interpolation": "natural"},
        {"interpolation": "linear"},
        {"rotation": "euler"},
        {"shared_tangents": True},
        {"polish": False},
        {"joints": "hands"},
        {"pins": (50, 101), "excluded": range(110, 120)},
        {"min_gap_frames": 4, "max_gap_frames": 14},
    ],
    ids=str,
)
def test_other_curves_and_constraints(motion: kp.Motion, options: dict) -> None:
    best, moved = (
        kp.unbake(motion, keys=24, extremes_first=first, residual=False, **options) for first in (False, True)
    )
    assert moved.n_keys == 24
    assert kp.score(motion, moved).max_mm <= 1.05 * kp.score(motion, best).max_mm + 1e-9
    keys = set(moved.keys.tolist())
    assert set(options.get("pins", ())) <= keys and not set(options.get("excluded", ())) & keys
    gaps = np.diff(moved.keys)
    assert gaps.min() >= options.get("min_gap_frames", 1) and gaps.max() <= options.get("max_gap_frames", 240)


def test_a_loop_keeps_its_seam() -> None:
    there = kp.demo_motion(fps=10.0)[10:40]
    loop = kp.concatenate([there, there[:1]])
    loop = replace(loop, translations=np.concatenate((loop.translations[:-1], loop.translations[:1])))
    keyed = kp.unbake(loop, keys=9, loop=True, extremes_first=True)
    assert keyed.n_keys == 9 and keyed.keys[0] == 0 and keyed.keys[-1] == loop.n_frames - 1


@pytest.mark.parametrize("options", [{}, {"cost": "integrated"}, {"cost": "inbetween"}, {"frames": (40, 200)}], ids=str)
def test_select_stays_within_five_percent(motion: kp.Motion, options: dict) -> None:
    best, moved = (select_with_report(motion, keys=20, extremes_first=first, **options) for first in (None, True))
    assert len(moved.selection) == 20 and best.cost <= moved.cost <= 1.05 * best.cost * (1 + 1e-9)
    assert moved.cost == pytest.approx(moved.span_costs.max())
    assert list(moved.selection) == list(kp.select(motion, keys=20, extremes_first=True, **options))
    start, stop = options.get("frames", (0, 240))
    frames = [kp.Selection(each.selection.frames - start, stop - start, "test").frames for each in (best, moved)]
    assert missed_m(motion[start:stop], frames[1]) <= missed_m(motion[start:stop], frames[0])


def test_the_result_does_not_depend_on_threads(motion: kp.Motion) -> None:
    one, two = (kp.unbake(motion, keys=20, extremes_first=True, residual=False, threads=n) for n in (1, 2))
    assert one.keys.tolist() == two.keys.tolist()


def test_without_extremes_keys_stay(motion: kp.Motion) -> None:
    still = motion[:1]
    held = kp.concatenate([still] * 40)
    for first in (False, True):
        assert kp.unbake(held, keys=5, extremes_first=first).n_keys == 5
    assert kp.unbake(motion, keys=2, extremes_first=True).keys.tolist() == [0, 239]
    assert kp.unbake(still, extremes_first=True).keys.tolist() == [0]


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda m: kp.select(m, "farthest", keys=5, extremes_first=True), {"value": True}),
        (lambda m: kp.select(m, keys=5, extremes_first=True, objective="sum"), {"value": True}),
        (lambda m: kp.select(m.world_positions().reshape(240, -1), keys=5, extremes_first=True), {"value": True}),
        (lambda m: kp.unbake(m, keys=5, extremes_first=True, objective="sum"), {"value": True}),
        (lambda m: kp.unbake(m, keys=5, extremes_first=3), {"value": 3}),
    ],
)
def test_where_it_is_impossible_it_is_refused(motion: kp.Motion, call, fields: dict) -> None:
    with raises(kp.OptionError, option="extremes_first", **fields):
        call(motion)


def test_given_keys_are_not_moved(motion: kp.Motion) -> None:
    with raises(kp.OptionError, problem=Pattern("a selection already contains the keys")):
        kp.unbake(motion, (0, 50, 239), extremes_first=True)
    assert kp.unbake(motion, (0, 50, 239), extremes_first=False).keys.tolist() == [0, 50, 239]
    assert kp.select(motion, auto=True, objective="sum") is not None  # auto without it


def test_extremes_are_pinned(motion: kp.Motion) -> None:
    frames = {extreme.frame for extreme in find_extremes(motion)}
    ladder = kp.ladder(motion, pins="extremes")
    assert set(ladder.at(int(ladder.counts[0]))) == frames | {0, 239}
    both = kp.ladder(motion, pins=["extremes", "contacts", 7])
    assert frames | {7} <= set(both.at(int(both.counts[0])))
    part = kp.ladder(motion, pins="extremes", frames=(100, 200))
    assert set(part.at(int(part.counts[0]))) == {frame for frame in frames if 100 <= frame < 200} | {100, 199}
    keyed = kp.unbake(motion, keys=len(frames) + 8, pins="extremes", residual=False)
    assert frames <= set(keyed.keys.tolist()) and keyed.extremes[np.isin(keyed.keys, list(frames))].all()
    with raises(kp.OptionError, option="max_keys", problem=Pattern("^is too few: 27 pins")):
        kp.select(motion, keys=5, pins="extremes", extremes_first=True)


def test_pinned_extremes_need_a_body_that_moves(motion: kp.Motion) -> None:
    with raises(kp.OptionError, option="pins", value="extremes", problem=Pattern("has nothing to pin")):
        kp.ladder(kp.concatenate([motion[:1]] * 30), pins="extremes")
    with raises(kp.OptionError, option="pins", value="extremes", problem=Pattern("needs a Motion")):
        kp.ladder(np.zeros((30, 3)), pins="extremes")


@pytest.mark.data
def test_the_hits_of_kicks_get_keys(data_dir) -> None:
    """With a key in ten frames every kick has one near the furthest reach of the foot."""
    motion = kp.load(data_dir / "cmu30" / "ball_kick" / "135_07.bvh")
    kicks = [
        extreme.frame
        for extreme in find_extremes(motion)
        if any(
            end.kind == "reach" and end.body_part.endswith("foot") and end.prominence_m > 0.5
            for end in extreme.travel_ends
        )
    ]
    keyed = kp.unbake(motion, keys=37, extremes_first=True, residual=False)
    extremes = keyed.keys[keyed.extremes]
    assert len(kicks) >= 4
    assert np.mean([np.abs(extremes - kick).min() <= NEAR_S * motion.fps for kick in kicks]) >= 0.8


def test_a_long_motion_is_searched_in_sections(motion: kp.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    unbake = importlib.import_module("keypose.api.unbake")
    sections = unbake._split_keys(np.array([0, 40, 99, 130, 200, 239], np.int32))
    assert [each.tolist() for each in sections] == [[0, 40, 99, 130, 200, 239]]
    monkeypatch.setattr(unbake, "SECTION_FRAMES", 80)
    sections = unbake._split_keys(np.array([0, 40, 99, 130, 200, 239], np.int32))
    assert [each.tolist() for each in sections] == [[0, 40, 99], [99, 130, 200], [200, 239]]
    assert [each.tolist() for each in unbake._split_keys(np.array([7], np.int32))] == [[7]]
    options = {"keys": 24, "residual": False, "pins": (50, 101), "excluded": (60,)}
    best, moved = (kp.unbake(motion, extremes_first=first, **options) for first in (False, True))
    assert moved.n_keys == 24 and {50, 101} <= set(moved.keys.tolist()) and 60 not in moved.keys
    assert missed_m(motion, moved.keys) < missed_m(motion, best.keys)
    assert kp.score(motion, moved).max_mm <= 1.05 * kp.score(motion, best).max_mm
