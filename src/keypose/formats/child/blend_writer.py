"""A figure and its curves into a .blend or FBX file through Blender, run in a child process by ``main.py``.

What comes in are joints: where they rest and how they turn and move in their own axes. A bone's channels are relative
to the axes in which the bone rests, as Blender rounded them, so the change to those is made here. It is linear: a
curve of four quaternion components or three places stays the same curve.
"""

import json
from functools import cache
from typing import Any

import numpy as np
from blend_rig import Change, build_body, build_bones, change_to_bones  # type: ignore[import-not-found]

LIBRARY = "bpy"
STRENGTH = "residual"

Arrays = dict[str, Any]
Request = dict[str, Any]


def write(request: Request, given: Arrays) -> dict[str, Any]:
    """Leaves the file at ``request["out"]``."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)  # the module never reads a user's settings
    bpy.context.preferences.filepaths.save_version = 0
    set_scene(request)
    figure, bones = build_bones(request, given)
    build_body(request, given, figure, bones)
    to_bones = change_to_bones(request, given, figure, bones)
    action, slot = new_action(request["name"])
    write_keys(request, given, to_bones, bones, action, slot)
    data = figure.animation_data_create()
    data.action, data.action_slot = action, slot
    if "residual_turns" in given:
        residual, its_slot = new_action(f"{request['name']} residual")
        write_residual(request, given, to_bones, bones, residual, its_slot)
        add_layer(request, given, figure, bones, residual, its_slot)
    bpy.context.scene.frame_set(request["first"])
    if request["format"] == "fbx":
        export_fbx(request["out"])
    else:
        keep_notes(request, figure)
        set_view(given)
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.wm.save_as_mainfile(filepath=request["out"], compress=True)
    return {}


def set_scene(request: Request) -> None:
    """Rate, range and unit."""
    import bpy

    scene = bpy.context.scene
    scene.name = request["name"]
    scene.render.fps, scene.render.fps_base = request["fps"], request["fps_base"]
    scene.frame_start, scene.frame_end = request["first"], request["first"] + request["frames"] - 1
    scene.unit_settings.system = "METRIC"
    scene.unit_settings.scale_length = request["metres"]


def new_action(name: str) -> tuple[Any, Any]:
    """An action and the slot of it that the armature uses."""
    import bpy

    action = bpy.data.actions.new(name)
    slot = action.slots.new(id_type="OBJECT", name="Armature")
    action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return action, slot


def write_keys(request: Request, given: Arrays, change: Change, bones: list[str], action: Any, slot: Any) -> None:
    """A curve for each channel of each bone, with the keys and slopes that were given."""
    times = given["keys"] + float(request["first"])
    is_quaternion = request["turning"] == "QUATERNION"
    turns = [given[f"turns_{part}"] for part in request["curve_parts"]]
    places = [given[f"places_{part}"] for part in request["curve_parts"]]
    if is_quaternion:
        turns = [change.turns(part) for part in turns]
    places = [change.places(places[0]), *(change.shifts(part) for part in places[1:])]
    kinds = np.array([enum("type", name) for name in request["key_types"]])[given["key_types"]]
    bag = action.layers[0].strips[0].channelbag(slot)
    for j, bone in enumerate(bones):
        group = bag.groups.new(bone)
        for channels, parts, shown in ((rotation_path(bone, is_quaternion), turns, True),
                                       (channel_path(bone, "location"), places, bool(given["moving"][j]))):  # fmt: skip
            for c in range(parts[0].shape[2] if shown else 0):
                curve = bag.fcurves.new(channels, index=c)
                curve.group = group
                curve.color_mode = "AUTO_YRGB" if parts[0].shape[2] == 4 else "AUTO_RGB"
                set_keys(curve, times, kinds, *(part[:, j, c] for part in parts))
    set_rotation_modes(request, bones)


def set_rotation_modes(request: Request, bones: list[str]) -> None:
    """Quaternions, or for each bone the order of its angles: Blender names the axis first that turns first."""
    import bpy

    pose = bpy.data.objects["Armature"].pose
    for j, name in enumerate(bones):
        orders = request["rotation_orders"]
        pose.bones[name].rotation_mode = "QUATERNION" if orders is None else orders[j][::-1]


def write_residual(request: Request, given: Arrays, change: Change, bones: list[str], action: Any, slot: Any) -> None:
    """A key on every frame: what each bone is turned and moved on by, in its own axes."""
    is_quaternion = request["turning"] == "QUATERNION"
    turns, shifts = given["residual_turns"], change.own_shifts(given["residual_shifts"])
    if is_quaternion:
        turns = change.own_turns(turns)
    times = np.arange(len(turns)) + float(request["first"])
    kinds = np.full(len(turns), enum("type", "JITTER"))  # Blender's word for baked keys
    bag = action.layers[0].strips[0].channelbag(slot)
    for j, bone in enumerate(bones):
        group = bag.groups.new(bone)
        for path, values, shown in ((rotation_path(bone, is_quaternion), turns, given["residual_turning"][j]),
                                    (channel_path(bone, "location"), shifts, given["residual_moving"][j])):  # fmt: skip
            for c in range(values.shape[2] if shown else 0):
                curve = bag.fcurves.new(path, index=c)
                curve.group = group
                set_keys(curve, times, kinds, values[:, j, c])


def rotation_path(bone: str, is_quaternion: bool) -> str:
    """The data path of a bone's turn."""
    return channel_path(bone, "rotation_quaternion" if is_quaternion else "rotation_euler")


