"""Read a .blend file with Blender's Python module; run in a child process by ``main.py``.

The file is opened without running its scripts. With ``request["keys"]`` the curves of the action are read, else the
position of every bone on every frame of the scene's range.
"""

from typing import Any

import numpy as np
from fbx_reader import list_not_read  # type: ignore[import-not-found]

LIBRARY = "bpy"
JOINT = "keypose_joint"  # property of each bone that Keypose wrote: the index of its joint
OWN_MESH = "figure"  # the mesh that Keypose writes
RESIDUAL_PROPERTY = "residual"
CHECKED_FRAMES = 16  # number of frames in which positions of the keys are compared with those of the scene
MAX_NOTES_CHARS = 64 << 20
# Indices of each channel among the seven numbers of a bone.
CHANNELS = {"rotation_quaternion": (0, 1, 2, 3), "rotation_euler": (0, 1, 2), "location": (4, 5, 6)}

Request = dict[str, Any]


class FileRejectedError(Exception):
    """The file cannot be read; ``facts`` describe the reason."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and facts of the file: curves or sampled poses."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=request["file"], load_ui=False, use_scripts=False)
    figure, others = choose_armature()
    bones = list_bones(figure, request)
    scene = bpy.context.scene
    is_own = "keypose" in figure.data
    meshes = [o for o in scene.objects if not (is_own and o.name == OWN_MESH and o.parent == figure)]
    facts: dict[str, Any] = {
        "not_read": list_not_read(meshes) | {"other armature": others},
        "names": [bone.name for bone in bones],
        "parents": parent_indices(bones),
        "joints": [joint_index(bone) for bone in bones],
        "rate": scene.render.fps / scene.render.fps_base,
        "first": scene.frame_start,
        "metres": scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0,
        **read_notes(figure),
    }
    for scene_object in bpy.data.objects:
        if scene_object.type == "MESH":
            scene_object.hide_viewport = True  # so that the skin is not deformed in each frame, which takes time
    rest = [(figure.matrix_world @ bone.bone.matrix_local).decompose() for bone in bones]
    arrays = {
        "rest_positions": np.array([position for position, _, _ in rest]).reshape(-1, 3),
        "rest_rotations": np.array([rotation for _, rotation, _ in rest]).reshape(-1, 4),
        "bone_rotations": np.array([bone.bone.matrix_local.to_quaternion() for bone in bones]).reshape(-1, 4),
    }
    if request["keys"]:
        return arrays | read_curves(figure, bones, request, facts), facts
    step = facts["rate"] / (request["fps"] or facts["rate"])
    frames = playback_frames(scene, len(bones), step, request)
    facts["rate"] = request["fps"] or facts["rate"]
    positions, rotations, facts["is_uneven"] = evaluate_poses(figure, bones, frames)
    return arrays | {"positions": positions, "rotations": rotations}, facts


def choose_armature() -> tuple[Any, list[str]]:
    """Return the armature that Keypose wrote, else the largest animated one; and the names of the others."""
    import bpy

    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE" and len(o.pose.bones)]
    if not armatures:
        raise FileRejectedError(problem="no armature in the scene, expected one")
    armatures.sort(key=lambda o: ("keypose" in o.data, o.animation_data is not None, len(o.pose.bones)), reverse=True)
    return armatures[0], [o.name for o in armatures[1:]]


def list_bones(figure: Any, request: Request) -> list[Any]:
    """Return the bones, parents first."""
    bones: list[Any] = []
    stack = [(bone, 1) for bone in reversed(figure.pose.bones) if bone.parent is None]
    while stack:
        bone, depth = stack.pop()
        bones.append(bone)
        if len(bones) > request["max_joints"] or depth > request["max_depth"]:
            raise FileRejectedError(too_many={"joints": len(bones), "depth": depth})
        stack += [(child, depth + 1) for child in reversed(bone.children)]
    return bones


def parent_indices(bones: list[Any]) -> list[int]:
    """Return the index of each bone's parent, -1 for a root."""
    indices = {bone.name: k for k, bone in enumerate(bones)}
    return [indices[bone.parent.name] if bone.parent else -1 for bone in bones]


def joint_index(bone: Any) -> int | None:
    """Return the joint index of a bone that Keypose wrote; else None."""
    joint = bone.bone.get(JOINT)
    return joint if isinstance(joint, int) else None


def read_notes(figure: Any) -> dict[str, str]:
    """Return Keypose's notes and the text that they name, if the file has both."""
    import json

    import bpy

    notes = figure.data.get("keypose")
    if not isinstance(notes, str):
        return {}
    try:
        text = bpy.data.texts[json.loads(notes)["text"]].as_string()
    except (ValueError, KeyError, TypeError):
        return {"notes": notes[:MAX_NOTES_CHARS]}
    return {"notes": notes, "text": text} if len(notes) + len(text) < MAX_NOTES_CHARS else {}


