from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import CanonicalBody, canonical_body
from keypose.library.descriptors.description import posture
from keypose.library.search.cross_correlation import Level, correlate, moving_means
from keypose.library.search.part_features import (
    AXES,
    EVEN_AXES,
    IS_ODD,
    MAX_VALUE,
    SIZE,
    build_variants,
    group_features,
    load_shipped,
    pack_basis,
    unpack_basis,
)
from keypose.library.search.part_gallery import GROUP_NAMES, GROUPS, RATE, PartGallery, PartTrack, build_part_track
from keypose.rotations import exp
from reference.naive_part_search import naive_best, naive_means, naive_shifts, naive_similarity
from support.errors import raises
from support.library_cases import DEMO, rotate_world, scale_motion

BODY = canonical_body(DEMO)
assert BODY is not None
TRACK = build_part_track(BODY)
ALL = {"left_arm": 0, "right_arm": 1, "left_leg": 2, "right_leg": 3, "trunk": 4}


def random_track(n: int, seed: int) -> PartTrack:
    """Return a random walk, similar to the motion of bodies."""
    steps = np.random.default_rng(seed).normal(size=(n, SIZE)).cumsum(axis=0)
    return PartTrack((0.3 * (steps - steps.mean(axis=0)) / np.sqrt(n)).astype(np.float16), n / RATE)


LENGTHS = (1, 2, 3, 7, 12, 25, 40, 64)
TRACKS = [random_track(n, seed) for seed, n in enumerate(LENGTHS)]
GALLERY = PartGallery.build([TRACK, *TRACKS])


def at_speed(body: CanonicalBody, speed: float) -> CanonicalBody:
    at = np.arange(0.0, body.n_frames - 1.0, speed)
    before = at.astype(int)
    share = (at - before)[:, None, None]
    return CanonicalBody((1 - share) * body.positions[before] + share * body.positions[before + 1])


def test_a_track_is_small_and_the_same_each_time() -> None:
    assert len(TRACK) == np.ceil(BODY.n_frames / 3) and TRACK.vectors.shape[1] == SIZE == AXES * len(GROUPS)
    assert TRACK.vectors.nbytes / TRACK.duration_s == pytest.approx(800, rel=0.02)
    assert TRACK.duration_s == BODY.duration_s and not TRACK.vectors.flags.writeable
    repeated = build_part_track(DEMO)
    assert repeated is not None
    np.testing.assert_array_equal(repeated.vectors, TRACK.vectors)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(TRACK)).vectors, TRACK.vectors)


def test_motions_without_a_body_have_no_track() -> None:
    names = tuple(f"marker{k}" for k in range(DEMO.n_joints))
    assert build_part_track(replace(DEMO, skeleton=replace(DEMO.skeleton, names=names))) is None


@pytest.mark.parametrize(
    "changed",
    [
        rotate_world(DEMO, exp(np.array((0.0, 2.0, 0.0))), (30.0, 0.0, -7.0)),
        scale_motion(DEMO, 39.37),
        replace(rotate_world(DEMO, exp(np.array((np.pi / 2, 0.0, 0.0)))), up="Z"),
        kp.demo_motion(60.0),
    ],
)
def test_position_heading_size_and_rate_do_not_matter(changed: kp.Motion) -> None:
    track = build_part_track(changed)
    assert track is not None
    n = min(len(track), len(TRACK)) - 1  # the last sample may be of fewer frames
    assert np.abs(track.vectors[:n].astype(float) - TRACK.vectors[:n]).max() < 0.05


def test_a_mirrored_track_equals_that_of_the_mirrored_body() -> None:
    np.testing.assert_allclose(
        TRACK.mirror().vectors.astype(float), build_part_track(BODY.mirror()).vectors.astype(float), atol=2e-3
    )
    np.testing.assert_array_equal(TRACK.mirror().mirror().vectors, TRACK.vectors)
    assert np.abs(TRACK.mirror().vectors.astype(float) - TRACK.vectors).max() > 0.1


def test_mirroring_exchanges_limbs_and_negates_odd_features() -> None:
    plain, mirrored = group_features(posture(BODY)), group_features(posture(BODY.mirror()))
    for group, other in (("left_arm", "right_arm"), ("right_leg", "left_leg")):
        np.testing.assert_allclose(mirrored[group], plain[other], atol=1e-9)
    np.testing.assert_allclose(mirrored["trunk"], plain["trunk"] * np.where(IS_ODD, -1.0, 1.0), atol=1e-9)


