"""Write glTF: one node per joint, its keys, and a visible figure.

A dense motion has a key on every frame. A keyed one has its own keys and, between them, glTF's cubic splines, which are
the same curves.

The nodes of the joints are Y up and in metres, so that the figure is upright and in natural size in any viewer. No node
is scaled or rotated for this, as Blender draws bones below a scaled node out of proportion. The rest pose of the nodes
is the bind pose of the figure, which is the reference pose if there is one. The wrapper node above them is close to the
roots, as Blender may draw the bone of a root as long as its distance from there. Its extras contain the data for
reading the motion back in its own axes and unit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError, format_count
from keypose.formats.base import SaveOptions
from keypose.formats.figure import ROUGHNESS, SIDE_COLOURS, Figure, bind_pose, build_figure, linear_colour, world_pose
from keypose.formats.gltf.curves import (
    Buffer,
    Keys,
    build_animation,
    convert_tangents_to_metres,
    convert_to_metres,
    fit_quaternion_curves,
    float32,
    move_roots,
    rounded_numbers,
    valid_text,
)
from keypose.formats.gltf.extras import FIGURE, KEY, build_extras, build_key_extras
from keypose.formats.local_poses import prepend_key_pose
from keypose.formats.orientation import metres_per_unit, prepend_pose
from keypose.model import KeyedMotion, Motion, Pose
from keypose.rotations import to_matrix

MAX_JOINTS = 1 << 16  # the joint index of a vertex has 16 bits
WRAPPER_BELOW_OF_SIZE = 0.1  # distance below the roots; Blender draws no bone shorter than 4 mm
VERTICES, INDICES = 34962, 34963  # targets of buffer views


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a GLB, or a glTF file with its buffer inside."""
    is_separate = motion.reference_pose is not None and not options.reference_pose
    if motion.reference_pose is not None and not is_separate:
        motion = prepend_pose(motion, motion.reference_pose)
    every_frame = Keys(np.arange(motion.n_frames, dtype=np.int32), motion.n_frames)
    return _encode(motion, every_frame, suffix, {"reference_pose": is_separate})


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode the keys and curves of a keyed motion. Its residual is not stored."""
    keyed = fit_quaternion_curves(keyed)
    is_separate = keyed.reference_pose is not None and not options.reference_pose
    if keyed.reference_pose is not None and not is_separate:
        keyed = prepend_key_pose(keyed, keyed.reference_pose)
    notes = {"reference_pose": is_separate, "keyed": build_key_extras(keyed)}
    return _encode(keyed.sample(frames=keyed.keys), Keys.of(keyed), suffix, notes)


def _encode(motion: Motion, keys: Keys, suffix: str, more_notes: dict[str, Any]) -> bytes:
    """Encode a file with ``motion``, the poses at ``keys``; ``more_notes`` are added to the extras."""
    if motion.n_joints > MAX_JOINTS:
        raise OptionError(
            f"{format_count(motion.n_joints, 'joint')}, glTF shows a figure of at most {MAX_JOINTS}",
            subject=motion.name,
        )
    scale = float(metres_per_unit(motion))
    metric_motion = convert_to_metres(motion, scale)
    keys = convert_tangents_to_metres(keys, motion.up, scale)
    bind = bind_pose(metric_motion)
    wrapper_position = np.array(rounded_numbers(_wrapper_position(metric_motion, bind), motion.name))
    roots = list(metric_motion.skeleton.roots)
    rest = Pose(move_roots(bind.translations, roots, -wrapper_position), bind.rotations)
    buffer = Buffer()
    animated_motion = replace(
        metric_motion, translations=move_roots(metric_motion.translations, roots, -wrapper_position)
    )
    joints = list(range(motion.n_joints))
    notes = build_extras(motion, keys.n_frames, scale, joints, wrapper_position, rest) | more_notes
    document = {
        "asset": {"version": "2.0", "generator": "Keypose"},
        "scene": 0,
        "scenes": [{"nodes": [len(joints), len(joints) + 1]}],
        "nodes": [
            *_joint_nodes(metric_motion, rest),
            {
                "name": f"{valid_text(motion.name) or 'motion'} in metres",
                "translation": wrapper_position.tolist(),
                "children": roots,
                "extras": {KEY: notes},
            },
            {"name": FIGURE, "mesh": 0, "skin": 0},
        ],
        "animations": [build_animation(animated_motion, keys, rest, buffer)],
        **_skinned_figure(metric_motion, bind, buffer),
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
    }
    return buffer.glb(document, motion.name) if suffix == ".glb" else buffer.gltf(document)


def _joint_nodes(motion: Motion, bind: Pose) -> list[dict[str, Any]]:
    s = motion.skeleton
    nodes: list[dict[str, Any]] = [
        {
            "name": valid_text(name),
            "translation": rounded_numbers(bind.translations[j], motion.name),
            "rotation": _xyzw(bind.rotations[j]),
        }
        for j, name in enumerate(s.names)
    ]
    for j, parent in enumerate(s.parents.tolist()):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(j)
    return nodes


def _skinned_figure(motion: Motion, bind: Pose, buffer: Buffer) -> dict[str, Any]:
    """Return the mesh, its materials and its skin."""
    world, rotations, ends = world_pose(motion.skeleton, bind)
    figure = build_figure(motion.skeleton, world, ends, _figure_size(motion, world, ends))
    linear = np.swapaxes(to_matrix(rotations), 1, 2)  # joint_from_world
    inverse_bind = np.zeros((motion.n_joints, 4, 4))
    inverse_bind[:, :3, :3] = linear
    inverse_bind[:, :3, 3] = -np.einsum("jab,jb->ja", linear, world)
    inverse_bind[:, 3, 3] = 1.0
    columns = np.swapaxes(inverse_bind, 1, 2).reshape(-1, 16)
    sides = list(figure.triangles)
    return {
        "meshes": [{"name": FIGURE, "primitives": _primitives(motion, figure, buffer)}],
        "materials": [
            {
                "name": side,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*linear_colour(SIDE_COLOURS[side]), 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": ROUGHNESS,
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


def _wrapper_position(motion: Motion, bind: Pose) -> Floats:
    """Return the position (3,) of the wrapper node: a little below the mean of the roots."""
    world, _, ends = world_pose(motion.skeleton, bind)
    down = np.array((0.0, WRAPPER_BELOW_OF_SIZE * _figure_size(motion, world, ends), 0.0))
    return np.asarray(world[list(motion.skeleton.roots)].mean(axis=0) - down)


def _figure_size(motion: Motion, world: Floats, ends: Floats) -> float:
    """Return the height of the figure in metres; for markers their extent, for a single point 1."""
    points = np.concatenate((world, ends))
    return motion.height or float(np.ptp(points, axis=0).max()) or 1.0


def _xyzw(q: Floats) -> list[float]:
    return rounded_numbers(np.roll(q, -1), "rotation")
