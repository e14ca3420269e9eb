"""Motions that we write (BVH, GLB, USD), judged by Blender's importers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

TOLERANCE = 1e-4  # of the figure's height
SUFFIXES = (".bvh", ".glb", ".gltf", ".usda", ".usdc", ".usd")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_joint_is_where_we_put_it(suffix, judge, asked, spread, wandering, tmp_path):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    motions = (wandering, kp.demo_motion())
    paths = [tmp_path / f"{motion.name}{suffix}" for motion in motions]
    for motion, path in zip(motions, paths, strict=True):
        assert motion.up == "Y"
        assert motion.metres_per_unit == 1.0  # so that no importer has anything to turn or scale
        kp.save(motion, path)
    judged = judge(*(asked(p, spread(m.n_frames), m.fps) for p, m in zip(paths, motions, strict=True)))
    for motion, blender in zip(motions, judged, strict=True):
        assert blender.error is None
        ours = motion.world_positions()[spread(motion.n_frames)]
        off = np.abs(ours - blender.of(motion.skeleton.names)).max()
        assert off <= TOLERANCE * motion.height


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_a_z_up_motion_stands_upright(suffix, judge, asked, spread, wandering, tmp_path):
    """Written from Z up in centimetres, Blender stands it on its own Z."""
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    swap = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))  # new X, Y, Z are the old Z, X, Y
    turned = replace(
        wandering,
        skeleton=replace(
            wandering.skeleton,
            offsets=100 * wandering.skeleton.offsets @ swap.T,
            end_offsets=100 * wandering.skeleton.end_offsets @ swap.T,
        ),
        translations=100 * wandering.translations @ swap.T,
        rotations=np.concatenate((wandering.rotations[..., :1], wandering.rotations[..., 1:] @ swap.T), axis=-1),
        up="Z",
        metres_per_unit=0.01,
    )
    path = tmp_path / f"z{suffix}"
    kp.save(turned, path)
    frames = spread(turned.n_frames)
    (blender,) = judge(asked(path, frames, turned.fps))
    assert blender.error is None
    found = blender.of(turned.skeleton.names)  # the judge gives Y up: its Y is Blender's Z
    heights = turned.world_positions()[frames][..., 2]
    scale = 0.01 if suffix == ".glb" else 1.0  # glTF is in metres, USD keeps the file's unit
    assert np.abs(found[..., 1] - scale * heights).max() <= TOLERANCE * scale * turned.height


@pytest.mark.data
def test_real_motion_as_glb(judge, asked, spread, data_dir, tmp_path):
    """A CMU clip, saved as GLB in metres: Blender's positions are ours times the unit."""
    motion = replace(kp.load(data_dir / "fbx" / "07_01.bvh"), metres_per_unit=0.05644)
    path = tmp_path / "07_01.glb"
    kp.save(motion, path)
    frames = spread(motion.n_frames)
    (blender,) = judge(asked(path, frames, motion.fps))
    assert blender.error is None
    metres = motion.world_positions()[frames] * motion.metres_per_unit
    off = np.abs(metres - blender.of(motion.skeleton.names)).max()
    assert off <= TOLERANCE * motion.height * motion.metres_per_unit
