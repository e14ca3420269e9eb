from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Bools, Floats
from keypose.library.canonical import JOINTS, CanonicalBody, canonical_body
from keypose.library.descriptors import (
    Description,
    Gallery,
    Windows,
    build_galleries,
    clip_distances,
    clip_features,
    clip_vector,
    describe,
    describe_body,
    rank,
)
from keypose.library.descriptors.clip_vector import clip_groups, clip_mirror_permutation, facts
from keypose.library.descriptors.description import (
    AXES,
    EVEN_AXES,
    distances,
    load_shipped,
    pack_spaces,
    posture,
    unpack_spaces,
)
from keypose.rotations import exp
from reference.naive_descriptors import naive_distance, naive_log_covariance, naive_rank
from support.library_cases import DEMO, MIXAMO_NAMES, rotate_world, scale_motion

NAMES = ("clip", "upper_1s", "lower_1s", "upper_4s", "lower_4s")


def body_of(motion: kp.Motion) -> CanonicalBody:
    body = canonical_body(motion)
    assert body is not None
    return body


def describe_motion(motion: kp.Motion) -> Description:
    result = describe(motion)
    assert result is not None
    return result


def farthest(a: Description, b: Description) -> dict[str, float]:
    """Return the largest distance of two descriptions' vectors, by descriptor, relative to the background distance."""
    return {
        name: float(
            np.linalg.norm(a.all[name].vectors - b.all[name].vectors, axis=1).max() / a.all[name].background_distance[0]
        )
        for name in a.all
    }


def rename_joints(motion: kp.Motion) -> kp.Motion:
    parts = motion.skeleton.anatomy.body_parts
    names = tuple(MIXAMO_NAMES.get(part or "", f"x{k}") for k, part in enumerate(parts))
    return replace(motion, skeleton=replace(motion.skeleton, names=names))


def other_bones(motion: kp.Motion) -> kp.Motion:
    """Return the motion with arms 5 % longer, legs 5 % shorter."""
    parts = motion.skeleton.anatomy.body_parts
    factors = [1.05 if "arm" in (p or "") else 0.95 if "shin" in (p or "") else 1.0 for p in parts]
    return replace(motion, translations=motion.translations * np.array(factors)[:, None])


def test_contents_of_a_description() -> None:
    result = describe_motion(DEMO)
    assert tuple(result.all) == NAMES and tuple(result.clip) == ("clip",)
    for windows in result.all.values():
        assert windows.vectors.dtype == np.float32 and np.isfinite(windows.vectors).all()
        assert len(windows.starts_s) == len(windows.ends_s) == len(windows.weights) == len(windows)
        assert windows.weights.sum() == pytest.approx(1.0, abs=1e-5)
        assert windows.starts_s[0] == 0.0 and (windows.ends_s > windows.starts_s).all()
        assert windows.ends_s[-1] == pytest.approx(DEMO.duration_s, abs=0.07)
    assert np.diff(result.windows["upper_1s"].starts_s).max() == pytest.approx(0.5)


def test_the_same_motion_gives_the_same_numbers() -> None:
    for name, windows in describe_motion(DEMO).all.items():
        np.testing.assert_array_equal(windows.vectors, describe_motion(DEMO).all[name].vectors)


@pytest.mark.parametrize(
    ("changed", "at_most"),
    [
        (rotate_world(DEMO, exp(np.array((0.0, 2.0, 0.0))), (30.0, 0.0, -7.0)), 0.02),
        (scale_motion(DEMO, 39.37), 0.001),
        (replace(rotate_world(DEMO, exp(np.array((np.pi / 2, 0.0, 0.0)))), up="Z"), 0.02),
        (rename_joints(DEMO), 0.0),
        (kp.demo_motion(60.0), 0.02),
        (kp.demo_motion(25.0), 0.35),
        (other_bones(DEMO), 0.35),
    ],
    ids=["place and heading", "unit", "up axis", "names", "60 fps", "25 fps", "bones"],
)
def test_invariance_of_descriptions(changed: kp.Motion, at_most: float) -> None:
    own, other = describe_motion(DEMO), describe_motion(changed)
    assert {name: len(result) for name, result in own.all.items()} == {
        name: len(result) for name, result in other.all.items()
    }
    for name, far in farthest(own, other).items():
        assert far <= at_most + 1e-6, name


def test_other_motions_are_farther_than_the_same_motion_of_another_figure() -> None:
    walk, kick = DEMO[:150], DEMO[-150:]
    assert min(farthest(describe_motion(walk), describe_motion(kick)).values()) > 0.4


