"""Write ``.keys.json``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.formats.base import SaveOptions
from keypose.formats.json_common.array_encoding import encode_array
from keypose.formats.json_common.header import build_header
from keypose.formats.json_common.layout import format_document
from keypose.formats.keyed_motion import key_every_frame
from keypose.formats.reference_pose import prepend_pose
from keypose.model import Curves, KeyedMotion, Motion, Residual

FORMAT_NAME = "keypose keys"
VERSION = 1


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a dense motion with a key on every frame."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = prepend_pose(motion, motion.reference_pose)
    return write_keyed(key_every_frame(motion), suffix, SaveOptions())


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a keyed motion. The reference pose is a field of its own, so it never becomes a frame."""
    return format_document(build_document(keyed))


def build_document(keyed: KeyedMotion) -> dict[str, Any]:
    """Return the JSON of a keyed motion."""
    return build_header(FORMAT_NAME, VERSION, keyed) | {
        "keys": keyed.keys.tolist(),
        "extremes": keyed.extremes.tolist(),
        "interpolation": "cubic" if keyed.is_cubic else "straight",
        "rotation_orders": None if keyed.rotation_orders is None else list(keyed.rotation_orders),
        "translations": _curves_json(keyed.translations, keyed.skeleton.names),
        "rotations": _curves_json(keyed.rotations, keyed.skeleton.names),
        "residual": _residual_json(keyed.residual),
    }


def _curves_json(curves: Curves, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return one object for each joint; a joint that never changes has its numbers once, as ``still``."""
    still = _constant_joints(curves)
    entries: list[dict[str, Any]] = []
    for j, name in enumerate(names):
        if still[j]:
            entries.append({"joint": name, "still": curves.values[0, j].tolist()})
            continue
        entry: dict[str, Any] = {"joint": name, "values": curves.values[:, j].tolist()}
        if curves.in_tangents is not None and curves.out_tangents is not None:
            entry["in_tangents"] = curves.in_tangents[:, j].tolist()
            entry["out_tangents"] = curves.out_tangents[:, j].tolist()
        entries.append(entry)
    return entries


def _constant_joints(curves: Curves) -> NDArray[np.bool_]:
    """Return a mask (J,) of the joints whose values never change, bit by bit: 0 and -0 differ."""
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
