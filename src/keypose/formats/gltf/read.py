"""Read glTF: nodes and their animation become joints and poses.

Poses have no scale, but glTF nodes may: scale is applied to the translations of the descendants, so that the world
positions are those of glTF. The rest transforms of the nodes are the reference pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, freeze
from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.formats.gltf.animation import (
    DEFAULT_FPS,
    Animation,
    Sampler,
    animated_nodes,
    choose_animation,
    find_rate,
    read_animation,
)
from keypose.formats.gltf.container import Accessors, open_container
from keypose.formats.gltf.curves import convert_to_own_unit, move_roots
from keypose.formats.gltf.extras import KeyposeData, find_keypose_data
from keypose.formats.gltf.nodes import LocalPoses, Nodes, make_rigid, read_nodes
from keypose.formats.json_document import JsonObject
from keypose.formats.orientation import REFERENCE_POSE_NOTE, frames_to_skip
from keypose.model import Motion, Pose, Skeleton
from keypose.model.skeleton import DEFAULT_ORDER, POSITION_CHANNELS
from keypose.options import LoadOptions
from keypose.rotations import to_matrix

MAX_FRAMES = 1e15  # above any limit, so that the count is finite
MIN_MOVEMENT_UNITS = 1e-6  # a joint with larger changes of its translation has position channels
_ROTATION_CHANNELS = tuple(f"{axis}rotation" for axis in DEFAULT_ORDER)


def read(source: Source, options: LoadOptions) -> Motion:
    """Read a GLB or glTF file."""
    scene = open_scene(source, options)
    if not scene.is_rate_known and scene.animation.end_s > scene.animation.start_s:
        source.note(f"the keys have no common frame rate; they are sampled at {scene.timing.fps:g} fps")
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
        source.note(REFERENCE_POSE_NOTE)
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
        source.note(REFERENCE_POSE_NOTE)
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


@dataclass(frozen=True)
class Timing:
    """The frame rate and range."""

    fps: float
    n_frames: int
    first_frame: int


@dataclass(frozen=True)
class Scene:
    """One figure and one animation of a file."""

    source: Source
    name: str  # of the motion
    joint_names: tuple[str, ...]  # unique
    nodes: Nodes
    animation: Animation
    keypose_data: KeyposeData | None
    joints: list[int]  # the node of each joint, parents first
    parents: list[int]  # of joints, -1: none
    timing: Timing
    is_rate_known: bool  # if not, some keys are not on frames

    @property
    def joint_indices(self) -> dict[int, int]:
        """The joint index of each node that is a joint."""
        return {node: j for j, node in enumerate(self.joints)}

    def skeleton(self, offsets: Floats, moves: Bools) -> Skeleton:
        """Build the skeleton of a file of another program; ``moves`` (J,) are the joints with position channels."""
        return Skeleton(
            names=self.joint_names,
            parents=np.array(self.parents, np.int32),
            offsets=offsets,
            channels=tuple(
                (POSITION_CHANNELS if moving or parent < 0 else ()) + _ROTATION_CHANNELS
                for moving, parent in zip(moves.tolist(), self.parents, strict=True)
            ),
        )


def open_scene(source: Source, options: LoadOptions) -> Scene:
    """Open a GLB or glTF file; its poses are not read yet, nor is their size checked."""
    if options.fps is not None and not (math.isfinite(options.fps) and options.fps > 0):
        raise OptionError(option="fps", value=options.fps, expected="a positive number")
    container = open_container(source)
    nodes = read_nodes(container.json)
    accessors = Accessors(container)
    entry = choose_animation(container.json, options.animation)
    animation = read_animation(entry, accessors, len(nodes.parents)) if entry is not None else None
    if animation is None:
        source.note("no animation: the one frame is the rest pose")
        animation = Animation("", [], accessors)
    keypose_data = find_keypose_data(container.json, nodes, animation)
    joints = list(keypose_data.joints) if keypose_data else _find_joints(container.json, nodes)
    joint_index = {node: j for j, node in enumerate(joints)}
    parents = [joint_index.get(nodes.parents[node], -1) for node in joints]
    source.check_depth(_depth(parents))
    rate = options.fps or (
        keypose_data.fps if keypose_data else find_rate(list(animation.key_times.values()), animation.start_s)
    )
    has_multiple = len(container.json.array("animations")) > 1
    name = f"{source.name}-{animation.name}" if has_multiple and animation.name and not keypose_data else source.name
    return Scene(
        source=source,
        name=name,
        joint_names=keypose_data.skeleton.names if keypose_data else _unique_names(source, nodes, joints),
        nodes=nodes,
        animation=animation,
        keypose_data=keypose_data,
        joints=joints,
        parents=parents,
        timing=_compute_timing(animation, rate or DEFAULT_FPS, keypose_data),
        is_rate_known=rate is not None,
    )


def _find_joints(json: JsonObject, nodes: Nodes) -> list[int]:
    """Return the nodes that become joints, parents first."""
    n = len(nodes.parents)
    marked = animated_nodes(json, n)
    for skin in json.objects("skins"):
        marked.update(skin.indices("joints", n))
    if not marked:
        raise json.source.error("no skin and no animated node", code="missing_data", expected="a figure that moves")
    descendants: set[int] = set()  # marked nodes and their descendants
    for node in nodes.order:
        if node in marked or nodes.parents[node] in descendants:
            descendants.add(node)
    ancestors: set[int] = set()  # marked nodes and their ancestors
    for node in reversed(nodes.order):
        if node in marked or node in ancestors:
            ancestors.update((node, nodes.parents[node]))
    joints = [node for node in nodes.order if node in descendants and node in ancestors]
    json.source.check_joints(len(joints))
    return joints


def _depth(parents: list[int]) -> int:
    """Return the depth of the joint hierarchy, 1 for roots; nodes above the roots do not count."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    return max(depths)


