"""Windows of real motion for an index to hold, and others to ask it for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from benchmarks.search.clips import everything
from numpy.typing import NDArray

from keypose.library.near import part_windows
from keypose.library.parts import PartTrack, describe_parts
from keypose.model import Motion

Vectors = NDArray[np.float32]

SPEEDS = (1.0, 0.9, 1.1, 0.8, 1.25, 0.7, 1.4)  # of the same clips, so that there are enough windows
EVERY = 20  # each so-and-so-manieth clip is only asked for
NOISE = 0.05  # of each number's spread, for what is still missing
SEED = 8


class Corpus(NamedTuple):
    """What is indexed, in random order, and what is asked for, of other clips."""

    vectors: Vectors  # (N, D)
    queries: Vectors  # (Q, D)
    n_made: int  # of the vectors, by noise


def corpus(count: int, n_queries: int) -> Corpus:
    """Windows at every tenth of a second: as recorded, mirrored, retimed; where these are too few, with noise."""
    kept: list[Vectors] = []
    asked: list[Vectors] = []
    for number, clip in enumerate(everything()):
        motion = clip.motion()
        if number % EVERY == 0:
            asked += [part_windows(track, hop=1) for track in _tracks(motion, (1.0,), mirrored=False)]
        else:
            kept += [part_windows(track, hop=1) for track in _tracks(motion, SPEEDS, mirrored=True)]
    random = np.random.default_rng(SEED)
    real = random.permutation(np.concatenate(kept))[:count]
    n_made = count - len(real)
    if n_made:
        copies = real[random.integers(len(real), size=n_made)]
        noise = random.normal(size=copies.shape).astype(np.float32) * (NOISE * real.std(axis=0))
        real = random.permutation(np.concatenate((real, copies + noise)))
    queries = np.concatenate(asked)
    return Corpus(real, queries[random.choice(len(queries), n_queries, replace=False)], n_made)


def _tracks(motion: Motion, speeds: tuple[float, ...], *, mirrored: bool) -> Iterator[PartTrack]:
    for speed in speeds:
        track = describe_parts(replace(motion, fps=motion.fps * speed))
        if track is None:
            return
        yield track
        if mirrored:
            yield track.mirrored()


def nearest(vectors: Vectors, queries: Vectors, k: int) -> NDArray[np.intp]:
    """(Q, k): the very nearest by comparing all, the obvious way."""
    squares = np.einsum("nd,nd->n", vectors, vectors)
    found = []
    for first in range(0, len(queries), 50):
        away = squares - 2.0 * queries[first : first + 50] @ vectors.T
        some = np.argpartition(away, k, axis=1)[:, :k]
        found.append(np.take_along_axis(some, np.argsort(np.take_along_axis(away, some, axis=1), axis=1), axis=1))
    return np.concatenate(found)
