"""Copies of one take are told from other takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.features.spline import natural_spline
from keypose.library.parts import PartTrack, describe_parts
from keypose.library.searching.folding import MOST_CUT, Take, apart, are_copies, folded
from library_cases import DEMO, scaled
from search_cases import PIECES, as_mixamo, in_a_mirror, piece


def track(motion: kp.Motion) -> PartTrack:
    found = describe_parts(motion)
    assert found is not None
    return found


def slow_apart(a: PartTrack, b: PartTrack) -> float:
    """Every whole shift, and each tenth of a sample around it; all samples but those at the very ends."""
    short, long = sorted((t.vectors.astype(float)[:-1] for t in (a, b)), key=len)
    keys = np.arange(float(len(long)))
    found = []
    for shift in range(-MOST_CUT, len(long) - len(short) + MOST_CUT + 1):
        inside = [k for k in range(len(short)) if k + shift - 1 >= 1 and k + shift + 1 <= len(long) - 2]
        if len(inside) >= len(short) - 4 - MOST_CUT:
            for tenths in range(-10, 11):
                drawn = natural_spline(keys, long, np.array(inside) + shift + tenths / 10)
                found.append(np.sqrt(np.mean(((drawn - short[inside]) ** 2).sum(axis=1))))
    return min(found)


def copies(motion: kp.Motion) -> dict[str, kp.Motion]:
    noise = 0.001 * np.random.default_rng(1).normal(size=motion.rotations.shape)
    rotations = motion.rotations + noise
    return {
        "24 fps": motion.at_fps(24.0),
        "60 fps": motion.at_fps(60.0),
        "centimetres": scaled(motion, 100.0),
        "another rig, another way up": as_mixamo(motion),
        "rounded": replace(motion, translations=np.round(motion.translations, 3)),
        "noise": replace(motion, rotations=rotations / np.linalg.norm(rotations, axis=-1, keepdims=True)),
        "2 frames later": motion[2:],
        "cut at both ends": motion[4:-5],
        "later at 25 fps": motion[7:].at_fps(25.0),
    }


@pytest.mark.parametrize("name", ["walk", "jump", "kick"])
def test_a_copy_is_one_and_another_take_is_not(name: str) -> None:
    own = track(piece(name))
    for kind, motion in copies(piece(name)).items():
        assert are_copies(own, track(motion)) and are_copies(track(motion), own), kind
    for other in PIECES:
        assert are_copies(own, track(piece(other))) == (other == name), other
    assert not are_copies(own, track(in_a_mirror(piece(name))))
    assert not are_copies(own, track(replace(piece(name), fps=27.0)))  # played slower
    assert not are_copies(own, track(piece(name)[25:]))  # too much is missing


def test_the_best_shift_is_nearly_that_of_the_slow_twin() -> None:
    """Which tries all shifts, not only those near the best one of the middle."""
    own = track(piece("walk"))
    for motion in (piece("walk")[4:], piece("walk").at_fps(24.0), piece("walk")[5:-6], piece("walk")):
        slow = slow_apart(own, track(motion))
        assert slow - 1e-9 <= apart(Take(own), Take(track(motion)))[0] <= 1.1 * slow + 1e-9


def test_the_shortest_clips() -> None:
    one, two, three = (track(DEMO[200 : 200 + n]) for n in (1, 2, 7))
    assert are_copies(one, one) and are_copies(three, three)
    assert not are_copies(one, track(DEMO[280:281]))
    assert are_copies(one, two) == are_copies(two, one)
    assert not are_copies(three, track(DEMO[280:287]))


def test_the_better_hit_stands_for_its_copies() -> None:
    walk, kick, turn = (track(piece(name)) for name in ("walk", "kick", "turn"))
    later = track(piece("walk")[3:])
    tracks = {1: walk, 2: kick, 3: later, 4: turn, 5: walk, 6: later}
    asked: list[int] = []

    def tracks_of(numbers: Sequence[int]) -> dict[int, PartTrack]:
        asked.extend(numbers)
        return {number: tracks[number] for number in numbers if number in tracks}

    assert folded([3, 1, 2, 5, 4, 6], tracks_of, 3) == {3: (1, 5, 6), 2: (), 4: ()}
    assert asked == [3, 1, 2, 5, 4, 6]
    assert folded([3, 1, 2, 5, 4, 6], tracks_of, 1) == {3: (1, 5, 6)}
    assert folded([4, 8, 9, 4], tracks_of, 9) == {4: (), 8: (), 9: ()}  # what has no track is no copy of anything
    assert folded([], tracks_of, 3) == {}


@pytest.mark.data
def test_on_real_takes(data_dir: Path) -> None:
    """Many takes of a few people, running and walking; ``benchmarks/search/copies.py`` has all clips."""
    motions = [kp.load(path) for path in sorted((data_dir / "cmu30" / "running").glob("*.bvh"))]
    tracks = [track(motion) for motion in motions]
    assert not [(i, k) for i, a in enumerate(tracks) for k, b in enumerate(tracks) if i < k and are_copies(a, b)]
    found = [are_copies(a, track(copy)) for a, m in zip(tracks, motions, strict=True) for copy in copies(m).values()]
    assert np.mean(found) > 0.85
