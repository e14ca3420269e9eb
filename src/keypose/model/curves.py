"""Curves through keys: values at common frames, with tangents where they are cubic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, Ints, freeze_floats
from keypose.errors import ModelError


@dataclass(frozen=True, eq=False)
class Curves(Frozen):
    """Many curves over the same keys. With tangents each span is a cubic (a Bezier curve whose handles lie a third of
    the span away from their keys); without, it is straight.
    """

    values: Floats  # (K, J, C)
    in_tangents: Floats | None = None  # (K, J, C) slope per frame just before each key
    out_tangents: Floats | None = None  # (K, J, C) slope per frame just after each key

    def __post_init__(self) -> None:
        values = freeze_floats(self.values, (None, None, None), "curve values")
        self._set_field("values", values)
        if (self.in_tangents is None) != (self.out_tangents is None):
            raise ModelError("curves: slopes on one side of the keys only, expected both or none")
        for name in ("in_tangents", "out_tangents"):
            if getattr(self, name) is not None:
                self._set_field(name, freeze_floats(getattr(self, name), values.shape, name))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        keys, joints, channels = self.values.shape
        return f"Curves({keys} keys, {joints} joints x {channels}, {'cubic' if self.is_cubic else 'straight'})"

    @property
    def is_cubic(self) -> bool:
        """Whether there are tangents."""
        return self.in_tangents is not None

    @property
    def n_channels(self) -> int:
        """Numbers per joint and key."""
        return int(self.values.shape[2])

    def still_joints(self) -> NDArray[np.bool_]:
        """Return flags (J,) of the joints that never change."""
        still = (self.values == self.values[:1]).all(axis=(0, 2))
        for tangents in (self.in_tangents, self.out_tangents):
            if tangents is not None:
                still &= (tangents == 0).all(axis=(0, 2))
        return np.asarray(still)

    def with_values(self, values: Floats) -> Curves:
        """Return curves with the same tangents and other values."""
        return replace(self, values=values)

    def at(self, position: SpanPosition) -> Floats:
        """Return the values (N, J, C) at positions between the keys; exactly the stored values at a key."""
        first = self.values[position.before]
        s = position.fraction[:, None, None]
        rise = self.values[position.after] - first
        if self.in_tangents is None or self.out_tangents is None:
            return np.asarray(first + s * rise)
        gap = position.gap[:, None, None]
        tangents = (
            s
            * (1 - s)
            * ((1 - s) * gap * self.out_tangents[position.before] - s * gap * self.in_tangents[position.after])
        )
        return np.asarray(first + s * s * (3 - 2 * s) * rise + tangents)


@dataclass(frozen=True)
class SpanPosition:
    """Positions of frames between keys; before the first and after the last key, that of the nearest key."""

    before: NDArray[np.intp]  # (N,) index of the key at or before each frame
    after: NDArray[np.intp]  # (N,) index of the next key
    fraction: Floats  # (N,) 0 to 1 from the first to the second, 0 at a key
    gap: Floats  # (N,) frames between the two

    @staticmethod
    def locate(keys: Ints, frames: Floats) -> SpanPosition:
        """Return the positions of ``frames`` (N,), which may be fractional, between increasing ``keys`` (K,)."""
        inside = np.clip(frames, keys[0], keys[-1])
        before = np.searchsorted(keys, inside, side="right") - 1
        after = np.minimum(before + 1, len(keys) - 1)
        gap = np.maximum(1, keys[after] - keys[before]).astype(np.float64)
        return SpanPosition(before, after, (inside - keys[before]) / gap, gap)
