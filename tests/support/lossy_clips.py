"""Arbitrary valid coded clips, written by the reference implementation, and motions of every kind."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from keypose.rotations import exp, multiply
from keypose.storage.lossy.plan import Plan
from reference import naive_storage_lossy as naive
from reference.naive_range_coder import IntegerWriter

SHIFT, ROTATION = "shift", "turn"
LARGEST_RESIDUAL = 2**30 - 1
TYPICAL_STEPS = st.integers(-130, -20)


@dataclass(frozen=True)
class CodedClip:
    """A skeleton and the coded parameters of a clip."""

    skeleton: kp.Skeleton
    data: bytes

    @property
    def kernel(self) -> _core.KpsClip:
        return Plan.from_bytes(self.data, self.skeleton.n_joints).build_kernel(self.skeleton)

    @property
    def reference(self) -> naive.LossyClip:
        return naive.LossyClip(self.skeleton, self.data)


coordinates = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-110]), st.floats(-20, 20))
offsets = st.lists(coordinates, min_size=3, max_size=3)


@st.composite
def skeletons(draw, max_joints: int = 5) -> kp.Skeleton:
    count = draw(st.integers(1, max_joints))
    parents = [draw(st.integers(-1, j - 1)) for j in range(count)]
    ends = draw(st.lists(st.integers(0, count - 1), max_size=2))
    return kp.Skeleton(
        names=tuple(f"joint{j}" for j in range(count)),
        parents=parents,
        offsets=[draw(offsets) for _ in range(count)],
        end_joints=np.array(ends, np.int32),
        end_offsets=np.array([draw(offsets) for _ in ends]).reshape(-1, 3),
    )


@st.composite
def clips(
    draw, steps: st.SearchStrategy[int] = TYPICAL_STEPS, min_bits: int = 2, max_coordinate: float = 1e6
) -> CodedClip:
    """Any rotations, translations up to ``max_coordinate``, steps and priors."""
    skeleton = draw(skeletons())
    out = IntegerWriter()
    bits = draw(st.integers(min_bits, 40))
    out.write(naive.BITS, bits)
    tracks: list[str] = []
    for _ in skeleton.names:
        tracks += _write_joint(draw, out, bits, max_coordinate)
    last = {SHIFT: 0, ROTATION: 0}
    for kind in tracks:
        step = draw(steps)
        out.write(naive.SHIFT_STEP if kind == SHIFT else naive.STEP, step - last[kind])
        last[kind] = step
        if kind == SHIFT:
            out.write(naive.CENTRE, draw(st.integers(-(2**10), 2**10)))
        out.write(naive.PRIOR, draw(st.integers(-30, 60)))
    for _ in range(11):
        out.write(naive.LEVEL, draw(st.integers(-30, 60)))
    return CodedClip(skeleton, out.finish())


def _write_joint(draw, out: IntegerWriter, bits: int, max_coordinate: float) -> list[str]:
    """Write a joint; return the kinds of its tracks."""
    rotation = draw(st.integers(0, 5))
    out.write(naive.ROTATION, rotation)
    if rotation in (naive.HINGE, naive.PAIR, naive.FREE, naive.FIXED_ROTATION):
        _write_unit_vector(
            draw, out, 4, naive.COARSE if rotation == naive.FREE else naive.FINE, 8 if rotation == naive.FREE else bits
        )
    for _ in range({naive.HINGE: 1, naive.PAIR: 2}.get(rotation, 0)):
        _write_unit_vector(draw, out, 3, naive.FINE, bits)
        out.write(naive.SIGN, draw(st.integers(0, 1)))
    if rotation == naive.UPRIGHT:
        out.write(naive.UP, draw(st.integers(0, 2)))
    translation = draw(st.integers(0, 2))
    out.write(naive.TRANSLATION, translation)
    if translation == 1:
        for _ in range(3):
            out.write(
                naive.COORDINATE,
                struct.unpack("<q", struct.pack("<d", draw(st.floats(-max_coordinate, max_coordinate))))[0],
            )
    return [SHIFT] * 3 * (translation == 2) + [ROTATION] * naive.TRACKS_OF_ROTATION[rotation]


def _write_unit_vector(draw, out: IntegerWriter, count: int, kind: int, bits: int) -> None:
    out.write(naive.LARGEST, draw(st.integers(0, count - 1)))
    limit = int(0.8 * 2 ** (bits - 1))
    for _ in range(count - 1):
        out.write(kind, draw(st.integers(-limit, limit)))


def residuals(draw, shape: tuple[int, int], limit: int = LARGEST_RESIDUAL) -> np.ndarray:
    """Return any integers: many small, some maximal, in runs and alone."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0, 1, 4, 12, 24, 30]))
    sizes = np.minimum(2.0 ** (spread * rng.random(shape)) - 1, limit).astype(np.int32)
    sizes[rng.random(shape) < draw(st.sampled_from([0.0, 0.05, 1.0]))] = limit
    signs = rng.choice([1, -1], shape) if draw(st.booleans()) else np.full(shape, -1)
    return np.ascontiguousarray(sizes * signs, np.int32)


