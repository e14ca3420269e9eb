"""The residual: the part of a motion that its curves leave out, which can be added to an edited motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats, Frozen, freeze, freeze_floats
from keypose.errors import ModelError
from keypose.rotations import exp, multiply, normalise, rotate


@dataclass(frozen=True, eq=False)
class Residual(Frozen):
    """The detail of every frame: a rotation and a shift in each joint's own frame, so that both follow edits.

    A pose ``q`` with a share ``w`` of it is ``q exp(w rotation)``, translated by ``w shift`` rotated by ``q``.
    ``frames`` and ``sources`` map frames of the motion to frames of the detail, linear in between: moving a key in time
    changes this mapping.
    """

    rotations: Floats  # (R, J, 3) rotation vectors in radians
    shifts: Floats  # (R, J, 3) file units
    frames: Floats | None = None  # (A,) increasing frames of the motion; None: the same as those of the detail
    sources: Floats | None = None  # (A,) frames of the detail, never decreasing

    def __post_init__(self) -> None:
        rotations = freeze_floats(self.rotations, (None, None, 3), "residual rotations")
        self._set_field("rotations", rotations)
        self._set_field("shifts", freeze_floats(self.shifts, rotations.shape, "residual shifts"))
        if not len(rotations):
            raise ModelError("residual: no frames, expected at least one")
        if (self.frames is None) != (self.sources is None):
            raise ModelError("residual: frames and sources belong together")
        if self.frames is not None and self.sources is not None:
            frames = freeze_floats(self.frames, (None,), "residual frames")
            sources = freeze_floats(self.sources, frames.shape, "residual sources")
            if not len(frames) or (np.diff(frames) <= 0).any() or (np.diff(sources) < 0).any():
                raise ModelError("residual: expected increasing frames with sources that do not decrease")
            self._set_field("frames", frames)
            self._set_field("sources", sources)

    def __len__(self) -> int:
        return len(self.rotations)

    def __repr__(self) -> str:
        timing = "" if self.frames is None else ", retimed"
        return f"Residual({len(self)} frames, {self.rotations.shape[1]} joints{timing})"

    def source_frames(self, frames: Floats) -> Floats:
        """Return the frames of the detail for ``frames`` (N,) of the motion."""
        if self.frames is None or self.sources is None:
            return np.clip(frames, 0.0, len(self) - 1.0)
        return np.clip(np.interp(frames, self.frames, self.sources), 0.0, len(self) - 1.0)

    def retime(self, before: Floats, after: Floats) -> Residual:
        """Return the residual of a motion whose frames ``before`` (A,) became increasing frames ``after`` (A,)."""
        return replace(self, frames=freeze(np.array(after, np.float64)), sources=freeze(self.source_frames(before)))

    def apply(self, translations: Floats, rotations: Floats, frames: Floats, share: float) -> tuple[Floats, Floats]:
        """Return local poses (N, J, 3), (N, J, 4) of ``frames`` (N,) with a ``share`` of the detail added."""
        source = self.source_frames(frames)
        before = np.floor(source).astype(np.intp)
        fraction = (source - before)[:, None, None]
        after = np.minimum(before + 1, len(self) - 1)
        detail_rotations = self.rotations[before] + fraction * (self.rotations[after] - self.rotations[before])
        detail_shifts = self.shifts[before] + fraction * (self.shifts[after] - self.shifts[before])
        shifted = translations + rotate(rotations, share * detail_shifts)
        return shifted, normalise(multiply(rotations, exp(share * detail_rotations)))
