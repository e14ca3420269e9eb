"""Runs inside Blender's Python: imports motion files and writes the position of every joint.

    python import_files.py REQUEST.json RESULT.npz

The request is a list of ``{"path": ..., "frames": [0, 10, ...], "fps": ...}``: frames counted from 0, and the rate of
the motion in the file. The result has, for the k-th entry, ``k_names`` (J,), ``k_positions`` (frames, J, 3) in the
file's own axes and ``k_lengths`` (J,), the length of each bone in Blender, NaN for objects that are no bones; or
``k_error``, the reason why Blender did not import it. An entry with ``"fbx"`` is also exported to that path, with a
second take in which the root is one unit away.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

Z_UP_TO_Y_UP = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))


def main(request: str, result: str) -> None:
    arrays = {}
    for k, entry in enumerate(json.loads(Path(request).read_text())):
        path = Path(entry["path"])
        bpy.ops.wm.read_factory_settings(use_empty=True)
        try:
            file_from_blender, blender_frame = IMPORTERS[path.suffix](path, entry["fps"])
            names, lengths, position_getters = describe_objects()
            frames = [blender_frame(frame) for frame in entry["frames"]]
            arrays[f"{k}_positions"] = positions_at(frames, position_getters, file_from_blender)
            arrays[f"{k}_names"] = np.array(names)
            arrays[f"{k}_lengths"] = np.array(lengths)
            if "fbx" in entry:
                export_fbx(entry["fbx"], entry["fps"])
        except Exception as error:  # Blender's importers may raise anything; the test reports the file and the error
            arrays[f"{k}_error"] = np.array(f"{type(error).__name__}: {error}")
    np.savez(result, **arrays)


def describe_objects():
    """Return names, lengths and position functions (in Blender's world) of all bones and objects."""
    names, lengths, position_getters = [], [], []
    for scene_object in bpy.context.scene.objects:
        if scene_object.type == "ARMATURE":
            for bone in scene_object.pose.bones:
                names.append(bone.name)
                at_rest = bone.bone.tail_local - bone.bone.head_local
                lengths.append((scene_object.matrix_world.to_3x3() @ at_rest).length)
                position_getters.append(lambda armature=scene_object, bone=bone: armature.matrix_world @ bone.head)
        else:
            names.append(scene_object.name)
            lengths.append(np.nan)
            position_getters.append(lambda scene_object=scene_object: scene_object.matrix_world.translation)
    return names, lengths, position_getters


def positions_at(frames, position_getters, file_from_blender):
    result = np.empty((len(frames), len(position_getters), 3))
    for i, frame in enumerate(frames):
        whole = int(np.floor(frame + 1e-6))
        bpy.context.scene.frame_set(whole, subframe=max(0.0, min(frame - whole, 0.999999)))
        for j, place in enumerate(position_getters):
            result[i, j] = file_from_blender @ place()
    return result


def import_bvh(path, fps):
    # Forward Y with Z up are Blender's own axes: nothing is rotated. Frame i of the file is frame i + 1 here.
    bpy.ops.import_anim.bvh(
        filepath=str(path),
        global_scale=1.0,
        frame_start=1,
        use_fps_scale=False,
        rotate_mode="NATIVE",
        axis_forward="Y",
        axis_up="Z",
    )
    return Matrix(), lambda frame: frame + 1


def import_gltf(path, fps):
    # Blender converts glTF's Y up to its own Z up, and seconds to frames at the scene's rate.
    bpy.ops.import_scene.gltf(filepath=str(path))
    scene_fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    return Z_UP_TO_Y_UP, lambda frame: frame / fps * scene_fps


def import_usd(path, fps):
    # The scene takes the file's rate: time codes are frames. A Y-up file is converted to Blender's Z up.
    bpy.ops.wm.usd_import(filepath=str(path), scale=1.0, set_frame_range=True, apply_unit_conversion_scale=False)
    return Z_UP_TO_Y_UP, lambda frame: bpy.context.scene.frame_start + frame


def export_fbx(path, fps):
    scene = bpy.context.scene
    scene.render.fps = round(fps)
    scene.frame_start, scene.frame_end = (int(x) for x in bpy.data.actions[0].frame_range)
    second = bpy.data.actions[0].copy()
    second.name = "z-aside"  # Blender exports takes by name: after the first
    second.use_fake_user = True
    bag = second.layers[0].strips[0].channelbags[0]
    place = next(curve for curve in bag.fcurves if curve.data_path.endswith("location"))
    for key in place.keyframe_points:
        key.co.y += 1.0
    bpy.ops.export_scene.fbx(filepath=path, bake_anim=True, bake_anim_simplify_factor=0.0, add_leaf_bones=True)


IMPORTERS = {
    ".bvh": import_bvh,
    ".glb": import_gltf,
    ".gltf": import_gltf,
    ".usda": import_usd,
    ".usdc": import_usd,
    ".usd": import_usd,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
