"""Read glTF: nodes and their animation become joints and poses.

A pose is rigid while a glTF node may scale: scale is applied to the translations of the joints below it, so that world
positions are glTF's own. The rest transforms of the nodes are the reference pose.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import freeze
from keypose.formats.base import LoadOptions, Source
from keypose.formats.gltf.axes import convert_to_own_unit, move_roots
from keypose.formats.gltf.extras import KeyposeData
from keypose.formats.gltf.sampling import Sampler
from keypose.formats.gltf.scale import LocalPoses, make_rigid
from keypose.formats.gltf.scene import MIN_MOVEMENT_UNITS, Scene, open_scene, root_bases
from keypose.formats.reference_pose import frames_to_skip
from keypose.model import Motion, Pose


def read(source: Source, options: LoadOptions) -> Motion:
    """Read a GLB or glTF file."""
    scene = open_scene(source, options)
    if not scene.is_rate_known and scene.animation.end_s > scene.animation.start_s:
        source.note(f"the keys stand on no common frame rate; they are sampled at {scene.timing.fps:g} fps")
    return build_motion(scene, options)


def build_motion(scene: Scene, options: LoadOptions) -> Motion:
    """Build the motion of an opened file."""
    keypose_data = scene.keypose_data
    n_ends = len(keypose_data.skeleton.end_joints) if keypose_data else 0
    scene.source.check_size(scene.timing.n_frames + 1, len(scene.joints) + n_ends)
    local = _sample_poses(scene)
    scene.nodes.warn_sheared()
    return (
        _build_keypose_motion(scene, options, keypose_data, local)
        if keypose_data
        else _build_foreign_motion(scene, options, local)
    )


def _sample_poses(scene: Scene) -> LocalPoses:
    """Return the transforms of the joints' nodes: at rest in row 0, then at every frame."""
    animation, timing, joint_indices = scene.animation, scene.timing, scene.joint_indices
    rests = scene.nodes.rest_transforms(scene.joints)
    poses = LocalPoses(
        parents=scene.parents,
        bases=root_bases(scene.nodes, scene.joints),
        translations=np.repeat(rests.translations[None], timing.n_frames + 1, axis=0),
        rotations=np.repeat(rests.rotations[None], timing.n_frames + 1, axis=0),
        scales=list(rests.scales[:, None]),
    )
    at_s = animation.start_s + np.arange(timing.n_frames) / timing.fps
    sampler = Sampler(animation, at_s, timing.fps)
    for track in sorted(animation.tracks, key=lambda track: track.times):
        j = joint_indices.get(track.node)
        if j is None:
            continue
        if track.path == "scale":
            poses.scales[j] = np.concatenate((rests.scales[j][None], sampler.sample(track)))
        else:
            target = poses.rotations if track.path == "rotation" else poses.translations
            target[1:, j] = sampler.sample(track)
    return poses


def _build_foreign_motion(scene: Scene, options: LoadOptions, poses: LocalPoses) -> Motion:
    """Build the motion of a file of another program."""
    source = scene.source
    make_rigid(source, poses)
    translations, rotations = freeze(poses.translations), freeze(poses.rotations)
    skeleton = scene.skeleton(translations[0], np.ptp(translations, axis=0).max(axis=1) > MIN_MOVEMENT_UNITS)
    skip = frames_to_skip(rotations[1:], options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    return Motion(
        name=scene.name,
        skeleton=skeleton,
        fps=scene.timing.fps,
        translations=translations[1 + skip :],
        rotations=rotations[1 + skip :],
        up="Y",
        metres_per_unit=1.0,
        first_frame=scene.timing.first_frame + skip,
        reference_pose=Pose(translations[skip], rotations[skip]),
        notes=tuple(source.notes),
    )


def _build_keypose_motion(scene: Scene, options: LoadOptions, keypose_data: KeyposeData, poses: LocalPoses) -> Motion:
    """Build the motion of a file that Keypose wrote, in its original axes and unit."""
    source = scene.source
    world_translations = move_roots(poses.translations, keypose_data.skeleton.roots, keypose_data.wrapper_position)
    own_poses = convert_to_own_unit(world_translations, poses.rotations, keypose_data.up, keypose_data.metres_per_unit)
    translations, rotations = map(freeze, own_poses)
    skip = 0 if keypose_data.has_reference_pose else frames_to_skip(rotations[1:], options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    return Motion(
        name=scene.name,
        skeleton=keypose_data.skeleton,
        fps=scene.timing.fps,
        translations=translations[1 + skip :],
        rotations=rotations[1 + skip :],
        up=keypose_data.up,
        metres_per_unit=keypose_data.metres_per_unit if keypose_data.is_unit_stated else None,
        first_frame=scene.timing.first_frame + skip,
        reference_pose=Pose(translations[skip], rotations[skip]) if skip or keypose_data.has_reference_pose else None,
        notes=tuple(source.notes),
    )
