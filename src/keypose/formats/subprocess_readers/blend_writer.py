"""Write a figure and its curves to a .blend or FBX file with Blender; run in a child process by ``main.py``.

The input are joints: their rest pose, rotations and translations in their own axes. A bone's channels are relative to
the axes in which the bone rests, as Blender rounded them, so the conversion to them is done here. It is linear: a curve
of four quaternion components or three coordinates does not change.
"""

import json
from functools import cache
from typing import Any

import numpy as np
from blend_rig import JointToBone, build_body, build_bones, build_joint_to_bone  # type: ignore[import-not-found]

LIBRARY = "bpy"
RESIDUAL_PROPERTY = "residual"

Arrays = dict[str, Any]
Request = dict[str, Any]


def write(request: Request, arrays: Arrays) -> dict[str, Any]:
    """Write the file to ``request["out"]``."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)  # ignores the user's settings
    bpy.context.preferences.filepaths.save_version = 0
    set_scene(request)
    figure, bones = build_bones(request, arrays)
    build_body(request, arrays, figure, bones)
    joint_to_bone = build_joint_to_bone(request, arrays, figure, bones)
    bpy_action, slot = create_action(request["name"])
    write_keys(request, arrays, joint_to_bone, bones, bpy_action, slot)
    data = figure.animation_data_create()
    data.action, data.action_slot = bpy_action, slot
    if "residual_rotations" in arrays:
        residual, residual_slot = create_action(f"{request['name']} residual")
        write_residual(request, arrays, joint_to_bone, bones, residual, residual_slot)
        add_layer(request, arrays, figure, bones, residual, residual_slot)
    bpy.context.scene.frame_set(request["first"])
    if request["format"] == "fbx":
        export_fbx(request["out"])
    else:
        save_notes(request, figure)
        set_view(arrays)
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.wm.save_as_mainfile(filepath=request["out"], compress=True)
    return {}


def set_scene(request: Request) -> None:
    """Set rate, range and unit of the scene."""
    import bpy

    scene = bpy.context.scene
    scene.name = request["name"]
    scene.render.fps, scene.render.fps_base = request["fps"], request["fps_base"]
    scene.frame_start, scene.frame_end = request["first"], request["first"] + request["frames"] - 1
    scene.unit_settings.system = "METRIC"
    scene.unit_settings.scale_length = request["metres"]


def create_action(name: str) -> tuple[Any, Any]:
    """Return a new action and the slot of it that the armature uses."""
    import bpy

    bpy_action = bpy.data.actions.new(name)
    slot = bpy_action.slots.new(id_type="OBJECT", name="Armature")
    bpy_action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return bpy_action, slot


def write_keys(
    request: Request, arrays: Arrays, joint_to_bone: JointToBone, bones: list[str], bpy_action: Any, slot: Any
) -> None:
    """Add a curve with the keys and tangents of the request for each channel of each bone."""
    times = arrays["keys"] + float(request["first"])
    is_quaternion = request["rotation_mode"] == "QUATERNION"
    rotations = [arrays[f"rotations_{member}"] for member in request["curve_members"]]
    values, *tangents = (arrays[f"translations_{member}"] for member in request["curve_members"])
    if is_quaternion:
        rotations = [joint_to_bone.rotations(array) for array in rotations]
    translations = [joint_to_bone.translations(values), *(joint_to_bone.directions(array) for array in tangents)]
    key_types = np.array([enum("type", name) for name in request["key_types"]])[arrays["key_types"]]
    bag = bpy_action.layers[0].strips[0].channelbag(slot)
    for j, bone in enumerate(bones):
        group = bag.groups.new(bone)
        for path, curve_arrays, is_key, is_written in (
            (rotation_path(bone, is_quaternion), rotations, arrays["rotations_is_key"][:, j], True),
            (
                channel_path(bone, "location"),
                translations,
                arrays["translations_is_key"][:, j],
                bool(arrays["is_moving"][j]),
            ),
        ):
            for c in range(curve_arrays[0].shape[2] if is_written else 0):
                curve = bag.fcurves.new(path, index=c)
                curve.group = group
                curve.color_mode = "AUTO_YRGB" if curve_arrays[0].shape[2] == 4 else "AUTO_RGB"
                set_keys(curve, times[is_key], key_types[is_key], *(array[is_key, j, c] for array in curve_arrays))
    set_rotation_modes(request, bones)


def set_rotation_modes(request: Request, bones: list[str]) -> None:
    """Set quaternions, or for each bone the order of its angles: in Blender the first axis of the name is the first
    rotation."""
    import bpy

    pose = bpy.data.objects["Armature"].pose
    for j, name in enumerate(bones):
        orders = request["rotation_orders"]
        pose.bones[name].rotation_mode = "QUATERNION" if orders is None else orders[j][::-1]


def write_residual(
    request: Request, arrays: Arrays, joint_to_bone: JointToBone, bones: list[str], bpy_action: Any, slot: Any
) -> None:
    """Add a key on every frame: the rotation and translation of each bone's residual, in its own axes."""
    is_quaternion = request["rotation_mode"] == "QUATERNION"
    rotations = arrays["residual_rotations"]
    translations = joint_to_bone.delta_translations(arrays["residual_translations"])
    if is_quaternion:
        rotations = joint_to_bone.delta_rotations(rotations)
    times = np.arange(len(rotations)) + float(request["first"])
    key_types = np.full(len(rotations), enum("type", "JITTER"))  # Blender's type of baked keys
    bag = bpy_action.layers[0].strips[0].channelbag(slot)
    for j, bone in enumerate(bones):
        group = bag.groups.new(bone)
        for path, values, is_written in (
            (rotation_path(bone, is_quaternion), rotations, arrays["residual_is_rotating"][j]),
            (channel_path(bone, "location"), translations, arrays["residual_is_moving"][j]),
        ):
            for c in range(values.shape[2] if is_written else 0):
                curve = bag.fcurves.new(path, index=c)
                curve.group = group
                set_keys(curve, times, key_types, values[:, j, c])


