"""FBX through Blender's Python module, run in a child process by ``_child_main.py``: where every joint is, as numbers.

Blender's importer is told to keep the file's axes. Before it starts, everything that is no part of a moving
skeleton is taken out of what it parsed: materials, textures and videos (which name files elsewhere on the disk) and
all takes but the chosen one.
"""

from typing import Any

import numpy as np

LIBRARY = "bpy"
_LEFT_OUT = {
    b"Material",
    b"Texture",
    b"Video",
    b"LayeredTexture",
    b"Implementation",
    b"BindingTable",
    b"Audio",
    b"Cache",
}


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The file is not taken; ``facts`` say why."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def read(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """World positions and rotations of the joints at every frame and at rest, in the file's axes and units."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    facts = import_chosen_take(request)
    scene = bpy.context.scene
    unit = facts["unit_scale"] / 100.0  # Blender scales the world to metres: what it multiplied by
    joints, others = find_joints(bpy.context.view_layer, request)
    if others:
        facts["others"] = others
    first, last = key_range(joints)
    rate = request["fps"] or scene.render.fps / scene.render.fps_base
    step = scene.render.fps / rate  # its importer counts time in whole frames per second
    count = np.floor((last - first) / step + 1e-3) + 1
    if count > request["most_frames"] or count * len(joints) > request["most_poses"]:
        raise Refused(too_many={"frames": int(min(count, 1e15)), "joints": len(joints)})
    for mesh in list(bpy.data.meshes):
        bpy.data.meshes.remove(mesh)  # else each frame bends a skin that nobody looks at

    positions = np.empty((int(count), len(joints), 3))
    rotations = np.empty((int(count), len(joints), 4))
    uneven = False
    for i in range(int(count)):
        at = first + i * step
        whole = int(np.floor(at + 1e-6))
        scene.frame_set(whole, subframe=float(min(max(at - whole, 0.0), 0.999999)))
        for j, joint in enumerate(joints):
            place, turn, scale = joint.world().decompose()
            positions[i, j], rotations[i, j] = place, turn
            uneven = uneven or max(map(abs, scale)) > 1.01 * min(map(abs, scale))
    rest = [joint.rest().decompose() for joint in joints]
    arrays = {
        "positions": positions / unit,
        "rotations": rotations,
        "rest_positions": np.array([place for place, _, _ in rest]).reshape(-1, 3) / unit,
        "rest_rotations": np.array([turn for _, turn, _ in rest]).reshape(-1, 4),
    }
    facts |= {
        "names": [joint.name for joint in joints],
        "parents": [joint.parent for joint in joints],
        "rate": rate,
        "first": first,
        "uneven": uneven,
    }
    return arrays, facts


