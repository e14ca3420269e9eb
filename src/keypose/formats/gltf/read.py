"""glTF in: nodes and their animation become joints and poses.

Joints are the nodes of the skins, the nodes that any animation of the file moves, and those between them.
So all animations of a file share one skeleton. The still nodes above a root (``Z_UP``, ``Armature``) are
folded into it. A pose here is rigid while a glTF node may scale: scale goes into the translations of the
joints below it, so that world positions are glTF's own, whatever the scale does.

Frame 0 is the first key of the animation, and ``first_frame`` the number it has when counting from time 0.
The nodes' own places are the reference pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.errors import OptionError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.gltf.accessors import Accessors
from keypose.formats.gltf.animation import (
    DEFAULT_FPS,
    Animation,
    Sampler,
    animated_nodes,
    choose,
    find_rate,
    read_animation,
)
from keypose.formats.gltf.axes import in_own_unit, moved
from keypose.formats.gltf.container import open_container
from keypose.formats.gltf.document import Part
from keypose.formats.gltf.extras import Notes, find
from keypose.formats.gltf.nodes import Nodes, read_nodes
from keypose.formats.gltf.scale import LocalPoses, make_rigid
from keypose.formats.reference import frames_to_skip
from keypose.model import Motion, Pose, Skeleton
from keypose.model.skeleton import DEFAULT_ORDER, POSITION_CHANNELS
from keypose.rotations import to_matrix

MOST_FRAMES = 1e15  # beyond any limit: only keeps the count a number
_MOVES_UNITS = 1e-6  # a joint whose translation changes by more has position channels
_TURNS = tuple(f"{axis}rotation" for axis in DEFAULT_ORDER)


@dataclass(frozen=True)
class _Timing:
    """When the frames are."""

    fps: float
    n_frames: int
    first_frame: int


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from a GLB or glTF file."""
    if options.fps is not None and not (math.isfinite(options.fps) and options.fps > 0):
        raise OptionError(f"fps={options.fps}, expected a positive number")
    container = open_container(source)
    nodes = read_nodes(container.json)
    accessors = Accessors(container)
    chosen = choose(container.json, options.animation)
    animation = read_animation(chosen, accessors, len(nodes.parents)) if chosen is not None else None
    if animation is None:
        source.note("no animation: the one frame is the rest pose")
        animation = Animation("", [], accessors)
    own = find(container.json, nodes, animation)
    joints = list(own.joints) if own else _joints(container.json, nodes)
    number = {node: j for j, node in enumerate(joints)}
    parents = [number.get(nodes.parents[node], -1) for node in joints]
    source.check_depth(_depth(parents))
    timing = _timing(source, animation, options.fps, own)
    source.check_size(timing.n_frames + 1, len(joints) + (len(own.skeleton.end_joints) if own else 0))
    local = _sampled(nodes, animation, joints, parents, timing)
    nodes.warn_sheared()
    if own:
        return _own_motion(source, options, own, timing, local)
    several = len(container.json.array("animations")) > 1
    name = f"{source.name}-{animation.name}" if several and animation.name else source.name
    return _plain_motion(source, options, name, nodes, joints, timing, local)


def _joints(json: Part, nodes: Nodes) -> list[int]:
    """The nodes that become joints, parents first."""
    n = len(nodes.parents)
    marked = animated_nodes(json, n)
    for skin in json.parts("skins"):
        marked.update(skin.indices("joints", n))
    if not marked:
        raise json.source.error("no skin and no animated node, expected a figure that moves")
    below: set[int] = set()  # marked nodes and all that hangs on them
    for node in nodes.order:
        if node in marked or nodes.parents[node] in below:
            below.add(node)
    above: set[int] = set()  # marked nodes and all that they hang on
    for node in reversed(nodes.order):
        if node in marked or node in above:
            above.update((node, nodes.parents[node]))
    joints = [node for node in nodes.order if node in below and node in above]
    json.source.check_joints(len(joints))
    return joints


