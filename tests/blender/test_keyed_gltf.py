"""Sparse GLB in real Blender, and its export from there.

Blender's own importer keeps keys but not tangents: it guesses handles. The add-on in blender/ keeps them. Its exporter,
with the option to export the keys unchanged, writes rotation tangents that are not quite its own curves; with a key on
every frame, the default, it writes what it evaluates.
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
class EditedFile:
    """The joint positions of a file in Blender after an edit."""

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
def edit(blender_python, tmp_path_factory, keyed) -> Callable[..., EditedFile]:
    """A function that imports a file in Blender, edits it and exports it."""

    def run(path: Path, frames: np.ndarray, *, tangents: bool, turn=None, exports=()) -> EditedFile:
        folder = tmp_path_factory.mktemp("edit")
        entry = {"path": str(path), "fps": keyed.fps, "frames": frames.tolist(), "tangents": tangents, "turn": turn,
                 "exports": list(map(str, exports))}  # fmt: skip
        (folder / "request.json").write_text(json.dumps(entry))
        script = Path(__file__).resolve().parents[1] / "support" / "edit_gltf.py"
        run = subprocess.run(
            [blender_python, "-P", script, folder / "request.json", folder / "result.npz"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, run.stderr[-2000:]
        with np.load(folder / "result.npz", allow_pickle=False) as result:
            names = result["names"].tolist()
            order = [names.index(name) for name in keyed.skeleton.names]
            return EditedFile(result["positions"][:, order], tuple(result["handles"].tolist()))

    return run


@pytest.fixture(scope="module")
def frames(keyed) -> np.ndarray:
    """Keys, frames between them and fractional frames."""
    rng = np.random.default_rng(0)
    return np.sort(np.concatenate((keyed.keys, np.arange(1, 119, 4), rng.uniform(0, 119, 30))))


def errors_mm(keyed: kp.KeyedMotion, positions: np.ndarray, frames: np.ndarray, names=None) -> np.ndarray:
    """Return the error (frames,) of joints, by default in the motion's own order, against Keypose's sampling."""
    ours = keyed.sample(frames=frames)
    order = [keyed.skeleton.names.index(name) for name in names or keyed.skeleton.names]
    return np.linalg.norm(ours.world_positions()[:, order] - positions, axis=-1).max(axis=1) * ours.mm_per_unit


def test_blender_imports_keys_but_not_tangents(keyed, glb, import_in_blender, import_request, frames):
    """If this fails between the keys, Blender imports tangents, and the add-on can be removed."""
    (blender,) = import_in_blender(import_request(glb, frames.tolist(), keyed.fps))
    assert blender.error is None
    away = errors_mm(keyed, blender.positions_of(keyed.skeleton.names), frames)
    at_keys = np.isin(frames, keyed.keys)
    assert away[at_keys].max() < TOLERANCE_MM
    assert away[~at_keys].max() > 5.0


def test_the_add_on_imports_tangents(keyed, glb, edit, frames):
    blender = edit(glb, frames, tangents=True)
    assert "FREE" in blender.handles
    assert errors_mm(keyed, blender.positions, frames).max() < TOLERANCE_MM


def test_an_edit_round_trip(keyed, glb, edit, tmp_path):
    """A key rotated in Blender, exported with its keys unchanged and with a key on every frame."""
    as_they_are, every_frame = tmp_path / "keys.glb", tmp_path / "frames.glb"
    whole = np.arange(keyed.n_frames, dtype=float)
    blender = edit(glb, whole, tangents=True, turn=[BONE, KEY, TURN_DEG], exports=(as_they_are, every_frame))
    moved = errors_mm(keyed, blender.positions, whole)
    assert moved[KEY] > 50.0 and moved[: 40 + 1].max() < TOLERANCE_MM  # the edit was applied

    dense = kp.load_keyed(every_frame)
    assert dense.keys.tolist() == list(range(keyed.n_frames)) and dense.fps == keyed.fps
    names = keyed.skeleton.names
    assert sorted(dense.skeleton.names) == sorted(names)
    assert errors_mm(dense, blender.positions, whole, names).max() < TOLERANCE_MM

    sparse = kp.load_keyed(as_they_are)
    assert sparse.keys.tolist() == keyed.keys.tolist() and sparse.is_cubic and sparse.n_frames == keyed.n_frames
    at_keys = keyed.keys.astype(float)
    assert errors_mm(sparse, blender.positions[keyed.keys], at_keys, names).max() < TOLERANCE_MM
    frames = kp.load(as_they_are)
    np.testing.assert_allclose(sparse.sample().world_positions(), frames.world_positions(), atol=1e-5)
