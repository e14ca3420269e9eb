"""Columns foretold from their own past and from what was missed in other columns of the same frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.storage.lossless.misses import Frames, nested_fits
from keypose.storage.lossless.plan import MOST_HELPERS, MOST_LAGS, MOST_WEIGHT
from keypose.storage.lossless.spelling import Wholes

SHIFT = 8
WEIGHT_BITS, HELPER_BITS = 10, 15  # that a weight takes, and a helper with its weight
MOST_HELP = 1 << 14  # weight of a helper; more is chance
LEAST_LIKENESS = 0.05  # of what was missed in another column, for it to be tried as a helper
FEW_LAGS = (0, 2)  # among which charts are compared


@dataclass(frozen=True, eq=False)
class Past:
    """How much of the past is used, and the misses it leaves."""

    lags: int
    shift: int
    weights: tuple[int, ...]
    helpers: tuple[tuple[int, int], ...]  # column, weight
    misses: Wholes  # (N,)
    bits: float  # of the misses and of the weights


def best_past(frames: Frames, rest: Wholes, level: int, lag_counts: tuple[int, ...]) -> Past:
    """The cheapest number of lags for ``rest`` (N,), with fitted weights."""
    steps = frames.steps(rest)
    off_level = rest - level
    most = max(lag_counts) - 1
    past = frames.past(steps, max(most, 0))
    fits: list[Floats] = []
    if most > 0 and frames.known.any():
        fits = nested_fits(past.T[frames.known], steps[frames.known].astype(float), list(range(1, most + 1)))
    found = []
    for lags in lag_counts:
        if lags > 1 and len(fits) < lags - 1:
            continue
        weights = _whole_weights(fits[lags - 2]) if lags > 1 else ()
        misses = off_level if lags == 0 else steps - foretold(past, weights, SHIFT)
        misses = np.where(frames.first, off_level, misses)
        bits = frames.bits(misses) + WEIGHT_BITS * len(weights)
        found.append(Past(lags, SHIFT if weights else 0, weights, (), misses, bits))
    return min(found, key=lambda past: past.bits)


def foretold(past: Floats, weights: tuple[int, ...], shift: int) -> Wholes:
    """What the steps before (K, N), weighed, foretell of the next step."""
    total = np.full(past.shape[1], 0.5)
    for weight, steps in zip(weights, past, strict=False):
        total += (weight / (1 << shift)) * steps
    return np.asarray(np.floor(total).astype(np.int64))


def with_helpers(frames: Frames, rest: Wholes, level: int, past: Past, others: Wholes) -> Past:
    """``past`` with those of ``others`` (C, N), the misses of columns before, that are worth their weight."""
    known = frames.known
    if not len(others) or known.sum() < 8:
        return past
    lags = max(past.lags, 1) if past.lags else 0
    steps = frames.steps(rest)
    target = (steps if lags else rest - level).astype(float)
    own = frames.past(steps, max(0, lags - 1))
    sizes = np.linalg.norm(others[:, known].astype(float), axis=1)
    best, chosen = past, list[int]()
    while len(chosen) < MOST_HELPERS:
        left = best.misses[known].astype(float)
        likeness = np.abs(others[:, known] @ left) / np.maximum(sizes * np.linalg.norm(left), 1e-30)
        likeness[chosen] = 0
        nearest = int(np.argmax(likeness))
        if likeness[nearest] < LEAST_LIKENESS:
            break
        tried = [*chosen, nearest]
        features = np.concatenate((own, others[tried].astype(float)))
        weights = _whole_weights(nested_fits(features.T[known], target[known], [len(features)])[0])
        helped = np.where(frames.first, 0, foretold(features, weights, SHIFT))
        misses = np.where(frames.first, rest - level, target.astype(np.int64) - helped)
        bits = frames.bits(misses) + WEIGHT_BITS * len(own) + HELPER_BITS * len(tried)
        if bits >= best.bits or max(map(abs, weights[len(own) :])) > MOST_HELP:
            break
        helpers = tuple(zip(tried, weights[len(own) :], strict=True))
        best, chosen = Past(lags, SHIFT, weights[: len(own)], helpers, misses, bits), tried
    return best


def fixed_past(frames: Frames, numbers: Wholes, level: int) -> Past:
    """For numbers of any size: the level, the last one, straight on or on a parabola, without any rounding."""
    with np.errstate(over="ignore"):
        steps = frames.steps(numbers)
        bends = np.where(frames.place >= 2, frames.steps(steps), steps)
        turns = np.where(frames.place >= 3, frames.steps(bends), bends)
        turns = np.where(frames.place == 2, steps - 2 * np.roll(steps, 1), turns)
        found = []
        for lags, weights, misses in ((0, (), numbers - level), (1, (), steps), (2, (1,), bends), (3, (2, -1), turns)):
            misses = np.where(frames.first, numbers - level, misses)
            bits = float(np.log2(np.abs(misses.astype(float)) + 1).sum())
            found.append(Past(lags, 0, weights, (), misses, bits))
    return min(found, key=lambda past: past.bits)


def _whole_weights(weights: Floats) -> tuple[int, ...]:
    return tuple(max(-MOST_WEIGHT, min(MOST_WEIGHT, round(w * (1 << SHIFT)))) for w in weights.tolist())


ALL_LAGS = tuple(range(MOST_LAGS + 1))
