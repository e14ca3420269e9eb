"""All methods on one clip: figures equal those of the public functions, at the requested budgets."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.api.compare import COMPARED_METHODS, REFERENCES, CompareOptions, Comparison, Row, compare_motion
from keypose.api.compare.clip import compute_digest
from keypose.api.compare.settings import build_budgets, build_compare_options, count_keys
from support.errors import raises


def compare_one(rows: Comparison | tuple[Row, ...], method: str, inbetweens: str, percent: float) -> Row:
    found = [
        row
        for row in rows
        if (row.method, row.inbetweens, row.target_removed_percent, row.series)
        == (method, inbetweens, percent, "table")
    ]
    assert len(found) == 1
    return found[0]


def test_every_method_has_one_row_per_budget(comparison, short):
    budgets = build_budgets(short.n_frames, (80.0, 90.0), curves=True)
    assert len(budgets) > 8
    specs = [(row.method, row.inbetweens, row.series, row.target_keys) for row in comparison]
    assert len(set(specs)) == len(specs) == (4 * 2 + 2) * len(budgets)
    assert next(row.kind for row in comparison if row.method == "uniform") == "baseline"
    assert {row.kind for row in comparison if row.method in REFERENCES} == {"reference"}


@pytest.mark.parametrize("method", ["salient", "farthest", "uniform"])
@pytest.mark.parametrize("percent", [80.0, 90.0])
def test_figures_are_those_of_select_unbake_and_score(comparison, short, method, percent):
    keys = round(90 * (1 - percent / 100))
    selection = kp.select(short, method, keys=keys)
    for inbetweens, other in (
        ("linear", selection),
        ("fitted", kp.unbake(short, selection, polish=False, residual=False)),
    ):
        expected, row = kp.score(short, other), compare_one(comparison, method, inbetweens, percent)
        assert (row.keys, row.target_keys, row.note) == (keys, keys, "")
        assert row.removed_percent == pytest.approx(percent)
        for name in ("mean_mm", "p95_mm", "max_mm", "mean_deg", "max_deg", "foot_slide_mm", "key_acceleration"):
            assert getattr(row, name) == pytest.approx(getattr(expected, name)), name
        assert row.stored_values == expected.stored_values
        assert row.original_foot_slide_mm == expected.original_foot_slide_mm
        assert row.selection_s > 0 and (row.fitting_s > 0) == (inbetweens == "fitted")


@pytest.mark.parametrize("percent", [80.0, 90.0])
def test_keys_by_inbetweens_are_those_of_unbake(comparison, short, percent):
    keyed = kp.unbake(short, keys=round(90 * (1 - percent / 100)), polish=False)
    row = compare_one(comparison, "salient-inbetween", "fitted", percent)
    assert row.keys == keyed.n_keys
    assert row.max_mm == pytest.approx(kp.score(short, keyed).max_mm)


@pytest.mark.parametrize("keys", [4, 12])
def test_keys_are_those_of_unbake_also_around_a_hold(short, keys):
    """If keys reach the maximum gap of the ladder, unbake tries wider gaps, and so must the comparison."""
    held = kp.concatenate([short[:30], *[short[29:30]] * 100, short[30:50]])
    settings = CompareOptions(("salient-inbetween",), (), (100 * (1 - keys / 150),), ("fitted",), curves=False)
    (row,) = compare_motion(held, settings)
    keyed = kp.unbake(held, keys=keys, polish=False)
    assert row.keys == keys and row.max_mm == pytest.approx(kp.score(held, keyed).max_mm)
    assert np.diff(keyed.keys).max() > 30  # more than a second


def test_polished_is_what_unbake_gives(short):
    settings = CompareOptions(("salient-inbetween",), (), (90.0,), ("polished",), curves=False)
    (row,) = compare_motion(short, settings)
    assert row.mean_mm == pytest.approx(kp.score(short, kp.unbake(short, keys=9)).mean_mm)


def test_references_get_as_many_values_as_fitted_keys(comparison):
    for percent in (80.0, 90.0):
        whole = compare_one(comparison, "uniform", "fitted", percent).stored_values
        for name in REFERENCES:
            row = compare_one(comparison, name, "own", percent)
            assert row.keys is None and row.removed_percent is None
            assert 0.85 * whole < row.stored_values <= whole


def test_every_row_has_stored_values(comparison, short):
    row = compare_one(comparison, "uniform", "linear", 90.0)
    assert row.stored_percent == pytest.approx(100 * row.stored_values / kp.score(short, short).stored_values)


def test_more_keys_cost_less_along_the_curve(comparison):
    curve = sorted(
        (row.keys, row.max_mm) for row in comparison if (row.method, row.inbetweens) == ("salient-inbetween", "fitted")
    )
    errors = [error for _, error in curve]
    assert len(curve) > 8 and all(a >= b * 0.999 for a, b in itertools.pairwise(errors))


def test_a_method_with_too_few_keys_reports_a_problem(short):
    still = kp.concatenate([short[:1]] * 30)
    rows = compare_motion(still, CompareOptions(("farthest",), (), (80.0,), ("linear",), curves=False))
    assert [(row.target_keys, row.keys) for row in rows] == [(6, 1)]
    assert "1 key in place of 6: farthest has 1 key here" in rows[0].note and rows[0].mean_mm == 0


def test_a_method_that_cannot_see_markers_has_no_figures(short):
    flat = np.zeros((40, 4, 3)) + np.arange(4.0)[None, :, None]
    flat[..., 0] += np.sin(np.arange(40) / 5)[:, None] * np.arange(1, 5)
    rotations = np.zeros((40, 4, 4))
    rotations[..., 0] = 1
    markers = kp.Motion("markers", kp.Skeleton(tuple("abcd"), [-1] * 4, np.zeros((4, 3))), 30.0, flat, rotations)
    rows = compare_motion(
        markers, CompareOptions(("saliency", "uniform"), (), (80.0,), ("linear", "fitted"), curves=False)
    )
    assert [row.has_values for row in rows] == [False, False, True, True]
    assert "no joint turns" in rows[0].note and rows[0].keys is None and rows[0].target_keys == 8


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_every_method_on_very_few_frames(short, frames):
    rows = compare_motion(short[:frames], CompareOptions())
    assert {row.method for row in rows} == {*COMPARED_METHODS, *REFERENCES}
    assert all(row.has_values for row in rows)


def test_a_figure_without_height_is_refused(short):
    s = short.skeleton
    nowhere = replace(
        short,
        skeleton=replace(s, offsets=0 * s.offsets, end_offsets=0 * s.end_offsets),
        translations=0 * short.translations,
        reference_pose=None,
    )
    with raises(kp.OptionError, code="no_height"):
        compare_motion(nowhere)


def test_takes_that_are_too_long_are_refused(short):
    with raises(
        kp.OptionError,
        subject="demo",
        expected="at most 20,000 to compare methods on: take a part of it, or a lower rate",
    ):
        compare_motion(kp.concatenate([short[:50]] * 402))


def test_part_and_rate_are_those_of_the_settings(short):
    settings = CompareOptions(("uniform",), (), (80.0,), ("linear",), curves=False, fps=15.0, frames=(10, 70))
    (row,) = compare_motion(short, settings)
    assert (row.frames, row.fps) == (30, 15.0)
    assert row.sha256 == compute_digest(short[10:70].at_fps(15))


@pytest.mark.parametrize(("own", "fps", "slower"), [(30.0, 15.0, False), (30.0, 30.01, False), (30.0, 60.0, True)])
def test_frames_are_not_extrapolated(short, own, fps, slower):
    """Upsampled frames would be trivial to leave out: a slow clip keeps its rate, which is reported."""
    settings = CompareOptions(("uniform",), (), (80.0,), ("linear",), curves=False, fps=fps)
    comparison = Comparison(compare_motion(short, settings), settings)
    (row,) = comparison
    assert (row.frames, row.fps, row.source_fps) == ((45, 15.0, own) if fps == 15 else (90, own, own))
    assert list(comparison.slower_clips.values()) == [own] * slower
    assert str(comparison).endswith("1 clip is slower than 60 fps, and compared at the own rate") == slower
    assert not Comparison(comparison.rows).slower_clips  # without settings the requested rate is unknown


def test_progress_is_reported(short):
    parts: list[float] = []
    settings = CompareOptions(("uniform", "farthest"), ("pca",), (80.0,), ("linear",), curves=False)
    compare_motion(short, settings, on_progress=parts.append)
    assert parts == [0, 1 / 3, 2 / 3]


def test_the_digest_is_of_frames_and_not_of_names(short):
    assert compute_digest(short) == compute_digest(replace(short, name="other", notes=("noted",)))
    moved = np.array(short.translations)
    moved[3, 0, 1] += 1e-9
    assert compute_digest(short) != compute_digest(replace(short, translations=moved))
    assert compute_digest(short) != compute_digest(short[:-1])


@pytest.mark.parametrize(
    ("frames", "percent", "keys"), [(1000, 80, 200), (1000, 97.5, 25), (100, 100, 2), (3, 90, 2), (1, 90, 1), (9, 0, 9)]
)
def test_count_keys(frames, percent, keys):
    assert count_keys(frames, percent) == keys


def test_curve_budgets_do_not_repeat_those_of_the_table():
    keys = [budget.keys for budget in build_budgets(1000, (75.0, 99.0), curves=True)]
    assert keys[:2] == [250, 10] and len(keys) == len(set(keys)) == 12
    assert min(keys) == 10 and max(keys) == 250


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (("salien", 80, "linear"), {"option": "method", "value": "salien"}),
        ((["uniform", 3], 80, "linear"), {"option": "method", "value": 3}),
        (((), 80, "linear"), {"problem": "no method"}),
        (("uniform", 101, "linear"), {"option": "removed_percent", "value": 101, "expected": "a number from 0 to 100"}),
        (("uniform", float("nan"), "linear"), {"option": "removed_percent", "expected": "a number from 0 to 100"}),
        (
            ("uniform", "many", "linear"),
            {"option": "removed_percent", "value": "m", "expected": "a number from 0 to 100"},
        ),
        (
            ("uniform", 80, "cubic"),
            {"option": "inbetweens", "value": "cubic", "expected": "one of linear, fitted, polished"},
        ),
        (("uniform", 80, ()), {"expected": "some of linear, fitted, polished"}),
    ],
)
def test_invalid_settings_are_rejected(options, fields):
    with raises(kp.OptionError, **fields):
        build_compare_options(*options, curves=True)


def test_no_budget_at_all_is_refused():
    with raises(kp.OptionError, expected="removed_percent=(90, ...) or curves=True"):
        build_compare_options(None, (), "linear", curves=False)


@pytest.mark.data
def test_a_real_walk(data_dir: Path):
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)[:150]
    settings = CompareOptions(("salient", "salient-inbetween", "uniform"), ("per-curve", "pca"), (90.0,), curves=False)
    rows = compare_motion(walk, settings)
    best = compare_one(rows, "salient-inbetween", "fitted", 90.0)
    for row in rows:
        if row.kind != "reference" and row is not best:
            assert row.max_mm > 1.5 * best.max_mm
    assert compare_one(rows, "salient", "linear", 90.0).mean_mm > 4 * best.mean_mm
