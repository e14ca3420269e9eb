"""``.keys.json``: a keyed motion as lossless text that a person can read and edit.

docs/formats.md describes every field.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.errors import OptionError
from keypose.formats import json_common
from keypose.formats.base import RATE_HINT, Format, SaveOptions, Source
from keypose.formats.json_common import (
    build_header,
    decode_array,
    encode_array,
    format_document,
    has_format_name,
    read_shape,
)
from keypose.formats.json_document import JsonObject
from keypose.formats.local_poses import key_every_frame
from keypose.formats.orientation import prepend_pose, split_reference_pose
from keypose.model import Curves, KeyedMotion, Motion, Residual, Skeleton
from keypose.options import LoadOptions
from keypose.rotations import ORDERS

FIELDS = (
    *json_common.FIELDS,
    *("keys", "extremes", "interpolation", "rotation_orders", "translations", "rotations", "residual"),
)

FORMAT_NAME = "keypose keys"
VERSION = 1


def read(source: Source, options: LoadOptions) -> Motion:
    """Return the frames sampled from the curves, without the residual."""
    keyed = _read_document(source)
    json_common.check_sampled_size(source, keyed, options.fps)
    return split_reference_pose(keyed.sample(fps=options.fps), options.reference_pose)


def read_keyed(source: Source, options: LoadOptions) -> KeyedMotion:
    """Return the keyed motion of a file, at the rate that it states."""
    keyed = _read_document(source)
    if options.fps is not None and options.fps != keyed.fps:
        raise OptionError(
            path=source.path,
            option="fps",
            option_class=LoadOptions,
            value=options.fps,
            expected=f"{keyed.fps:g}, which the file states",
            hint=RATE_HINT,
        )
    return keyed


def _read_document(source: Source) -> KeyedMotion:
    json = json_common.parse_document(source, FORMAT_NAME, VERSION, FIELDS)
    source.check_keys(len(json.array("keys")), 0, len(json.required_object("skeleton").array("joints")))
    head = json_common.read_header(json)
    skeleton, keys = head["skeleton"], json_common.read_key_frames(json, "keys", head["n_frames"])
    orders, is_cubic = _read_rotation_orders(json, skeleton.n_joints), _read_is_cubic(json)
    return KeyedMotion(
        **head,
        keys=keys,
        translations=_read_curves(json, "translations", skeleton, keys, 3, cubic=is_cubic),
        rotations=_read_curves(json, "rotations", skeleton, keys, 4 if orders is None else 3, cubic=is_cubic),
        rotation_orders=orders,
        residual=_read_residual(json, skeleton.n_joints),
        extremes=_read_extremes(json, len(keys)),
    )


def _read_is_cubic(json: JsonObject) -> bool:
    interpolation = json.text("interpolation")
    if interpolation not in ("cubic", "straight"):
        raise json.member_error("interpolation", "'cubic' or 'straight'")
    return interpolation == "cubic"


def _read_extremes(json: JsonObject, n_keys: int) -> Bools:
    flags = json.array("extremes")
    if len(flags) != n_keys or not all(isinstance(flag, bool) for flag in flags):
        raise json.member_error("extremes", f"an array of {n_keys} times true or false, one for each key")
    return np.array(flags, bool)


def _read_rotation_orders(json: JsonObject, joints: int) -> tuple[str, ...] | None:
    if json.values["rotation_orders"] is None:
        return None
    orders = json.texts("rotation_orders", joints)
    for j, order in enumerate(orders):
        if order not in ORDERS:
            raise json.element_error("rotation_orders", j, order, f"one of {', '.join(ORDERS)}")
    return orders


def _read_curves(json: JsonObject, key: str, skeleton: Skeleton, keys: Ints, width: int, *, cubic: bool) -> Curves:
    entries, n_keys = json.objects(key), len(keys)
    if len(entries) != skeleton.n_joints:
        raise json.member_error(key, f"an array of {skeleton.n_joints} objects, one for each joint")
    members = ("values", "in_tangents", "out_tangents") if cubic else ("values",)
    arrays = np.zeros((len(members), n_keys, skeleton.n_joints, width))
    is_key = np.ones((n_keys, skeleton.n_joints), bool)
    for j, entry in enumerate(entries):
        if entry.values.get("joint") != skeleton.names[j]:
            raise entry.member_error("joint", f"{skeleton.names[j]!r}, as the joints are in the order of the skeleton")
        own_keys = ("keys",) if "keys" in entry else ()
        if own_keys:
            is_key[:, j] = _read_joint_keys(entry, keys)
        if "still" in entry:
            entry.check_members("joint", *own_keys, "still")
            arrays[0, :, j] = entry.row("still", width)
        else:
            entry.check_members("joint", *own_keys, *members)
            for array, member in zip(arrays, members, strict=True):
                array[is_key[:, j], j] = entry.rows(member, int(is_key[:, j].sum()), width)
        if width == 4:
            still = "still" in entry
            json_common.check_unit_quaternions(
                entry, "still" if still else "values", arrays[0, 0, j] if still else arrays[0, is_key[:, j], j]
            )
    values, *tangents = (freeze(array) for array in arrays)
    return Curves(values, *(tangents or (None, None)), is_key=freeze(is_key))


def _read_joint_keys(entry: JsonObject, keys: Ints) -> Bools:
    """Return which of ``keys`` (K,) a joint has."""
    frames = json_common.read_key_frames(entry, "keys", int(keys[-1]) + 1)
    if not np.isin(frames, keys).all():
        raise entry.member_error("keys", "some of the keys of the motion")
    return np.isin(keys, frames)


def _read_residual(json: JsonObject, joints: int) -> Residual | None:
    if json.values["residual"] is None:
        return None
    entry = json.required_object("residual")
    entry.check_members("rotations", "shifts", "frames", "sources")
    rotations, shifts = (
        _read_residual_array(entry.required_object(member), joints) for member in ("rotations", "shifts")
    )
    if entry.values["frames"] is None and entry.values["sources"] is None:
        return Residual(rotations, shifts)
    return Residual(rotations, shifts, entry.row("frames"), entry.row("sources"))


def _read_residual_array(entry: JsonObject, joints: int) -> Floats:
    entry.check_members("shape", "crc32", "data")
    shape = read_shape(entry, joints, 3)
    entry.source.check_size(shape[0], joints)
    return decode_array(entry, shape)


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a dense motion with a key on every frame."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = prepend_pose(motion, motion.reference_pose)
    return write_keyed(key_every_frame(motion), suffix, SaveOptions())


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a keyed motion. The reference pose is a separate field, so it never becomes a frame."""
    return format_document(build_document(keyed))


