"""Keyed motion to .blend: F-curves with exactly our keys and handles, and the residual as a layer above them.

The figure stands upright in metres; our frame 0 is Blender's frame 1, where its scenes begin. What Blender has no
place for goes along as text, the whole keyed motion as ``.keys.json``, by which the file comes back as it went.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.formats import keys_json
from keypose.formats.base import WriteOptions
from keypose.formats.blend.rig import Rig, make_rig
from keypose.formats.child import Arrays, Facts, Library, write_in_child
from keypose.formats.child.blender import interpreter, missing
from keypose.formats.figure.size import metres_per_unit
from keypose.formats.keyed import every_frame_a_key
from keypose.formats.reference import with_first_pose
from keypose.model import Curves, KeyedMotion, Motion
from keypose.model.curves import Place
from keypose.rotations import AXES, conjugate, multiply, normalise, rotate, sign_continuous, to_euler, unwrap_euler

FIRST = 1  # Blender's frame of our frame 0
VERSION = 1
START_BYTES = 4 << 30  # address space that Blender takes before it does anything
LEAST_SECONDS, SECONDS_PER_KEY = 120.0, 2e-5
MOST_FRAMES = 1_048_574
GREATEST_FPS = 30_000  # Blender's rate is a whole number over a factor
LONGEST_NAME = 50  # characters; Blender cuts names at 63 bytes
STILL_OF_SIZE = 1e-7  # what moves less, in parts of the figure's height, does not move
KEY_TYPES = ["BREAKDOWN", "EXTREME", "KEYFRAME"]
MISSING = missing("writing .blend", "blender")
_BLENDER = Library("Blender", "blend_writer.py", START_BYTES, MISSING)


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """A .blend file with a key on every frame."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = with_first_pose(motion, motion.reference_pose)
    return _write(every_frame_a_key(motion), motion, suffix, is_dense=True)


def write_keyed(keyed: KeyedMotion, suffix: str, options: WriteOptions) -> bytes:
    """A .blend file with the keys as they are and the residual, if there is one, as a muted layer."""
    if options.reference_pose and keyed.reference_pose is not None:
        raise OptionError(f"{keyed.name}: the reference pose of a keyed motion is kept in the .blend file, but not as "
                          f"a frame; for a first frame of it, save keyed.sample()")  # fmt: skip
    return _write(keyed, keyed.sample(), suffix, is_dense=False)


def _write(keyed: KeyedMotion, motion: Motion, suffix: str, *, is_dense: bool) -> bytes:
    python = interpreter(MISSING)
    is_euler = keyed.rotation_orders is not None
    rig = make_rig(motion, metres_per_unit(motion), along_limbs=not is_euler, keep_angles=is_euler)
    request, given = scene_of(keyed, rig, first=FIRST, metres=1.0)
    if keyed.residual is not None:
        given |= _residual(keyed, rig)
    if is_dense:
        given["key_types"] = np.full(keyed.n_keys, KEY_TYPES.index("KEYFRAME"))
    text = keys_json.FORMAT.write_keyed
    assert text is not None
    request |= {
        "format": "blend",
        "limbs_across_bones": is_euler,
        "text_name": f"{request['name']}.keys.json",
        "text": text(_one_key(keyed) if is_dense else keyed, ".keys.json", WriteOptions()).decode(),
        "notes": {
            "version": VERSION,
            "first": FIRST,
            "metres_per_unit": rig.scale,
            "is_dense": is_dense,
            "rest_translations": rig.rest.translations.tolist(),
            "rest_rotations": rig.rest.rotations.tolist(),
        },
    }
    keys = keyed.n_keys + (keyed.n_frames if keyed.residual is not None else 0)
    seconds = LEAST_SECONDS + SECONDS_PER_KEY * keys * keyed.n_joints * 7
    return write_in_child(keyed.name, _BLENDER, python, suffix, request, given, seconds)


