"""Read FBX with Blender's Python module; run in a child process by ``main.py``.

Blender's importer keeps the file's axes. Before the import everything that is no part of a moving skeleton is removed
from the parsed file: materials, textures and videos (which name files elsewhere on the disk) and all takes but the
chosen one.
"""

from typing import Any

import numpy as np

LIBRARY = "bpy"
_SKIPPED_ELEMENTS = {
    b"Material",
    b"Texture",
    b"Video",
    b"LayeredTexture",
    b"Implementation",
    b"BindingTable",
    b"Audio",
    b"Cache",
}


class FileRejectedError(Exception):
    """The file cannot be read; ``facts`` describe the reason."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return world positions and rotations of the joints at every frame and at rest, in the file's axes and units."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    if request["only_names"]:
        return {}, {"animations": list_take_names(request["file"])}
    facts = import_chosen_take(request)
    scene = bpy.context.scene
    unit = facts["unit_scale"] / 100.0  # Blender scales the scene to metres by this factor
    joints, others = find_joints(bpy.context.view_layer, request)
    facts["not_read"] = list_not_read(scene.objects) | {"other skeleton": others}
    first, last = key_range(joints)
    rate = request["fps"] or scene.render.fps / scene.render.fps_base
    step = scene.render.fps / rate  # the importer uses whole frames per second
    count = np.floor((last - first) / step + 1e-3) + 1
    if count > request["max_frames"] or count * len(joints) > request["max_poses"]:
        raise FileRejectedError(too_many={"frames": int(min(count, 1e15)), "joints": len(joints)})
    for mesh in list(bpy.data.meshes):
        bpy.data.meshes.remove(mesh)  # else each frame deforms the skin in vain

    positions = np.empty((int(count), len(joints), 3))
    rotations = np.empty((int(count), len(joints), 4))
    is_uneven = False
    for i in range(int(count)):
        frame = first + i * step
        whole_frame = int(np.floor(frame + 1e-6))
        scene.frame_set(whole_frame, subframe=float(min(max(frame - whole_frame, 0.0), 0.999999)))
        for j, joint in enumerate(joints):
            position, rotation, scale = joint.world().decompose()
            positions[i, j], rotations[i, j] = position, rotation
            is_uneven = is_uneven or max(map(abs, scale)) > 1.01 * min(map(abs, scale))
    rest = [joint.rest().decompose() for joint in joints]
    arrays = {
        "positions": positions / unit,
        "rotations": rotations,
        "rest_positions": np.array([position for position, _, _ in rest]).reshape(-1, 3) / unit,
        "rest_rotations": np.array([rotation for _, rotation, _ in rest]).reshape(-1, 4),
    }
    facts |= {
        "names": [joint.name for joint in joints],
        "parents": [joint.parent for joint in joints],
        "rate": rate,
        "first": first,
        "is_uneven": is_uneven,
    }
    return arrays, facts


def import_chosen_take(request: dict[str, Any]) -> dict[str, Any]:
    """Run Blender's importer on the chosen take and return the facts of the file's header."""
    import bpy
    from io_scene_fbx import parse_fbx  # type: ignore[import-not-found]

    original, facts = parse_fbx.parse, {}

    def parse(*arguments: Any, **keywords: Any) -> Any:
        root, version = original(*arguments, **keywords)
        facts.update(read_settings(root))
        objects = child(root, b"Objects")
        if objects is not None:
            facts.update(keep_one_take(root, objects, request["animation"]))
            objects.elems[:] = [e for e in objects.elems if e.id not in _SKIPPED_ELEMENTS]
        return root, version

    parse_fbx.parse = parse
    try:
        bpy.ops.import_scene.fbx(
            filepath=request["file"],
            use_manual_orientation=True,  # forward Y, up Z are Blender's own axes: nothing is rotated
            axis_forward="Y",
            axis_up="Z",
            anim_offset=0.0,
            use_image_search=False,
            use_custom_props=False,
            use_custom_normals=False,
            ignore_leaf_bones=False,
            automatic_bone_orientation=False,
        )
    finally:
        parse_fbx.parse = original
    if "rejection" in facts:
        raise FileRejectedError(**facts["rejection"])
    return facts


def child(element: Any, name: bytes) -> Any:
    """Return the first child element of that name; None if there is none."""
    return next((e for e in element.elems if e is not None and e.id == name), None)


def read_settings(root: Any) -> dict[str, Any]:
    """Return the up axis and the unit (in centimetres) that the header states, or FBX's defaults."""
    values: dict[bytes, Any] = {}
    settings = child(root, b"GlobalSettings")
    table = child(settings, b"Properties70") if settings is not None else None
    for entry in table.elems if table is not None else ():
        if len(entry.props) > 4:
            values[entry.props[0]] = entry.props[4]
    unit = float(values.get(b"UnitScaleFactor", 1.0))
    if not (np.isfinite(unit) and 1e-9 < unit < 1e9):
        return {
            "unit_scale": 1.0,
            "rejection": {"problem": f"UnitScaleFactor {unit}, expected centimetres per unit"},
        }
    axis, sign = values.get(b"UpAxis", 1), values.get(b"UpAxisSign", 1)
    up = ("-" if sign == -1 else "") + "XYZ"[axis] if axis in (0, 1, 2) else "Y"
    return {"unit_scale": unit, "up": up}


