"""The curves of a sparse GLB, as three.js shows them, are our own: at keys, between them, at other rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.node

TOLERANCE_MM = 0.01  # on a figure of 1.7 m
CMU_UNIT = 0.05644  # metres


def _off_mm(keyed: kp.KeyedMotion, positions: np.ndarray, frames: np.ndarray) -> float:
    """The greatest distance between positions (frames, J, 3) in metres and our own sampling."""
    ours = keyed.sample(frames=frames)
    away = np.linalg.norm(positions - ours.world_positions() * keyed.metres_per_unit, axis=-1)
    return float(away.max()) / keyed.metres_per_unit * ours.mm_per_unit


def _frames(keyed: kp.KeyedMotion) -> dict[str, np.ndarray]:
    """Frames, whole or not, by what they are."""
    last = keyed.n_frames - 1
    rng = np.random.default_rng(0)
    return {
        "keys": keyed.keys.astype(float),
        "frames": np.arange(keyed.n_frames, dtype=float),
        "between": np.sort(rng.uniform(0, last, 100)),
        "24 fps": np.arange(0, last, keyed.fps / 24),
        "100 fps": np.arange(0, last, keyed.fps / 100)[:400],
    }


def _assert_shown(keyed: kp.KeyedMotion, shown, path) -> None:
    kp.save(keyed, path)
    by_what = _frames(keyed)
    there = shown(path, np.concatenate(list(by_what.values())) / keyed.fps)
    assert there.duration_s == pytest.approx((keyed.n_frames - 1) / keyed.fps, rel=1e-6)
    ends = np.cumsum([len(frames) for frames in by_what.values()])
    for (what, frames), positions in zip(
        by_what.items(), np.split(there.of(keyed.skeleton.names), ends[:-1]), strict=True
    ):
        assert _off_mm(keyed, positions, frames) < TOLERANCE_MM, what


@pytest.mark.parametrize(
    ("interpolation", "suffix"), [("bezier", ".glb"), ("bezier", ".gltf"), ("natural", ".glb"), ("linear", ".glb")]
)
def test_the_demo_motion(shown, tmp_path, interpolation, suffix):
    motion = kp.demo_motion(fps=30)
    keys = np.linspace(0, motion.n_frames - 1, 40).astype(int)
    keyed = kp.unbake(motion, keys, interpolation=interpolation)
    _assert_shown(keyed, shown, tmp_path / f"demo{suffix}")


def test_keys_that_leave_out_the_ends(shown, tmp_path):
    motion = kp.demo_motion(fps=30)
    _assert_shown(kp.unbake(motion, list(range(20, 300, 9))), shown, tmp_path / "demo.glb")


def test_three_would_see_a_wrong_curve(shown, tmp_path):
    """The judge judges: the same keys with other slopes are far away between keys."""
    motion = kp.demo_motion(fps=30)
    keyed = kp.unbake(motion, list(range(0, motion.n_frames, 12)))
    kp.save(keyed, tmp_path / "demo.glb")
    frames = np.arange(0, 360, 12) + 6.0
    there = shown(tmp_path / "demo.glb", frames / keyed.fps).of(keyed.skeleton.names)
    flat = kp.Curves(keyed.rotations.values, *(np.zeros(keyed.rotations.values.shape),) * 2)
    assert _off_mm(replace(keyed, rotations=flat), there, frames) > 1.0


@pytest.mark.data
def test_real_motion(shown, tmp_path, data_dir):
    motion = replace(kp.load(data_dir / "fbx" / "07_01.bvh"), metres_per_unit=CMU_UNIT)
    keyed = kp.unbake(motion, np.linspace(3, motion.n_frames - 1, motion.n_frames // 10).astype(int))
    _assert_shown(keyed, shown, tmp_path / "walk.glb")
