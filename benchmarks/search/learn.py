"""Learns, without labels, what the descriptors need to know of other clips, and writes it to a file.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.learn   # the shipped numbers

From all of cmu30-more. Axes are principal axes of what was measured, mirror images included: so each axis is the same
in a mirror, or the opposite, and is made so to the last bit. The background is a sample of the same clips, a few
windows of each. Twice the same command writes twice the same file; what is learnt anew needs another ANALYSIS_VERSION.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.search import clips

from keypose.arrays import Floats, Ints
from keypose.library.canonical import canonical
from keypose.library.descriptors import covariance
from keypose.library.descriptors.clip import GROUPS, clip_groups, mirror_of_clip
from keypose.library.descriptors.learnt import Learnt, Singles, Space, packed
from keypose.library.descriptors.noun import AXES, EVEN_AXES
from keypose.library.descriptors.posture import posture

SHIPPED = Path(__file__).parents[2] / "src/keypose/library/descriptors/learnt.npz"
BACKGROUND_CLIPS = 200
BACKGROUND_WINDOWS = 8  # of each clip at most


@dataclass(frozen=True)
class Measured:
    """What one clip measures; what its mirror image does follows from it."""

    windows: dict[str, Singles]  # (W, N) by descriptor
    groups: dict[str, Floats]  # of the clip vector


def measured(sources: Sequence[clips.Clip]) -> list[Measured]:
    """What is learnt from: the clips that have a body."""
    found = []
    for clip in sources:
        if (body := canonical(clip.motion())) is not None:
            seen = posture(body)
            windows = {
                name: covariance.covariance_windows(seen, kind).astype(np.float32)
                for name, kind in covariance.KINDS.items()
            }
            found.append(Measured(windows, clip_groups(seen)))
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
    mean, axes = principal(windows, covariance.mirror(tuple(covariance.KINDS[name].joints.tolist())))
    return Space(mean, axes, *_background([_few(_along(each.windows[name] - mean, axes)) for each in some]))


def _clip_space(material: Sequence[Measured], some: Sequence[Measured]) -> Space:
    """Each group counts as much as the others: it is divided by its spread before the axes are found."""
    places, signs = mirror_of_clip()
    rows = np.array([_as_one(each) for each in material])
    spread = np.concatenate((rows, rows[:, places] * signs)).var(axis=0)
    ends = np.cumsum([len(material[0].groups[g]) for g in GROUPS])[:-1]
    scale = np.concatenate([np.full(len(each), 1 / np.sqrt(each.sum())) for each in np.split(spread, ends)])
    mean, axes = principal(rows * scale, (places, signs))
    mean, axes = (mean / scale).astype(np.float32), (axes * scale[:, None]).astype(np.float32)
    return Space(mean, axes, *_background([_along(_as_one(each)[None] - mean, axes) for each in some]))


def _along(off: Floats | Singles, axes: Singles) -> Singles:
    """Numbers (W, N) along axes (N, D), in double precision: however many threads work, the same comes out."""
    along: Singles = (off.astype(np.float64) @ axes.astype(np.float64)).astype(np.float32)
    return along


def _as_one(clip: Measured) -> Floats:
    """All groups of the clip vector, one after another (N,)."""
    return np.concatenate([clip.groups[g] for g in GROUPS])


def principal(
    rows: Floats | Singles, mirror: tuple[Ints, Floats], n_axes: int = AXES, n_even: int = EVEN_AXES
) -> tuple[Singles, Singles]:
    """The mean (N,) and the first principal axes (N, n_axes) of ``rows`` (R, N) and their mirror images.

    ``mirror`` says where each number comes from in a mirror, and with which sign. Axes that stay as they are come
    first, then those that are the opposite; of each the strongest first.
    """
    places, signs = mirror
    twins = rows[:, places] * signs
    even, odd = (rows + twins) / 2.0, (rows - twins) / 2.0
    mean = even.mean(axis=0, dtype=np.float64)
    kinds = ((even - mean, 1.0, n_even), (odd, -1.0, n_axes - n_even))
    axes = [_strongest(off.astype(np.float64), n, (places, sign * signs)) for off, sign, n in kinds]
    return mean.astype(np.float32), np.concatenate(axes, axis=1).astype(np.float32)


def _strongest(off: Floats, n_axes: int, mirror: tuple[Ints, Floats]) -> Floats:
    """The principal axes (N, n_axes) of ``off`` (R, N), that ``mirror`` leaves as they are, to the last bit."""
    wide = off.shape[1] > off.shape[0]  # then the rows' own problem is the smaller one, and says the same
    _, axes = np.linalg.eigh(off @ off.T if wide else off.T @ off)
    axes = axes[:, ::-1][:, :n_axes]
    if wide:
        axes = off.T @ axes
    places, signs = mirror
    axes = axes + axes[places] * signs[:, None]
    return signed(axes / np.linalg.norm(axes, axis=0))


def signed(axes: Floats) -> Floats:
    """Axes (N, D), each with its sign: positive is the first number that is more than half as large as the largest.

    The largest itself would not do: in a mirror it often has a twin of the same size and the other sign.
    """
    sizes = np.abs(axes)
    firsts = (sizes > 0.5 * sizes.max(axis=0)).argmax(axis=0)
    return axes * np.sign(axes[firsts, np.arange(axes.shape[1])])


def _few(vectors: Singles) -> Singles:
    """At most so many of a clip's windows, evenly spread."""
    return vectors[np.unique(np.linspace(0, len(vectors) - 1, BACKGROUND_WINDOWS).astype(int))]


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
