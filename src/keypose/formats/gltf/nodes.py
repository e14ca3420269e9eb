"""The node hierarchy of a glTF file: checked to be a forest, matrices taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.errors import LimitError
from keypose.formats.document import Part, Parts
from keypose.rotations import from_matrix

NODES_PER_JOINT = 10  # of the limit: a scene may hold more than its figure
SHEAR_TOLERANCE = 1e-3  # of a unit axis; exporters round, and glTF allows no shear
_NO_SHIFT, _NO_TURN, _NO_SCALE = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
_IDENTITY = tuple(np.eye(4).ravel().tolist())


@dataclass(frozen=True)
class Rests:
    """Where some nodes rest, each against its parent."""

    translations: Floats  # (N, 3)
    rotations: Floats  # (N, 4) unit wxyz
    scales: Floats  # (N, 3)


@dataclass(frozen=True)
class Nodes:
    """All nodes in file order: who hangs on whom."""

    names: list[str | None]
    parents: list[int]  # -1: none
    order: list[int]  # depth first, parents before children
    _parts: Parts
    _sheared: set[int] = field(default_factory=set)  # among the nodes whose rests were asked for

    def rests(self, nodes: Sequence[int]) -> Rests:
        """Where these nodes rest; only what becomes a joint, or stands above one, is ever asked for."""
        found = []
        for node in nodes:
            translation, rotation, scale, sheared = _rest(self._parts[node])
            found.append((translation, rotation, scale))
            if sheared:
                self._sheared.add(node)
        columns = zip(*found, strict=True) if found else ((), (), ())
        t, q, s = (np.array(column, np.float64) for column in columns)
        return Rests(t.reshape(-1, 3), q.reshape(-1, 4), s.reshape(-1, 3))

    def warn_sheared(self) -> None:
        """One warning for all matrices that were repaired."""
        if self._sheared:
            first, others = self._parts[min(self._sheared)], len(self._sheared) - 1
            more = f" (and {others} more)" if others else ""
            first.source.warn(f"{first.where}.matrix{more} is sheared, which glTF does not allow; "
                              f"the shear is left out")  # fmt: skip


def read_nodes(json: Part) -> Nodes:
    """The nodes of the file; a cycle, a second parent, a wrong index or number: an error."""
    parts = json.parts("nodes")
    most = NODES_PER_JOINT * json.source.limits.joints
    if len(parts) > most:
        raise LimitError(
            json.source.path,
            f"{len(parts)} nodes, more than the limit of {NODES_PER_JOINT} for each allowed joint; "
            f"if the file is sound, raise it: limits=Limits(joints=...)",
        )
    parents = [-1] * len(parts)
    children = [part.indices("children", len(parts)) for part in parts]
    for i, own in enumerate(children):
        for child in own:
            if parents[child] >= 0:
                raise json.source.error(f"nodes[{child}] hangs on nodes[{parents[child]}] and on nodes[{i}], "
                                        f"expected one parent")  # fmt: skip
            parents[child] = i
    order = _depth_first(parents, children)
    if len(order) < len(parts):
        i = min(set(range(len(parts))) - set(order))
        raise json.source.error(f"nodes[{i}] is its own ancestor or hangs on such a node, expected a tree")
    return Nodes([part.text("name") if "name" in part else None for part in parts], parents, order, parts)


def _depth_first(parents: list[int], children: list[list[int]]) -> list[int]:
    order = []
    todo = [i for i in reversed(range(len(parents))) if parents[i] < 0]
    while todo:
        i = todo.pop()
        order.append(i)
        todo += reversed(children[i])
    return order


def _rest(part: Part) -> tuple[Floats, Floats, Floats, bool]:
    """Translation, rotation (wxyz) and scale of one node, and whether shear was left out."""
    if "matrix" in part:
        return _take_apart(part, part.floats("matrix", _IDENTITY).reshape(4, 4).T)
    xyzw = part.floats("rotation", _NO_TURN)
    length = np.linalg.norm(xyzw)
    if length < 1e-6:
        raise part.wrong("rotation", "a quaternion (xyzw) of length 1")
    return part.floats("translation", _NO_SHIFT), np.roll(xyzw / length, 1), part.floats("scale", _NO_SCALE), False


def _take_apart(part: Part, matrix: Floats) -> tuple[Floats, Floats, Floats, bool]:
    """A node's matrix (4, 4), column vectors, as translation, rotation and scale, and whether it was sheared."""
    if not np.allclose(matrix[3], (0.0, 0.0, 0.0, 1.0), atol=1e-6):
        raise part.wrong("matrix", "0 0 0 1 as its last row (every fourth number)")
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) < 0:
        scale[0] = -scale[0]  # a mirror image: which axis is mirrored is free to choose
    axes = np.divide(linear, scale, out=np.zeros((3, 3)), where=scale != 0)
    rotation = nearest_rotation(axes)
    sheared = bool(scale.all() and np.abs(axes - rotation).max() > SHEAR_TOLERANCE)
    return matrix[:3, 3], from_matrix(rotation), scale, sheared


def nearest_rotation(linear: Floats) -> Floats:
    """The rotation matrices (..., 3, 3) nearest to ``linear``, mirrored ones with their first axis turned round."""
    mirrored = np.linalg.det(linear) < 0
    unmirrored = np.where(mirrored[..., None, None], linear * np.array((-1.0, 1.0, 1.0)), linear)
    u, _, vt = np.linalg.svd(unmirrored)
    # Where an axis is squashed to nothing, its direction is free: it takes what keeps the rest a rotation.
    u[..., :, 2] *= np.where(np.linalg.det(u @ vt) < 0, -1.0, 1.0)[..., None]
    rotation: Floats = u @ vt
    return rotation
