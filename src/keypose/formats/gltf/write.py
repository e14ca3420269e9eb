"""glTF out: one node per joint, its keys, and a figure to look at.

Of a dense motion every frame is a key. A keyed one has its own keys and, between them, glTF's cubic splines, which
are the very same curves.

The joints' nodes are Y up and in metres, so that the figure stands upright and in natural size in any viewer.
No node is scaled or turned to make it so: Blender draws the bones below a scaled node out of all proportion.
The nodes rest in the bind pose of the figure, which is the reference pose if there is one. A wrapper above
them stands close to the roots, as Blender may draw a root's bone as long as it is away from there. It holds
our notes, by which the motion comes back in its own axes and unit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.base import WriteOptions
from keypose.formats.figure.bind import bind_pose, placed
from keypose.formats.figure.mesh import Figure, build_figure
from keypose.formats.figure.size import metres_per_unit
from keypose.formats.gltf.axes import in_metres, moved, slopes_in_metres
from keypose.formats.gltf.buffer import Buffer, float32, numbers, sound_text
from keypose.formats.gltf.curves import Keys, animation
from keypose.formats.gltf.extras import KEY, describe, describe_keys
from keypose.formats.keyed import as_quaternions, with_first_key
from keypose.formats.reference import with_first_pose
from keypose.model import Curves, KeyedMotion, Motion, Pose
from keypose.rotations import to_matrix

MOST_JOINTS = 1 << 16  # a vertex names its joint by 16 bits
WRAPPER_BELOW_OF_SIZE = 0.1  # how far below the roots; Blender draws no bone that is shorter than 4 mm
VERTICES, INDICES = 34962, 34963  # what a buffer view is for

# Colours (linear) that tell left from right, also to the colour-blind.
COLOURS = {"middle": (0.62, 0.60, 0.56), "left": (0.06, 0.28, 0.55), "right": (0.75, 0.24, 0.06)}


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """The content of a GLB, or of a glTF file with its buffer inside."""
    kept_apart = motion.reference_pose is not None and not options.reference_pose
    if motion.reference_pose is not None and not kept_apart:
        motion = with_first_pose(motion, motion.reference_pose)
    every_frame = Keys(np.arange(motion.n_frames, dtype=np.int32), motion.n_frames)
    return _written(motion, every_frame, suffix, {"reference_pose": kept_apart})


def write_keyed(keyed: KeyedMotion, suffix: str, options: WriteOptions) -> bytes:
    """The same of a keyed motion. Its residual has no place there."""
    keyed = as_quaternions(keyed)
    kept_apart = keyed.reference_pose is not None and not options.reference_pose
    if keyed.reference_pose is not None and not kept_apart:
        keyed = with_first_key(keyed, keyed.reference_pose)
    keys = Keys(keyed.keys, keyed.n_frames, _slopes(keyed.translations), _slopes(keyed.rotations))
    notes = {"reference_pose": kept_apart, "keyed": describe_keys(keyed)}
    return _written(keyed.sample(frames=keyed.keys), keys, suffix, notes)


def _slopes(curves: Curves) -> tuple[Floats, ...]:
    return () if curves.arriving is None or curves.leaving is None else (curves.arriving, curves.leaving)


def _written(motion: Motion, keys: Keys, suffix: str, more_notes: dict[str, Any]) -> bytes:
    """The content of a file that shows ``motion``, the poses at ``keys``."""
    if motion.n_joints > MOST_JOINTS:
        raise OptionError(f"{motion.name}: {motion.n_joints} joints, glTF shows a figure of at most {MOST_JOINTS}")
    scale = float(metres_per_unit(motion))
    shown = in_metres(motion, scale)
    keys = slopes_in_metres(keys, motion.up, scale)
    bind = bind_pose(shown)
    stand = np.array(numbers(_below_roots(shown, bind), motion.name))
    roots = list(shown.skeleton.roots)
    rest = Pose(moved(bind.translations, roots, -stand), bind.rotations)
    buffer = Buffer()
    moving = replace(shown, translations=moved(shown.translations, roots, -stand))
    joints = list(range(motion.n_joints))
    notes = describe(motion, keys.n_frames, scale, joints, stand, rest) | more_notes
    document = {
        "asset": {"version": "2.0", "generator": "Keypose"},
        "scene": 0,
        "scenes": [{"nodes": [len(joints), len(joints) + 1]}],
        "nodes": [
            *_joint_nodes(shown, rest),
            {
                "name": f"{sound_text(motion.name) or 'motion'} in metres",
                "translation": stand.tolist(),
                "children": roots,
                "extras": {KEY: notes},
            },
            {"name": "figure", "mesh": 0, "skin": 0},
        ],
        "animations": [animation(moving, keys, rest, buffer)],
        **_skinned_figure(shown, bind, buffer),
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
    }
    return buffer.glb(document, motion.name) if suffix == ".glb" else buffer.gltf(document)


def _joint_nodes(motion: Motion, bind: Pose) -> list[dict[str, Any]]:
    s = motion.skeleton
    nodes: list[dict[str, Any]] = [
        {
            "name": sound_text(name),
            "translation": numbers(bind.translations[j], motion.name),
            "rotation": _xyzw(bind.rotations[j]),
        }
        for j, name in enumerate(s.names)
    ]
    for j, parent in enumerate(s.parents.tolist()):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(j)
    return nodes


def _skinned_figure(motion: Motion, bind: Pose, buffer: Buffer) -> dict[str, Any]:
    """The mesh, its materials and its skin."""
    world, turns, ends = placed(motion.skeleton, bind)
    figure = build_figure(motion.skeleton, world, ends, _size(motion, world, ends))
    linear = np.swapaxes(to_matrix(turns), 1, 2)  # joint_from_world
    inverse_bind = np.zeros((motion.n_joints, 4, 4))
    inverse_bind[:, :3, :3] = linear
    inverse_bind[:, :3, 3] = -np.einsum("jab,jb->ja", linear, world)
    inverse_bind[:, 3, 3] = 1.0
    columns = np.swapaxes(inverse_bind, 1, 2).reshape(-1, 16)
    sides = list(figure.triangles)
    return {
        "meshes": [{"name": "figure", "primitives": _primitives(motion, figure, buffer)}],
        "materials": [
            {
                "name": side,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*COLOURS[side], 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.6,
                },
            }
            for side in sides
        ],
        "skins": [
            {
                "joints": list(range(motion.n_joints)),
                "inverseBindMatrices": buffer.add(float32(columns, motion.name)),
            }
        ],
    }


def _primitives(motion: Motion, figure: Figure, buffer: Buffer) -> list[dict[str, Any]]:
    n = len(figure.positions)
    joints = np.zeros((n, 4), "u1" if motion.n_joints <= 256 else "<u2")
    joints[:, 0] = figure.joints
    weights = np.zeros((n, 4), "u1")
    weights[:, 0] = 255
    attributes = {
        "POSITION": buffer.add(float32(figure.positions, motion.name), VERTICES, bounds=True),
        "NORMAL": buffer.add(float32(figure.normals, motion.name), VERTICES),
        "JOINTS_0": buffer.add(joints, VERTICES),
        "WEIGHTS_0": buffer.add(weights, VERTICES, normalised=True),
    }
    kind = "<u2" if n < 1 << 16 else "<u4"
    return [
        {
            "attributes": attributes,
            "indices": buffer.add(triangles.reshape(-1, 1).astype(kind), INDICES),
            "material": material,
        }
        for material, triangles in enumerate(figure.triangles.values())
    ]


def _below_roots(motion: Motion, bind: Pose) -> Floats:
    """The place (3,) of the wrapper: a little below the middle of the roots."""
    world, _, ends = placed(motion.skeleton, bind)
    down = np.array((0.0, WRAPPER_BELOW_OF_SIZE * _size(motion, world, ends), 0.0))
    return np.asarray(world[list(motion.skeleton.roots)].mean(axis=0) - down)


def _size(motion: Motion, world: Floats, ends: Floats) -> float:
    """How tall the figure is in metres; of markers their spread, of a single point a metre."""
    points = np.concatenate((world, ends))
    return motion.height or float(np.ptp(points, axis=0).max()) or 1.0


def _xyzw(q: Floats) -> list[float]:
    return numbers(np.roll(q, -1), "rotation")
