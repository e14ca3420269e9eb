"""Poses of keys: read and set them, offset them, rotate joints, move the figure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose import kinematics
from keypose.arrays import Floats, Ints, freeze
from keypose.curves.edit.change import (
    Change,
    JointCurve,
    JointCurves,
    affected_frames,
    check_vector,
    find_key,
    parse_rotation,
)
from keypose.curves.edit.directions import angle_tangents, make_continuous, nearest_angles, quaternion_tangents
from keypose.curves.edit.keys import add_joint_keys
from keypose.errors import OptionError, format_count
from keypose.kinematics import up_axis
from keypose.model import Curves, KeyedMotion, Pose, Skeleton
from keypose.rotations import conjugate, exp, from_euler, log, multiply, normalise, rotate
from keypose.validation import check_bool, check_choice, check_number

RECOMMENDED_SPREAD_S = 0.5
Indices = NDArray[np.intp]

Space: TypeAlias = Literal["local", "parent", "world"]
SPACES: tuple[Space, ...] = get_args(Space)


class WorldPose(NamedTuple):
    """One or many poses in world space."""

    positions: Floats  # (..., J, 3) file units
    rotations: Floats  # (..., J, 4) wxyz


def key_world_pose(keyed: KeyedMotion, key: int) -> WorldPose:
    """Return the pose of one key in the world."""
    return world_pose(keyed.skeleton, key_pose(keyed, key))


def key_pose(keyed: KeyedMotion, key: int) -> Pose:
    """Return the pose of one key."""
    return keyed.pose(float(keyed.keys[key]))


def world_pose(skeleton: Skeleton, pose: Pose) -> WorldPose:
    """Return a pose of ``skeleton`` in the world."""
    positions, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return WorldPose(positions[0], rotations[0])


def paste(
    keyed: KeyedMotion,
    frame: Any,
    pose: Pose,
    *,
    joints: str | tuple[str, ...] | list[str] = "all",
    keep_position: bool = True,
    spread_s: float = 0.0,
) -> Change:
    """Return a change that sets the pose of the key at ``frame``, or some joints of it.

    With ``keep_position`` the position of the hips on the ground does not change; their height and rotation do.
    """
    key, indices = find_key(keyed, frame), list(keyed.skeleton.joints(joints))
    if not isinstance(pose, Pose):
        raise OptionError(f"{type(pose).__name__} is no pose", hint="edit.copy(frame) or motion[frame] is one")
    if len(pose.translations) != keyed.n_joints:
        raise OptionError(f"a pose of {format_count(len(pose.translations), 'joint')}", expected=f"{keyed.n_joints}")
    old_pose = key_pose(keyed, key)
    translations, rotations = old_pose.translations.copy(), old_pose.rotations.copy()
    translations[indices], rotations[indices] = pose.translations[indices], pose.rotations[indices]
    roots = [root for root in keyed.skeleton.roots if root in indices]
    if check_bool("keep_position", keep_position) and roots:
        new_positions = world_pose(keyed.skeleton, Pose(translations, rotations)).positions
        shift = new_positions - key_world_pose(keyed, key).positions
        correction = -shift[base_joints(keyed.skeleton)].mean(axis=0)
        correction[up_axis(keyed.up)[0]] = 0.0
        translations[roots] += correction
    return set_pose(keyed, key, Pose(translations, rotations), spread_s=spread_s)


def set_pose(keyed: KeyedMotion, key: int, pose: Pose, *, spread_s: float = 0.0) -> Change:
    """Return a change that sets the pose of a key; joints that do not change are exact copies."""
    old_pose = key_pose(keyed, key)
    is_same = (old_pose.rotations == pose.rotations).all(axis=1) | (old_pose.rotations == -pose.rotations).all(axis=1)
    rotation_vectors = np.where(is_same[:, None], 0.0, log(multiply(conjugate(old_pose.rotations), pose.rotations)))
    return offset_key(
        keyed,
        key,
        rotation_vectors=rotation_vectors,
        shifts=pose.translations - old_pose.translations,
        spread_s=spread_s,
    )


def base_joints(skeleton: Skeleton) -> list[int]:
    """Return the joints that define the position of a figure: its hips, or else its roots."""
    body_parts = skeleton.anatomy.body_parts
    return [body_parts.index("hips")] if "hips" in body_parts else list(skeleton.roots)


def offset_key(
    keyed: KeyedMotion,
    key: int,
    *,
    rotation_vectors: Floats | None = None,
    shifts: Floats | None = None,
    in_parent: bool = False,
    spread_s: float = 0.0,
) -> Change:
    """Return ``keyed`` with joints rotated and shifted at one key and, with a smooth falloff, at keys around it.

    ``rotation_vectors`` (J, 3) are in the joints' own frames or, with ``in_parent``, in their parents'; ``shifts`` (J,
    3) are added to local translations. With ``d(t)`` the share of the change at time t, curves become ``q(t) d(t)``:
    tangents rotate with the values, and those of the falloff are added. Joints without a rotation or shift do not
    change. A joint with keys of its own that has none there gets one.
    """
    if keyed.is_per_joint:
        return _offset_joints(keyed, key, rotation_vectors, shifts, in_parent=in_parent, spread_s=spread_s)
    keys, shares, share_rates = falloff(keyed.keys, int(keyed.keys[key]), keyed.fps, spread_s)
    rotations, translations = keyed.rotations, keyed.translations
    if rotation_vectors is not None and rotation_vectors.any():
        joints = np.flatnonzero(rotation_vectors.any(axis=1))
        rotations = _offset_rotations(
            rotations, keyed.rotation_orders, keyed.keys, keys, joints, shares, share_rates,
            rotation_vectors[joints], in_parent,
        )  # fmt: skip
    if shifts is not None and shifts.any():
        joints = np.flatnonzero(shifts.any(axis=1))
        translations = _shift_curves(translations, keys, joints, shares, share_rates, shifts[joints])
    first, last = affected_frames(keyed, int(keys[0]), int(keys[-1]))
    return Change(replace(keyed, rotations=rotations, translations=translations), first, last)


def _offset_joints(
    keyed: KeyedMotion,
    key: int,
    rotation_vectors: Floats | None,
    shifts: Floats | None,
    *,
    in_parent: bool,
    spread_s: float,
) -> Change:
    """Return the same for joints with keys of their own: those that change get a key, and each its falloff."""
    frame = int(keyed.keys[key])
    nothing = np.zeros((keyed.n_joints, 3))
    vectors, moves = (nothing if each is None else each for each in (rotation_vectors, shifts))
    turned, moved = (np.flatnonzero(each.any(axis=1)).tolist() for each in (vectors, moves))
    change = add_joint_keys(keyed, frame, turned, moved)
    before = JointCurves.of(change.keyed)
    ranges = [(change.first, change.last)]

    def offset(joint: int, curve: JointCurve, *, is_rotation: bool) -> JointCurve:
        keys, shares, rates = falloff(curve.frames, frame, keyed.fps, spread_s)
        ranges.append(
            curve.neighbours(int(curve.frames[keys[0]]), keyed.n_frames)[:1]
            + curve.neighbours(int(curve.frames[keys[-1]]), keyed.n_frames)[1:]
        )
        only = np.array([0])
        if is_rotation:
            orders = None if keyed.rotation_orders is None else (keyed.rotation_orders[joint],)
            curves = _offset_rotations(
                curve.curves, orders, curve.frames, keys, only, shares, rates, vectors[[joint]], in_parent
            )
        else:
            curves = _shift_curves(curve.curves, keys, only, shares, rates, moves[[joint]])
        return JointCurve(curve.frames, curves)

    rotations, translations = list(before.rotations), list(before.translations)
    for joint in turned:
        rotations[joint] = offset(joint, rotations[joint], is_rotation=True)
    for joint in moved:
        translations[joint] = offset(joint, translations[joint], is_rotation=False)
    after = JointCurves(rotations, translations).build(change.keyed, change.keyed.keys[change.keyed.extremes])
    return Change(after, min(first for first, _ in ranges), max(last for _, last in ranges))


def _offset_rotations(
    curves: Curves,
    rotation_orders: tuple[str, ...] | None,
    frames: Ints,
    keys: Indices,
    joints: Indices,
    shares: Floats,
    share_rates: Floats,
    rotation_vectors: Floats,
    in_parent: bool,
) -> Curves:
    """Return rotations with shares (n,) of ``rotation_vectors`` (m, 3) added at keys (n,) of joints (m,).

    ``frames`` are those of all keys, ``share_rates`` the derivatives of the shares.
    """
    offsets = exp(shares[:, None, None] * rotation_vectors)
    offset_rates = multiply(_pure_quaternion(0.5 * share_rates[:, None, None] * rotation_vectors), offsets)
    if rotation_orders is not None:
        return _rotate_euler_curves(curves, rotation_orders, keys, joints, offsets, offset_rates, in_parent)
    rotated = _rotate_curves(curves, keys, joints, offsets, offset_rates, in_parent)
    return make_continuous(curves, rotated, frames, keys, joints)


def falloff(key_frames: Ints, frame: int, fps: float, spread_s: float) -> tuple[Indices, Floats, Floats]:
    """Return the keys (n,) within ``spread_s`` of the one at ``frame``, the share (n,) of a change there, and its
    derivative (n,).

    The share is ``(1 - x^2)^2`` at the fraction x of the window: 1 at the key, with zero derivative there and at the
    ends of the window. The derivative is per frame.
    """
    window = check_number("spread_s", spread_s, min_value=0.0) * fps
    distance = (key_frames - frame).astype(np.float64)
    if window <= 0:
        return np.flatnonzero(distance == 0), np.ones(1), np.zeros(1)
    keys = np.flatnonzero(np.abs(distance) < window)
    x = distance[keys] / window
    return keys, (1 - x * x) ** 2, -4 * x * (1 - x * x) / window


def _rotate_curves(
    curves: Curves, keys: Indices, joints: Indices, offsets: Floats, offset_rates: Floats, in_parent: bool
) -> Curves:
    """Return quaternion curves times ``offsets`` (n, m, 4), with ``offset_rates`` (n, m, 4), at some keys of joints."""
    selected = np.ix_(keys, joints)
    old_values = curves.values[selected]

    def compose(a: Floats, b: Floats) -> Floats:
        return multiply(b, a) if in_parent else multiply(a, b)

    values = _copy_with(curves.values, selected, normalise(compose(old_values, offsets)))
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    sides = (
        _copy_with(tangents, selected, compose(tangents[selected], offsets) + compose(old_values, offset_rates))
        for tangents in (curves.in_tangents, curves.out_tangents)
    )
    return Curves(values, *sides)


def _rotate_euler_curves(
    curves: Curves,
    orders: tuple[str, ...],
    keys: Indices,
    joints: Indices,
    offsets: Floats,
    offset_rates: Floats,
    in_parent: bool,
) -> Curves:
    """Return the same for curves of Euler angles, by way of quaternions; the nearest angles are chosen."""
    values = curves.values
    in_tangents, out_tangents = curves.in_tangents, curves.out_tangents
    for column, j in enumerate(joints.tolist()):
        order, selected = orders[j], np.ix_(keys, [j])
        old_angles = curves.values[keys, j]
        tangents = [
            s if s is None else quaternion_tangents(old_angles, s[keys, j], order)[:, None]
            for s in (in_tangents, out_tangents)
        ]
        quaternions = Curves(from_euler(old_angles, order)[:, None], *tangents)
        columns = slice(column, column + 1)
        rotated = _rotate_curves(
            quaternions, np.arange(len(keys)), np.array([0]), offsets[:, columns], offset_rates[:, columns], in_parent
        )
        angles = nearest_angles(rotated.values[:, 0], order, old_angles)
        values = _copy_with(values, selected, angles[:, None])
        if in_tangents is not None and rotated.in_tangents is not None:
            in_tangents = _copy_with(
                in_tangents, selected, angle_tangents(angles, rotated.in_tangents[:, 0], order)[:, None]
            )
        if out_tangents is not None and rotated.out_tangents is not None:
            out_tangents = _copy_with(
                out_tangents, selected, angle_tangents(angles, rotated.out_tangents[:, 0], order)[:, None]
            )
    return Curves(values, in_tangents, out_tangents)


def _shift_curves(
    curves: Curves, keys: Indices, joints: Indices, shares: Floats, rates: Floats, shifts: Floats
) -> Curves:
    selected = np.ix_(keys, joints)
    values = _copy_with(curves.values, selected, curves.values[selected] + shares[:, None, None] * shifts)
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    sides = (
        _copy_with(tangents, selected, tangents[selected] + rates[:, None, None] * shifts)
        for tangents in (curves.in_tangents, curves.out_tangents)
    )
    return Curves(values, *sides)


def _copy_with(array: Floats, indices: tuple[Indices, ...], values: Floats) -> Floats:
    """Return a copy of ``array`` with ``values`` at ``indices``."""
    copy = array.copy()
    copy[indices] = values
    return freeze(copy)


def _pure_quaternion(v: Floats) -> Floats:
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)


def rotate_joint(
    keyed: KeyedMotion,
    frame: Any,
    joint: str,
    *,
    euler_degrees: ArrayLike | None = None,
    order: str = "XYZ",
    axis: ArrayLike | None = None,
    degrees: float | None = None,
    quaternion: ArrayLike | None = None,
    space: Space = "local",
    spread_s: float = 0.0,
) -> Change:
    """Rotate a joint at the key at ``frame`` about its own axes, those of its parent or of the world, by at most half a
    turn.

    The rotation is ``euler_degrees`` (3,) in intrinsic ``order``, ``degrees`` about ``axis`` (3,), or a ``quaternion``
    (4,). The rotation that is spread over other keys is that in the frame of the parent at this key.
    """
    check_choice("space", space, SPACES)
    key, j = find_key(keyed, frame), keyed.skeleton.joint(joint)
    rotation_vector = parse_rotation(euler_degrees, order, axis, degrees, quaternion)
    parent = int(keyed.skeleton.parents[j])
    if space == "world" and parent >= 0:
        rotation_vector = rotate(conjugate(key_world_pose(keyed, key).rotations[parent]), rotation_vector)
    rotation_vectors = np.zeros((keyed.n_joints, 3))
    rotation_vectors[j] = rotation_vector
    return offset_key(keyed, key, rotation_vectors=rotation_vectors, in_parent=space != "local", spread_s=spread_s)


def shift(
    keyed: KeyedMotion,
    frame: Any,
    *,
    by: ArrayLike | None = None,
    to: ArrayLike | None = None,
    spread_s: float = 0.0,
) -> Change:
    """Move the pose of the key at ``frame`` ``by`` an offset (3,), or so that the hips are at ``to`` (3,).

    Both are in the world, in file units.
    """
    key = find_key(keyed, frame)
    if (by is None) == (to is None):
        raise OptionError(expected="one of by= and to=")
    if by is not None:
        offset = check_vector("by", by)
    else:
        offset = check_vector("to", [] if to is None else to) - key_world_pose(keyed, key).positions[
            base_joints(keyed.skeleton)
        ].mean(axis=0)
    shifts = np.zeros((keyed.n_joints, 3))
    shifts[list(keyed.skeleton.roots)] = offset
    return offset_key(keyed, key, shifts=shifts, spread_s=spread_s)