def playback_frames(scene: Any, joints: int, step: float, request: Request) -> Any:
    """Return the frames of the scene's range, ``step`` apart."""
    first, last = scene.frame_start, max(scene.frame_start, scene.frame_end)
    count = np.floor((last - first) / step + 1e-6) + 1
    if count > request["max_frames"] or count * joints > request["max_poses"]:
        raise FileRejectedError(too_many={"frames": int(min(count, 1e15)), "joints": joints})
    return first + np.arange(int(count)) * step


def evaluate_poses(figure: Any, bones: list[Any], frames: Any) -> tuple[Any, Any, bool]:
    """Return world positions (T, J, 3) and rotations (T, J, 4) of bones, and whether any is scaled unevenly."""
    import bpy

    positions, rotations = np.empty((len(frames), len(bones), 3)), np.empty((len(frames), len(bones), 4))
    is_uneven = False
    for i, frame in enumerate(frames):
        whole_frame = int(np.floor(frame + 1e-6))
        bpy.context.scene.frame_set(whole_frame, subframe=float(min(max(frame - whole_frame, 0.0), 0.999999)))
        for j, bone in enumerate(bones):
            position, rotation, scale = (figure.matrix_world @ bone.matrix).decompose()
            positions[i, j], rotations[i, j] = position, rotation
            is_uneven = is_uneven or max(map(abs, scale)) > 1.01 * min(map(abs, scale))
    return positions, rotations, is_uneven


def read_curves(figure: Any, bones: list[Any], request: Request, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of the action's curves, their values on every frame, and world positions on some frames."""
    import bpy

    scene = bpy.context.scene
    frames = playback_frames(scene, len(bones), 1.0, request)
    data = figure.animation_data
    if data is None or data.action is None:
        raise FileRejectedError(problem="the armature has no action, expected one with keys")
    facts["modes"] = [bone.rotation_mode for bone in bones]
    facts["action"] = data.action.name
    values = np.zeros((len(frames), len(bones), 7))
    for j, bone in enumerate(bones):
        rotation = bone.rotation_quaternion if bone.rotation_mode == "QUATERNION" else (*bone.rotation_euler, 0.0)
        values[:, j] = (*rotation, *bone.location)
    tables = []
    for curve, j, channel in bone_channels(data, bones):
        values[:, j, channel] = [curve.evaluate(frame) for frame in frames]
        tables.append(key_table(curve, j, channel))
    if RESIDUAL_PROPERTY in figure:
        figure[RESIDUAL_PROPERTY] = 0.0
        figure.update_tag()
    some = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), CHECKED_FRAMES)).astype(int))
    positions, _, facts["is_uneven"] = evaluate_poses(figure, bones, frames[some])
    keys = np.concatenate(tables) if tables else np.zeros((0, 10))
    return {
        "values": values,
        "keys": keys,
        "checked_frames": frames[some] - scene.frame_start,
        "checked_positions": positions,
    }


def bone_channels(data: Any, bones: list[Any]) -> Any:
    """Yield the action's curves of bones, each with the index of its bone and channel."""
    import bpy

    bone_indices = {f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].': j for j, bone in enumerate(bones)}
    for layer in data.action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot) if data.action_slot else None
            for curve in bag.fcurves if bag else ():
                bone, _, channel = curve.data_path.rpartition(".")
                j = bone_indices.get(bone + ".")
                indices = CHANNELS.get(channel)
                if j is None or indices is None or not 0 <= curve.array_index < len(indices):
                    continue
                if channel.startswith("rotation") and (channel == "rotation_quaternion") != (
                    bones[j].rotation_mode == "QUATERNION"
                ):
                    continue  # not used, as the artist has changed the mode
                yield curve, j, indices[curve.array_index]


def key_table(curve: Any, joint: int, channel: int) -> Any:
    """Return the keys of a curve (K, 10): joint, channel, x and y of left handle, key, right handle, and
    interpolation, type.
    """
    points = curve.keyframe_points
    table = np.empty((len(points), 10))
    table[:, 0], table[:, 1] = joint, channel
    for column, name, width, kind in ((2, "handle_left", 2, np.float32), (4, "co", 2, np.float32),
                                      (6, "handle_right", 2, np.float32), (8, "interpolation", 1, np.int32),
                                      (9, "type", 1, np.int32)):  # fmt: skip
        values = np.empty(len(points) * width, kind)
        points.foreach_get(name, values)
        table[:, column : column + width] = values.reshape(-1, width)
    return table
