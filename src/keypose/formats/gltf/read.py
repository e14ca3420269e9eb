"""glTF in: nodes and their animation become joints and poses.

A pose here is rigid while a glTF node may scale: scale goes into the translations of the joints below it, so that
world positions are glTF's own, whatever the scale does. The nodes' own places are the reference pose.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import give_away
from keypose.formats.base import ReadOptions, Source
from keypose.formats.gltf.axes import in_own_unit, moved
from keypose.formats.gltf.extras import Notes
from keypose.formats.gltf.sampling import Sampler
from keypose.formats.gltf.scale import LocalPoses, make_rigid
from keypose.formats.gltf.scene import MOVES_UNITS, Scene, bases_above, open_scene
from keypose.formats.reference import frames_to_skip
from keypose.model import Motion, Pose


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from a GLB or glTF file."""
    scene = open_scene(source, options)
    if not scene.rate_known and scene.animation.end_s > scene.animation.start_s:
        source.note(f"the keys stand on no common frame rate; they are sampled at {scene.timing.fps:g} fps")
    return motion_of(scene, options)


def motion_of(scene: Scene, options: ReadOptions) -> Motion:
    """The motion of a file that was taken apart."""
    own = scene.own
    n_ends = len(own.skeleton.end_joints) if own else 0
    scene.source.check_size(scene.timing.n_frames + 1, len(scene.joints) + n_ends)
    local = _sampled(scene)
    scene.nodes.warn_sheared()
    return _own_motion(scene, options, own, local) if own else _plain_motion(scene, options, local)


def _sampled(scene: Scene) -> LocalPoses:
    """What the joints' nodes say, at rest in row 0 and then at every frame."""
    animation, timing, number = scene.animation, scene.timing, scene.numbers
    rests = scene.nodes.rests(scene.joints)
    poses = LocalPoses(
        parents=scene.parents,
        bases=bases_above(scene.nodes, scene.joints),
        translations=np.repeat(rests.translations[None], timing.n_frames + 1, axis=0),
        rotations=np.repeat(rests.rotations[None], timing.n_frames + 1, axis=0),
        scales=list(rests.scales[:, None]),
    )
    at_s = animation.start_s + np.arange(timing.n_frames) / timing.fps
    sampler = Sampler(animation, at_s, timing.fps)
    for track in sorted(animation.tracks, key=lambda track: track.times):
        j = number.get(track.node)
        if j is None:
            continue
        if track.path == "scale":
            poses.scales[j] = np.concatenate((rests.scales[j][None], sampler.sample(track)))
        else:
            target = poses.rotations if track.path == "rotation" else poses.translations
            target[1:, j] = sampler.sample(track)
    return poses


def _plain_motion(scene: Scene, options: ReadOptions, poses: LocalPoses) -> Motion:
    """The motion of a file of any other program."""
    source = scene.source
    make_rigid(source, poses)
    translations, rotations = give_away(poses.translations), give_away(poses.rotations)
    skeleton = scene.skeleton(translations[0], np.ptp(translations, axis=0).max(axis=1) > MOVES_UNITS)
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


def _own_motion(scene: Scene, options: ReadOptions, own: Notes, poses: LocalPoses) -> Motion:
    """The motion of a file that we wrote, in the axes and the unit that it had."""
    source = scene.source
    in_world = moved(poses.translations, own.skeleton.roots, own.stand)
    own_poses = in_own_unit(in_world, poses.rotations, own.up, own.metres_per_unit)
    translations, rotations = map(give_away, own_poses)
    skip = 0 if own.has_reference_pose else frames_to_skip(rotations[1:], options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    return Motion(
        name=scene.name,
        skeleton=own.skeleton,
        fps=scene.timing.fps,
        translations=translations[1 + skip :],
        rotations=rotations[1 + skip :],
        up=own.up,
        metres_per_unit=own.metres_per_unit if own.unit_stated else None,
        first_frame=scene.timing.first_frame + skip,
        reference_pose=Pose(translations[skip], rotations[skip]) if skip or own.has_reference_pose else None,
        notes=tuple(source.notes),
    )
