"""Skeleton: the hierarchy of joints, their offsets, and the rotation channels of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from keypose import anatomy, kinematics
from keypose.anatomy.body_parts import SIDES
from keypose.arrays import Floats, Frozen, Ints, freeze_floats, freeze_ints, freeze_items
from keypose.errors import ModelError, OptionError, UnknownJoint, format_count, format_value
from keypose.rotations import AXES, ORDERS

POSITION_CHANNELS = tuple(f"{axis}position" for axis in AXES)
ROTATION_CHANNELS = tuple(f"{axis}rotation" for axis in AXES)
DEFAULT_ORDER = "ZXY"

# Shares of the stature of an adult that skeletons may lack. Sole: the ankle over the ground (Drillis & Contini 1966).
# Head: the top over the ear opening, beside which the skull turns on the neck (tragion to top of head, Gordon et al.
# 1989: 131 of 1756 mm). Head and neck: the top over the base of the neck (de Leva 1996: 242.9 of 1741 mm).
SOLE_SHARE, HEAD_SHARE, HEAD_AND_NECK_SHARE = 0.039, 0.075, 0.140
MIN_HEAD_SHARE = 0.04  # of the lengths of column and leg: an end of the head that is nearer than this is not its top
# The head of a body whose rest pose is upright is at least this share of the vertical extent above the feet.
MIN_HEAD_OVER_FEET = 0.5


@dataclass(frozen=True, eq=False)
class Skeleton(Frozen):
    """Joints in parents-first order, with the channels and end sites of the file.

    ``rotation_orders`` and ``channels`` are optional. By default roots have six channels and other joints three, in the
    usual order of BVH files. ``channel_counts`` may be smaller than the numbers of channels, because a file such as AMC
    stores a joint with one degree of freedom as one number, about an axis that is not one of the three of a channel.
    """

    names: tuple[str, ...]
    parents: Ints  # (J,) -1 marks a root; several roots are allowed
    offsets: Floats  # (J, 3) rest translation from the parent, file units
    rotation_orders: tuple[str, ...] = ()  # intrinsic: "ZXY" is q = qz qx qy
    channels: tuple[tuple[str, ...], ...] = ()  # "Xposition", ..., "Zrotation" in file order
    end_offsets: Floats = field(default_factory=lambda: np.zeros((0, 3)))  # (E, 3) from their joint
    end_joints: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # (E,) their joints
    channel_counts: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # (J,) numbers of the file per frame

    def __post_init__(self) -> None:
        self._set_field("names", tuple(map(str, freeze_items(self.names, object, "skeleton: names"))))
        n = len(self.names)
        if n == 0:
            raise ModelError("no joints", subject="skeleton", expected="at least one")
        duplicates = [name for name, count in Counter(self.names).items() if count > 1]
        if duplicates:
            raise ModelError(f"the joint name {duplicates[0]!r} is used more than once", subject="skeleton")
        self._set_field("parents", freeze_ints(self.parents, (n,), "skeleton parents"))
        wrong = np.flatnonzero((self.parents >= np.arange(n)) | (self.parents < -1))
        if wrong.size:
            j = int(wrong[0])
            raise ModelError(
                f"joint {j} ({self.names[j]}) has parent {self.parents[j]}",
                subject="skeleton",
                expected="-1 or an earlier joint",
            )
        self._set_field("offsets", freeze_floats(self.offsets, (n, 3), "skeleton offsets"))
        orders = freeze_items(self.rotation_orders, str, "skeleton: rotation orders") or (DEFAULT_ORDER,) * n
        self._set_field("rotation_orders", orders)
        if len(self.rotation_orders) != n:
            raise ModelError(
                f"{format_count(n, 'joint')} but {len(self.rotation_orders)} rotation orders", subject="skeleton"
            )
        lists = freeze_items(self.channels, object, "skeleton: channels")
        channels = tuple(freeze_items(each, str, "skeleton: channels") for each in lists)  # type: ignore[arg-type]
        self._set_field("channels", channels or self._default_channels())
        self._check_channels()
        counts = self.channel_counts if len(self.channel_counts) else [len(each) for each in self.channels]
        self._set_field("channel_counts", freeze_ints(counts, (n,), "skeleton: channel counts"))
        if self.channel_counts.min() < 0:
            raise ModelError(f"{self.channel_counts.min()} channels", subject="skeleton", expected="0 or more")
        self._set_field("end_joints", freeze_ints(self.end_joints, (None,), "skeleton end joints"))
        self._set_field(
            "end_offsets", freeze_floats(self.end_offsets, (len(self.end_joints), 3), "skeleton end offsets")
        )
        if len(self.end_joints) and (self.end_joints.min() < 0 or self.end_joints.max() >= n):
            raise ModelError(f"an end site names a joint outside 0..{n - 1}", subject="skeleton")

    def _default_channels(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (POSITION_CHANNELS if parent < 0 else ()) + tuple(f"{axis}rotation" for axis in order)
            for parent, order in zip(self.parents.tolist(), self.rotation_orders, strict=True)
        )

    def _check_channels(self) -> None:
        n = len(self.names)
        if len(self.channels) != n:
            raise ModelError(f"{format_count(n, 'joint')} but {len(self.channels)} channel lists", subject="skeleton")
        for name, order, channels in zip(self.names, self.rotation_orders, self.channels, strict=True):
            if order not in ORDERS:
                raise ModelError(
                    f"rotation order {order!r} of {name}", subject="skeleton", expected=f"one of {', '.join(ORDERS)}"
                )
            is_known = all(c in POSITION_CHANNELS + ROTATION_CHANNELS for c in channels)
            if not is_known or len(set(channels)) != len(channels):
                raise ModelError(
                    f"channels {' '.join(channels)} of {name}",
                    subject="skeleton",
                    expected=f"each of {' '.join(POSITION_CHANNELS + ROTATION_CHANNELS)} at most once",
                )
            axes = "".join(c[0] for c in channels if c in ROTATION_CHANNELS)
            if not order.startswith(axes):
                raise ModelError(f"{name} has channels for {axes} but rotation order {order}", subject="skeleton")

    @property
    def n_joints(self) -> int:
        """The number of joints, without end sites."""
        return len(self.names)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The indices of joints without a parent."""
        return tuple(np.flatnonzero(self.parents < 0).tolist())

    @cached_property
    def anatomy(self) -> anatomy.Anatomy:
        """The body part of each joint, recognised by its name and position in the hierarchy."""
        return anatomy.recognise(self.names, self.parents.tolist())

    def joint(self, name: str) -> int:
        """Return the index of one joint, by its name or its body part (``"left_hand"``)."""
        own = self._find_own_joint(name)
        if own is not None:
            return own
        try:
            return self.anatomy.joint(name)
        except UnknownJoint as error:
            raise UnknownJoint(name, (*self.names, *error.choices)) from None

    def joints(self, names: str | tuple[str, ...] | list[str]) -> tuple[int, ...]:
        """Return the indices of joints by names, body parts or groups (``"hands"``), in file order."""
        if not isinstance(names, str | tuple | list):
            raise OptionError(option="joints", value=names, expected="names of joints, body parts or groups")
        indices: set[int] = set()
        for name in (names,) if isinstance(names, str) else names:
            own = self._find_own_joint(name)
            try:
                indices.update(self.anatomy.joints(name) if own is None else (own,))
            except UnknownJoint as error:
                raise UnknownJoint(name, (*self.names, *error.choices)) from None
        return tuple(sorted(indices))

    def _find_own_joint(self, name: str) -> int | None:
        """Return the joint of that name, else the only one that differs in case alone, else None."""
        if not isinstance(name, str):
            raise OptionError(f"{format_value(name)} is no joint name", expected=f"text such as {self.names[0]!r}")
        if name in self._index:
            return self._index[name]
        matches = [j for j, own in enumerate(self.names) if own.lower() == name.lower()]
        return matches[0] if len(matches) == 1 else None

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def rest_positions(self) -> Floats:
        """World positions (J + E, 3) of joints, then end sites, with identity rotations."""
        world = np.zeros((self.n_joints, 3))
        for j, parent in enumerate(self.parents.tolist()):
            world[j] = self.offsets[j] + (world[parent] if parent >= 0 else 0.0)
        return np.concatenate((world, world[self.end_joints] + self.end_offsets))

    def is_upright(self, up: kinematics.Up) -> bool:
        """Return whether the rest pose stands along ``up``: of a body with legs, the head is above the feet."""
        if not kinematics.is_upright(self.rest_positions, up):
            return False
        pair = self.anatomy.vertical_pair()
        if pair is None or any(self.anatomy.body_parts[joint] == "hips" for joint in pair[0]):
            return True
        low, high = (kinematics.heights_above(self.rest_positions[list(joints)], up).mean() for joints in pair)
        return bool(high - low >= MIN_HEAD_OVER_FEET * kinematics.vertical_extent(self.rest_positions, up))

    @cached_property
    def stature(self) -> float | None:
        """The height of a standing body in file units, from the lengths of its bones in any rest pose.

        It is the column from the hips to the top of the head, the drop from the hips to the hip joints, and the longer
        leg down to the sole. None if hips, a leg, or neck and head are not recognised, or it is an animal with a tail.
        """
        joint_of = {part: joint for joint, part in enumerate(self.anatomy.body_parts) if part is not None}
        legs = [
            self._path(joint_of[f"{side}_thigh"], joint_of[f"{side}_foot"])
            for side in SIDES
            if f"{side}_thigh" in joint_of and f"{side}_foot" in joint_of
        ]
        top = joint_of.get("head", joint_of.get("neck"))
        if "hips" not in joint_of or top is None or not legs or self.anatomy.vertical_pair() is None:
            return None
        bones = np.linalg.norm(self.offsets, axis=1)
        column = self._path(joint_of["hips"], top)
        length = bones[column].sum() + self._hip_drop(joint_of, column) + max(bones[leg].sum() for leg in legs)
        missing_share = SOLE_SHARE
        head = self._head_length(top) if "head" in joint_of else 0.0
        if head < MIN_HEAD_SHARE * length:
            head = 0.0
            missing_share += HEAD_SHARE if "head" in joint_of else HEAD_AND_NECK_SHARE
        return float((length + head) / (1.0 - missing_share))

    def _path(self, start: int, end: int) -> list[int]:
        """Return the joints whose bones lead from ``start`` to ``end``, from the end; a bone joins a joint to its
        parent."""
        lines: tuple[list[int], list[int]] = ([], [])
        for line, first in zip(lines, (end, start), strict=True):
            joint = first
            while joint >= 0:
                line.append(joint)
                joint = int(self.parents[joint])
        down, up = lines
        return [joint for joint in down if joint not in up] + [joint for joint in reversed(up) if joint not in down]

    def _hip_drop(self, joint_of: Mapping[str, int], column: Sequence[int]) -> float:
        """Return how far the hip joints are below the hips, along the lowest bone of the column that has a length."""
        rest, hips = self.rest_positions, joint_of["hips"]
        upwards = next((rest[j] - rest[hips] for j in reversed(column) if (rest[j] != rest[hips]).any()), None)
        if upwards is None:
            return 0.0
        hip_joints = [joint_of[f"{side}_thigh"] for side in SIDES if f"{side}_thigh" in joint_of]
        drop = (rest[hips] - rest[hip_joints].mean(axis=0)) @ upwards / np.linalg.norm(upwards)
        return float(drop)

    def _head_length(self, head: int) -> float:
        """Return the distance from the joint of the head to its farthest end: an end site, or an unrecognised joint
        without children; 0 if there is none."""
        ends = [self.end_offsets[self.end_joints == head]]
        leaves = [
            joint
            for joint in np.flatnonzero(self.parents == head).tolist()
            if self.anatomy.body_parts[joint] is None and joint not in self.parents and joint not in self.end_joints
        ]
        lengths = np.linalg.norm(np.concatenate((*ends, self.offsets[leaves])), axis=1)
        return float(lengths.max(initial=0.0))

    def __repr__(self) -> str:
        return (
            f"Skeleton({format_count(self.n_joints, 'joint')}, {len(self.end_joints)} "
            f"end sites, root {self.names[0]!r})"
        )
