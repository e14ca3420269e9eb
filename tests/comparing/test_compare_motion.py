"""One clip, every way: the figures are those of the verbs, at the budgets that were asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.verbs.comparing import CONTENDERS, REFERENCES, Comparison, Row, Settings, compare_motion
from keypose.verbs.comparing.budgets import budgets_of, keys_left
from keypose.verbs.comparing.clip import digest_of
from keypose.verbs.comparing.settings import settings_of


def one(rows: Comparison | tuple[Row, ...], method: str, inbetweens: str, percent: float) -> Row:
    found = [
        row
        for row in rows
        if (row.method, row.inbetweens, row.removed_percent_asked, row.part) == (method, inbetweens, percent, "table")
    ]
    assert len(found) == 1
    return found[0]


def test_every_way_stands_at_every_budget_once(compared, short):
    budgets = budgets_of(short.n_frames, (80.0, 90.0), curves=True)
    assert len(budgets) > 8
    asked = [(row.method, row.inbetweens, row.part, row.keys_asked) for row in compared]
    assert len(set(asked)) == len(asked) == (4 * 2 + 2) * len(budgets)
    assert next(row.kind for row in compared if row.method == "uniform") == "baseline"
    assert {row.kind for row in compared if row.method in REFERENCES} == {"reference"}


@pytest.mark.parametrize("method", ["salient", "farthest", "uniform"])
@pytest.mark.parametrize("percent", [80.0, 90.0])
def test_figures_are_those_of_select_unbake_and_score(compared, short, method, percent):
    keys = round(90 * (1 - percent / 100))
    selection = kp.select(short, method, keys=keys)
    for inbetweens, other in (
        ("linear", selection),
        ("fitted", kp.unbake(short, selection, polish=False, residual=False)),
    ):
        expected, row = kp.score(short, other), one(compared, method, inbetweens, percent)
        assert (row.keys, row.keys_asked, row.note) == (keys, keys, "")
        assert row.removed_percent == pytest.approx(percent)
        for name in ("mean_mm", "p95_mm", "max_mm", "mean_deg", "max_deg", "foot_slide_mm", "key_acceleration"):
            assert getattr(row, name) == pytest.approx(getattr(expected, name)), name
        assert row.stored_values == expected.stored_values
        assert row.original_foot_slide_mm == expected.original_foot_slide_mm
        assert row.choosing_s > 0 and (row.fitting_s > 0) == (inbetweens == "fitted")


@pytest.mark.parametrize("percent", [80.0, 90.0])
def test_keys_by_inbetweens_are_those_of_unbake(compared, short, percent):
    keyed = kp.unbake(short, keys=round(90 * (1 - percent / 100)), polish=False)
    row = one(compared, "salient-inbetween", "fitted", percent)
    assert row.keys == keyed.n_keys
    assert row.max_mm == pytest.approx(kp.score(short, keyed).max_mm)


@pytest.mark.parametrize("keys", [4, 12])
def test_keys_are_those_of_unbake_also_around_a_hold(short, keys):
    """Where keys are as far apart as the ladder lets them be, unbake looks farther, and so must this."""
    held = kp.concatenate([short[:30], *[short[29:30]] * 100, short[30:50]])
    settings = Settings(("salient-inbetween",), (), (100 * (1 - keys / 150),), ("fitted",), curves=False)
    (row,) = compare_motion(held, settings)
    keyed = kp.unbake(held, keys=keys, polish=False)
    assert row.keys == keys and row.max_mm == pytest.approx(kp.score(held, keyed).max_mm)
    assert np.diff(keyed.keys).max() > 30  # more than a second


def test_polished_is_what_unbake_gives(short):
    settings = Settings(("salient-inbetween",), (), (90.0,), ("polished",), curves=False)
    (row,) = compare_motion(short, settings)
    assert row.mean_mm == pytest.approx(kp.score(short, kp.unbake(short, keys=9)).mean_mm)


def test_references_get_as_many_values_as_fitted_keys(compared):
    for percent in (80.0, 90.0):
        whole = one(compared, "uniform", "fitted", percent).stored_values
        for name in REFERENCES:
            row = one(compared, name, "own", percent)
            assert row.keys is None and row.removed_percent is None
            assert 0.85 * whole < row.stored_values <= whole


def test_stored_values_are_told_of_all(compared, short):
    row = one(compared, "uniform", "linear", 90.0)
    assert row.stored_percent == pytest.approx(100 * row.stored_values / kp.score(short, short).stored_values)


def test_more_keys_cost_less_along_the_curve(compared):
    curve = sorted(
        (row.keys, row.max_mm) for row in compared if (row.method, row.inbetweens) == ("salient-inbetween", "fitted")
    )
    errors = [error for _, error in curve]
    assert len(curve) > 8 and all(a >= b * 0.999 for a, b in itertools.pairwise(errors))


def test_a_method_without_so_many_keys_says_so(short):
    still = kp.concatenate([short[:1]] * 30)
    rows = compare_motion(still, Settings(("farthest",), (), (80.0,), ("linear",), curves=False))
    assert [(row.keys_asked, row.keys) for row in rows] == [(6, 1)]
    assert "1 key in place of 6: farthest has 1 to 1 keys here" in rows[0].note and rows[0].mean_mm == 0


def test_a_method_that_cannot_see_markers_has_no_figures(short):
    flat = np.zeros((40, 4, 3)) + np.arange(4.0)[None, :, None]
    flat[..., 0] += np.sin(np.arange(40) / 5)[:, None] * np.arange(1, 5)
    turns = np.zeros((40, 4, 4))
    turns[..., 0] = 1
    markers = kp.Motion("markers", kp.Skeleton(tuple("abcd"), [-1] * 4, np.zeros((4, 3))), 30.0, flat, turns)
    rows = compare_motion(markers, Settings(("saliency", "uniform"), (), (80.0,), ("linear", "fitted"), curves=False))
    assert [row.has_figures for row in rows] == [False, False, True, True]
    assert "no joint turns" in rows[0].note and rows[0].keys is None and rows[0].keys_asked == 8


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_every_way_on_hardly_any_frames(short, frames):
    rows = compare_motion(short[:frames], Settings())
    assert {row.method for row in rows} == {*CONTENDERS, *REFERENCES}
    assert all(row.has_figures for row in rows)


def test_a_figure_without_height_is_refused(short):
    s = short.skeleton
    nowhere = replace(
        short,
        skeleton=replace(s, offsets=0 * s.offsets, end_offsets=0 * s.end_offsets),
        translations=0 * short.translations,
        reference_pose=None,
    )
    with pytest.raises(kp.OptionError, match="no height"):
        compare_motion(nowhere)


def test_takes_that_are_too_long_are_refused(short):
    with pytest.raises(kp.OptionError, match="20,100 frames, expected at most 20,000"):
        compare_motion(kp.concatenate([short[:50]] * 402))


def test_part_and_rate_are_those_of_the_settings(short):
    settings = Settings(("uniform",), (), (80.0,), ("linear",), curves=False, fps=15.0, frames=(10, 70))
    (row,) = compare_motion(short, settings)
    assert (row.frames, row.fps) == (30, 15.0)
    assert row.sha256 == digest_of(short[10:70].at_fps(15))


@pytest.mark.parametrize(("own", "fps", "slower"), [(30.0, 15.0, False), (30.0, 30.01, False), (30.0, 60.0, True)])
def test_no_frame_is_made_up(short, own, fps, slower):
    """Frames between others would be easy to leave out: a slow clip stays as it is, and that is told."""
    settings = Settings(("uniform",), (), (80.0,), ("linear",), curves=False, fps=fps)
    found = Comparison(compare_motion(short, settings), settings)
    (row,) = found
    assert (row.frames, row.fps, row.source_fps) == ((45, 15.0, own) if fps == 15 else (90, own, own))
    assert list(found.slower.values()) == [own] * slower
    assert str(found).endswith("1 clip is slower than 60 fps, and compared at the own rate") == slower
    assert not Comparison(found.rows).slower  # of a table nobody knows what was asked for


def test_progress_is_told(short):
    parts: list[float] = []
    settings = Settings(("uniform", "farthest"), ("pca",), (80.0,), ("linear",), curves=False)
    compare_motion(short, settings, told=parts.append)
    assert parts == [0, 1 / 3, 2 / 3]


def test_the_digest_is_of_frames_and_not_of_names(short):
    assert digest_of(short) == digest_of(replace(short, name="other", notes=("noted",)))
    moved = np.array(short.translations)
    moved[3, 0, 1] += 1e-9
    assert digest_of(short) != digest_of(replace(short, translations=moved))
    assert digest_of(short) != digest_of(short[:-1])


@pytest.mark.parametrize(
    ("frames", "percent", "keys"), [(1000, 80, 200), (1000, 97.5, 25), (100, 100, 2), (3, 90, 2), (1, 90, 1), (9, 0, 9)]
)
def test_how_many_keys_are_left(frames, percent, keys):
    assert keys_left(frames, percent) == keys


def test_curve_budgets_do_not_repeat_those_of_the_table():
    keys = [budget.keys for budget in budgets_of(1000, (75.0, 99.0), curves=True)]
    assert keys[:2] == [250, 10] and len(keys) == len(set(keys)) == 12
    assert min(keys) == 10 and max(keys) == 250


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (("salien", 80, "linear"), "did you mean 'salient'"),
        ((["uniform", 3], 80, "linear"), "method 3"),
        (((), 80, "linear"), "no method"),
        (("uniform", 101, "linear"), "removed_percent=101"),
        (("uniform", float("nan"), "linear"), "removed_percent=nan"),
        (("uniform", "many", "linear"), "removed_percent"),
        (("uniform", 80, "cubic"), "inbetweens='cubic'"),
        (("uniform", 80, ()), "no in-betweens"),
    ],
)
def test_settings_that_make_no_sense_are_refused(told, message):
    with pytest.raises(kp.OptionError, match=message):
        settings_of(*told, curves=True)


def test_no_budget_at_all_is_refused():
    with pytest.raises(kp.OptionError, match="no budget"):
        settings_of(None, (), "linear", curves=False)


@pytest.mark.data
def test_a_real_walk(data_dir: Path):
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)[:150]
    settings = Settings(("salient", "salient-inbetween", "uniform"), ("per-curve", "pca"), (90.0,), curves=False)
    rows = compare_motion(walk, settings)
    best = one(rows, "salient-inbetween", "fitted", 90.0)
    for row in rows:
        if row.kind != "reference" and row is not best:
            assert row.max_mm > 1.5 * best.max_mm
    assert one(rows, "salient", "linear", 90.0).mean_mm > 4 * best.mean_mm
