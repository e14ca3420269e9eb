"""The columns of a clip and how each is best foretold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools
from keypose.storage.lossless.charts import Charted, chartings, units
from keypose.storage.lossless.misses import Frames, fitting_frames, quarters, rungs
from keypose.storage.lossless.past import ALL_LAGS, FEW_LAGS, Past, best_past, fixed_past, with_helpers
from keypose.storage.lossless.plan import ROUGH_BITS, Column, Predictor, full_turn
from keypose.storage.lossless.spelling import DECIMAL, Spelling, Wholes

MOST_FRAMES = 3000  # on which predictors are fitted
NARROW = 1 << 51  # below it, numbers are foretold with weights and charts
MOST_DIGITS = 15


def ordered(sets: list[list[int]], wholes: Wholes) -> list[list[int]]:
    """The columns of each set (C, T) in the order of coding: the liveliest first, from which others may be told."""
    bends = np.abs(np.diff(wholes.astype(float), n=2, axis=1)).sum(axis=1)
    return [sorted(own, key=lambda c: -bends[c]) for own in sets]


def fitted(
    sets: list[list[int]], wholes: Wholes, spelt: list[Spelling], angles: Bools, bounds: list[tuple[int, int]]
) -> list[Column]:
    """The columns in the order of ``sets``, which is that of coding, of numbers ``wholes`` (C, T)."""
    frames = fitting_frames(bounds, MOST_FRAMES)
    columns: list[Column] = []
    coded: list[tuple[Wholes, Wholes, Predictor]] = []  # numbers and misses on the chosen frames
    for own in sets:
        inputs: list[int] = []  # of the set, by their place among the coded ones
        for c in own:
            if (wholes[c] == wholes[c][0]).all():
                columns.append(Column(spelt[c], int(wholes[c][0])))
                continue
            numbers = _Numbers(wholes[c], spelt[c], bool(angles[c]), frames)
            predictor, misses = _predictor(numbers, frames, coded, inputs)
            inputs.append(len(coded))
            coded.append((numbers.fitting, misses, predictor))
            columns.append(Column(spelt[c], None, predictor))
    return columns


class _Numbers:
    """The numbers of one column, and what is plain about them."""

    def __init__(self, wholes: Wholes, spelling: Spelling, angle: bool, frames: Frames) -> None:
        least, greatest = int(wholes.min()), int(wholes.max())
        self.narrow = least > -NARROW and greatest < NARROW
        self.wraps, self.digits, self.fitting = False, 0, wholes[frames.chosen]
        if spelling.kind == DECIMAL:
            turn = full_turn(spelling)
            jumps = np.abs(np.diff(wholes)) > turn // 2
            inside = -(turn // 2) <= least and greatest < turn // 2 and not spelling.signed_zeros
            self.wraps = bool(angle and inside and jumps.any())
            if self.wraps:
                self.fitting = _unwrapped(self.fitting, turn, frames)
            else:
                self.digits = _digits(wholes)
        least, greatest = int(self.fitting.min()), int(self.fitting.max())
        extent = min(62, ((greatest - least) // 2 + 1).bit_length())
        rough = max(0, extent - ROUGH_BITS)
        middle = ((least + greatest) // 2 + ((1 << rough) >> 1)) >> rough
        self.plain = Predictor(extent=extent, rough_middle=middle, wraps=self.wraps, digits=self.digits)


def _unwrapped(wholes: Wholes, turn: int, frames: Frames) -> Wholes:
    """Angles without jumps at full turns, from the first frame of each group on."""
    steps = frames.steps(wholes)
    turns = np.cumsum((steps + turn // 2) // turn)
    starts = np.maximum.accumulate(np.where(frames.first, np.arange(len(wholes)), 0))
    return wholes - turn * (turns - turns[starts])


def _digits(wholes: Wholes) -> int:
    """How many digits of the numbers matter, if those of large ones end in zeros; else 0."""
    longest = len(str(int(np.abs(wholes).max())))
    for digits in range(1, min(longest, MOST_DIGITS + 1)):
        sizes = np.abs(wholes)
        exact, low, step = np.ones(len(sizes), bool), 10**digits, 10
        while low <= sizes.max():
            exact &= (sizes < low) | (sizes % step == 0)
            low, step = low * 10, step * 10
        if exact.all():
            return digits
    return 0


def _predictor(
    numbers: _Numbers, frames: Frames, coded: list[tuple[Wholes, Wholes, Predictor]], inputs: list[int]
) -> tuple[Predictor, Wholes]:
    """The cheapest way found to foretell one column, and its misses; ``inputs`` may chart it."""
    plain = numbers.plain
    if not numbers.narrow:
        past = fixed_past(frames, numbers.fitting, plain.middle)
        predictor = replace(plain, lags=past.lags, weights=past.weights)
        return _sized(predictor, _counted(numbers, past), frames), past.misses
    charting, level, rest = None, plain.middle, numbers.fitting
    known = [units(coded[i][0], coded[i][2].middle, coded[i][2].extent) for i in inputs[:2] if _can_chart(coded[i])]
    cheapest = best_past(frames, rest, level, FEW_LAGS).bits
    for tried in chartings(frames, rest, known):
        bits = best_past(frames, tried.rest, 0, FEW_LAGS).bits + tried.plan_bits
        if bits < cheapest:
            charting, cheapest = tried, bits
    for tried in charting.coarser() if charting is not None else ():
        bits = best_past(frames, tried.rest, 0, FEW_LAGS).bits + tried.plan_bits
        if bits < cheapest:
            charting, cheapest = tried, bits
    if charting is not None:
        level, rest = 0, charting.rest
    past = best_past(frames, rest, level, ALL_LAGS)
    others = [i for i, (_, misses, predictor) in enumerate(coded) if _can_chart(coded[i]) and misses.any()]
    help_from = np.array([coded[i][1] for i in others]).reshape(len(others), len(rest))
    past = with_helpers(frames, rest, level, past, help_from)
    predictor = _with(plain, charting, past, [i for i in inputs[:2] if _can_chart(coded[i])], others, len(coded))
    return _sized(predictor, _counted(numbers, past), frames), past.misses


def _can_chart(column: tuple[Wholes, Wholes, Predictor]) -> bool:
    return column[2].extent < NARROW.bit_length()


def _with(
    plain: Predictor, charting: Charted | None, past: Past, inputs: list[int], others: list[int], here: int
) -> Predictor:
    predictor = replace(
        plain,
        lags=past.lags,
        shift=past.shift,
        weights=past.weights,
        helpers=tuple((here - others[i], weight) for i, weight in past.helpers),
    )
    if charting is None:
        return predictor
    backs = tuple(here - i for i in inputs[: charting.inputs])
    return replace(predictor, inputs=backs, degree=charting.degree, grain=charting.grain, chart=charting.chart)


def _counted(numbers: _Numbers, past: Past) -> Wholes:
    """The misses as they are coded: in rungs, where only some digits of the numbers matter."""
    if not numbers.digits:
        return past.misses
    return rungs(numbers.fitting, numbers.digits) - rungs(numbers.fitting - past.misses, numbers.digits)


def _sized(predictor: Predictor, misses: Wholes, frames: Frames) -> Predictor:
    sizes = np.abs(misses.astype(float))
    first, later = sizes[frames.first], sizes[~frames.first]
    size = min(239, quarters(16 * float(later.mean()) + 1)) if len(later) else 0
    return replace(predictor, first_size=min(255, quarters(16 * float(first.mean()) + 1)), size=size)