def channel_path(bone: str, channel: str) -> str:
    """The data path of a bone's channel."""
    import bpy

    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def set_keys(curve: Any, times: Any, kinds: Any, values: Any, arriving: Any = None, leaving: Any = None) -> None:
    """Keys with handles a third of the gap away, so that the curve is a cubic of time; straight without slopes."""
    n = len(times)
    gaps = np.diff(times) if n > 1 else np.ones(1)
    before, after = (np.concatenate((gaps[:1], gaps))[:n] / 3, np.concatenate((gaps, gaps[-1:]))[:n] / 3)
    is_cubic = arriving is not None
    if not is_cubic:
        chords = np.diff(values) / gaps if n > 1 else np.zeros(1)
        arriving, leaving = np.concatenate((chords[:1], chords))[:n], np.concatenate((chords, chords[-1:]))[:n]
    points = curve.keyframe_points
    points.add(n)
    points.foreach_set("co", pairs(times, values))
    for side in ("handle_left_type", "handle_right_type"):
        points.foreach_set(side, numbers(n, enum(side, "FREE" if is_cubic else "VECTOR")))
    points.foreach_set("handle_left", pairs(times - before, values - before * arriving))
    points.foreach_set("handle_right", pairs(times + after, values + after * leaving))
    points.foreach_set("interpolation", numbers(n, enum("interpolation", "BEZIER" if is_cubic else "LINEAR")))
    points.foreach_set("type", numbers(n, kinds))
    curve.update()


@cache
def enum(prop: str, name: str) -> int:
    """The number behind a name that a key's property may have."""
    import bpy

    return int(bpy.types.Keyframe.bl_rna.properties[prop].enum_items[name].value)


def numbers(n: int, values: Any) -> Any:
    """``n`` whole numbers as Blender takes them at once, without looking at each."""
    return np.broadcast_to(values, n).astype(np.int32)


def pairs(x: Any, y: Any) -> Any:
    """Points as Blender wants them: x, y, x, y, ..."""
    return np.stack((x, y), axis=1).astype(np.float32).ravel()


def add_layer(request: Request, given: Arrays, figure: Any, bones: list[str], action: Any, slot: Any) -> None:
    """The residual on top of whatever the bones do, with one strength for all: a property of the armature.

    Each bone has an action constraint that turns and moves it on in its own axes (``q d``): the detail follows edits.
    An NLA track that is combined would be the shorter way, but Blender takes the power of its small turns by an arc
    cosine in single precision, which makes the figure tremble.
    """
    figure[STRENGTH] = 0.0
    figure.id_properties_ui(STRENGTH).update(
        min=0.0,
        max=1.0,  # as far as a constraint goes
        default=0.0,
        description="How much of the captured detail is put back on the keys",
    )
    figure.property_overridable_library_set(f'["{STRENGTH}"]', True)
    first, frames = request["first"], request["frames"]
    for name, is_needed in zip(bones, given["residual_turning"] | given["residual_moving"], strict=True):
        if not is_needed:
            continue
        layer = figure.pose.bones[name].constraints.new("ACTION")
        layer.name = STRENGTH
        layer.action, layer.action_slot = action, slot
        layer.mix_mode = "AFTER_FULL"
        layer.use_eval_time = True
        layer.frame_start, layer.frame_end = first, first + max(frames - 1, 1)
        driven(layer, "eval_time", f"(frame - {first}) / {max(frames - 1, 1)}")
        strength = driven(layer, "influence", STRENGTH)
        variable = strength.driver.variables.new()
        variable.name = STRENGTH
        variable.targets[0].id, variable.targets[0].data_path = figure, f'["{STRENGTH}"]'


def driven(thing: Any, prop: str, expression: str) -> Any:
    """A property that follows an expression, one that Blender evaluates without running Python."""
    curve = thing.driver_add(prop)
    curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    return curve


def keep_notes(request: Request, figure: Any) -> None:
    """What brings the file back as it went: text that anyone can save and read, and where its bones belong."""
    import bpy

    text = bpy.data.texts.new(request["text_name"])
    text.write(request["text"])
    figure.data["keypose"] = json.dumps(request["notes"] | {"text": text.name})


def set_view(given: Arrays) -> None:
    """The figure in the middle of the view."""
    import bpy

    points = np.concatenate((given["heads"], given["tails"]))
    middle, size = (points.min(axis=0) + points.max(axis=0)) / 2, np.ptp(points, axis=0).max()
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                view = area.spaces.active.region_3d
                view.view_location, view.view_distance = middle, float(2.5 * size)


def export_fbx(path: str) -> None:
    """A key on every frame, Y up, and no bones at the ends of limbs, which game engines take for joints."""
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
