"""The node hierarchy of a glTF file: checked to be a forest, with decomposed matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import LimitError, format_count
from keypose.formats.base import Source
from keypose.formats.json_document import JsonArray, JsonObject
from keypose.limits import limit_hint
from keypose.rotations import conjugate, from_matrix, multiply, rotate, to_matrix

NODES_PER_JOINT = 10  # maximum nodes per joint of the limit, as a scene may contain more than the figure
SHEAR_TOLERANCE = 1e-3  # of a unit axis; exporters round, and glTF allows no shear
_NO_TRANSLATION, _NO_ROTATION, _NO_SCALE = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
_IDENTITY = tuple(np.eye(4).ravel().tolist())

SAME_SCALE = 5e-5  # relative difference of equal scales, as exporters write 0.99997 for 1
# Memory bounds of the general case: for the poses of all joints of a block of frames, and for its temporaries.
_BLOCK_BYTES, _BYTES_PER_POSE = 48 << 20, 128
_BLOCK_FRAMES = 1024
# The search for rotations whose sheared axes are nearest to given ones.
SCALE_STEPS, SCALE_TOLERANCE = 20, 1e-12


@dataclass(frozen=True)
class RestTransforms:
    """Rest transforms of nodes, relative to their parents."""

    translations: Floats  # (N, 3)
    rotations: Floats  # (N, 4) unit wxyz
    scales: Floats  # (N, 3)


@dataclass(frozen=True)
class Nodes:
    """The hierarchy of all nodes, in file order."""

    names: list[str | None]
    parents: list[int]  # -1: none
    order: list[int]  # depth first, parents before children
    _entries: JsonArray
    _sheared: set[int] = field(default_factory=set)  # of the nodes that were read

    def rest_transforms(self, nodes: Sequence[int]) -> RestTransforms:
        """Return the rest transforms of these nodes; only those of joints and their ancestors are read."""
        rows = []
        for node in nodes:
            translation, rotation, scale, is_sheared = _read_rest(self._entries[node])
            rows.append((translation, rotation, scale))
            if is_sheared:
                self._sheared.add(node)
        columns = zip(*rows, strict=True) if rows else ((), (), ())
        t, q, s = (np.array(column, np.float64) for column in columns)
        return RestTransforms(t.reshape(-1, 3), q.reshape(-1, 4), s.reshape(-1, 3))

    def warn_sheared(self) -> None:
        """Emit one warning for all matrices that were repaired."""
        if self._sheared:
            first, others = self._entries[min(self._sheared)], len(self._sheared) - 1
            more = f" (and {others} more)" if others else ""
            first.source.warn(f"{first.location}.matrix{more} is sheared, which glTF does not allow; "
                              f"the shear is left out", code="sheared", value=len(self._sheared))  # fmt: skip


def read_nodes(json: JsonObject) -> Nodes:
    """Read the nodes of the file; raise FormatError for a cycle, a second parent, a wrong index or number."""
    entries = json.objects("nodes")
    max_nodes = NODES_PER_JOINT * json.source.limits.joints
    if len(entries) > max_nodes:
        raise LimitError(
            json.source.path,
            f"{format_count(len(entries), 'node')}, more than the limit of {NODES_PER_JOINT} for each allowed joint",
            value=len(entries),
            hint=limit_hint("joints"),
        )
    parents = [-1] * len(entries)
    children = [entry.indices("children", len(entries)) for entry in entries]
    for i, child_nodes in enumerate(children):
        for child in child_nodes:
            if parents[child] >= 0:
                raise json.source.error(
                    f"nodes[{child}] hangs on nodes[{parents[child]}] and on nodes[{i}]",
                    code="inconsistent",
                    value=child,
                    expected="one parent",
                )
            parents[child] = i
    order = _depth_first(parents, children)
    if len(order) < len(entries):
        i = min(set(range(len(entries))) - set(order))
        raise json.source.error(
            f"nodes[{i}] is its own ancestor or hangs on such a node",
            code="inconsistent",
            value=i,
            expected="a tree",
        )
    names = [entry.text("name") if "name" in entry else None for entry in entries]
    return Nodes(names, parents, order, entries)


def _depth_first(parents: list[int], children: list[list[int]]) -> list[int]:
    order = []
    stack = [i for i in reversed(range(len(parents))) if parents[i] < 0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(children[i])
    return order


def _read_rest(entry: JsonObject) -> tuple[Floats, Floats, Floats, bool]:
    """Return translation, rotation (wxyz) and scale of one node, and whether shear was dropped."""
    if "matrix" in entry:
        return _decompose_matrix(entry, entry.floats("matrix", _IDENTITY).reshape(4, 4).T)
    xyzw = entry.floats("rotation", _NO_ROTATION)
    length = np.linalg.norm(xyzw)
    if length < 1e-6:
        raise entry.member_error("rotation", "a quaternion (xyzw) of length 1")
    return (
        entry.floats("translation", _NO_TRANSLATION),
        np.roll(xyzw / length, 1),
        entry.floats("scale", _NO_SCALE),
        False,
    )


def _decompose_matrix(entry: JsonObject, matrix: Floats) -> tuple[Floats, Floats, Floats, bool]:
    """Return translation, rotation and scale of a matrix (4, 4) for column vectors, and whether it was sheared."""
    if not np.allclose(matrix[3], (0.0, 0.0, 0.0, 1.0), atol=1e-6):
        raise entry.member_error("matrix", "0 0 0 1 as its last row (every fourth number)")
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) < 0:
        scale[0] = -scale[0]  # the matrix is mirrored; any axis can be negated
    axes = np.divide(linear, scale, out=np.zeros((3, 3)), where=scale != 0)
    rotation = nearest_rotation(axes)
    is_sheared = bool(scale.all() and np.abs(axes - rotation).max() > SHEAR_TOLERANCE)
    return matrix[:3, 3], from_matrix(rotation), scale, is_sheared


def nearest_rotation(linear: Floats) -> Floats:
    """Return the rotation matrices (..., 3, 3) nearest to ``linear``; mirrored ones with their first axis negated."""
    mirrored = np.linalg.det(linear) < 0
    unmirrored = np.where(mirrored[..., None, None], linear * np.array((-1.0, 1.0, 1.0)), linear)
    u, _, vt = np.linalg.svd(unmirrored)
    # The direction of an axis of scale 0 is arbitrary; it is chosen such that the matrix is a rotation.
    u[..., :, 2] *= np.where(np.linalg.det(u @ vt) < 0, -1.0, 1.0)[..., None]
    rotation: Floats = u @ vt
    return rotation


@dataclass(frozen=True)
class LocalPoses:
    """Local transforms of the joints at each frame; made rigid in place."""

    parents: list[int]
    bases: dict[int, Floats]  # for each root: (4, 4) world matrix of its parent
    translations: Floats  # (F, J, 3)
    rotations: Floats  # (F, J, 4) unit wxyz
    scales: list[Floats]  # for each joint: (1, 3) if it is constant, else (F, 3)


def make_rigid(source: Source, poses: LocalPoses) -> None:
    """Remove scales and bases from ``poses`` in place; world positions do not change."""
    with np.errstate(over="ignore", invalid="ignore"):
        factors = uniform_scale_factors(poses)
        if factors is not None:
            apply_uniform_scale(poses, factors)
        else:
            source.note(
                "joints are scaled unevenly, mirrored or in time; positions follow it, rotations are the nearest"
            )
            step = min(_BLOCK_FRAMES, max(1, _BLOCK_BYTES // (_BYTES_PER_POSE * len(poses.parents))))
            for start in range(0, len(poses.translations), step):
                _apply_general_scale(source, poses, slice(start, start + step))
    if not np.isfinite(poses.translations).all():
        raise source.error("positions grow beyond all bounds", code="bad_number", expected="finite ones")


def uniform_scale_factors(poses: LocalPoses) -> list[float] | None:
    """Return the factor of each joint's translation if every scale is uniform, positive and constant; else None."""
    factors: list[float] = []
    inner = set(poses.parents)
    own_scales = [1.0] * len(poses.parents)
    for j, parent in enumerate(poses.parents):
        if parent >= 0:
            factors.append(factors[parent] * own_scales[parent])
        else:
            linear = poses.bases[j][:3, :3]
            factors.append(float(np.cbrt(np.linalg.det(linear))))
            if not factors[j] > 0:
                return None
            if np.abs(linear.T @ linear / factors[j] ** 2 - np.eye(3)).max() > SAME_SCALE:
                return None
        if j in inner:
            scale = poses.scales[j]
            own_scales[j] = float(scale.mean())
            if not own_scales[j] > 0 or np.ptp(scale) > SAME_SCALE * own_scales[j]:
                return None
    return factors


