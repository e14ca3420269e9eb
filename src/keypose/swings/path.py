"""Where a joint is that is moved about, as the hips are: cubic curves through a few keys, within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_ints
from keypose.errors import ModelError
from keypose.inbetween.fitted import fitted
from keypose.model import Curves
from keypose.model.curves import Place

LONGEST_SPAN = 512  # frames between keys: bounds the work on long clips


@dataclass(frozen=True, eq=False)
class Path(Frozen):
    """The local translations of one joint: keys, and a cubic or straight curve through each span between them."""

    joint: str
    keys: Ints  # (K,) increasing frames
    curves: Curves  # (K, 1, 3) file units

    def __post_init__(self) -> None:
        keys = frozen_ints(self.keys, (None,), "keys of a path")
        if not len(keys) or keys[0] < 0 or (np.diff(keys) <= 0).any():
            raise ModelError(f"{self.joint}: keys of a path, expected increasing frames")
        if not isinstance(self.curves, Curves):
            raise ModelError(f"{self.joint}: a path of {type(self.curves).__name__}, expected Curves")
        if self.curves.values.shape != (len(keys), 1, 3):
            raise ModelError(f"{self.joint}: path {self.curves.values.shape}, expected {(len(keys), 1, 3)}")
        self._put("keys", keys)

    def __repr__(self) -> str:
        return f"Path({self.joint!r}, {len(self.keys)} keys)"

    def sample(self, frames: Floats) -> Floats:
        """Translations (N, 3) at ``frames`` (N,), whole or not."""
        return self.curves.at(Place.of(self.keys, frames))[:, 0]


def fit_path(joint: str, places: Floats, tolerance: float) -> Path:
    """A path through ``places`` (T, 3) that leaves no frame farther off than ``tolerance``; 0: a key on every frame.

    Spans are divided until all are near enough: the error of a cubic grows with the fourth power of its length.
    """
    if tolerance <= 0 or len(places) < 3:
        return Path(joint, np.arange(len(places), dtype=np.int32), Curves(places[:, None]))
    last = len(places) - 1
    keys = np.union1d(np.arange(0, last, LONGEST_SPAN), [0, last]).astype(np.int32)
    while True:
        path = Path(joint, keys, fitted(places[:, None], keys))
        off = np.linalg.norm(path.sample(np.arange(len(places), dtype=np.float64)) - places, axis=1)
        farthest = np.maximum.reduceat(off, keys)[:-1]
        spans = np.flatnonzero(farthest > tolerance)
        if not len(spans):
            return path
        parts = np.maximum(2, np.ceil((farthest[spans] / tolerance) ** 0.25)).astype(int)
        ends = zip(keys[spans].tolist(), keys[spans + 1].tolist(), parts.tolist(), strict=True)
        more = [np.linspace(start, end, n + 1).round() for start, end, n in ends]
        keys = np.union1d(keys, np.concatenate(more)).astype(np.int32)
