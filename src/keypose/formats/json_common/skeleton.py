"""A skeleton as JSON, joints with the names of their parents and end sites; and one pose of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.formats.json_document import JsonObject
from keypose.model import Pose, Skeleton


def skeleton_json(s: Skeleton) -> dict[str, Any]:
    """Return the JSON of a skeleton."""
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


def read_skeleton(entry: JsonObject) -> Skeleton:
    """Read a skeleton within the limits."""
    entry.check_members("joints", "end_sites")
    joints, ends = entry.objects("joints"), entry.objects("end_sites")
    entry.source.check_joints(len(joints) + len(ends))
    if not joints:
        raise entry.member_error("joints", "at least one")
    indices: dict[str | None, int] = {None: -1}
    parents: list[int] = []
    depths: list[int] = []
    for joint in joints:
        joint.check_members("name", "parent", "offset", "rotation_order", "channels")
        parent = joint.values["parent"]
        if not isinstance(parent, str | None) or parent not in indices:
            raise joint.member_error("parent", "null or the name of an earlier joint")
        parents.append(indices[parent])
        depths.append(depths[parents[-1]] + 1 if parents[-1] >= 0 else 1)
        if indices.setdefault(joint.raw_text("name"), len(parents) - 1) != len(parents) - 1:
            raise joint.member_error("name", "one that no earlier joint has")
    entry.source.check_depth(max(depths))
    end_joints = []
    for end in ends:
        end.check_members("joint", "offset")
        if indices.get(end.raw_text("joint")) is None:
            raise end.member_error("joint", "the name of a joint")
        end_joints.append(indices[end.raw_text("joint")])
    return Skeleton(
        names=tuple(joint.raw_text("name") for joint in joints),
        parents=np.array(parents, np.int32),
        offsets=np.array([joint.row("offset", 3) for joint in joints]),
        rotation_orders=tuple(joint.raw_text("rotation_order") for joint in joints),
        channels=tuple(joint.texts("channels") for joint in joints),
        end_offsets=np.array([end.row("offset", 3) for end in ends]).reshape(-1, 3),
        end_joints=np.array(end_joints, np.int32),
    )


def pose_json(pose: Pose | None) -> dict[str, Any] | None:
    """Return the JSON of a pose; None if there is none."""
    if pose is None:
        return None
    return {"translations": pose.translations.tolist(), "rotations": pose.rotations.tolist()}


def read_pose(json: JsonObject, key: str, joints: int) -> Pose | None:
    """Read the pose ``key`` of so many joints; None if it is null."""
    if json.values[key] is None:
        return None
    entry = json.required_object(key)
    entry.check_members("translations", "rotations")
    return Pose(entry.rows("translations", joints, 3), entry.rows("rotations", joints, 4))