def apply_uniform_scale(poses: LocalPoses, factors: list[float]) -> None:
    """Make poses with uniform scales rigid, in place."""
    for j, parent in enumerate(poses.parents):
        if parent < 0 and (poses.bases[j] != np.eye(4)).any():
            base = poses.bases[j]
            rotation = from_matrix(base[:3, :3] / factors[j])
            poses.translations[:, j] = poses.translations[:, j] @ base[:3, :3].T + base[:3, 3]
            poses.rotations[:, j] = multiply(rotation, poses.rotations[:, j])
        elif parent >= 0 and factors[j] != 1.0:
            poses.translations[:, j] *= factors[j]


def _apply_general_scale(source: Source, poses: LocalPoses, frames: slice) -> None:
    """Make any poses rigid, in place: compute world matrices, then the nearest rigid poses at the same positions."""
    t, q = poses.translations[frames], poses.rotations[frames]
    linears: list[Floats] = []  # (F, 3, 3) world_from_local
    positions: list[Floats] = []  # (F, 3)
    rotations: list[Floats] = []  # (F, 4)
    for j, parent in enumerate(poses.parents):
        parent_linear = linears[parent] if parent >= 0 else poses.bases[j][:3, :3]
        origin = positions[parent] if parent >= 0 else poses.bases[j][:3, 3]
        scale = poses.scales[j] if len(poses.scales[j]) == 1 else poses.scales[j][frames]
        linear = parent_linear @ (to_matrix(q[:, j]) * scale[:, None, :])
        if not np.isfinite(linear).all():
            raise source.error("scales grow beyond all bounds", code="bad_number", expected="finite ones")
        linears.append(linear)
        positions.append(origin + (parent_linear @ t[:, j, :, None])[..., 0])
        rotations.append(from_matrix(nearest_rotation(linear)))
        if parent < 0:
            t[:, j], q[:, j] = positions[j], rotations[j]
        else:
            parent_inverse = conjugate(rotations[parent])
            t[:, j] = rotate(parent_inverse, positions[j] - positions[parent])
            q[:, j] = multiply(parent_inverse, rotations[j])


