"""Decode a stored file and compare it with its source."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import FormatError
from keypose.model import KeyedMotion, Motion
from keypose.storage import StoredMotion
from keypose.storage.error import LargestError, largest_error, tolerance_mm_per_unit
from keypose.storage.groups import group_bounds
from keypose.swings import Swings

HEADER_FIELDS = ("fps", "up", "metres_per_unit", "first_frame", "reference_pose", "skeleton")
IGNORED_FIELDS = ("notes",)  # readers add notes
ROUNDING_TOLERANCE = 1e-6  # relative: a few times that of 32-bit numbers


def check_motion(stored: StoredMotion, original: Motion, path: Path) -> LargestError | None:
    """Decode and compare every group; return the largest error, or None if the file is lossless.

    Raises a FormatError if the error exceeds the tolerance or anything else differs. One group at a time is in memory.
    """
    for name in HEADER_FIELDS:
        if not is_same(getattr(stored, name), getattr(original, name)):
            raise FormatError(path, f"read back, {name.replace('_', ' ')} differs from that of {original.name}")
    if stored.n_frames != original.n_frames:
        raise FormatError(path, f"read back, {stored.n_frames} frames, of {original.name} {original.n_frames}")
    if stored.lossless:
        _check_bits(stored, original, path)
        return None
    return _check_tolerance(stored, original, path)


def _check_tolerance(stored: StoredMotion, original: Motion, path: Path) -> LargestError:
    error = compute_largest_error(stored, original)
    if stored.tolerance_mm is not None and not error.mm <= stored.tolerance_mm:
        raise FormatError(path, f"read back, it is off by {error}, more than {stored.tolerance_mm:g} mm")
    return error


def compute_largest_error(stored: StoredMotion, original: Motion) -> LargestError:
    """Return the largest error over all groups."""
    scale = tolerance_mm_per_unit(original)
    worst: LargestError | None = None
    for start, stop in group_bounds(original.n_frames, original.fps):
        error = largest_error(original[start:stop], stored.frames(start, stop), mm_per_unit=scale)
        if worst is None or error.mm > worst.mm:
            worst = LargestError(error.mm, start + error.frame, error.joint, error.point)
    assert worst is not None
    return worst


def _check_bits(stored: StoredMotion, original: Motion, path: Path) -> None:
    for start, stop in group_bounds(original.n_frames, original.fps):
        decoded = stored.frames(start, stop)
        for name in ("translations", "rotations"):
            original_values, decoded_values = getattr(original, name)[start:stop], getattr(decoded, name)
            differs = _bits_of(original_values) != _bits_of(decoded_values)
            if differs.any():
                frame, joint = (int(i) for i in np.argwhere(differs)[0][:2])
                where = f"{original.skeleton.names[joint]} in frame {start + frame}"
                raise FormatError(path, f"read back, {name} differ although it is lossless: {where}")


def _bits_of(values: Floats) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.ascontiguousarray(values, np.float64).view(np.int64)


def check_companions(stored: StoredMotion, keyed: KeyedMotion | None, swings: Swings | None, path: Path) -> None:
    """Raise a FormatError unless keys are unchanged, and swings equal within the rounding to 32 bits."""
    for companion, kind, decoded, is_rounded in (
        (keyed, "keys", stored.keyed(read_frames=False), False),
        (swings, "swings", stored.swings(), True),
    ):
        if not is_same(companion, decoded, is_rounded=is_rounded):
            raise FormatError(path, f"read back, its {kind} differ from those that were to be kept")


def is_same(first: Any, second: Any, *, is_rounded: bool = False) -> bool:
    """Return whether two values, dataclasses or arrays are equal; if ``is_rounded``, within 32-bit rounding."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return bool(first == second) or (
            is_rounded and bool(np.isclose(first, second, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE))
        )
    if type(first) is not type(second):
        return False
    if is_dataclass(first):
        names = [field.name for field in fields(first) if field.name not in IGNORED_FIELDS]
        return all(is_same(getattr(first, name), getattr(second, name), is_rounded=is_rounded) for name in names)
    if isinstance(first, np.ndarray):
        exact = not is_rounded or first.dtype.kind != "f"
        return first.shape == second.shape and bool(
            np.array_equal(first, second)
            if exact
            else np.allclose(first, second, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)
        )
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(
            is_same(a, b, is_rounded=is_rounded) for a, b in zip(first, second, strict=True)
        )
    return bool(first == second)