def scene_of(keyed: KeyedMotion, rig: Rig, *, first: int, metres: float) -> tuple[Facts, Arrays]:
    """What the script in the child makes a scene of: the rig, its keys, rate and range, ``metres`` per Blender unit."""
    if first + keyed.n_frames > MOST_FRAMES:
        raise OptionError(f"{keyed.name}: {keyed.n_frames} frames, Blender counts to {MOST_FRAMES}; save it in parts")
    whole = min(max(round(keyed.fps), 1), GREATEST_FPS)
    turns, places = keyed.rotations, keyed.translations
    if not keyed.is_cubic and keyed.rotation_orders is None:  # ours go the short way whatever the signs are
        turns = turns.with_values(sign_continuous(turns.values))
    request: Facts = {
        "name": plain_text(keyed.name)[:LONGEST_NAME] or "motion",
        "names": [plain_text(name) or "joint" for name in keyed.skeleton.names],
        "parents": keyed.skeleton.parents.tolist(),
        "sides": rig.sides,
        "materials": list(rig.body.triangles),
        "fps": whole,
        "fps_base": whole / keyed.fps,
        "first": first,
        "frames": keyed.n_frames,
        "metres": metres,
        "limbs_across_bones": False,
        "turning": "QUATERNION" if keyed.rotation_orders is None else "EULER",
        "rotation_orders": keyed.rotation_orders,
        "key_types": KEY_TYPES,
        "curve_parts": ["values", "arriving", "leaving"] if keyed.is_cubic else ["values"],
    }
    given = rig.arrays() | {
        "keys": keyed.keys,
        "key_types": np.where(keyed.extremes, KEY_TYPES.index("EXTREME"), KEY_TYPES.index("BREAKDOWN")),
        "moving": _moving(keyed, rig),
    }
    for part in request["curve_parts"]:
        given[f"turns_{part}"] = by_axis(getattr(turns, part), keyed.rotation_orders)
        given[f"places_{part}"] = getattr(places, part) * rig.scale
    return request, given


def by_axis(values: Floats, rotation_orders: tuple[str, ...] | None) -> Floats:
    """Euler angles (..., J, 3) in the order of their axes X, Y, Z; quaternions as they are."""
    if rotation_orders is None:
        return values
    columns = np.array([[order.index(axis) for axis in AXES] for order in rotation_orders])
    return np.take_along_axis(values, np.broadcast_to(columns, values.shape), axis=-1)


def plain_text(name: str) -> str:
    """A name without halves of characters, which some encodings leave and Blender refuses."""
    return name.encode("utf-8", "replace").decode()


def _moving(keyed: KeyedMotion, rig: Rig) -> Bools:
    """(J,) the joints that need places of their own: roots, and whoever is not always where it rests."""
    away = np.abs(keyed.translations.values - rig.rest.translations).max(axis=(0, 2))
    moving: Bools = (away > STILL_OF_SIZE * _size(rig)) | ~keyed.translations.still()
    moving[list(keyed.skeleton.roots)] = True
    return moving


def _size(rig: Rig) -> float:
    return float(np.ptp(np.concatenate((rig.heads, rig.tails)), axis=0).max()) / rig.scale


def _one_key(keyed: KeyedMotion) -> KeyedMotion:
    """All but the movement, which stands in the curves."""
    one = slice(0, 1)
    return replace(
        keyed,
        keys=keyed.keys[one],
        translations=Curves(keyed.translations.values[one]),
        rotations=Curves(keyed.rotations.values[one]),
        extremes=keyed.extremes[one],
    )


def _residual(keyed: KeyedMotion, rig: Rig) -> Arrays:
    """What Blender turns and moves its bones on by, on every frame, in their own axes, to show the original."""
    full, orders = keyed.sample(residual=1.0), keyed.rotation_orders
    place = Place.of(keyed.keys, np.arange(keyed.n_frames, dtype=np.float64))
    base = keyed.sample().rotations
    if not keyed.is_cubic and orders is None:  # Blender goes straight in the components
        base = normalise(Curves(sign_continuous(keyed.rotations.values)).at(place))
    turns = multiply(conjugate(base), full.rotations)
    turns *= np.where(turns[..., :1] < 0, -1.0, 1.0)
    shifts = rotate(conjugate(base), full.translations - keyed.translations.at(place))
    turning = np.abs(turns[..., 1:]).max(axis=(0, 2)) > STILL_OF_SIZE
    if orders is not None:  # a bone's detail comes in the same terms as its keys
        angles = np.stack([to_euler(turns[:, j], order) for j, order in enumerate(orders)], axis=1)
        turns = by_axis(unwrap_euler(angles), orders)
    return {
        "residual_turns": turns,
        "residual_turning": turning,
        "residual_shifts": shifts * rig.scale,
        "residual_moving": np.abs(shifts).max(axis=(0, 2)) > STILL_OF_SIZE * _size(rig),
    }
