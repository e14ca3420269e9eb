"""The curves of a sparse GLB in three.js agree with sampling: at keys, between them, at other rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.node

TOLERANCE_MM = 0.01  # on a figure of 1.7 m
CMU_UNIT = 0.05644  # metres


def _max_error_mm(keyed: kp.KeyedMotion, positions: np.ndarray, frames: np.ndarray) -> float:
    """Return the largest distance between positions (frames, J, 3) in metres and Keypose's sampling."""
    ours = keyed.sample(frames=frames)
    away = np.linalg.norm(positions - ours.world_positions() * keyed.metres_per_unit, axis=-1)
    return float(away.max()) / keyed.metres_per_unit * ours.mm_per_unit


def _frames(keyed: kp.KeyedMotion) -> dict[str, np.ndarray]:
    """Return groups of frames, whole or fractional, by name."""
    last = keyed.n_frames - 1
    rng = np.random.default_rng(0)
    return {
        "keys": keyed.keys.astype(float),
        "frames": np.arange(keyed.n_frames, dtype=float),
        "between": np.sort(rng.uniform(0, last, 100)),
        "24 fps": np.arange(0, last, keyed.fps / 24),
        "100 fps": np.arange(0, last, keyed.fps / 100)[:400],
    }


def _assert_agrees(keyed: kp.KeyedMotion, evaluate_in_three, path) -> None:
    kp.save(keyed, path)
    groups = _frames(keyed)
    evaluated = evaluate_in_three(path, np.concatenate(list(groups.values())) / keyed.fps)
    assert evaluated.duration_s == pytest.approx((keyed.n_frames - 1) / keyed.fps, rel=1e-6)
    ends = np.cumsum([len(frames) for frames in groups.values()])
    for (group, frames), positions in zip(
        groups.items(), np.split(evaluated.positions_of(keyed.skeleton.names), ends[:-1]), strict=True
    ):
        assert _max_error_mm(keyed, positions, frames) < TOLERANCE_MM, group


@pytest.mark.parametrize(
    ("interpolation", "suffix"), [("bezier", ".glb"), ("bezier", ".gltf"), ("natural", ".glb"), ("linear", ".glb")]
)
def test_the_demo_motion(evaluate_in_three, tmp_path, interpolation, suffix):
    motion = kp.demo_motion(fps=30)
    keys = np.linspace(0, motion.n_frames - 1, 40).astype(int)
    keyed = kp.unbake(motion, keys, interpolation=interpolation)
    _assert_agrees(keyed, evaluate_in_three, tmp_path / f"demo{suffix}")


def test_keys_that_leave_out_the_ends(evaluate_in_three, tmp_path):
    motion = kp.demo_motion(fps=30)
    _assert_agrees(kp.unbake(motion, list(range(20, 300, 9))), evaluate_in_three, tmp_path / "demo.glb")


def test_a_wrong_curve_is_detected(evaluate_in_three, tmp_path):
    """The same keys with other tangents are far away between keys."""
    motion = kp.demo_motion(fps=30)
    keyed = kp.unbake(motion, list(range(0, motion.n_frames, 12)))
    kp.save(keyed, tmp_path / "demo.glb")
    frames = np.arange(0, 360, 12) + 6.0
    evaluated = evaluate_in_three(tmp_path / "demo.glb", frames / keyed.fps).positions_of(keyed.skeleton.names)
    flat = kp.Curves(keyed.rotations.values, *(np.zeros(keyed.rotations.values.shape),) * 2)
    assert _max_error_mm(replace(keyed, rotations=flat), evaluated, frames) > 1.0


@pytest.mark.data
def test_real_motion(evaluate_in_three, tmp_path, data_dir):
    motion = replace(kp.load(data_dir / "fbx" / "07_01.bvh"), metres_per_unit=CMU_UNIT)
    keyed = kp.unbake(motion, np.linspace(3, motion.n_frames - 1, motion.n_frames // 10).astype(int))
    _assert_agrees(keyed, evaluate_in_three, tmp_path / "walk.glb")