def remove_general_scale(poses: LocalPoses) -> None:
    """Make rigid poses relative to nodes of any scales, in place: ``make_rigid`` would restore them."""
    positions, rotations = kinematics.forward(np.array(poses.parents, np.int32), poses.translations, poses.rotations)
    linears: list[Floats] = []  # (F or 1, 3, 3) world_from_local
    for j, parent in enumerate(poses.parents):
        linear = linears[parent] if parent >= 0 else poses.bases[j][None, :3, :3]
        origin = positions[:, parent] if parent >= 0 else poses.bases[j][:3, 3]
        poses.translations[:, j] = (np.linalg.pinv(linear) @ (positions[:, j] - origin)[..., None])[..., 0]
        poses.rotations[:, j] = _find_rotations(linear, poses.scales[j], to_matrix(rotations[:, j]))
        linears.append(linear @ (to_matrix(poses.rotations[:, j]) * poses.scales[j][:, None, :]))


def _find_rotations(parent_linear: Floats, scale: Floats, world: Floats) -> Floats:
    """Return the local rotations (F, 4) with which the scaled axes are nearest to the rotations ``world`` (F, 3, 3)."""
    is_mirrored = np.linalg.det(parent_linear) * scale.prod(axis=1) < 0
    flip = np.where(is_mirrored[:, None], np.array((-1.0, 1.0, 1.0)), 1.0) * np.where(scale < 0, -1.0, 1.0)
    local = nearest_rotation(np.linalg.pinv(parent_linear) @ (world * flip[:, None, :]))
    for _ in range(SCALE_STEPS):
        error = np.swapaxes(nearest_rotation(parent_linear @ (local * scale[:, None, :])), 1, 2) @ world
        if np.abs(error - np.eye(3)).max() < SCALE_TOLERANCE:
            break
        local = nearest_rotation(local @ (flip[:, :, None] * error * flip[:, None, :]))
    return from_matrix(local)