@dataclass(frozen=True)
class Sections:
    """A coded group of frames, and its residuals."""

    pose: bytes
    body: bytes
    next_pose: bytes | None
    frames: int
    order: int
    grain: int
    residuals: np.ndarray  # (frames, tracks); the first row is not coded


@st.composite
def sections(draw, kernel: _core.KpsClip, max_frames: int = 24, coarsest: int = 16) -> Sections:
    """Sections of any grain and order."""
    tracks = kernel.tracks
    frames, order = draw(st.integers(1, max_frames)), draw(st.integers(0, 2))
    grains = st.integers(-48, coarsest)
    rows = residuals(draw, (frames, tracks))
    has_next, grain = draw(st.booleans()), draw(grains)
    pose, next_pose = (kernel.write_pose(draw(grains), residuals(draw, (1, tracks))[0]) for _ in range(2))
    body = kernel.write_body(order, grain, rows, has_next)
    return Sections(pose, body, next_pose if has_next else None, frames, order, grain, rows)


def exotic_motion(n_frames: int = 45) -> kp.Motion:
    """Two roots, one of them upright; hinge, pair, free and fixed rotations; joints that move or differ from their offset."""
    t = np.linspace(0, 3, n_frames)
    wave = np.stack([np.sin(t * (1 + 0.3 * k) + k) for k in range(12)], axis=1)
    names = ("root", "hinge", "pair", "free", "still", "turned", "elsewhere", "sliding", "other root", "kid", "leaf")
    parents = [-1, 0, 1, 2, 3, 3, 0, 0, -1, 8, 9]
    rng = np.random.default_rng(3)
    skeleton = kp.Skeleton(
        names, parents, rng.normal(0, 10, (11, 3)), end_joints=[5, 10, 10], end_offsets=rng.normal(0, 5, (3, 3))
    )
    vectors = np.zeros((n_frames, 11, 3))
    vectors[:, 1] = wave[:, :1] * [0.6, 0.8, 0.0]
    vectors[:, 3] = 0.5 * wave[:, 1:4]
    vectors[:, 5] = [0.3, -0.2, 0.9]
    vectors[:, 8:11] = 0.4 * wave[:, 3:12].reshape(n_frames, 3, 3)
    rotations = exp(vectors)
    rotations[:, 0] = multiply(
        exp(np.outer(6 * t, [0, 1, 0])), exp(0.1 * np.delete(wave[:, :3], 1, 1) @ np.eye(3)[[0, 2]])
    )
    rotations[:, 2] = multiply(exp(np.outer(wave[:, 5], [1, 0, 0])), exp(np.outer(0.7 * wave[:, 6], [0, 0.6, 0.8])))
    translations = np.tile(skeleton.offsets, (n_frames, 1, 1))
    translations[:, [0, 7, 8]] += 20 * wave[:, [[0, 1, 2], [3, 4, 5], [6, 7, 8]]]
    translations[:, 6] += [1.0, 2.0, -3.0]
    return kp.Motion("exotic", skeleton, 20.0, translations, rotations)
