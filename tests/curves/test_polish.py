"""Polish: tangents that bring joints closest to their captured positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import keypose as kp
from keypose import _core
from keypose.curves import keyed_motion
from keypose.curves.cubic_fit import build_channels, leaf_joints
from keypose.curves.keyed_motion import (
    LEVER_MM,
    MAX_KEY_ACCELERATION,
    MAX_POLISHED_CHAIN,
    SMOOTH_COST,
    SMOOTH_TURN,
    Polisher,
    build_keyed_motion,
    joint_weights,
)
from keypose.metrics import position_errors_mm
from keypose.model import SpanPosition
from keypose.rotations import exp
from reference import naive_polish as twin
from support.errors import raises

SKELETON = kp.Skeleton(
    ("Hips", "Chest", "Hand", "Leg"), [-1, 0, 1, 0], [[0, 0, 0], [0, 5, 0], [3, 0, 0], [0, -5, 0]]
)  # fmt: skip


def build_motion(frames: int, seed: int, moving_joints: tuple[int, ...] = (0,)) -> kp.Motion:
    rng = np.random.default_rng(seed)
    path = np.cumsum(np.cumsum(rng.normal(scale=0.02, size=(frames, 4, 6)), axis=0), axis=0)
    moves = np.isin(np.arange(4), moving_joints).astype(float)
    return kp.Motion("made", SKELETON, 60.0, SKELETON.offsets + path[..., 3:] * moves[:, None], exp(path[..., :3]))


@pytest.mark.one_python
@pytest.mark.parametrize("moving_joints", [(0,), (0, 1, 3), ()])
@pytest.mark.parametrize(("seed", "key_weights"), [(1, None), (2, None), (2, (5.0, 2.0))])
def test_the_slow_twin_finds_nothing_better(seed, moving_joints, key_weights):
    motion = build_motion(9, seed, moving_joints)
    channels, mm = build_channels(motion), motion.mm_per_unit
    plain = build_keyed_motion(motion, np.array([0, 8], np.int32))
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    key_positions = mm * motion.world_positions()[[[0, 1], [7, 8]]]
    key_positions[[0, 1], [1, 0]] += np.random.default_rng(seed).normal(scale=30.0, size=(2, 4, 3))
    key_targets = None if key_weights is None else key_positions[[0, 1], [1, 0]]
    rotation_tangents = [np.array(plain.rotations.out_tangents), np.array(plain.rotations.in_tangents)]
    translation_tangents = [
        np.array(plain.translations.out_tangents) * mm,
        np.array(plain.translations.in_tangents) * mm,
    ]

    def join_tangents() -> np.ndarray:
        out_tangents = np.concatenate((rotation_tangents[0][0], translation_tangents[0][0]), axis=1)
        return np.stack((out_tangents, np.concatenate((rotation_tangents[1][1], translation_tangents[1][1]), axis=1)))

    def cost(at: np.ndarray) -> float:
        terms = twin.residuals(motion, channels, 0, 8, at, LEVER_MM, weights, key_targets, key_weights)
        return float(np.sum(terms**2))

    before = join_tangents()
    _core.polish(
        motion.skeleton.parents,
        channels.translations * mm,
        channels.rotations,
        motion.world_positions() * mm,
        weights,
        np.array([[each in moving_joints, True] for each in range(4)], np.uint8),
        plain.keys,
        *rotation_tangents,
        *translation_tangents,
        LEVER_MM,
        0.0,
        2.0,
        np.inf,
        60,
        1,
        None if key_weights is None else key_positions,
        None if key_weights is None else np.array(key_weights),
    )
    best = twin.polish(motion, channels, 0, 8, before, LEVER_MM, weights, key_targets, key_weights, rounds=10)
    assert cost(join_tangents()) < 0.999 * cost(before)
    assert cost(join_tangents()) < 1.02 * cost(best)


def polish(keyed, motion, threads=1, **options) -> kp.KeyedMotion:
    return Polisher(motion, build_channels(motion), threads=threads).polish(keyed, **options)


def walk() -> kp.Motion:
    return kp.demo_motion(fps=60)[:240]


def test_joints_come_closer_and_keys_stay():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    plain = build_keyed_motion(motion, keys)
    better = polish(plain, motion, limit_mm=np.inf)
    before, after = (position_errors_mm(motion, keyed.sample()) for keyed in (plain, better))
    assert after.mean() < 0.9 * before.mean()
    assert after[keys].max() < 1e-9
    assert better.rotations.values.tobytes() == plain.rotations.values.tobytes()


def test_no_span_gets_worse_than_it_was_unless_the_limit_allows():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    plain = build_keyed_motion(motion, keys)
    better = polish(plain, motion, limit_mm=0.0)
    before, after = (position_errors_mm(motion, keyed.sample()).max(axis=1) for keyed in (plain, better))
    worst = [(before[a : b + 1].max(), after[a : b + 1].max()) for a, b in pairwise(keys.tolist())]
    assert all(now <= then * (1 + 1e-9) + 1e-9 for then, now in worst)
    assert any(now < 0.99 * then for then, now in worst)


def test_the_number_of_threads_does_not_matter():
    motion = walk()
    plain = build_keyed_motion(motion, kp.select(motion, keys=16).frames)
    single, three = (polish(plain, motion, limit_mm=50.0, threads=n) for n in (1, 3))
    assert single.rotations.out_tangents.tobytes() == three.rotations.out_tangents.tobytes()
    assert single.translations.in_tangents.tobytes() == three.translations.in_tangents.tobytes()


def test_the_error_of_a_span_alone_is_that_of_the_whole():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    polish = Polisher(motion, build_channels(motion))
    errors = position_errors_mm(motion, polish.polish(build_keyed_motion(motion, keys), limit_mm=20.0).sample())
    for a, b in pairwise(keys.tolist()):
        assert polish.span_error_mm(a, b, 20.0) == pytest.approx(errors[a : b + 1].max(), rel=1e-9, abs=1e-9)


def test_the_positions_beside_keys_are_those_of_the_curves():
    motion = walk()
    keyed = build_keyed_motion(motion, np.array([0, 1, 20, 22, 60, 239], np.int32))
    polisher, positions = Polisher(motion, build_channels(motion)), np.zeros((6, 2, motion.n_joints, 3))
    polisher._improve(slice(None), keyed.keys, keyed.rotations, keyed.translations, np.inf, 0, positions, np.zeros(6))
    world = motion.mm_per_unit * keyed.sample().world_positions()
    np.testing.assert_allclose(positions[1:, 0], world[keyed.keys[1:] - 1], atol=1e-9)
    np.testing.assert_allclose(positions[:-1, 1], world[keyed.keys[:-1] + 1], atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"polish": False}, {"rotation": "euler"}])
def test_smooth_curves_accelerate_little_at_keys(options):
    motion = kp.demo_motion(fps=60)[:480]
    plain, smooth = (
        kp.score(motion, kp.unbake(motion, keys=16, smooth=each, residual=False, **options)) for each in (False, True)
    )
    assert plain.key_acceleration > 1.5 and smooth.key_acceleration <= MAX_KEY_ACCELERATION
    assert plain.mean_mm < smooth.mean_mm < 2 * plain.mean_mm


def test_curves_with_few_keys_are_smooth_by_default_if_that_costs_little():
    motion = kp.demo_motion(fps=60)[:480]
    few, many = (kp.select(motion, keys=n, cost="inbetween") for n in (28, 36))
    plain, smooth, default = (kp.unbake(motion, few, smooth=each, residual=False) for each in (False, True, None))
    assert default.rotations.out_tangents.tobytes() == smooth.rotations.out_tangents.tobytes()
    before, after = kp.score(motion, plain), kp.score(motion, default)
    assert before.key_acceleration > MAX_KEY_ACCELERATION >= after.key_acceleration
    assert after.mean_mm < SMOOTH_COST * before.mean_mm and after.max_mm <= before.max_mm * (1 + 1e-9)
    plain, default = (kp.unbake(motion, many, smooth=each, residual=False) for each in (False, None))
    assert default.rotations.out_tangents.tobytes() == plain.rotations.out_tangents.tobytes()  # 92.5 % removed
    jerky = (0, 200, 479)  # smooth curves would be much farther off
    plain, default = (kp.unbake(motion, jerky, smooth=each, residual=False) for each in (False, None))
    assert default.rotations.out_tangents.tobytes() == plain.rotations.out_tangents.tobytes()


def test_curves_are_not_smooth_by_default_where_rotations_twist(monkeypatch):
    motion, keys = build_motion(120, 3), (0, 40, 80, 119)
    plain, default = (kp.unbake(motion, keys, smooth=each, residual=False) for each in (False, None))
    turn = kp.score(motion, default).mean_deg / kp.score(motion, plain).mean_deg
    assert 1.5 < turn <= SMOOTH_TURN
    monkeypatch.setattr(keyed_motion, "SMOOTH_TURN", 1.5)
    default = kp.unbake(motion, keys, residual=False)
    assert default.rotations.out_tangents.tobytes() == plain.rotations.out_tangents.tobytes()


def test_the_feet_of_a_kick_with_four_keys_do_not_twist(data_dir):
    kick = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")[619:919]
    keyed = kp.unbake(kick, keys=4, pins=(150,), residual=False)
    assert 150 in keyed.keys and kp.score(kick, keyed).mean_deg < 5  # smooth, 13.8


@pytest.mark.parametrize(("options", "factor"), [({}, 0.9), ({"polish": False}, 1.0)])
def test_smooth_curves_stay_within_a_tolerance(options, factor):
    motion = kp.demo_motion(fps=60)[:480]
    scores = [
        kp.score(motion, kp.unbake(motion, tolerance_mm=60.0, smooth=each, residual=False, **options))
        for each in (False, True)
    ]
    assert scores[1].max_mm <= 60.0 and scores[1].key_acceleration <= factor * scores[0].key_acceleration


def test_jumps_of_leaf_joints_become_smaller():
    motion = kp.demo_motion(fps=60)[:480]
    leaves = np.flatnonzero(leaf_joints(motion.skeleton))
    plain, smooth = (kp.unbake(motion, keys=16, smooth=each, residual=False).rotations for each in (False, True))
    jumps = [np.linalg.norm((each.out_tangents - each.in_tangents)[1:-1][:, leaves]) for each in (plain, smooth)]
    assert jumps[1] < 0.7 * jumps[0]


@pytest.mark.parametrize(
    "options",
    [{"interpolation": "linear"}, {"interpolation": "natural"}, {"shared_tangents": True}, {"jump_penalty": 0.1}],
)
def test_only_free_tangents_can_be_made_smooth(options):
    with raises(kp.OptionError, option="smooth", value=True):
        kp.unbake(walk(), keys=9, smooth=True, **options)
    assert kp.unbake(walk(), keys=9, smooth=False, **options).n_keys == 9


def test_quaternions_between_keys_stay_long():
    """Short ones turn fast, and swing when a key is edited."""
    motion = walk()
    keyed = kp.unbake(motion, range(0, 240, 60), polish=True)
    lengths = np.linalg.norm(keyed.rotations.at(SpanPosition.locate(keyed.keys, np.arange(0, 180, 0.5))), axis=-1)
    assert lengths.min() > 0.55 and lengths.max() < 1.7


def test_feet_weigh_more_by_default_and_weights_can_be_set():
    skeleton = walk().skeleton
    feet = list(skeleton.joints("feet"))
    assert (joint_weights(skeleton, None)[feet] == 3.0).all()
    weights = joint_weights(skeleton, {"hands": 2.0})
    assert (weights[feet] == 1.0).all() and (weights[list(skeleton.joints("hands"))] == 2.0).all()
    assert (joint_weights(SKELETON, None) > 0).all()  # no foot is known there
    with pytest.raises(kp.UnknownJoint):
        joint_weights(SKELETON, {"wing": 2.0})
    with raises(kp.OptionError, option="polish_weights"):
        joint_weights(SKELETON, dict.fromkeys(SKELETON.names, 0.0))


def test_still_joints_get_no_tangents():
    motion = build_motion(30, 4)
    rotations = motion.rotations.copy()
    rotations[:, 1] = rotations[0, 1]
    still = kp.Motion("still", SKELETON, 60.0, motion.translations, rotations)
    keyed = polish(build_keyed_motion(still, np.array([0, 14, 29], np.int32)), still, limit_mm=np.inf)
    assert keyed.rotations.still_joints().tolist() == [False, True, False, False]
    assert keyed.translations.still_joints().tolist() == [False, True, True, True]


def test_one_key_and_straight_curves_stay_as_they_are():
    motion = walk()
    for keyed in (
        build_keyed_motion(motion, np.array([7], np.int32)),
        build_keyed_motion(motion, np.array([0, 90]), "linear"),
    ):
        assert polish(keyed, motion) is keyed


def test_only_what_moves_is_polished():
    motion = build_motion(9, 1, (0, 1, 3))
    channels, mm = build_channels(motion), motion.mm_per_unit
    clip = (motion.skeleton.parents, channels.translations * mm, channels.rotations, motion.world_positions() * mm)
    keys, moves = np.array([0, 8], np.int32), np.array([[0, 1], [1, 0], [0, 0], [0, 0]], np.uint8)
    tangents = [np.zeros((2, 4, width)) for width in (4, 4, 3, 3)]
    _core.polish(*clip, np.ones(4), moves, keys, *tangents, LEVER_MM, 0.0, 2.0, np.inf, 60, 1)
    is_changed = [np.array((each != 0).any(axis=(0, 2)), np.uint8) for each in tangents]
    for side in (0, 1):
        np.testing.assert_array_equal(np.stack((is_changed[2 + side], is_changed[side]), axis=1), moves)
    with pytest.raises(ValueError, match=r"moves must be \(J, 2\)"):
        _core.polish(*clip, np.ones(4), moves[:3], keys, *tangents, LEVER_MM, 0.0, 2.0, np.inf, 60, 1)


def test_long_chains_are_not_polished_by_default():
    """It would take hours for a chain of a thousand joints, without reacting to Ctrl-C."""
    for n_joints in (MAX_POLISHED_CHAIN, MAX_POLISHED_CHAIN + 1):
        skeleton = kp.Skeleton(
            tuple(f"j{k}" for k in range(n_joints)), np.arange(-1, n_joints - 1), np.ones((n_joints, 3))
        )
        angles = 0.05 * np.sin(0.3 * np.arange(12)[:, None, None] + np.arange(n_joints)[:, None] + np.arange(3))
        motion = kp.Motion("rope", skeleton, 30.0, np.tile(skeleton.offsets, (12, 1, 1)), exp(angles))
        polished, fitted = kp.unbake(motion, [0, 6, 11]), kp.unbake(motion, [0, 6, 11], polish=False)
        is_polished = not np.array_equal(polished.rotations.out_tangents, fitted.rotations.out_tangents)
        assert is_polished is (n_joints == MAX_POLISHED_CHAIN)
    with raises(kp.OptionError, option="polish", problem="needs chains of at most 100 joints"):
        kp.unbake(motion, [0, 6, 11], polish=True)
