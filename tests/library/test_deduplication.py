"""Copies of one take are distinguished from other takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.features import natural_spline
from keypose.library.search.deduplication import MAX_CUT_SAMPLES, Take, compare_takes, group_duplicates, is_same_take
from keypose.library.search.part_gallery import PartTrack, build_part_track
from support.library_cases import DEMO, scale_motion
from support.search_cases import CLIP_FRAMES, as_mixamo, demo_clip, mirror_motion


def track(motion: kp.Motion) -> PartTrack:
    result = build_part_track(motion)
    assert result is not None
    return result


def naive_difference(a: PartTrack, b: PartTrack) -> float:
    """Try every whole shift, and each tenth of a sample around it, on all samples but the outermost."""
    short, long = sorted((t.vectors.astype(float)[:-1] for t in (a, b)), key=len)
    keys = np.arange(float(len(long)))
    result = []
    for shift in range(-MAX_CUT_SAMPLES, len(long) - len(short) + MAX_CUT_SAMPLES + 1):
        inside = [k for k in range(len(short)) if k + shift - 1 >= 1 and k + shift + 1 <= len(long) - 2]
        if len(inside) >= len(short) - 4 - MAX_CUT_SAMPLES:
            for tenths in range(-10, 11):
                values = natural_spline(keys, long, np.array(inside) + shift + tenths / 10)
                result.append(np.sqrt(np.mean(((values - short[inside]) ** 2).sum(axis=1))))
    return min(result)


def copies(motion: kp.Motion) -> dict[str, kp.Motion]:
    noise = 0.001 * np.random.default_rng(1).normal(size=motion.rotations.shape)
    rotations = motion.rotations + noise
    return {
        "24 fps": motion.at_fps(24.0),
        "60 fps": motion.at_fps(60.0),
        "centimetres": scale_motion(motion, 100.0),
        "another rig, another way up": as_mixamo(motion),
        "rounded": replace(motion, translations=np.round(motion.translations, 3)),
        "noise": replace(motion, rotations=rotations / np.linalg.norm(rotations, axis=-1, keepdims=True)),
        "2 frames later": motion[2:],
        "cut at both ends": motion[4:-5],
        "later at 25 fps": motion[7:].at_fps(25.0),
    }


@pytest.mark.parametrize("name", ["walk", "jump", "kick"])
def test_copies_are_recognised_and_other_takes_are_not(name: str) -> None:
    own = track(demo_clip(name))
    for kind, motion in copies(demo_clip(name)).items():
        assert is_same_take(own, track(motion)) and is_same_take(track(motion), own), kind
    for other in CLIP_FRAMES:
        assert is_same_take(own, track(demo_clip(other))) == (other == name), other
    assert not is_same_take(own, track(mirror_motion(demo_clip(name))))
    assert not is_same_take(own, track(replace(demo_clip(name), fps=27.0)))  # played slower
    assert not is_same_take(own, track(demo_clip(name)[25:]))  # too much is missing


def test_the_best_shift_nearly_equals_the_naive_one() -> None:
    """The naive version tries all shifts, not only those near the best one of the middle."""
    own = track(demo_clip("walk"))
    for motion in (demo_clip("walk")[4:], demo_clip("walk").at_fps(24.0), demo_clip("walk")[5:-6], demo_clip("walk")):
        slow = naive_difference(own, track(motion))
        assert slow - 1e-9 <= compare_takes(Take(own), Take(track(motion)))[0] <= 1.1 * slow + 1e-9


def test_the_shortest_clips() -> None:
    one, two, three = (track(DEMO[200 : 200 + n]) for n in (1, 2, 7))
    assert is_same_take(one, one) and is_same_take(three, three)
    assert not is_same_take(one, track(DEMO[280:281]))
    assert is_same_take(one, two) == is_same_take(two, one)
    assert not is_same_take(three, track(DEMO[280:287]))


def test_the_better_hit_represents_its_copies() -> None:
    walk, kick, turn = (track(demo_clip(name)) for name in ("walk", "kick", "turn"))
    later = track(demo_clip("walk")[3:])
    tracks = {1: walk, 2: kick, 3: later, 4: turn, 5: walk, 6: later}
    requested: list[int] = []

    def load_tracks(numbers: Sequence[int]) -> dict[int, PartTrack]:
        requested.extend(numbers)
        return {number: tracks[number] for number in numbers if number in tracks}

    assert group_duplicates([3, 1, 2, 5, 4, 6], load_tracks, 3) == {3: (1, 5, 6), 2: (), 4: ()}
    assert requested == [3, 1, 2, 5, 4, 6]
    assert group_duplicates([3, 1, 2, 5, 4, 6], load_tracks, 1) == {3: (1, 5, 6)}
    assert group_duplicates([4, 8, 9, 4], load_tracks, 9) == {
        4: (),
        8: (),
        9: (),
    }  # what has no track is no copy of anything
    assert group_duplicates([], load_tracks, 3) == {}


@pytest.mark.data
def test_on_real_takes(data_dir: Path) -> None:
    """Many takes of a few people, running and walking; ``benchmarks/search/copies.py`` uses all clips."""
    motions = [kp.load(path) for path in sorted((data_dir / "cmu30" / "running").glob("*.bvh"))]
    tracks = [track(motion) for motion in motions]
    assert not [(i, k) for i, a in enumerate(tracks) for k, b in enumerate(tracks) if i < k and is_same_take(a, b)]
    result = [is_same_take(a, track(copy)) for a, m in zip(tracks, motions, strict=True) for copy in copies(m).values()]
    assert np.mean(result) > 0.85
