from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Bools, Floats
from keypose.library.canonical import JOINTS, Canonical, canonical
from keypose.library.descriptors import (
    Description,
    Gallery,
    Windows,
    covariance,
    describe,
    describe_body,
    gallery,
    rank,
    unlikeness,
)
from keypose.library.descriptors.clip import clip_groups, facts, mirror_of_clip
from keypose.library.descriptors.describe import clip_numbers
from keypose.library.descriptors.learnt import distances, packed, shipped, unpacked
from keypose.library.descriptors.noun import AXES, EVEN_AXES
from keypose.library.descriptors.posture import posture
from keypose.rotations import exp
from library_cases import DEMO, MIXAMO_NAMES, moved, scaled
from naive_descriptors import naive_away, naive_log_covariance, naive_rank

NAMES = ("clip", "upper_1s", "lower_1s", "upper_4s", "lower_4s")


def body_of(motion: kp.Motion) -> Canonical:
    body = canonical(motion)
    assert body is not None
    return body


def described(motion: kp.Motion) -> Description:
    found = describe(motion)
    assert found is not None
    return found


def farthest(a: Description, b: Description) -> dict[str, float]:
    """The greatest distance of two descriptions' vectors, by descriptor, in spreads of what is usual."""
    return {
        name: float(np.linalg.norm(a.all[name].vectors - b.all[name].vectors, axis=1).max() / a.all[name].usual[0])
        for name in a.all
    }


def renamed(motion: kp.Motion) -> kp.Motion:
    parts = motion.skeleton.anatomy.parts
    names = tuple(MIXAMO_NAMES.get(part or "", f"x{k}") for k, part in enumerate(parts))
    return replace(motion, skeleton=replace(motion.skeleton, names=names))


def other_bones(motion: kp.Motion) -> kp.Motion:
    """Arms 5 % longer, legs 5 % shorter."""
    parts = motion.skeleton.anatomy.parts
    factors = [1.05 if "arm" in (p or "") else 0.95 if "shin" in (p or "") else 1.0 for p in parts]
    return replace(motion, translations=motion.translations * np.array(factors)[:, None])


def test_what_a_description_holds() -> None:
    found = described(DEMO)
    assert tuple(found.all) == NAMES and tuple(found.clip) == ("clip",)
    for windows in found.all.values():
        assert windows.vectors.dtype == np.float32 and np.isfinite(windows.vectors).all()
        assert len(windows.starts_s) == len(windows.ends_s) == len(windows.weights) == len(windows)
        assert windows.weights.sum() == pytest.approx(1.0, abs=1e-5)
        assert windows.starts_s[0] == 0.0 and (windows.ends_s > windows.starts_s).all()
        assert windows.ends_s[-1] == pytest.approx(DEMO.duration_s, abs=0.07)
    assert np.diff(found.windows["upper_1s"].starts_s).max() == pytest.approx(0.5)


def test_the_same_motion_gives_the_same_numbers() -> None:
    for name, windows in described(DEMO).all.items():
        np.testing.assert_array_equal(windows.vectors, described(DEMO).all[name].vectors)


@pytest.mark.parametrize(
    ("changed", "at_most"),
    [
        (moved(DEMO, exp(np.array((0.0, 2.0, 0.0))), (30.0, 0.0, -7.0)), 0.02),
        (scaled(DEMO, 39.37), 0.001),
        (replace(moved(DEMO, exp(np.array((np.pi / 2, 0.0, 0.0)))), up="Z"), 0.02),
        (renamed(DEMO), 0.0),
        (kp.demo_motion(60.0), 0.02),
        (kp.demo_motion(25.0), 0.35),
        (other_bones(DEMO), 0.35),
    ],
    ids=["place and heading", "unit", "up axis", "names", "60 fps", "25 fps", "bones"],
)
def test_what_does_not_change_what_happens(changed: kp.Motion, at_most: float) -> None:
    own, other = described(DEMO), described(changed)
    assert {name: len(found) for name, found in own.all.items()} == {
        name: len(found) for name, found in other.all.items()
    }
    for name, far in farthest(own, other).items():
        assert far <= at_most + 1e-6, name


def test_other_things_are_farther_than_the_same_thing_of_another_figure() -> None:
    walk, kick = DEMO[:150], DEMO[-150:]
    assert min(farthest(described(walk), described(kick)).values()) > 0.4


