"""One interface to every method: options are converted to the input of the method."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import keypose as kp
from keypose.errors import UNSET, Hint, KeyposeError, ModelError, OptionError, UnknownJoint
from keypose.features import compute_features
from keypose.methods import METHODS
from reference import naive
from support.errors import Pattern, raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_gets_its_default_features(motion, method):
    row = METHODS[method]
    direct = row.ladder(compute_features(motion, row.feature_kind, row.joints), 12)
    np.testing.assert_array_equal(kp.ladder(motion, method, max_keys=12).frames, direct.frames)


@pytest.mark.parametrize("method", METHODS)
def test_select_returns_an_entry_of_the_ladder(motion, method):
    assert list(kp.select(motion, method, keys=9)) == list(kp.ladder(motion, method, max_keys=30).at(9))


@pytest.mark.parametrize("method", METHODS)
def test_plain_arrays_too(method):
    values = np.cumsum(np.random.default_rng(0).normal(size=(80, 6)), axis=0)
    assert len(kp.select(values, method, keys=7, fps=30)) == 7
    assert len(kp.select(values.tolist(), method, keys=7, fps=30)) == 7


@pytest.mark.parametrize("method", METHODS)
def test_a_range_of_frames_in_frames_of_the_whole(motion, method):
    ladder = kp.ladder(motion, method, max_keys=10, frames=(100, 220))
    alone = kp.ladder(motion[100:220], method, max_keys=10)
    assert ladder.n_frames == motion.n_frames
    np.testing.assert_array_equal(ladder.frames, alone.frames + 100)
    assert kp.select(motion, method, keys=8, frames=slice(300, None)).frames[0] >= 300


def test_joints_weights_features_and_smoothing_reach_the_method(motion):
    method_input = compute_features(motion, "parent_relative", ["arms", "head"], {"hands": 4}, 0.1)
    direct = METHODS["farthest"].ladder(method_input, 8)
    options = kp.ladder(
        motion,
        "farthest",
        max_keys=8,
        features="parent_relative",
        joints=["arms", "head"],
        weights={"hands": 4},
        smoothing_s=0.1,
    )
    np.testing.assert_array_equal(options.frames, direct.frames)


def test_unknown_methods_and_options(motion):
    with raises(
        OptionError, option="method", value="salent", hint=Pattern("^did you mean 'salient'. known: .*, farthest, ")
    ):
        kp.ladder(motion, "salent")
    with raises(OptionError, code="unknown_option", value="pins"):
        kp.ladder(motion, "farthest", pins=[3])
    with raises(OptionError, code="unknown_option", value="objectiv", hint=Pattern("^did you mean 'objective'.")):
        kp.ladder(motion, objectiv="sum")
    with raises(UnknownJoint, value="left_hnd"):
        kp.ladder(motion, joints=["left_hnd"])
    with raises(OptionError, option="features", value="local"):
        kp.ladder(motion, features="local")


def test_arguments_other_than_motions_are_rejected():
    for wrong in (
        None,
        5,
        "walk.bvh",
        np.float64(5),
        [[1, 2], [3]],
        np.zeros((3, 2, 2, 2)),
        np.zeros((4, 2), complex),
        object(),
    ):
        with pytest.raises(KeyposeError):
            kp.ladder(wrong)
    with raises(ModelError, option="array of frames and columns"):
        kp.ladder([[1.0, np.nan], [2.0, 3.0]])


def test_features_and_edge_costs_in_place_of_a_motion(motion):
    method_input = compute_features(motion, "world", "hands")
    np.testing.assert_array_equal(
        kp.ladder(method_input, max_keys=9).frames, kp.ladder(motion, joints="hands", max_keys=9).frames
    )
    costs = np.sqrt(naive.chord_costs(method_input.values[:40], "max", "largest"))
    table = np.array([[costs[i, min(i + g, 39)] for g in range(1, 40)] for i in range(40)])
    edges = kp.EdgeCosts(40, 39, table)
    by_points = kp.ladder(method_input[:40], max_keys=12)
    by_table = kp.ladder(edges, max_keys=12)
    np.testing.assert_allclose(by_table.cost_values, by_points.cost_values, rtol=1e-7, atol=1e-7)
    assert len(kp.select(edges, keys=7)) == 7
    with raises(OptionError, hint="edge costs are for salient"):
        kp.ladder(edges, "farthest")
    with raises(OptionError, option="smoothing_s", problem="is for motions and plain arrays"):
        kp.ladder(method_input, smoothing_s=0.1)


def test_options_that_need_a_motion():
    values = np.random.default_rng(0).normal(size=(30, 3))
    for option in ({"joints": "hands"}, {"weights": {"hands": 2}}, {"features": "world"}, {"pins": "contacts"}):
        name = next(iter(option))
        with raises(OptionError, option=name, value=option.get("pins", UNSET), problem=Pattern("^needs a Motion")):
            kp.ladder(values, **option)
    with raises(OptionError, option="tolerance_mm", value=5.0):
        kp.select(values, tolerance_mm=5)
    with raises(OptionError, option="fps", problem=Pattern("^is for plain arrays")):
        kp.ladder(kp.demo_motion(fps=30), fps=30)


@pytest.mark.parametrize("frames", [(5, 5), (9, 3), (-4, 20), (1.5, 20), "10:20", (1, 2, 3), slice(0, 50, 2)])
def test_invalid_ranges_are_rejected(motion, frames):
    with raises(OptionError, option="frames"):
        kp.ladder(motion, frames=frames)


def test_key_count_options_exclude_each_other(motion):
    expected = Hint("one of keys=, tolerance_mm= and auto=True", "one of --keys, --tolerance-mm and --auto")
    with raises(OptionError, code="conflicting_options", expected=expected):
        kp.select(motion, keys=5, auto=True)
    with raises(
        OptionError,
        code="missing_argument",
        value="salient",
        problem=Pattern("only synopsis, saliency, refine have one"),
    ):
        kp.select(motion)
    with raises(OptionError, option="keys", value=100000, problem=Pattern("selections of 2 to 370 keys here$")):
        kp.select(motion, keys=100_000)
    for wrong in (0, -1, 1):
        with raises(OptionError, option="keys", value=wrong, problem=Pattern("^is too few: salient needs at least 2")):
            kp.select(motion, keys=wrong)
    with raises(OptionError, option="keys", value=12, problem=Pattern("selections of 2 to 7 keys here$")):
        kp.select(motion, keys=12, min_gap_frames=60)
    with raises(OptionError, option="keys", value=30, expected=Hint("at most max_keys=20", "at most --max-keys 20")):
        kp.select(motion, keys=30, max_keys=20)
    with raises(OptionError, code="unknown_option", value="key", hint=Pattern("^did you mean 'keys'.")):
        kp.select(motion, key=12)
    with raises(OptionError, option="keys", value=2.5, expected="a whole number"):
        kp.select(motion, keys=2.5)


def test_methods_with_a_count_of_their_own(motion):
    for method in (row.name for row in kp.methods() if row.has_own_count):
        ladder = kp.ladder(motion, method)
        assert list(kp.select(motion, method)) == list(ladder.at(ladder.natural))
        assert sorted(ladder.at(5).order) == list(ladder.at(5))


def test_pins_in_frames_of_the_whole_motion(motion):
    selection = kp.select(motion, keys=9, frames=(50, 200), pins=[60, 177], excluded=[100])
    assert {50, 60, 177, 199} <= set(selection) and 100 not in selection
    assert 90 in kp.select(motion, keys=6, pins=90)
    with raises(OptionError, option="pins", expected="50 to 199"):
        kp.ladder(motion, frames=(50, 200), pins=[20])


def test_invalid_pins_are_rejected(motion):
    with raises(OptionError, option="excluded", problem="frame 60 is both pinned and excluded"):
        kp.ladder(motion, frames=(50, 200), pins=[60, 70], excluded=[60])
    for wrong, fields in {
        "contact": {"option": "pins", "expected": "frames or the words 'contacts' and 'extremes'"},
        1.5: {"option": "pins", "value": 1.5, "expected": "frames such as (30, 88)"},
        None: {"option": "pins", "value": None, "expected": "frames such as (30, 88)"},
    }.items():
        with raises(OptionError, **fields):
            kp.ladder(motion, pins=wrong)
    with raises(OptionError, option="excluded", value="contacts"):
        kp.ladder(motion, excluded=["contacts"])
    assert 90 in kp.select(motion, keys=5, pins=np.array([90]))


def test_extremes_then_breakdowns(motion):
    extremes = kp.select(motion, keys=6, joints="hips")
    ladder = kp.breakdowns(motion, extremes, joints="hands", max_keys=14)
    assert list(ladder.at(6)) == list(extremes)
    for selection in ladder:
        assert set(extremes) <= set(selection)
    plain = kp.ladder(motion, joints="hands", max_keys=14)
    assert ladder.costs[14] >= plain.costs[14] - 1e-9


def test_breakdowns_arguments(motion):
    with raises(OptionError, option="extremes", expected="those of the 370 of the motion"):
        kp.breakdowns(motion, kp.select(motion[:100], keys=4))
    with raises(OptionError, code="unknown_option", value="pins"):
        kp.breakdowns(motion, [30], pins=[40])
    for wrong in ([1.7], 5.5, None, "hips", [float("nan")], kp.ladder(motion, "uniform", max_keys=5)):
        with raises(OptionError, option="pins"):
            kp.breakdowns(motion, wrong)


def test_odd_arguments_end_in_our_errors(motion):
    odd = (np.array([1, 2]), [1], {}, 1j, object(), 10**400, float("nan"), "x")
    for value in odd:
        for call in (
            lambda value=value: kp.ladder(motion, value),
            lambda value=value: kp.ladder(motion, features=value),
            lambda value=value: kp.ladder(motion, weights=(value,)),
            lambda value=value: kp.ladder(motion, weights={"hands": value}),
            lambda value=value: kp.ladder(motion, weights={1: 2}),
            lambda value=value: kp.ladder(motion, smoothing_s=value),
            lambda value=value: kp.ladder(motion, frames=value),
            lambda value=value: kp.ladder(motion, pins=[value]),
            lambda value=value: kp.select(motion, keys=value),
            lambda value=value: kp.select(motion, tolerance_mm=value),
            lambda value=value: kp.select(motion, auto=value),
            lambda value=value: kp.ladder(motion[:50], max_keys=9).at(value),
            lambda value=value: kp.score(value, motion),
            lambda value=value: kp.ladder(np.zeros((9, 2)), fps=value),
            lambda value=value: kp.farthest_search(motion, frame=value),
        ):
            with pytest.raises(KeyposeError):
                call()
    for value in odd[2:]:  # the first two are frames
        with pytest.raises(KeyposeError):
            kp.score(motion, value)


def test_farthest_search_adds_one_key_at_a_time(motion):
    search = kp.farthest_search(motion)
    assert search.more(3) + search.more(1) + search.more(2) == tuple(
        kp.ladder(motion, "farthest", max_keys=6).at(6).order
    )


def test_arrays_of_any_shape(motion):
    world = motion.world_positions()
    flat = world.reshape(len(world), -1)
    assert list(kp.select(world, keys=9)) == list(kp.select(flat, keys=9))
    assert list(kp.select(world[:, 0, 1], "farthest", keys=4)) == list(kp.select(world[:, 0, 1:2], "farthest", keys=4))
    grouped = kp.ladder(motion.euler_curves(), "saliency", fps=30, max_keys=9)
    np.testing.assert_array_equal(grouped.frames, kp.ladder(motion, "saliency", joints="all", max_keys=9).frames)
    with raises(OptionError, expected="a Motion, as kp.load gives, or an array of frames and columns"):
        kp.select("walk.bvh", keys=12)
    with raises(OptionError, option="fps", expected="frames per second with a plain array"):
        kp.select(flat, "saliency")


def test_a_range_of_an_array(motion):
    flat = motion.world_positions().reshape(motion.n_frames, -1)
    for frames in ((0, 100), (50, 150), (200, None)):
        ladder = kp.ladder(flat, max_keys=9, frames=frames)
        start, stop, _ = slice(*frames).indices(len(flat))
        np.testing.assert_array_equal(ladder.frames, kp.ladder(flat[start:stop], max_keys=9).frames + start)
        assert ladder.n_frames == len(flat)


def test_a_range_is_read_as_a_slice(motion):
    assert kp.select(motion, keys=5, frames=(-100, None)).frames[0] == motion.n_frames - 100
    assert kp.select(motion, keys=5, frames=(100, 10**6)).frames[-1] == motion.n_frames - 1


def test_markers_do_not_turn():
    skeleton = kp.Skeleton(("a", "b"), [-1, -1], np.zeros((2, 3)))
    positions = np.cumsum(np.random.default_rng(0).normal(size=(40, 2, 3)), axis=0)
    markers = kp.Motion("markers", skeleton, 30, positions, np.tile([1.0, 0, 0, 0], (40, 2, 1)))
    with raises(OptionError, subject="markers", hint=Hint("choose features='world'", "choose --features world")):
        kp.select(markers, "saliency")
    assert len(kp.select(markers, "saliency", features="world", keys=6)) == 6


def test_a_joint_that_is_still_has_no_turning_points(motion):
    rotations = motion.rotations.copy()
    rotations[:, motion.joint("left_hand")] = [1.0, 0, 0, 0]
    part = dataclasses.replace(motion, rotations=rotations)
    assert list(kp.select(part, "saliency", joints=["left_hand"])) == [0, motion.n_frames - 1]


def test_the_table_of_matsuda_and_kondo(motion):
    table = kp.refine_table(motion, joints=["left_thigh", "hips"], frames=(0, 60))
    assert [row.joint for row in table.rows] == [
        motion.skeleton.names[motion.joint(name)] for name in ("hips", "left_thigh")
    ]
    assert all(row.n_frames == -(-60 * 30 // motion.fps) for row in table.rows)


def test_the_list_of_methods():
    names = [row.name for row in kp.methods()]
    assert names == list(METHODS) and len(names) == 9
    assert all(row.paper and row.summary for row in kp.methods())


def test_public_function_is_not_hidden_by_the_module_of_the_same_name():
    code = "import keypose.methods.salient, keypose.methods, keypose as kp; print(len(kp.methods()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "9", run.stderr


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("farthest", {"pins": [3], "keys": 5}, "farthest has no option 'pins' (an option of salient)"),
        ("salient", {"objectiv": "sum", "keys": 5}, "salient has no option 'objectiv'; did you mean 'objective'?"),
        (
            "salient",
            {"keys": 5, "auto": True},
            "several options say how many keys, expected one of keys=, tolerance_mm= and auto=True",
        ),
        ("salient", {}, "salient's own number of keys does not exist (only synopsis, saliency, refine have one)"),
        (
            "salient",
            {"keys": 5, "excluded": [0]},
            "the first and the last frame are always keys and cannot be excluded",
        ),
    ],
)
def test_wording(motion, method, options, message):
    """Messages of selections are pinned here only."""
    with pytest.raises(OptionError) as info:
        kp.select(motion, method, **options)
    assert str(info.value).startswith(message)
