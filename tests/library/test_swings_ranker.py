"""Clips compared by their swings: against a slow twin, and the same whatever the rig, the side or the way up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.library.rankers.sheets import PARTS, RATE, Sheet, sheet_of
from keypose.library.rankers.swings import MOST_TOLD, Agreement, Cut, agreeing, overlap, scores
from keypose.rotations import conjugate, exp, multiply, rotate
from search_cases import in_a_mirror

HAND, OTHER_HAND = PARTS.index("left_hand"), PARTS.index("right_hand")
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def demo() -> kp.Motion:
    return kp.demo_motion()


@pytest.fixture(scope="module")
def own(demo: kp.Motion) -> Sheet:
    return sheet_of(kp.swings(demo))


def sheet(duration_s: float, *rows: tuple[int, float, float, tuple[float, float, float]]) -> Sheet:
    """Swings by hand: part, start, end, axis."""
    parts, starts, ends, axes = zip(*rows, strict=True) if rows else ((), (), (), np.zeros((0, 3)))
    here = np.ones(len(PARTS), bool)
    return Sheet(duration_s, here, np.array(parts, int), starts, ends, np.array(axes), np.ones(len(parts)))


def drawn(seed: int, n: int) -> Sheet:
    """Swings of some parts, drawn: each a few samples long, then a gap."""
    random = np.random.default_rng(seed)
    rows = []
    for part in range(0, len(PARTS), 4):
        at = 0
        while (at := at + int(random.integers(0, 6))) < n:
            stop = min(at + int(random.integers(2, 9)), n)
            axis = random.normal(size=3)
            rows.append((part, at / RATE, stop / RATE, tuple(axis / np.linalg.norm(axis))))
            at = stop
    made = sheet(n / RATE, *rows)
    present = np.ones(len(PARTS), bool)
    present[seed % 3 * 4] = False  # skeletons that lack different parts
    kept = present[made.parts]
    columns = (column[kept] for column in (made.parts, made.starts_s, made.ends_s, made.axes, made.angles))
    return Sheet(made.duration_s, present, *columns)


def slow_scores(query: Sheet, other: Sheet, axes: bool) -> tuple[int, list[float]]:
    """Each shift, part and sample by itself, from the rows."""

    def axis_at(of: Sheet, part: int, k: int) -> Floats | None:
        time = (k + 0.5) / RATE
        rows = [
            row for row in range(len(of.parts)) if of.parts[row] == part and of.starts_s[row] <= time < of.ends_s[row]
        ]
        return of.axes[rows[0]] if rows else None

    n, m = (round(each.duration_s * RATE) for each in (query, other))
    parts = [part for part in range(len(PARTS)) if query.present[part] and other.present[part]]
    ours = {(part, k): axis_at(query, part, k) for part in parts for k in range(n)}
    theirs = {(part, k): axis_at(other, part, k) for part in parts for k in range(m)}
    found = []
    for shift in range(min(0, m - n), max(0, m - n) + 1):
        agreed = either = 0.0
        for part in parts:
            for k in range(n):
                a, b = ours[part, k], theirs.get((part, k + shift))
                either += a is not None or b is not None
                if a is not None and b is not None:
                    agreed += float(a @ b) if axes else 1.0
        found.append(agreed / either if either else 0.0)
    return min(0, m - n), found


@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize("n, m", [(20, 33), (33, 20), (25, 25), (1, 9), (270, 280)])
def test_every_shift_is_that_of_the_slow_twin(n: int, m: int, axes: bool) -> None:
    query, other = drawn(n, n), drawn(m + 100, m)
    first, slow = slow_scores(query, other, axes)
    best = overlap(query, other, axes=axes, mirrored=False)
    assert best.score == pytest.approx(max(slow), abs=1e-9)
    assert best.shift_s == (first + int(np.argmax(np.round(slow, 9)))) / RATE


@pytest.mark.parametrize("seed", range(8))
def test_the_swings_that_agree_are_those_of_the_slow_twin(seed: int) -> None:
    chance = np.random.default_rng(seed)
    query, other = drawn(seed, 60), drawn(seed + 50, 90)
    (a, b), (c, d) = (sorted(chance.uniform(0.0, each.duration_s, 2)) for each in (query, other))
    found = agreeing(Cut(query, a, b), Cut(other, c, d))
    shift_s = overlap(query.part(a, b), other.part(c, d), mirrored=False).shift_s + c - a
    slow = slow_agreeing(query, other, (a, b), (c, d), shift_s)[:MOST_TOLD]
    assert [each.part for each in found] == [each.part for each in slow]
    np.testing.assert_allclose([each[1:] for each in found], [each[1:] for each in slow], atol=1e-9)


def slow_agreeing(
    query: Sheet, other: Sheet, asked: tuple[float, float], there: tuple[float, float], shift_s: float
) -> list[Agreement]:
    """Pair by pair."""
    found = []
    for q in range(len(query.parts)):
        for o in range(len(other.parts)):
            start, end = (float(np.clip(times[q], *asked)) for times in (query.starts_s, query.ends_s))
            begins, stops = (float(np.clip(times[o], *there)) for times in (other.starts_s, other.ends_s))
            together = min(end + shift_s, stops) - max(start + shift_s, begins)
            cosine = float(query.axes[q] @ other.axes[o])
            if (
                query.parts[q] == other.parts[o]
                and end > start
                and stops > begins
                and together > 1e-12
                and cosine >= 0.5
            ):
                pair = Agreement(PARTS[query.parts[q]], start, end, begins, stops, cosine)
                found.append((round(-together, 9), int(query.parts[q]), q, o, pair))
    return [pair for *_, pair in sorted(found, key=lambda each: each[:4])]


def test_many_clips_at_once_are_as_one_by_one() -> None:
    query = drawn(40, 40)
    others = [drawn(seed, length) for seed, length in enumerate((9, 30, 31, 200, 4, 1, 90, 60))]
    for axes in (True, False):
        assert scores(query, others, axes=axes).tolist() == [overlap(query, each, axes=axes).score for each in others]
    assert scores(query, []).shape == (0,)


def test_a_clip_is_its_own_nearest(demo: kp.Motion, own: Sheet) -> None:
    match = overlap(kp.swings(demo), kp.swings(demo))
    assert match.score == pytest.approx(1.0, abs=1e-6)
    assert (match.shift_s, match.start_s, match.mirrored) == (0.0, 0.0, False)
    assert match.end_s == demo.duration_s
    assert {each.part for each in match.agreeing} == {PARTS[k] for k in np.unique(own.parts)}
    assert scores(own, [own, own.mirrored()], mirrored=True) == pytest.approx([1.0, 1.0], abs=1e-6)


def test_a_part_is_found_where_it_was(own: Sheet) -> None:
    match = overlap(own.part(2.0, 4.0), own)
    assert match.score > 0.95
    assert (match.start_s, match.end_s) == (2.0, 4.0)
    back = overlap(own, own.part(2.0, 4.0))  # the longer one asks: all of the other is found, within it
    assert (back.start_s, back.end_s, back.shift_s) == (0.0, 2.0, -2.0)


def test_the_frame_rate_hardly_matters(demo: kp.Motion, own: Sheet) -> None:
    assert overlap(sheet_of(kp.swings(demo.at_fps(2 * demo.fps))), own).score > 0.8


def with_other_frames(motion: kp.Motion) -> kp.Motion:
    """The same movement on a rig whose joints all have other axes of their own."""
    n = motion.n_joints
    frames = exp(np.random.default_rng(3).normal(size=(n, 3)))  # world_from_new = world_from_old * frame
    parents = motion.skeleton.parents
    above = np.where((parents >= 0)[:, None], frames[parents], np.array((1.0, 0.0, 0.0, 0.0)))
    ends = rotate(conjugate(frames[motion.skeleton.end_joints]), motion.skeleton.end_offsets)
    skeleton = replace(motion.skeleton, offsets=rotate(conjugate(above), motion.skeleton.offsets), end_offsets=ends)
    return replace(
        motion,
        skeleton=skeleton,
        translations=rotate(conjugate(above)[None], motion.translations),
        rotations=multiply(multiply(conjugate(above)[None], motion.rotations), frames[None]),
        reference_pose=None,
    )


def turned(motion: kp.Motion, turn: Floats, up: str) -> kp.Motion:
    """The whole world turned."""
    roots = np.flatnonzero(motion.skeleton.parents < 0)
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    translations[:, roots] = rotate(exp(turn), translations[:, roots])
    rotations[:, roots] = multiply(exp(turn), rotations[:, roots])
    return replace(motion, translations=translations, rotations=rotations, up=up, reference_pose=None)


def test_the_axes_of_the_rig_do_not_count(demo: kp.Motion, own: Sheet) -> None:
    other = with_other_frames(demo)
    np.testing.assert_allclose(other.world_positions(), demo.world_positions(), atol=1e-6)
    assert overlap(sheet_of(kp.swings(other)), own, mirrored=False).score > 0.99


@pytest.mark.parametrize("turn, up", [((0.0, 2.0, 0.0), "Y"), ((np.pi / 2, 0.0, 0.0), "Z"), ((np.pi, 0.0, 0.0), "-Y")])
def test_neither_does_the_way_it_faces_nor_which_axis_is_up(
    demo: kp.Motion, own: Sheet, turn: tuple[float, float, float], up: str
) -> None:
    assert overlap(sheet_of(kp.swings(turned(demo, np.array(turn), up))), own, mirrored=False).score > 0.99


def test_a_motion_in_the_mirror_is_the_mirrored_sheet(demo: kp.Motion, own: Sheet) -> None:
    seen = sheet_of(kp.swings(in_a_mirror(demo)))
    match = overlap(seen, own)
    assert match.mirrored
    assert match.score > 0.99
    assert overlap(seen, own, mirrored=False).score < 0.8
    twice = own.mirrored().mirrored()
    np.testing.assert_array_equal(twice.axes, own.axes)
    np.testing.assert_array_equal(twice.parts, own.parts)


def test_swings_that_agree_are_said_the_longest_first() -> None:
    query = sheet(3.0, (0, 0.0, 1.0, X), (HAND, 0.0, 3.0, Y), (OTHER_HAND, 0.0, 1.0, X))
    other = sheet(3.0, (0, 0.0, 1.0, X), (HAND, 0.0, 3.0, Y), (OTHER_HAND, 0.0, 1.0, Y))
    match = overlap(query, other)
    assert match.agreeing == (
        Agreement("left_hand", 0.0, 3.0, 0.0, 3.0, 1.0),
        Agreement("hips", 0.0, 1.0, 0.0, 1.0, 1.0),
    )
    assert match.score == pytest.approx(4 / 5)


def test_swings_the_other_way_take_away() -> None:
    one, back = sheet(1.0, (0, 0.0, 1.0, X)), sheet(1.0, (0, 0.0, 1.0, (-1.0, 0.0, 0.0)))
    assert overlap(one, back, mirrored=False).score == pytest.approx(-1.0)
    assert overlap(one, back, axes=False).score == pytest.approx(1.0)


def test_without_swings_or_body_nothing_agrees(own: Sheet) -> None:
    still = sheet(2.0)
    assert overlap(still, still).score == 0.0
    markers = kp.Skeleton(names=("m1", "m2"), parents=np.array((-1, -1)), offsets=np.zeros((2, 3)))
    there = kp.Motion("markers", markers, 30.0, np.zeros((1, 2, 3)), np.tile((1.0, 0.0, 0.0, 0.0), (1, 2, 1)))
    match = overlap(sheet_of(kp.swings(there)), own)
    assert (match.score, match.agreeing) == (0.0, ())


@pytest.mark.data
def test_a_golf_swing_finds_golf_swings_and_no_run(data_dir: Path) -> None:
    names = ("golf_swing/64_01", "golf_swing/64_02", "running/09_01", "jumping/13_11")
    query, *others = (sheet_of(kp.swings(kp.load(data_dir / "cmu30" / f"{name}.bvh"))) for name in names)
    golf, run, jump = scores(query, others)
    assert golf > 2 * max(run, jump)


def test_only_some_parts_count(own: Sheet) -> None:
    left = np.array([part.startswith("left_") for part in PARTS])
    some = own.only(left)
    assert set(some.parts.tolist()) <= set(np.flatnonzero(left).tolist()) and 0 < len(some.parts) < len(own.parts)
    np.testing.assert_array_equal(some.present, own.present & left)
    whole, part = overlap(some, own, mirrored=False), overlap(some, own.only(left), mirrored=False)
    assert whole == part
    assert overlap(some, own.mirrored()).mirrored
