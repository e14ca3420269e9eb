"""Read the present keys of a .blend file that Keypose wrote and an artist may have edited.

The result is exact where Blender's curves are cubics of time, as Keypose writes them. If an artist has moved handles,
or a key but not the handles of its neighbours, a span is the cubic nearest to Blender's frames, with breakdowns if it
is not near enough, and a note states the deviation. For unedited keys the exact numbers that were written are restored,
as Blender rounds to 32 bits. Only the range of the scene is read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import FormatError, ModelError, format_count
from keypose.formats.base import UNBAKE_HINT, Source
from keypose.formats.blend.evaluated_curves import (
    MAX_DEG,
    MAX_MM,
    N_ROTATION_CHANNELS,
    VALUE_TOLERANCE,
    EvaluatedCurves,
    add_breakdowns,
)
from keypose.formats.blend.fcurves import LINEAR, FCurve, common_keys, key_frames
from keypose.formats.blend.keypose_data import KeyposeData, find_keypose_data
from keypose.formats.blend.read import first_frame, frame_rate, read_scene
from keypose.formats.subprocess_readers import Arrays, Facts, read_array
from keypose.model import Curves, KeyedMotion, Motion, Residual
from keypose.options import LoadOptions
from keypose.rotations import ORDERS, angle_between, rotate

MIN_REPORTED_MM, MIN_REPORTED_DEG = 0.1, 0.05
MAX_LISTED_FRAMES = 8
MAX_DEVIATION_OF_SIZE = 1e-3  # a joint farther from its keys is moved by something other than keys
Indices = NDArray[np.intp]
SAME_FRAMES = 1e-6  # frames nearer to each other are the same


def read_keyed(source: Source, options: LoadOptions) -> KeyedMotion:
    """Read the keys of the armature's action."""
    arrays, facts = read_scene(source, options, keys=True)
    keypose_data = find_keypose_data(source, arrays, facts)
    if keypose_data is None:
        raise source.error(
            "a .blend file that Keypose did not write has no keys that it understands",
            code="missing_data",
            hint=UNBAKE_HINT,
        )
    if options.fps is not None:
        raise source.error(
            "the option fps (on the command line --read-fps) is for files that are sampled",
            code="unsupported",
            hint="the keys of a .blend file stand on its own frames",
        )
    try:
        keyed, motion = _build_keyed(source, options, arrays, facts, keypose_data)
        _check_against_scene(source, arrays, motion, keypose_data)
        return replace(keyed, notes=(*keypose_data.keyed.notes, *source.notes))
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def _build_keyed(
    source: Source, options: LoadOptions, arrays: Arrays, facts: Facts, keypose_data: KeyposeData
) -> tuple[KeyedMotion, Motion]:
    """Return the keyed motion, and Blender's evaluation of it on every frame."""
    orders = _read_rotation_orders(source, facts, keypose_data)
    dense = read_array(source, arrays, "values", (None, len(facts["names"]), 7))[:, keypose_data.bones]
    n_frames, n_joints = dense.shape[:2]
    if n_frames == 0:
        raise source.error("no frames", code="missing_data", expected="at least one")
    source.check_size(n_frames, n_joints)
    start = first_frame(facts)
    curves = _read_fcurves(source, arrays, keypose_data, start, width=3 if orders is not None else N_ROTATION_CHANNELS)
    keys, extremes = common_keys(list(curves.values()), n_frames)
    if not len(keys):
        raise source.error("no key on any bone", code="missing_data", expected="at least one")
    all_keys = key_frames(list(curves.values()))
    _warn_unplayed_keys(source, all_keys, n_frames, start)
    is_linear = all((curve.interpolation == LINEAR).all() for curve in curves.values())
    evaluated = EvaluatedCurves.build(keypose_data, orders, curves, dense)
    translations, rotations = evaluated.fit(keys, is_linear)
    keyed = KeyedMotion(
        name=keypose_data.keyed.name,
        skeleton=keypose_data.keyed.skeleton,
        fps=frame_rate(source, options, facts, keypose_data),
        n_frames=n_frames,
        keys=keys,
        translations=translations,
        rotations=rotations,
        rotation_orders=orders,
        extremes=extremes,
        up=keypose_data.keyed.up,
        metres_per_unit=keypose_data.keyed.metres_per_unit,
        first_frame=keypose_data.keyed.first_frame + start - keypose_data.first_frame,
        reference_pose=keypose_data.keyed.reference_pose,
    )
    motion = evaluated.build_motion(keyed)
    keyed = replace(
        keyed, residual=retime_residual(source, keypose_data.keyed, keypose_data.first_frame - start, all_keys, motion)
    )
    keyed = _add_needed_breakdowns(source, keyed, evaluated, motion)
    return keyed if keypose_data.is_dense else _restore_saved_numbers(
        keyed, keypose_data.keyed, start - keypose_data.first_frame
    ), motion


