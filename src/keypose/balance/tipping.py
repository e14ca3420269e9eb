"""Whether an edit tips a figure over, told by its balance before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, runs
from keypose.balance.noun import Balance
from keypose.errors import OptionError
from keypose.model.motion import source_frames
from keypose.options import number

LEAST_S = 0.1  # for how long a figure must be about to fall
WORSE_MM = 50.0  # by how much it must be farther outside than it ever was around that time, on a figure of 1.7 m
AROUND_S = 0.5  # to both sides: about one step of a walk, which is a fall that the next foot ends


@dataclass(frozen=True)
class Tip:
    """A span of frames in which an edited figure falls over. Frames are those of the edited motion."""

    start: int  # the first frame
    end: int  # the last one
    worst: int  # where the centre of mass is farthest outside
    before_mm: float  # its margin there before the edit: positive inside the feet, negative outside
    after_mm: float  # and after it
    fps: float

    def __str__(self) -> str:
        return (f"tips over from {self.start / self.fps:.2f} to {self.end / self.fps:.2f} s: the centre of mass is "
                f"{_place(self.after_mm)} the feet, {_place(self.before_mm)} before")  # fmt: skip


def tips_over(
    before: Balance,
    after: Balance,
    *,
    source: ArrayLike | None = None,
    least_s: float = LEAST_S,
    worse_mm: float = WORSE_MM,
) -> tuple[Tip, ...]:
    """The spans of at least ``least_s`` in which the edited figure tips over and the unedited one did not.

    It stands on a foot, its centre of mass and the extrapolated one are both outside the support, and the nearer of the
    two is farther outside than at any time within ``AROUND_S`` before the edit, by more than ``worse_mm``: who walks,
    runs or jumps is outside by nature. ``source``: the frame of ``before``, whole or not, that belongs to each frame of
    ``after`` when a clip was retimed. Frames that were in flight before the edit are not judged.
    """
    for given in (before, after):
        if not isinstance(given, Balance):
            raise OptionError(f"{type(given).__name__}, expected a Balance, as kp.balance gives it")
    least_s, worse_mm = number("least_s", least_s, least=0.0), number("worse_mm", worse_mm, least=0.0)
    at = source_frames(source, before.n_frames, after.n_frames)
    rows = np.arange(after.n_frames) if at is None else np.floor(at + 0.5).astype(int)
    usual = _least_around(_best(before), max(1, round(AROUND_S * before.fps)))[rows]
    best = _best(after)
    with np.errstate(invalid="ignore"):
        tips: Bools = after.supported & before.supported[rows] & (best < 0) & (best < usual - worse_mm)
    found = []
    for start, stop in runs(tips):
        if (stop - start) / after.fps >= least_s * (1 - 1e-9):
            worst = start + int(np.argmin(after.margin_mm[start:stop]))
            margins = float(before.margin_mm[rows[worst]]), float(after.margin_mm[worst])
            found.append(Tip(start, stop - 1, worst, *margins, after.fps))
    return tuple(found)


def _best(balance: Balance) -> Floats:
    """(T,) the margin of the centre of mass or of the extrapolated one, whichever is better; NaN in flight."""
    return np.maximum(balance.margin_mm, balance.extrapolated_margin_mm)


def _least_around(margins: Floats, reach: int) -> Floats:
    """(T,) the least of ``margins`` (T,) within ``reach`` frames; NaN ones do not count."""
    filled = np.where(np.isnan(margins), np.inf, margins)
    padded = np.pad(filled, reach, constant_values=np.inf)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1))


def _place(margin_mm: float) -> str:
    return f"{abs(margin_mm):.0f} mm {'inside' if margin_mm >= 0 else 'outside'}"
