"""Runs inside Blender's Python: imports motion files and writes where Blender puts every joint.

    python judge.py REQUEST.json RESULT.npz

The request is a list of ``{"path": ..., "frames": [0, 10, ...]}``, frames counted from 0 as in the file. The
result holds, for the k-th entry, ``k_names`` (J,) and ``k_positions`` (frames, J, 3) in the file's own axes,
or ``k_error``, why Blender would not import it.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix


def main(request: str, result: str) -> None:
    arrays = {}
    for k, entry in enumerate(json.loads(Path(request).read_text())):
        path = Path(entry["path"])
        bpy.ops.wm.read_factory_settings(use_empty=True)
        try:
            world_from_blender, first, joints = IMPORTERS[path.suffix](path)
            frames = [first + frame for frame in entry["frames"]]
            arrays[f"{k}_names"] = np.array([name for name, _ in joints])
            arrays[f"{k}_positions"] = positions_at(frames, joints, world_from_blender)
        except Exception as error:  # Blender's importers raise anything; the test says which file and why
            arrays[f"{k}_error"] = np.array(f"{type(error).__name__}: {error}")
    np.savez(result, **arrays)


def positions_at(frames, joints, world_from_blender):
    scene = bpy.context.scene
    found = np.empty((len(frames), len(joints), 3))
    for i, frame in enumerate(frames):
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=frame - whole)
        for j, (_, position) in enumerate(joints):
            found[i, j] = (world_from_blender @ position())[:3]
    return found


def heads(armature):
    """Each bone's name, and a function that gives its head's place in Blender's world."""
    return [(bone.name, lambda bone=bone: armature.matrix_world @ bone.head) for bone in armature.pose.bones]


def armature():
    return next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")


def import_bvh(path):
    # Forward -Y with Z up is Blender's own frame: nothing is turned. Frame i of the file is frame i + 1 here.
    bpy.ops.import_anim.bvh(
        filepath=str(path),
        global_scale=1.0,
        frame_start=1,
        use_fps_scale=False,
        rotate_mode="NATIVE",
        axis_forward="Y",
        axis_up="Z",
    )
    return Matrix(), 1, heads(armature())


IMPORTERS = {".bvh": import_bvh}

if __name__ == "__main__":
    main(*sys.argv[1:])
