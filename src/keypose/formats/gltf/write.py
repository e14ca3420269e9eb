"""glTF out: one node per joint, every frame a key, and a figure to look at.

The joints' nodes are Y up and in metres, so that the figure stands upright and in natural size in any viewer.
No node is scaled or turned to make it so: Blender draws the bones below a scaled node out of all proportion.
The nodes rest in the bind pose of the figure, which is the reference pose if there is one. A wrapper above
them stands close to the roots, as Blender may draw a root's bone as long as it is away from there. It holds
our notes, by which the motion comes back in its own axes and unit.
"""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.base import WriteOptions
from keypose.formats.figure.bind import bind_pose, placed
from keypose.formats.figure.mesh import Figure, build_figure
from keypose.formats.figure.size import metres_per_unit
from keypose.formats.gltf.axes import in_metres, moved
from keypose.formats.gltf.container import BINARY_CHUNK, GLB_MAGIC, JSON_CHUNK
from keypose.formats.gltf.extras import KEY, describe
from keypose.formats.reference import with_first_pose
from keypose.model import Motion, Pose
from keypose.rotations import sign_continuous, to_matrix

MOST_JOINTS = 1 << 16  # a vertex names its joint by 16 bits
MOST_GLB_BYTES = (1 << 32) - 1  # a GLB counts its bytes by 32 bits
WRAPPER_BELOW_OF_SIZE = 0.1  # how far below the roots; Blender draws no bone that is shorter than 4 mm
VERTICES, INDICES = 34962, 34963  # what a buffer view is for
_COMPONENTS = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

# Colours (linear) that tell left from right, also to the colour-blind.
COLOURS = {"middle": (0.62, 0.60, 0.56), "left": (0.06, 0.28, 0.55), "right": (0.75, 0.24, 0.06)}


@dataclass
class _Buffer:
    """The one buffer of the file as it grows, with its views and accessors."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def view(self, array: NDArray[Any], target: int | None = None) -> int:
        """Appends an array; the view's number."""
        data = array.tobytes()
        entry = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        self.views.append(entry | ({"target": target} if target else {}))
        data += bytes(-len(data) % 4)
        self.pieces.append(data)
        self.size += len(data)
        return len(self.views) - 1

    def accessor(
        self, array: NDArray[Any], view: int, start: int = 0, *, bounds: bool = False, normalised: bool = False
    ) -> int:
        """An accessor of an array (count, width) that lies in a view from byte ``start``; its number."""
        entry: dict[str, Any] = {
            "bufferView": view,
            "byteOffset": start,
            "componentType": _COMPONENTS[array.dtype.str[1:]],
            "count": len(array),
            "type": _TYPES[array.shape[1]],
        }
        if normalised:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def add(self, array: NDArray[Any], target: int | None = None, **kinds: bool) -> int:
        """An accessor with a view of its own."""
        return self.accessor(array, self.view(array, target), **kinds)


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """The content of a GLB, or of a glTF file with its buffer inside."""
    if motion.n_joints > MOST_JOINTS:
        raise OptionError(f"{motion.name}: {motion.n_joints} joints, glTF shows a figure of at most {MOST_JOINTS}")
    scale = float(metres_per_unit(motion))
    shown = in_metres(motion, scale)
    bind = bind_pose(shown)
    kept_apart = motion.reference_pose is not None and not options.reference_pose
    if shown.reference_pose is not None and not kept_apart:
        shown = with_first_pose(shown, shown.reference_pose)
    stand = np.array(_numbers(_below_roots(shown, bind), motion.name))
    roots = list(shown.skeleton.roots)
    rest = Pose(moved(bind.translations, roots, -stand), bind.rotations)
    buffer = _Buffer()
    animation = _animation(replace(shown, translations=moved(shown.translations, roots, -stand)), rest, buffer)
    joints = list(range(motion.n_joints))
    document = {
        "asset": {"version": "2.0", "generator": "Keypose"},
        "scene": 0,
        "scenes": [{"nodes": [len(joints), len(joints) + 1]}],
        "nodes": [
            *_joint_nodes(shown, rest),
            {
                "name": f"{_text(motion.name) or 'motion'} in metres",
                "translation": stand.tolist(),
                "children": roots,
                "extras": {KEY: describe(motion, shown, scale, joints, stand, rest, kept_apart)},
            },
            {"name": "figure", "mesh": 0, "skin": 0},
        ],
        "animations": [animation],
        **_skinned_figure(shown, bind, buffer),
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
    }
    return _glb(document, buffer, motion.name) if suffix == ".glb" else _gltf(document, buffer)


def _joint_nodes(motion: Motion, bind: Pose) -> list[dict[str, Any]]:
    s = motion.skeleton
    nodes: list[dict[str, Any]] = [
        {
            "name": _text(name),
            "translation": _numbers(bind.translations[j], motion.name),
            "rotation": _xyzw(bind.rotations[j]),
        }
        for j, name in enumerate(s.names)
    ]
    for j, parent in enumerate(s.parents.tolist()):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(j)
    return nodes


