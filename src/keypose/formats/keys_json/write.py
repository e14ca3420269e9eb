"""A keyed motion to text: numbers in the shortest form that reads back as the same bits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.formats.base import WriteOptions
from keypose.formats.keyed import every_frame_a_key
from keypose.formats.keys_json.packed import packed
from keypose.formats.reference import with_first_pose
from keypose.model import Curves, KeyedMotion, Motion, Pose, Residual, Skeleton

FORMAT_NAME = "keypose keys"
VERSION = 1
LINE = 118  # what is shorter stays on one line
_LONG = 24  # a list with so many lists in it has no hope to


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """A dense motion as a keyed one whose every frame is a key."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = with_first_pose(motion, motion.reference_pose)
    return write_keyed(every_frame_a_key(motion), suffix, WriteOptions())


def write_keyed(keyed: KeyedMotion, suffix: str, options: WriteOptions) -> bytes:
    """The whole text. The reference pose has a place of its own, so it never becomes a frame."""
    # Names of other encodings hold halves of characters, which UTF-8 cannot; JSON can spell them.
    return (_text(document(keyed), 0) + "\n").encode("utf-8", "backslashreplace")


def document(keyed: KeyedMotion) -> dict[str, Any]:
    """The JSON of a keyed motion."""
    metres = keyed.metres_per_unit
    return {
        "format": FORMAT_NAME,
        "version": VERSION,
        "name": keyed.name,
        "fps": keyed.fps,
        "n_frames": keyed.n_frames,
        "first_frame": int(keyed.first_frame),
        "up": keyed.up,
        "metres_per_unit": None if metres is None else float(metres),
        "notes": list(keyed.notes),
        "skeleton": _skeleton(keyed.skeleton),
        "reference_pose": _pose(keyed.reference_pose),
        "keys": keyed.keys.tolist(),
        "extremes": keyed.extremes.tolist(),
        "interpolation": "cubic" if keyed.is_cubic else "straight",
        "rotation_orders": None if keyed.rotation_orders is None else list(keyed.rotation_orders),
        "translations": _curves(keyed.translations, keyed.skeleton.names),
        "rotations": _curves(keyed.rotations, keyed.skeleton.names),
        "residual": _residual(keyed.residual),
    }


def _skeleton(s: Skeleton) -> dict[str, Any]:
    return {
        "joints": [
            {
                "name": name,
                "parent": s.names[parent] if parent >= 0 else None,
                "offset": s.offsets[j].tolist(),
                "rotation_order": s.rotation_orders[j],
                "channels": list(s.channels[j]),
            }
            for j, (name, parent) in enumerate(zip(s.names, s.parents.tolist(), strict=True))
        ],
        "end_sites": [
            {"joint": s.names[joint], "offset": offset}
            for joint, offset in zip(s.end_joints.tolist(), s.end_offsets.tolist(), strict=True)
        ],
    }


def _pose(pose: Pose | None) -> dict[str, Any] | None:
    if pose is None:
        return None
    return {"translations": pose.translations.tolist(), "rotations": pose.rotations.tolist()}


def _curves(curves: Curves, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """One object for each joint; what never changes has its numbers once."""
    still = _same_bits(curves)
    entries: list[dict[str, Any]] = []
    for j, name in enumerate(names):
        if still[j]:
            entries.append({"joint": name, "still": curves.values[0, j].tolist()})
            continue
        entry: dict[str, Any] = {"joint": name, "values": curves.values[:, j].tolist()}
        if curves.arriving is not None and curves.leaving is not None:
            entry |= {"arriving": curves.arriving[:, j].tolist(), "leaving": curves.leaving[:, j].tolist()}
        entries.append(entry)
    return entries


def _same_bits(curves: Curves) -> NDArray[np.bool_]:
    """(J,) the joints of which one key says everything; 0 and -0, which count as equal elsewhere, differ."""
    values = _bits(curves.values)
    same = (values == values[:1]).all(axis=(0, 2))
    for slopes in (curves.arriving, curves.leaving):
        if slopes is not None:
            same &= (_bits(slopes) == 0).all(axis=(0, 2))
    return np.asarray(same)


def _bits(values: Floats) -> NDArray[np.int64]:
    return np.ascontiguousarray(values).view(np.int64)


def _residual(residual: Residual | None) -> dict[str, Any] | None:
    if residual is None:
        return None
    return {
        "turns": packed(residual.turns),
        "shifts": packed(residual.shifts),
        "frames": None if residual.frames is None else residual.frames.tolist(),
        "sources": None if residual.sources is None else residual.sources.tolist(),
    }


def _text(value: Any, depth: int) -> str:
    """JSON in lines: what fits into one stays there, and so does a list of plain values; the rest is broken up."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    nested = [member for member in members if isinstance(member, dict | list)]
    if not nested and not isinstance(value, dict):
        return _flat(value)
    if len(nested) < _LONG and len(flat := _flat(value)) + depth <= LINE:
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{_flat(key)}: {_text(member, depth + 1)}" for key, member in value.items()]
        return "{\n" + pad + f",\n{pad}".join(lines) + "\n" + " " * depth + "}"
    return "[\n" + pad + f",\n{pad}".join(_text(member, depth + 1) for member in value) + "\n" + " " * depth + "]"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