def _read_rotation_orders(source: Source, facts: Facts, keypose_data: KeyposeData) -> tuple[str, ...] | None:
    """Return the Euler order of each joint, which Blender spells reversed; None if all bones use quaternions."""
    modes = facts.get("modes")
    if not isinstance(modes, list) or len(modes) != len(facts["names"]):
        raise source.error("no rotation mode for each bone", code="missing_data")
    modes = [modes[bone] for bone in keypose_data.bones]
    if all(mode == "QUATERNION" for mode in modes):
        return None
    is_unrotated = (
        np.abs(keypose_data.axes[:, 1:]).max() < VALUE_TOLERANCE
        and np.abs(keypose_data.rest.rotations[:, 1:]).max() < VALUE_TOLERANCE
    )
    if is_unrotated and all(isinstance(mode, str) and mode[::-1] in ORDERS for mode in modes):
        return tuple(mode[::-1] for mode in modes)
    raise _changed_mode_error(source, keypose_data.keyed, modes)


def _changed_mode_error(source: Source, saved: KeyedMotion, modes: list[Any]) -> FormatError:
    """Return the error for bones whose rotation mode is not the one that was written, or whose axes do not allow it."""
    orders = saved.rotation_orders
    written = ["QUATERNION"] * len(modes) if orders is None else [order[::-1] for order in orders]
    changed = [joint for joint, mode in enumerate(modes) if mode != written[joint]]
    if not changed:
        return source.error("bones with Euler angles do not rest in the axes of their joints", code="inconsistent")
    joint = changed[0]
    more = f" (and that of {format_count(len(changed) - 1, 'other bone')})" if len(changed) > 1 else ""
    return source.error(
        f"the rotation mode of {saved.skeleton.names[joint]}{more} was changed to {modes[joint]}",
        code="inconsistent",
        expected=f"{written[joint]}, as it was written",
        hint=UNBAKE_HINT,
    )


def _read_fcurves(
    source: Source, arrays: Arrays, keypose_data: KeyposeData, start: int, width: int
) -> dict[tuple[int, int], FCurve]:
    """Return the curves by joint and channel, with frames counted from 0."""
    table = read_array(source, arrays, "keys", (None, 10))
    table[:, 2:8:2] -= start
    joint_of = {bone: joint for joint, bone in enumerate(keypose_data.bones)}
    names, starts = np.unique(table[:, :2], axis=0, return_inverse=True)
    curves = {}
    for k, (bone, channel) in enumerate(names.astype(int).tolist()):
        if bone in joint_of and (0 <= channel < width or N_ROTATION_CHANNELS <= channel < 7):
            curves[joint_of[bone], channel] = FCurve.from_table(table[starts.ravel() == k, 2:])
    return curves


def _warn_unplayed_keys(source: Source, all_keys: NDArray[np.int64], n_frames: int, start: int) -> None:
    """Warn about keys outside the scene's range, which are not read."""
    outside = all_keys[(all_keys < 0) | (all_keys >= n_frames)] + start
    if len(outside):
        first, last = start, start + n_frames - 1
        source.warn(f"{len(outside)} of {len(all_keys)} keys are left out: they lie outside frames {first} to {last}, "
                    f"which the scene plays; for all of them set its range to {min(first, outside[0])} to "
                    f"{max(last, outside[-1])}", code="keys_outside_range", value=len(outside))  # fmt: skip


