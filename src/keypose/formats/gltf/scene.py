"""A glTF file taken apart: which nodes are joints, when the frames are, what stands above the roots.

Joints are the nodes of the skins, the nodes that any animation of the file moves, and those between them.
So all animations of a file share one skeleton. The still nodes above a root (``Z_UP``, ``Armature``) are
folded into it.

Frame 0 is the first key of the animation, and ``first_frame`` the number it has when counting from time 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.document import Part
from keypose.formats.gltf.accessors import Accessors
from keypose.formats.gltf.animation import Animation, animated_nodes, choose, read_animation
from keypose.formats.gltf.container import open_container
from keypose.formats.gltf.extras import Notes, find
from keypose.formats.gltf.nodes import Nodes, read_nodes
from keypose.formats.gltf.sampling import DEFAULT_FPS, find_rate
from keypose.model import Skeleton
from keypose.model.skeleton import DEFAULT_ORDER, POSITION_CHANNELS
from keypose.rotations import to_matrix

MOST_FRAMES = 1e15  # beyond any limit: only keeps the count a number
MOVES_UNITS = 1e-6  # a joint whose translation changes by more has position channels
_TURNS = tuple(f"{axis}rotation" for axis in DEFAULT_ORDER)


@dataclass(frozen=True)
class Timing:
    """When the frames are."""

    fps: float
    n_frames: int
    first_frame: int


@dataclass(frozen=True)
class Scene:
    """What a file holds of one figure and one animation."""

    source: Source
    name: str  # of the motion
    joint_names: tuple[str, ...]  # each different
    nodes: Nodes
    animation: Animation
    own: Notes | None
    joints: list[int]  # the node of each joint, parents first
    parents: list[int]  # of joints, -1: none
    timing: Timing
    rate_known: bool  # else it is no rate on which all keys stand

    @property
    def numbers(self) -> dict[int, int]:
        """The joint of each node that is one."""
        return {node: j for j, node in enumerate(self.joints)}

    def skeleton(self, offsets: Floats, moves: Bools) -> Skeleton:
        """The skeleton of a file of another program: where its joints rest (J, 3), and which move (J,)."""
        return Skeleton(
            names=self.joint_names,
            parents=np.array(self.parents, np.int32),
            offsets=offsets,
            channels=tuple(
                (POSITION_CHANNELS if moving or parent < 0 else ()) + _TURNS
                for moving, parent in zip(moves.tolist(), self.parents, strict=True)
            ),
        )


def open_scene(source: Source, options: ReadOptions) -> Scene:
    """Takes a GLB or glTF file apart; its poses are not read yet, nor is their size checked."""
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
    rate = options.fps or (own.fps if own else find_rate(list(animation.key_times.values()), animation.start_s))
    several = len(container.json.array("animations")) > 1
    name = f"{source.name}-{animation.name}" if several and animation.name and not own else source.name
    return Scene(
        source=source,
        name=name,
        joint_names=own.skeleton.names if own else _unique_names(source, nodes, joints),
        nodes=nodes,
        animation=animation,
        own=own,
        joints=joints,
        parents=parents,
        timing=_timing(animation, rate or DEFAULT_FPS, own),
        rate_known=rate is not None,
    )


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


def _timing(animation: Animation, fps: float, own: Notes | None) -> Timing:
    frames = min((animation.end_s - animation.start_s) * fps, MOST_FRAMES)
    first = own.first_frame if own else round(min(max(animation.start_s * fps, -MOST_FRAMES), MOST_FRAMES))
    return Timing(fps, round(frames) + 1, first)


def bases_above(nodes: Nodes, joints: list[int]) -> dict[int, Floats]:
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