@pytest.mark.data
def test_one_clip_in_the_skeletons_of_two_exporters(data_dir: Path) -> None:
    folder = data_dir / "formats" / "bvh"
    daz, motion_builder = kp.load(folder / "cmu05_20_daz.bvh"), kp.load(folder / "cmu05_20_mb.bvh")
    # Both files start with a T-pose; the loader recognises it in one of them alone.
    own, other = described(daz[5:]), described(motion_builder[4:])
    assert max(farthest(own, other).values()) < 0.4
    clips = [other, *(described(kp.load(path)) for path in sorted((data_dir / "cmu30" / "running").glob("*.bvh")))]
    assert unlikeness(own, gallery(clips, NAMES)).argmin() == 0


@pytest.mark.parametrize("name", covariance.KINDS)
def test_the_mirror_of_the_windows_is_that_of_the_body(name: str) -> None:
    kind = covariance.KINDS[name]
    own, twin = (covariance.covariance_windows(posture(b), kind) for b in (body_of(DEMO), body_of(DEMO).mirrored()))
    np.testing.assert_allclose(covariance.mirrored(own, kind.joints), twin, atol=1e-8)
    assert np.abs(own - twin).max() > 0.1


def test_describing_the_mirror_image() -> None:
    twin = describe(DEMO, mirrored=True)
    direct = describe_body(body_of(DEMO).mirrored())
    assert twin is not None and max(farthest(twin, direct).values()) == 0
    assert max(farthest(twin, described(DEMO)).values()) > 0.1


def test_numbers_of_the_clip_change_places_and_signs_in_a_mirror() -> None:
    places, signs = mirror_of_clip()
    np.testing.assert_array_equal(places[places], np.arange(len(places)))
    own, twin = (clip_numbers(posture(body)) for body in (body_of(DEMO), body_of(DEMO).mirrored()))
    np.testing.assert_allclose(own[places] * signs, twin, atol=1e-8)
    assert np.abs(own - twin).max() > 0.1


def test_axes_are_even_or_odd_to_the_last_bit() -> None:
    mirrors = {name: covariance.mirror(tuple(kind.joints.tolist())) for name, kind in covariance.KINDS.items()}
    parity = np.where(np.arange(AXES) < EVEN_AXES, 1.0, -1.0)
    for name, (places, signs) in {**mirrors, "clip": mirror_of_clip()}.items():
        space = shipped().spaces[name]
        np.testing.assert_array_equal(space.mean[places] * signs, space.mean)
        np.testing.assert_array_equal(space.axes[places] * signs[:, None], space.axes * parity)


def same_but_for_rounding(a: Description, b: Description) -> None:
    for name in NAMES:
        x, y = a.all[name], b.all[name]
        np.testing.assert_allclose(x.vectors, y.vectors, atol=1e-4)
        np.testing.assert_allclose(x.weights, y.weights, atol=1e-5)
        np.testing.assert_allclose(x.usual, y.usual, rtol=1e-4)
        np.testing.assert_array_equal(x.starts_s, y.starts_s)
        np.testing.assert_array_equal(x.ends_s, y.ends_s)


@pytest.mark.parametrize("motion", [DEMO, DEMO[:1], DEMO[40:75], DEMO[-150:]], ids=["all", "1 frame", "short", "kick"])
def test_the_mirror_image_of_a_description_is_that_of_the_body(motion: kp.Motion) -> None:
    own, body = described(motion), body_of(motion)
    same_but_for_rounding(own.mirrored(), describe_body(body.mirrored()))
    same_but_for_rounding(own.mirrored().mirrored(), own)
    for name, windows in own.mirrored().all.items():
        np.testing.assert_array_equal(np.abs(windows.vectors), np.abs(own.all[name].vectors))
        assert windows.usual == own.all[name].usual


@pytest.mark.data
def test_real_clips_in_a_mirror(data_dir: Path) -> None:
    for path in sorted((data_dir / "cmu30").glob("*/*.bvh"))[::6]:
        motion = kp.load(path)
        same_but_for_rounding(described(motion).mirrored(), describe_body(body_of(motion).mirrored()))


def test_in_a_mirror_all_is_as_far_as_before() -> None:
    clips = [described(DEMO[start : start + 90]) for start in range(0, 270, 45)]
    away = unlikeness(clips[2], gallery(clips))
    np.testing.assert_allclose(
        unlikeness(clips[2].mirrored(), gallery([clip.mirrored() for clip in clips])), away, atol=1e-4
    )


