"""Specs, ladders, tolerances and curves match the Python API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.api.selection_report import select_with_report
from keypose.clip_edit import (
    ClipEditor,
    CurveSpec,
    JointKeysSpec,
    KeyedSpec,
    SelectionSpec,
    compare_methods,
    compute_ladder_view,
    default_options,
    select_keys,
)
from keypose.errors import OptionError
from keypose.extremes import find_holds
from keypose.metrics import position_errors_mm
from support.errors import raises
from support.motions import motion as static_motion

AUTO_MM = 17.0  # 1 % of the height

SPECS: dict[str, Any] = {
    "a range": {"first_frame": 20, "last_frame": 90},
    "joints and weights": {"joints": ["hands", "head"], "weights": {"head": 3.0}},
    "smoothed": {"smoothing_s": 0.1},
    "pins": {"pins": [33, 71], "excluded": [40, 41]},
    "options": {"options": {"objective": "sum", "cost": "chord"}},
}


def is_same(first: kp.Ladder, second: kp.Ladder) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in ("counts", "frames", "cost_values")
    )


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_ladder_view_matches_ladder(motion: kp.Motion, method: str) -> None:
    view = compute_ladder_view(motion, SelectionSpec(method=method))
    assert is_same(view.ladder, kp.ladder(motion, method, max_keys=60, **view.options))
    report = select_with_report(motion, method, max_keys=60, auto=True, **view.options)
    assert report.score is not None
    assert view.auto == (len(report.selection) if report.score.max_mm <= AUTO_MM else None)
    assert view.ladder.natural == kp.ladder(motion, method, max_keys=60, **view.options).natural


@pytest.mark.parametrize("fields", SPECS.values(), ids=SPECS.keys())
def test_spec_fields_become_ladder_options(motion: kp.Motion, fields: dict[str, Any]) -> None:
    spec = SelectionSpec(**fields)
    view = compute_ladder_view(motion, spec)
    options: dict[str, Any] = {**view.options}
    if "first_frame" in fields:
        options["frames"] = (20, 91)
        assert view.ladder.frames.min() == 20 and view.ladder.frames.max() == 90
    for name in ("joints", "weights", "smoothing_s", "pins", "excluded"):
        if name in fields:
            options[name] = fields[name]
    assert is_same(view.ladder, kp.ladder(motion, "salient", max_keys=spec.ladder_max_keys(motion), **options))


def test_default_options_by_length() -> None:
    short, long = kp.demo_motion(fps=30)[:100], kp.demo_motion(fps=120)
    assert default_options(short, SelectionSpec()) == {"cost": "inbetween", "max_gap_frames": 99}
    assert compute_ladder_view(short, SelectionSpec()).unit == "mm"
    assert long.n_frames > 1000 and default_options(long, SelectionSpec()) == {}
    assert default_options(long, SelectionSpec(last_frame=200)) == {"cost": "inbetween", "max_gap_frames": 200}
    assert (
        default_options(short, SelectionSpec(method="farthest"))
        == default_options(short, SelectionSpec(smoothing_s=0.1))
        == {}
    )
    assert compute_ladder_view(short, SelectionSpec(options={"cost": "chord"})).unit == "units of the features"


def test_costs_of_a_figure_without_height_are_in_units_of_the_file() -> None:
    flat = static_motion([-1, 0, 1], np.zeros((3, 3)), frames=20)
    translations = flat.translations.copy()
    translations[:, 0, 0] = np.linspace(0, 1, 20) ** 2
    moving = replace(flat, translations=translations)
    view = compute_ladder_view(moving, SelectionSpec())
    assert view.options["cost"] == "inbetween" and view.unit == "units of the file"


@pytest.mark.parametrize(("n", "max_keys"), [(1, 1), (40, 40), (120, 60), (500, 100)])
def test_default_ladder_size(n: int, max_keys: int) -> None:
    motion = kp.demo_motion(fps=60)[:n]
    assert compute_ladder_view(motion, SelectionSpec(method="farthest")).ladder.counts[-1] <= max(max_keys, 1)
    assert SelectionSpec().ladder_max_keys(motion) == max(2, max_keys)
    assert SelectionSpec(pins=tuple(range(0, n, 2))).ladder_max_keys(motion) >= min(n, n // 2 + 2)


@pytest.mark.parametrize(
    ("payload", "fields", "message"),
    [
        ({"method": "best"}, {"option": "method", "value": "best"}, "method='best', expected one of"),
        ({"pins": [1.5]}, {"option": "pins", "value": 1.5}, "pins=1.5, expected a whole number"),
        ({"pins": [-1]}, {"option": "pins", "value": -1}, "pins=-1, expected at least 0"),
        ({"joints": "head"}, {"option": "joints", "value": "head"}, "joints='head', expected several values"),
        (
            {"weights": {"head": "much"}},
            {"option": "weights of head", "value": "much"},
            "weights of head='much', expected a number",
        ),
        (
            {"first_frame": 9, "last_frame": 5},
            {"option": "first_frame", "value": 9},
            "first_frame=9, expected a range within 0 to 119",
        ),
        (
            {"last_frame": 120},
            {"option": "last_frame", "value": 120},
            "last_frame=120, expected a range within 0 to 119",
        ),
        (
            {"options": {"threads": 64}},
            {"option": "options", "value": "threads"},
            "options='threads' is no option of salient, expected one of objective",
        ),
        ({"options": {"pins": [3]}}, {"option": "options", "value": "pins"}, "options='pins' is no option of salient"),
        ({"smoothing_s": 3601}, {"option": "smoothing_s", "value": 3601}, "smoothing_s=3601"),
        ({"max_keys": 1}, {"option": "max_keys", "value": 1}, "max_keys=1, expected at least 2"),
        (
            {"method": "uniform", "pins": [3]},
            {"option": "pins", "value": (3,)},
            "pins=(3,) with uniform, expected the method salient",
        ),
    ],
)
def test_invalid_specs(motion: kp.Motion, payload: dict[str, Any], fields: dict[str, Any], message: str) -> None:
    """Messages of selections are pinned here only."""
    with raises(OptionError, code="option", **fields) as excinfo:
        compute_ladder_view(motion, SelectionSpec(**payload))
    assert str(excinfo.value).startswith(message)


def test_select_keys(motion: kp.Motion) -> None:
    assert len(select_keys(motion, SelectionSpec(), 9)) == 9
    still = replace(
        motion, translations=motion.translations[:1].repeat(9, 0), rotations=motion.rotations[:1].repeat(9, 0)
    )
    assert len(select_keys(still, SelectionSpec(method="farthest"), 5)) <= 5


@pytest.mark.parametrize("interpolation", ["bezier", "linear", "natural"])
@pytest.mark.parametrize("tolerance_mm", [30.0, 8.0])
def test_select_within_tolerance(editor: ClipEditor, interpolation: Any, tolerance_mm: float) -> None:
    keys = editor.select_within(SelectionSpec(), tolerance_mm, CurveSpec(interpolation=interpolation))

    def max_error_mm(frames: Any) -> float:
        keyed = kp.unbake(editor.motion, frames, interpolation=interpolation)
        return float(position_errors_mm(editor.motion, keyed.sample()).max())

    assert max_error_mm(keys) <= tolerance_mm
    assert keys == tuple(kp.unbake(editor.motion, tolerance_mm=tolerance_mm, interpolation=interpolation).keys.tolist())


@pytest.mark.parametrize("interpolation", ["bezier", "linear", "natural"])
@pytest.mark.parametrize("fps", [30, 120])
def test_automatic_keys_are_those_of_unbake(motion: kp.Motion, fps: int, interpolation: Any) -> None:
    """Also at a high rate, at which keys are selected by their chords while a slider moves."""
    motion = motion if fps == 30 else kp.demo_motion(fps=fps)[800:1280]
    editor = ClipEditor(motion)
    keys = editor.select_within(SelectionSpec(), curves=CurveSpec(interpolation=interpolation))
    unbaked = kp.unbake(motion, auto=True, interpolation=interpolation, residual=False)

    def max_error_mm(frames: Any) -> float:
        return float(
            position_errors_mm(
                motion, editor.fit_curves(KeyedSpec(frames=frames, interpolation=interpolation)).motion
            ).max()
        )

    assert max_error_mm(keys) <= AUTO_MM
    if max_error_mm(unbaked.keys) <= AUTO_MM:
        assert keys == tuple(unbaked.keys.tolist())
    else:  # they hold only with the curves that were fitted to the tolerance
        assert unbaked.n_keys <= len(keys) <= unbaked.n_keys + 3
    if interpolation == "bezier":
        estimate = editor.ladder_view(SelectionSpec()).auto
        assert estimate is not None and len(keys) <= estimate


def test_automatic_keys_of_other_specs(editor: ClipEditor) -> None:
    part = editor.select_within(SelectionSpec(first_frame=10, last_frame=109, pins=(5, 40)))
    assert 40 in part and part[0] == 10 and part[-1] == 109
    for spec in (SelectionSpec(method="uniform"), SelectionSpec(method="farthest", max_keys=110)):
        keys, ladder = editor.select_within(spec), editor.ladder_view(replace(spec, max_keys=110)).ladder
        errors = [
            position_errors_mm(editor.motion, kp.unbake(editor.motion, ladder.at(n)).sample()).max()
            for n in (len(keys), *ladder.counts[ladder.counts < len(keys)][-3:].tolist())
        ]
        assert errors[0] <= AUTO_MM < min(errors[1:])
    with raises(OptionError, problem="cannot be reached with up to 5 keys"):
        editor.select_within(SelectionSpec(method="farthest", max_keys=5))


def test_automatic_keys_of_a_figure_without_height() -> None:
    still = static_motion([-1, 0], np.zeros((2, 3)), frames=40)
    translations = still.translations.copy()
    translations[:, 0, 1] = np.sin(np.linspace(0, 9, 40))
    rising = replace(still, translations=translations)
    keys = ClipEditor(rising).select_within(SelectionSpec())
    assert keys == tuple(kp.unbake(rising, auto=True).keys.tolist())


@pytest.mark.parametrize("fields", [{"method": "farthest"}, {"options": {"cost": "chord"}}])
def test_select_within_tolerance_of_other_specs(editor: ClipEditor, fields: Any) -> None:
    keys, ladder = (
        editor.select_within(SelectionSpec(**fields), 40.0),
        editor.ladder_view(SelectionSpec(**fields)).ladder,
    )
    for n in ladder.counts[ladder.counts <= len(keys)].tolist():
        error = position_errors_mm(editor.motion, kp.unbake(editor.motion, ladder.at(n)).sample()).max()
        assert (error <= 40.0) == (n == len(keys))


def test_select_within_tolerance_of_a_range(editor: ClipEditor) -> None:
    keys = editor.select_within(SelectionSpec(first_frame=10, last_frame=109, pins=(5, 40)), 25.0)
    section = kp.unbake(editor.motion[10:110], tolerance_mm=25.0, pins=(30,))
    assert keys == tuple((section.keys + 10).tolist()) and 40 in keys
    motion = kp.unbake(editor.motion, keys).sample()
    assert position_errors_mm(editor.motion, motion)[10:110].max() <= 25.0


def test_unreachable_tolerance(editor: ClipEditor) -> None:
    with raises(OptionError, option="tolerance_mm", value=0.01, problem="cannot be reached with up to 5 keys"):
        editor.select_within(SelectionSpec(max_keys=5, options={"cost": "chord"}), 0.01)


@pytest.mark.parametrize("interpolation", ["bezier", "linear", "natural"])
@pytest.mark.parametrize("polish", [True, False])
def test_curves_match_unbake(editor: ClipEditor, interpolation: Any, polish: bool) -> None:
    frames = (0, 31, 60, 88, 119)
    curves = editor.fit_curves(KeyedSpec(frames=frames, interpolation=interpolation), polish=polish)
    expected = kp.unbake(
        editor.motion, frames, interpolation=interpolation, polish=polish and interpolation == "bezier", residual=False
    )
    for name in ("translations", "rotations"):
        for attribute in ("values", "in_tangents", "out_tangents"):
            ours, theirs = (getattr(getattr(each, name), attribute) for each in (curves.keyed, expected))
            np.testing.assert_array_equal(ours, theirs)
    score = kp.score(editor.motion, expected)
    assert curves.score is not None
    assert curves.score.max_mm == pytest.approx(score.max_mm) and curves.score.worst_joint == score.worst_joint
    np.testing.assert_allclose(curves.score.per_frame_mm, score.per_frame_mm)
    assert curves.score.foot_slide_mm == (score.foot_slide_mm if polish else None)


def test_full_residual_gives_the_capture(editor: ClipEditor) -> None:
    curves = editor.fit_curves(KeyedSpec(frames=(0, 60, 119)), residual=1.0, polish=True)
    assert curves.score is not None and curves.score.max_mm < 1e-6
    np.testing.assert_allclose(curves.motion.world_positions(), editor.motion.world_positions(), atol=1e-9)


def test_results_are_cached(editor: ClipEditor) -> None:
    assert editor.ladder_view(SelectionSpec()) is editor.ladder_view(SelectionSpec(pins=()))
    assert editor.ladder_view(SelectionSpec()) is not editor.ladder_view(SelectionSpec(pins=(5,)))
    frames = (0, 60, 119)
    assert editor.fit_keys(KeyedSpec(frames=frames), polish=True) is editor.fit_keys(
        KeyedSpec(frames=(119, 0, 60)), polish=True
    )
    assert editor.fit_keys(KeyedSpec(frames=frames), polish=True) is not editor.fit_keys(
        KeyedSpec(frames=frames), polish=False
    )


def test_invalid_keys_and_residual(editor: ClipEditor) -> None:
    with raises(OptionError, option="frames"):
        editor.fit_curves(KeyedSpec(frames=(0, 120)))
    with raises(OptionError, option="residual", value=3):
        editor.fit_curves(KeyedSpec(frames=(0, 119)), residual=3)


def test_compare_methods(editor: ClipEditor) -> None:
    rows = compare_methods(editor, ("salient", "uniform", "farthest"), 9)
    assert [len(row.frames) for row in rows] == [9, 9, 9]
    assert len({row.frames for row in rows}) == 3
    best, even = (row.curves.score for row in rows[:2])
    assert best is not None and even is not None and best.max_mm < even.max_mm


def test_compare_methods_with_automatic_keys(editor: ClipEditor) -> None:
    automatic = editor.select_within(SelectionSpec())
    best, even = compare_methods(editor, ("salient", "uniform"))
    assert best.frames == automatic and len(even.frames) == len(automatic)
    assert best.curves.score is not None and best.curves.score.max_mm <= AUTO_MM


def test_default_gap_of_long_clips() -> None:
    skeleton = kp.Skeleton(("hips", "head"), np.array([-1, 0]), np.array([[0.0, 1, 0], [0, 0.7, 0]]))

    def still_motion(n: int) -> kp.Motion:
        return kp.Motion(
            "long", skeleton, 120.0, np.zeros((n, 2, 3)) + skeleton.offsets, np.tile((1.0, 0, 0, 0), (n, 2, 1))
        )

    assert default_options(still_motion(4800), SelectionSpec()) == {}
    assert default_options(still_motion(20_000), SelectionSpec()) == {"max_gap_frames": 600}
    assert SelectionSpec().ladder_max_keys(still_motion(20_000)) == 400
    assert (
        SelectionSpec().ladder_max_keys(still_motion(100_000)) == 2 * 835
    )  # the smallest selection has 835, a second apart
    with raises(OptionError, code="too_slow"):
        SelectionSpec().ladder_max_keys(still_motion(200_000))
    assert SelectionSpec(method="farthest").ladder_max_keys(still_motion(200_000)) == 400


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_arbitrary_option_values(method: str) -> None:
    editor = ClipEditor(kp.demo_motion(fps=30)[200:240])
    for option in next(row for row in kp.methods() if row.name == method).options:
        for value in ("x", -1, 10**30, None, [[]], {"a": {}}, float("nan")):
            try:
                editor.ladder_view(SelectionSpec(method=method, options={option: value}))
            except kp.KeyposeError as error:
                assert str(error)


@pytest.mark.parametrize(
    ("options", "gives"),
    [
        ({"objective": "sum"}, {"objective": "sum", "cost": "inbetween"}),
        ({"cost": "chord"}, {"cost": "chord"}),
        ({"min_gap_frames": 6}, {"min_gap_frames": 6, "cost": "inbetween"}),
    ],
)
def test_options_that_are_set_are_added_to_the_best_ones(editor: ClipEditor, options: Any, gives: Any) -> None:
    view = editor.ladder_view(SelectionSpec(options=options, max_keys=12))
    assert gives.items() <= view.options.items()
    same = kp.ladder(editor.motion_without_flips, max_keys=12, **view.options)
    assert same.frames.tolist() == view.ladder.frames.tolist()


def test_features_and_smoothing_are_those_of_ladder(editor: ClipEditor) -> None:
    for seen in ({"features": "euler"}, {"smoothing_s": 0.2}):
        view = editor.ladder_view(SelectionSpec(max_keys=12, **seen))
        assert "cost" not in view.options
        expected = kp.ladder(editor.motion_without_flips, max_keys=12, **view.options, **seen)
        assert view.ladder.frames.tolist() == expected.frames.tolist()


def test_curves_have_the_options_of_unbake(editor: ClipEditor) -> None:
    frames = (0, 40, 80, 119)
    for options in ({"rotation": "euler"}, {"jump_penalty": 0.01}, {"shared_tangents": True}, {"polish": False}):
        keyed = editor.fit_keys(KeyedSpec(frames=frames, **options))
        expected = kp.unbake(editor.motion, frames, residual=False, **options)
        assert np.array_equal(keyed.rotations.values, expected.rotations.values)
        assert np.array_equal(keyed.rotations.in_tangents, expected.rotations.in_tangents)
    keys = editor.select_within(SelectionSpec(), 30.0, CurveSpec(rotation="euler"))
    assert kp.score(editor.motion, kp.unbake(editor.motion, keys, rotation="euler")).max_outside_flips_mm <= 30.0
    with raises(OptionError, option="jump_penalty"):
        editor.fit_keys(KeyedSpec(frames=frames, interpolation="linear", jump_penalty=0.1))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (JointKeysSpec(method="refine", options={"threshold": 0.3}), {"method": "refine", "threshold": 0.3}),
        (JointKeysSpec(method="saliency"), {"method": "saliency"}),
        (JointKeysSpec(keys=6, pins=(20,)), {"keys": 6, "pins": (20,)}),
        (JointKeysSpec(tolerance_mm=40.0), {"tolerance_mm": 40.0}),
    ],
)
def test_keys_of_each_joint_are_those_of_unbake(editor: ClipEditor, spec: JointKeysSpec, options: Any) -> None:
    keyed = editor.fit_keys(KeyedSpec(joint_keys=spec))
    expected = kp.unbake(editor.motion, per="joint", residual=False, **options)
    assert keyed.is_per_joint
    assert np.array_equal(keyed.rotations.key_flags(), expected.rotations.key_flags())
    assert np.array_equal(keyed.rotations.values, expected.rotations.values)
    assert editor.fit_keys(KeyedSpec(joint_keys=spec), polish=False) is keyed  # they are not polished


def test_table_of_refine_has_the_options_of_the_keys(editor: ClipEditor) -> None:
    spec = JointKeysSpec(method="refine", options={"threshold": 0.5})
    rows = editor.refine_rows(spec)
    assert rows == kp.refine_table(editor.motion_without_flips, threshold=0.5).rows
    keyed = editor.fit_keys(KeyedSpec(joint_keys=spec))
    for row in rows:
        own = set(keyed.joint_keys(row.joint).tolist())
        assert set(row.key_frames) <= own or not any(row.keys_per_axis)


@pytest.mark.parametrize("fields", [{}, {"frames": (0, 9), "joint_keys": JointKeysSpec()}])
def test_keys_are_either_shared_or_of_each_joint(fields: Any) -> None:
    with raises(OptionError, option="frames", expected="either frames or joint_keys"):
        KeyedSpec(**fields).check_keys()


def test_weights_are_distinguished_by_their_order() -> None:
    """Of two names that mean the same joint, the later one counts."""
    first, second = ({"LeftHand": 2.0, "left_arm": 1.0}, {"left_arm": 1.0, "LeftHand": 2.0})
    assert SelectionSpec(weights=first).cache_key() != SelectionSpec(weights=second).cache_key()


def test_keys_at_extremes(editor: ClipEditor) -> None:
    """A number of keys, a tolerance and automatic keys give those of the Python API, at ends of travel of the part."""
    motion = editor.motion
    plain, leading = SelectionSpec(method="salient", options={"cost": "chord"}), {"leading": "right_hand"}
    led = replace(plain, **leading)
    expected = kp.select(motion, "salient", keys=7, cost="chord", **leading).frames.tolist()
    assert list(editor.select_count(led, 7)) == expected != list(editor.select_count(plain, 7))
    assert editor.ladder_view(led) is editor.ladder_view(plain)  # only the selected keys are moved
    assert list(editor.select_within(SelectionSpec(**leading))) == kp.unbake(motion, auto=True, **leading).keys.tolist()
    assert (
        list(editor.select_within(SelectionSpec(**leading), 40.0))
        == kp.unbake(motion, tolerance_mm=40.0, **leading).keys.tolist()
    )
    within, moved = (editor.select_within(spec, 60.0) for spec in (plain, led))
    assert len(within) == len(moved)
    errors_mm = position_errors_mm(motion, kp.unbake(motion, moved).sample())
    assert errors_mm.max() <= 60.0


@pytest.mark.parametrize("fields", [{"method": "farthest"}, {"options": {"objective": "sum"}}])
def test_keys_that_cannot_be_moved_to_extremes(editor: ClipEditor, fields: Any) -> None:
    spec = SelectionSpec(leading="hips", **fields)
    with raises(OptionError, option="leading", value="hips"):
        editor.select_within(spec)
    with raises(OptionError, option="leading", value="hips"):
        editor.select_count(spec, 7)


def test_number_of_keys_that_the_ladder_does_not_have(editor: ClipEditor) -> None:
    with raises(OptionError, option="keys", value=4000):
        editor.select_count(SelectionSpec(extremes_first=True), 4000)


def test_keys_at_holds_stay_while_others_are_moved_to_extremes() -> None:
    motion = kp.demo_motion(fps=30)[:370]
    editor, spec = ClipEditor(motion), SelectionSpec(leading="right_hand")
    keys = editor.ladder_view(spec).ladder.at(12).frames
    at_holds = np.intersect1d(keys, np.ravel(find_holds(motion)))
    moved = editor.select_count(spec, 12)
    assert len(at_holds) and set(at_holds.tolist()) <= set(moved) != set(keys.tolist())