def rotation_path(bone: str, is_quaternion: bool) -> str:
    """Return the data path of a bone's rotation."""
    return channel_path(bone, "rotation_quaternion" if is_quaternion else "rotation_euler")


def channel_path(bone: str, channel: str) -> str:
    """Return the data path of a bone's channel."""
    import bpy

    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def set_keys(
    curve: Any, times: Any, key_types: Any, values: Any, in_tangents: Any = None, out_tangents: Any = None
) -> None:
    """Add keys with handles at a third of the gap, so that the curve is a cubic of time; linear without tangents."""
    n = len(times)
    gaps = np.diff(times) if n > 1 else np.ones(1)
    before, after = (np.concatenate((gaps[:1], gaps))[:n] / 3, np.concatenate((gaps, gaps[-1:]))[:n] / 3)
    is_cubic = in_tangents is not None
    if not is_cubic:
        chords = np.diff(values) / gaps if n > 1 else np.zeros(1)
        in_tangents, out_tangents = np.concatenate((chords[:1], chords))[:n], np.concatenate((chords, chords[-1:]))[:n]
    points = curve.keyframe_points
    points.add(n)
    points.foreach_set("co", interleave(times, values))
    for side in ("handle_left_type", "handle_right_type"):
        points.foreach_set(side, int_array(n, enum(side, "FREE" if is_cubic else "VECTOR")))
    points.foreach_set("handle_left", interleave(times - before, values - before * in_tangents))
    points.foreach_set("handle_right", interleave(times + after, values + after * out_tangents))
    points.foreach_set("interpolation", int_array(n, enum("interpolation", "BEZIER" if is_cubic else "LINEAR")))
    points.foreach_set("type", int_array(n, key_types))
    curve.update()


