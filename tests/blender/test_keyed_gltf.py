"""Sparse GLB in real Blender, and what Blender exports of it again.

Blender's own importer keeps keys but not tangents: it guesses handles. The add-on in tools/ keeps them. Its exporter, if
told to export the keys as they are, writes tangents of turns that are not quite its own curves; with a key on every frame,
which is what it does by default, it writes what it shows.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
BONE, KEY, TURN_DEG = "LeftArm", 47, 30.0


@dataclass(frozen=True)
class Edited:
    """Where Blender has the joints of a file, perhaps edited."""

    positions: np.ndarray  # (frames, J, 3) in metres, Y up
    handles: tuple[str, ...]


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    motion = kp.demo_motion(fps=30)[:120]
    return kp.unbake(motion, [0, 9, 20, 31, 40, 47, 60, 72, 80, 95, 107, 119])


@pytest.fixture(scope="module")
def glb(keyed, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "demo.glb"
    kp.save(keyed, path)
    return path


@pytest.fixture(scope="module")
def edit(blender_python, tmp_path_factory, keyed) -> Callable[..., Edited]:
    """A function that has Blender import a file, edit it and export it."""

    def ask(path: Path, frames: np.ndarray, *, tangents: bool, turn=None, exports=()) -> Edited:
        folder = tmp_path_factory.mktemp("edit")
        entry = {"path": str(path), "fps": keyed.fps, "frames": frames.tolist(), "tangents": tangents, "turn": turn,
                 "exports": list(map(str, exports))}  # fmt: skip
        (folder / "request.json").write_text(json.dumps(entry))
        script = Path(__file__).resolve().with_name("gltf_judge.py")
        run = subprocess.run(
            [blender_python, "-P", script, folder / "request.json", folder / "result.npz"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, run.stderr[-2000:]
        with np.load(folder / "result.npz", allow_pickle=False) as found:
            names = found["names"].tolist()
            order = [names.index(name) for name in keyed.skeleton.names]
            return Edited(found["positions"][:, order], tuple(found["handles"].tolist()))

    return ask


@pytest.fixture(scope="module")
def frames(keyed) -> np.ndarray:
    """Keys, frames between them and parts of frames."""
    rng = np.random.default_rng(0)
    return np.sort(np.concatenate((keyed.keys, np.arange(1, 119, 4), rng.uniform(0, 119, 30))))


def off_mm(keyed: kp.KeyedMotion, positions: np.ndarray, frames: np.ndarray, names=None) -> np.ndarray:
    """How far (frames,) joints, by default in the motion's own order, are from our own sampling."""
    ours = keyed.sample(frames=frames)
    order = [keyed.skeleton.names.index(name) for name in names or keyed.skeleton.names]
    return np.linalg.norm(ours.world_positions()[:, order] - positions, axis=-1).max(axis=1) * ours.mm_per_unit


def test_blender_has_our_keys_but_not_our_tangents(keyed, glb, judge, asked, frames):
    """Should this fail between the keys, Blender has learnt to keep tangents, and the add-on may go."""
    (blender,) = judge(asked(glb, frames.tolist(), keyed.fps))
    assert blender.error is None
    away = off_mm(keyed, blender.of(keyed.skeleton.names), frames)
    at_keys = np.isin(frames, keyed.keys)
    assert away[at_keys].max() < TOLERANCE_MM
    assert away[~at_keys].max() > 5.0


def test_with_the_add_on_blender_shows_our_curves(keyed, glb, edit, frames):
    blender = edit(glb, frames, tangents=True)
    assert "FREE" in blender.handles
    assert off_mm(keyed, blender.positions, frames).max() < TOLERANCE_MM


def test_an_edit_comes_back(keyed, glb, edit, tmp_path):
    """A key turned in Blender, exported with its keys as they are and with a key on every frame."""
    as_they_are, every_frame = tmp_path / "keys.glb", tmp_path / "frames.glb"
    whole = np.arange(keyed.n_frames, dtype=float)
    blender = edit(glb, whole, tangents=True, turn=[BONE, KEY, TURN_DEG], exports=(as_they_are, every_frame))
    moved = off_mm(keyed, blender.positions, whole)
    assert moved[KEY] > 50.0 and moved[: 40 + 1].max() < TOLERANCE_MM  # Blender did what was asked

    dense = kp.load_keyed(every_frame)
    assert dense.keys.tolist() == list(range(keyed.n_frames)) and dense.fps == keyed.fps
    names = keyed.skeleton.names
    assert sorted(dense.skeleton.names) == sorted(names)
    assert off_mm(dense, blender.positions, whole, names).max() < TOLERANCE_MM

    sparse = kp.load_keyed(as_they_are)
    assert sparse.keys.tolist() == keyed.keys.tolist() and sparse.is_cubic and sparse.n_frames == keyed.n_frames
    at_keys = keyed.keys.astype(float)
    assert off_mm(sparse, blender.positions[keyed.keys], at_keys, names).max() < TOLERANCE_MM
    frames = kp.load(as_they_are)
    np.testing.assert_allclose(sparse.sample().world_positions(), frames.world_positions(), atol=1e-5)