def _add_needed_breakdowns(
    source: Source, keyed: KeyedMotion, evaluated: EvaluatedCurves, motion: Motion
) -> KeyedMotion:
    """Return ``keyed`` with the breakdowns it needs; add notes about them and about the deviation."""
    refined, deviation = add_breakdowns(keyed, evaluated, motion)
    if refined is not keyed:
        added = np.setdiff1d(refined.keys, keyed.keys).tolist()
        listing = ", ".join(map(str, added[:MAX_LISTED_FRAMES])) + (", ..." if len(added) > MAX_LISTED_FRAMES else "")
        source.note(f"{len(added)} breakdown{'s' * (len(added) > 1)} added (at {listing}): no cubic of time comes "
                    f"within {MAX_MM:g} mm and {MAX_DEG:g} degrees of Blender's curves there")  # fmt: skip
    mm, degrees = float(deviation.mm.max()), float(deviation.degrees.max())
    if mm > MIN_REPORTED_MM or degrees > MIN_REPORTED_DEG:
        reason = (
            "spans that are no cubics of time in Blender (handles not a third of the gap away) are the nearest ones"
            if keyed.is_cubic
            else "straight spans turn evenly here, but not in Blender"
        )
        source.note(f"{reason}: up to {mm:.2g} mm (on a figure of 1.7 m) and {degrees:.2g} degrees off")
    return refined


def _restore_saved_numbers(keyed: KeyedMotion, saved: KeyedMotion, shift: int) -> KeyedMotion:
    """Replace numbers that Blender rounded with the saved ones, for keys that are unchanged."""
    if keyed.rotation_orders != saved.rotation_orders or keyed.is_cubic != saved.is_cubic:
        return keyed
    _, indices, saved_indices = np.intersect1d(keyed.keys + shift, saved.keys, return_indices=True)
    size = max(1.0, float(np.abs(saved.translations.values).max()))
    return replace(
        keyed,
        translations=_restore_curves(keyed, keyed.translations, saved.translations, indices, saved_indices, size),
        rotations=_restore_curves(keyed, keyed.rotations, saved.rotations, indices, saved_indices, 1.0),
    )


def _restore_curves(
    keyed: KeyedMotion, curves: Curves, saved: Curves, indices: Indices, saved_indices: Indices, size: float
) -> Curves:
    before, after = np.diff(keyed.keys, prepend=-1).clip(1), np.diff(keyed.keys, append=keyed.n_frames).clip(1)
    # Blender rounds the frames of handles too, which changes a tangent by this fraction of itself times the gap.
    rounding = 6.0 * float(np.spacing(np.float32(keyed.n_frames)))
    arrays = {}
    for name, gaps in (("values", None), ("in_tangents", before), ("out_tangents", after)):
        numbers, saved_numbers = getattr(curves, name), getattr(saved, name)
        if numbers is not None:
            numbers, saved_numbers = numbers.copy(), saved_numbers[saved_indices]
            reach = np.ones((len(indices), 1, 1)) if gaps is None else gaps[indices, None, None]
            allowed = VALUE_TOLERANCE * size / reach + (
                0.0 if gaps is None else rounding / reach * np.abs(saved_numbers)
            )
            is_same = (np.abs(numbers[indices] - saved_numbers) <= allowed).all(axis=2, keepdims=True)
            numbers[indices] = np.where(is_same, saved_numbers, numbers[indices])
            arrays[name] = numbers
    return replace(curves, **arrays)


