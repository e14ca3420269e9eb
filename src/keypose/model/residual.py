"""What curves through keys leave out of a motion, kept so that it can be put back on top of an edit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats, Frozen, frozen_floats, give_away
from keypose.errors import ModelError
from keypose.rotations import exp, multiply, normalise, rotate


@dataclass(frozen=True, eq=False)
class Residual(Frozen):
    """The lost detail of every frame: a turn and a shift in each joint's own frame, so that both follow edits.

    A pose ``q`` with a share ``w`` of it is ``q exp(w turn)``, moved by ``w shift`` as ``q`` is turned. ``frames`` and
    ``sources`` say which frame of the detail belongs to which frame of the motion, straight in between: moving a key in
    time moves them too.
    """

    turns: Floats  # (R, J, 3) exponential maps in radians
    shifts: Floats  # (R, J, 3) file units
    frames: Floats | None = None  # (A,) increasing frames of the motion; None: detail and motion run side by side
    sources: Floats | None = None  # (A,) frames of the detail, never decreasing

    def __post_init__(self) -> None:
        turns = frozen_floats(self.turns, (None, None, 3), "residual turns")
        self._put("turns", turns)
        self._put("shifts", frozen_floats(self.shifts, turns.shape, "residual shifts"))
        if not len(turns):
            raise ModelError("residual: no frames, expected at least one")
        if (self.frames is None) != (self.sources is None):
            raise ModelError("residual: frames and sources belong together")
        if self.frames is not None and self.sources is not None:
            frames = frozen_floats(self.frames, (None,), "residual frames")
            sources = frozen_floats(self.sources, frames.shape, "residual sources")
            if not len(frames) or (np.diff(frames) <= 0).any() or (np.diff(sources) < 0).any():
                raise ModelError("residual: expected increasing frames with sources that do not decrease")
            self._put("frames", frames)
            self._put("sources", sources)

    def __len__(self) -> int:
        return len(self.turns)

    def __repr__(self) -> str:
        timing = "" if self.frames is None else ", retimed"
        return f"Residual({len(self)} frames, {self.turns.shape[1]} joints{timing})"

    def source_of(self, frames: Floats) -> Floats:
        """Which frames of the detail belong to ``frames`` (N,) of the motion."""
        if self.frames is None or self.sources is None:
            return np.clip(frames, 0.0, len(self) - 1.0)
        return np.clip(np.interp(frames, self.frames, self.sources), 0.0, len(self) - 1.0)

    def retimed(self, before: Floats, after: Floats) -> Residual:
        """The residual of a motion in which frames ``before`` (A,) have become the increasing frames ``after`` (A,)."""
        return replace(self, frames=give_away(np.array(after, np.float64)), sources=give_away(self.source_of(before)))

    def onto(self, translations: Floats, rotations: Floats, frames: Floats, share: float) -> tuple[Floats, Floats]:
        """Local poses (N, J, 3), (N, J, 4) of ``frames`` (N,) with a ``share`` of the detail put back."""
        source = self.source_of(frames)
        before = np.floor(source).astype(np.intp)
        part = (source - before)[:, None, None]
        after = np.minimum(before + 1, len(self) - 1)
        turns = self.turns[before] + part * (self.turns[after] - self.turns[before])
        shifts = self.shifts[before] + part * (self.shifts[after] - self.shifts[before])
        moved = translations + rotate(rotations, share * shifts)
        return moved, normalise(multiply(rotations, exp(share * turns)))
