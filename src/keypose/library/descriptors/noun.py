"""What a description of a clip is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Windows(Frozen):
    """The vectors of one descriptor, one for each window of a clip; near vectors are alike."""

    vectors: Singles  # (W, D)
    starts_s: Floats  # (W,) seconds from the start of the clip
    ends_s: Floats  # (W,)
    weights: Singles  # (W,) how much each counts in the clip: what is rare elsewhere counts more; they sum to 1
    usual: tuple[
        float, float
    ]  # mean and spread of the distances from this clip to clips that have nothing to do with it

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
