"""Runs inside Blender's Python: imports a sparse glTF file, edits a key of it, exports it again.

    python edit_gltf.py REQUEST.json RESULT.npz

The request is ``{"path", "fps", "frames", "tangents", "turn", "exports"}``: frames, whole or fractional, to evaluate;
whether the add-on that keeps tangents is enabled; ``[bone, frame, degrees]`` to rotate a bone at a key, or null; and
files to export with the keys unchanged and with one on every frame. The result has ``names`` (J,), ``positions``
(frames, J, 3) in the file's axes after the edit, and ``handles``, the handle types of the keys.
"""

import json
import math
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

Z_UP_TO_Y_UP = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
ADD_ON = "gltf_tangents"


def main(request: str, result: str) -> None:
    options = json.loads(Path(request).read_text())
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = round(options["fps"])  # so that keys fall on whole frames
    if options["tangents"]:
        sys.path.append(str(Path(__file__).resolve().parents[2] / "blender"))
        __import__(ADD_ON)
        bpy.context.preferences.addons.new().module = ADD_ON
    bpy.ops.import_scene.gltf(filepath=options["path"])
    (armature,) = (thing for thing in scene.objects if thing.type == "ARMATURE")
    (action,) = bpy.data.actions
    if options["turn"]:
        turn_a_key(armature, *options["turn"])
    bones = armature.pose.bones
    positions = np.empty((len(options["frames"]), len(bones), 3))
    for i, frame in enumerate(options["frames"]):
        whole = math.floor(frame)
        scene.frame_set(whole, subframe=min(frame - whole, 0.999999))
        for j, bone in enumerate(bones):
            positions[i, j] = Z_UP_TO_Y_UP @ (armature.matrix_world @ bone.head)
    bag = action.layers[0].strips[0].channelbags[0]
    kinds = {point.handle_left_type for curve in bag.fcurves for point in curve.keyframe_points}
    np.savez(result, names=[bone.name for bone in bones], positions=positions, handles=sorted(kinds))
    scene.frame_start, scene.frame_end = (round(frame) for frame in action.frame_range)
    for path, sampled in zip(options["exports"], (False, True), strict=False):
        bpy.ops.export_scene.gltf(filepath=path, export_force_sampling=sampled)


def turn_a_key(armature, bone: str, frame: int, degrees: float) -> None:
    """Rotate a bone at a key about its own axis."""
    bpy.context.scene.frame_set(frame)
    pose = armature.pose.bones[bone]
    pose.rotation_quaternion = pose.rotation_quaternion @ Quaternion((1, 0, 0), math.radians(degrees))
    pose.keyframe_insert("rotation_quaternion", frame=frame)


if __name__ == "__main__":
    main(*sys.argv[1:])
