"""Predictors of columns: from their earlier frames, and by polynomials of other columns of the same joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.storage.lossless.layout import Integers
from keypose.storage.lossless.plan import MAX_COEFFICIENT, MAX_HELPERS, MAX_LAGS, MAX_WEIGHT, n_coefficients

SHIFT = 8
MAX_PREDICTION = 2.0**62  # the decoder computes with 64 bits
WEIGHT_BITS, HELPER_BITS = 10, 15  # approximate size of a weight, and of a helper with its weight
MAX_HELPER_WEIGHT = 1 << 14  # larger weights are spurious
MIN_CORRELATION = 0.05  # minimum correlation with the errors of another column to try it as a helper
TRIAL_LAGS = (0, 2)  # for comparing polynomials
ALL_LAGS = tuple(range(MAX_LAGS + 1))

INPUT_BITS = 24
FRACTION_BITS = 4
DEGREES = (1, 3, 5)
SHIFTS = (0, 3, 6, 9, 12, 15)  # of coefficients; a larger shift is coarser


@dataclass(frozen=True, eq=False)
class LagFit:
    """A prediction from earlier frames, and its errors."""

    lags: int
    shift: int
    weights: tuple[int, ...]
    helpers: tuple[tuple[int, int], ...]  # column, weight
    errors: Integers  # (N,)
    bits: float  # size of the errors and of the weights


def fit_lags(frames: FitFrames, residuals: Integers, level: int, lag_counts: tuple[int, ...]) -> LagFit:
    """Return the cheapest number of lags for ``residuals`` (N,), with fitted weights."""
    steps = frames.steps(residuals)
    level_offsets = residuals - level
    max_weights = max(lag_counts) - 1
    previous_steps = frames.previous_steps(steps, max(max_weights, 0))
    fits: list[Floats] = []
    if max_weights > 0 and frames.has_previous_step.any():
        fits = fit_weights(
            previous_steps.T[frames.has_previous_step],
            steps[frames.has_previous_step].astype(float),
            list(range(1, max_weights + 1)),
        )
    candidates = []
    for lags in lag_counts:
        if lags > 1 and len(fits) < lags - 1:
            continue
        weights = _round_weights(fits[lags - 2]) if lags > 1 else ()
        predicted = predict_steps(previous_steps, weights, SHIFT)
        if predicted is None:
            continue
        errors = np.where(frames.is_first, level_offsets, level_offsets if lags == 0 else steps - predicted)
        bits = frames.cost_bits(errors) + WEIGHT_BITS * len(weights)
        candidates.append(LagFit(lags, SHIFT if weights else 0, weights, (), errors, bits))
    return min(candidates, key=lambda past: past.bits)


def predict_steps(previous_steps: Floats, weights: tuple[int, ...], shift: int) -> Integers | None:
    """Return the predicted next steps (N,) from the weighted previous steps (K, N); None: some are too large."""
    total = np.full(previous_steps.shape[1], 0.5)
    for weight, steps in zip(weights, previous_steps, strict=False):
        total += (weight / (1 << shift)) * steps
    return None if np.abs(total).max(initial=0.0) > MAX_PREDICTION else np.asarray(np.floor(total).astype(np.int64))


def add_helpers(frames: FitFrames, residuals: Integers, level: int, lag_fit: LagFit, helper_errors: Integers) -> LagFit:
    """Return ``lag_fit`` with those of ``helper_errors`` (C, N), the errors of earlier columns, that save bits."""
    has_previous_step = frames.has_previous_step
    if not len(helper_errors) or has_previous_step.sum() < 8:
        return lag_fit
    lags = max(lag_fit.lags, 1) if lag_fit.lags else 0
    steps = frames.steps(residuals)
    target = (steps if lags else residuals - level).astype(float)
    previous_steps = frames.previous_steps(steps, max(0, lags - 1))
    sizes = np.linalg.norm(helper_errors[:, has_previous_step].astype(float), axis=1)
    best, chosen = lag_fit, list[int]()
    while len(chosen) < MAX_HELPERS:
        errors_left = best.errors[has_previous_step].astype(float)
        correlations = np.abs(helper_errors[:, has_previous_step] @ errors_left) / np.maximum(
            sizes * np.linalg.norm(errors_left), 1e-30
        )
        correlations[chosen] = 0
        nearest = int(np.argmax(correlations))
        if correlations[nearest] < MIN_CORRELATION:
            break
        candidates = [*chosen, nearest]
        features = np.concatenate((previous_steps, helper_errors[candidates].astype(float)))
        weights = _round_weights(
            fit_weights(features.T[has_previous_step], target[has_previous_step], [len(features)])[0]
        )
        predicted = predict_steps(features, weights, SHIFT)
        if predicted is None:
            break
        errors = np.where(frames.is_first, residuals - level, target.astype(np.int64) - predicted)
        bits = frames.cost_bits(errors) + WEIGHT_BITS * len(previous_steps) + HELPER_BITS * len(candidates)
        if bits >= best.bits or max(map(abs, weights[len(previous_steps) :])) > MAX_HELPER_WEIGHT:
            break
        helpers = tuple(zip(candidates, weights[len(previous_steps) :], strict=True))
        best, chosen = LagFit(lags, SHIFT, weights[: len(previous_steps)], helpers, errors, bits), candidates
    return best


def fit_fixed_lags(frames: FitFrames, numbers: Integers, level: int) -> LagFit:
    """Return the cheapest predictor without rounding for large numbers: constant, previous, linear or quadratic."""
    with np.errstate(over="ignore"):
        steps = frames.steps(numbers)
        second_differences = np.where(frames.index_in_group >= 2, frames.steps(steps), steps)
        third_differences = np.where(frames.index_in_group >= 3, frames.steps(second_differences), second_differences)
        third_differences = np.where(frames.index_in_group == 2, steps - 2 * np.roll(steps, 1), third_differences)
        candidates = []
        for lags, weights, errors in (
            (0, (), numbers - level),
            (1, (), steps),
            (2, (1,), second_differences),
            (3, (2, -1), third_differences),
        ):
            errors = np.where(frames.is_first, numbers - level, errors)
            bits = float(np.log2(np.abs(errors.astype(float)) + 1).sum())
            candidates.append(LagFit(lags, 0, weights, (), errors, bits))
    return min(candidates, key=lambda past: past.bits)


def _round_weights(weights: Floats) -> tuple[int, ...]:
    return tuple(max(-MAX_WEIGHT, min(MAX_WEIGHT, round(w * (1 << SHIFT)))) for w in weights.tolist())


@dataclass(frozen=True, eq=False)
class PolynomialFit:
    """A polynomial fit of one column."""

    n_inputs: int
    degree: int
    shift: int
    coefficients: tuple[int, ...]
    products: Integers  # (N, terms), weighted by the coefficients
    values: Integers  # (N,) of the column

    @cached_property
    def residuals(self) -> Integers:
        """Return the differences (N,) from the polynomial."""
        return self.values - evaluate(self.products, tuple(c << self.shift for c in self.coefficients))

    @property
    def coefficient_bits(self) -> int:
        """Return the approximate size of the coefficients in bits."""
        return sum(3 + abs(coefficient).bit_length() for coefficient in self.coefficients)

    def coarser_fits(self) -> Iterator[PolynomialFit]:
        """Yield the same fit with coarser coefficients, which take fewer bits."""
        for shift in SHIFTS[1:]:
            half = (1 << shift) >> 1
            yield replace(self, shift=shift, coefficients=tuple((c + half) >> shift for c in self.coefficients))


def normalise_input(values: Integers, middle: int, extent: int) -> Integers:
    """Return an input column in units of 2^-24 of its extent."""
    offsets = np.clip(values - middle, -(1 << extent), 1 << extent)
    return offsets << (INPUT_BITS - extent) if extent <= INPUT_BITS else offsets >> (extent - INPUT_BITS)


def evaluate(products: Integers, coefficients: tuple[int, ...]) -> Integers:
    """Return the integer values (N,) of the polynomial."""
    total = products[:, : len(coefficients)] @ np.array(coefficients) + (1 << (INPUT_BITS + FRACTION_BITS - 1))
    return np.asarray(total >> (INPUT_BITS + FRACTION_BITS))


def fit_polynomials(frames: FitFrames, values: Integers, inputs: list[Integers]) -> Iterator[PolynomialFit]:
    """Yield polynomial fits of ``values`` (N,) by the first one or two of ``inputs``, each in units of 2^-24.

    The coefficients are fitted twice: to the values, for columns that the inputs determine completely, and to their
    second differences, for columns that are only correlated with them.
    """
    has_second_difference = frames.index_in_group >= 2
    for count in range(1, len(inputs) + 1):
        products = _products(inputs[:count], max(DEGREES))
        features = products / 2.0**INPUT_BITS
        sizes = [n_coefficients(count, degree) for degree in DEGREES]
        fits = [fit_weights(features, values.astype(float), sizes)]
        if has_second_difference.any():
            feature_differences, value_differences = (
                _second_differences(features)[has_second_difference],
                _second_differences(values.astype(float))[has_second_difference],
            )
            difference_fits = fit_weights(feature_differences[:, 1:], value_differences, [n - 1 for n in sizes])
            fits.append([np.concatenate(([0.0], weights)) for weights in difference_fits])
        for fit in fits:
            for degree, size, weights in zip(DEGREES, sizes, fit, strict=True):
                weights[0] += np.mean(values - features[:, :size] @ weights)
                scaled_weights = np.rint(weights * (1 << FRACTION_BITS))
                if not np.abs(scaled_weights).max() <= MAX_COEFFICIENT:
                    continue
                coefficients = tuple(int(w) for w in scaled_weights)
                yield PolynomialFit(count, degree, 0, coefficients, products, values)


def _products(inputs: list[Integers], degree: int) -> Integers:
    """Return all powers and products of the inputs up to ``degree`` (N, terms), in units of 2^-24."""
    one = np.full(len(inputs[0]), 1 << INPUT_BITS)
    powers = [[one] for _ in inputs]
    for input_powers, x in zip(powers, inputs, strict=True):
        for _ in range(degree):
            input_powers.append((input_powers[-1] * x) >> INPUT_BITS)
    if len(inputs) == 1:
        return np.stack(powers[0], axis=1)
    a, b = powers
    return np.stack([(a[n - k] * b[k]) >> INPUT_BITS for n in range(degree + 1) for k in range(n + 1)], axis=1)


def _second_differences(curves: Floats) -> Floats:
    differences = np.zeros_like(curves)
    differences[2:] = curves[2:] - 2 * curves[1:-1] + curves[:-2]
    return differences


@dataclass(frozen=True, eq=False)
class FitFrames:
    """The frames on which predictors are fitted: complete groups, concatenated."""

    frames: NDArray[np.intp]  # (N,) of the clip
    index_in_group: NDArray[np.intp]  # (N,)

    @cached_property
    def is_first(self) -> Bools:
        """Return which frames are the first of their group (N,)."""
        return np.asarray(self.index_in_group == 0)

    def steps(self, numbers: Integers) -> Integers:
        """Return the differences (N,) from the previous frame; 0 for the first of a group."""
        steps = np.zeros_like(numbers)
        steps[1:] = numbers[1:] - numbers[:-1]
        steps[self.is_first] = 0
        return steps

    @cached_property
    def has_previous_step(self) -> Bools:
        """Return which frames have a step before them (N,)."""
        return np.asarray(self.index_in_group >= 2)

    def previous_steps(self, steps: Integers, count: int) -> Floats:
        """Return ``count`` steps before each frame (count, N), the latest first; 0 before the group's second frame."""
        result = np.zeros((count, len(steps)))
        for k in range(1, count + 1):
            np.copyto(result[k - 1, k:], steps[:-k], where=self.index_in_group[k:] > k)
        return result

    def cost_bits(self, errors: Integers) -> float:
        """Return the approximate size of prediction errors (N,) in bits."""
        return _core.error_bits(errors, self.is_first.view(np.uint8))


