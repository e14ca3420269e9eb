"""Clips compared by their swings: equal to a naive version, and invariant to rig, side and up axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.library.search.swing_overlap import (
    BODY_PARTS,
    MAX_SWING_MATCHES,
    RATE,
    SwingMatch,
    SwingSpan,
    SwingTable,
    build_swing_table,
    match_swings,
    overlap,
    overlap_scores,
)
from keypose.rotations import conjugate, exp, multiply, rotate
from support.search_cases import mirror_motion

HAND, OTHER_HAND = BODY_PARTS.index("left_hand"), BODY_PARTS.index("right_hand")
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def demo() -> kp.Motion:
    return kp.demo_motion()


@pytest.fixture(scope="module")
def demo_table(demo: kp.Motion) -> SwingTable:
    return build_swing_table(kp.swings(demo))


def make_table(duration_s: float, *rows: tuple[int, float, float, tuple[float, float, float]]) -> SwingTable:
    """Return a table of given swings: body part, start, end, axis."""
    parts, starts, ends, axes = zip(*rows, strict=True) if rows else ((), (), (), np.zeros((0, 3)))
    present = np.ones(len(BODY_PARTS), bool)
    return SwingTable(duration_s, present, np.array(parts, int), starts, ends, np.array(axes), np.ones(len(parts)))


def random_table(seed: int, n: int) -> SwingTable:
    """Return random swings of some body parts: each a few samples long, then a gap."""
    random = np.random.default_rng(seed)
    rows = []
    for part in range(0, len(BODY_PARTS), 4):
        at = 0
        while (at := at + int(random.integers(0, 6))) < n:
            stop = min(at + int(random.integers(2, 9)), n)
            axis = random.normal(size=3)
            rows.append((part, at / RATE, stop / RATE, tuple(axis / np.linalg.norm(axis))))
            at = stop
    table = make_table(n / RATE, *rows)
    present = np.ones(len(BODY_PARTS), bool)
    present[seed % 3 * 4] = False  # skeletons that lack different parts
    rows = present[table.body_parts]
    columns = (column[rows] for column in (table.body_parts, table.starts_s, table.ends_s, table.axes, table.angles))
    return SwingTable(table.duration_s, present, *columns)


def naive_scores(query: SwingTable, other: SwingTable, axes: bool) -> tuple[int, list[float]]:
    """Compute each shift, body part and sample by itself."""

    def axis_at(of: SwingTable, part: int, k: int) -> Floats | None:
        time = (k + 0.5) / RATE
        rows = [
            row
            for row in range(len(of.body_parts))
            if of.body_parts[row] == part and of.starts_s[row] <= time < of.ends_s[row]
        ]
        return of.axes[rows[0]] if rows else None

    n, m = (round(each.duration_s * RATE) for each in (query, other))
    parts = [part for part in range(len(BODY_PARTS)) if query.present[part] and other.present[part]]
    ours = {(part, k): axis_at(query, part, k) for part in parts for k in range(n)}
    theirs = {(part, k): axis_at(other, part, k) for part in parts for k in range(m)}
    result = []
    for shift in range(min(0, m - n), max(0, m - n) + 1):
        agreement = either = 0.0
        for part in parts:
            for k in range(n):
                a, b = ours[part, k], theirs.get((part, k + shift))
                either += a is not None or b is not None
                if a is not None and b is not None:
                    agreement += float(a @ b) if axes else 1.0
        result.append(agreement / either if either else 0.0)
    return min(0, m - n), result


@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize("n, m", [(20, 33), (33, 20), (25, 25), (1, 9), (270, 280)])
def test_the_best_shift_equals_the_naive_one(n: int, m: int, axes: bool) -> None:
    query, other = random_table(n, n), random_table(m + 100, m)
    first, slow = naive_scores(query, other, axes)
    best = overlap(query, other, axes=axes, mirrored=False)
    assert best.score == pytest.approx(max(slow), abs=1e-9)
    assert best.shift_s == (first + int(np.argmax(np.round(slow, 9)))) / RATE


@pytest.mark.parametrize("seed", range(8))
def test_agreeing_swings_equal_the_naive_ones(seed: int) -> None:
    chance = np.random.default_rng(seed)
    query, other = random_table(seed, 60), random_table(seed + 50, 90)
    (a, b), (c, d) = (sorted(chance.uniform(0.0, each.duration_s, 2)) for each in (query, other))
    result = match_swings(SwingSpan(query, a, b), SwingSpan(other, c, d))
    shift_s = overlap(query.span(a, b), other.span(c, d), mirrored=False).shift_s + c - a
    slow = naive_matches(query, other, (a, b), (c, d), shift_s)[:MAX_SWING_MATCHES]
    assert [each.body_part for each in result] == [each.body_part for each in slow]
    np.testing.assert_allclose([each[1:] for each in result], [each[1:] for each in slow], atol=1e-9)


def naive_matches(
    query: SwingTable, other: SwingTable, query_range: tuple[float, float], there: tuple[float, float], shift_s: float
) -> list[SwingMatch]:
    """Compare pair by pair."""
    result = []
    for q in range(len(query.body_parts)):
        for o in range(len(other.body_parts)):
            start, end = (float(np.clip(times[q], *query_range)) for times in (query.starts_s, query.ends_s))
            begins, stops = (float(np.clip(times[o], *there)) for times in (other.starts_s, other.ends_s))
            together = min(end + shift_s, stops) - max(start + shift_s, begins)
            cosine = float(query.axes[q] @ other.axes[o])
            if (
                query.body_parts[q] == other.body_parts[o]
                and end > start
                and stops > begins
                and together > 1e-12
                and cosine >= 0.5
            ):
                pair = SwingMatch(BODY_PARTS[query.body_parts[q]], start, end, begins, stops, cosine)
                result.append((round(-together, 9), int(query.body_parts[q]), q, o, pair))
    return [pair for *_, pair in sorted(result, key=lambda each: each[:4])]


def test_overlap_scores_equal_single_overlaps() -> None:
    query = random_table(40, 40)
    others = [random_table(seed, length) for seed, length in enumerate((9, 30, 31, 200, 4, 1, 90, 60))]
    for axes in (True, False):
        assert overlap_scores(query, others, axes=axes).tolist() == [
            overlap(query, each, axes=axes).score for each in others
        ]
    assert overlap_scores(query, []).shape == (0,)


def test_a_clip_is_its_own_nearest(demo: kp.Motion, demo_table: SwingTable) -> None:
    match = overlap(kp.swings(demo), kp.swings(demo))
    assert match.score == pytest.approx(1.0, abs=1e-6)
    assert (match.shift_s, match.start_s, match.mirrored) == (0.0, 0.0, False)
    assert match.end_s == demo.duration_s
    assert {each.body_part for each in match.swing_matches} == {BODY_PARTS[k] for k in np.unique(demo_table.body_parts)}
    assert overlap_scores(demo_table, [demo_table, demo_table.mirror()], mirrored=True) == pytest.approx(
        [1.0, 1.0], abs=1e-6
    )


def test_a_span_is_found_at_its_position(demo_table: SwingTable) -> None:
    match = overlap(demo_table.span(2.0, 4.0), demo_table)
    assert match.score > 0.95
    assert (match.start_s, match.end_s) == (2.0, 4.0)
    back = overlap(demo_table, demo_table.span(2.0, 4.0))  # a longer query: the whole other clip is found within it
    assert (back.start_s, back.end_s, back.shift_s) == (0.0, 2.0, -2.0)


def test_the_frame_rate_hardly_matters(demo: kp.Motion, demo_table: SwingTable) -> None:
    assert overlap(build_swing_table(kp.swings(demo.at_fps(2 * demo.fps))), demo_table).score > 0.8


def with_other_frames(motion: kp.Motion) -> kp.Motion:
    """Return the same movement on a rig whose joints all have other axes."""
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


def turn_world(motion: kp.Motion, turn: Floats, up: str) -> kp.Motion:
    """Return the motion with the whole world rotated."""
    roots = np.flatnonzero(motion.skeleton.parents < 0)
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    translations[:, roots] = rotate(exp(turn), translations[:, roots])
    rotations[:, roots] = multiply(exp(turn), rotations[:, roots])
    return replace(motion, translations=translations, rotations=rotations, up=up, reference_pose=None)


def test_the_axes_of_the_rig_do_not_count(demo: kp.Motion, demo_table: SwingTable) -> None:
    other = with_other_frames(demo)
    np.testing.assert_allclose(other.world_positions(), demo.world_positions(), atol=1e-6)
    assert overlap(build_swing_table(kp.swings(other)), demo_table, mirrored=False).score > 0.99


@pytest.mark.parametrize("turn, up", [((0.0, 2.0, 0.0), "Y"), ((np.pi / 2, 0.0, 0.0), "Z"), ((np.pi, 0.0, 0.0), "-Y")])
def test_heading_and_up_axis_do_not_count(
    demo: kp.Motion, demo_table: SwingTable, turn: tuple[float, float, float], up: str
) -> None:
    assert (
        overlap(build_swing_table(kp.swings(turn_world(demo, np.array(turn), up))), demo_table, mirrored=False).score
        > 0.99
    )


def test_a_mirrored_motion_matches_as_mirrored(demo: kp.Motion, demo_table: SwingTable) -> None:
    mirrored_table = build_swing_table(kp.swings(mirror_motion(demo)))
    match = overlap(mirrored_table, demo_table)
    assert match.mirrored
    assert match.score > 0.99
    assert overlap(mirrored_table, demo_table, mirrored=False).score < 0.8
    twice = demo_table.mirror().mirror()
    np.testing.assert_array_equal(twice.axes, demo_table.axes)
    np.testing.assert_array_equal(twice.body_parts, demo_table.body_parts)


def test_agreeing_swings_are_listed_longest_first() -> None:
    query = make_table(3.0, (0, 0.0, 1.0, X), (HAND, 0.0, 3.0, Y), (OTHER_HAND, 0.0, 1.0, X))
    other = make_table(3.0, (0, 0.0, 1.0, X), (HAND, 0.0, 3.0, Y), (OTHER_HAND, 0.0, 1.0, Y))
    match = overlap(query, other)
    assert match.swing_matches == (
        SwingMatch("left_hand", 0.0, 3.0, 0.0, 3.0, 1.0),
        SwingMatch("hips", 0.0, 1.0, 0.0, 1.0, 1.0),
    )
    assert match.score == pytest.approx(4 / 5)


def test_opposite_swings_subtract() -> None:
    one, back = make_table(1.0, (0, 0.0, 1.0, X)), make_table(1.0, (0, 0.0, 1.0, (-1.0, 0.0, 0.0)))
    assert overlap(one, back, mirrored=False).score == pytest.approx(-1.0)
    assert overlap(one, back, axes=False).score == pytest.approx(1.0)


def test_without_swings_or_body_nothing_agrees(demo_table: SwingTable) -> None:
    still = make_table(2.0)
    assert overlap(still, still).score == 0.0
    markers = kp.Skeleton(names=("m1", "m2"), parents=np.array((-1, -1)), offsets=np.zeros((2, 3)))
    there = kp.Motion("markers", markers, 30.0, np.zeros((1, 2, 3)), np.tile((1.0, 0.0, 0.0, 0.0), (1, 2, 1)))
    match = overlap(build_swing_table(kp.swings(there)), demo_table)
    assert (match.score, match.swing_matches) == (0.0, ())


@pytest.mark.data
def test_a_golf_swing_finds_golf_swings_and_no_run(data_dir: Path) -> None:
    names = ("golf_swing/64_01", "golf_swing/64_02", "running/09_01", "jumping/13_11")
    query, *others = (build_swing_table(kp.swings(kp.load(data_dir / "cmu30" / f"{name}.bvh"))) for name in names)
    golf, run, jump = overlap_scores(query, others)
    assert golf > 2 * max(run, jump)


def test_only_some_parts_count(demo_table: SwingTable) -> None:
    is_left = np.array([part.startswith("left_") for part in BODY_PARTS])
    some = demo_table.restrict(is_left)
    assert set(some.body_parts.tolist()) <= set(np.flatnonzero(is_left).tolist()) and 0 < len(some.body_parts) < len(
        demo_table.body_parts
    )
    np.testing.assert_array_equal(some.present, demo_table.present & is_left)
    full, part = overlap(some, demo_table, mirrored=False), overlap(some, demo_table.restrict(is_left), mirrored=False)
    assert full == part
    assert overlap(some, demo_table.mirror()).mirrored
