"""Write keys into the GLB file of a character: everything but the replaced animation stays."""

from __future__ import annotations

import base64
import json
import struct
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_gltf_validator import issues, validator  # noqa: F401 - a fixture

import keypose as kp
from keypose.errors import OptionError
from keypose.rotations import from_euler
from support.errors import raises, warns
from support.gltf_motions import figure, read_document
from support.gltf_scene import ReferenceEvaluator, Scene, glb_of

TIMES = np.arange(21) / 20
N = len(TIMES)


def quaternions(seed: int, n: int = N) -> np.ndarray:
    """Return smooth rotations (n, 4), xyzw."""
    rng = np.random.default_rng(seed)
    return np.roll(from_euler(np.cumsum(rng.normal(0, 0.08, (n, 3)), axis=0), "XYZ"), -1, axis=1)


def character(**root: Any) -> Scene:
    """Return an arm of three joints with a skinned mesh, a hat, morph targets, an image, and three animations."""
    scene = Scene(
        [
            {"name": "world", "children": [1, 5], "rotation": [0.5, 0.5, 0.5, 0.5], **root},
            {"name": "hips", "children": [2], "translation": [0, 1, 0], "rotation": [0, 0, 0.1, 0.995]},
            {"name": "spine", "children": [3], "translation": [0, 0.5, 0]},
            {"name": "hand", "children": [4], "translation": [0.1, 0.4, 0]},
            {"name": "hat", "mesh": 1, "extras": {"bufferView": 99}},
            {"name": "body", "mesh": 0, "skin": 0, "weights": [0, 0]},
        ]
    )
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    bounds = {"min": [0, 0, 0], "max": [1, 1, 0]}
    joints = scene.accessor(np.repeat([[0, 1, 2, 0]], 3, axis=0), 5121)
    weights = scene.accessor(np.repeat([[0.5, 0.25, 0.25, 0]], 3, axis=0))
    scene.json["meshes"] = [
        {
            "primitives": [
                {
                    "attributes": {
                        "POSITION": scene.accessor(corners, **bounds),
                        "JOINTS_0": joints,
                        "WEIGHTS_0": weights,
                    },
                    "targets": [
                        {"POSITION": scene.accessor(corners * k, min=[0, 0, 0], max=[k, k, 0])} for k in (1, 2)
                    ],
                }
            ]
        },
        {"primitives": [{"attributes": {"POSITION": scene.accessor(corners, **bounds)}}]},
    ]
    scene.json["skins"] = [{"joints": [1, 2, 3]}]
    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    scene.json["scenes"], scene.json["scene"] = [{"nodes": [0]}], 0
    for k, name in enumerate(("wave", "walk", "rest")):
        for node in (1, 2, 3):
            scene.animate(node, "rotation", TIMES, quaternions(10 * k + node), animation=k)
        scene.animate(1, "translation", TIMES, 0.1 * np.cumsum(quaternions(k + 50)[:, :3], axis=0), animation=k)
        scene.json["animations"][k] |= {"name": name, "extras": {"by": name}}
    for animation in scene.json["animations"]:
        for sampler in animation["samplers"]:
            scene.json["accessors"][sampler["input"]] |= {"min": [0.0], "max": [1.0]}
    scene.json["images"] = [{"bufferView": scene.view(pixel), "mimeType": "image/png"}]
    scene.json["textures"] = [{"source": 0}]
    scene.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "name": "skin \u00e9"}]
    scene.json["meshes"][0]["primitives"][0]["material"] = 0
    return scene


def write(tmp_path: Path, scene: Scene, name: str = "hero.glb") -> Path:
    path = tmp_path / name
    path.write_bytes(scene.glb())
    return path


def unbake_file(path: Path, animation: str | int | None = None, keys: int = 6) -> kp.KeyedMotion:
    motion = kp.load(path, animation=animation)
    return kp.unbake(motion, np.unique(np.linspace(0, motion.n_frames - 1, keys).round().astype(int)))


