"""Detect whether an edit tips a figure over, from its balance before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, runs
from keypose.balance.result import Balance
from keypose.errors import OptionError
from keypose.model.motion import check_source_frames
from keypose.validation import check_number

MIN_DURATION_S = 0.1  # minimum duration of a tip
WORSE_MM = 50.0  # how much farther outside than ever around that time before the edit
AROUND_S = 0.5  # on both sides: about one step of a walk, a fall that the next foot stops


@dataclass(frozen=True)
class Tip:
    """A span of frames in which an edited figure falls over. Frames are those of the edited motion."""

    start: int  # the first frame
    end: int  # the last one
    worst: int  # the frame in which the centre of mass is farthest outside
    before_mm: float  # its margin there before the edit: positive inside the feet, negative outside
    after_mm: float  # and after it
    fps: float

    def __str__(self) -> str:
        return (f"tips over from {self.start / self.fps:.2f} to {self.end / self.fps:.2f} s: the centre of mass is "
                f"{_format_margin(self.after_mm)} the feet, {_format_margin(self.before_mm)} before")  # fmt: skip


def tips_over(
    before: Balance,
    after: Balance,
    *,
    source: ArrayLike | None = None,
    min_duration_s: float = MIN_DURATION_S,
    worse_mm: float = WORSE_MM,
) -> tuple[Tip, ...]:
    """Return the spans of at least ``min_duration_s`` in which the edited figure, but not the unedited one, tips over.

    It stands on a foot, its centre of mass and the extrapolated one are both outside the support, and the nearer of the
    two is more than ``worse_mm`` farther outside than at any time within ``AROUND_S`` in the unedited motion: walking,
    running and jumping figures are outside normally. ``source``: for a retimed clip, the frame of ``before`` (may be
    fractional) of each frame of ``after``. Frames that were in flight before the edit are ignored.
    """
    for value in (before, after):
        if not isinstance(value, Balance):
            raise OptionError(f"{type(value).__name__}, expected a Balance, as kp.balance gives it")
    min_duration_s, worse_mm = (
        check_number("min_duration_s", min_duration_s, min_value=0.0),
        check_number("worse_mm", worse_mm, min_value=0.0),
    )
    at = check_source_frames(source, before.n_frames, after.n_frames)
    rows = np.arange(after.n_frames) if at is None else np.floor(at + 0.5).astype(int)
    normal_margin = _min_around(_best_margin(before), max(1, round(AROUND_S * before.fps)))[rows]
    best = _best_margin(after)
    with np.errstate(invalid="ignore"):
        is_tipping: Bools = after.supported & before.supported[rows] & (best < 0) & (best < normal_margin - worse_mm)
    spans = []
    for start, stop in runs(is_tipping):
        if (stop - start) / after.fps >= min_duration_s * (1 - 1e-9):
            worst = start + int(np.argmin(after.margin_mm[start:stop]))
            margins = float(before.margin_mm[rows[worst]]), float(after.margin_mm[worst])
            spans.append(Tip(start, stop - 1, worst, *margins, after.fps))
    return tuple(spans)


def _best_margin(balance: Balance) -> Floats:
    """Return the larger margin (T,) of the centre of mass and the extrapolated one; NaN in flight."""
    return np.maximum(balance.margin_mm, balance.extrapolated_margin_mm)


def _min_around(margins: Floats, reach: int) -> Floats:
    """Return the minimum of ``margins`` (T,) within ``reach`` frames, (T,), ignoring NaN."""
    filled = np.where(np.isnan(margins), np.inf, margins)
    padded = np.pad(filled, reach, constant_values=np.inf)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1))


def _format_margin(margin_mm: float) -> str:
    return f"{abs(margin_mm):.0f} mm {'inside' if margin_mm >= 0 else 'outside'}"
