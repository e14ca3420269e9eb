"""Written motions (BVH, GLB, USD) in Blender's importers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender

TOLERANCE = 1e-4  # of the figure's height
CMU_UNIT = 0.05644  # metres
MAX_LENGTH = 0.6  # of a bone, of the figure's height
MEDIAN_LENGTH = (0.01, 0.3)
SUFFIXES = (".bvh", ".glb", ".gltf", ".usda", ".usdc", ".usd")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_joint_positions(suffix, import_in_blender, import_request, sample_frames, random_motion, tmp_path):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    motions = (random_motion, kp.demo_motion())
    paths = [tmp_path / f"{motion.name}{suffix}" for motion in motions]
    for motion, path in zip(motions, paths, strict=True):
        assert motion.up == "Y"
        assert motion.metres_per_unit == 1.0  # so that no importer rotates or scales
        kp.save(motion, path)
    results = import_in_blender(
        *(import_request(p, sample_frames(m.n_frames), m.fps) for p, m in zip(paths, motions, strict=True))
    )
    for motion, blender in zip(motions, results, strict=True):
        assert blender.error is None
        ours = motion.world_positions()[sample_frames(motion.n_frames)]
        error = np.abs(ours - blender.positions_of(motion.skeleton.names)).max()
        assert error <= TOLERANCE * motion.height


def _in_unit(motion: kp.Motion, unit: float) -> kp.Motion:
    """Return a motion in metres in another unit."""
    s = motion.skeleton
    skeleton = replace(s, offsets=s.offsets / unit, end_offsets=s.end_offsets / unit)
    return replace(motion, skeleton=skeleton, translations=motion.translations / unit, metres_per_unit=unit)


def _z_up(motion: kp.Motion) -> kp.Motion:
    """Return a Y-up motion in axes whose X, Y, Z are its Z, X, Y."""
    s, swap = motion.skeleton, np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    return replace(
        motion,
        skeleton=replace(s, offsets=s.offsets @ swap.T, end_offsets=s.end_offsets @ swap.T),
        translations=motion.translations @ swap.T,
        rotations=np.concatenate((motion.rotations[..., :1], motion.rotations[..., 1:] @ swap.T), axis=-1),
        up="Z",
    )


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_a_z_up_motion_stands_upright(
    suffix, import_in_blender, import_request, sample_frames, random_motion, tmp_path
):
    """A Z-up motion in centimetres is upright in Blender."""
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    rotated = _z_up(_in_unit(random_motion, 0.01))
    path = tmp_path / f"z{suffix}"
    kp.save(rotated, path)
    frames = sample_frames(rotated.n_frames)
    (blender,) = import_in_blender(import_request(path, frames, rotated.fps))
    assert blender.error is None
    result = blender.positions_of(rotated.skeleton.names)  # converted to Y up: its Y is Blender's Z
    heights = rotated.world_positions()[frames][..., 2]
    scale = 0.01 if suffix == ".glb" else 1.0  # glTF is in metres, USD keeps the file's unit
    assert np.abs(result[..., 1] - scale * heights).max() <= TOLERANCE * scale * rotated.height


def _assert_sane_bones(motion, blender, metres):
    """Assert that bones are about as long as the limbs of a figure ``metres`` tall."""
    assert blender.error is None
    lengths = blender.lengths_of(motion.skeleton.names) / metres
    longest = motion.skeleton.names[int(np.argmax(lengths))]
    assert lengths.max() < MAX_LENGTH, f"{longest} is drawn {lengths.max():.2f} of the height long"
    assert MEDIAN_LENGTH[0] < np.median(lengths) < MEDIAN_LENGTH[1]


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_bones_are_as_long_as_limbs_in_any_unit_and_axes(suffix, import_in_blender, import_request, tmp_path):
    """Blender chooses the lengths of bones: below a scaled node they are out of proportion."""
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    demo = kp.demo_motion()[:10]
    stated = [_in_unit(demo, unit) for unit in (1.0, 0.01, 0.001, CMU_UNIT)]
    stated += [_z_up(motion) for motion in stated]
    motions = stated + [replace(motion, metres_per_unit=None) for motion in stated]
    paths = [tmp_path / f"{k}{suffix}" for k in range(len(motions))]
    for motion, path in zip(motions, paths, strict=True):
        kp.save(motion, path)
    for motion, blender in zip(
        motions, import_in_blender(*(import_request(path, [0], demo.fps) for path in paths)), strict=True
    ):
        _assert_sane_bones(motion, blender, demo.height if suffix == ".glb" else motion.height)


def test_a_root_without_length_gets_a_short_bone_wherever_it_stands(import_in_blender, import_request, tmp_path):
    """The hips of a CMU skeleton, whose legs and spine start at the same position: Blender measures from their parent."""
    demo = _in_unit(kp.demo_motion()[:10], CMU_UNIT)
    s = demo.skeleton
    below = np.isin(s.parents, s.roots)
    offsets, translations = s.offsets.copy(), demo.translations.copy()
    offsets[below] = translations[:, below] = 0.0
    translations[:, list(s.roots)] += (50.0, 0.0, -80.0)
    motion = replace(demo, skeleton=replace(s, offsets=offsets), translations=translations)
    kp.save(motion, tmp_path / "far.glb")
    (blender,) = import_in_blender(import_request(tmp_path / "far.glb", [0], motion.fps))
    _assert_sane_bones(motion, blender, motion.height * CMU_UNIT)


@pytest.mark.data
def test_real_motion_as_glb(import_in_blender, import_request, sample_frames, data_dir, tmp_path):
    """A CMU clip, saved as GLB in metres: Blender's positions are Keypose's times the unit."""
    motion = replace(kp.load(data_dir / "fbx" / "07_01.bvh"), metres_per_unit=CMU_UNIT)
    path = tmp_path / "07_01.glb"
    kp.save(motion, path)
    frames = sample_frames(motion.n_frames)
    (blender,) = import_in_blender(import_request(path, frames, motion.fps))
    assert blender.error is None
    metres = motion.world_positions()[frames] * motion.metres_per_unit
    error = np.abs(metres - blender.positions_of(motion.skeleton.names)).max()
    assert error <= TOLERANCE * motion.height * motion.metres_per_unit
    _assert_sane_bones(motion, blender, motion.height * motion.metres_per_unit)
