"""Windows of real motion to index, and windows of other clips as queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from benchmarks.search.clips import all_clips
from numpy.typing import NDArray

from keypose.library.search.part_gallery import PartTrack, build_part_track
from keypose.library.search_vectors import part_windows
from keypose.model import Motion

Vectors = NDArray[np.float32]

SPEEDS = (1.0, 0.9, 1.1, 0.8, 1.25, 0.7, 1.4)  # of the same clips, to get enough windows
QUERY_CLIP_STEP = 20  # one of this number of clips is used only for queries
NOISE = 0.05  # relative to the standard deviation of each column, for windows added as noisy copies
SEED = 8


class Corpus(NamedTuple):
    """Indexed vectors in random order, and queries from other clips."""

    vectors: Vectors  # (N, D)
    queries: Vectors  # (Q, D)
    n_noisy: int  # vectors that are noisy copies


def build_corpus(count: int, n_queries: int) -> Corpus:
    """Return windows at every tenth of a second: as recorded, mirrored, retimed, then noisy copies up to ``count``."""
    indexed_windows: list[Vectors] = []
    query_windows: list[Vectors] = []
    for clip_index, clip in enumerate(all_clips()):
        motion = clip.motion()
        if clip_index % QUERY_CLIP_STEP == 0:
            query_windows += [part_windows(track, hop=1) for track in iter_tracks(motion, (1.0,), mirrored=False)]
        else:
            indexed_windows += [part_windows(track, hop=1) for track in iter_tracks(motion, SPEEDS, mirrored=True)]
    random = np.random.default_rng(SEED)
    real = random.permutation(np.concatenate(indexed_windows))[:count]
    n_noisy = count - len(real)
    if n_noisy:
        copies = real[random.integers(len(real), size=n_noisy)]
        noise = random.normal(size=copies.shape).astype(np.float32) * (NOISE * real.std(axis=0))
        real = random.permutation(np.concatenate((real, copies + noise)))
    queries = np.concatenate(query_windows)
    return Corpus(real, queries[random.choice(len(queries), n_queries, replace=False)], n_noisy)


def iter_tracks(motion: Motion, speeds: tuple[float, ...], *, mirrored: bool) -> Iterator[PartTrack]:
    for speed in speeds:
        track = build_part_track(replace(motion, fps=motion.fps * speed))
        if track is None:
            return
        yield track
        if mirrored:
            yield track.mirror()


def nearest_rows(vectors: Vectors, queries: Vectors, k: int) -> NDArray[np.intp]:
    """Return the indices (Q, k) of the nearest vectors by exhaustive comparison."""
    squares = np.einsum("nd,nd->n", vectors, vectors)
    blocks = []
    for first in range(0, len(queries), 50):
        distances = squares - 2.0 * queries[first : first + 50] @ vectors.T
        candidates = np.argpartition(distances, k, axis=1)[:, :k]
        blocks.append(
            np.take_along_axis(
                candidates, np.argsort(np.take_along_axis(distances, candidates, axis=1), axis=1), axis=1
            )
        )
    return np.concatenate(blocks)