@pytest.mark.data
def test_one_clip_in_the_skeletons_of_two_exporters(data_dir: Path) -> None:
    folder = data_dir / "formats" / "bvh"
    daz, motion_builder = kp.load(folder / "cmu05_20_daz.bvh"), kp.load(folder / "cmu05_20_mb.bvh")
    # Both files start with a T-pose; the loader recognises it in one of them alone.
    own, other = describe_motion(daz[5:]), describe_motion(motion_builder[4:])
    assert max(farthest(own, other).values()) < 0.4
    clips = [
        other,
        *(describe_motion(kp.load(path)) for path in sorted((data_dir / "cmu30" / "running").glob("*.bvh"))),
    ]
    assert clip_distances(own, build_galleries(clips, NAMES)).argmin() == 0


@pytest.mark.parametrize("name", clip_vector.KINDS)
def test_mirrored_windows_equal_those_of_the_mirrored_body(name: str) -> None:
    kind = clip_vector.KINDS[name]
    own, twin = (clip_vector.covariance_windows(posture(b), kind) for b in (body_of(DEMO), body_of(DEMO).mirror()))
    np.testing.assert_allclose(clip_vector.mirror_vectors(own, kind.joints), twin, atol=1e-8)
    assert np.abs(own - twin).max() > 0.1


def test_describing_the_mirror_image() -> None:
    twin = describe(DEMO, mirrored=True)
    direct = describe_body(body_of(DEMO).mirror())
    assert twin is not None and max(farthest(twin, direct).values()) == 0
    assert max(farthest(twin, describe_motion(DEMO)).values()) > 0.1


def test_mirror_permutation_of_clip_features() -> None:
    indices, signs = clip_mirror_permutation()
    np.testing.assert_array_equal(indices[indices], np.arange(len(indices)))
    own, twin = (clip_features(posture(body)) for body in (body_of(DEMO), body_of(DEMO).mirror()))
    np.testing.assert_allclose(own[indices] * signs, twin, atol=1e-8)
    assert np.abs(own - twin).max() > 0.1


def test_axes_are_even_or_odd_to_the_last_bit() -> None:
    mirrors = {
        name: clip_vector.mirror_permutation(tuple(kind.joints.tolist())) for name, kind in clip_vector.KINDS.items()
    }
    parity = np.where(np.arange(AXES) < EVEN_AXES, 1.0, -1.0)
    for name, (indices, signs) in {**mirrors, "clip": clip_mirror_permutation()}.items():
        space = load_shipped().spaces[name]
        np.testing.assert_array_equal(space.mean[indices] * signs, space.mean)
        np.testing.assert_array_equal(space.axes[indices] * signs[:, None], space.axes * parity)


def assert_same_but_for_rounding(a: Description, b: Description) -> None:
    for name in NAMES:
        x, y = a.all[name], b.all[name]
        np.testing.assert_allclose(x.vectors, y.vectors, atol=1e-4)
        np.testing.assert_allclose(x.weights, y.weights, atol=1e-5)
        np.testing.assert_allclose(x.background_distance, y.background_distance, rtol=1e-4)
        np.testing.assert_array_equal(x.starts_s, y.starts_s)
        np.testing.assert_array_equal(x.ends_s, y.ends_s)


@pytest.mark.parametrize("motion", [DEMO, DEMO[:1], DEMO[40:75], DEMO[-150:]], ids=["all", "1 frame", "short", "kick"])
def test_a_mirrored_description_equals_that_of_the_mirrored_body(motion: kp.Motion) -> None:
    own, body = describe_motion(motion), body_of(motion)
    assert_same_but_for_rounding(own.mirror(), describe_body(body.mirror()))
    assert_same_but_for_rounding(own.mirror().mirror(), own)
    for name, windows in own.mirror().all.items():
        np.testing.assert_array_equal(np.abs(windows.vectors), np.abs(own.all[name].vectors))
        assert windows.background_distance == own.all[name].background_distance


@pytest.mark.data
def test_mirrored_descriptions_of_real_clips(data_dir: Path) -> None:
    for path in sorted((data_dir / "cmu30").glob("*/*.bvh"))[::6]:
        motion = kp.load(path)
        assert_same_but_for_rounding(describe_motion(motion).mirror(), describe_body(body_of(motion).mirror()))


def test_mirroring_preserves_distances() -> None:
    clips = [describe_motion(DEMO[start : start + 90]) for start in range(0, 270, 45)]
    distances = clip_distances(clips[2], build_galleries(clips))
    np.testing.assert_allclose(
        clip_distances(clips[2].mirror(), build_galleries([clip.mirror() for clip in clips])), distances, atol=1e-4
    )