def test_the_background_is_near_either_way() -> None:
    space = shipped().spaces["upper_1s"]
    windows = described(DEMO).windows["upper_1s"]
    signs = np.where(np.arange(AXES) < EVEN_AXES, 1.0, -1.0).astype(np.float32)
    either = np.minimum(
        distances(windows.vectors, space.background), distances(windows.vectors, space.background * signs)
    )
    nearest = np.minimum.reduceat(either, space.firsts, axis=1)
    assert windows.usual[0] == pytest.approx(float((windows.weights @ nearest).mean()), rel=1e-4)


@pytest.mark.parametrize("name", covariance.KINDS)
def test_covariance_windows_equal_their_slow_twin(name: str) -> None:
    joints, scale = covariance.KINDS[name]
    seen = posture(body_of(DEMO[:130]))
    frames = covariance.frame_numbers(seen, joints)
    made = covariance.covariance_windows(seen, covariance.KINDS[name])
    for row, start in zip(made, covariance.starts(len(frames), scale), strict=True):
        np.testing.assert_allclose(row, naive_log_covariance(frames[start : start + scale.window_frames]), atol=1e-6)


def test_arms_and_legs_are_seen_apart() -> None:
    """A figure whose legs do something else is as before to what sees its arms, and the other way round."""
    body = body_of(DEMO)
    legs = [k for k, joint in enumerate(JOINTS) if joint.endswith(("shin", "foot"))]
    positions = body.positions.copy()
    positions[:, legs] += 0.2 * np.sin(np.arange(body.n_frames) / 3)[:, None, None]
    changed = Canonical(positions)
    far = farthest(describe_body(body), describe_body(changed))
    assert far["lower_1s"] > 0.3 and far["lower_4s"] > 0.3
    assert far["upper_1s"] == far["upper_4s"] == 0


def test_blocks_of_windows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, kind = posture(body_of(DEMO)), covariance.KINDS["upper_1s"]
    whole = covariance.covariance_windows(seen, kind)
    monkeypatch.setattr(covariance, "BLOCK_WINDOWS", 3)
    np.testing.assert_allclose(covariance.covariance_windows(seen, kind), whole, atol=1e-9)


@pytest.mark.parametrize(
    ("n_frames", "expected"), [(1, [0]), (29, [0]), (30, [0]), (31, [0, 1]), (45, [0, 15]), (70, [0, 15, 30, 40])]
)
def test_where_windows_start(n_frames: int, expected: list[int]) -> None:
    assert covariance.starts(n_frames, covariance.SECOND).tolist() == expected


def test_facts_change_sides_in_a_mirror() -> None:
    body = body_of(DEMO)
    own, twin = facts(posture(body)), facts(posture(body.mirrored()))
    sided = (own.shape[1] - 14) // 2
    np.testing.assert_array_equal(own[:, :sided], twin[:, sided : 2 * sided])
    np.testing.assert_array_equal(own[:, 2 * sided :], twin[:, 2 * sided :])
    assert own.any(axis=0).sum() > 15  # a jump, a kick, a walk


def test_clip_numbers_are_finite_and_of_a_fixed_size() -> None:
    sizes = [{name: len(row) for name, row in clip_groups(posture(body_of(m))).items()} for m in (DEMO, DEMO[:1])]
    assert sizes[0] == sizes[1]


def test_matching_equals_its_slow_twin() -> None:
    clips = [described(DEMO[start : start + length]) for start, length in ((0, 90), (60, 200), (250, 1))]
    query = described(DEMO[100:220])
    galleries = gallery(clips, NAMES)
    for name in NAMES:
        twin = [naive_away(query.all[name], clip.all[name]) for clip in clips]
        np.testing.assert_allclose(galleries[name].away([query.all[name]])[0], twin, rtol=1e-3, atol=1e-3)


def test_a_clip_is_nearest_to_itself_and_to_its_mirror_image() -> None:
    clips = [DEMO[start : start + 90] for start in range(0, 270, 45)]
    galleries = gallery([described(clip) for clip in clips], NAMES)
    for k, clip in enumerate(clips):
        twin = describe(clip, mirrored=True)
        assert twin is not None
        assert unlikeness(described(clip), galleries).argmin() == k
        assert unlikeness(twin, galleries, mirrored=described(clip)).argmin() == k


CUTS = [described(DEMO[start : start + length]) for start in range(0, 300, 20) for length in (25, 60)]
QUERY = described(DEMO[100:150])
TWIN = describe_body(body_of(DEMO[100:150]).mirrored())


