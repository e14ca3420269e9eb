"""The description of a clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, freeze

Singles = NDArray[np.float32]

AXES = 64  # of every descriptor
EVEN_AXES = 44  # come first; the others change sign in the mirror image


@dataclass(frozen=True, eq=False)
class Windows(Frozen):
    """The vectors of one descriptor, one for each window of a clip; similar windows have near vectors."""

    vectors: Singles  # (W, D)
    starts_s: Floats  # (W,) seconds from the start of the clip
    ends_s: Floats  # (W,)
    weights: Singles  # (W,) sum 1; windows that are rare in other clips count more
    background_distance: tuple[float, float]  # mean and spread of the distances to unrelated clips

    def __len__(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True, eq=False)
class Description(Frozen):
    """Vectors of a clip by descriptor: ``clip`` of the whole clip, ``windows`` of parts of it."""

    clip: Mapping[str, Windows]  # one window each
    windows: Mapping[str, Windows]

    @property
    def all(self) -> dict[str, Windows]:
        """Both together."""
        return {**self.clip, **self.windows}

    def mirrored(self) -> Description:
        """Return the description of the mirror image: some signs change; weights and background distances stay."""
        return Description(
            {name: _mirrored(windows) for name, windows in self.clip.items()},
            {name: _mirrored(windows) for name, windows in self.windows.items()},
        )


def _mirrored(windows: Windows) -> Windows:
    signs = np.where(np.arange(windows.vectors.shape[1]) < EVEN_AXES, 1.0, -1.0).astype(np.float32)
    return replace(windows, vectors=freeze(windows.vectors * signs))
