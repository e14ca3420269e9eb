"""Analyses of clips: complete, deterministic, and for every readable motion."""

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
from keypose.library.analysis import KEY_POSES, POSE_STEP_M, Analysis, analyse, compute_swing_table
from keypose.library.analysis_rows import (
    load_descriptions,
    load_key_frames,
    load_poses,
    load_strip,
    load_swing_tables,
    load_tracks,
)
from keypose.library.canonical import canonical_body
from keypose.library.descriptors import describe
from keypose.library.descriptors.description import posture
from keypose.library.library import Library
from keypose.library.search.part_gallery import build_part_track
from keypose.library.search.swing_overlap import build_swing_table


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120)[:600]


def arrays_of(value: object) -> object:
    """Return all numbers of a value, in order."""
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, (value + 0).tobytes())
    if isinstance(value, Mapping):
        return {name: arrays_of(value) for name, value in sorted(value.items())}
    if is_dataclass(value):
        return [arrays_of(getattr(value, field.name)) for field in fields(value)]
    return value


def same(one: object, other: object) -> bool:
    """Return whether two values hold the same numbers."""
    return arrays_of(one) == arrays_of(other)


def test_an_analysis_is_complete_and_deterministic(motion: kp.Motion) -> None:
    analysis = analyse(motion)
    assert (
        analysis.facts.n_frames == 600 and analysis.facts.fps == 120 and analysis.facts.duration_s == motion.duration_s
    )
    assert len(analysis.key_frames) == KEY_POSES and analysis.key_frames == tuple(sorted(set(analysis.key_frames)))
    assert all(0 <= frame < 600 for frame in analysis.key_frames)
    assert analysis.strip.startswith("<svg") and str(analysis.key_frames[1]) in analysis.strip
    assert None not in (analysis.description, analysis.track, analysis.poses) and len(analysis.swing_table.body_parts)
    repeated = analyse(replace(motion, name="<script>"))
    back = pickle.loads(pickle.dumps(analysis))
    for field in fields(Analysis):
        assert same(getattr(repeated, field.name), getattr(analysis, field.name)), field.name
        assert same(getattr(back, field.name), getattr(analysis, field.name)), field.name


def test_search_data_is_computed_at_thirty_fps(motion: kp.Motion) -> None:
    analysis, thin = analyse(motion), motion.at_fps(30)
    assert same(analysis.description, describe(thin)) and same(analysis.track, build_part_track(thin))
    assert same(analysis.swing_table, compute_swing_table(motion))


def test_the_fast_swing_table_equals_the_one_from_swings(motion: kp.Motion) -> None:
    """Except the axes, which come from the motion and not from its played swings."""
    quick, slow = compute_swing_table(motion.at_fps(30)), build_swing_table(kp.swings(motion.at_fps(30)))
    assert quick.duration_s == slow.duration_s and len(quick.body_parts) > 50
    for name in ("present", "body_parts", "starts_s", "ends_s"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name))
    np.testing.assert_allclose(quick.angles, slow.angles, rtol=1e-12)
    cosines = (quick.axes * slow.axes).sum(axis=1)
    np.testing.assert_allclose(np.linalg.norm(quick.axes, axis=1), 1.0)
    assert np.median(cosines) > 0.99 and np.mean(cosines > 0.8) > 0.95


def test_every_pose_is_near_a_stored_one(motion: kp.Motion) -> None:
    poses = analyse(motion).poses
    body = canonical_body(motion)
    assert poses is not None and body is not None
    body_posture = posture(body)
    vectors = np.column_stack((body_posture.positions.reshape(len(body_posture.positions), -1), body_posture.heights))
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
def test_extreme_motions_can_be_analysed_and_stored(motion: kp.Motion, tmp_path: Path, extreme: str) -> None:
    odd = EXTREMES[extreme](motion)
    analysis = analyse(odd)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(odd)
        assert (clip.n_frames, clip.n_joints) == (odd.n_frames, odd.n_joints) and library.verify() == ()
        with library._store.database.begin_read() as connection:
            assert load_strip(connection, 1) == analysis.strip and load_key_frames(connection, 1) == analysis.key_frames
            for read, item in {
                load_descriptions: analysis.description,
                load_tracks: analysis.track,
                load_poses: analysis.poses,
                load_swing_tables: analysis.swing_table,
            }.items():
                back = read(connection, [1]).get(1)  # type: ignore[operator]
                assert (back is None) == (item is None)
                assert same(back, item)


def test_very_many_joints_are_analysed_but_not_drawn() -> None:
    n = 2000
    positions = np.random.default_rng(0).normal(size=(3, n, 3))
    skeleton = kp.Skeleton([f"j{k}" for k in range(n)], [-1, *[0] * (n - 1)], positions[0])
    rotations = np.tile((1.0, 0.0, 0.0, 0.0), (3, n, 1))
    analysis = analyse(
        kp.Motion(name="brush", skeleton=skeleton, fps=30.0, translations=positions, rotations=rotations)
    )
    assert analysis.key_frames == (0, 1, 2) and analysis.strip == "" and analysis.facts.n_joints == n
    assert analysis.description is analysis.track is analysis.poses is None and not analysis.swing_table.present.any()


@pytest.mark.data
@pytest.mark.parametrize("folder", ["malformed", "c3d", "gltf", "formats/bvh"])
def test_every_file_that_can_be_read_can_be_analysed(data_dir: Path, folder: str) -> None:
    n_analysed = 0
    for path in sorted((data_dir / folder).rglob("*")):
        if not path.is_file() or path.stat().st_size > 300_000:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kp.FormatWarning)
                motion = kp.load(path)
        except KeyposeError:
            continue
        analysis = analyse(motion)
        assert analysis.key_frames and analysis.strip
        assert (analysis.description is None) == (canonical_body(motion) is None)
        n_analysed += 1
    assert n_analysed >= 5
