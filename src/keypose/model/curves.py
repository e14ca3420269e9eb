"""Curves through keys: values at common frames, and the slopes with which a cubic arrives at and leaves each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, Ints, frozen_floats
from keypose.errors import ModelError


@dataclass(frozen=True, eq=False)
class Curves(Frozen):
    """Many curves over the same keys. With slopes each span is the cubic that has them at its two ends (a Bezier curve
    whose handles lie a third of the span away from their keys); without, it is straight.
    """

    values: Floats  # (K, J, C)
    arriving: Floats | None = None  # (K, J, C) slope per frame just before each key
    leaving: Floats | None = None  # (K, J, C) slope per frame just after each key

    def __post_init__(self) -> None:
        values = frozen_floats(self.values, (None, None, None), "curve values")
        self._put("values", values)
        if (self.arriving is None) != (self.leaving is None):
            raise ModelError("curves: slopes on one side of the keys only, expected both or none")
        for name in ("arriving", "leaving"):
            if getattr(self, name) is not None:
                self._put(name, frozen_floats(getattr(self, name), values.shape, f"{name} slopes"))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        keys, joints, channels = self.values.shape
        return f"Curves({keys} keys, {joints} joints x {channels}, {'cubic' if self.is_cubic else 'straight'})"

    @property
    def is_cubic(self) -> bool:
        """Whether there are slopes."""
        return self.arriving is not None

    @property
    def n_channels(self) -> int:
        """How many numbers a joint has at a key."""
        return int(self.values.shape[2])

    def still(self) -> NDArray[np.bool_]:
        """(J,) the joints that never change."""
        still = (self.values == self.values[:1]).all(axis=(0, 2))
        for slopes in (self.arriving, self.leaving):
            if slopes is not None:
                still &= (slopes == 0).all(axis=(0, 2))
        return np.asarray(still)

    def with_values(self, values: Floats) -> Curves:
        """The same slopes through other values."""
        return replace(self, values=values)

    def at(self, place: Place) -> Floats:
        """The values (N, J, C) at places between the keys; at a key its very numbers. Straight spans go straight."""
        first = self.values[place.before]
        s = place.part[:, None, None]
        climb = self.values[place.after] - first
        if self.arriving is None or self.leaving is None:
            return np.asarray(first + s * climb)
        gap = place.gap[:, None, None]
        slopes = s * (1 - s) * ((1 - s) * gap * self.leaving[place.before] - s * gap * self.arriving[place.after])
        return np.asarray(first + s * s * (3 - 2 * s) * climb + slopes)


@dataclass(frozen=True)
class Place:
    """Where frames lie between keys; before the first key and after the last one the nearest holds."""

    before: NDArray[np.intp]  # (N,) index of the key at or before each frame
    after: NDArray[np.intp]  # (N,) index of the next key
    part: Floats  # (N,) of the way between the two, 0 at a key
    gap: Floats  # (N,) frames between the two

    @staticmethod
    def of(keys: Ints, frames: Floats) -> Place:
        """The places of ``frames`` (N,), whole or not, between increasing ``keys`` (K,)."""
        inside = np.clip(frames, keys[0], keys[-1])
        before = np.searchsorted(keys, inside, side="right") - 1
        after = np.minimum(before + 1, len(keys) - 1)
        gap = np.maximum(1, keys[after] - keys[before]).astype(np.float64)
        return Place(before, after, (inside - keys[before]) / gap, gap)
