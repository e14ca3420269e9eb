"""Choose the cheapest predictor of each column of a clip."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools
from keypose.storage.lossless.layout import DECIMAL, Integers, NumberFormat
from keypose.storage.lossless.plan import MIDDLE_BITS, Column, Predictor, full_turn
from keypose.storage.lossless.predictors import (
    ALL_LAGS,
    TRIAL_LAGS,
    FitFrames,
    LagFit,
    PolynomialFit,
    add_helpers,
    choose_fit_frames,
    decimal_ranks,
    fit_fixed_lags,
    fit_lags,
    fit_polynomials,
    normalise_input,
    quarter_log2,
)

MAX_FIT_FRAMES = 3000  # approximately
MAX_NARROW = 1 << 51  # smaller numbers are predicted with weights and polynomials
MAX_DIGITS = 15


def order_columns(sets: list[list[int]], integers: Integers) -> list[list[int]]:
    """Return the columns of each set in coding order: those with the largest changes first, as inputs of the others."""
    second_differences = np.abs(np.diff(integers.astype(float), n=2, axis=1)).sum(axis=1)
    return [sorted(own, key=lambda c: -second_differences[c]) for own in sets]


def fit_columns(
    sets: list[list[int]],
    integers: Integers,
    number_formats: list[NumberFormat],
    angles: Bools,
    bounds: list[tuple[int, int]],
) -> list[Column]:
    """Fit the columns in the order of ``sets``, the coding order, to ``integers`` (C, T)."""
    frames = choose_fit_frames(bounds, MAX_FIT_FRAMES)
    columns: list[Column] = []
    coded: list[_CodedColumn] = []
    for column_set in sets:
        inputs: list[int] = []  # of the set, by their index among the coded columns
        for c in column_set:
            if (integers[c] == integers[c][0]).all():
                columns.append(Column(number_formats[c], int(integers[c][0])))
                continue
            numbers = _ColumnNumbers(integers[c], number_formats[c], bool(angles[c]), frames)
            predictor, errors = _fit_predictor(numbers, frames, coded, inputs)
            inputs.append(len(coded))
            coded.append(_CodedColumn.from_fit(numbers.fit_integers, errors, predictor))
            columns.append(Column(number_formats[c], None, predictor))
    return columns


class _CodedColumn(NamedTuple):
    """A column that later ones may be predicted from, on the fit frames."""

    integers: Integers
    errors: Integers
    predictor: Predictor
    can_be_input: bool
    can_be_helper: bool

    @staticmethod
    def from_fit(integers: Integers, errors: Integers, predictor: Predictor) -> _CodedColumn:
        """Return the column with what it can be used for."""
        can_be_input = predictor.extent < MAX_NARROW.bit_length()
        return _CodedColumn(integers, errors, predictor, can_be_input, can_be_input and bool(errors.any()))


class _ColumnNumbers:
    """The integers of one column, with their basic properties."""

    def __init__(self, integers: Integers, number_format: NumberFormat, is_angle: bool, frames: FitFrames) -> None:
        low, high = int(integers.min()), int(integers.max())
        self.is_narrow = low > -MAX_NARROW and high < MAX_NARROW
        self.wraps, self.digits, self.fit_integers = False, 0, integers[frames.frames]
        if number_format.kind == DECIMAL:
            full_turn_value = full_turn(number_format)
            jumps = np.abs(np.diff(integers)) > full_turn_value // 2
            is_within_half_turn = (
                -(full_turn_value // 2) <= low and high < full_turn_value // 2 and not number_format.signed_zeros
            )
            self.wraps = bool(is_angle and is_within_half_turn and jumps.any())
            if self.wraps:
                self.fit_integers = _unwrap_angles(self.fit_integers, full_turn_value, frames)
            else:
                self.digits = _significant_digits(integers)
        low, high = int(self.fit_integers.min()), int(self.fit_integers.max())
        extent = min(62, ((high - low) // 2 + 1).bit_length())
        middle_shift = max(0, extent - MIDDLE_BITS)
        middle = ((low + high) // 2 + ((1 << middle_shift) >> 1)) >> middle_shift
        self.base_predictor = Predictor(extent=extent, coarse_middle=middle, wraps=self.wraps, digits=self.digits)


def _unwrap_angles(integers: Integers, full_turn_value: int, frames: FitFrames) -> Integers:
    """Return angles unwrapped across full turns, from the first frame of each group on."""
    steps = frames.steps(integers)
    n_turns = np.cumsum((steps + full_turn_value // 2) // full_turn_value)
    starts = np.maximum.accumulate(np.where(frames.is_first, np.arange(len(integers)), 0))
    return integers - full_turn_value * (n_turns - n_turns[starts])


def _significant_digits(integers: Integers) -> int:
    """Return the number of significant digits if large numbers end in zeros, else 0."""
    max_digits = len(str(int(np.abs(integers).max())))
    for digits in range(1, min(max_digits, MAX_DIGITS + 1)):
        sizes = np.abs(integers)
        fits, low, step = np.ones(len(sizes), bool), 10**digits, 10
        while low <= sizes.max():
            fits &= (sizes < low) | (sizes % step == 0)
            low, step = low * 10, step * 10
        if fits.all():
            return digits
    return 0


def _fit_predictor(
    numbers: _ColumnNumbers, frames: FitFrames, coded: list[_CodedColumn], inputs: list[int]
) -> tuple[Predictor, Integers]:
    """Return the cheapest predictor of one column, and its errors; ``inputs`` may be polynomial inputs."""
    base = numbers.base_predictor
    if not numbers.is_narrow:
        lag_fit = fit_fixed_lags(frames, numbers.fit_integers, base.middle)
        predictor = replace(base, lags=lag_fit.lags, weights=lag_fit.weights)
        return _set_error_sizes(predictor, _coded_errors(numbers, lag_fit), frames), lag_fit.errors
    polynomial, level, residuals = None, base.middle, numbers.fit_integers
    normalised_inputs = [
        normalise_input(coded[i].integers, coded[i].predictor.middle, coded[i].predictor.extent)
        for i in inputs[:2]
        if coded[i].can_be_input
    ]
    min_bits = fit_lags(frames, residuals, level, TRIAL_LAGS).bits
    for candidate in fit_polynomials(frames, residuals, normalised_inputs):
        bits = fit_lags(frames, candidate.residuals, 0, TRIAL_LAGS).bits + candidate.coefficient_bits
        if bits < min_bits:
            polynomial, min_bits = candidate, bits
    for candidate in polynomial.coarser_fits() if polynomial is not None else ():
        bits = fit_lags(frames, candidate.residuals, 0, TRIAL_LAGS).bits + candidate.coefficient_bits
        if bits < min_bits:
            polynomial, min_bits = candidate, bits
    if polynomial is not None:
        level, residuals = 0, polynomial.residuals
    lag_fit = fit_lags(frames, residuals, level, ALL_LAGS)
    helper_candidates = [i for i, column in enumerate(coded) if column.can_be_helper]
    helper_errors = np.array([coded[i].errors for i in helper_candidates]).reshape(-1, len(residuals))
    lag_fit = add_helpers(frames, residuals, level, lag_fit, helper_errors)
    predictor = _combine(
        base, polynomial, lag_fit, [i for i in inputs[:2] if coded[i].can_be_input], helper_candidates, len(coded)
    )
    return _set_error_sizes(predictor, _coded_errors(numbers, lag_fit), frames), lag_fit.errors


def _combine(
    base: Predictor,
    polynomial: PolynomialFit | None,
    lag_fit: LagFit,
    inputs: list[int],
    helper_candidates: list[int],
    column_index: int,
) -> Predictor:
    predictor = replace(
        base,
        lags=lag_fit.lags,
        shift=lag_fit.shift,
        weights=lag_fit.weights,
        helpers=tuple((column_index - helper_candidates[i], weight) for i, weight in lag_fit.helpers),
    )
    if polynomial is None:
        return predictor
    input_distances = tuple(column_index - i for i in inputs[: polynomial.n_inputs])
    return replace(
        predictor,
        inputs=input_distances,
        degree=polynomial.degree,
        coefficient_shift=polynomial.shift,
        coefficients=polynomial.coefficients,
    )


def _coded_errors(numbers: _ColumnNumbers, lag_fit: LagFit) -> Integers:
    """Return the errors as coded: in decimal ranks, if numbers have few significant digits."""
    if not numbers.digits:
        return lag_fit.errors
    return decimal_ranks(numbers.fit_integers, numbers.digits) - decimal_ranks(
        numbers.fit_integers - lag_fit.errors, numbers.digits
    )


def _set_error_sizes(predictor: Predictor, errors: Integers, frames: FitFrames) -> Predictor:
    sizes = np.abs(errors.astype(float))
    first, later = sizes[frames.is_first], sizes[~frames.is_first]
    size = min(239, quarter_log2(16 * float(later.mean()) + 1)) if len(later) else 0
    return replace(predictor, first_size=min(255, quarter_log2(16 * float(first.mean()) + 1)), size=size)