@pytest.mark.parametrize("keep", [1, 5, len(CUTS), 1000])
@pytest.mark.parametrize("mirrored", [None, TWIN], ids=["as it is", "mirrored too"])
@pytest.mark.parametrize("among", [None, np.arange(len(CUTS)) % 3 != 0], ids=["all", "some"])
def test_ranking_equals_its_slow_twin(keep: int, mirrored: Description | None, among: Bools | None) -> None:
    found, away = rank(QUERY, gallery(CUTS, NAMES), mirrored=mirrored, among=among, keep=keep)
    allowed = range(len(CUTS)) if among is None else np.flatnonzero(among).tolist()
    twin = naive_rank(QUERY, CUTS, mirrored, allowed, keep)
    assert found.tolist() == [clip for clip, _ in twin]
    np.testing.assert_allclose(away, [far for _, far in twin], rtol=1e-3, atol=1e-3)


def test_ranking_among_none_finds_none() -> None:
    found, away = rank(QUERY, gallery(CUTS), among=np.zeros(len(CUTS), bool))
    assert len(found) == len(away) == 0


def test_of_equal_clips_the_first_comes_first() -> None:
    found, away = rank(QUERY, gallery([CUTS[3], CUTS[8], CUTS[3], CUTS[8]]))
    assert found.tolist() in ([0, 2, 1, 3], [1, 3, 0, 2]) and away[0] == away[1] and away[2] == away[3]


def test_some_clips_are_as_far_as_they_are_alone() -> None:
    some = [7, 2, 11]
    for name, every in gallery(CUTS).items():
        ways, alone = [QUERY.all[name], TWIN.all[name]], gallery([CUTS[k] for k in some])[name]
        np.testing.assert_array_equal(every.away(ways, np.array(some)), alone.away(ways))


@pytest.mark.parametrize("windows", [1, 3, 23, 24, 25, 61])
@pytest.mark.parametrize("dimensions", [1, 64, 81])
def test_windows_of_any_number_and_length_equal_the_slow_twin(windows: int, dimensions: int) -> None:
    random = np.random.default_rng(windows)

    def some(count: int) -> Windows:
        times = np.arange(count, dtype=np.float64)
        vectors, weights = random.normal(size=(count, dimensions)), random.uniform(0.1, 1.0, count)
        return Windows(
            vectors.astype(np.float32), times, times + 1.0, (weights / weights.sum()).astype(np.float32), (1.0, 0.5)
        )

    clips = [some(count) for count in (1, 2, 3, 4, 5, 9)]
    ways = [some(windows), some(2)]
    twin = [[naive_away(way, clip) for clip in clips] for way in ways]
    np.testing.assert_allclose(Gallery.of(clips).away(ways), twin, rtol=1e-4, atol=1e-4)


def test_distances_equal_the_plain_ones() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 5, 7)).astype(np.float32)
    np.testing.assert_allclose(distances(a, b), np.linalg.norm(a[:, None] - b, axis=-1), atol=1e-5)


def test_what_was_learnt_survives_its_file() -> None:
    again = unpacked(packed(shipped()))
    for name, space in shipped().spaces.items():
        for part in ("mean", "axes", "background", "firsts"):
            np.testing.assert_array_equal(getattr(space, part), getattr(again.spaces[name], part))
    assert set(shipped().spaces) == set(NAMES)


def jumping_about(size: float) -> Floats:
    translations = DEMO.translations.copy()
    translations[:, 0] += np.random.default_rng(0).uniform(-size, size, (DEMO.n_frames, 3))
    return translations


@pytest.mark.parametrize(
    "motion",
    [
        DEMO[:1],
        DEMO[:2],
        scaled(DEMO, 1e-6),
        scaled(DEMO, 1e12),
        replace(DEMO, translations=jumping_about(1e6)),
        replace(DEMO, fps=1.0)[:10],
        replace(DEMO, fps=1e6),
    ],
    ids=["1 frame", "2 frames", "tiny", "huge", "jumping", "1 fps", "a million fps"],
)
def test_strange_motions_have_finite_descriptions(motion: kp.Motion) -> None:
    for windows in described(motion).all.values():
        assert len(windows) and np.isfinite(windows.vectors).all() and np.isfinite(windows.usual).all()
        assert np.isfinite(windows.weights).all()


def test_no_body_no_description() -> None:
    skeleton = kp.Skeleton(names=("a",), parents=np.array([-1]), offsets=np.zeros((1, 3)))
    assert describe(kp.Motion("m", skeleton, 30.0, np.zeros((1, 1, 3)), np.array([[[1.0, 0, 0, 0]]]))) is None
