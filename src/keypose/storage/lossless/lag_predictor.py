"""Prediction of columns from their own past and from the errors of other columns in the same frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.storage.lossless.number_format import Integers
from keypose.storage.lossless.plan import MAX_HELPERS, MAX_LAGS, MAX_WEIGHT
from keypose.storage.lossless.prediction_errors import FitFrames, fit_weights

SHIFT = 8
WEIGHT_BITS, HELPER_BITS = 10, 15  # approximate size of a weight, and of a helper with its weight
MAX_HELPER_WEIGHT = 1 << 14  # larger weights are spurious
MIN_CORRELATION = 0.05  # with the errors of another column, to try it as a helper
TRIAL_LAGS = (0, 2)  # for comparing polynomials


@dataclass(frozen=True, eq=False)
class LagFit:
    """A prediction from the past, and its errors."""

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
        errors = level_offsets if lags == 0 else steps - predict_steps(previous_steps, weights, SHIFT)
        errors = np.where(frames.is_first, level_offsets, errors)
        bits = frames.cost_bits(errors) + WEIGHT_BITS * len(weights)
        candidates.append(LagFit(lags, SHIFT if weights else 0, weights, (), errors, bits))
    return min(candidates, key=lambda past: past.bits)


def predict_steps(previous_steps: Floats, weights: tuple[int, ...], shift: int) -> Integers:
    """Return the predicted next steps (N,) from the weighted previous steps (K, N)."""
    total = np.full(previous_steps.shape[1], 0.5)
    for weight, steps in zip(weights, previous_steps, strict=False):
        total += (weight / (1 << shift)) * steps
    return np.asarray(np.floor(total).astype(np.int64))


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
        predicted = np.where(frames.is_first, 0, predict_steps(features, weights, SHIFT))
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


ALL_LAGS = tuple(range(MAX_LAGS + 1))
