"""A Blender add-on: imported glTF animations keep the tangents of their cubic splines.

Blender's own importer ignores the tangents and computes handles of its own, so a motion with few keys is wrong between
its keys. With this add-on (Edit > Preferences > Add-ons > Install from Disk) the handles of imported F-curves are those
of the file, and so are the curves between the keys.
"""

import bpy

bl_info = {
    "name": "glTF import with tangents",
    "author": "Keypose",
    "version": (1, 0, 0),
    "blender": (4, 5, 0),
    "category": "Import-Export",
    "description": "Imported glTF animations keep the tangents of their cubic splines",
}

NAMES = {"translation": "location", "rotation": "rotation_quaternion"}


class glTF2ImportUserExtension:  # noqa: N801 - the name for which Blender's importer looks
    """Called by Blender's importer for each channel."""

    def gather_import_animation_channel_after_hook(self, animation, vnode, path, channel, action, gltf):
        """Set the handles of the F-curves that the importer has created from one channel."""
        from io_scene_gltf2.io.imp.gltf2_io_binary import BinaryData

        sampler = animation.samplers[channel.sampler]
        if sampler.interpolation != "CUBICSPLINE" or path not in NAMES:
            return
        times = [time for (time,) in BinaryData.get_data_from_accessor(gltf, sampler.input)]
        triples = BinaryData.get_data_from_accessor(gltf, sampler.output)
        tangents = triples[0::3], triples[2::3]
        values = convert_values(gltf, vnode, path, triples[1::3])
        # The conversion from glTF to F-curves is affine: a tangent is converted as the difference of two points.
        in_tangents, out_tangents = (
            differences(convert_values(gltf, vnode, path, sums(triples[1::3], side)), values) for side in tangents
        )
        curves = find_curves(gltf, vnode, path, action)
        fps = bpy.context.scene.render.fps * bpy.context.scene.render.fps_base  # with which the importer counts frames
        for k, value in enumerate(values):
            points = [curve.keyframe_points[k] for curve in curves]
            dot = sum(a * point.co.y for a, point in zip(value, points, strict=True))
            sign = -1.0 if path == "rotation" and dot < 0 else 1.0  # the importer negates some quaternions
            before_s = times[k] - times[k - 1] if k else 0.0
            after_s = times[k + 1] - times[k] if k + 1 < len(times) else 0.0
            for point, in_tangent, out_tangent in zip(points, in_tangents[k], out_tangents[k], strict=True):
                point.handle_left_type = point.handle_right_type = "FREE"
                point.handle_left = point_along(point.co, -before_s / 3, fps, sign * in_tangent)
                point.handle_right = point_along(point.co, after_s / 3, fps, sign * out_tangent)
        for curve in curves:
            curve.update()


def point_along(point, seconds, frames_per_second, slope):
    """Return the point some seconds after another along a slope per second."""
    return point.x + seconds * frames_per_second, point.y + seconds * slope


def convert_values(gltf, vnode, path, values):
    """Return values of a node as in the importer's F-curves, up to a common shift."""
    if path == "translation":
        values = vnode.base_locs_to_final_locs([gltf.loc_gltf_to_blender(v) for v in values])
    else:
        values = vnode.base_rots_to_final_rots([gltf.quaternion_gltf_to_blender(v) for v in values])
    if vnode.type == vnode.Bone:
        back = vnode.editbone_rot.conjugated()
        values = [back @ value for value in values]
    return values


def sums(a, b):
    return [tuple(x + y for x, y in zip(u, v, strict=True)) for u, v in zip(a, b, strict=True)]


def differences(a, b):
    return [tuple(x - y for x, y in zip(u, v, strict=True)) for u, v in zip(a, b, strict=True)]


def find_curves(gltf, vnode, path, action):
    """Return the F-curves of one channel, in the order of its components."""
    from io_scene_gltf2.blender.com.data_path import get_channelbag_for_slot

    name, animated = NAMES[path], vnode
    if vnode.type == vnode.Bone:
        animated = gltf.vnodes[vnode.bone_arma]
        name = f'pose.bones["{bpy.utils.escape_identifier(vnode.blender_bone_name)}"].{name}'
    slot = next(slot for slot in action.slots if slot.name_display == animated.blender_object.name)
    bag = get_channelbag_for_slot(action, slot)
    return sorted((c for c in bag.fcurves if c.data_path == name), key=lambda curve: curve.array_index)


def register():
    """Do nothing: Blender's importer finds the class above by its name."""


def unregister():
    """Do nothing."""
