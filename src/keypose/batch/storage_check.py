"""A stored file read back and held against what it was made from."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import FormatError
from keypose.model import KeyedMotion, Motion
from keypose.storage import StoredMotion
from keypose.storage.error import LargestError, largest_error, mm_per_unit_of
from keypose.storage.groups import group_bounds
from keypose.swings import Swings

HEAD = ("fps", "up", "metres_per_unit", "first_frame", "reference_pose", "skeleton")
NOT_COMPARED = ("notes",)  # readers add to them
ROUNDING = 1e-6  # relative: a few times that of numbers of 32 bits


def read_back(stored: StoredMotion, original: Motion, path: Path) -> LargestError | None:
    """Decodes every group and compares; the largest error, None where every bit must be the same, and is.

    Raises a FormatError where something is not as promised. One group at a time is held in memory.
    """
    for name in HEAD:
        if not same(getattr(stored, name), getattr(original, name)):
            raise FormatError(path, f"read back, {name.replace('_', ' ')} differs from that of {original.name}")
    if stored.n_frames != original.n_frames:
        raise FormatError(path, f"read back, {stored.n_frames} frames, of {original.name} {original.n_frames}")
    if stored.lossless:
        _check_bits(stored, original, path)
        return None
    return _within(stored, original, path)


def _within(stored: StoredMotion, original: Motion, path: Path) -> LargestError:
    found = largest_off(stored, original)
    if stored.tolerance_mm is not None and not found.mm <= stored.tolerance_mm:
        raise FormatError(path, f"read back, it is off by {found}, more than {stored.tolerance_mm:g} mm")
    return found


def largest_off(stored: StoredMotion, original: Motion) -> LargestError:
    """How far it is off at most, over all groups."""
    scale = mm_per_unit_of(original)
    worst: LargestError | None = None
    for start, stop in group_bounds(original.n_frames, original.fps):
        found = largest_error(original[start:stop], stored.frames(start, stop), mm_per_unit=scale)
        if worst is None or found.mm > worst.mm:
            worst = LargestError(found.mm, start + found.frame, found.joint, found.what)
    assert worst is not None
    return worst


def _check_bits(stored: StoredMotion, original: Motion, path: Path) -> None:
    for start, stop in group_bounds(original.n_frames, original.fps):
        part = stored.frames(start, stop)
        for name in ("translations", "rotations"):
            ours, theirs = getattr(original, name)[start:stop], getattr(part, name)
            differs = _bits(ours) != _bits(theirs)
            if differs.any():
                frame, joint = (int(i) for i in np.argwhere(differs)[0][:2])
                where = f"{original.skeleton.names[joint]} in frame {start + frame}"
                raise FormatError(path, f"read back, {name} differ although it is lossless: {where}")


def _bits(values: Floats) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.ascontiguousarray(values, np.float64).view(np.int64)


def check_along(stored: StoredMotion, keyed: KeyedMotion | None, swings: Swings | None, path: Path) -> None:
    """That keys came back as they were, and swings within the rounding to 32 bits."""
    for what, kind, back, rounded in (
        (keyed, "keys", stored.keyed(read_frames=False), False),
        (swings, "swings", stored.swings(), True),
    ):
        if not same(what, back, rounded=rounded):
            raise FormatError(path, f"read back, its {kind} differ from those that were to be kept")


def same(one: Any, other: Any, *, rounded: bool = False) -> bool:
    """Whether two values, nouns or arrays hold the same; ``rounded`` ones may differ as numbers of 32 bits do."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(one == other) or (rounded and bool(np.isclose(one, other, rtol=ROUNDING, atol=ROUNDING)))
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        names = [field.name for field in fields(one) if field.name not in NOT_COMPARED]
        return all(same(getattr(one, name), getattr(other, name), rounded=rounded) for name in names)
    if isinstance(one, np.ndarray):
        exact = not rounded or one.dtype.kind != "f"
        return one.shape == other.shape and bool(
            np.array_equal(one, other) if exact else np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING)
        )
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same(a, b, rounded=rounded) for a, b in zip(one, other, strict=True))
    return bool(one == other)