def build_document(keyed: KeyedMotion) -> dict[str, Any]:
    """Return the JSON of a keyed motion."""
    return build_header(FORMAT_NAME, VERSION, keyed) | {
        "keys": keyed.keys.tolist(),
        "extremes": keyed.extremes.tolist(),
        "interpolation": "cubic" if keyed.is_cubic else "straight",
        "rotation_orders": None if keyed.rotation_orders is None else list(keyed.rotation_orders),
        "translations": _curves_json(keyed.translations, keyed),
        "rotations": _curves_json(keyed.rotations, keyed),
        "residual": _residual_json(keyed.residual),
    }


def _curves_json(curves: Curves, keyed: KeyedMotion) -> list[dict[str, Any]]:
    """Return one object for each joint; ``keys`` are its frames if it does not have all keys of the motion.

    The numbers of a joint that never changes are stored once, as ``still``.
    """
    still = _constant_joints(curves)
    sides = {"values": curves.values, "in_tangents": curves.in_tangents, "out_tangents": curves.out_tangents}
    entries: list[dict[str, Any]] = []
    for j, name in enumerate(keyed.skeleton.names):
        is_key = slice(None) if curves.is_key is None else curves.is_key[:, j]
        entry: dict[str, Any] = {"joint": name}
        if len(frames := keyed.keys[is_key]) < keyed.n_keys:
            entry["keys"] = frames.tolist()
        if still[j]:
            entry["still"] = curves.values[0, j].tolist()
        else:
            entry |= {member: side[is_key, j].tolist() for member, side in sides.items() if side is not None}
        entries.append(entry)
    return entries


def _constant_joints(curves: Curves) -> NDArray[np.bool_]:
    """Return a mask (J,) of the joints with values that never change, bit by bit: 0 and -0 are different."""
    values = _bits(curves.values)
    is_constant = (values == values[:1]).all(axis=(0, 2))
    for tangents in (curves.in_tangents, curves.out_tangents):
        if tangents is not None:
            is_constant &= (_bits(tangents) == 0).all(axis=(0, 2))
    return np.asarray(is_constant)


def _bits(values: Floats) -> NDArray[np.int64]:
    return np.ascontiguousarray(values).view(np.int64)


def _residual_json(residual: Residual | None) -> dict[str, Any] | None:
    if residual is None:
        return None
    return {
        "rotations": encode_array(residual.rotations),
        "shifts": encode_array(residual.shifts),
        "frames": None if residual.frames is None else residual.frames.tolist(),
        "sources": None if residual.sources is None else residual.sources.tolist(),
    }


def _sniff(head: bytes) -> bool:
    return has_format_name(head, FORMAT_NAME)


FORMAT = Format(
    "Keypose keys",
    (".keys.json",),
    _sniff,
    read,
    write,
    read_keyed,
    write_keyed,
    gzip=True,
    stores_residual=True,
    media_type="application/json",
    purpose="Keypose can load it again without any loss.",
)
