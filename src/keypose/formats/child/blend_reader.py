"""A .blend file through Blender's Python module, run in a child process by ``main.py``: joints and curves as numbers.

The file is opened without running anything that it brings. ``request["keys"]`` asks for the curves of the action; else
for where every bone is on every frame that the scene plays.
"""

from typing import Any

import numpy as np

LIBRARY = "bpy"
JOINT = "keypose_joint"  # on each bone that we made: the number of its joint
STRENGTH = "residual"
CHECKED_FRAMES = 16  # at which what the keys say is compared with what is seen
MOST_NOTES = 64 << 20
# Where the numbers of each channel stand among the seven of a bone.
CHANNELS = {"rotation_quaternion": (0, 1, 2, 3), "rotation_euler": (0, 1, 2), "location": (4, 5, 6)}

Request = dict[str, Any]


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The file is not taken; ``facts`` say why."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Either kind of answer, with the facts that both have."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=request["file"], load_ui=False, use_scripts=False)
    figure, others = choose_armature()
    bones = bones_of(figure, request)
    facts: dict[str, Any] = {"others": others} if others else {}
    scene = bpy.context.scene
    facts |= {
        "names": [bone.name for bone in bones],
        "parents": parents_of(bones),
        "joints": [joint_of(bone) for bone in bones],
        "rate": scene.render.fps / scene.render.fps_base,
        "first": scene.frame_start,
        "metres": scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0,
        **notes_of(figure),
    }
    for thing in bpy.data.objects:
        if thing.type == "MESH":
            thing.hide_viewport = True  # else each frame bends a skin that nobody looks at
    rest = [(figure.matrix_world @ bone.bone.matrix_local).decompose() for bone in bones]
    arrays = {
        "rest_positions": np.array([place for place, _, _ in rest]).reshape(-1, 3),
        "rest_rotations": np.array([turn for _, turn, _ in rest]).reshape(-1, 4),
        "bone_rotations": np.array([bone.bone.matrix_local.to_quaternion() for bone in bones]).reshape(-1, 4),
    }
    if request["keys"]:
        return arrays | curves_of(figure, bones, request, facts), facts
    step = facts["rate"] / (request["fps"] or facts["rate"])
    at = frames_of(scene, len(bones), step, request)
    facts["rate"] = request["fps"] or facts["rate"]
    positions, rotations, facts["uneven"] = shown(figure, bones, at)
    return arrays | {"positions": positions, "rotations": rotations}, facts


def choose_armature() -> tuple[Any, list[str]]:
    """The armature that we made, else the largest that moves; and the names of the others."""
    import bpy

    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE" and len(o.pose.bones)]
    if not armatures:
        raise Refused(problem="no armature in the scene, expected one")
    armatures.sort(key=lambda o: ("keypose" in o.data, o.animation_data is not None, len(o.pose.bones)), reverse=True)
    return armatures[0], [o.name for o in armatures[1:]]


def bones_of(figure: Any, request: Request) -> list[Any]:
    """The bones, parents first."""
    found: list[Any] = []
    todo = [(bone, 1) for bone in reversed(figure.pose.bones) if bone.parent is None]
    while todo:
        bone, depth = todo.pop()
        found.append(bone)
        if len(found) > request["most_joints"] or depth > request["most_depth"]:
            raise Refused(too_many={"joints": len(found), "depth": depth})
        todo += [(child, depth + 1) for child in reversed(bone.children)]
    return found


def parents_of(bones: list[Any]) -> list[int]:
    """The number of each bone's parent, -1 for a root."""
    numbers = {bone.name: k for k, bone in enumerate(bones)}
    return [numbers[bone.parent.name] if bone.parent else -1 for bone in bones]


def joint_of(bone: Any) -> int | None:
    """The number of the joint that a bone of ours stands for."""
    joint = bone.bone.get(JOINT)
    return joint if isinstance(joint, int) else None


def notes_of(figure: Any) -> dict[str, str]:
    """Our notes and the text that they name, where both are there."""
    import json

    import bpy

    notes = figure.data.get("keypose")
    if not isinstance(notes, str):
        return {}
    try:
        text = bpy.data.texts[json.loads(notes)["text"]].as_string()
    except (ValueError, KeyError, TypeError):
        return {"notes": notes[:MOST_NOTES]}
    return {"notes": notes, "text": text} if len(notes) + len(text) < MOST_NOTES else {}