def list_take_names(path: str) -> list[str]:
    """Return the names of all takes in a file."""
    from io_scene_fbx import parse_fbx

    root, _ = parse_fbx.parse(path)
    objects = child(root, b"Objects")
    return [] if objects is None else [take_name(stack) for stack in find_stacks(objects)]


def find_stacks(objects: Any) -> list[Any]:
    """Return the animation stacks, one for each take."""
    return [e for e in objects.elems if e.id == b"AnimationStack"]


def take_name(stack: Any) -> str:
    """Return the name of a take."""
    return str(stack.props[1].split(b"\x00\x01")[0].decode("utf-8", "replace"))


def keep_one_take(root: Any, objects: Any, selector: str | int | None) -> dict[str, Any]:
    """Remove all animation stacks but one from the parsed file and return facts about them."""
    stacks = find_stacks(objects)
    names = [take_name(stack) for stack in stacks]
    at: int | None = 0
    if isinstance(selector, str):
        at = names.index(selector) if selector in names else None
    elif selector is not None:
        at = selector if 0 <= selector < len(names) else None
    if at is None:
        return {"rejection": {"available_animations": names}}
    if not stacks:
        return {"rejection": {"problem": "no animation (AnimationStack) in the file, expected at least one"}}
    objects.elems[:] = [e for e in objects.elems if e.id != b"AnimationStack" or e is stacks[at]]
    links = child(root, b"Connections")
    layers = {e.props[0] for e in objects.elems if e.id == b"AnimationLayer"}
    stack_links = [e for e in (links.elems if links is not None else ()) if e.props[2:3] == [stacks[at].props[0]]]
    n_layers = sum(e.props[1] in layers for e in stack_links)
    return {"animations": names[:20], "n_animations": len(names), "chosen": names[at], "layers": n_layers}


def list_not_read(scene_objects: Any) -> dict[str, list[str]]:
    """Return the names of the meshes and morph targets of a scene, by kind."""
    meshes = [o for o in scene_objects if o.type == "MESH"]
    skinned = [o for o in meshes if any(modifier.type == "ARMATURE" for modifier in o.modifiers)]
    return {
        "skinned mesh": [o.name for o in skinned],
        "prop": [o.name for o in meshes if o not in skinned],
        "morph target": [k.name for o in meshes if o.data.shape_keys for k in o.data.shape_keys.key_blocks[1:]],
    }


class Bone:
    """A bone of an armature, as a joint at its head."""

    def __init__(self, armature: Any, pose_bone: Any, parent: int) -> None:
        self.owner, self.bone, self.parent, self.name = armature, pose_bone, parent, pose_bone.name

    def world(self) -> Any:
        """Return the world matrix of the bone at the current frame."""
        return self.owner.matrix_world @ self.bone.matrix

    def rest(self) -> Any:
        """Return the world matrix of the bone at rest."""
        return self.owner.matrix_world @ self.bone.bone.matrix_local


class Empty:
    """An object without shape (an FBX null), as a joint."""

    def __init__(self, empty: Any, parent: int) -> None:
        self.owner, self.parent, self.name = empty, parent, empty.name

    def world(self) -> Any:
        """Return the world matrix of the object at the current frame."""
        return self.owner.matrix_world

    rest = world


def find_joints(view_layer: Any, request: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Return the joints, parents first, of the largest armature, else of the empties; and the other armatures."""
    armatures = [o for o in view_layer.objects if o.type == "ARMATURE" and len(o.pose.bones)]
    armatures.sort(key=lambda o: (has_keys(o), len(o.pose.bones)), reverse=True)
    joints: list[Any] = []
    if armatures:
        stack = [(bone, -1, 1) for bone in reversed(armatures[0].pose.bones) if bone.parent is None]
    else:
        stack = [(o, -1, 1) for o in reversed(view_layer.objects) if o.type == "EMPTY" and o.parent is None]
    while stack:
        node, parent, depth = stack.pop()
        joints.append(Bone(armatures[0], node, parent) if armatures else Empty(node, parent))
        if len(joints) > request["max_joints"] or depth > request["max_depth"]:
            raise FileRejectedError(too_many={"joints": len(joints), "depth": depth})
        children = [c for c in reversed(node.children) if armatures or c.type == "EMPTY"]
        stack += [(c, len(joints) - 1, depth + 1) for c in children]
    if not joints:
        raise FileRejectedError(problem="no skeleton in the file, expected limb nodes or nulls")
    return joints, [o.name for o in armatures[1:]]


def has_keys(scene_object: Any) -> bool:
    """Return whether an object is animated."""
    return bool(scene_object.animation_data and scene_object.animation_data.action)


def key_range(joints: list[Any]) -> tuple[float, float]:
    """Return the first and last frame with a key on the joints or their ancestors."""
    ranges = []
    objects = {joint.owner for joint in joints}
    while objects:
        scene_object = objects.pop()
        if has_keys(scene_object):
            ranges.append(tuple(scene_object.animation_data.action.frame_range))
        if scene_object.parent is not None:
            objects.add(scene_object.parent)
    if not ranges or not np.isfinite(ranges).all():
        raise FileRejectedError(problem="the chosen take moves no joint of the skeleton")
    return float(min(r[0] for r in ranges)), float(max(r[1] for r in ranges))
