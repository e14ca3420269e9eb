"""Write a keyed motion to .blend: F-curves with exactly its keys and handles, and the residual as a layer above them.

The figure is upright and in metres; frame 0 is frame 1 of Blender, the first frame of its scenes. The whole keyed
motion is added as ``.keys.json`` text, so that reading the file back is lossless.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.errors import OptionError, format_count
from keypose.formats import keys_json
from keypose.formats.base import BLENDER_PYTHONS, BLENDER_VARIABLE, BLENDER_VERSIONS, Extra, SaveOptions
from keypose.formats.blend.rig import Rig, build_rig
from keypose.formats.figure import SIDE_COLOURS, linear_colour
from keypose.formats.local_poses import key_every_frame
from keypose.formats.orientation import metres_per_unit, prepend_pose
from keypose.formats.subprocess_readers import (
    Arrays,
    ExternalLibrary,
    Facts,
    write_in_subprocess,
)
from keypose.model import Curves, KeyedMotion, Motion
from keypose.model.keyed_motion import SpanPosition
from keypose.rotations import AXES, align_signs, conjugate, multiply, normalise, rotate, to_euler, unwrap_euler

FIRST_FRAME = 1  # Blender's frame number of frame 0
VERSION = 1
START_BYTES = 4 << 30  # address space that Blender needs at start
MIN_SECONDS, SECONDS_PER_KEY = 120.0, 2e-5
MAX_FRAMES = 1_048_574
MAX_FPS = 30_000  # Blender's rate is a whole number over a factor
MAX_NAME_CHARS = 50  # Blender truncates names at 63 bytes
MIN_MOVEMENT_OF_SIZE = 1e-7  # smaller movements, as a fraction of the height of the figure, are ignored
KEY_TYPES = ["BREAKDOWN", "EXTREME", "KEYFRAME"]
EXTRA = Extra("blender", "bpy", BLENDER_VARIABLE, BLENDER_PYTHONS)
_BLENDER = ExternalLibrary("Blender", "blend_writer.py", START_BYTES, "writing .blend", EXTRA, BLENDER_VERSIONS)


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a .blend file with a key on every frame."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = prepend_pose(motion, motion.reference_pose)
    return _write(key_every_frame(motion), motion, suffix, is_dense=True)


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a .blend file with the keys unchanged and the residual, if there is one, as a muted layer."""
    if options.reference_pose and keyed.reference_pose is not None:
        raise OptionError(
            "the reference pose of a keyed motion is kept in the .blend file, but not as a frame",
            subject=keyed.name,
            hint="for a first frame of it, save keyed.sample()",
        )
    return _write(keyed, keyed.sample(), suffix, is_dense=False)


def _write(keyed: KeyedMotion, motion: Motion, suffix: str, *, is_dense: bool) -> bytes:
    python = _BLENDER.find_python()
    is_euler = keyed.rotation_orders is not None
    rig = build_rig(motion, metres_per_unit(motion), along_limbs=not is_euler, keep_angles=is_euler)
    request, arrays = build_scene(keyed, rig, first_frame=FIRST_FRAME, blender_unit_m=1.0)
    if keyed.residual is not None:
        arrays |= _residual_arrays(keyed, rig)
    if is_dense:
        arrays["key_types"] = np.full(keyed.n_keys, KEY_TYPES.index("KEYFRAME"))
    write_keys_json = keys_json.FORMAT.write_keyed
    assert write_keys_json is not None
    request |= {
        "format": "blend",
        "draw_limbs": is_euler,
        "text_name": f"{request['name']}.keys.json",
        "text": write_keys_json(_keep_first_key(keyed) if is_dense else keyed, ".keys.json", SaveOptions()).decode(),
        "notes": {
            "version": VERSION,
            "first_frame": FIRST_FRAME,
            "metres_per_unit": rig.scale,
            "is_dense": is_dense,
            "rest_translations": rig.rest.translations.tolist(),
            "rest_rotations": rig.rest.rotations.tolist(),
        },
    }
    keys = keyed.n_keys + (keyed.n_frames if keyed.residual is not None else 0)
    seconds = MIN_SECONDS + SECONDS_PER_KEY * keys * keyed.n_joints * 7
    return write_in_subprocess(keyed.name, _BLENDER, python, suffix, request, arrays, seconds)