@cache
def enum(prop: str, name: str) -> int:
    """Return the number of an enum value of a key's property."""
    import bpy

    return int(bpy.types.Keyframe.bl_rna.properties[prop].enum_items[name].value)


def int_array(n: int, values: Any) -> Any:
    """Return ``n`` integers in the type that Blender copies in bulk."""
    return np.broadcast_to(values, n).astype(np.int32)


def interleave(x: Any, y: Any) -> Any:
    """Return points as x, y, x, y, ..."""
    return np.stack((x, y), axis=1).astype(np.float32).ravel()


def add_layer(request: Request, arrays: Arrays, figure: Any, bones: list[str], bpy_action: Any, slot: Any) -> None:
    """Add the residual on top of the keys, with one strength for all bones: a property of the armature.

    Each bone has an action constraint that rotates and moves it in its own axes (``q d``), so the residual follows
    edits. A combined NLA track would be shorter, but Blender computes the power of its small rotations by an arc cosine
    in single precision, so that the figure trembles.
    """
    figure[RESIDUAL_PROPERTY] = 0.0
    figure.id_properties_ui(RESIDUAL_PROPERTY).update(
        min=0.0,
        max=1.0,  # the maximum of a constraint
        default=0.0,
        description="How much of the captured detail is put back on the keys",
    )
    figure.property_overridable_library_set(f'["{RESIDUAL_PROPERTY}"]', True)
    first, frames = request["first"], request["frames"]
    for name, is_needed in zip(bones, arrays["residual_is_rotating"] | arrays["residual_is_moving"], strict=True):
        if not is_needed:
            continue
        layer = figure.pose.bones[name].constraints.new("ACTION")
        layer.name = RESIDUAL_PROPERTY
        layer.action, layer.action_slot = bpy_action, slot
        layer.mix_mode = "AFTER_FULL"
        layer.use_eval_time = True
        layer.frame_start, layer.frame_end = first, first + max(frames - 1, 1)
        add_driver(layer, "eval_time", f"(frame - {first}) / {max(frames - 1, 1)}")
        strength = add_driver(layer, "influence", RESIDUAL_PROPERTY)
        variable = strength.driver.variables.new()
        variable.name = RESIDUAL_PROPERTY
        variable.targets[0].id, variable.targets[0].data_path = figure, f'["{RESIDUAL_PROPERTY}"]'


def add_driver(owner: Any, prop: str, expression: str) -> Any:
    """Set a property to an expression that Blender evaluates without running Python; return its curve."""
    curve = owner.driver_add(prop)
    curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    return curve


def save_notes(request: Request, figure: Any) -> None:
    """Save the data for reading the file back: the keyed motion as text, and notes about the bones."""
    import bpy

    text = bpy.data.texts.new(request["text_name"])
    text.write(request["text"])
    figure.data["keypose"] = json.dumps(request["notes"] | {"text": text.name})


def set_view(arrays: Arrays) -> None:
    """Centre the view on the figure."""
    import bpy

    points = np.concatenate((arrays["heads"], arrays["tails"]))
    middle, size = (points.min(axis=0) + points.max(axis=0)) / 2, np.ptp(points, axis=0).max()
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                view = area.spaces.active.region_3d
                view.view_location, view.view_distance = middle, float(2.5 * size)


def export_fbx(path: str) -> None:
    """Export a key on every frame, Y up, without bones at the ends of limbs, which game engines treat as joints."""
    import bpy

    bpy.ops.export_scene.fbx(
        filepath=path,
        object_types={"ARMATURE", "MESH"},
        axis_forward="-Z",
        axis_up="Y",
        apply_unit_scale=True,
        add_leaf_bones=False,
        bake_anim=True,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
        bake_anim_force_startend_keying=True,
        bake_anim_step=1.0,
        bake_anim_simplify_factor=0.0,
        path_mode="STRIP",
    )