def frames_of(scene: Any, joints: int, step: float, request: Request) -> Any:
    """The frames that the scene plays, ``step`` apart."""
    first, last = scene.frame_start, max(scene.frame_start, scene.frame_end)
    count = np.floor((last - first) / step + 1e-6) + 1
    if count > request["most_frames"] or count * joints > request["most_poses"]:
        raise Refused(too_many={"frames": int(min(count, 1e15)), "joints": joints})
    return first + np.arange(int(count)) * step


def shown(figure: Any, bones: list[Any], frames: Any) -> tuple[Any, Any, bool]:
    """World positions (T, J, 3) and rotations (T, J, 4) of bones, and whether any is scaled unevenly."""
    import bpy

    positions, rotations = np.empty((len(frames), len(bones), 3)), np.empty((len(frames), len(bones), 4))
    uneven = False
    for i, frame in enumerate(frames):
        whole = int(np.floor(frame + 1e-6))
        bpy.context.scene.frame_set(whole, subframe=float(min(max(frame - whole, 0.0), 0.999999)))
        for j, bone in enumerate(bones):
            place, turn, scale = (figure.matrix_world @ bone.matrix).decompose()
            positions[i, j], rotations[i, j] = place, turn
            uneven = uneven or max(map(abs, scale)) > 1.01 * min(map(abs, scale))
    return positions, rotations, uneven


def curves_of(figure: Any, bones: list[Any], request: Request, facts: dict[str, Any]) -> dict[str, Any]:
    """The curves of the action: their keys, their values on every frame, and what is seen on some frames."""
    import bpy

    scene = bpy.context.scene
    at = frames_of(scene, len(bones), 1.0, request)
    data = figure.animation_data
    if data is None or data.action is None:
        raise Refused(problem="the armature has no action, expected one with keys")
    facts["modes"] = [bone.rotation_mode for bone in bones]
    facts["action"] = data.action.name
    values = np.zeros((len(at), len(bones), 7))
    for j, bone in enumerate(bones):
        turn = bone.rotation_quaternion if bone.rotation_mode == "QUATERNION" else (*bone.rotation_euler, 0.0)
        values[:, j] = (*turn, *bone.location)
    tables = []
    for curve, j, channel in channels(data, bones):
        values[:, j, channel] = [curve.evaluate(frame) for frame in at]
        tables.append(table_of(curve, j, channel))
    if STRENGTH in figure:
        figure[STRENGTH] = 0.0
        figure.update_tag()
    some = at[np.unique(np.linspace(0, len(at) - 1, min(len(at), CHECKED_FRAMES)).astype(int))]
    seen, _, facts["uneven"] = shown(figure, bones, some)
    keys = np.concatenate(tables) if tables else np.zeros((0, 10))
    return {"values": values, "keys": keys, "seen_frames": some - scene.frame_start, "seen": seen}


def channels(data: Any, bones: list[Any]) -> Any:
    """The action's curves that move bones, each with the number of its bone and channel."""
    import bpy

    numbers = {f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].': j for j, bone in enumerate(bones)}
    for layer in data.action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot) if data.action_slot else None
            for curve in bag.fcurves if bag else ():
                bone, _, channel = curve.data_path.rpartition(".")
                j = numbers.get(bone + ".")
                own = CHANNELS.get(channel)
                if j is None or own is None or not 0 <= curve.array_index < len(own):
                    continue
                if channel.startswith("rotation") and (channel == "rotation_quaternion") != (
                    bones[j].rotation_mode == "QUATERNION"
                ):
                    continue  # left over from before the artist changed the mode
                yield curve, j, own[curve.array_index]


def table_of(curve: Any, joint: int, channel: int) -> Any:
    """The keys of a curve (K, 10): joint, channel, x and y of left handle, key, right handle, interpolation, type."""
    points = curve.keyframe_points
    table = np.empty((len(points), 10))
    table[:, 0], table[:, 1] = joint, channel
    for column, name, width, kind in ((2, "handle_left", 2, np.float32), (4, "co", 2, np.float32),
                                      (6, "handle_right", 2, np.float32), (8, "interpolation", 1, np.int32),
                                      (9, "type", 1, np.int32)):  # fmt: skip
        found = np.empty(len(points) * width, kind)
        points.foreach_get(name, found)
        table[:, column : column + width] = found.reshape(-1, width)
    return table
