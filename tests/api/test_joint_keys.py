"""Keys of their own for every joint: kp.unbake(per="joint")."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.curves.cubic_fit import compute_inbetween_costs, fit_cubics
from keypose.errors import OptionError
from keypose.features import natural_spline
from keypose.methods.salient import FewestKeys
from keypose.model import Curves, SpanPosition
from support.errors import raises

METHODS = ("refine", "saliency", "salient")


@pytest.fixture(scope="module")
def motion():
    return kp.demo_motion(fps=30)[60:150]


@pytest.fixture(scope="module", params=METHODS)
def keyed(motion, request):
    return kp.unbake(motion, per="joint", method=request.param)


def moving_joints(motion):
    return [
        name
        for name, q in zip(motion.skeleton.names, np.moveaxis(motion.rotations, 1, 0), strict=True)
        if np.ptp(q, axis=0).max() > 1e-9
    ]


def test_every_joint_has_keys_of_its_own(motion, keyed):
    own = {name: tuple(keyed.joint_keys(name)) for name in motion.skeleton.names}
    assert keyed.is_per_joint and "keys per joint" in repr(keyed)
    assert len(set(own.values())) > 5
    assert set(itertools.chain(*own.values())) == set(keyed.keys.tolist())
    for frames in own.values():
        assert frames[0] == 0 and frames[-1] == motion.n_frames - 1 and list(frames) == sorted(set(frames))


def test_the_keys_are_those_of_the_method_for_the_joint_alone(motion):
    for method in ("refine", "saliency"):
        keyed = kp.unbake(motion, per="joint", method=method)
        for name in moving_joints(motion)[1:]:  # the first has a path, too
            assert keyed.joint_keys(name).tolist() == kp.select(motion, method, joints=[name]).frames.tolist()


def test_natural_splines_of_the_euler_angles_of_the_file(motion):
    keyed = kp.unbake(motion, per="joint", method="refine")
    assert keyed.rotation_orders == motion.skeleton.rotation_orders
    angles, frames = motion.euler_curves(), np.arange(motion.n_frames)
    sampled = np.rad2deg(keyed.rotations.at(SpanPosition.locate(keyed.keys, frames.astype(float))))
    for name in moving_joints(motion)[1:]:
        j = motion.joint(name)
        own = keyed.joint_keys(name)
        np.testing.assert_allclose(sampled[:, j], natural_spline(own, angles[own, j], frames), atol=1e-9)


def test_the_tolerance_holds_and_shares_of_it_are_used(motion):
    for tolerance_mm in (3.0, 20.0):
        keyed = kp.unbake(motion, per="joint", tolerance_mm=tolerance_mm)
        assert 0.5 * tolerance_mm < kp.score(motion, keyed).max_mm <= tolerance_mm
    counts = [len(kp.unbake(motion, per="joint", tolerance_mm=mm).joint_keys("left_shin")) for mm in (3.0, 20.0)]
    assert counts[1] < counts[0]


def test_the_detail_restores_the_capture(motion, keyed):
    assert kp.score(motion, keyed.sample(1.0)).max_mm < 1e-6
    assert kp.score(motion, kp.rebake(keyed.sample(), keyed, residual=1.0)).max_mm < 1e-6


def test_a_number_of_keys_is_that_of_each_joint(motion):
    for method in ("salient", "uniform", "farthest", "refine"):
        keyed = kp.unbake(motion, per="joint", method=method, keys=7)
        assert {len(keyed.joint_keys(name)) for name in moving_joints(motion)[1:]} == {7}


def test_curves_can_be_fitted_to_the_keys_of_any_method(motion):
    errors = {}
    for interpolation in ("bezier", "natural", "linear"):
        keyed = kp.unbake(motion, per="joint", method="refine", threshold=0.5, interpolation=interpolation)
        errors[interpolation] = kp.score(motion, keyed).mean_mm
    assert errors["bezier"] < errors["natural"] < errors["linear"]


def test_another_method_for_whole_poses(motion):
    keyed = kp.unbake(motion, method="farthest", keys=8)
    assert not keyed.is_per_joint
    assert keyed.keys.tolist() == kp.select(motion, "farthest", keys=8).frames.tolist()
    assert kp.unbake(motion, method="saliency").n_keys == len(kp.select(motion, "saliency"))


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"per": "bone"}, {"option": "per", "expected": "one of pose, joint"}),
        ({"method": "farthest"}, {"code": "missing_argument"}),
        ({"method": "refine", "tolerance_mm": 5}, {"option": "tolerance_mm"}),
        ({"method": "refine", "auto": True}, {"option": "auto"}),
        ({"method": "refine", "sigma_s": 1}, {"code": "unknown_option"}),
        ({"polish": True}, {"option": "polish"}),
        ({"extremes_first": True}, {"option": "extremes_first"}),
        ({"max_keys": 9}, {"option": "max_keys"}),
        ({"keys": 91}, {"option": "keys"}),
        ({"selection": (0, 9)}, {}),
    ],
)
def test_impossible_requests(motion, options, fields):
    with raises(OptionError, **fields) if fields else pytest.raises(OptionError):
        kp.unbake(motion, **{"per": "joint", **options})


def test_stored_values_count_the_keys_of_each_joint(motion):
    keyed = replace(kp.unbake(motion, per="joint", tolerance_mm=10), residual=None)
    expected = 0
    for curves in (keyed.translations, keyed.rotations):
        for j in range(keyed.n_joints):
            n = int(curves.key_flags()[:, j].sum())
            expected += curves.n_channels if curves.still_joints()[j] else n * (1 + 3 * curves.n_channels)
    assert kp.score(motion, keyed).stored_values == expected


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".keys.json", ".keys.json.gz"])
def test_files_keep_the_keys_of_each_joint(motion, keyed, suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)  # glTF has no Euler curves
        kp.save(keyed, path)
    loaded = kp.load_keyed(path)
    for name in motion.skeleton.names:
        assert loaded.joint_keys(name).tolist() == keyed.joint_keys(name).tolist()
    assert np.array_equal(loaded.extremes, keyed.extremes)
    bound = 6.0 if keyed.rotation_orders and "json" not in suffix else 1e-3  # Euler curves are refitted for glTF
    assert kp.score(keyed.sample(), loaded.sample()).max_mm < bound


# The fewest keys against all selections


@pytest.mark.parametrize("seed", range(6))
def test_the_fewest_keys_as_brute_force_finds_them(seed):
    rng = np.random.default_rng(seed)
    motion = replace(
        kp.demo_motion(fps=30)[20 + seed : 31 + seed],
        translations=rng.normal(size=(11, kp.demo_motion().n_joints, 3)).cumsum(axis=0),
    )
    costs = compute_inbetween_costs(motion)
    search = FewestKeys(costs, 1e9, 10)
    for limit in (
        np.quantile([_cost(costs, keys) for keys in _selections(11)], [0.05, 0.3, 0.7]) + 1e-6
    ):  # rounding is smaller
        fewest = min(len(keys) for keys in _selections(11) if _cost(costs, keys) <= limit)
        best = min(_cost(costs, keys) for keys in _selections(11) if len(keys) == fewest)
        found = search.find(limit)
        assert len(found) == fewest
        assert _cost(costs, found.tolist()) == pytest.approx(best, abs=1e-9)
    assert search.find(-1.0) is None


def _selections(n):
    return [(0, *inner, n - 1) for k in range(n - 1) for inner in itertools.combinations(range(1, n - 1), k)]


def _cost(costs, keys):
    return float(costs.span_costs(np.array(keys, np.int32)).max())


# The model


def test_a_joint_is_on_its_own_curve_at_the_keys_of_others():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 4, 3)).cumsum(axis=0)
    keys = np.array([0, 5, 11, 17, 29], np.int32)
    curves = fit_cubics(values, keys)
    is_key = np.array([[1, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 1, 1], [1, 1, 1, 0]], bool)
    filled = replace(curves, is_key=is_key).fill_between_keys(keys)
    frames = np.linspace(0, 29, 117)
    sampled = filled.at(SpanPosition.locate(keys, frames))
    for j in range(4):
        own = np.flatnonzero(is_key[:, j])
        alone = Curves(*(side[own][:, [j]] for side in (curves.values, curves.in_tangents, curves.out_tangents)))
        np.testing.assert_allclose(sampled[:, [j]], alone.at(SpanPosition.locate(keys[own], frames)), atol=1e-12)
    again = filled.fill_between_keys(keys)
    assert np.array_equal(again.values, filled.values) and np.array_equal(again.in_tangents, filled.in_tangents)


def test_flags_that_do_not_fit_are_refused(motion):
    keyed = kp.unbake(motion, keys=5, residual=False)
    none = np.ones((5, motion.n_joints), bool)
    none[:, 3] = False
    for flags in (none, np.ones((4, motion.n_joints), bool), np.ones((5, motion.n_joints))):
        with pytest.raises(kp.ModelError):
            replace(keyed.rotations, is_key=flags)
    gap = np.ones((5, motion.n_joints), bool)
    gap[2] = False
    with raises(kp.ModelError, subject="keyed motion"):
        replace(
            keyed, rotations=replace(keyed.rotations, is_key=gap), translations=replace(keyed.translations, is_key=gap)
        )