def _depth(parents: list[int]) -> int:
    """Joints from a root to the deepest one; what is folded into the root does not count."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    return max(depths)


def _timing(source: Source, animation: Animation, wanted_fps: float | None, own: Notes | None) -> _Timing:
    fps = wanted_fps or (own.fps if own else find_rate(list(animation.key_times.values()), animation.start_s))
    if fps is None:
        fps = DEFAULT_FPS
        if animation.end_s > animation.start_s:
            source.note(f"the keys stand on no common frame rate; they are sampled at {fps:g} fps")
    frames = min((animation.end_s - animation.start_s) * fps, MOST_FRAMES)
    first = own.first_frame if own else round(min(max(animation.start_s * fps, -MOST_FRAMES), MOST_FRAMES))
    return _Timing(fps, round(frames) + 1, first)


def _sampled(nodes: Nodes, animation: Animation, joints: list[int], parents: list[int], timing: _Timing) -> LocalPoses:
    """What the joints' nodes say, at rest in row 0 and then at every frame."""
    rows = timing.n_frames + 1
    rests = nodes.rests(joints)
    number = {node: j for j, node in enumerate(joints)}
    poses = LocalPoses(
        parents=parents,
        bases=_bases(nodes, joints),
        translations=np.repeat(rests.translations[None], rows, axis=0),
        rotations=np.repeat(rests.rotations[None], rows, axis=0),
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


def _bases(nodes: Nodes, joints: list[int]) -> dict[int, Floats]:
    """For each root joint the matrix (4, 4) of all that stands above it; those nodes keep still."""
    own_nodes = set(joints)
    roots = {j: node for j, node in enumerate(joints) if nodes.parents[node] not in own_nodes}
    above = {-1}
    for node in roots.values():
        while (node := nodes.parents[node]) not in above:
            above.add(node)
    ordered = [node for node in nodes.order if node in above]
    rests = nodes.rests(ordered)
    linears = to_matrix(rests.rotations) * rests.scales[:, None]
    world_from = {-1: np.eye(4)}
    for k, node in enumerate(ordered):
        own = np.eye(4)
        own[:3, :3] = linears[k]
        own[:3, 3] = rests.translations[k]
        with np.errstate(over="ignore", invalid="ignore"):
            world_from[node] = world_from[nodes.parents[node]] @ own
    return {j: world_from[nodes.parents[node]] for j, node in roots.items()}


def _plain_motion(
    source: Source, options: ReadOptions, name: str, nodes: Nodes, joints: list[int], timing: _Timing, poses: LocalPoses
) -> Motion:
    """The motion of a file of any other program."""
    make_rigid(source, poses)
    translations, rotations = give_away(poses.translations), give_away(poses.rotations)
    moves = np.ptp(translations, axis=0).max(axis=1) > _MOVES_UNITS
    skeleton = Skeleton(
        names=_unique_names(source, nodes, joints),
        parents=np.array(poses.parents, np.int32),
        offsets=translations[0],
        channels=tuple(
            (POSITION_CHANNELS if moving or parent < 0 else ()) + _TURNS
            for moving, parent in zip(moves.tolist(), poses.parents, strict=True)
        ),
    )
    skip = frames_to_skip(rotations[1:], options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    return Motion(
        name=name,
        skeleton=skeleton,
        fps=timing.fps,
        translations=translations[1 + skip :],
        rotations=rotations[1 + skip :],
        up="Y",
        metres_per_unit=1.0,
        first_frame=timing.first_frame + skip,
        reference_pose=Pose(translations[skip], rotations[skip]),
        notes=tuple(source.notes),
    )


def _own_motion(source: Source, options: ReadOptions, own: Notes, timing: _Timing, poses: LocalPoses) -> Motion:
    """The motion of a file that we wrote, in the axes and the unit that it had."""
    in_world = moved(poses.translations, own.skeleton.roots, own.stand)
    own_poses = in_own_unit(in_world, poses.rotations, own.up, own.metres_per_unit)
    translations, rotations = map(give_away, own_poses)
    skip = 0 if own.has_reference_pose else frames_to_skip(rotations[1:], options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    return Motion(
        name=source.name,
        skeleton=own.skeleton,
        fps=timing.fps,
        translations=translations[1 + skip :],
        rotations=rotations[1 + skip :],
        up=own.up,
        metres_per_unit=own.metres_per_unit if own.unit_stated else None,
        first_frame=timing.first_frame + skip,
        reference_pose=Pose(translations[skip], rotations[skip]) if skip or own.has_reference_pose else None,
        notes=tuple(source.notes),
    )


def _unique_names(source: Source, nodes: Nodes, joints: list[int]) -> tuple[str, ...]:
    """The nodes' names; glTF lets nodes share one or have none, so a number comes behind those taken."""
    used: dict[str, int] = {}
    names: list[str] = []
    for node in joints:
        name = nodes.names[node] or f"node {node}"
        unique = name
        while unique in used:
            used[name] += 1
            unique = f"{name}.{used[name]:03d}"
        used[unique] = 0
        names.append(unique)
    shared = sum(name != nodes.names[node] for name, node in zip(names, joints, strict=True))
    if shared:
        source.note(f"{shared} joints have no name of their own; they were given one")
    return tuple(names)
