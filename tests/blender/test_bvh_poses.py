"""BVH poses, judged by Blender."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

TOLERANCE = 1e-4  # of the figure's height
LEAST_FILES = 10


def _load_as_it_is(path: Path) -> kp.Motion:
    with warnings.catch_warnings():  # what these files are warned about is tested elsewhere
        warnings.simplefilter("ignore", kp.FormatWarning)
        return kp.load(path, reference_pose="keep")


@pytest.mark.data
def test_real_files_of_every_exporter(judge, asked, spread, data_dir):
    """Every BVH file that Blender imports: the same world positions, joint by joint.

    The largest difference (3e-5) is Blender's: it makes a bone that is nearly parallel to -Y exactly so.
    """
    paths = sorted((data_dir / "formats" / "bvh").glob("*.bvh"))
    motions = [_load_as_it_is(path) for path in paths]
    judged = judge(*(asked(p, spread(m.n_frames), m.fps) for p, m in zip(paths, motions, strict=True)))
    agreeing, wrong = [], []
    for path, motion, blender in zip(paths, motions, judged, strict=True):
        if blender.error is not None:
            wrong.append(f"{path.name}: Blender says {blender.error}")
            continue
        names = tuple("_".join(name.split()) for name in motion.skeleton.names)  # as Blender's importer does
        ours = motion.world_positions()[spread(motion.n_frames)]
        off = np.abs(ours - blender.of(names)).max() / motion.height
        (agreeing if off <= TOLERANCE else wrong).append(f"{path.name}: {off:.1e} of the height")
    assert not wrong, "\n".join(wrong)
    assert len(agreeing) >= LEAST_FILES


def test_the_judge_sees_a_wrong_pose(judge, asked, spread, wandering, tmp_path):
    """One joint turned the other way must not pass: the judge itself is judged."""
    path = tmp_path / "wandering.bvh"
    kp.save(wandering, path)
    frames = spread(wandering.n_frames)
    (blender,) = judge(asked(path, frames, wandering.fps))
    turned = wandering.rotations.copy()
    turned[:, 3] *= (1, -1, -1, -1)
    wrong = kp.Motion("wrong", wandering.skeleton, 30.0, wandering.translations, turned)
    off = np.abs(wrong.world_positions()[frames] - blender.of(wrong.skeleton.names)).max()
    assert off > 100 * TOLERANCE * wandering.height