def test_the_background_counts_mirrored_too() -> None:
    space = load_shipped().spaces["upper_1s"]
    windows = describe_motion(DEMO).windows["upper_1s"]
    signs = np.where(np.arange(AXES) < EVEN_AXES, 1.0, -1.0).astype(np.float32)
    either = np.minimum(
        distances(windows.vectors, space.background), distances(windows.vectors, space.background * signs)
    )
    nearest = np.minimum.reduceat(either, space.firsts, axis=1)
    assert windows.background_distance[0] == pytest.approx(float((windows.weights @ nearest).mean()), rel=1e-4)


@pytest.mark.parametrize("name", clip_vector.KINDS)
def test_covariance_windows_equal_the_naive_ones(name: str) -> None:
    joints, scale = clip_vector.KINDS[name]
    body_posture = posture(body_of(DEMO[:130]))
    frames = clip_vector.frame_features(body_posture, joints)
    windows = clip_vector.covariance_windows(body_posture, clip_vector.KINDS[name])
    for row, start in zip(windows, clip_vector.window_starts(len(frames), scale), strict=True):
        np.testing.assert_allclose(row, naive_log_covariance(frames[start : start + scale.window_frames]), atol=1e-6)


def test_arms_and_legs_are_described_separately() -> None:
    """Changing the motion of the legs does not change the descriptors of the arms."""
    body = body_of(DEMO)
    legs = [k for k, joint in enumerate(JOINTS) if joint.endswith(("shin", "foot"))]
    positions = body.positions.copy()
    positions[:, legs] += 0.2 * np.sin(np.arange(body.n_frames) / 3)[:, None, None]
    changed = CanonicalBody(positions)
    far = farthest(describe_body(body), describe_body(changed))
    assert far["lower_1s"] > 0.3 and far["lower_4s"] > 0.3
    assert far["upper_1s"] == far["upper_4s"] == 0


def test_blocks_of_windows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    body_posture, kind = posture(body_of(DEMO)), clip_vector.KINDS["upper_1s"]
    expected = clip_vector.covariance_windows(body_posture, kind)
    monkeypatch.setattr(clip_vector, "BLOCK_WINDOWS", 3)
    np.testing.assert_allclose(clip_vector.covariance_windows(body_posture, kind), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("n_frames", "expected"), [(1, [0]), (29, [0]), (30, [0]), (31, [0, 1]), (45, [0, 15]), (70, [0, 15, 30, 40])]
)
def test_where_windows_start(n_frames: int, expected: list[int]) -> None:
    assert clip_vector.window_starts(n_frames, clip_vector.SECOND).tolist() == expected


def test_mirroring_exchanges_the_facts_of_both_sides() -> None:
    body = body_of(DEMO)
    own, twin = facts(posture(body)), facts(posture(body.mirror()))
    sided = (own.shape[1] - 14) // 2
    np.testing.assert_array_equal(own[:, :sided], twin[:, sided : 2 * sided])
    np.testing.assert_array_equal(own[:, 2 * sided :], twin[:, 2 * sided :])
    assert own.any(axis=0).sum() > 15  # a jump, a kick, a walk


def test_clip_features_are_finite_and_of_a_fixed_size() -> None:
    sizes = [{name: len(row) for name, row in clip_groups(posture(body_of(m))).items()} for m in (DEMO, DEMO[:1])]
    assert sizes[0] == sizes[1]


def test_distances_equal_the_naive_ones() -> None:
    clips = [describe_motion(DEMO[start : start + length]) for start, length in ((0, 90), (60, 200), (250, 1))]
    query = describe_motion(DEMO[100:220])
    galleries = build_galleries(clips, NAMES)
    for name in NAMES:
        twin = [naive_distance(query.all[name], clip.all[name]) for clip in clips]
        np.testing.assert_allclose(galleries[name].distances([query.all[name]])[0], twin, rtol=1e-3, atol=1e-3)


def test_a_clip_is_nearest_to_itself_and_to_its_mirror_image() -> None:
    clips = [DEMO[start : start + 90] for start in range(0, 270, 45)]
    galleries = build_galleries([describe_motion(clip) for clip in clips], NAMES)
    for k, clip in enumerate(clips):
        twin = describe(clip, mirrored=True)
        assert twin is not None
        assert clip_distances(describe_motion(clip), galleries).argmin() == k
        assert clip_distances(twin, galleries, mirrored=describe_motion(clip)).argmin() == k


CUTS = [describe_motion(DEMO[start : start + length]) for start in range(0, 300, 20) for length in (25, 60)]
QUERY = describe_motion(DEMO[100:150])
TWIN = describe_body(body_of(DEMO[100:150]).mirror())


