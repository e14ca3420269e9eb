"""What a library knows about the frames of a clip: complete, the same every time, and for whatever can be read."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import KeyposeError
from keypose.library.analyses import (
    descriptions_of,
    key_frames_of,
    poses_of,
    sheets_of,
    strip_of,
    tracks_of,
)
from keypose.library.analysis import KEY_POSES, POSE_STEP_M, Analysis, analyse, sheet_of_motion
from keypose.library.canonical import canonical
from keypose.library.descriptors import describe
from keypose.library.descriptors.posture import posture
from keypose.library.library import Library
from keypose.library.parts import describe_parts
from keypose.library.rankers.sheets import sheet_of


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120)[:600]


def arrays_of(noun: object) -> object:
    """All numbers of a noun, in order."""
    if isinstance(noun, np.ndarray):
        return (noun.dtype, noun.shape, (noun + 0).tobytes())
    if isinstance(noun, Mapping):
        return {name: arrays_of(value) for name, value in sorted(noun.items())}
    if is_dataclass(noun):
        return [arrays_of(getattr(noun, field.name)) for field in fields(noun)]
    return noun


def same(one: object, other: object) -> bool:
    """Whether two nouns hold the same numbers."""
    return arrays_of(one) == arrays_of(other)


def test_everything_is_there_and_the_same_every_time(motion: kp.Motion) -> None:
    found = analyse(motion)
    assert found.facts.n_frames == 600 and found.facts.fps == 120 and found.facts.duration_s == motion.duration_s
    assert len(found.key_frames) == KEY_POSES and found.key_frames == tuple(sorted(set(found.key_frames)))
    assert all(0 <= frame < 600 for frame in found.key_frames)
    assert found.strip.startswith("<svg") and str(found.key_frames[1]) in found.strip
    assert None not in (found.description, found.track, found.poses) and len(found.sheet.parts)
    again = analyse(replace(motion, name="<script>"))
    back = pickle.loads(pickle.dumps(found))
    for field in fields(Analysis):
        assert same(getattr(again, field.name), getattr(found, field.name)), field.name
        assert same(getattr(back, field.name), getattr(found, field.name)), field.name


def test_what_is_searched_by_is_what_the_rooms_give_at_thirty_frames_a_second(motion: kp.Motion) -> None:
    found, thin = analyse(motion), motion.at_fps(30)
    assert same(found.description, describe(thin)) and same(found.track, describe_parts(thin))
    assert same(found.sheet, sheet_of_motion(motion))


def test_the_quick_sheet_is_that_of_the_swings(motion: kp.Motion) -> None:
    """But for the axes, which it takes from the motion and not from the motion as its swings play it."""
    quick, slow = sheet_of_motion(motion.at_fps(30)), sheet_of(kp.swings(motion.at_fps(30)))
    assert quick.duration_s == slow.duration_s and len(quick.parts) > 50
    for what in ("present", "parts", "starts_s", "ends_s"):
        np.testing.assert_array_equal(getattr(quick, what), getattr(slow, what))
    np.testing.assert_allclose(quick.angles, slow.angles, rtol=1e-12)
    cosines = (quick.axes * slow.axes).sum(axis=1)
    np.testing.assert_allclose(np.linalg.norm(quick.axes, axis=1), 1.0)
    assert np.median(cosines) > 0.99 and np.mean(cosines > 0.8) > 0.95


def test_every_pose_is_near_a_kept_one(motion: kp.Motion) -> None:
    poses = analyse(motion).poses
    body = canonical(motion)
    assert poses is not None and body is not None
    seen = posture(body)
    vectors = np.column_stack((seen.positions.reshape(len(seen.positions), -1), seen.heights))
    apart = np.linalg.norm(vectors[:, None] - poses.vectors, axis=-1).min(axis=1) / np.sqrt(17)
    step = np.linalg.norm(np.diff(vectors, axis=0), axis=1).max() / np.sqrt(17)
    assert apart.max() <= POSE_STEP_M / 2 + step and len(poses) < len(vectors)
    at = np.rint(poses.starts_s * 30).astype(int)
    np.testing.assert_allclose(vectors[at], poses.vectors, atol=1e-5)  # starts_s is when each is


def still(motion: kp.Motion) -> kp.Motion:
    return replace(
        motion, rotations=np.repeat(motion.rotations[:1], 40, 0), translations=np.repeat(motion.translations[:1], 40, 0)
    )


def noise(motion: kp.Motion) -> kp.Motion:
    rotations = np.random.default_rng(0).normal(size=(50, motion.n_joints, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return replace(motion, rotations=rotations, translations=motion.translations[:50])


EXTREMES: dict[str, Callable[[kp.Motion], kp.Motion]] = {
    "one frame": lambda motion: motion[:1],
    "two frames": lambda motion: motion[:2],
    "still": still,
    "noise": noise,
    "huge": lambda motion: replace(motion, translations=motion.translations * 1e11),
    "far away": lambda motion: replace(motion, translations=motion.translations + 1e14),
    "tiny": lambda motion: replace(motion, translations=motion.translations * 1e-14),
    "in one point": lambda motion: replace(motion, translations=motion.translations * 0.0),
    "slow": lambda motion: replace(motion[:20], fps=0.001),
    "quick": lambda motion: replace(motion, fps=1e5),
}


@pytest.mark.parametrize("extreme", EXTREMES)
def test_whatever_is_a_motion_can_be_analysed_and_kept(motion: kp.Motion, tmp_path: Path, extreme: str) -> None:
    odd = EXTREMES[extreme](motion)
    found = analyse(odd)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(odd)
        assert (clip.n_frames, clip.n_joints) == (odd.n_frames, odd.n_joints) and library.verify() == ()
        with library._store.database.reading() as connection:
            assert strip_of(connection, 1) == found.strip and key_frames_of(connection, 1) == found.key_frames
            for read, item in {
                descriptions_of: found.description,
                tracks_of: found.track,
                poses_of: found.poses,
                sheets_of: found.sheet,
            }.items():
                back = read(connection, [1]).get(1)  # type: ignore[operator]
                assert (back is None) == (item is None)
                assert same(back, item)


def test_very_many_joints_are_analysed_but_not_drawn() -> None:
    n = 2000
    places = np.random.default_rng(0).normal(size=(3, n, 3))
    skeleton = kp.Skeleton([f"j{k}" for k in range(n)], [-1, *[0] * (n - 1)], places[0])
    rotations = np.tile((1.0, 0.0, 0.0, 0.0), (3, n, 1))
    found = analyse(kp.Motion(name="brush", skeleton=skeleton, fps=30.0, translations=places, rotations=rotations))
    assert found.key_frames == (0, 1, 2) and found.strip == "" and found.facts.n_joints == n
    assert found.description is found.track is found.poses is None and not found.sheet.present.any()


@pytest.mark.data
@pytest.mark.parametrize("folder", ["malformed", "c3d", "gltf", "formats/bvh"])
def test_every_file_that_can_be_read_can_be_analysed(data_dir: Path, folder: str) -> None:
    analysed = 0
    for path in sorted((data_dir / folder).rglob("*")):
        if not path.is_file() or path.stat().st_size > 300_000:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kp.FormatWarning)
                motion = kp.load(path)
        except KeyposeError:
            continue
        found = analyse(motion)
        assert found.key_frames and found.strip
        assert (found.description is None) == (canonical(motion) is None)
        analysed += 1
    assert analysed >= 5
