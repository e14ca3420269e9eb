"""Farthest-first keys of a clip and of a very long take, against the plain loop over direct differences."""

from __future__ import annotations

import numpy as np
from benchmarks.measure import alternate

KEYS = 50
RIVAL_KEYS = 5  # number of keys of the long take, on which the rival is slow


def farthest_loop(values: np.ndarray, keys: int) -> list[int]:
    """Return the keys of the loop printed in the paper: for each key, the differences of all frames to it."""

    def squared_distances(point: np.ndarray) -> np.ndarray:
        difference = values - point
        return np.einsum("td,td->t", difference, difference)

    nearest = squared_distances(values.mean(axis=0))
    order: list[int] = []
    for _ in range(keys):
        order.append(int(nearest.argmax()))
        np.minimum(nearest, squared_distances(values[order[-1]]), out=nearest)
    return order


def run() -> dict[str, float]:
    from keypose.methods.farthest import FarthestSearch, farthest
    from keypose.model import Features

    rng = np.random.default_rng(0)
    clip = Features(np.cumsum(rng.normal(size=(1471, 27)), axis=0), 120)
    take = Features(np.cumsum(0.1 * rng.normal(size=(1_000_000, 27)), axis=0), 120)
    assert farthest(clip, KEYS).frames.tolist() == farthest_loop(clip.values, KEYS), "the rival computes something else"

    search = FarthestSearch(clip)
    search.more(KEYS)
    short = alternate(
        {
            "keypose": lambda: farthest(clip, KEYS),
            "plain": lambda: farthest_loop(clip.values, KEYS),
            "one more": lambda: search.more(1),
        },
        rounds=40,
    )
    long = alternate(
        {"keypose": lambda: farthest(take, KEYS), "plain": lambda: farthest_loop(take.values, RIVAL_KEYS)},
        rounds=3,
    )
    rival = long["plain"] * (KEYS + 1) / (RIVAL_KEYS + 1)  # one pass per key, and one for the mean
    for label, ours, theirs in (
        (f"{KEYS} keys of 1471 frames, ms", 1e3 * short["keypose"], 1e3 * short["plain"]),
        ("one key more, ms", 1e3 * short["one more"], 1e3 * short["keypose"]),
        (f"{KEYS} keys of a million frames, s", long["keypose"], rival),
    ):
        print(f"   {label:<32} keypose {ours:8.3f}   rival {theirs:8.3f}")
    return {
        "clip_ms": 1e3 * short["keypose"],
        "clip_against_plain": short["plain"] / short["keypose"],
        "one_more_against_restart": short["keypose"] / short["one more"],
        "million_frames_s": long["keypose"],
        "million_frames_against_plain": rival / long["keypose"],
    }
