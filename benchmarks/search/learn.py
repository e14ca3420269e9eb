"""Learns, without labels, what the descriptors need to know of other clips, and writes it to a file.

    .venv/bin/python -m benchmarks.search.learn       # all of cmu30-more -> the shipped numbers

Axes are principal axes of what was measured, mirror images included. The background is a sample of the same clips, a
few windows of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.search import clips

from keypose.arrays import Floats
from keypose.library.canonical import canonical
from keypose.library.descriptors import covariance
from keypose.library.descriptors.clip import GROUPS, clip_groups
from keypose.library.descriptors.learnt import Learnt, Singles, Space, packed
from keypose.library.descriptors.posture import posture

SHIPPED = Path(__file__).parents[2] / "src/keypose/library/descriptors/learnt.npz"
N_AXES = 64
BACKGROUND_CLIPS = 200
BACKGROUND_WINDOWS = 8  # of each clip at most


@dataclass(frozen=True)
class Measured:
    """What one clip and its mirror image measure."""

    windows: dict[str, Singles]  # (W, N) by descriptor
    groups: tuple[dict[str, Floats], dict[str, Floats]]  # of the clip and of its mirror image


def measured(sources: Sequence[clips.Clip]) -> list[Measured]:
    """What is learnt from: the clips that have a body."""
    found = []
    for clip in sources:
        if (body := canonical(clip.motion())) is not None:
            ways = posture(body), posture(body.mirrored())
            windows = {
                name: covariance.covariance_windows(ways[0], kind).astype(np.float32)
                for name, kind in covariance.KINDS.items()
            }
            found.append(Measured(windows, (clip_groups(ways[0]), clip_groups(ways[1]))))
    return found


def learn(material: Sequence[Measured]) -> Learnt:
    """The numbers learnt from these clips."""
    chosen = np.random.default_rng(0).permutation(len(material))[:BACKGROUND_CLIPS]
    some = [material[k] for k in np.sort(chosen)]
    spaces = {name: _covariance_space(name, material, some) for name in covariance.KINDS}
    spaces["clip"] = _clip_space(material, some)
    return Learnt(spaces)


def _covariance_space(name: str, material: Sequence[Measured], some: Sequence[Measured]) -> Space:
    windows = np.concatenate([each.windows[name] for each in material])
    twins = covariance.mirrored(windows, covariance.KINDS[name].joints).astype(np.float32)
    mean, axes = principal(np.concatenate((windows, twins)), N_AXES)
    return Space(mean, axes, *_background([_few((each.windows[name] - mean) @ axes) for each in some]))


def _clip_space(material: Sequence[Measured], some: Sequence[Measured]) -> Space:
    """Each group counts as much as the others: it is divided by its spread before the axes are found."""
    tables = {g: np.array([way[g] for each in material for way in each.groups], np.float32) for g in GROUPS}
    factors = [np.full(tables[g].shape[1], 1 / np.sqrt(tables[g].var(axis=0).sum()), np.float32) for g in GROUPS]
    scale = np.concatenate(factors)
    mean, axes = principal(np.concatenate([tables[g] for g in GROUPS], axis=1) * scale, N_AXES)
    rows = [np.concatenate([each.groups[0][g] for g in GROUPS])[None] for each in some]
    mean, axes = mean / scale, axes * scale[:, None]
    return Space(mean, axes, *_background([((row - mean) @ axes).astype(np.float32) for row in rows]))


def principal(rows: Singles, n_axes: int) -> tuple[Singles, Singles]:
    """The mean (N,) and the first principal axes (N, n_axes) of ``rows``, each with its largest number positive."""
    mean = rows.mean(axis=0, dtype=np.float64)
    off = (rows - mean).astype(np.float32)
    wide = off.shape[1] > off.shape[0]  # then the rows' own problem is the smaller one, and says the same
    _, axes = np.linalg.eigh((off @ off.T if wide else off.T @ off).astype(np.float64))
    axes = axes[:, ::-1][:, :n_axes]
    if wide:
        axes = off.T @ axes
        axes /= np.linalg.norm(axes, axis=0)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_axes)])
    return mean.astype(np.float32), (axes * signs).astype(np.float32)


def _few(vectors: Singles) -> Singles:
    """At most so many of a clip's windows, evenly spread."""
    return vectors[np.unique(np.linspace(0, len(vectors) - 1, BACKGROUND_WINDOWS).astype(int))].astype(np.float32)


def _background(vectors: Sequence[Singles]) -> tuple[Singles, np.ndarray]:
    firsts = np.cumsum([0, *(len(each) for each in vectors[:-1])]).astype(np.int32)
    return np.concatenate(vectors), firsts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=SHIPPED)
    given = parser.parse_args()
    learnt = learn(measured(clips.more()))
    np.savez_compressed(given.out, **packed(learnt))


if __name__ == "__main__":
    main()