def _check_against_scene(source: Source, arrays: Arrays, motion: Motion, keypose_data: KeyposeData) -> None:
    """Warn if something other than keys moves the figure: constraints, other layers, the armature itself."""
    frames = read_array(source, arrays, "checked_frames", (None,))
    if not len(frames) or frames.min() < 0 or frames.max() >= motion.n_frames:
        raise source.error("checked_frames: not the frames that were expected", code="inconsistent")
    positions = read_array(source, arrays, "checked_positions", (len(frames), None, 3))
    if positions.shape[1] <= max(keypose_data.bones):
        raise source.error("checked_positions: not the bones that were expected", code="inconsistent")
    expected = rotate(keypose_data.rotation_to_z_up, motion.world_positions()[frames.astype(int)]) * keypose_data.scale
    distances = np.linalg.norm(expected - positions[:, keypose_data.bones], axis=2).max(axis=0)
    is_displaced = distances > MAX_DEVIATION_OF_SIZE * motion.height * keypose_data.scale
    displaced = [motion.skeleton.names[j] for j in np.flatnonzero(is_displaced)]
    if displaced:
        source.warn(
            f"something else than their keys moves {format_count(len(displaced), 'joint')} "
            f"({', '.join(displaced[:5])}) by up to {distances.max():.3g} m: constraints or other layers, which only "
            "kp.load reads",
            code="other_movement",
            value=len(displaced),
        )


def retime_residual(
    source: Source, saved: KeyedMotion, start: int, keys: NDArray[np.int64], motion: Motion
) -> Residual | None:
    """Return the residual of ``saved`` for ``motion``, the present frames, with ``keys`` (K,) at any frames.

    Frame 0 of ``saved`` is frame ``start`` of ``motion``. If there are as many keys as in ``saved``, but at other
    frames, the residual is moved with them; else it is unknown which keys were moved, and the residual is not moved.
    Adds a note about this.
    """
    if saved.residual is None:
        return None
    saved_keys = saved.keys.astype(np.int64)
    if not np.array_equal(keys, saved_keys + start):
        if _is_same_order(keys, saved_keys + start, saved, motion):
            source.note("the captured detail moves with the keys that were moved in time")
            rate = saved.fps / motion.fps
            return warp_residual(saved.residual, saved_keys.astype(float), keys.astype(float), rate, motion.n_frames)
        source.note("keys were added or deleted: the captured detail stays on its frames")
    return warp_residual(saved.residual, np.zeros(1), np.array([float(start)]), 1.0, motion.n_frames)


def _is_same_order(keys: NDArray[np.int64], old: NDArray[np.int64], saved: KeyedMotion, motion: Motion) -> bool:
    """Return whether the n-th of ``keys`` was the n-th of ``old``.

    The pose of a key at the frame of another old key decides: it is its own pose if all keys were moved, and that of
    the other key if a key was deleted and one added elsewhere.
    """
    if len(keys) != len(old):
        return False
    old_index = {frame: k for k, frame in enumerate(old.tolist())}
    votes = 0
    for k, frame in enumerate(keys.tolist()):
        other = old_index.get(frame, k)
        if other != k and 0 <= frame < motion.n_frames:
            angles = [angle_between(motion.rotations[frame], saved.poses[n].rotations).mean() for n in (k, other)]
            votes += 1 if angles[0] <= angles[1] else -1
    return votes >= 0


def warp_residual(residual: Residual, before: Floats, after: Floats, rate: float, n_frames: int) -> Residual:
    """Return ``residual`` for a motion of ``n_frames`` in which frames ``before`` (A,) have become ``after`` (A,).

    Both are increasing. Before the first and after the last of them one new frame is ``rate`` old frames.
    """
    if rate == 1.0 and np.array_equal(before, after):
        return residual
    # The time map may also have another slope at the start and end of the residual, and at its earlier marks.
    bend_frames = np.array([0.0, len(residual) - 1.0]) if residual.frames is None else residual.frames
    last = n_frames - 1.0
    frames = np.concatenate((after, _warp_frames(bend_frames, before, after, 1.0 / rate), [0.0, last]))
    frames = np.unique(frames[(frames >= 0) & (frames <= last)])
    frames = frames[np.diff(frames, prepend=-1.0) > SAME_FRAMES]
    return residual.retime(np.maximum.accumulate(_warp_frames(frames, after, before, rate)), frames)


def _warp_frames(frames: Floats, old: Floats, new: Floats, rate: float) -> Floats:
    """Map ``frames`` (N,) by the piecewise linear map from ``old`` to ``new``."""
    outside = np.minimum(0.0, frames - old[0]) + np.maximum(0.0, frames - old[-1])
    return np.asarray(np.interp(frames, old, new) + rate * outside)
