"""Learn the spaces of the descriptors without labels, and write them to a file.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.learn   # the packaged file

From all of cmu30-more. Axes are principal axes of the measured clips and their mirror images, so that mirroring
preserves or negates each axis, exactly to the last bit. The background is a sample of the same clips, a few windows of
each. The output is deterministic; a changed file needs a new ANALYSIS_VERSION.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.search import clips

from keypose.arrays import Floats, Ints
from keypose.library.canonical import canonical_body
from keypose.library.descriptors import clip_vector
from keypose.library.descriptors.clip_vector import GROUPS, clip_groups, clip_mirror_permutation
from keypose.library.descriptors.description import AXES, EVEN_AXES, LearnedSpaces, Singles, Space, pack_spaces, posture

OUTPUT = Path(__file__).parents[2] / "src/keypose/library/descriptors/learned_spaces.npz"
BACKGROUND_CLIPS = 200
BACKGROUND_WINDOWS = 8  # of each clip at most


@dataclass(frozen=True)
class Sample:
    """Measurements of one clip; those of its mirror image follow from them."""

    windows: dict[str, Singles]  # (W, N) by descriptor
    groups: dict[str, Floats]  # of the clip vector


def measure_clips(clip_list: Sequence[clips.Clip]) -> list[Sample]:
    """Measure the clips that have a body."""
    samples = []
    for clip in clip_list:
        if (body := canonical_body(clip.motion())) is not None:
            pose = posture(body)
            windows = {
                name: clip_vector.covariance_windows(pose, kind).astype(np.float32)
                for name, kind in clip_vector.KINDS.items()
            }
            samples.append(Sample(windows, clip_groups(pose)))
    return samples


def learn(samples: Sequence[Sample]) -> LearnedSpaces:
    """Learn the spaces from these clips."""
    indices = np.random.default_rng(0).permutation(len(samples))[:BACKGROUND_CLIPS]
    background_samples = [samples[k] for k in np.sort(indices)]
    spaces = {name: _covariance_space(name, samples, background_samples) for name in clip_vector.KINDS}
    spaces["clip"] = _clip_space(samples, background_samples)
    return LearnedSpaces(spaces)


def _covariance_space(name: str, samples: Sequence[Sample], background_samples: Sequence[Sample]) -> Space:
    windows = np.concatenate([sample.windows[name] for sample in samples])
    mean, axes = principal_axes(windows, clip_vector.mirror_permutation(tuple(clip_vector.KINDS[name].joints.tolist())))
    return Space(
        mean,
        axes,
        *_background([_select_windows(_project(each.windows[name] - mean, axes)) for each in background_samples]),
    )


def _clip_space(samples: Sequence[Sample], background_samples: Sequence[Sample]) -> Space:
    """Learn the space of the clip vector; each group is divided by its spread, so that all groups have the same
    weight."""
    mirror_indices, signs = clip_mirror_permutation()
    rows = np.array([_concatenate_groups(each) for each in samples])
    spread = np.concatenate((rows, rows[:, mirror_indices] * signs)).var(axis=0)
    ends = np.cumsum([len(samples[0].groups[g]) for g in GROUPS])[:-1]
    scale = np.concatenate([np.full(len(each), 1 / np.sqrt(each.sum())) for each in np.split(spread, ends)])
    mean, axes = principal_axes(rows * scale, (mirror_indices, signs))
    mean, axes = (mean / scale).astype(np.float32), (axes * scale[:, None]).astype(np.float32)
    return Space(
        mean,
        axes,
        *_background([_project(_concatenate_groups(each)[None] - mean, axes) for each in background_samples]),
    )


def _project(deviations: Floats | Singles, axes: Singles) -> Singles:
    """Project rows (W, N) onto axes (N, D) in double precision, so that the number of threads does not matter."""
    projected: Singles = (deviations.astype(np.float64) @ axes.astype(np.float64)).astype(np.float32)
    return projected


def _concatenate_groups(clip: Sample) -> Floats:
    """Return all groups of the clip vector, concatenated (N,)."""
    return np.concatenate([clip.groups[g] for g in GROUPS])


def principal_axes(
    rows: Floats | Singles, mirror: tuple[Ints, Floats], n_axes: int = AXES, n_even: int = EVEN_AXES
) -> tuple[Singles, Singles]:
    """Return the mean (N,) and the first principal axes (N, n_axes) of ``rows`` (R, N) and their mirror images.

    ``mirror`` is the source index and sign of each number under mirroring. Axes that mirroring preserves come first,
    then those that it negates, both in order of decreasing variance.
    """
    mirror_indices, signs = mirror
    mirrored_rows = rows[:, mirror_indices] * signs
    even, odd = (rows + mirrored_rows) / 2.0, (rows - mirrored_rows) / 2.0
    mean = even.mean(axis=0, dtype=np.float64)
    kinds = ((even - mean, 1.0, n_even), (odd, -1.0, n_axes - n_even))
    axes = [
        _symmetric_axes(deviations.astype(np.float64), n, (mirror_indices, sign * signs))
        for deviations, sign, n in kinds
    ]
    return mean.astype(np.float32), np.concatenate(axes, axis=1).astype(np.float32)


def _symmetric_axes(deviations: Floats, n_axes: int, mirror: tuple[Ints, Floats]) -> Floats:
    """Return the principal axes (N, n_axes) of ``deviations`` (R, N), exactly invariant under ``mirror``."""
    wide = deviations.shape[1] > deviations.shape[0]  # then the equivalent problem of the rows is smaller
    _, axes = np.linalg.eigh(deviations @ deviations.T if wide else deviations.T @ deviations)
    axes = axes[:, ::-1][:, :n_axes]
    if wide:
        axes = deviations.T @ axes
    mirror_indices, signs = mirror
    axes = axes + axes[mirror_indices] * signs[:, None]
    return fix_signs(axes / np.linalg.norm(axes, axis=0))


def fix_signs(axes: Floats) -> Floats:
    """Fix the signs of axes (N, D): the first number above half of the largest magnitude becomes positive.

    The largest number itself is ambiguous: its mirror partner often has the same size and the opposite sign.
    """
    sizes = np.abs(axes)
    firsts = (sizes > 0.5 * sizes.max(axis=0)).argmax(axis=0)
    return axes * np.sign(axes[firsts, np.arange(axes.shape[1])])


def _select_windows(vectors: Singles) -> Singles:
    """Return at most BACKGROUND_WINDOWS windows of a clip, evenly spaced."""
    return vectors[np.unique(np.linspace(0, len(vectors) - 1, BACKGROUND_WINDOWS).astype(int))]


def _background(vectors: Sequence[Singles]) -> tuple[Singles, np.ndarray]:
    firsts = np.cumsum([0, *(len(each) for each in vectors[:-1])]).astype(np.int32)
    return np.concatenate(vectors), firsts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    spaces = learn(measure_clips(clips.more()))
    np.savez_compressed(arguments.out, **pack_spaces(spaces))


if __name__ == "__main__":
    main()
