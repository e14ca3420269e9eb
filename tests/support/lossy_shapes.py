"""Skeletons of any shape with smooth motion, the basis of the unusual motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.model import Motion, Skeleton
from keypose.rotations import exp


def build_skeleton(
    parents: list[int], length: float = 10.0, *, ends: list[int] | None = None, along: int = 1, seed: int = 0
) -> Skeleton:
    """Return a skeleton with bones of about that length, mostly along one axis, and end sites on the joints ``ends``,
    by default all leaves."""
    n = len(parents)
    rng = np.random.default_rng(seed)
    offsets = length * (np.eye(3)[along] + 0.2 * rng.normal(size=(n, 3)))
    offsets[0] = 0
    leaves = [j for j in range(n) if j not in parents] if ends is None else ends
    return Skeleton(
        names=tuple(f"joint {j}" for j in range(n)),
        parents=np.array(parents, np.int32),
        offsets=offsets,
        end_joints=np.array(leaves, np.int32),
        end_offsets=length * rng.normal(size=(len(leaves), 3)),
    )


def waves(shape: tuple[int, ...], fps: float, rng: np.random.Generator, hertz: float = 1.0) -> np.ndarray:
    """Return smooth numbers (T, ...) of size 1: sums of three sines."""
    seconds = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1)) / fps
    sines = [
        rng.normal(size=shape[1:])
        * np.sin(2 * np.pi * (rng.uniform(0.2, hertz, shape[1:]) * seconds + rng.random(shape[1:])))
        for _ in range(3)
    ]
    return np.sum(sines, axis=0)


def animate(
    skeleton: Skeleton, n_frames: int = 90, fps: float = 30.0, *, seed: int = 0, radians: float = 0.4, travel: float = 20.0,
    stretch: float = 0.0, **more: object,
) -> Motion:  # fmt: skip
    """Rotate all joints smoothly and move the roots; with ``stretch`` all joints move."""
    rng = np.random.default_rng(seed)
    shape = (n_frames, skeleton.n_joints, 3)
    roots = (skeleton.parents < 0)[:, None]
    positions = skeleton.offsets + waves(shape, fps, rng) * np.where(roots, travel, stretch)
    return Motion("exotic", skeleton, fps, positions, exp(radians * waves(shape, fps, rng)), **more)  # type: ignore[arg-type]


def replace_rotations(motion: Motion, rotation_vectors: np.ndarray, joints: list[int] | slice = slice(None)) -> Motion:
    """Replace the rotations of some joints by rotation vectors (T, 3) or (T, J, 3)."""
    rotations = motion.rotations.copy()
    rotations[:, joints] = exp(
        np.broadcast_to(
            rotation_vectors if rotation_vectors.ndim == 3 else rotation_vectors[:, None],
            rotations[:, joints].shape[:2] + (3,),
        )
    )
    return replace(motion, rotations=rotations)


def chain(n: int, **more: object) -> Skeleton:
    return build_skeleton(list(range(-1, n - 1)), **more)  # type: ignore[arg-type]


def spine_with_fingers(n: int = 170) -> Skeleton:
    """A spine of ten joints; all others are fingers of three joints each at its top."""
    return build_skeleton([*range(-1, 9), *(9 if j % 3 == 0 else 9 + j for j in range(n - 10))], 8.0)
