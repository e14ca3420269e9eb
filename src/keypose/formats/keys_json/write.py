"""A keyed motion to text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.formats.as_text.clip import clip_document
from keypose.formats.as_text.layout import text_of
from keypose.formats.as_text.packed import packed
from keypose.formats.base import WriteOptions
from keypose.formats.keyed import every_frame_a_key
from keypose.formats.reference import with_first_pose
from keypose.model import Curves, KeyedMotion, Motion, Residual

FORMAT_NAME = "keypose keys"
VERSION = 1


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """A dense motion as a keyed one whose every frame is a key."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = with_first_pose(motion, motion.reference_pose)
    return write_keyed(every_frame_a_key(motion), suffix, WriteOptions())


def write_keyed(keyed: KeyedMotion, suffix: str, options: WriteOptions) -> bytes:
    """The whole text. The reference pose has a place of its own, so it never becomes a frame."""
    return text_of(document(keyed))


def document(keyed: KeyedMotion) -> dict[str, Any]:
    """The JSON of a keyed motion."""
    return clip_document(FORMAT_NAME, VERSION, keyed) | {
        "keys": keyed.keys.tolist(),
        "extremes": keyed.extremes.tolist(),
        "interpolation": "cubic" if keyed.is_cubic else "straight",
        "rotation_orders": None if keyed.rotation_orders is None else list(keyed.rotation_orders),
        "translations": _curves(keyed.translations, keyed.skeleton.names),
        "rotations": _curves(keyed.rotations, keyed.skeleton.names),
        "residual": _residual(keyed.residual),
    }


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