def build_scene(keyed: KeyedMotion, rig: Rig, *, first_frame: int, blender_unit_m: float) -> tuple[Facts, Arrays]:
    """Return the request and arrays for the writer script: the rig, its keys, the scene's rate, range and unit."""
    if first_frame + keyed.n_frames > MAX_FRAMES:
        raise OptionError(
            f"{format_count(keyed.n_frames, 'frame')}, Blender counts to {MAX_FRAMES}",
            subject=keyed.name,
            value=keyed.n_frames,
            hint="save it in parts",
        )
    whole_fps = min(max(round(keyed.fps), 1), MAX_FPS)
    rotations, translations = keyed.rotations, keyed.translations
    # Keypose interpolates by the shorter rotation, whatever the signs are.
    if not keyed.is_cubic and keyed.rotation_orders is None:
        rotations = rotations.with_values(align_signs(rotations.values))
    request: Facts = {
        "name": valid_text(keyed.name)[:MAX_NAME_CHARS] or "motion",
        "names": [valid_text(name) or "joint" for name in keyed.skeleton.names],
        "parents": keyed.skeleton.parents.tolist(),
        "sides": rig.sides,
        "materials": {side: linear_colour(SIDE_COLOURS[side]) for side in rig.body.triangles},
        "fps": whole_fps,
        "fps_base": whole_fps / keyed.fps,
        "first": first_frame,
        "frames": keyed.n_frames,
        "metres": blender_unit_m,
        "draw_limbs": False,
        "rotation_mode": "QUATERNION" if keyed.rotation_orders is None else "EULER",
        "rotation_orders": keyed.rotation_orders,
        "key_types": KEY_TYPES,
        "curve_members": ["values", "in_tangents", "out_tangents"] if keyed.is_cubic else ["values"],
    }
    arrays = rig.arrays() | {
        "keys": keyed.keys,
        "key_types": np.where(keyed.extremes, KEY_TYPES.index("EXTREME"), KEY_TYPES.index("BREAKDOWN")),
        "is_moving": _moving_joints(keyed, rig),
    }
    arrays |= {"rotations_is_key": rotations.key_flags(), "translations_is_key": translations.key_flags()}
    for member in request["curve_members"]:
        arrays[f"rotations_{member}"] = order_by_axis(getattr(rotations, member), keyed.rotation_orders)
        arrays[f"translations_{member}"] = getattr(translations, member) * rig.scale
    return request, arrays


def order_by_axis(values: Floats, rotation_orders: tuple[str, ...] | None) -> Floats:
    """Return Euler angles (..., J, 3) in the order of their axes X, Y, Z; quaternions unchanged."""
    if rotation_orders is None:
        return values
    columns = np.array([[order.index(axis) for axis in AXES] for order in rotation_orders])
    return np.take_along_axis(values, np.broadcast_to(columns, values.shape), axis=-1)


def valid_text(name: str) -> str:
    """Return a name without lone surrogates, which Blender rejects."""
    return name.encode("utf-8", "replace").decode()


def _moving_joints(keyed: KeyedMotion, rig: Rig) -> Bools:
    """Return a mask (J,) of the joints that need location curves: roots, and joints that leave their rest position."""
    distances = np.abs(keyed.translations.values - rig.rest.translations).max(axis=(0, 2))
    is_moving: Bools = (distances > MIN_MOVEMENT_OF_SIZE * _rig_size(rig)) | ~keyed.translations.still_joints()
    is_moving[list(keyed.skeleton.roots)] = True
    return is_moving


def _rig_size(rig: Rig) -> float:
    return float(np.ptp(np.concatenate((rig.heads, rig.tails)), axis=0).max()) / rig.scale


def _keep_first_key(keyed: KeyedMotion) -> KeyedMotion:
    """Return ``keyed`` with only its first key, as the movement is in the F-curves."""
    first = slice(0, 1)
    return replace(
        keyed,
        keys=keyed.keys[first],
        translations=Curves(keyed.translations.values[first]),
        rotations=Curves(keyed.rotations.values[first]),
        extremes=keyed.extremes[first],
    )


def _residual_arrays(keyed: KeyedMotion, rig: Rig) -> Arrays:
    """Return the rotation and translation, in each bone's own axes, that restore the original on every frame."""
    original, orders = keyed.sample(residual=1.0), keyed.rotation_orders
    position = SpanPosition.locate(keyed.keys, np.arange(keyed.n_frames, dtype=np.float64))
    base = keyed.sample().rotations
    if not keyed.is_cubic and orders is None:  # Blender interpolates the components linearly
        base = normalise(replace(keyed.rotations, values=align_signs(keyed.rotations.values)).at(position))
    rotations = multiply(conjugate(base), original.rotations)
    rotations *= np.where(rotations[..., :1] < 0, -1.0, 1.0)
    translations = rotate(conjugate(base), original.translations - keyed.translations.at(position))
    is_rotating = np.abs(rotations[..., 1:]).max(axis=(0, 2)) > MIN_MOVEMENT_OF_SIZE
    if orders is not None:  # the residual has the same rotation mode as the keys
        angles = np.stack([to_euler(rotations[:, j], order) for j, order in enumerate(orders)], axis=1)
        rotations = order_by_axis(unwrap_euler(angles), orders)
    return {
        "residual_rotations": rotations,
        "residual_is_rotating": is_rotating,
        "residual_translations": translations * rig.scale,
        "residual_is_moving": np.abs(translations).max(axis=(0, 2)) > MIN_MOVEMENT_OF_SIZE * _rig_size(rig),
    }
