"""Runs inside Blender's Python: imports the GLB file of a character and evaluates its meshes in one animation.

    python import_character.py FILE.glb FPS ANIMATION FRAME,FRAME,... RESULT.npz

Frames count from 0. The result has ``actions`` and ``shape_keys``, names, and for each mesh its vertices (frames, V, 3).
"""

import sys

import bpy
import numpy as np


def main(path: str, fps: str, animation: str, frames: str, result: str) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = int(fps)  # else keys lie between frames
    bpy.ops.import_scene.gltf(filepath=path)
    meshes = [each for each in scene.objects if each.type == "MESH" and not each.name.startswith("Icosphere")]
    shape_keys = [each.data.shape_keys for each in meshes if each.data.shape_keys]
    for each in (*scene.objects, *shape_keys):
        if data := each.animation_data:
            data.action = None
            for track in data.nla_tracks:
                track.mute = track.name != animation
    arrays = {each.name: [] for each in meshes}
    for frame in map(int, frames.split(",")):
        scene.frame_set(frame + 1)  # the importer's strips start at frame 1
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for each in meshes:
            evaluated = each.evaluated_get(depsgraph)
            vertices = np.empty((len(evaluated.data.vertices), 3), np.float32)
            evaluated.data.vertices.foreach_get("co", vertices.ravel())
            matrix = np.array(evaluated.matrix_world)
            arrays[each.name].append(vertices @ matrix[:3, :3].T + matrix[:3, 3])
    names = {
        "actions": sorted(each.name for each in bpy.data.actions),
        "shape_keys": sorted(block.name for keys in shape_keys for block in keys.key_blocks),
    }
    np.savez(result, **arrays, **{name: np.array(values, str) for name, values in names.items()})


if __name__ == "__main__":
    main(*sys.argv[-5:])