def import_chosen_take(request: dict[str, Any]) -> dict[str, Any]:
    """Runs Blender's importer on the chosen take; the facts of the file's header."""
    import bpy
    from io_scene_fbx import parse_fbx  # type: ignore[import-not-found]

    original, facts = parse_fbx.parse, {}

    def parse(*arguments: Any, **keywords: Any) -> Any:
        root, version = original(*arguments, **keywords)
        facts.update(settings_of(root))
        objects = child(root, b"Objects")
        if objects is not None:
            facts.update(keep_one_take(root, objects, request["animation"]))
            objects.elems[:] = [e for e in objects.elems if e.id not in _LEFT_OUT]
        return root, version

    parse_fbx.parse = parse
    try:
        bpy.ops.import_scene.fbx(
            filepath=request["file"],
            use_manual_orientation=True,  # forward Y, up Z are Blender's own axes: nothing is turned
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
    if "refusal" in facts:
        raise Refused(**facts["refusal"])
    return facts


def child(element: Any, name: bytes) -> Any:
    """The first element of that name inside another; None without one."""
    return next((e for e in element.elems if e is not None and e.id == name), None)


def settings_of(root: Any) -> dict[str, Any]:
    """The up axis and the unit (in centimetres) that the header states, or FBX's defaults."""
    found: dict[bytes, Any] = {}
    settings = child(root, b"GlobalSettings")
    table = child(settings, b"Properties70") if settings is not None else None
    for entry in table.elems if table is not None else ():
        if len(entry.props) > 4:
            found[entry.props[0]] = entry.props[4]
    unit = float(found.get(b"UnitScaleFactor", 1.0))
    if not (np.isfinite(unit) and 1e-9 < unit < 1e9):
        return {
            "unit_scale": 1.0,
            "refusal": {"problem": f"UnitScaleFactor {unit}, expected centimetres per unit"},
        }
    axis, sign = found.get(b"UpAxis", 1), found.get(b"UpAxisSign", 1)
    up = ("-" if sign == -1 else "") + "XYZ"[axis] if axis in (0, 1, 2) else "Y"
    return {"unit_scale": unit, "up": up}


def keep_one_take(root: Any, objects: Any, wanted: str | int | None) -> dict[str, Any]:
    """Takes all animation stacks but one out of the parsed file; names what there was."""
    stacks = [e for e in objects.elems if e.id == b"AnimationStack"]
    names = [e.props[1].split(b"\x00\x01")[0].decode("utf-8", "replace") for e in stacks]
    at: int | None = 0
    if isinstance(wanted, str):
        at = names.index(wanted) if wanted in names else None
    elif wanted is not None:
        at = wanted if 0 <= wanted < len(names) else None
    if at is None:
        return {"refusal": {"animations_there": names}}
    if not stacks:
        return {"refusal": {"problem": "no animation (AnimationStack) in the file, expected at least one"}}
    objects.elems[:] = [e for e in objects.elems if e.id != b"AnimationStack" or e is stacks[at]]
    links = child(root, b"Connections")
    layers = {e.props[0] for e in objects.elems if e.id == b"AnimationLayer"}
    own = [e for e in (links.elems if links is not None else ()) if e.props[2:3] == [stacks[at].props[0]]]
    n_layers = sum(e.props[1] in layers for e in own)
    return {"animations": names[:20], "n_animations": len(names), "chosen": names[at], "layers": n_layers}


class Bone:
    """A bone of an armature, as a joint at its head."""

    def __init__(self, armature: Any, pose_bone: Any, parent: int) -> None:
        self.owner, self.bone, self.parent, self.name = armature, pose_bone, parent, pose_bone.name

    def world(self) -> Any:
        """The matrix of the bone in the world at the current frame."""
        return self.owner.matrix_world @ self.bone.matrix

    def rest(self) -> Any:
        """The matrix of the bone in the world at rest."""
        return self.owner.matrix_world @ self.bone.bone.matrix_local


class Empty:
    """An object without shape (an FBX null), as a joint."""

    def __init__(self, thing: Any, parent: int) -> None:
        self.owner, self.parent, self.name = thing, parent, thing.name

    def world(self) -> Any:
        """The matrix of the object in the world at the current frame."""
        return self.owner.matrix_world

    rest = world


def find_joints(view_layer: Any, request: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """The joints, parents first: of the largest armature, else of the empties; and armatures left out."""
    armatures = [o for o in view_layer.objects if o.type == "ARMATURE" and len(o.pose.bones)]
    armatures.sort(key=lambda o: (has_keys(o), len(o.pose.bones)), reverse=True)
    joints: list[Any] = []
    if armatures:
        todo = [(bone, -1, 1) for bone in reversed(armatures[0].pose.bones) if bone.parent is None]
    else:
        todo = [(o, -1, 1) for o in reversed(view_layer.objects) if o.type == "EMPTY" and o.parent is None]
    while todo:
        thing, parent, depth = todo.pop()
        joints.append(Bone(armatures[0], thing, parent) if armatures else Empty(thing, parent))
        if len(joints) > request["most_joints"] or depth > request["most_depth"]:
            raise Refused(too_many={"joints": len(joints), "depth": depth})
        below = [c for c in reversed(thing.children) if armatures or c.type == "EMPTY"]
        todo += [(c, len(joints) - 1, depth + 1) for c in below]
    if not joints:
        raise Refused(problem="no skeleton in the file, expected limb nodes or nulls")
    return joints, [o.name for o in armatures[1:]]


def has_keys(thing: Any) -> bool:
    """Whether an object is animated."""
    return bool(thing.animation_data and thing.animation_data.action)


def key_range(joints: list[Any]) -> tuple[float, float]:
    """The first and last frame with a key on the joints or on what stands above them."""
    ranges = []
    things = {joint.owner for joint in joints}
    while things:
        thing = things.pop()
        if has_keys(thing):
            ranges.append(tuple(thing.animation_data.action.frame_range))
        if thing.parent is not None:
            things.add(thing.parent)
    if not ranges or not np.isfinite(ranges).all():
        raise Refused(problem="the chosen take moves no joint of the skeleton")
    return float(min(r[0] for r in ranges)), float(max(r[1] for r in ranges))