@pytest.mark.parametrize("keep", [1, 5, len(CUTS), 1000])
@pytest.mark.parametrize("mirrored", [None, TWIN], ids=["as it is", "mirrored too"])
@pytest.mark.parametrize("among", [None, np.arange(len(CUTS)) % 3 != 0], ids=["all", "some"])
def test_ranking_equals_the_naive_one(keep: int, mirrored: Description | None, among: Bools | None) -> None:
    result, distances = rank(
        QUERY, build_galleries(CUTS, NAMES), mirrored=mirrored, is_allowed=among, n_candidates=keep
    )
    allowed = range(len(CUTS)) if among is None else np.flatnonzero(among).tolist()
    twin = naive_rank(QUERY, CUTS, mirrored, allowed, keep)
    assert result.tolist() == [clip for clip, _ in twin]
    np.testing.assert_allclose(distances, [far for _, far in twin], rtol=1e-3, atol=1e-3)


def test_ranking_among_none_finds_none() -> None:
    result, distances = rank(QUERY, build_galleries(CUTS), is_allowed=np.zeros(len(CUTS), bool))
    assert len(result) == len(distances) == 0


def test_of_equal_clips_the_first_comes_first() -> None:
    result, distances = rank(QUERY, build_galleries([CUTS[3], CUTS[8], CUTS[3], CUTS[8]]))
    assert (
        result.tolist() in ([0, 2, 1, 3], [1, 3, 0, 2])
        and distances[0] == distances[1]
        and distances[2] == distances[3]
    )


def test_distances_of_some_clips_equal_those_of_a_smaller_gallery() -> None:
    some = [7, 2, 11]
    for name, every in build_galleries(CUTS).items():
        variants, alone = [QUERY.all[name], TWIN.all[name]], build_galleries([CUTS[k] for k in some])[name]
        np.testing.assert_array_equal(every.distances(variants, np.array(some)), alone.distances(variants))


@pytest.mark.parametrize("windows", [1, 3, 23, 24, 25, 61])
@pytest.mark.parametrize("dimensions", [1, 64, 81])
def test_distances_of_any_window_counts_equal_the_naive_ones(windows: int, dimensions: int) -> None:
    random = np.random.default_rng(windows)

    def some(count: int) -> Windows:
        times = np.arange(count, dtype=np.float64)
        vectors, weights = random.normal(size=(count, dimensions)), random.uniform(0.1, 1.0, count)
        return Windows(
            vectors.astype(np.float32), times, times + 1.0, (weights / weights.sum()).astype(np.float32), (1.0, 0.5)
        )

    clips = [some(count) for count in (1, 2, 3, 4, 5, 9)]
    variants = [some(windows), some(2)]
    twin = [[naive_distance(variant, clip) for clip in clips] for variant in variants]
    np.testing.assert_allclose(Gallery.build(clips).distances(variants), twin, rtol=1e-4, atol=1e-4)


def test_euclidean_distances() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 5, 7)).astype(np.float32)
    np.testing.assert_allclose(distances(a, b), np.linalg.norm(a[:, None] - b, axis=-1), atol=1e-5)


def test_learned_spaces_round_trip() -> None:
    unpacked = unpack_spaces(pack_spaces(load_shipped()))
    for name, space in load_shipped().spaces.items():
        for part in ("mean", "axes", "background", "firsts"):
            np.testing.assert_array_equal(getattr(space, part), getattr(unpacked.spaces[name], part))
    assert set(load_shipped().spaces) == set(NAMES)


def jump_randomly(size: float) -> Floats:
    translations = DEMO.translations.copy()
    translations[:, 0] += np.random.default_rng(0).uniform(-size, size, (DEMO.n_frames, 3))
    return translations


@pytest.mark.parametrize(
    "motion",
    [
        DEMO[:1],
        DEMO[:2],
        scale_motion(DEMO, 1e-6),
        scale_motion(DEMO, 1e12),
        replace(DEMO, translations=jump_randomly(1e6)),
        replace(DEMO, fps=1.0)[:10],
        replace(DEMO, fps=1e6),
    ],
    ids=["1 frame", "2 frames", "tiny", "huge", "jumping", "1 fps", "a million fps"],
)
def test_strange_motions_have_finite_descriptions(motion: kp.Motion) -> None:
    for windows in describe_motion(motion).all.values():
        assert len(windows) and np.isfinite(windows.vectors).all() and np.isfinite(windows.background_distance).all()
        assert np.isfinite(windows.weights).all()


def test_no_body_no_description() -> None:
    skeleton = kp.Skeleton(names=("a",), parents=np.array([-1]), offsets=np.zeros((1, 3)))
    assert describe(kp.Motion("m", skeleton, 30.0, np.zeros((1, 1, 3)), np.array([[[1.0, 0, 0, 0]]]))) is None
