"""What a description of a clip is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, give_away

Singles = NDArray[np.float32]

AXES = 64  # of every descriptor
EVEN_AXES = 44  # of them come first; the others change sign in a mirror. About as many as are strongest


@dataclass(frozen=True, eq=False)
class Windows(Frozen):
    """The vectors of one descriptor, one for each window of a clip; near vectors are alike."""

    vectors: Singles  # (W, D)
    starts_s: Floats  # (W,) seconds from the start of the clip
    ends_s: Floats  # (W,)
    weights: Singles  # (W,) how much each counts in the clip: what is rare elsewhere counts more; they sum to 1
    usual: tuple[float, float]  # mean and spread of the distances to clips that have nothing to do with this one

    def __len__(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True, eq=False)
class Description(Frozen):
    """What search knows of a clip: ``clip`` vectors of the whole, ``windows`` of its parts, by descriptor."""

    clip: Mapping[str, Windows]  # each of one window
    windows: Mapping[str, Windows]

    @property
    def all(self) -> dict[str, Windows]:
        """Both together."""
        return {**self.clip, **self.windows}

    def mirrored(self) -> Description:
        """That of the mirror image: some signs change, nothing else. What is rare or usual is so in a mirror too."""
        return Description(
            {name: _mirrored(windows) for name, windows in self.clip.items()},
            {name: _mirrored(windows) for name, windows in self.windows.items()},
        )


def _mirrored(windows: Windows) -> Windows:
    signs = np.where(np.arange(windows.vectors.shape[1]) < EVEN_AXES, 1.0, -1.0).astype(np.float32)
    return replace(windows, vectors=give_away(windows.vectors * signs))
