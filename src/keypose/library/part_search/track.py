"""The track of a clip for part search: ten short vectors per second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Frozen, freeze, freeze_or_copy
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import CanonicalBody, canonical_body
from keypose.library.descriptors.posture import posture
from keypose.library.part_search.basis import MAX_VALUE, SIZE, Basis, load_shipped, mirror_permutation
from keypose.library.part_search.body_features import RATE, group_features
from keypose.model import Motion
from keypose.validation import check_number

Halves = NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class PartTrack(Frozen):
    """The samples of a clip, or of a span of one; 800 bytes per second."""

    vectors: Halves  # (S, SIZE) at RATE; 0 is the mean body
    duration_s: float
    start_offset_s: float = 0.0  # of a span: from the start of its first sample; at most half a sample

    def __post_init__(self) -> None:
        n, size = self.vectors.shape if self.vectors.ndim == 2 else (0, 0)
        if n < 1 or size != SIZE or self.vectors.dtype != np.float16:
            actual = f"{self.vectors.dtype} numbers of shape {self.vectors.shape}"
            raise ModelError(f"vectors: {actual}, expected float16 of shape (at least 1, {SIZE})")
        if not (self.vectors.min() >= -MAX_VALUE and self.vectors.max() <= MAX_VALUE):  # nor NaN
            raise ModelError(f"vectors: numbers beyond {MAX_VALUE:g}, expected none")
        if not (0.0 < self.duration_s <= (n + 1) / RATE and abs(self.start_offset_s) <= 1 / RATE):
            raise ModelError(f"duration_s={self.duration_s:g}, expected about {n / RATE:g}, as long as the samples")
        self._set_field("vectors", freeze_or_copy(self.vectors))

    def __len__(self) -> int:
        return len(self.vectors)

    def span(self, start_s: float, end_s: float) -> PartTrack:
        """Return the span between two times, at least one sample; clipped at the end of the clip."""
        start = check_number("start", start_s, min_value=0.0)
        end = min(check_number("end", end_s, above=start), self.duration_s)
        if start >= end:
            raise OptionError(f"start={start:g}, expected a time before the clip ends, at {self.duration_s:g} s")
        first = min(round((start + self.start_offset_s) * RATE), len(self) - 1)
        n = max(round((end - start) * RATE), 1)
        after = start + self.start_offset_s - first / RATE
        return PartTrack(self.vectors[first : first + n], end - start, after)

    def mirrored(self) -> PartTrack:
        """Return the track with left and right exchanged."""
        indices, signs = mirror_permutation()
        return replace(self, vectors=freeze((self.vectors[:, indices] * signs).astype(np.float16)))


@overload
def build_part_track(clip: CanonicalBody, basis: Basis | None = None) -> PartTrack: ...


@overload
def build_part_track(clip: Motion, basis: Basis | None = None) -> PartTrack | None: ...


def build_part_track(clip: Motion | CanonicalBody, basis: Basis | None = None) -> PartTrack | None:
    """Return the track of a whole clip; None without a recognisable body (markers, props).

    Cut a query from the track of its whole clip: floor and velocities at its ends are then those of the clip. The same
    motion always gives the same numbers. ``basis``: other axes than the shipped ones; tracks of different bases cannot
    be compared.
    """
    body = clip if isinstance(clip, CanonicalBody) else canonical_body(clip)
    if body is None:
        return None
    vectors = (load_shipped() if basis is None else basis).project(group_features(posture(body)))
    return PartTrack(freeze(vectors.astype(np.float16)), body.duration_s)
