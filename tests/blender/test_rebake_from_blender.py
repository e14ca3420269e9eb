"""Rebake onto Blender's exports, whose bones have other axes and whose files have other units and up axes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats.orientation import metres_per_unit
from keypose.rotations import conjugate, exp, multiply, rotate
from support.errors import Pattern, raises

pytestmark = [pytest.mark.blender, pytest.mark.data]

BONE, AXIS, DEGREES = "LeftArm", (0.6, 0.0, 0.8), 25.0  # the axis in the world, Y up
KEY = 9  # of 26
HELD = range(90, 121)  # rotated frames in the file with a key on each frame
SAME_MM, DETAIL_MM = 0.1, 0.5  # on a figure of 1.7 m: for unedited and edited frames
Z_UP = np.array((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))

EDIT = '''
import json, math, sys
from pathlib import Path
import bpy
from mathutils import Quaternion, Vector

def turn(bone, axis, degrees, frame, first, last):
    """Rotate a bone at its keys with their handles, by a rotation about a world axis at one frame."""
    (figure,) = (thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    bpy.context.scene.frame_set(frame)
    x, y, z = axis
    world = (figure.matrix_world @ figure.pose.bones[bone].matrix).to_quaternion()
    by = Quaternion(world.inverted() @ Vector((x, -z, y)), math.radians(degrees))
    path = f'pose.bones["{bone}"].rotation_quaternion'
    bag = figure.animation_data.action.layers[0].strips[0].channelbags[0]
    curves = [bag.fcurves.find(path, index=c) for c in range(4)]
    for keys in zip(*(curve.keyframe_points for curve in curves), strict=True):
        if first <= round(keys[0].co.x) <= last:
            for part in ("co", "handle_left", "handle_right"):
                values = Quaternion([getattr(key, part)[1] for key in keys]) @ by
                for key, value in zip(keys, values, strict=True):
                    getattr(key, part)[1] = value
    for curve in curves:
        curve.update()
    return figure

request = json.loads(Path(sys.argv[1]).read_text())
for entry in request:
    if entry["file"].endswith(".blend"):
        bpy.ops.wm.open_mainfile(filepath=entry["file"])
    else:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.fbx(filepath=entry["file"])
        (action,) = {thing.animation_data.action for thing in bpy.data.objects if thing.animation_data}
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = map(round, action.frame_range)
    figure = turn(*entry["turn"])
    bpy.context.scene.frame_set(entry["turn"][3])
    for path in entry["exports"]:
        if path.endswith(".glb"):
            bpy.ops.export_scene.gltf(filepath=path)
        elif path.endswith(".bvh"):
            scene, bpy.context.view_layer.objects.active = bpy.context.scene, figure
            bpy.ops.export_anim.bvh(filepath=path, frame_start=scene.frame_start, frame_end=scene.frame_end)
        else:
            kinds = {"ARMATURE"} if "bones" in path else {"ARMATURE", "MESH"}
            bpy.ops.export_scene.fbx(filepath=path, bake_anim_simplify_factor=0.0, object_types=kinds)
'''


@pytest.fixture(scope="module")
def walk(data_dir: Path) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)


@pytest.fixture(scope="module")
def keyed(walk: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(walk, keys=26)


@pytest.fixture(scope="module")
def folder(keyed: kp.KeyedMotion, blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .blend file, opened and edited, and an FBX file, imported and edited, both exported in several formats."""
    where = tmp_path_factory.mktemp("edited")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        kp.save(keyed, where / "walk.blend")
        kp.save(keyed, where / "walk.fbx")
    key = int(keyed.keys[KEY])
    request = [
        {"file": str(where / file), "turn": [BONE, AXIS, DEGREES, 1 + key, 1 + first, 1 + last],
         "exports": [str(where / name) for name in exports]}
        for file, first, last, exports in (
            ("walk.blend", key, key, ("keys.glb", "keys.fbx", "keys.bvh", "bones.fbx")),
            ("walk.fbx", HELD[0], HELD[-1], ("frames.fbx", "frames.glb")),
        )
    ]  # fmt: skip
    (where / "request.json").write_text(json.dumps(request))
    (where / "edit.py").write_text(EDIT)
    run = subprocess.run(
        [blender_python, where / "edit.py", where / "request.json"], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return where


@pytest.fixture
def load(folder: Path, blender_python: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
    return lambda name: kp.load(folder / name)


def own_axis(keyed: kp.KeyedMotion) -> np.ndarray:
    """Return the axis of the edit in the joint's own frame, at the key."""
    at_key = keyed.sample(frames=[keyed.keys[KEY]])
    return rotate(conjugate(at_key.world_rotations()[0, keyed.skeleton.joint(BONE)]), np.array(AXIS))


def errors_mm(result: kp.Motion, expected: kp.Motion) -> np.ndarray:
    """Return the largest error (T,) of joints in mm, on a figure of 1.7 m."""
    order = [result.skeleton.names.index(name) for name in expected.skeleton.names]
    positions = result.world_positions()[:, order] * (result.metres_per_unit or 1.0)
    if result.up == "Z":
        positions = rotate(conjugate(Z_UP), positions)
    metres = metres_per_unit(expected)
    away = np.linalg.norm(positions - expected.world_positions() * metres, axis=-1).max(axis=1)
    return away / metres * expected.mm_per_unit


@pytest.mark.parametrize("name", ["keys.glb", "keys.fbx", "keys.bvh"])
def test_a_key_rotated_in_a_blend_file(name, load, walk, keyed):
    """Away from the key the capture is restored; around it the residual is on top of the edit, as with kp.edit."""
    plain = load(name)
    result = kp.rebake(plain, keyed, residual=1.0)
    first, last = (int(keyed.keys[k]) for k in (KEY - 1, KEY + 1))
    touched = np.arange(first + 1, last)
    away = np.delete(np.arange(walk.n_frames), touched)
    edit = kp.edit(keyed)
    edit.rotate(int(keyed.keys[KEY]), BONE, axis=own_axis(keyed), degrees=DEGREES)

    assert errors_mm(result, walk)[away].max() < SAME_MM
    assert errors_mm(result, edit.keyed.sample(residual=1.0))[touched].max() < DETAIL_MM
    assert errors_mm(result, walk)[touched].max() > 100  # the arm moved,
    assert errors_mm(plain, edit.keyed.sample(residual=1.0))[touched].max() > 2  # and the residual is not empty
    assert result.n_frames == walk.n_frames and result.skeleton is plain.skeleton


def test_keys_come_back_the_same_from_load_keyed(folder, load, keyed):
    """What Blender exports has a key on every frame."""
    edited = kp.load_keyed(folder / "keys.glb")
    assert edited.n_keys == edited.n_frames == keyed.n_frames
    np.testing.assert_allclose(
        kp.rebake(edited, keyed, 1.0).world_positions(),
        kp.rebake(load("keys.glb"), keyed, 1.0).world_positions(),
        atol=1e-6,
    )


@pytest.mark.parametrize("name", ["frames.fbx", "frames.glb"])
def test_frames_rotated_in_an_fbx_file(name, load, walk, keyed):
    """Every frame is a key; the arm is rotated in some of them."""
    result = kp.rebake(load(name), keyed, residual=1.0)
    rotated = keyed.sample().rotations.copy()
    arm = keyed.skeleton.joint(BONE)
    by = exp(own_axis(keyed) * np.deg2rad(DEGREES))
    rotated[HELD[0] : HELD[-1] + 1, arm] = multiply(rotated[HELD[0] : HELD[-1] + 1, arm], by)
    expected = kp.rebake(replace(keyed.sample(), rotations=rotated), keyed, residual=1.0)
    assert errors_mm(result, expected).max() < SAME_MM
    assert errors_mm(result, walk)[np.delete(np.arange(walk.n_frames), HELD)].max() < SAME_MM
    assert errors_mm(result, walk)[HELD].min() > 100


def test_bones_alone_have_lost_their_rest_pose(load, keyed):
    """Without a mesh FBX cannot store it: Blender writes the pose of the current frame."""
    problem, hint = Pattern("^at rest .* lies elsewhere"), Pattern("export them with the body")
    with raises(kp.OptionError, code="different_motions", problem=problem, hint=hint):
        kp.rebake(load("bones.fbx"), keyed)
