"""The vectors of a clip that a database indexes; clips to rank are selected by their Euclidean distance."""

from __future__ import annotations

import numpy as np

from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.description import Singles
from keypose.library.search.part_gallery import PartTrack

PART_WINDOWS, POSES = "parts", "poses"  # indexed in addition to the descriptors of whole clips
WINDOW = 10  # samples of a track, one second: two means of five
HOP = 5
HALVES = 2
MIN_LENGTH = 0.1  # of a window without motion


def build_search_vectors(
    description: Description | None, track: PartTrack | None, poses: Windows | None
) -> dict[str, Singles]:
    """Return the vectors of a clip by name, (W, D) each."""
    vectors = {} if description is None else {name: whole.vectors for name, whole in description.clip.items()}
    if track is not None:
        vectors[PART_WINDOWS] = part_windows(track, HOP)
    if poses is not None:
        vectors[POSES] = poses.vectors
    return vectors


def part_windows(track: PartTrack, hop: int = HOP) -> Singles:
    """Return the windows (W, D) of a track, at least one; the last one ends with it.

    Their squared distance is about twice one minus their similarity (``search/cross_correlation.py``): directions
    of length 1, and the logarithm of the amount of motion.
    """
    samples = track.vectors.astype(np.float32)
    last = max(len(samples) - WINDOW, 0)
    starts = np.unique(np.append(np.arange(0, last + 1, hop), last))
    sample_indices = np.minimum(
        starts[:, None] + np.arange(WINDOW), len(samples) - 1
    )  # a short track is padded with its last sample
    means = (
        samples[sample_indices].reshape(len(starts), HALVES, WINDOW // HALVES, -1).mean(axis=2).reshape(len(starts), -1)
    )
    lengths = np.maximum(np.linalg.norm(means, axis=1, keepdims=True), MIN_LENGTH)
    windows: Singles = np.concatenate((means / lengths, np.log(lengths)), axis=1)
    return windows
