"""Translations of a joint that change, as of the hips: cubic curves through a few keys, within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, freeze_ints
from keypose.curves.cubic_fit import fit_cubics
from keypose.errors import ModelError
from keypose.model import Curves
from keypose.model.curves import SpanPosition

MAX_SPAN_FRAMES = 512  # between keys: bounds the work on long clips


@dataclass(frozen=True, eq=False)
class Path(Frozen):
    """The local translations of one joint: keys with cubic or linear curves between them."""

    joint: str
    keys: Ints  # (K,) increasing frames
    curves: Curves  # (K, 1, 3) file units

    def __post_init__(self) -> None:
        keys = freeze_ints(self.keys, (None,), "keys of a path")
        if not len(keys) or keys[0] < 0 or (np.diff(keys) <= 0).any():
            raise ModelError(f"{self.joint}: keys of a path, expected increasing frames")
        if not isinstance(self.curves, Curves):
            raise ModelError(f"{self.joint}: a path of {type(self.curves).__name__}, expected Curves")
        if self.curves.values.shape != (len(keys), 1, 3):
            raise ModelError(f"{self.joint}: path {self.curves.values.shape}, expected {(len(keys), 1, 3)}")
        self._set_field("keys", keys)

    def __repr__(self) -> str:
        return f"Path({self.joint!r}, {len(self.keys)} keys)"

    def sample(self, frames: Floats) -> Floats:
        """Return translations (N, 3) at ``frames`` (N,), whole or not."""
        return self.curves.at(SpanPosition.locate(self.keys, frames))[:, 0]


def fit_path(joint: str, translations: Floats, tolerance: float) -> Path:
    """Fit a path to ``translations`` (T, 3) with errors of at most ``tolerance``; 0: a key on every frame.

    Spans are divided until all are within it: the error of a cubic grows with the fourth power of its length.
    """
    if tolerance <= 0 or len(translations) < 3:
        return Path(joint, np.arange(len(translations), dtype=np.int32), Curves(translations[:, None]))
    last = len(translations) - 1
    keys = np.union1d(np.arange(0, last, MAX_SPAN_FRAMES), [0, last]).astype(np.int32)
    while True:
        path = Path(joint, keys, fit_cubics(translations[:, None], keys))
        errors = np.linalg.norm(path.sample(np.arange(len(translations), dtype=np.float64)) - translations, axis=1)
        span_errors = np.maximum.reduceat(errors, keys)[:-1]
        bad_spans = np.flatnonzero(span_errors > tolerance)
        if not len(bad_spans):
            return path
        n_parts = np.maximum(2, np.ceil((span_errors[bad_spans] / tolerance) ** 0.25)).astype(int)
        ends = zip(keys[bad_spans].tolist(), keys[bad_spans + 1].tolist(), n_parts.tolist(), strict=True)
        new_keys = [np.linspace(start, end, n + 1).round() for start, end, n in ends]
        keys = np.union1d(keys, np.concatenate(new_keys)).astype(np.int32)
