"""The skeleton in JSON: joints with the names of their parents, and end sites."""

from __future__ import annotations

import numpy as np

from keypose.formats.document import Part
from keypose.model import Skeleton


def read_skeleton(part: Part) -> Skeleton:
    """The skeleton; the caller has allowed the number of its joints."""
    part.check_members("joints", "end_sites")
    joints, ends = part.parts("joints"), part.parts("end_sites")
    if not joints:
        raise part.wrong("joints", "at least one")
    number: dict[str | None, int] = {None: -1}
    parents: list[int] = []
    depths: list[int] = []
    for joint in joints:
        joint.check_members("name", "parent", "offset", "rotation_order", "channels")
        parent = joint.values["parent"]
        if not isinstance(parent, str | None) or parent not in number:
            raise joint.wrong("parent", "null or the name of an earlier joint")
        parents.append(number[parent])
        depths.append(depths[parents[-1]] + 1 if parents[-1] >= 0 else 1)
        if number.setdefault(joint.raw_text("name"), len(parents) - 1) != len(parents) - 1:
            raise joint.wrong("name", "one that no earlier joint has")
    part.source.check_depth(max(depths))
    end_joints = []
    for end in ends:
        end.check_members("joint", "offset")
        if number.get(end.raw_text("joint")) is None:
            raise end.wrong("joint", "the name of a joint")
        end_joints.append(number[end.raw_text("joint")])
    return Skeleton(
        names=tuple(joint.raw_text("name") for joint in joints),
        parents=np.array(parents, np.int32),
        offsets=np.array([joint.row("offset", 3) for joint in joints]),
        rotation_orders=tuple(joint.raw_text("rotation_order") for joint in joints),
        channels=tuple(joint.texts("channels") for joint in joints),
        end_offsets=np.array([end.row("offset", 3) for end in ends]).reshape(-1, 3),
        end_joints=np.array(end_joints, np.int32),
    )
