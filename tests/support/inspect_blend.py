"""Runs inside Blender's Python: opens .blend files and writes what Blender evaluates from them.

    python inspect_blend.py REQUEST.json RESULT.npz

The request is a list of ``{"path": ..., "frames": [1.0, 10.5, ...], "shares": [null, 1.0, 0.5]}``: frame numbers of
Blender, and the strengths of the residual layer, null for that of the file. The result has, for the k-th entry,
``k_positions`` (shares, frames, J, 3) of bone heads in Blender's world, bones by name in ``k_names``; the F-curves of
the active action, one after another, as ``k_curves`` (their names), ``k_counts`` and ``k_points`` (x and y of left
handle, key and right handle), ``k_kinds`` and ``k_interpolations``; and ``k_facts``, some JSON. ``"edits"`` maps names
of functions of this file to paths: each function alone is then applied to the file, and the result saved to the path.
With ``"picture"`` the figure is rendered to that PNG.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Quaternion, Vector


def main(request: str, result: str) -> None:
    arrays = {}
    for k, entry in enumerate(json.loads(Path(request).read_text())):
        bpy.ops.wm.open_mainfile(filepath=entry["path"], use_scripts=False)
        figure = bpy.data.objects["Armature"]
        arrays |= {f"{k}_{name}": value for name, value in curves(figure).items()}
        arrays[f"{k}_names"] = np.array([bone.name for bone in figure.pose.bones])
        arrays[f"{k}_facts"] = np.array(json.dumps(facts(figure)))
        arrays[f"{k}_positions"] = np.array([positions(figure, entry["frames"], share) for share in entry["shares"]])
        for edit, saved in entry.get("edits", {}).items():
            bpy.ops.wm.open_mainfile(filepath=entry["path"], use_scripts=False)
            EDITS[edit](bpy.data.objects["Armature"], saved)
            bpy.ops.wm.save_as_mainfile(filepath=saved)
        if "picture" in entry:
            draw(entry["picture"])
    np.savez(result, **arrays)


def positions(figure, frames, share):
    if share is not None:
        figure["residual"] = share
        figure.update_tag()
    result = np.empty((len(frames), len(figure.pose.bones), 3))
    for i, frame in enumerate(frames):
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        for j, bone in enumerate(figure.pose.bones):
            result[i, j] = figure.matrix_world @ bone.head
    return result


def fcurves(figure):
    """Return the F-curves of the active action."""
    return figure.animation_data.action.layers[0].strips[0].channelbags[0].fcurves


def curves(figure):
    names, counts, points, kinds, interpolations = [], [], [], [], []
    for curve in fcurves(figure):
        names.append(f"{curve.data_path}[{curve.array_index}]")
        counts.append(len(curve.keyframe_points))
        for key in curve.keyframe_points:
            points.append((*key.handle_left, *key.co, *key.handle_right))
            kinds.append(key.type)
            interpolations.append(key.interpolation)
    return {
        "curves": np.array(names),
        "counts": np.array(counts),
        "points": np.array(points),
        "kinds": np.array(kinds),
        "interpolations": np.array(interpolations),
    }


def facts(figure):
    scene, data = bpy.context.scene, figure.animation_data
    return {
        "fps": scene.render.fps / scene.render.fps_base,
        "range": [scene.frame_start, scene.frame_end],
        "metres": scene.unit_settings.scale_length,
        "mode": figure.mode,
        "action": data.action.name,
        "residual": figure.get("residual"),
        "rotation_modes": {bone.name: bone.rotation_mode for bone in figure.pose.bones},
        "tails": {bone.name: list(bone.tail_local) for bone in figure.data.bones},
        "corners": len(bpy.data.objects["figure"].data.vertices),
        "texts": [text.name for text in bpy.data.texts],
        "colours": {material.name: list(material.diffuse_color)[:3] for material in bpy.data.materials},
        "palettes": {bone.name: bone.color.palette for bone in figure.data.bones},
    }


def turn_arm(figure, path):
    """Rotate an arm at one key, with the residual enabled, and key it."""
    figure["residual"] = 1.0
    scene = bpy.context.scene
    bone = figure.pose.bones["LeftArm"]
    curve = fcurves(figure).find('pose.bones["LeftArm"].rotation_quaternion', index=0)
    scene.frame_set(int(curve.keyframe_points[2].co.x))
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1.0, 0.0, 0.0), 0.5)
    bone.keyframe_insert("rotation_quaternion")
    figure["residual"] = 0.0


def move_key(figure, path):
    """Move all keys of one frame with their handles by three frames."""
    frame = fcurves(figure)[0].keyframe_points[2].co.x
    for curve in fcurves(figure):
        for key in curve.keyframe_points:
            if key.co.x == frame:
                for point in (key.co, key.handle_left, key.handle_right):
                    point.x += 3.0
        curve.update()


def add_key(figure, path):
    """Key one bone between the existing keys."""
    first, second = (fcurves(figure)[0].keyframe_points[k].co.x for k in (2, 3))
    bpy.context.scene.frame_set(round((first + second) / 2))
    bone = figure.pose.bones["LeftArm"]
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0.0, 0.0, 1.0), 0.3)
    bone.keyframe_insert("rotation_quaternion")


def reach(figure, path):
    """Add a constraint, which keys do not contain."""
    target = bpy.data.objects.new("target", None)
    target.location = (0.5, -0.5, 1.2)
    bpy.context.collection.objects.link(target)
    grip = figure.pose.bones["LeftForeArm"].constraints.new("IK")
    grip.target, grip.chain_count = target, 2


def forget(figure, path):
    """Remove Keypose's data from the file."""
    del figure.data["keypose"]


def trap(figure, path):
    """Add a script and a driver that would write a file if they were run on opening."""
    mark = f"open({path + '.ran'!r}, 'w')"
    text = bpy.data.texts.new("trap.py")
    text.write(mark)
    text.use_module = True
    figure.driver_add("location", 0).driver.expression = f"0.0 if {mark} else 0.0"


def put_back(figure, path):
    """Set the strength of the residual to 1."""
    figure["residual"] = 1.0


def mix_modes(figure, path):
    """Change the rotation mode of one bone."""
    figure.pose.bones["LeftArm"].rotation_mode = "XYZ"


EDITS = {edit.__name__: edit for edit in (turn_arm, move_key, add_key, reach, forget, trap, put_back, mix_modes)}


def draw(path):
    """Render the figure at the middle of the clip from the front left, on the CPU."""
    scene = bpy.context.scene
    scene.frame_set((scene.frame_start + scene.frame_end) // 2)
    figure = bpy.data.objects["Armature"]
    middle = sum((figure.matrix_world @ bone.head for bone in figure.pose.bones), Vector()) / len(figure.pose.bones)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = middle + Vector((2.2, -3.2, 0.6))
    camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
    light = bpy.data.objects.new("light", bpy.data.lights.new("light", "SUN"))
    light.data.energy = 3.0
    light.rotation_euler = (0.7, 0.3, 0.4)
    for thing in (camera, light):
        scene.collection.objects.link(thing)
    scene.camera = camera
    scene.world = scene.world or bpy.data.worlds.new("world")
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples = "CPU", 8
    scene.render.resolution_x, scene.render.resolution_y = 480, 640
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
