"""What an index of vectors holds of a clip: where Euclidean distance says which clips are worth ranking."""

from __future__ import annotations

import numpy as np

from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.noun import Singles
from keypose.library.parts import PartTrack

PARTS, POSES = "parts", "poses"  # names of what is indexed beside the descriptors of whole clips
WINDOW = 10  # samples of a track, one second: two means of five
HOP = 5
HALVES = 2
LEAST_LENGTH = 0.1  # of a window in which nothing but the usual happens


def indexed(description: Description | None, track: PartTrack | None, poses: Windows | None) -> dict[str, Singles]:
    """The vectors of a clip by name, (W, D) each; all that an index is asked for."""
    found = {} if description is None else {name: whole.vectors for name, whole in description.clip.items()}
    if track is not None:
        found[PARTS] = part_windows(track, HOP)
    if poses is not None:
        found[POSES] = poses.vectors
    return found


def part_windows(track: PartTrack, hop: int = HOP) -> Singles:
    """The windows (W, D) of a track, one at least; the last one ends with it.

    Their squared distance is about twice what their likeness (``parts/sliding.py``) lacks: directions of length 1, and
    the logarithm of how much happens.
    """
    samples = track.vectors.astype(np.float32)
    last = max(len(samples) - WINDOW, 0)
    starts = np.unique(np.append(np.arange(0, last + 1, hop), last))
    held = np.minimum(starts[:, None] + np.arange(WINDOW), len(samples) - 1)  # what is shorter stands still at its end
    means = samples[held].reshape(len(starts), HALVES, WINDOW // HALVES, -1).mean(axis=2).reshape(len(starts), -1)
    lengths = np.maximum(np.linalg.norm(means, axis=1, keepdims=True), LEAST_LENGTH)
    windows: Singles = np.concatenate((means / lengths, np.log(lengths)), axis=1)
    return windows
