"""BVH poses compared with Blender's importer."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = [pytest.mark.blender, pytest.mark.one_python]

TOLERANCE = 1e-4  # of the figure's height
MIN_FILES = 10


def _load_as_it_is(path: Path) -> kp.Motion:
    with warnings.catch_warnings():  # warnings about these files are tested elsewhere
        warnings.simplefilter("ignore", kp.FormatWarning)
        return kp.load(path, reference_pose="keep")


@pytest.mark.data
def test_real_files_of_every_exporter(import_in_blender, import_request, sample_frames, data_dir):
    """Every BVH file that Blender imports: the same world positions, joint by joint.

    The largest difference (3e-5) is Blender's: it makes a bone that is nearly parallel to -Y exactly so.
    """
    paths = sorted((data_dir / "formats" / "bvh").glob("*.bvh"))
    motions = [_load_as_it_is(path) for path in paths]
    results = import_in_blender(
        *(import_request(p, sample_frames(m.n_frames), m.fps) for p, m in zip(paths, motions, strict=True))
    )
    agreeing, wrong = [], []
    for path, motion, blender in zip(paths, motions, results, strict=True):
        if blender.error is not None:
            wrong.append(f"{path.name}: Blender says {blender.error}")
            continue
        names = tuple("_".join(name.split()) for name in motion.skeleton.names)  # as Blender's importer does
        ours = motion.world_positions()[sample_frames(motion.n_frames)]
        error = np.abs(ours - blender.positions_of(names)).max() / motion.height
        (agreeing if error <= TOLERANCE else wrong).append(f"{path.name}: {error:.1e} of the height")
    assert not wrong, "\n".join(wrong)
    assert len(agreeing) >= MIN_FILES


def test_a_wrong_pose_is_detected(import_in_blender, import_request, sample_frames, random_motion, tmp_path):
    """One joint with an inverted rotation is detected."""
    path = tmp_path / "wandering.bvh"
    kp.save(random_motion, path)
    frames = sample_frames(random_motion.n_frames)
    (blender,) = import_in_blender(import_request(path, frames, random_motion.fps))
    rotated = random_motion.rotations.copy()
    rotated[:, 3] *= (1, -1, -1, -1)
    wrong = kp.Motion("wrong", random_motion.skeleton, 30.0, random_motion.translations, rotated)
    error = np.abs(wrong.world_positions()[frames] - blender.positions_of(wrong.skeleton.names)).max()
    assert error > 100 * TOLERANCE * random_motion.height