def choose_fit_frames(bounds: list[tuple[int, int]], max_frames: int) -> FitFrames:
    """Choose groups spread over a clip, with about ``max_frames`` frames in total."""
    total = bounds[-1][1]
    step = max(1, -(-total // max_frames))
    groups = bounds[::step]
    return FitFrames(
        np.concatenate([np.arange(*group) for group in groups]),
        np.concatenate([np.arange(stop - start) for start, stop in groups]),
    )


def fit_weights(features: Floats, target: Floats, counts: list[int]) -> list[Floats]:
    """Return robust least-squares weights of the first columns of ``features`` (N, K) for ``target`` (N,), per count.

    Rows with large errors have smaller weights, as a large error needs only few bits more than a small one.
    """
    weights = _core.robust_fits(np.ascontiguousarray(features), target, counts)
    ends = accumulate(counts)
    return [weights[end - count : end] for end, count in zip(ends, counts, strict=True)]


def quarter_log2(size: float) -> int:
    """Return 4 log2 of a number of at least 1, rounded down as in the C++ coder."""
    integer = max(1, int(size))
    length = integer.bit_length() - 1
    return 4 * length + ((integer >> (length - 2) if length >= 2 else integer << (2 - length)) & 3)


def decimal_ranks(numbers: Integers, digits: int) -> Integers:
    """Return the ranks of numbers among those with ``digits`` significant digits; 0 digits: the numbers themselves."""
    if not digits:
        return numbers
    base = 10**digits
    size = np.abs(numbers)
    ranks, below, low, step = size.copy(), 0, base, 10
    while (size >= low).any():
        ranks = np.where(size >= low, below + base + (size - low) // step, ranks)
        below, low, step = below + base - base // 10, low * 10, step * 10
    return np.sign(numbers) * ranks
