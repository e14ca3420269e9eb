"""A clip as part search keeps it: ten short vectors a second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Frozen, frozen, give_away
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import Canonical, canonical
from keypose.library.descriptors.posture import posture
from keypose.library.parts.basis import MOST, SIZE, Basis, mirror, shipped
from keypose.library.parts.measure import RATE, group_numbers
from keypose.model import Motion
from keypose.options import number

Halves = NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class PartTrack(Frozen):
    """The samples of a clip, or of a part of one; 800 bytes for each second."""

    vectors: Halves  # (S, SIZE) at RATE; 0 is the usual body
    duration_s: float
    starts_after_s: float = 0.0  # a part: its start, counted from that of its first sample; at most half a sample

    def __post_init__(self) -> None:
        n, size = self.vectors.shape if self.vectors.ndim == 2 else (0, 0)
        if n < 1 or size != SIZE or self.vectors.dtype != np.float16:
            found = f"{self.vectors.dtype} numbers of shape {self.vectors.shape}"
            raise ModelError(f"vectors: {found}, expected float16 of shape (at least 1, {SIZE})")
        if not (self.vectors.min() >= -MOST and self.vectors.max() <= MOST):  # nor NaN
            raise ModelError(f"vectors: numbers beyond {MOST:g}, expected none")
        if not (0.0 < self.duration_s <= (n + 1) / RATE and abs(self.starts_after_s) <= 1 / RATE):
            raise ModelError(f"duration_s={self.duration_s:g}, expected about {n / RATE:g}, as long as the samples")
        self._put("vectors", frozen(self.vectors))

    def __len__(self) -> int:
        return len(self.vectors)

    def part(self, start_s: float, end_s: float) -> PartTrack:
        """The part between two times, at least one sample; an end after the clip's is the clip's."""
        start = number("start", start_s, least=0.0)
        end = min(number("end", end_s, above=start), self.duration_s)
        if start >= end:
            raise OptionError(f"start={start:g}, expected a time before the clip ends, at {self.duration_s:g} s")
        first = min(round((start + self.starts_after_s) * RATE), len(self) - 1)
        n = max(round((end - start) * RATE), 1)
        after = start + self.starts_after_s - first / RATE
        return PartTrack(self.vectors[first : first + n], end - start, after)

    def mirrored(self) -> PartTrack:
        """The same with left and right exchanged."""
        places, signs = mirror()
        return replace(self, vectors=give_away((self.vectors[:, places] * signs).astype(np.float16)))


@overload
def describe_parts(clip: Canonical, basis: Basis | None = None) -> PartTrack: ...


@overload
def describe_parts(clip: Motion, basis: Basis | None = None) -> PartTrack | None: ...


def describe_parts(clip: Motion | Canonical, basis: Basis | None = None) -> PartTrack | None:
    """The track of a whole clip; None if it has no recognisable body (markers, props).

    The part that is looked for is a part of this: the floor and the speeds at its ends are then those of the clip. The
    same motion always gives the same numbers. ``basis``: other axes than the shipped ones; tracks of different axes
    cannot be compared.
    """
    body = clip if isinstance(clip, Canonical) else canonical(clip)
    if body is None:
        return None
    vectors = (shipped() if basis is None else basis).project(group_numbers(posture(body)))
    return PartTrack(give_away(vectors.astype(np.float16)), body.duration_s)