def _compute_timing(animation: Animation, fps: float, keypose_data: KeyposeData | None) -> Timing:
    frames = min((animation.end_s - animation.start_s) * fps, MAX_FRAMES)
    first = (
        keypose_data.first_frame if keypose_data else round(min(max(animation.start_s * fps, -MAX_FRAMES), MAX_FRAMES))
    )
    return Timing(fps, round(frames) + 1, first)


def root_bases(nodes: Nodes, joints: list[int]) -> dict[int, Floats]:
    """Return for each root joint the world matrix (4, 4) of its parent node, which is constant."""
    own_nodes = set(joints)
    roots = {j: node for j, node in enumerate(joints) if nodes.parents[node] not in own_nodes}
    ancestors = {-1}
    for node in roots.values():
        while (node := nodes.parents[node]) not in ancestors:
            ancestors.add(node)
    ordered = [node for node in nodes.order if node in ancestors]
    rests = nodes.rest_transforms(ordered)
    linears = to_matrix(rests.rotations) * rests.scales[:, None]
    world_from = {-1: np.eye(4)}
    for k, node in enumerate(ordered):
        local = np.eye(4)
        local[:3, :3] = linears[k]
        local[:3, 3] = rests.translations[k]
        with np.errstate(over="ignore", invalid="ignore"):
            world_from[node] = world_from[nodes.parents[node]] @ local
    return {j: world_from[nodes.parents[node]] for j, node in roots.items()}


def _unique_names(source: Source, nodes: Nodes, joints: list[int]) -> tuple[str, ...]:
    """Return unique joint names; glTF nodes may share a name or have none, so repeated names get a number."""
    counts: dict[str, int] = {}
    names: list[str] = []
    for node in joints:
        name = nodes.names[node] or f"node {node}"
        unique = name
        while unique in counts:
            counts[name] += 1
            unique = f"{name}.{counts[name]:03d}"
        counts[unique] = 0
        names.append(unique)
    n_renamed = sum(name != nodes.names[node] for name, node in zip(names, joints, strict=True))
    if n_renamed:
        source.note(f"{n_renamed} joints have no unique name; they were renamed")
    return tuple(names)
