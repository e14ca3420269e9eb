"""What a USD skeleton cannot say, kept beside it as text: channels, orders, end sites, names, the reference pose.

Written as JSON into the Skeleton's ``customData``. Read back with suspicion: whatever does not fit the skeleton
that USD gives (somebody edited the file, or made it up) is left out with a warning.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import ModelError
from keypose.formats.base import Source
from keypose.formats.orientation import UPRIGHT
from keypose.kinematics import UPS, Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import conjugate, multiply, rotate

VERSION = 1
USD_UPS = ("Y", "Z")  # the up axes that a USD file can state


@dataclass(frozen=True)
class OwnData:
    """A skeleton with all that its motion had when it was written."""

    skeleton: Skeleton
    up: Up
    reference_pose: Pose | None
    unit_known: bool = True  # else USD's unit is only our guess

    def in_its_axes(self, translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """Poses with the roots turned back to an up axis that USD does not know."""
        if self.up in USD_UPS:
            return translations, rotations
        roots = list(self.skeleton.roots)
        back = conjugate(np.array(UPRIGHT[self.up]))
        translations, rotations = translations.copy(), rotations.copy()
        translations[:, roots] = rotate(back, translations[:, roots])
        rotations[:, roots] = multiply(np.broadcast_to(back, rotations[:, roots].shape), rotations[:, roots])
        return translations, rotations


def own_text(motion: Motion, *, with_reference_pose: bool) -> str:
    """The JSON text for a motion."""
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


def read_own(source: Source, text: Any, plain: Skeleton, up: Up) -> OwnData | None:
    """The data in ``text``, if they fit the joints of ``plain``; None where there are none."""
    if not isinstance(text, str):
        return None
    try:
        return _checked(json.loads(text), plain, up)
    except (ModelError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        source.warn(f"its notes for Keypose do not fit the skeleton ({error}); they are left out")
        return None


def _checked(data: Any, plain: Skeleton, up: Up) -> OwnData:
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"not of version {VERSION}")
    n = plain.n_joints
    names, orders, channels = (_list(data, key, n) for key in ("names", "rotation_orders", "channels"))
    if not all(isinstance(text, str) for text in (*names, *orders)):
        raise TypeError("names or rotation orders that are no text")
    end_joints = _list(data, "end_joints", None)
    if not all(type(j) is int and 0 <= j < n for j in end_joints):
        raise ValueError("an end site at no joint")
    skeleton = Skeleton(
        names=tuple(names),
        parents=plain.parents,
        offsets=_numbers(data["offsets"], (n, 3)),
        rotation_orders=tuple(orders),
        channels=tuple(tuple(str(c) for c in _list({"channels": own}, "channels", None)) for own in channels),
        end_offsets=_numbers(data["end_offsets"], (len(end_joints), 3)),
        end_joints=np.array(end_joints, np.int32),
    )
    if data["up"] not in UPS:
        raise ValueError(f"up axis {data['up']!r}")
    pose = data["reference_pose"]
    if pose is not None:
        pose = Pose(*(_numbers(part, (n, width)) for part, width in zip(pose, (3, 4), strict=True)))
    # An axis that USD can state is taken from USD: another program may have changed it.
    return OwnData(skeleton, up if data["up"] in USD_UPS else data["up"], pose, data["unit_known"] is not False)


def _list(data: dict[str, Any], key: str, count: int | None) -> list[Any]:
    values = data[key]
    if not isinstance(values, list) or (count is not None and len(values) != count):
        raise ValueError(f"{key} that are not a list of {count if count is not None else 'anything'}")
    return values


def _numbers(values: Any, shape: tuple[int, ...]) -> Floats:
    """Numbers of exactly this shape; text and the like are refused."""
    if not values and shape[0] == 0:
        return np.zeros(shape)
    array = np.array(values)
    if array.dtype.kind not in "fi" or array.shape != shape:
        raise ValueError(f"{array.dtype} numbers of shape {array.shape}, expected {shape}")
    return array.astype(np.float64)