def contents(path: Path) -> dict[str, Any]:
    """Return everything in a GLB by its place in the JSON, with the bytes in place of indices of accessors and views."""
    content = path.read_bytes()
    (size,) = struct.unpack_from("<I", content, 12)
    document, binary = json.loads(content[20 : 20 + size]), content[28 + size :]

    def view(index: int) -> bytes:
        entry = document["bufferViews"][index]
        start = entry.get("byteOffset", 0)
        return binary[start : start + entry["byteLength"]]

    def resolve(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if key in ("attributes", "targets"):
                return {name: accessor(index) for name, index in value.items()}
            return {name: resolve(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [resolve(member, key) for member in value]
        if key in ("input", "output", "indices", "inverseBindMatrices"):
            return accessor(value)
        return view(value) if key == "bufferView" and value < len(document["bufferViews"]) else value

    def accessor(index: int) -> Any:
        entry = dict(document["accessors"][index])
        data, start = view(entry.pop("bufferView")), entry.pop("byteOffset", 0)
        size = struct.calcsize({5121: "B", 5123: "H", 5125: "I", 5126: "f"}[entry["componentType"]])
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[entry["type"]]
        return entry, data[start : start + size * width * entry["count"]]

    rest = {key: value for key, value in document.items() if key not in ("accessors", "bufferViews", "buffers")}
    return {key: resolve(value, key) for key, value in rest.items()}


def assert_same_but(before: Path, after: Path, animation: str) -> dict[str, Any]:
    """Check that two files differ only in one animation, and return the new one."""
    old, new = contents(before), contents(after)
    changed = [k for k, entry in enumerate(new["animations"]) if entry["name"] == animation]
    assert len(changed) == 1
    for content in (old, new):
        content["animations"] = {a["name"]: a for a in content["animations"]}
    entry = new["animations"].pop(animation)
    old["animations"].pop(animation, None)
    assert new == old
    return entry


def assert_plays(
    path: Path, keyed: kp.KeyedMotion, animation: int, *, start_s: float = 0.0, atol: float = 2e-6
) -> None:
    """Check the positions of the joints at frames and between them, by the reference evaluation."""
    reference = ReferenceEvaluator.of(path)
    names = [node.get("name") for node in reference.json["nodes"]]
    nodes = [names.index(name) for name in keyed.skeleton.names]
    frames = np.linspace(0, keyed.n_frames - 1, 13)
    expected = keyed.sample(frames=frames).world_positions()
    for frame, positions in zip(frames, expected, strict=True):
        result = [reference.world(node, start_s + frame / keyed.fps, animation)[:3, 3] for node in nodes]
        np.testing.assert_allclose(result, positions, atol=atol, err_msg=f"frame {frame:g}")


@pytest.mark.parametrize("scale", [1.0, 0.01, 250.0])
def test_one_animation_is_replaced(tmp_path, scale):
    path = write(tmp_path, character(scale=[scale] * 3, translation=[3, 4, 5]))
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    entry = assert_same_but(path, tmp_path / "out.glb", "walk")
    assert entry["extras"]["by"] == "walk"
    assert {sampler["interpolation"] for sampler in entry["samplers"]} == {"CUBICSPLINE"}
    assert all(sampler["input"][0]["count"] == len(keyed.keys) for sampler in entry["samplers"])
    assert_plays(tmp_path / "out.glb", keyed, 1, atol=4e-6 * scale + 2e-6)
    assert_plays(tmp_path / "out.glb", kp.load_keyed(path, animation="wave"), 0, atol=4e-6 * scale + 2e-6)


def test_the_keys_are_read_again(tmp_path):
    scene = character()
    for sampler in scene.json["animations"][1]["samplers"]:
        sampler["input"] = scene.accessor(TIMES / 3, min=[0.0], max=[1 / 3])  # 60 fps
    path = write(tmp_path, scene)
    keyed = kp.unbake(kp.load(path, animation="walk"), [0, 4, 10, 20])
    assert keyed.fps == 60.0
    kp.save(keyed, path, into=path)
    again = kp.load_keyed(path, animation="walk")
    assert again.keys.tolist() == [0, 4, 10, 20] and again.extremes.tolist() == keyed.extremes.tolist()
    assert (again.fps, again.n_frames, again.name) == (60.0, 21, "hero-walk")
    np.testing.assert_allclose(again.sample().world_positions(), keyed.sample().world_positions(), atol=2e-6)
    inner = replace(keyed, keys=keyed.keys + 1, n_frames=24)  # neither the first nor the last frame is a key
    kp.save(inner, path, into=path)
    again = kp.load_keyed(path, animation="walk")
    assert again.keys.tolist() == [1, 5, 11, 21] and again.n_frames == 24


def test_data_of_another_length_in_the_extras_are_not_used(tmp_path):
    path = write(tmp_path, character())
    kp.save(unbake_file(path, "walk"), path, into=path)
    document = read_document(path)
    document["animations"][1]["extras"]["keypose"]["frames"] = 99
    content = path.read_bytes()
    path.write_bytes(glb_of(json.dumps(document).encode(), content[28 + struct.unpack_from("<I", content, 12)[0] :]))
    with warns(kp.FormatWarning, code="unused_data"):
        assert kp.load_keyed(path, animation="walk").fps == 30.0  # a common rate of the times of the keys


def test_replacing_again_does_not_let_the_file_grow(tmp_path):
    path = write(tmp_path, character())
    size = path.stat().st_size
    keyed = unbake_file(path, "walk")
    kp.save(keyed, path, into=path)
    first = path.read_bytes()
    assert len(first) < size + 1500
    kp.save(keyed, path, into=path)
    assert len(path.read_bytes()) == len(first)
    assert_plays(path, keyed, 1)


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_scales_and_morph_weights_are_carried_through(tmp_path, interpolation):
    scene = character()
    cubic = 3 if interpolation == "CUBICSPLINE" else 1
    scales = np.repeat(np.linspace(1, 2, 3 * cubic)[:, None], 3, axis=1)
    times = {"min": [0.0], "max": [1.0]}
    scene.animate(3, "scale", [0, 0.3, 1], scales, interpolation, animation=1)
    scene.animate(5, "weights", [0, 0.4, 1], np.linspace(0, 1, 6 * cubic), interpolation, animation=1)
    scene.animate(4, "rotation", [0, 0.7, 1], np.tile([0, 0, 0, 1], (3 * cubic, 1)), interpolation, animation=1)
    for sampler in scene.json["animations"][1]["samplers"][-3:]:
        scene.json["accessors"][sampler["input"]] |= times
    scene.json["animations"][1]["channels"][-2]["extras"] = {"note": 3}
    path = write(tmp_path, scene)
    keyed = unbake_file(path, "walk")
    hat = keyed.skeleton.names.index("hat")
    assert hat == 3  # it is animated, so it is a joint
    body = kp.unbake(kp.load(path, animation="walk"), keyed.keys)
    kp.save(body, tmp_path / "out.glb", into=path)
    old = next(a for a in contents(path)["animations"] if a["name"] == "walk")
    new = assert_same_but(path, tmp_path / "out.glb", "walk")
    carried = {c["target"]["path"]: (c, new["samplers"][c["sampler"]]) for c in new["channels"]}
    for channel in old["channels"]:
        if (kind := channel["target"]["path"]) in ("scale", "weights"):
            assert carried[kind][1] == old["samplers"][channel["sampler"]]
            assert carried[kind][0] | {"sampler": 0} == channel | {"sampler": 0}


def floats(accessor: Any) -> np.ndarray:
    """Return the numbers of an accessor of ``contents``."""
    return np.frombuffer(accessor[1], "<f4").astype(float)


def evaluate(sampler: dict[str, Any], times: np.ndarray, width: int) -> np.ndarray:
    """Return the values (N, width) of a sampler, as the specification of glTF says."""
    keys, cubic = floats(sampler["input"]), sampler["interpolation"] == "CUBICSPLINE"
    values = floats(sampler["output"]).reshape(len(keys), 3 if cubic else 1, width)
    result = []
    for time in times:
        k = int(np.searchsorted(keys, time, side="right")) - 1
        if k < 0 or k == len(keys) - 1 or sampler["interpolation"] == "STEP":
            result.append(values[max(k, 0), int(cubic)])
            continue
        gap = keys[k + 1] - keys[k]
        t = (time - keys[k]) / gap
        if cubic:
            first, last = values[k], values[k + 1]
            result.append(
                (2 * t**3 - 3 * t**2 + 1) * first[1] + gap * (t**3 - 2 * t**2 + t) * first[2]
                + (-2 * t**3 + 3 * t**2) * last[1] + gap * (t**3 - t**2) * last[0]
            )  # fmt: skip
        else:
            result.append((1 - t) * values[k, 0] + t * values[k + 1, 0])
    return np.array(result)


def animate_every_frame(scene: Scene, interpolation: str = "LINEAR") -> dict[str, np.ndarray]:
    """Give the hand a scale and the body morph weights with a key on every frame of a walk of 2 s; return the values."""
    times = np.arange(61) / 30
    for sampler in scene.json["animations"][1]["samplers"]:
        sampler["input"] = scene.accessor(2 * TIMES, min=[0.0], max=[2.0])
    scale = 1 + 0.3 * np.sin(3 * times)[:, None] ** 2 * [1, 0.5, 0.2]
    weights = np.stack([np.sin(2 * times) ** 2, (times > 1).astype(float)], axis=1)
    for node, path, values in (
        (3, "scale", scale),
        (5, "weights", weights.reshape(-1)),
        (4, "scale", np.tile([2.0, 2, 2], (61, 1))),
    ):
        scene.animate(node, path, times, values, interpolation, animation=1)
        scene.json["accessors"][scene.json["animations"][1]["samplers"][-1]["input"]] |= {"min": [0.0], "max": [2.0]}
    return {"scale": np.float32(scale), "weights": np.float32(weights), "constant": np.full((61, 3), 2.0)}


def test_scales_and_morph_weights_of_every_frame_are_reduced(tmp_path):
    scene = character()
    expected = animate_every_frame(scene)
    path, out = write(tmp_path, scene), tmp_path / "out.glb"
    motion = kp.load(path, animation="walk")
    keyed = kp.unbake(motion, [0, 20, 40, 60])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)  # the hat and the body hang below the scaled hand
        kp.save(keyed, out, into=path)
    entry = assert_same_but(path, out, "walk")
    found = {(c["target"]["node"], c["target"]["path"]): entry["samplers"][c["sampler"]] for c in entry["channels"]}
    times = np.arange(61) / 30
    for target, name in (((3, "scale"), "scale"), ((5, "weights"), "weights"), ((4, "scale"), "constant")):
        values = expected[name]
        errors = np.abs(evaluate(found[target], np.float32(times), values.shape[1]) - values)
        assert errors.max() <= 1e-3 * values.max()
        assert found[target]["input"][0]["count"] == (1 if name == "constant" else pytest.approx(9, abs=4))
    between = evaluate(found[5, "weights"], np.linspace(0, 2, 2001), 2)[:, 1]
    assert between.min() >= -1e-3 and between.max() <= 1.001
    result = kp.load(out, animation="walk")
    assert (result.n_frames, result.fps) == (motion.n_frames, motion.fps)
    at = keyed.keys  # the poses at keys are exact, with the reduced scales
    np.testing.assert_allclose(result.world_positions()[at], keyed.sample().world_positions()[at], atol=5e-6)


def test_tracks_stay_where_they_cannot_or_must_not_be_reduced(tmp_path):
    """With the option, with a motion that has a key on every frame, and with steps."""
    for interpolation, option, dense in (("LINEAR", False, False), ("LINEAR", True, True), ("STEP", True, False)):
        scene = character()
        animate_every_frame(scene, interpolation)
        path = write(tmp_path, scene)
        motion = kp.load(path, animation="walk")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            content = motion if dense else kp.unbake(motion, [0, 20, 40, 60])
            kp.save(content, tmp_path / "out.glb", into=path, reduce_tracks=option)
        old = next(a for a in contents(path)["animations"] if a["name"] == "walk")
        new = assert_same_but(path, tmp_path / "out.glb", "walk")
        for channel in old["channels"][-3:]:
            (same,) = [c for c in new["channels"] if c["target"] == channel["target"]]
            assert new["samplers"][same["sampler"]] == old["samplers"][channel["sampler"]]
            assert channel["target"]["path"] in ("scale", "weights")


def test_joints_that_the_motion_does_not_have_keep_their_channels(tmp_path):
    path = write(tmp_path, character())
    keyed = unbake_file(path, "walk")
    s = keyed.skeleton
    arm = kp.Skeleton(s.names[:2], s.parents[:2], s.offsets[:2], channels=s.channels[:2])
    motion = keyed.sample()
    motion = replace(
        motion, skeleton=arm, translations=motion.translations[:, :2], rotations=motion.rotations[:, :2],
        reference_pose=None,
    )  # fmt: skip
    kp.save(kp.unbake(motion, [0, 10, 20]), tmp_path / "out.glb", into=path)
    old = next(a for a in contents(path)["animations"] if a["name"] == "walk")
    new = assert_same_but(path, tmp_path / "out.glb", "walk")
    (hand,) = [c for c in new["channels"] if c["target"]["node"] == 3]
    assert new["samplers"][hand["sampler"]] == old["samplers"][2]


UNEVEN = {
    "uneven": {"scale": [1.0, 1.1, 0.9]},
    "mirrored": {"scale": [-1.0, 1.0, 1.0]},
    "mirrored and uneven": {"scale": [1.0, 1.1, -0.9]},
    "sheared by its parent": {"scale": [2.0, 2.0, 2.2]},
}


@pytest.mark.parametrize("joint", [0, 1, 2, 3])
@pytest.mark.parametrize("case", UNEVEN)
def test_uneven_scales(tmp_path, case, joint):
    """Exact at the keys, also where the poses are only the nearest without shear."""
    scene = character()
    scene.json["nodes"][joint] |= UNEVEN[case]
    path = write(tmp_path, scene)
    motion = kp.load(path, animation="walk")
    keyed = kp.unbake(motion, [0, 5, 12, 20])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)  # between keys
        kp.save(keyed, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    expected = keyed.sample()
    at = keyed.keys
    np.testing.assert_allclose(result.world_positions()[at], expected.world_positions()[at], atol=3e-6)
    angles = kp.rotations.angle_between(result.world_rotations()[at], expected.world_rotations()[at])
    assert angles.max() < (1e-5 if joint != 0 or case == "mirrored" else 1e-4)
    atol = 5e-6 if case == "mirrored" else 0.03  # between keys
    np.testing.assert_allclose(result.world_positions(), expected.world_positions(), atol=atol)


def test_a_scale_that_changes_with_time(tmp_path):
    scene = character()
    scales = 1 + 0.2 * np.sin(6 * TIMES)[:, None] * [1, 0.5, -1]
    scene.animate(2, "scale", TIMES, scales, animation=1)
    path = write(tmp_path, scene)
    dense = kp.load(path, animation="walk")
    kp.save(dense, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    np.testing.assert_allclose(result.world_positions(), dense.world_positions(), atol=3e-6)
    with warns(kp.FormatWarning, code="curves_differ"):
        kp.save(kp.unbake(dense, [0, 10, 20]), tmp_path / "out.glb", into=path)


def test_a_scale_of_zero(tmp_path):
    scene = character()
    scene.json["nodes"][2]["scale"] = [0, 0, 0]
    path = write(tmp_path, scene)
    keyed = unbake_file(path, "walk", keys=21)
    kp.save(keyed, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    np.testing.assert_allclose(result.world_positions(), keyed.sample().world_positions(), atol=3e-6)


def test_another_animation_is_added(tmp_path):
    path = write(tmp_path, character())
    keyed = replace(unbake_file(path, "walk"), name="jump")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    entry = assert_same_but(path, tmp_path / "out.glb", "jump")
    assert len(read_document(tmp_path / "out.glb")["animations"]) == 4 and "by" not in entry["extras"]
    assert_plays(tmp_path / "out.glb", keyed, 3)
    kp.save(keyed, tmp_path / "out.glb", into=tmp_path / "out.glb")  # replaces it
    assert len(read_document(tmp_path / "out.glb")["animations"]) == 4
    by_name = replace(keyed, name="walk")
    kp.save(by_name, tmp_path / "out.glb", into=path)
    assert_plays(tmp_path / "out.glb", by_name, 1)


def test_a_character_without_animations(tmp_path):
    path = write(tmp_path, character())
    keyed = unbake_file(path, "walk")
    scene = character()
    del scene.json["animations"]
    still = write(tmp_path, scene, "still.glb")
    kp.save(keyed, tmp_path / "out.glb", into=still)
    assert_plays(tmp_path / "out.glb", keyed, 0)
    assert read_document(tmp_path / "out.glb")["animations"][0]["name"] == "hero-walk"


@pytest.mark.parametrize("name", [None, "walk"])
def test_the_only_animation_is_the_one_that_was_read(tmp_path, name):
    scene = character()
    scene.json["animations"] = [{k: v for k, v in scene.json["animations"][1].items() if k != "name"}]
    if name:
        scene.json["animations"][0]["name"] = name
    path = write(tmp_path, scene)
    keyed = unbake_file(path)
    kp.save(keyed, tmp_path / "out.glb", into=path)
    (entry,) = read_document(tmp_path / "out.glb")["animations"]
    assert entry.get("name") == name
    assert_plays(tmp_path / "out.glb", keyed, 0)


def test_animations_without_names(tmp_path):
    scene = character()
    for animation in scene.json["animations"]:
        del animation["name"]
    path = write(tmp_path, scene)
    keyed = unbake_file(path, 2)
    assert keyed.name == "hero-animation 2"
    kp.save(keyed, tmp_path / "out.glb", into=path)
    assert len(read_document(tmp_path / "out.glb")["animations"]) == 3
    assert_plays(tmp_path / "out.glb", keyed, 2)


@pytest.mark.parametrize("names", [("idle", "walk", "walk"), ("hero-walk", "walk", "run"), ("", "animation 0", "run")])
def test_an_animation_whose_name_fits_others_is_not_guessed(tmp_path, names):
    scene = character()
    for animation, name in zip(scene.json["animations"], names, strict=True):
        animation["name"] = name
    path = write(tmp_path, scene)
    keyed = unbake_file(path, 1)
    with raises(OptionError, code="ambiguous_animation", option="into", subject=keyed.name):
        kp.save(keyed, tmp_path / "out.glb", into=path)
    assert not (tmp_path / "out.glb").exists()


def test_an_animation_that_starts_late(tmp_path):
    scene = character()
    for sampler in scene.json["animations"][1]["samplers"]:
        sampler["input"] = scene.accessor(TIMES + 2, min=[2.0], max=[3.0])
    scene.animate(3, "scale", TIMES + 2, np.linspace([1] * 3, [2] * 3, N), animation=1)
    path = write(tmp_path, scene)
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    assert_plays(tmp_path / "out.glb", keyed, 1, start_s=2.0)
    assert kp.load(tmp_path / "out.glb", animation="walk").first_frame == keyed.first_frame == 40


def test_a_part_of_an_animation(tmp_path):
    scene = character()
    scene.animate(3, "scale", TIMES, np.tile([2.0, 2.0, 2.0], (N, 1)), animation=1)
    scene.animate(5, "weights", [0, 1], [0.1, 0.2, 0.1, 0.2], animation=1)
    path = write(tmp_path, scene)
    motion = kp.load(path, animation="walk")
    keyed = kp.unbake(motion[4:12], [0, 3, 7])
    kp.save(keyed, tmp_path / "out.glb", into=path)
    assert_plays(tmp_path / "out.glb", keyed, 1)
    entry = assert_same_but(path, tmp_path / "out.glb", "walk")
    held = [entry["samplers"][c["sampler"]] for c in entry["channels"] if c["target"]["path"] in ("scale", "weights")]
    assert [np.frombuffer(s["output"][1], "<f4").tolist() for s in held] == [[2, 2, 2], pytest.approx([0.1, 0.2])]
    result = kp.load(tmp_path / "out.glb", animation="walk")
    assert (result.n_frames, result.first_frame) == (8, 4)
    for change in (scene.json["animations"][1]["samplers"][-1], scene.json["animations"][1]["samplers"][-2]):
        old = change["output"]
        count = scene.json["accessors"][old]["count"]
        kind = scene.json["accessors"][old]["type"]
        change["output"] = scene.accessor(np.arange(count * (3 if kind == "VEC3" else 1)).reshape(count, -1))
        with raises(
            kp.OptionError, option="into", code="different_motions", expected="a motion as long as the animation"
        ):
            kp.save(keyed, tmp_path / "out.glb", into=write(tmp_path, scene))
        change["output"] = old


def test_dense_motions_and_swings(tmp_path):
    path = write(tmp_path, character())
    motion = kp.load(path, animation="walk")
    kp.save(motion, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    np.testing.assert_allclose(result.world_positions(), motion.world_positions(), atol=2e-6)
    swings = kp.swings(motion)
    kp.save(swings, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    np.testing.assert_allclose(result.world_positions(), swings.play().world_positions(), atol=2e-6)


@pytest.mark.parametrize("fields", [{}, {"unit": 0.01, "up": "Z", "metres_per_unit": 0.01}])
def test_a_file_of_keypose(tmp_path, fields):
    motion = figure(30, **fields)
    kp.save(motion, tmp_path / "person.glb")
    keyed = kp.unbake(kp.load(tmp_path / "person.glb"), [0, 6, 11, 20, 29])
    kp.save(keyed, tmp_path / "out.glb", into=tmp_path / "person.glb")
    again = kp.load_keyed(tmp_path / "out.glb")
    assert (again.keys.tolist(), again.up, again.metres_per_unit) == (
        keyed.keys.tolist(),
        motion.up,
        keyed.metres_per_unit,
    )
    assert again.skeleton.channels == motion.skeleton.channels
    np.testing.assert_allclose(
        again.sample().world_positions(), keyed.sample().world_positions(), atol=3e-6 / fields.get("unit", 1)
    )
    other = replace(kp.unbake(motion[3:20], [0, 8, 16]), name="part")
    kp.save(other, tmp_path / "out.glb", into=tmp_path / "out.glb")
    again = kp.load_keyed(tmp_path / "out.glb", animation="part")
    assert (again.keys.tolist(), again.n_frames, again.first_frame) == ([0, 8, 16], 17, 3)
    assert kp.load_keyed(tmp_path / "out.glb", animation=0).keys.tolist() == keyed.keys.tolist()


def test_data_stay_if_an_unknown_extension_may_refer_to_them(tmp_path):
    scene = character()
    scene.json["extensionsUsed"] = ["ACME_audio"]
    scene.json["extensions"] = {"ACME_audio": {"sound": 0}}
    path = write(tmp_path, scene)
    kp.save(unbake_file(path, "walk"), tmp_path / "out.glb", into=path)
    old, new = read_document(path), read_document(tmp_path / "out.glb")
    assert new["accessors"][: len(old["accessors"])] == old["accessors"]
    assert new["bufferViews"][: len(old["bufferViews"])] == old["bufferViews"]
    assert_same_but(path, tmp_path / "out.glb", "walk")


def test_data_that_something_else_uses_stay(tmp_path):
    scene = character()
    first, second = (scene.json["animations"][k]["samplers"] for k in (0, 1))
    first[0]["input"] = second[0]["input"]  # two animations share an accessor
    scene.json["bufferViews"][scene.json["accessors"][second[1]["output"]]["bufferView"]]["byteLength"] += 16  # overlap
    view = scene.json["accessors"][second[2]["output"]]["bufferView"]
    scene.json["images"].append({"bufferView": view, "mimeType": "image/png"})
    scene.json["extensionsUsed"] = ["EXT_mesh_gpu_instancing", "KHR_lights_punctual"]
    scene.json["nodes"][4]["extensions"] = {
        "EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": second[3]["output"]}}
    }
    path = write(tmp_path, scene)
    kp.save(unbake_file(path, "walk"), tmp_path / "out.glb", into=path)
    assert_same_but(path, tmp_path / "out.glb", "walk")
    instances = read_document(tmp_path / "out.glb")["nodes"][4]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]
    before, after = ReferenceEvaluator.of(path), ReferenceEvaluator.of(tmp_path / "out.glb")
    assert after.values(instances["TRANSLATION"]) == before.values(second[3]["output"])


def test_other_chunks_and_buffers_stay(tmp_path):
    scene = character()
    data = "data:application/octet-stream;base64," + base64.b64encode(bytes(range(12))).decode()
    scene.json["buffers"] = [{"byteLength": len(scene.binary), "name": "main"}, {"byteLength": 12, "uri": data}]
    content = scene.glb() + struct.pack("<I4s", 8, b"MORE") + b"whatever"
    path = tmp_path / "hero.glb"
    path.write_bytes(content[:8] + struct.pack("<I", len(content)) + content[12:])
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    assert tmp_path.joinpath("out.glb").read_bytes().endswith(struct.pack("<I4s", 8, b"MORE") + b"whatever")
    buffers = read_document(tmp_path / "out.glb")["buffers"]
    assert buffers[0]["name"] == "main" and buffers[1:] == scene.json["buffers"][1:]
    assert_plays(tmp_path / "out.glb", keyed, 1)


def test_a_glb_without_a_binary_chunk(tmp_path):
    scene = character()
    data = "data:application/octet-stream;base64," + base64.b64encode(scene.binary).decode()
    document = scene.json | {"buffers": [{"byteLength": len(scene.binary), "uri": data}]}
    path = tmp_path / "hero.glb"
    path.write_bytes(glb_of(json.dumps(document).encode()))
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    result = kp.load(tmp_path / "out.glb", animation="walk")
    np.testing.assert_allclose(result.world_positions(), keyed.sample().world_positions(), atol=2e-6)
    again = kp.load(tmp_path / "out.glb", animation="wave")
    np.testing.assert_array_equal(again.rotations, kp.load(path, animation="wave").rotations)


def test_names_that_are_no_unicode(tmp_path):
    scene = character()
    scene.json["materials"][0]["name"] = "\ud800 \u00e9 \U0001f600"
    path = write(tmp_path, scene)
    kp.save(unbake_file(path, "walk"), tmp_path / "out.glb", into=path)
    assert read_document(tmp_path / "out.glb")["materials"] == read_document(path)["materials"]


# Refusals


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (lambda s: {"names": ("hips", "spine", "paw")}, {"problem": "has no joint 'paw'"}),
        (lambda s: {"parents": np.array([-1, 0, 0])}, {"problem": "joint 'hand' hangs on another joint"}),
        (lambda s: {"offsets": s.offsets * 100}, {"expected": "the same figure"}),
    ],
)
def test_another_figure_is_refused(tmp_path, change, fields):
    path = write(tmp_path, character())
    keyed = unbake_file(path, "walk")
    keyed = replace(keyed, skeleton=replace(keyed.skeleton, **change(keyed.skeleton)))
    with raises(kp.OptionError, option="into", code="different_motions", path=str(path), subject="hero-walk", **fields):
        kp.save(keyed, tmp_path / "out.glb", into=path)
    assert not (tmp_path / "out.glb").exists()


def test_other_files_are_refused(tmp_path):
    path = write(tmp_path, character())
    keyed = unbake_file(path, "walk")
    (tmp_path / "hero.gltf").write_bytes(character().gltf())
    kp.save(keyed, tmp_path / "clip.bvh")
    expected = "a character in a .glb file, and such a result"
    for into, out in (
        ("hero.gltf", "out.glb"),
        ("hero.gltf", "out.gltf"),
        ("clip.bvh", "out.glb"),
        ("hero.glb", "x.bvh"),
    ):
        with raises(kp.OptionError, option="into", value=str(tmp_path / into), expected=expected):
            kp.save(keyed, tmp_path / out, into=tmp_path / into)
    with raises(kp.FileError, code="no_such_file"):
        kp.save(keyed, tmp_path / "out.glb", into=tmp_path / "none.glb")
    with raises(kp.OptionError, option="into", value=3):
        kp.save(keyed, tmp_path / "out.glb", into=3)
    with raises(kp.OptionError, option="reference_pose"):
        kp.save(keyed, tmp_path / "out.glb", into=path, reference_pose=True)
    assert not [file for file in tmp_path.iterdir() if file.stem in ("out", "x")]


def test_files_beside_the_character(tmp_path):
    scene = character()
    scene.json["images"].append({"uri": "skin.png"})
    path = write(tmp_path, scene)
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    (tmp_path / "other").mkdir()
    with raises(kp.OptionError, option="into", code="needs_other_file", path=str(path)):
        kp.save(keyed, tmp_path / "other" / "out.glb", into=path)


@pytest.mark.parametrize(
    "damage",
    [
        {"meshes": [{"primitives": 3}, 7]},
        {"meshes": 3},
        {"accessors": "x"},
        {"extensionsUsed": [3, None]},
        {"nodes": [3]},
        {"bufferViews": [{"buffer": "x"}]},
        {"asset": {"version": "2.0", "extras": [1e400]}},
    ],
)
def test_damaged_characters_raise_errors_of_keypose(tmp_path, damage):
    keyed = unbake_file(write(tmp_path, character()), "walk")
    scene = character()
    scene.json |= damage
    path = tmp_path / "hero.glb"
    path.write_bytes(scene.glb().replace(b"Infinity", b"1e400   "))
    try:
        kp.save(keyed, tmp_path / "out.glb", into=path)
    except kp.KeyposeError:
        pass
    else:
        assert kp.load(tmp_path / "out.glb", animation="walk").n_frames == 21


def test_references_to_nothing_stay(tmp_path):
    scene = character()
    scene.json["animations"][1]["samplers"].append({"input": 999, "output": 998})
    scene.json["accessors"].append({"bufferView": 777, "componentType": 5126, "count": 1, "type": "SCALAR"})
    scene.json["animations"][1]["samplers"].append({"input": len(scene.json["accessors"]) - 1, "output": 0})
    path = write(tmp_path, scene)
    keyed = unbake_file(path, "walk")
    kp.save(keyed, tmp_path / "out.glb", into=path)
    assert_plays(tmp_path / "out.glb", keyed, 1)


# Real characters, and other programs


@pytest.mark.node
def test_the_validator_finds_nothing(tmp_path, validator):  # noqa: F811
    scene = character()
    scene.json["meshes"][0]["primitives"][0]["attributes"].pop("TEXCOORD_0", None)
    del scene.json["meshes"][0]["primitives"][0]["material"], scene.json["materials"], scene.json["textures"]
    scene.json["nodes"][4].pop("extras")
    path = write(tmp_path, scene)
    kp.save(unbake_file(path, "walk"), tmp_path / "out.glb", into=path)
    kp.save(replace(unbake_file(path, "walk"), name="new"), tmp_path / "new.glb", into=path)
    kp.save(kp.load(path, animation="walk")[3:9], tmp_path / "part.glb", into=path)
    files = [path, tmp_path / "out.glb", tmp_path / "new.glb", tmp_path / "part.glb"]
    found = {name: {issue["code"] for issue in own} for name, own in issues(validator, files).items()}
    assert found == dict.fromkeys((file.name for file in files), found["hero.glb"])


@pytest.mark.data
@pytest.mark.node
@pytest.mark.parametrize(
    ("name", "animation"),
    [
        ("characters/Knight.glb", "Idle"),
        ("gltf/RobotExpressive.glb", "Walking"),
        ("gltf/Fox.glb", "Run"),
        ("gltf/CesiumMan.glb", 0),
        ("gltf/RiggedFigure.glb", 0),
        ("gltf/InterpolationTest.glb", "CubicSpline Scale"),
    ],
)
def test_real_characters(tmp_path, data_dir, name, animation, validator):  # noqa: F811
    path, out = data_dir / name, tmp_path / Path(name).name
    motion = kp.load(path, animation=animation)
    keyed = kp.unbake(motion, keys=6)
    kp.save(keyed, out, into=path)
    result = kp.load(out, animation=animation)
    assert (result.n_frames, result.fps, result.first_frame) == (motion.n_frames, motion.fps, motion.first_frame)
    assert result.notes == motion.notes
    expected = keyed.sample().world_positions()
    np.testing.assert_allclose(result.world_positions(), expected, atol=2e-6 * np.abs(expected).max())
    old, new = contents(path), contents(out)
    index = animation if isinstance(animation, int) else [a["name"] for a in old["animations"]].index(animation)
    before, after = old["animations"].pop(index), new["animations"].pop(index)
    assert new == old
    assert len(after["channels"]) <= len(before["channels"]) + 1  # joints that keep still get none, except the root
    kp.save(keyed, tmp_path / "all_keys.glb", into=path, reduce_tracks=False)
    all_keys = contents(tmp_path / "all_keys.glb")["animations"][index]
    for channel in before["channels"]:
        if channel["target"]["path"] in ("scale", "weights"):
            (same,) = [c for c in all_keys["channels"] if c["target"] == channel["target"]]
            sampler = before["samplers"][channel["sampler"]]
            assert all_keys["samplers"][same["sampler"]] == sampler
            (reduced,) = [c for c in after["channels"] if c["target"] == channel["target"]]
            times, values = floats(sampler["input"]), floats(sampler["output"])
            new = after["samplers"][reduced["sampler"]]
            if sampler["interpolation"] != "LINEAR":
                assert new == sampler
                continue
            values = values.reshape(len(times), -1)
            errors = np.abs(evaluate(new, times, values.shape[1]) - values)
            assert errors.max() <= 1e-3 * np.abs(values).max()
            assert new["output"][0]["count"] <= sampler["output"][0]["count"]
    assert out.stat().st_size <= (tmp_path / "all_keys.glb").stat().st_size

    def codes(file: Path) -> list[str]:
        return sorted(issue["code"] for issue in issues(validator, [file])[file.name])

    assert codes(out) == codes(path)