def test_samples_are_means_of_three_frames() -> None:
    body_posture = posture(BODY)
    heights = group_features(body_posture)["trunk"][:, -1]
    np.testing.assert_allclose(
        heights[:5], [body_posture.heights[3 * k : 3 * k + 3].mean() for k in range(5)], rtol=1e-12
    )
    assert heights[-1] == pytest.approx(body_posture.heights[3 * (len(heights) - 1) :].mean())


def test_the_shipped_axes() -> None:
    trunk = load_shipped().spaces["trunk"]
    assert (
        not trunk.axes[IS_ODD, :EVEN_AXES].any()
        and not trunk.axes[~IS_ODD, EVEN_AXES:].any()
        and not trunk.mean[IS_ODD].any()
    )
    repeated = unpack_basis(pack_basis(load_shipped()))
    for name, space in load_shipped().spaces.items():
        np.testing.assert_array_equal(space.axes, repeated.spaces[name].axes)
        assert np.linalg.matrix_rank(space.axes) == AXES


@pytest.mark.parametrize(
    ("vectors", "duration_s"),
    [
        (np.zeros((0, SIZE), np.float16), 1.0),
        (np.zeros((10, SIZE - 1), np.float16), 1.0),
        (np.zeros(SIZE, np.float16), 0.1),
        (np.zeros((10, SIZE), np.float32), 1.0),
        (np.full((10, SIZE), np.nan, np.float16), 1.0),
        (np.full((10, SIZE), 2 * MAX_VALUE, np.float16), 1.0),
        (np.zeros((10, SIZE), np.float16), 3.0),
        (np.zeros((10, SIZE), np.float16), 0.0),
        (np.zeros((10, SIZE), np.float16), float("nan")),
    ],
)
def test_damaged_tracks_are_refused(vectors: np.ndarray, duration_s: float) -> None:
    with pytest.raises(ModelError) as info:
        PartTrack(vectors, duration_s)
    assert info.value.code == "model" and info.value.expected is not None


def test_a_jump_of_the_capture_stays_within_bounds() -> None:
    positions = BODY.positions.copy()
    positions[20, 5:9] += 1e9
    track = build_part_track(CanonicalBody(positions))
    assert np.abs(track.vectors).max() == MAX_VALUE


def test_spans_of_a_track() -> None:
    part = TRACK.span(0.53, 1.57)
    np.testing.assert_array_equal(part.vectors, TRACK.vectors[5:15])
    assert part.duration_s == pytest.approx(1.04) and part.start_offset_s == pytest.approx(0.03)
    within = part.span(0.5, 0.6)
    np.testing.assert_array_equal(within.vectors, TRACK.vectors[10:11])
    assert len(TRACK.span(0.0, 1e-3)) == 1
    assert TRACK.span(0.0, 1e9).duration_s == TRACK.duration_s


