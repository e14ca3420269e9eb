"""Recipes, ladders, tolerances and curves: the very results of the verbs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.metrics import position_errors_mm
from keypose.workbench import Bench, Recipe, compare, ladder_of, usual_options, with_keys

MORE: dict[str, Any] = {
    "a range": {"first": 20, "last": 90},
    "joints and weights": {"joints": ["hands", "head"], "weights": {"head": 3.0}},
    "smoothed": {"smoothing_s": 0.1},
    "pins": {"pins": [33, 71], "excluded": [40, 41]},
    "options": {"options": {"objective": "sum", "cost": "chord"}},
}


def same(one: kp.Ladder, other: kp.Ladder) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("counts", "frames", "cost_values"))


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_a_ladder_of_any_method_is_that_of_the_verb(motion: kp.Motion, method: str) -> None:
    rungs = ladder_of(motion, Recipe(method=method))
    assert same(rungs.ladder, kp.ladder(motion, method, max_keys=60, **rungs.options))
    assert rungs.auto == len(kp.select(motion, method, max_keys=60, auto=True, **rungs.options))
    assert rungs.ladder.natural == kp.ladder(motion, method, max_keys=60, **rungs.options).natural


@pytest.mark.parametrize("told", MORE.values(), ids=MORE.keys())
def test_what_a_recipe_says_is_what_the_verb_is_told(motion: kp.Motion, told: dict[str, Any]) -> None:
    recipe = Recipe.of(told)
    rungs = ladder_of(motion, recipe)
    options: dict[str, Any] = {**rungs.options}
    if "first" in told:
        options["frames"] = (20, 91)
        assert rungs.ladder.frames.min() == 20 and rungs.ladder.frames.max() == 90
    for name in ("joints", "weights", "smoothing_s", "pins", "excluded"):
        if name in told:
            options[name] = told[name]
    assert same(rungs.ladder, kp.ladder(motion, "salient", max_keys=recipe.most_keys(motion), **options))


def test_keys_are_chosen_by_curves_where_there_is_time_and_by_shape_where_not() -> None:
    short, long = kp.demo_motion(fps=30)[:100], kp.demo_motion(fps=120)
    assert usual_options(short, Recipe()) == {"cost": "inbetween", "greatest_gap_frames": 99}
    assert ladder_of(short, Recipe()).unit == "mm"
    assert long.n_frames > 1000 and usual_options(long, Recipe()) == {}
    assert usual_options(long, Recipe(last=200)) == {"cost": "inbetween", "greatest_gap_frames": 200}
    assert usual_options(short, Recipe(method="farthest")) == usual_options(short, Recipe(smoothing_s=0.1)) == {}
    assert ladder_of(short, Recipe(options={})).unit == "units of the features"


@pytest.mark.parametrize(("n", "most"), [(1, 1), (40, 40), (120, 60), (500, 100)])
def test_a_ladder_goes_up_to_as_many_keys_as_one_browses(n: int, most: int) -> None:
    motion = kp.demo_motion(fps=60)[:n]
    assert ladder_of(motion, Recipe(method="farthest")).ladder.counts[-1] <= max(most, 1)
    assert Recipe().most_keys(motion) == max(2, most)
    assert Recipe(pins=tuple(range(0, n, 2))).most_keys(motion) >= min(n, n // 2 + 2)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"methods": 1}, "'methods', expected only method"),
        ({"method": "best"}, "method='best', expected one of"),
        ({"pins": [1.5]}, "pins=1.5, expected a whole number"),
        ({"pins": [-1]}, "expected at least 0"),
        ({"joints": "head"}, "expected several values"),
        ({"weights": {"head": "much"}}, "weights of head='much', expected a number"),
        ({"first": 9, "last": 5}, "frames 9 to 5, expected a range within 0 to 119"),
        ({"last": 120}, "expected a range within 0 to 119"),
        ({"options": {"threads": 64}}, "option 'threads' of salient, expected one of"),
        ({"options": {"pins": [3]}}, "option 'pins' of salient"),
        ({"smoothing_s": 11}, "smoothing_s=11"),
        ({"max_keys": 1}, "max_keys=1, expected at least 2"),
        ({"method": "uniform", "pins": [3]}, "uniform takes no pins"),
    ],
)
def test_what_a_recipe_cannot_be_is_said(motion: kp.Motion, told: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError) as caught:
        ladder_of(motion, Recipe.of(told))
    assert says in str(caught.value)


def test_so_many_keys_or_the_most_below(motion: kp.Motion) -> None:
    assert len(with_keys(motion, Recipe(), 9)) == 9
    still = replace(
        motion, translations=motion.translations[:1].repeat(9, 0), rotations=motion.rotations[:1].repeat(9, 0)
    )
    assert len(with_keys(still, Recipe(method="farthest"), 5)) <= 5


@pytest.mark.parametrize("interpolation", ["bezier", "linear", "natural"])
@pytest.mark.parametrize("tolerance_mm", [30.0, 8.0])
def test_fewest_keys_within_a_tolerance(bench: Bench, interpolation: Any, tolerance_mm: float) -> None:
    found = bench.within(Recipe(), tolerance_mm, interpolation)

    def greatest_mm(frames: Any) -> float:
        keyed = kp.unbake(bench.motion, frames, interpolation=interpolation)
        return float(position_errors_mm(bench.motion, keyed.sample()).max())

    assert greatest_mm(found) <= tolerance_mm
    assert found == tuple(kp.unbake(bench.motion, tolerance_mm=tolerance_mm, interpolation=interpolation).keys.tolist())


@pytest.mark.parametrize("told", [{"method": "farthest"}, {"options": {"cost": "chord"}}])
def test_other_recipes_keep_a_tolerance_too(bench: Bench, told: Any) -> None:
    found, ladder = bench.within(Recipe(**told), 40.0), bench.rungs(Recipe(**told)).ladder
    for n in ladder.counts[ladder.counts <= len(found)].tolist():
        error = position_errors_mm(bench.motion, kp.unbake(bench.motion, ladder.at(n)).sample()).max()
        assert (error <= 40.0) == (n == len(found))


def test_a_range_keeps_a_tolerance_by_itself(bench: Bench) -> None:
    found = bench.within(Recipe(first=10, last=109, pins=(5, 40)), 25.0)
    part = kp.unbake(bench.motion[10:110], tolerance_mm=25.0, pins=(30,))
    assert found == tuple((part.keys + 10).tolist()) and 40 in found
    sampled = kp.unbake(bench.motion, found).sample()
    assert position_errors_mm(bench.motion, sampled)[10:110].max() <= 25.0


def test_a_tolerance_that_cannot_be_kept_says_what_can(bench: Bench) -> None:
    with pytest.raises(OptionError, match=r"up to 5 keys stays within 0\.01 mm; with 5 keys the largest error is"):
        bench.within(Recipe(max_keys=5, options={}), 0.01)


@pytest.mark.parametrize("interpolation", ["bezier", "linear", "natural"])
@pytest.mark.parametrize("polish", [True, False])
def test_curves_are_those_of_unbake(bench: Bench, interpolation: Any, polish: bool) -> None:
    frames = (0, 31, 60, 88, 119)
    made = bench.unbaked(frames, interpolation, polish=polish)
    wanted = kp.unbake(
        bench.motion, frames, interpolation=interpolation, polish=polish and interpolation == "bezier", residual=False
    )
    for name in ("translations", "rotations"):
        for slopes in ("values", "arriving", "leaving"):
            ours, theirs = (getattr(getattr(each, name), slopes) for each in (made.keyed, wanted))
            np.testing.assert_array_equal(ours, theirs)
    score = kp.score(bench.motion, wanted)
    assert made.straying is not None
    assert made.straying.max_mm == pytest.approx(score.max_mm) and made.straying.worst_joint == score.worst_joint
    np.testing.assert_allclose(made.straying.per_frame_mm, score.per_frame_mm)
    assert made.straying.foot_slide_mm == (score.foot_slide_mm if polish else None)


def test_the_whole_detail_is_the_capture_again(bench: Bench) -> None:
    made = bench.unbaked((0, 60, 119), residual=1.0, polish=True)
    assert made.straying is not None and made.straying.max_mm < 1e-6
    np.testing.assert_allclose(made.motion.world_positions(), bench.motion.world_positions(), atol=1e-9)


def test_what_was_made_lately_is_not_made_again(bench: Bench) -> None:
    assert bench.rungs(Recipe()) is bench.rungs(Recipe.of({"pins": []}))
    assert bench.rungs(Recipe()) is not bench.rungs(Recipe(pins=(5,)))
    frames = (0, 60, 119)
    assert bench.keyed(frames, "bezier", polish=True) is bench.keyed([119, 0, 60], "bezier", polish=True)
    assert bench.keyed(frames, "bezier", polish=True) is not bench.keyed(frames, "bezier", polish=False)


def test_keys_outside_the_clip_are_refused(bench: Bench) -> None:
    with pytest.raises(OptionError, match="expected at least one of 0 to 119"):
        bench.unbaked((0, 120))
    with pytest.raises(OptionError, match="residual=3"):
        bench.unbaked((0, 119), residual=3)


def test_methods_side_by_side_have_as_many_keys(bench: Bench) -> None:
    rows = compare(bench, ("salient", "uniform", "farthest"), 9)
    assert [len(row.frames) for row in rows] == [9, 9, 9]
    assert len({row.frames for row in rows}) == 3
    best, even = (row.unbaked.straying for row in rows[:2])
    assert best is not None and even is not None and best.max_mm < even.max_mm


def test_the_longer_a_clip_the_nearer_its_keys_must_be() -> None:
    skeleton = kp.Skeleton(("hips", "head"), np.array([-1, 0]), np.array([[0.0, 1, 0], [0, 0.7, 0]]))

    def lasting(n: int) -> kp.Motion:
        return kp.Motion(
            "long", skeleton, 120.0, np.zeros((n, 2, 3)) + skeleton.offsets, np.tile((1.0, 0, 0, 0), (n, 2, 1))
        )

    assert usual_options(lasting(4800), Recipe()) == {}
    assert usual_options(lasting(20_000), Recipe()) == {"greatest_gap_frames": 600}
    assert Recipe().most_keys(lasting(20_000)) == 400
    assert Recipe().most_keys(lasting(100_000)) == 2 * 835  # of at least 835, a second apart
    with pytest.raises(OptionError, match="200,000 frames at once would need 3,335 keys to begin with"):
        Recipe().most_keys(lasting(200_000))
    assert Recipe(method="farthest").most_keys(lasting(200_000)) == 400


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_whatever_an_option_is_told_is_taken_or_refused_in_words(method: str) -> None:
    bench = Bench(kp.demo_motion(fps=30)[200:240])
    for option in next(row for row in kp.methods() if row.name == method).options:
        for value in ("x", -1, 10**30, None, [[]], {"a": {}}, float("nan")):
            try:
                bench.rungs(Recipe.of({"method": method, "options": {option: value}}))
            except kp.KeyposeError as error:
                assert str(error)
