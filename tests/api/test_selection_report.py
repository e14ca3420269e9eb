"""Selection reports: the same keys as ``select``, and errors equal to those of a slow reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.api.selection_report import score_inbetweens, select_with_report
from reference import naive
from support.errors import Pattern, raises

METHODS = [method.name for method in kp.methods()]


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=15.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [{"keys": 7}, {"tolerance_mm": 150.0}, {"auto": True}], ids=str)
def test_report_selection_equals_select(motion: kp.Motion, method: str, budget: dict) -> None:
    for frames in (None, (20, 90)):
        chosen = select_with_report(motion, method, frames=frames, **budget)
        assert list(chosen.selection) == list(kp.select(motion, method, frames=frames, **budget))
        assert chosen.count_source == {"keys": "keys", "tolerance_mm": "tolerance", "auto": "auto"}[next(iter(budget))]
        assert chosen.ladder.costs[len(chosen.selection)] >= 0
        best_cost = chosen.ladder.costs[len(chosen.selection)]
        if method == "salient" and "auto" in budget:  # keys at extremes
            assert best_cost * (1 - 1e-9) <= chosen.cost <= 1.05 * best_cost
        else:
            assert list(chosen.ladder.at(len(chosen.selection))) == list(chosen.selection) and chosen.cost == best_cost


@pytest.mark.parametrize("method", METHODS)
def test_without_a_budget_its_own_number_or_auto(motion: kp.Motion, method: str) -> None:
    chosen = select_with_report(motion, method)
    if kp.ladder(motion, method).natural is not None:
        assert chosen.count_source == "own"
        assert list(chosen.selection) == list(kp.select(motion, method))
    else:
        assert chosen.count_source == "auto"
        assert list(chosen.selection) == list(kp.select(motion, method, auto=True))


def test_more_keys_than_the_ladder_usually_has(motion: kp.Motion) -> None:
    default_keys = int(kp.ladder(motion, "salient").counts[-1])
    assert default_keys < motion.n_frames
    assert len(select_with_report(motion, keys=default_keys + 5).selection) == default_keys + 5
    with raises(kp.OptionError, option="keys", value=105):
        select_with_report(motion, keys=default_keys + 5, max_keys=default_keys)
    with raises(kp.OptionError, option="keys", value=186):
        select_with_report(motion, keys=motion.n_frames + 1)


def test_key_count_options_exclude_each_other(motion: kp.Motion) -> None:
    with raises(
        kp.OptionError, code="conflicting_options", expected=Pattern("^one of keys=, tolerance_mm= and auto=True$")
    ):
        select_with_report(motion, keys=3, auto=True)


def test_errors_agree_with_the_reference(motion: kp.Motion) -> None:
    rng = np.random.default_rng(5)
    for case in range(60):
        start = int(rng.integers(0, 100))
        stop = int(rng.integers(start + 1, min(motion.n_frames, start + 70) + 1))
        count = int(rng.integers(1, min(stop - start, 12) + 1))
        keys = sorted(rng.choice(np.arange(start, stop), count, replace=False).tolist())
        score, span_mm, without_mm = score_inbetweens(motion, kp.Selection(keys, motion.n_frames, "any"), (start, stop))
        errors, span, without = naive.inbetween_errors(motion, keys, start, stop)
        assert score is not None
        assert score.mean_mm == pytest.approx(errors.mean(), abs=1e-6), case
        assert score.p95_mm == pytest.approx(np.percentile(errors, 95), abs=1e-6)
        assert score.max_mm == pytest.approx(errors.max(), abs=1e-6)
        worst = errors[score.worst_frame - start, motion.joint(score.worst_joint)]
        assert worst == pytest.approx(errors.max(), abs=1e-6)
        assert span_mm == pytest.approx(span, abs=1e-6)
        assert without_mm == (pytest.approx(without, abs=1e-6) if count > 1 else None)


def test_a_figure_without_height_has_no_millimetres(motion: kp.Motion) -> None:
    point = kp.Skeleton(names=("only",), parents=[-1], offsets=[[0, 0, 0]], rotation_orders=("XYZ",))
    path = np.cumsum(np.ones((9, 1, 3)), axis=0) ** 2
    flat = replace(motion, skeleton=point, translations=path * [1, 0, 1], rotations=np.tile([1.0, 0, 0, 0], (9, 1, 1)))
    assert flat.height == 0
    chosen = select_with_report(flat, keys=4)
    assert len(chosen.selection) == 4
    assert chosen.score is chosen.span_mm is chosen.without_mm is None
    with raises(kp.OptionError, code="no_height"):
        select_with_report(flat, tolerance_mm=5)