def _animation(motion: Motion, bind: Pose, buffer: _Buffer) -> dict[str, Any]:
    """A key on every frame of all that moves; one key for what stands still elsewhere than at rest."""
    times = _float32(np.arange(motion.n_frames) / motion.fps, motion.name)[:, None]
    if (np.diff(times[:, 0]) <= 0).any():
        raise OptionError(f"{motion.name}: {motion.n_frames} frames at {motion.fps:g} fps are more than glTF's "
                          f"times of 32 bits can tell apart")  # fmt: skip
    inputs: dict[int, int] = {}  # the accessor of the times, by the number of keys
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    turns = sign_continuous(motion.rotations)[..., (1, 2, 3, 0)]
    roots = set(motion.skeleton.roots)
    for path, values, rest in (("rotation", turns, None), ("translation", motion.translations, bind.translations)):
        by_joint = np.ascontiguousarray(_float32(values, motion.name).swapaxes(0, 1))  # (J, T, 3 or 4)
        still = (by_joint == by_joint[:, :1]).all(axis=(1, 2))
        if path == "rotation":
            still[list(roots)] = False  # some channel must last as long as the motion
        at_rest = still & (by_joint[:, 0] == np.float32(rest)).all(axis=1) if rest is not None else still & False
        for joints, n_keys in ((np.flatnonzero(~still), motion.n_frames), (np.flatnonzero(still & ~at_rest), 1)):
            if not joints.size:
                continue
            if n_keys not in inputs:
                inputs[n_keys] = buffer.add(times[:n_keys], bounds=True)
            keys = by_joint[joints, :n_keys]
            view = buffer.view(keys)
            for k, joint in enumerate(joints.tolist()):
                output = buffer.accessor(keys[k], view, k * keys[k].nbytes)
                channels.append({"sampler": len(samplers), "target": {"node": joint, "path": path}})
                samplers.append({"input": inputs[n_keys], "output": output, "interpolation": "LINEAR"})
    return {"name": _text(motion.name) or "motion", "channels": channels, "samplers": samplers}


def _skinned_figure(motion: Motion, bind: Pose, buffer: _Buffer) -> dict[str, Any]:
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
                "inverseBindMatrices": buffer.add(_float32(columns, motion.name)),
            }
        ],
    }


def _primitives(motion: Motion, figure: Figure, buffer: _Buffer) -> list[dict[str, Any]]:
    n = len(figure.positions)
    joints = np.zeros((n, 4), "u1" if motion.n_joints <= 256 else "<u2")
    joints[:, 0] = figure.joints
    weights = np.zeros((n, 4), "u1")
    weights[:, 0] = 255
    attributes = {
        "POSITION": buffer.add(_float32(figure.positions, motion.name), VERTICES, bounds=True),
        "NORMAL": buffer.add(_float32(figure.normals, motion.name), VERTICES),
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


def _glb(document: dict[str, Any], buffer: _Buffer, name: str) -> bytes:
    text = _json(document | {"buffers": [{"byteLength": buffer.size}]})
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + buffer.size
    if total > MOST_GLB_BYTES:
        raise OptionError(f"{name}: {total} bytes, expected at most the {MOST_GLB_BYTES} of a GLB: "
                          f"save it in parts, or as .bvh")  # fmt: skip
    head = GLB_MAGIC + struct.pack("<IIII", 2, total, len(text), JSON_CHUNK)
    return b"".join((head, text, struct.pack("<II", buffer.size, BINARY_CHUNK), *buffer.pieces))


def _gltf(document: dict[str, Any], buffer: _Buffer) -> bytes:
    uri = "data:application/octet-stream;base64," + base64.b64encode(b"".join(buffer.pieces)).decode()
    return _json(document | {"buffers": [{"byteLength": buffer.size, "uri": uri}]}) + b"\n"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _float32(values: Floats, name: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = values.astype("<f4")
    if not np.isfinite(narrow).all():
        raise OptionError(f"{name}: numbers as large as {np.abs(values).max():g} do not fit into glTF's 32 bits")
    return narrow


def _numbers(values: Floats, name: str) -> list[float]:
    """Numbers rounded to 32 bits in their shortest form."""
    return [float(str(value)) for value in _float32(values, name)]


def _xyzw(q: Floats) -> list[float]:
    return _numbers(np.roll(q, -1), "rotation")


def _text(name: str) -> str:
    """A name that is sound Unicode: bytes that some BVH file had in another encoding are taken as Latin-1."""
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            return name.encode("utf-8", "surrogateescape").decode("latin-1")
        except UnicodeEncodeError:  # half a character, which stands for no byte
            return name.encode("utf-8", "replace").decode()
    return name
