"""Polish: slopes for which joints come closest to where they were."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import keypose as kp
import naive_polish as twin
from keypose import _core
from keypose.inbetween.channels import channels_of
from keypose.inbetween.keyed import keyed_motion
from keypose.inbetween.polish import LEVER_MM, Polish, joint_factors
from keypose.metrics import position_errors_mm
from keypose.model import Place
from keypose.rotations import exp

SKELETON = kp.Skeleton(
    ("Hips", "Chest", "Hand", "Leg"), [-1, 0, 1, 0], [[0, 0, 0], [0, 5, 0], [3, 0, 0], [0, -5, 0]]
)  # fmt: skip


def made(frames: int, seed: int, shifting: tuple[int, ...] = (0,)) -> kp.Motion:
    rng = np.random.default_rng(seed)
    way = np.cumsum(np.cumsum(rng.normal(scale=0.02, size=(frames, 4, 6)), axis=0), axis=0)
    moves = np.isin(np.arange(4), shifting).astype(float)
    return kp.Motion("made", SKELETON, 60.0, SKELETON.offsets + way[..., 3:] * moves[:, None], exp(way[..., :3]))


@pytest.mark.one_python
@pytest.mark.parametrize("shifting", [(0,), (0, 1, 3), ()])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_slow_twin_finds_nothing_better(seed, shifting):
    motion = made(9, seed, shifting)
    channels, mm = channels_of(motion), motion.mm_per_unit
    plain = keyed_motion(motion, np.array([0, 8], np.int32))
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    turns = [np.array(plain.rotations.leaving), np.array(plain.rotations.arriving)]
    shifts = [np.array(plain.translations.leaving) * mm, np.array(plain.translations.arriving) * mm]

    def slopes() -> np.ndarray:
        leaving = np.concatenate((turns[0][0], shifts[0][0]), axis=1)
        return np.stack((leaving, np.concatenate((turns[1][1], shifts[1][1]), axis=1)))

    def cost(at: np.ndarray) -> float:
        return float(np.sum(twin.errors(motion, channels, 0, 8, at, LEVER_MM, weights) ** 2))

    before = slopes()
    _core.polish(
        motion.skeleton.parents,
        channels.translations * mm,
        channels.rotations,
        motion.world_positions() * mm,
        weights,
        plain.keys,
        *turns,
        *shifts,
        LEVER_MM,
        0.0,
        2.0,
        np.inf,
        60,
        1,
    )
    best = twin.polished(motion, channels, 0, 8, before, LEVER_MM, weights, rounds=10)
    assert cost(slopes()) < 0.999 * cost(before)
    assert cost(slopes()) < 1.02 * cost(best)


def polished(keyed, motion, threads=1, **how) -> kp.KeyedMotion:
    return Polish(motion, channels_of(motion), threads=threads).polished(keyed, **how)


def walk() -> kp.Motion:
    return kp.demo_motion(fps=60)[:240]


def test_joints_come_closer_and_keys_stay():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    plain = keyed_motion(motion, keys)
    better = polished(plain, motion, limit_mm=np.inf)
    before, after = (position_errors_mm(motion, keyed.sample()) for keyed in (plain, better))
    assert after.mean() < 0.9 * before.mean()
    assert after[keys].max() < 1e-9
    assert better.rotations.values.tobytes() == plain.rotations.values.tobytes()


def test_no_span_gets_worse_than_it_was_unless_the_limit_allows():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    plain = keyed_motion(motion, keys)
    better = polished(plain, motion, limit_mm=0.0)
    before, after = (position_errors_mm(motion, keyed.sample()).max(axis=1) for keyed in (plain, better))
    worst = [(before[a : b + 1].max(), after[a : b + 1].max()) for a, b in pairwise(keys.tolist())]
    assert all(now <= then * (1 + 1e-9) + 1e-9 for then, now in worst)
    assert any(now < 0.99 * then for then, now in worst)


def test_the_number_of_threads_does_not_matter():
    motion = walk()
    plain = keyed_motion(motion, kp.select(motion, keys=16).frames)
    one, three = (polished(plain, motion, limit_mm=50.0, threads=n) for n in (1, 3))
    assert one.rotations.leaving.tobytes() == three.rotations.leaving.tobytes()
    assert one.translations.arriving.tobytes() == three.translations.arriving.tobytes()


def test_the_error_of_a_span_alone_is_that_of_the_whole():
    motion = walk()
    keys = kp.select(motion, keys=16).frames
    polish = Polish(motion, channels_of(motion))
    errors = position_errors_mm(motion, polish.polished(keyed_motion(motion, keys), limit_mm=20.0).sample())
    for a, b in pairwise(keys.tolist()):
        assert polish.error_of_span(a, b, 20.0) == pytest.approx(errors[a : b + 1].max(), rel=1e-9, abs=1e-9)


def test_quaternions_between_keys_stay_long():
    """Short ones turn fast, and swing when a key is edited."""
    motion = walk()
    keyed = kp.unbake(motion, range(0, 240, 60), polish=True)
    lengths = np.linalg.norm(keyed.rotations.at(Place.of(keyed.keys, np.arange(0, 180, 0.5))), axis=-1)
    assert lengths.min() > 0.55 and lengths.max() < 1.7


def test_feet_count_more_by_default_and_other_weights_can_be_given():
    skeleton = walk().skeleton
    feet = list(skeleton.joints("feet"))
    assert (joint_factors(skeleton, None)[feet] == 3.0).all()
    given = joint_factors(skeleton, {"hands": 2.0})
    assert (given[feet] == 1.0).all() and (given[list(skeleton.joints("hands"))] == 2.0).all()
    assert (joint_factors(SKELETON, None) > 0).all()  # no foot is known there
    with pytest.raises(kp.UnknownJoint):
        joint_factors(SKELETON, {"wing": 2.0})
    with pytest.raises(kp.OptionError, match="no joint that counts"):
        joint_factors(SKELETON, dict.fromkeys(SKELETON.names, 0.0))


def test_what_stands_still_gets_no_slopes():
    motion = made(30, 4)
    turns = motion.rotations.copy()
    turns[:, 1] = turns[0, 1]
    still = kp.Motion("still", SKELETON, 60.0, motion.translations, turns)
    keyed = polished(keyed_motion(still, np.array([0, 14, 29], np.int32)), still, limit_mm=np.inf)
    assert keyed.rotations.still().tolist() == [False, True, False, False]
    assert keyed.translations.still().tolist() == [False, True, True, True]


def test_one_key_and_straight_curves_stay_as_they_are():
    motion = walk()
    for keyed in (keyed_motion(motion, np.array([7], np.int32)), keyed_motion(motion, np.array([0, 90]), "linear")):
        assert polished(keyed, motion) is keyed
