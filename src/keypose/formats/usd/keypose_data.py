"""What UsdSkel cannot store: channels, rotation orders, end sites, names, the reference pose.

Stored as JSON in the Skeleton's ``customData``. Data that do not fit the USD skeleton, as the file may have been edited
or forged, are ignored with a warning.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import ModelError
from keypose.formats.base import Source
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.kinematics import UPS, Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import conjugate, multiply, rotate

VERSION = 1
USD_UPS = ("Y", "Z")  # the up axes that a USD file can state


@dataclass(frozen=True)
class KeyposeData:
    """The skeleton and other fields of the motion that was written."""

    skeleton: Skeleton
    up: Up
    reference_pose: Pose | None
    is_unit_known: bool = True  # else the unit in USD is a guess

    def to_own_axes(self, translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """Return the poses with the roots rotated back to an up axis that USD cannot state."""
        if self.up in USD_UPS:
            return translations, rotations
        roots = list(self.skeleton.roots)
        rotation = conjugate(np.array(ROTATION_TO_Y_UP[self.up]))
        translations, rotations = translations.copy(), rotations.copy()
        translations[:, roots] = rotate(rotation, translations[:, roots])
        rotations[:, roots] = multiply(np.broadcast_to(rotation, rotations[:, roots].shape), rotations[:, roots])
        return translations, rotations


def build_keypose_data(motion: Motion, *, with_reference_pose: bool) -> str:
    """Return the JSON text for a motion."""
    s, pose = motion.skeleton, motion.reference_pose if with_reference_pose else None
    return json.dumps(
        {
            "version": VERSION,
            "names": s.names,
            "offsets": s.offsets.tolist(),
            "rotation_orders": s.rotation_orders,
            "channels": s.channels,
            "end_joints": s.end_joints.tolist(),
            "end_offsets": s.end_offsets.tolist(),
            "up": motion.up,
            "unit_known": motion.metres_per_unit is not None,
            "reference_pose": None if pose is None else [pose.translations.tolist(), pose.rotations.tolist()],
        },
        separators=(",", ":"),
    )


def read_keypose_data(source: Source, text: Any, skeleton: Skeleton, up: Up) -> KeyposeData | None:
    """Parse the data in ``text``; None if there are none or they do not fit ``skeleton``, with a warning."""
    if not isinstance(text, str):
        return None
    try:
        return _parse(json.loads(text), skeleton, up)
    except (ModelError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        source.warn(f"its notes for Keypose do not fit the skeleton ({error}); they are left out")
        return None


def _parse(data: Any, usd_skeleton: Skeleton, up: Up) -> KeyposeData:
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"not of version {VERSION}")
    n = usd_skeleton.n_joints
    names, orders, channels = (_read_list(data, key, n) for key in ("names", "rotation_orders", "channels"))
    if not all(isinstance(text, str) for text in (*names, *orders)):
        raise TypeError("names or rotation orders that are no text")
    end_joints = _read_list(data, "end_joints", None)
    if not all(type(j) is int and 0 <= j < n for j in end_joints):
        raise ValueError("an end site at no joint")
    skeleton = Skeleton(
        names=tuple(names),
        parents=usd_skeleton.parents,
        offsets=_read_numbers(data["offsets"], (n, 3)),
        rotation_orders=tuple(orders),
        channels=tuple(tuple(str(c) for c in _read_list({"channels": own}, "channels", None)) for own in channels),
        end_offsets=_read_numbers(data["end_offsets"], (len(end_joints), 3)),
        end_joints=np.array(end_joints, np.int32),
    )
    if data["up"] not in UPS:
        raise ValueError(f"up axis {data['up']!r}")
    pose = data["reference_pose"]
    if pose is not None:
        pose = Pose(*(_read_numbers(values, (n, width)) for values, width in zip(pose, (3, 4), strict=True)))
    # An axis that USD can state is read from USD, as another program may have changed it.
    return KeyposeData(skeleton, up if data["up"] in USD_UPS else data["up"], pose, data["unit_known"] is not False)


def _read_list(data: dict[str, Any], key: str, count: int | None) -> list[Any]:
    values = data[key]
    if not isinstance(values, list) or (count is not None and len(values) != count):
        raise ValueError(f"{key} that are not a list of {count if count is not None else 'anything'}")
    return values


def _read_numbers(values: Any, shape: tuple[int, ...]) -> Floats:
    """Return numbers of exactly this shape; raise ValueError for anything else."""
    if not values and shape[0] == 0:
        return np.zeros(shape)
    array = np.array(values)
    if array.dtype.kind not in "fi" or array.shape != shape:
        raise ValueError(f"{array.dtype} numbers of shape {array.shape}, expected {shape}")
    return array.astype(np.float64)
