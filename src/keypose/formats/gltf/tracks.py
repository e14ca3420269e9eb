"""Reduce tracks of scale and morph weights that have a key on every frame to a few keys with tangents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, freeze
from keypose.curves.reduce import CurveGroup, CurveSamples, ReducedCurves, reduce_within
from keypose.formats.gltf.animation import MIN_UNIFORM_FPS, Animation
from keypose.formats.json_document import JsonObject

KINDS = {"scale": "VEC3", "weights": "SCALAR"}
MAX_STEP_S = 1.0001 / MIN_UNIFORM_FPS  # between keys that are frames, with the rounding of their times
TOLERANCE = 1e-3  # of the largest value of a track
ROUNDING = 2e-6  # of the largest value: of values and tangents in 32 bits
NUMBERS_PER_KEY = 3  # in-tangent, value, out-tangent


@dataclass(frozen=True)
class TrackKeys:
    """The keys of one sampler."""

    times: Floats  # (K,) seconds
    values: NDArray[np.float32]  # (N, width), the output of the sampler
    interpolation: str


def reduce_track(animation: Animation, sampler: JsonObject, path: str) -> ReducedCurves | None:
    """Return fewer keys for the values of a sampler, the same for all its components; None if it stays as it is.

    A track stays if it has no key on every frame, if it is no straight interpolation, and if it would not get smaller.
    """
    accessors = animation.accessors
    if path not in KINDS or sampler.text("interpolation", "LINEAR") != "LINEAR":
        return None
    times = accessors.floats(sampler.index("input", len(accessors)), "SCALAR")[:, 0]
    output = accessors.floats(sampler.index("output", len(accessors)), KINDS[path])
    if len(times) < 2 or len(output) % len(times) or not len(output) or (np.diff(times) <= 0).any():
        return None
    values = output.reshape(len(times), -1)
    if np.diff(times).max() > MAX_STEP_S:
        return None
    names = tuple(map(str, range(values.shape[1])))
    samples = CurveSamples(
        times, names, freeze(np.ascontiguousarray(values.T)), (CurveGroup(path, tuple(range(len(names)))),)
    )
    tolerance = max((TOLERANCE - ROUNDING) * float(np.abs(values).max()), np.finfo(np.float32).tiny)
    reduced = reduce_within(samples, np.full(len(names), tolerance), "bezier", threads=1)
    return reduced if NUMBERS_PER_KEY * len(reduced.curves[0]) < len(times) else None


def sample_track(reduced: ReducedCurves, times: Floats) -> Floats:
    """Return the values (T, width) of a reduced track."""
    return np.stack([curve.sample(times) for curve in reduced.curves], axis=1)


def encode_track(reduced: ReducedCurves, path: str) -> TrackKeys:
    """Return the keys of a reduced track as the output of a sampler."""
    curves = reduced.curves
    if len(curves[0]) == 1:
        parts = [[curve.values for curve in curves]]
    else:
        parts = [[getattr(curve, name) for curve in curves] for name in ("in_tangents", "values", "out_tangents")]
    table = np.array(parts).transpose(2, 0, 1)  # (K, 1 or 3, width)
    width = table.shape[2] if path == "scale" else 1
    return TrackKeys(
        curves[0].times,
        np.ascontiguousarray(table.reshape(-1, width).astype("<f4")),
        "STEP" if len(curves[0]) == 1 else "CUBICSPLINE",
    )
