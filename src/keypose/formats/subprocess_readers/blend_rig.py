"""Build an armature and the mesh that it moves with Blender's Python module; imported by ``blend_writer.py``.

Runs in a child process and imports nothing of this package.
"""

from typing import Any

import numpy as np

PALETTES = {"left": "THEME02", "right": "THEME04"}  # of Blender's bone colours: orange and blue, as the body
AXES_TOLERANCE = 1e-5  # of bones that must rest in the axes of their joints

Arrays = dict[str, Any]
Request = dict[str, Any]


def build_bones(request: Request, arrays: Arrays) -> tuple[Any, list[str]]:
    """Return the armature and the names that Blender gave its bones, in the order of the joints."""
    import bpy

    armature = bpy.data.armatures.new("Armature")
    # Unreal treats an object of any other name as an additional bone.
    figure = bpy.data.objects.new("Armature", armature)
    bpy.context.collection.objects.link(figure)
    bpy.context.view_layer.objects.active = figure
    figure.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    edit_bones: list[Any] = []
    for j, (name, parent) in enumerate(zip(request["names"], request["parents"], strict=True)):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = arrays["heads"][j], arrays["tails"][j]
        bone.align_roll(arrays["normals"][j])
        if parent >= 0:
            bone.parent = edit_bones[parent]
        edit_bones.append(bone)
    names = [bone.name for bone in edit_bones]
    bpy.ops.object.mode_set(mode="OBJECT")
    missing = [name for name in names if name not in armature.bones]
    if missing:
        raise ValueError(f"Blender dropped bones without length: {missing[:5]}")
    sides = {side: armature.collections.new(side) for side in sorted(set(request["sides"]))}
    for j, (name, side) in enumerate(zip(names, request["sides"], strict=True)):
        bone = armature.bones[name]
        bone["keypose_joint"] = j
        sides[side].assign(bone)
        bone.color.palette = PALETTES.get(side, "DEFAULT")
    figure.show_in_front = True
    if request["draw_limbs"]:
        draw_limbs(arrays, figure, names)
    return figure, names


def draw_limbs(arrays: Arrays, figure: Any, bones: list[str]) -> None:
    """Give bones that do not run along their limbs a custom shape that does."""
    import bpy
    from mathutils import Vector  # type: ignore[import-not-found]

    a, b = 0.1, 0.15
    corners = [(0, 0, 0), (a, b, 0), (0, b, a), (-a, b, 0), (0, b, -a), (0, 1, 0)]
    faces = [(0, k, k % 4 + 1) for k in range(1, 5)] + [(5, k % 4 + 1, k) for k in range(1, 5)]
    mesh = bpy.data.meshes.new("limb")
    mesh.from_pydata(corners, [], faces)
    shape = bpy.data.objects.new("limb", mesh)  # it is in no collection, so it is only visible as the shape of bones
    shape.use_fake_user = True
    for name, limb in zip(bones, arrays["limb_vectors"], strict=True):
        bone = figure.pose.bones[name]
        bone.custom_shape = shape
        bone.use_custom_shape_bone_size = False
        along = bone.bone.matrix_local.to_3x3().inverted() @ Vector(limb)
        bone.custom_shape_rotation_euler = Vector((0, 1, 0)).rotation_difference(along).to_euler()
        bone.custom_shape_scale_xyz = (along.length,) * 3


def build_body(request: Request, arrays: Arrays, figure: Any, bones: list[str]) -> None:
    """Build the mesh that the bones move, each vertex by one of them."""
    import bpy

    mesh = bpy.data.meshes.new("figure")
    mesh.from_pydata(arrays["vertices"].tolist(), [], arrays["triangles"].tolist())
    for side, colour in request["materials"].items():
        material = bpy.data.materials.new(side)
        material.diffuse_color = (*colour, 1.0)
        material.use_nodes = True
        material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1.0)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", arrays["material_of_triangle"].astype(np.int32))
    mesh.update()
    body = bpy.data.objects.new("figure", mesh)
    bpy.context.collection.objects.link(body)
    body.parent = figure
    order = np.argsort(arrays["joint_of_vertex"], kind="stable")
    starts = np.searchsorted(arrays["joint_of_vertex"][order], np.arange(len(bones) + 1))
    for j, name in enumerate(bones):
        if starts[j] < starts[j + 1]:
            body.vertex_groups.new(name=name).add(order[starts[j] : starts[j + 1]].tolist(), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = figure
    body.hide_select = request["format"] != "fbx"  # so that a click selects a bone


class JointToBone:
    """Converts rotations and translations of joints to channels of bones: ``axes^-1 rest^-1 q axes``."""

    def __init__(self, axes: Any, rest_rotations: Any, rest_translations: Any) -> None:
        self.axes, self.rest_translations = axes, rest_translations  # (J, 4), (J, 3)
        self.inverse_rest = conjugate(multiply(rest_rotations, axes))  # (J, 4)

    def rotations(self, q: Any) -> Any:
        """Convert quaternions or their tangents (K, J, 4)."""
        return multiply(multiply(self.inverse_rest, q), self.axes)

    def delta_rotations(self, q: Any) -> Any:
        """Convert quaternions (T, J, 4) of further rotations of joints, from any pose."""
        return multiply(multiply(conjugate(self.axes), q), self.axes)

    def delta_translations(self, v: Any) -> Any:
        """Convert vectors (T, J, 3) in the axes of each joint itself."""
        return rotate(conjugate(self.axes), v)

    def directions(self, v: Any) -> Any:
        """Convert vectors (K, J, 3) in the axes of each joint's parent."""
        return rotate(self.inverse_rest, v)

    def translations(self, v: Any) -> Any:
        """Convert local translations (K, J, 3)."""
        return self.directions(v - self.rest_translations)


def build_joint_to_bone(request: Request, arrays: Arrays, figure: Any, bones: list[str]) -> JointToBone:
    """Return the conversion to the axes in which the bones rest, as Blender rounded them."""
    bone_rotations = np.array([figure.data.bones[name].matrix_local.to_quaternion() for name in bones], np.float64)
    bone_rotations /= np.linalg.norm(bone_rotations, axis=1, keepdims=True)
    if request["rotation_mode"] == "QUATERNION":
        axes = multiply(conjugate(arrays["world_rotations"]), bone_rotations)
    else:  # Euler angles are only preserved in exactly the axes of the joints
        error = np.abs(np.abs(np.sum(bone_rotations * arrays["world_rotations"], axis=1)) - 1.0).max()
        if error > AXES_TOLERANCE:
            raise ValueError(f"bones rest {error:.1e} away from their joints' axes")
        axes = np.tile((1.0, 0.0, 0.0, 0.0), (len(bones), 1))
    return JointToBone(axes, arrays["rest_rotations"], arrays["rest_translations"])


def multiply(a: Any, b: Any) -> Any:
    """Return the products of quaternions (..., 4), wxyz."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def rotate(q: Any, v: Any) -> Any:
    """Return vectors (..., 3) rotated by unit quaternions."""
    pure = np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)
    return multiply(multiply(q, pure), conjugate(q))[..., 1:]


def conjugate(q: Any) -> Any:
    """Return the inverse of unit quaternions."""
    return q * np.array((1.0, -1.0, -1.0, -1.0))
