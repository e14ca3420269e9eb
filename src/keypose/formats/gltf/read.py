"""Read glTF: nodes and their animation become joints and poses.

Poses have no scale, but glTF nodes may: scale is applied to the translations of the descendants, so that the world
positions are those of glTF. The rest transforms of the nodes are the reference pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from keypose.arrays import Bools, Floats, freeze
from keypose.errors import format_count
from keypose.formats.base import Source
from keypose.formats.gltf.animation import (
    DEFAULT_FPS,
    Animation,
    Sampler,
    animated_nodes,
    animation_names,
    choose_animation,
    find_rate,
    read_animation,
)
from keypose.formats.gltf.container import Accessors, Container, open_container
from keypose.formats.gltf.curves import convert_to_own_unit, move_roots
from keypose.formats.gltf.extras import FIGURE, AnimationData, KeyposeData, find_animation_data, find_keypose_data
from keypose.formats.gltf.nodes import SAME_SCALE, LocalPoses, Nodes, make_rigid, read_nodes
from keypose.formats.json_document import JsonObject
from keypose.formats.orientation import frames_to_skip
from keypose.model import REFERENCE_POSE_NOTE, Motion, Pose, Skeleton
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
    poses = sample_poses(scene)
    note_not_read(scene, poses.scales)
    return build_motion(scene, options, poses)


def list_animations(source: Source, options: LoadOptions) -> list[str]:
    """Return the names of the animations of a GLB or glTF file."""
    return animation_names(open_container(source).json)


def build_motion(scene: Scene, options: LoadOptions, poses: LocalPoses) -> Motion:
    """Build the motion of an opened file with the sampled ``poses``, which change."""
    keypose_data = scene.keypose_data
    return (
        _build_keypose_motion(scene, options, keypose_data, poses)
        if keypose_data
        else _build_foreign_motion(scene, options, poses)
    )


def sample_poses(scene: Scene) -> LocalPoses:
    """Return the transforms of the joints' nodes: at rest in row 0, then at every frame."""
    n_ends = len(scene.keypose_data.skeleton.end_joints) if scene.keypose_data else 0
    scene.source.check_size(scene.timing.n_frames + 1, len(scene.joints) + n_ends)
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
    scene.nodes.warn_sheared()
    return poses


def note_not_read(scene: Scene, scales: list[Floats]) -> None:
    """Add a note about meshes, skins, props, morph targets and ``scales`` of joints that change.

    They are named as far as the file is sound; the reader uses none of them.
    """
    names: dict[str, list[str]] = {
        kind: [] for kind in ("skinned mesh", "skin", "prop", "morph target", "scale track", "morph track")
    }
    skins = scene.json.array("skins")
    meshes = scene.json.values.get("meshes")
    meshes = meshes if isinstance(meshes, list) else []
    for k, node in enumerate(scene.json.objects("nodes")):
        index = node.values.get("mesh")
        if not isinstance(index, int) or not 0 <= index < len(meshes):
            continue
        name, mesh = scene.nodes.names[k] or f"node {k}", meshes[index]
        is_skinned = "skin" in node
        if scene.keypose_data and is_skinned and name == FIGURE:
            skins = [skin for at, skin in enumerate(skins) if at != node.values["skin"]]
            continue
        names["skinned mesh" if is_skinned else "prop"].append(name)
        names["morph target"] += _morph_target_names(name, mesh)
    names["skin"] = [str(skin.get("name", f"skin {k}")) for k, skin in enumerate(skins) if isinstance(skin, dict)]
    for joint, scale in zip(scene.joint_names, scales, strict=True):
        if np.abs(scale[1:] - scale[0]).max(initial=0.0) > SAME_SCALE * np.abs(scale[0]).max():
            names["scale track"].append(joint)
    names["morph track"] = [scene.nodes.names[k] or f"node {k}" for k in scene.animation.morphed_nodes]
    scene.source.note_not_read(names)


def _morph_target_names(node_name: str, mesh: Any) -> list[str]:
    """Return the names of the morph targets of a mesh; it is not checked otherwise."""
    primitives = mesh.get("primitives") if isinstance(mesh, dict) else None
    targets = [p.get("targets") for p in primitives if isinstance(p, dict)] if isinstance(primitives, list) else []
    n_targets = max((len(own) for own in targets if isinstance(own, list)), default=0)
    extras = mesh.get("extras") if n_targets else None
    target_names = extras.get("targetNames") if isinstance(extras, dict) else None
    if isinstance(target_names, list) and len(target_names) == n_targets:
        return list(map(str, target_names))
    return [f"{node_name} {k}" for k in range(n_targets)]


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
    animation_data: AnimationData | None
    joints: list[int]  # the node of each joint, parents first
    parents: list[int]  # of joints, -1: none
    timing: Timing
    is_rate_known: bool  # if not, some keys are not on frames

    @property
    def container(self) -> Container:
        """The JSON and buffers of the file."""
        return self.animation.accessors.container

    @property
    def json(self) -> JsonObject:
        """The JSON of the file."""
        return self.container.json

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
    container = open_container(source)
    nodes = read_nodes(container.json)
    accessors = Accessors(container)
    index = choose_animation(container.json, options.animation)
    names = animation_names(container.json)
    if index is None:
        source.note("no animation: the one frame is the rest pose")
        animation = Animation([], accessors)
    else:
        animation = read_animation(container.json.objects("animations")[index], accessors, len(nodes.parents))
    keypose_data = find_keypose_data(container.json, nodes, animation)
    joints = list(keypose_data.joints) if keypose_data else _find_joints(container.json, nodes)
    joint_index = {node: j for j, node in enumerate(joints)}
    parents = [joint_index.get(nodes.parents[node], -1) for node in joints]
    source.check_depth(_depth(parents))
    animation_data = keypose_data.animation if keypose_data else find_animation_data(animation)
    rate = options.fps or (
        animation_data.fps if animation_data else find_rate(list(animation.key_times.values()), animation.start_s)
    )
    name = source.name if index is None or len(names) == 1 else f"{source.name}-{names[index]}"
    return Scene(
        source=source,
        name=name,
        joint_names=keypose_data.skeleton.names if keypose_data else _unique_names(source, nodes, joints),
        nodes=nodes,
        animation=animation,
        keypose_data=keypose_data,
        animation_data=animation_data,
        joints=joints,
        parents=parents,
        timing=_compute_timing(animation, rate or DEFAULT_FPS, animation_data),
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


def _compute_timing(animation: Animation, fps: float, data: AnimationData | None) -> Timing:
    frames = min((animation.end_s - animation.start_s) * fps, MAX_FRAMES)
    first = data.first_frame if data else round(min(max(animation.start_s * fps, -MAX_FRAMES), MAX_FRAMES))
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
        source.note(f"{format_count(n_renamed, 'joint')} {'has' if n_renamed == 1 else 'have'} no unique name; renamed")
    return tuple(names)