@pytest.mark.parametrize(("start", "end"), [(-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (1e6, 2e6), (float("nan"), 1.0)])
def test_invalid_spans_are_refused(start: float, end: float) -> None:
    with pytest.raises(OptionError) as info:
        TRACK.span(start, end)
    assert info.value.code == "option" and info.value.expected is not None


@pytest.mark.parametrize(
    ("start", "end"), [(0.61, 0.64), (0.37, 0.9), (1.0, 2.0), (1.23, 2.71), (0.33, 3.9), (0.0, 1e9), (0.05, 1e9)]
)
def test_the_same_part_is_the_first_hit_with_its_exact_span(start: float, end: float) -> None:
    part = TRACK.span(start, end)
    best = GALLERY.search(part, mirrored=part.mirror())[0]
    assert (best.clip, best.mirrored, best.speed) == (0, False, 1.0)
    assert best.start_s == pytest.approx(start, abs=1e-6)
    assert best.end_s == pytest.approx(min(end, TRACK.duration_s), abs=1e-6)
    assert best.score == pytest.approx(1.0, abs=1e-5) and best.distance == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("n", [12, 33, 60])
def test_every_part_of_a_long_track_is_found_exactly(n: int) -> None:
    for first in range(0, 64 - n + 1, 3):
        start = first / RATE + 0.02
        best = GALLERY.search(TRACKS[-1].span(start, start + n / RATE), limit=1)[0]
        assert (best.clip, best.speed) == (len(TRACKS), 1.0) and best.start_s == pytest.approx(start)


def test_a_mirrored_part_is_found_only_if_requested() -> None:
    part = TRACK.span(1.0, 2.5).mirror()
    assert GALLERY.search(part, limit=1)[0].score < 0.98
    best = GALLERY.search(part, mirrored=part.mirror(), limit=1)[0]
    assert best.clip == 0 and best.mirrored and best.score == pytest.approx(1.0, abs=1e-5)
    assert (best.start_s, best.end_s) == pytest.approx((1.0, 2.5))


@pytest.mark.parametrize("speed", [0.7, 1.4])
def test_slower_and_faster_ones_are_found(speed: float) -> None:
    gallery = PartGallery.build([*TRACKS, build_part_track(at_speed(BODY, speed))])
    best = gallery.search(TRACK.span(0.5, 2.5), limit=1)[0]
    assert best.clip == len(TRACKS) and best.speed == speed and best.score > 0.9
    assert best.end_s - best.start_s == pytest.approx(2.0 / speed)
    assert best.start_s == pytest.approx(0.5 / speed, abs=0.15)


@pytest.mark.parametrize("joints", [None, ("left_arm",), ("legs", "trunk")])
@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_short_queries_equal_the_naive_search(n: int, joints: tuple[str, ...] | None) -> None:
    query = random_track(n, 100 + n)
    variants = build_variants(query, query.mirror(), joints)
    expected = [(naive_best(variants, track.vectors.astype(float)), k) for k, track in enumerate(TRACKS)]
    expected = sorted((each for each in expected if each[0][0] > 0), key=lambda each: (-each[0][0], each[0][1]))
    matches = PartGallery.build(TRACKS).search(query, mirrored=query.mirror(), joints=joints)
    assert [match.clip for match in matches] == [k for _, k in expected] and matches
    for match, ((similarity_value, variant, shift), k) in zip(matches, expected, strict=True):
        assert 1 - match.distance == pytest.approx(similarity_value, abs=2e-6)
        assert (match.mirrored, match.speed) == (variants[variant].mirrored, variants[variant].speed)
        length = min(query.duration_s / match.speed, TRACKS[k].duration_s)
        assert match.end_s - match.start_s == pytest.approx(length)
        start = min(max(shift / RATE, 0.0), TRACKS[k].duration_s - length)
        assert match.start_s == pytest.approx(start, abs=1e-6)


@pytest.mark.parametrize("stride", [1, 2, 4])
@pytest.mark.parametrize("n", [8, 13, 30])
def test_correlation_equals_the_naive_one(n: int, stride: int) -> None:
    query = random_track(n, 7 * n)
    variants = build_variants(query, query.mirror(), ("arms", "trunk"))
    samples = PartGallery.build(TRACKS).level
    level = Level.build(samples.vectors, samples.firsts, stride)
    clips = np.split(samples.vectors, samples.firsts[1:-1])
    for variant, (similarity_value, shifts) in zip(variants, correlate(level, variants), strict=True):
        for k, clip in enumerate(clips):
            there = similarity_value[level.firsts[k] : level.firsts[k + 1]]
            if len(clip) >= len(variant.vectors):
                slow = [naive_similarity(variant, clip, shift, stride) for shift in naive_shifts(variant, clip)]
                np.testing.assert_allclose(there[: len(slow)], slow, atol=2e-6)
                assert (there[len(slow) :] == -np.inf).all() and shifts[k] == 0
            else:
                assert there[0] == pytest.approx(naive_similarity(variant, clip, int(shifts[k]), stride), abs=2e-6)
                slow = [naive_similarity(variant, clip, shift, stride) for shift in naive_shifts(variant, clip)]
                assert there[0] >= max(slow) - 2e-6 and (there[1:] == -np.inf).all()


@pytest.mark.parametrize("stride", [1, 2, 4, 8])
def test_moving_means_equal_the_naive_ones(stride: int) -> None:
    clips = np.split(GALLERY.level.vectors, GALLERY.level.firsts[1:-1])
    slow = np.concatenate([naive_means(clip.astype(float), stride) for clip in clips])
    np.testing.assert_allclose(moving_means(GALLERY.level.vectors, GALLERY.level.firsts, stride), slow, atol=1e-6)


def test_matches_of_long_queries_have_correct_distances() -> None:
    query = random_track(33, 5)
    variants = build_variants(query, query.mirror(), None)
    matches = PartGallery.build(TRACKS).search(query, mirrored=query.mirror())
    assert matches == sorted(matches, key=lambda match: match.distance) and len(matches) > 3
    for match in matches:
        clip = TRACKS[match.clip].vectors.astype(float)
        variant = next(each for each in variants if (each.mirrored, each.speed) == (match.mirrored, match.speed))
        likes = {shift: naive_similarity(variant, clip, shift) for shift in naive_shifts(variant, clip)}
        assert min(abs(similarity_value - 1 + match.distance) for similarity_value in likes.values()) < 2e-6
        assert 1 - match.distance <= naive_best(variants, clip)[0] + 2e-6


def test_only_the_parts_of_the_body_that_matter() -> None:
    vectors = TRACKS[-1].vectors.copy()
    legs = [AXES * ALL[side] + k for side in ("left_leg", "right_leg") for k in range(AXES)]
    vectors[:, legs] = random_track(64, 50).vectors[:, legs]
    gallery = PartGallery.build([*TRACKS[:-1], PartTrack(vectors, 6.4)])
    query = TRACKS[-1].span(1.0, 2.0)
    assert gallery.search(query, joints=("arms", "trunk"), limit=1)[0].score == pytest.approx(1.0, abs=1e-5)
    assert gallery.search(query, limit=1)[0].score < 0.99
    assert gallery.search(query, joints=("legs",), limit=1)[0].score < 0.9
    assert set(GROUP_NAMES) == {*GROUPS, "arms", "legs"}


def test_a_requested_left_arm_matches_a_mirrored_right_arm() -> None:
    vectors = TRACKS[-1].mirror().vectors.copy()
    others = np.setdiff1d(np.arange(SIZE), AXES * ALL["right_arm"] + np.arange(AXES))
    vectors[:, others] = random_track(64, 51).vectors[:, others]
    query = TRACKS[-1].span(1.0, 2.0)
    gallery = PartGallery.build([PartTrack(vectors, 6.4)])
    best = gallery.search(query, mirrored=query.mirror(), joints=("left_arm",))[0]
    assert best.mirrored and best.score == pytest.approx(1.0, abs=1e-5) and best.start_s == pytest.approx(1.0)


@pytest.mark.parametrize("joints", [(), ("tail",), "left_arm", ("left_arm", "neck"), (3,)])
def test_unknown_body_parts_are_refused(joints: tuple[str, ...]) -> None:
    with raises(OptionError, option="joints", value=joints):
        GALLERY.search(TRACK.span(0.0, 1.0), joints=joints)


def test_one_match_per_clip_or_multiple_without_overlap() -> None:
    cycle = TRACKS[5].vectors
    thrice = PartTrack(np.concatenate((cycle, cycle, cycle)), 7.5)
    gallery = PartGallery.build([*TRACKS[:3], thrice])
    for query in (TRACKS[5].span(0.5, 1.3), TRACKS[5]):
        once = gallery.search(query)
        assert [match.clip for match in once].count(3) == 1 and once[0].clip == 3
        matches = gallery.search(query, multiple=True)
        same = [match for match in matches if match.clip == 3 and match.score > 0.9999]
        assert len(same) == 3
        assert np.diff(sorted(match.start_s for match in same)) == pytest.approx([2.5, 2.5])
        for k, match in enumerate(matches):
            for other in matches[:k]:
                assert match.clip != other.clip or match.end_s <= other.start_s or match.start_s >= other.end_s
        assert gallery.search(query, multiple=True, limit=2) == matches[:2]


def test_filters_and_limits() -> None:
    part = TRACK.span(0.5, 2.5)
    among = np.arange(len(LENGTHS) + 1) > 4
    assert {match.clip for match in GALLERY.search(part, is_allowed=among)} <= {5, 6, 7, 8}
    assert len(GALLERY.search(part, limit=2)) == 2
    assert GALLERY.search(part, is_allowed=np.zeros(len(LENGTHS) + 1, bool)) == []
    assert PartGallery.build([]).search(part) == []
    with raises(OptionError, option="limit", value=0):
        GALLERY.search(part, limit=0)
    with raises(OptionError, option="among", expected="one flag for each of 9 clips"):
        GALLERY.search(part, is_allowed=np.ones(3, bool))


def test_a_shorter_clip_is_found_whole_and_scores_less() -> None:
    short = TRACKS[-1].span(2.0, 4.0)
    gallery = PartGallery.build([PartTrack(short.vectors, 2.0)])
    for query in (TRACKS[-1], TRACKS[-1].span(1.5, 4.5)):
        match = gallery.search(query)[0]
        assert (match.start_s, match.end_s) == pytest.approx((0.0, 2.0)) and 0.1 < match.score < 0.95


def test_mean_bodies_are_identical() -> None:
    still = PartTrack(np.zeros((5, SIZE), np.float16), 0.5)
    matches = PartGallery.build([still, TRACK]).search(still)
    assert matches[0].clip == 0 and matches[0].score == 1.0 and np.isfinite([match.distance for match in matches]).all()
