"""Read glTF: world positions agree with a reference evaluation of the node hierarchy."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.formats.base import Source
from keypose.formats.gltf import nodes as gltf_nodes
from keypose.formats.gltf.animation import Sampler, find_rate, read_animation
from keypose.formats.gltf.container import Accessors, open_container
from keypose.model import note_code
from support.errors import raises
from support.gltf_scene import ReferenceEvaluator, Scene

QUARTER = [0.0, 0.0, 0.70710678, 0.70710678]
TURN_X = [0.5, 0.1, -0.2, 0.83]


def chain(**root) -> Scene:
    """Return a chain of three nodes, all joints of a skin."""
    scene = Scene(
        [
            {"name": "hips", "children": [1], "translation": [0, 1, 0], **root},
            {"name": "spine", "children": [2], "translation": [0, 0.5, 0], "rotation": [0.1, 0, 0, 0.995]},
            {"name": "head", "translation": [0.1, 0.4, 0]},
        ]
    )
    scene.json["skins"] = [{"joints": [0, 1, 2]}]
    return scene


def load(tmp_path, content: bytes, name: str = "clip.glb", **options) -> kp.Motion:
    path = tmp_path / name
    path.write_bytes(content)
    return kp.load(path, **options)


def nodes_of(reference: ReferenceEvaluator, motion: kp.Motion) -> list[int]:
    """Return the node of each joint; names in tests are unique."""
    names = [node.get("name") for node in reference.json["nodes"]]
    return [names.index(name) for name in motion.skeleton.names]


def assert_matches_reference(
    motion: kp.Motion, content: bytes, animation: int = 0, *, start_s: float = 0.0, atol=2e-6
) -> None:
    reference = ReferenceEvaluator(content)
    nodes = nodes_of(reference, motion)
    result = motion.world_positions()
    for frame in sorted({0, 1, motion.n_frames // 2, motion.n_frames - 1} & set(range(motion.n_frames))):
        time_s = start_s + frame / motion.fps
        expected = [reference.world(node, time_s, animation)[:3, 3] for node in nodes]
        np.testing.assert_allclose(result[frame], expected, atol=atol, err_msg=f"frame {frame}")


# Interpolation and accessors


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_interpolations(tmp_path, interpolation):
    rng = np.random.default_rng(3)
    scene = chain()
    times = np.array([0.0, 0.31, 0.5, 1.2, 2.0])
    factor = 3 if interpolation == "CUBICSPLINE" else 1
    scene.animate(0, "translation", times, rng.normal(size=(5 * factor, 3)), interpolation)
    rotations = rng.normal(size=(5 * factor, 4))
    scene.animate(0, "rotation", times, rotations / np.linalg.norm(rotations, axis=1, keepdims=True), interpolation)
    scene.animate(1, "rotation", times[:2], rotations[: 2 * factor], interpolation)
    motion = load(tmp_path, scene.glb(), fps=100.0)
    assert motion.n_frames == 201
    assert motion.fps == 100.0
    assert_matches_reference(motion, scene.glb())


@pytest.mark.parametrize(("component", "largest"), [(5120, 127), (5121, 255), (5122, 32767), (5123, 65535)])
def test_normalised_rotations(tmp_path, component, largest):
    scene = chain()
    rotations = np.round(np.abs([[0, 0, 0, 1], QUARTER, TURN_X]) * largest)
    scene.animate(0, "rotation", [0, 0.5, 1], rotations, component=component, normalized=True)
    assert_matches_reference(load(tmp_path, scene.glb(), fps=30.0), scene.glb())


def test_the_lowest_byte_means_minus_one(tmp_path):
    scene = chain()
    scene.animate(0, "rotation", [0, 1], [[-128, 0, 0, 0], [-127, 0, 0, 0]], component=5120, normalized=True)
    motion = load(tmp_path, scene.glb())
    np.testing.assert_allclose(np.abs(motion.rotations[:, 0]), np.tile([0, 1, 0, 0], (motion.n_frames, 1)), atol=1e-12)


def test_strided_and_offset_accessors(tmp_path):
    scene = chain()
    rng = np.random.default_rng(5)
    mixed = rng.normal(size=(4, 7)).astype("<f4")  # translation and rotation interleaved
    mixed[:, 3:] /= np.linalg.norm(mixed[:, 3:], axis=1, keepdims=True)
    view = scene.view(mixed.tobytes(), byteStride=28)
    scene.animate(0, "translation", [0, 1, 2, 3], np.zeros((4, 3)), bufferView=view)
    scene.animate(0, "rotation", [0, 1, 2, 3], np.zeros((4, 4)), bufferView=view, byteOffset=12)
    motion = load(tmp_path, scene.glb(), fps=10.0)
    assert_matches_reference(motion, scene.glb())
    np.testing.assert_allclose(motion.translations[::10, 0], mixed[:, :3], atol=1e-6)


@pytest.mark.parametrize("with_base", [True, False])
def test_sparse_accessors(tmp_path, with_base):
    scene = chain()
    scene.animate(0, "translation", [0, 1, 2], [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    positions = scene.view(np.array([1], "<u2").tobytes())
    values = scene.view(np.array([[7, 8, 9]], "<f4").tobytes())
    entry = scene.json["accessors"][-1]
    entry["sparse"] = {
        "count": 1,
        "indices": {"bufferView": positions, "componentType": 5123},
        "values": {"bufferView": values},
    }
    if not with_base:
        del entry["bufferView"]
    motion = load(tmp_path, scene.glb(), fps=1.0)
    ends = [[1, 1, 1], [3, 3, 3]] if with_base else [[0, 0, 0]] * 2
    np.testing.assert_array_equal(motion.translations[:, 0], [ends[0], [7, 8, 9], ends[1]])


def test_min_and_max_are_ignored(tmp_path):
    scene = chain()
    scene.animate(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    for entry in scene.json["accessors"]:
        entry |= {"min": [1e9], "max": [-1e9]}
    motion = load(tmp_path, scene.glb(), fps=4.0)
    np.testing.assert_allclose(motion.translations[:, 0, 0], [0, 0.25, 0.5, 0.75, 1.0])


def test_a_rotation_takes_the_short_way(tmp_path):
    scene = chain()
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [-x for x in QUARTER]])
    motion = load(tmp_path, scene.glb(), fps=2.0)
    np.testing.assert_allclose(motion.rotations[1, 0], [np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)], atol=1e-7)


# Nodes


def test_constant_ancestors_are_applied_to_the_root(tmp_path):
    matrix = np.eye(4)
    matrix[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    matrix[:3, 3] = [3, 2, 1]
    scene = chain()
    scene.json["nodes"] += [
        {"name": "Z_UP", "children": [4], "matrix": matrix.T.ravel().tolist()},
        {"name": "Armature", "children": [0], "scale": [2.5, 2.5, 2.5], "rotation": QUARTER, "translation": [0, 0, 4]},
    ]
    scene.animate(0, "translation", [0, 1], [[0, 0, 0], [1, 2, 3]])
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], TURN_X])
    motion = load(tmp_path, scene.glb(), fps=5.0)
    assert motion.skeleton.names == ("hips", "spine", "head")
    assert_matches_reference(motion, scene.glb(), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(motion.skeleton.offsets[1]), 2.5 * 0.5, rtol=1e-6)
    reference = ReferenceEvaluator(scene.glb())
    expected = reference.world(2, 0.4)[:3, :3] / 2.5
    result = kp.rotations.to_matrix(motion.world_rotations()[2, 2])
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_a_matrix_node_is_decomposed(tmp_path):
    turn = kp.rotations.to_matrix(kp.rotations.normalise(np.array([0.8, 0.1, -0.4, 0.3])))
    matrix = np.eye(4)
    matrix[:3, :3] = turn * 1.7
    matrix[:3, 3] = [1, 2, 3]
    scene = chain()
    scene.json["nodes"][1] = {"name": "spine", "children": [2], "matrix": matrix.T.ravel().tolist()}
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], TURN_X])
    assert_matches_reference(load(tmp_path, scene.glb(), fps=5.0), scene.glb())


def test_even_scale_stays_a_still_skeleton(tmp_path):
    scene = chain(scale=[2, 2, 2])
    scene.json["nodes"][1]["scale"] = [0.5, 0.50000002, 0.5]
    scene.animate(1, "rotation", [0, 1], [[0, 0, 0, 1], TURN_X])
    motion = load(tmp_path, scene.glb(), fps=5.0)
    assert_matches_reference(motion, scene.glb())
    np.testing.assert_array_equal(np.ptp(motion.translations, axis=0), 0.0)
    np.testing.assert_allclose(motion.skeleton.offsets, [[0, 1, 0], [0, 1, 0], [0.1, 0.4, 0]], rtol=1e-6)


@pytest.mark.parametrize("scale", [[1, 2, 3], [-1, 1, 1], [-2, -2, -2], [0, 0, 0], [1, 0, 1]])
def test_uneven_mirrored_and_vanishing_scale_keep_positions(tmp_path, scale):
    scene = chain(scale=scale)
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], TURN_X])
    scene.animate(1, "rotation", [0, 1], [QUARTER, TURN_X])
    motion = load(tmp_path, scene.glb(), fps=7.0)
    assert_matches_reference(motion, scene.glb())
    assert any("scaled" in note for note in motion.notes)


def test_a_mirrored_skeleton_keeps_its_bone_lengths(tmp_path):
    scene = chain(scale=[-1, 1, 1])
    scene.animate(1, "rotation", [0, 1], [QUARTER, TURN_X])
    motion = load(tmp_path, scene.glb(), fps=7.0)
    np.testing.assert_allclose(np.ptp(motion.translations, axis=0), 0.0, atol=1e-6)


def test_animated_scale_keeps_positions(tmp_path):
    scene = chain()
    scene.animate(0, "scale", [0, 1], [[1, 1, 1], [3, 3, 3]])
    scene.animate(1, "rotation", [0, 1], [QUARTER, TURN_X])
    motion = load(tmp_path, scene.glb(), fps=2000.0)  # several blocks of frames
    assert_matches_reference(motion, scene.glb())


def test_scale_channels_that_say_nothing_are_no_scale(tmp_path):
    scene = chain()
    scene.animate(0, "scale", [0, 1], [[1, 1, 1.0000001], [0.9999999, 1, 1]])
    motion = load(tmp_path, scene.glb())
    np.testing.assert_array_equal(motion.translations[:, 1:], np.repeat(motion.skeleton.offsets[None, 1:], 31, axis=0))
    assert not any("scaled" in note for note in motion.notes)


def test_nodes_between_joints_and_animated_nodes_are_joints(tmp_path):
    scene = Scene(
        [
            {"name": "world", "children": [1, 5]},
            {"name": "hips", "children": [2]},
            {"name": "between", "translation": [0, 1, 0], "children": [3, 4]},
            {"name": "head"},
            {"name": "hat"},
            {"name": "prop", "children": [6]},
            {"name": "prop part"},
        ]
    )
    scene.json["skins"] = [{"joints": [3, 1]}]
    scene.animate(5, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]], animation=1)
    scene.animate(1, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    motion = load(tmp_path, scene.glb(), animation=0)
    assert motion.skeleton.names == ("hips", "between", "head", "prop")
    assert motion.skeleton.parents.tolist() == [-1, 0, 1, -1]
    assert load(tmp_path, scene.glb(), animation="clip1").skeleton.names == motion.skeleton.names


def test_joints_that_move_have_position_channels(tmp_path):
    scene = chain()
    scene.animate(2, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    channels = load(tmp_path, scene.glb()).skeleton.channels
    assert [len(own) for own in channels] == [6, 3, 6]


def test_the_nodes_rest_is_the_reference_pose(tmp_path):
    scene = chain()
    scene.animate(0, "rotation", [0, 1], [QUARTER, QUARTER])
    motion = load(tmp_path, scene.glb())
    np.testing.assert_allclose(motion.reference_pose.rotations[0], [1, 0, 0, 0])
    assert motion.height == pytest.approx(0.9 * 1, rel=0.05)  # hips to head, standing
    assert (motion.up, motion.metres_per_unit) == ("Y", 1.0)


def test_names_that_are_shared_or_missing(tmp_path):
    scene = Scene([{"children": [1, 2]}, {"name": "foot"}, {"name": "foot"}])
    scene.json["skins"] = [{"joints": [0, 1, 2]}]
    motion = load(tmp_path, scene.glb())
    assert motion.skeleton.names == ("node 0", "foot", "foot.001")
    assert any("2 joints have no unique name" in note for note in motion.notes)


def scene_with_more_than_joints() -> Scene:
    scene = chain()
    target = {"POSITION": 0}
    scene.json["meshes"] = [
        {
            "primitives": [{"attributes": {}, "targets": [target, target]}],
            "extras": {"targetNames": ["smile", "blink"]},
        },
        {"primitives": [{"attributes": {}, "targets": [target]}]},
    ]
    scene.json["skins"][0]["name"] = "rig"
    scene.json["nodes"] += [
        {"name": "body", "mesh": 0, "skin": 0},
        {"name": "legs", "mesh": 0, "skin": 0},
        {"name": "hat", "mesh": 1},
        {"mesh": 1},
    ]
    scene.animate(2, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]])
    scene.animate(1, "scale", [0, 1], [[1, 1, 1], [1, 1, 1]])
    scene.animate(3, "weights", [0, 1], [0, 1, 1, 0])
    scene.animate(0, "translation", [0, 1], [[0, 1, 0], [0, 2, 0]], animation=1)
    return scene


def test_what_is_not_read_is_noted_once(tmp_path):
    scene = scene_with_more_than_joints()
    motion = load(tmp_path, scene.glb())
    assert list(map(note_code, motion.notes)) == ["other_animations", "not_read"]
    assert motion.notes == (
        "of 2 animations the first, 'clip0', is read; the option animation chooses another: 'clip1'",
        "not read: 2 skinned meshes ('body', 'legs'); 1 skin ('rig'); 2 props ('hat', 'node 6'); "
        "6 morph targets ('smile', 'blink', 'smile', 'blink', 'hat 0', 'node 6 0'); 1 scale track ('head'); "
        "1 morph track ('body')",
    )
    assert kp.load_keyed(tmp_path / "clip.glb", fps=30.0).notes == motion.notes
    (note,) = load(tmp_path, scene.glb(), animation=1).notes
    assert "'node 6 0')" in note and "track" not in note  # the tracks are of the other animation


def test_long_lists_of_names_are_cut(tmp_path):
    scene = chain()
    scene.json["meshes"] = [{"primitives": []}]
    scene.json["nodes"] += [{"name": f"a prop of some length {k}", "mesh": 0} for k in range(50)]
    scene.animate(0, "translation", [0, 1], [[0, 1, 0], [0, 2, 0]])
    (note,) = load(tmp_path, scene.glb()).notes
    assert (
        "50 props ('a prop of some length 0', 'a prop of some length 1', 'a prop of some length 2' and 47 more)" in note
    )


@pytest.mark.parametrize(
    "meshes",
    [
        [3],
        [{"primitives": 3}],
        [{"primitives": [3, {"targets": 3}]}],
        [{"primitives": [{"targets": [1]}], "extras": 3}],
    ],
)
def test_damaged_meshes_do_not_matter(tmp_path, meshes):
    scene = chain()
    scene.json["meshes"] = meshes
    scene.json["nodes"] += [{"name": "hat", "mesh": 0}, {"name": "bag", "mesh": 7, "skin": "x"}]
    scene.animate(0, "translation", [0, 1], [[0, 1, 0], [0, 2, 0]])
    assert "1 prop ('hat')" in load(tmp_path, scene.glb()).notes[-1]


# Which animation, and when


def multiple_animations(count: int = 3) -> Scene:
    scene = chain()
    for k in range(count):
        scene.animate(0, "translation", [0, 1], [[k, 0, 0], [k, 0, 0]], animation=k)
    return scene


@pytest.mark.parametrize(("selector", "x"), [(None, 0), (0, 0), (2, 2), ("clip1", 1), ("2", 2)])
def test_the_animation_is_chosen_by_name_or_number(tmp_path, selector, x):
    motion = load(tmp_path, multiple_animations().glb(), animation=selector)
    assert motion.translations[0, 0, 0] == x
    assert motion.name == f"clip-clip{x}"
    assert any("'clip1', 'clip2'" in note for note in motion.notes) == (selector is None)


@pytest.mark.parametrize("selector", [3, -1, "walk", "", "99999999999999"])
def test_an_unknown_animation(tmp_path, selector):
    with raises(
        kp.OptionError,
        code="unknown_animation",
        option="animation",
        expected="a name or a number from 0 of: 'clip0', 'clip1', 'clip2'",
    ):
        load(tmp_path, multiple_animations().glb(), animation=selector)


def test_without_animation_the_rest_pose_is_loaded(tmp_path):
    motion = load(tmp_path, chain().glb())
    assert (motion.n_frames, motion.name) == (1, "clip")
    assert any("no animation" in note for note in motion.notes)
    assert_matches_reference(motion, chain().glb())


@pytest.mark.parametrize("rate", [24.0, 25.0, 30.0, 33.0, 60.0, 120.0, 30e3 / 1001])
def test_the_rate_is_that_of_even_keys(tmp_path, rate):
    scene = chain()
    times = (np.arange(50) / rate).astype("<f4")
    scene.animate(0, "translation", times, np.random.default_rng(1).normal(size=(50, 3)))
    motion = load(tmp_path, scene.glb())
    assert motion.fps == rate
    assert motion.n_frames == 50
    reference = ReferenceEvaluator(scene.glb())
    np.testing.assert_array_equal(motion.translations[:, 0], reference.values(1))  # the very keys, not a blend


def test_a_step_on_a_frame_applies_at_that_frame(tmp_path):
    scene = chain()
    times = (np.arange(1, 41) / 30).astype("<f4")  # rounded up as often as down
    scene.animate(0, "translation", times, np.arange(120).reshape(40, 3), "STEP")
    motion = load(tmp_path, scene.glb())
    assert motion.translations[:, 0, 0].tolist() == list(range(0, 120, 3))


@pytest.mark.parametrize(
    ("keys", "rate"),
    [
        ([0, 0.5, 1.0, 1.5], 30.0),  # sparse keys are not the frames
        ([0, 1.25], 24.0),
        ([0, 0.033, 0.067, 0.1, 0.133], 30.0),  # milliseconds
        ([0, 0.1234, 1.7, 1.93333], None),
        ([1.0], None),
        ([], None),
    ],
)
def test_the_rate_of_sparse_and_odd_keys(keys, rate):
    assert find_rate([np.array(keys)] if keys else [], keys[0] if keys else 0.0) == rate


def test_odd_keys_are_sampled_at_thirty_with_a_note(tmp_path):
    scene = chain()
    scene.animate(0, "translation", [0, 0.1234, 1.7, 1.93333], np.eye(4)[:, :3])
    motion = load(tmp_path, scene.glb())
    assert (motion.fps, motion.n_frames) == (30.0, 59)
    assert any("no common frame rate" in note for note in motion.notes)
    assert_matches_reference(motion, scene.glb())


def test_frame_zero_is_the_first_key(tmp_path):
    scene = chain()
    scene.animate(0, "translation", (np.arange(1, 49) / 24).astype("<f4"), np.arange(144).reshape(48, 3))
    motion = load(tmp_path, scene.glb())
    assert (motion.fps, motion.n_frames, motion.first_frame) == (24.0, 48, 1)
    np.testing.assert_array_equal(motion.translations[0, 0], [0, 1, 2])


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf")])
def test_an_impossible_rate(tmp_path, fps):
    with raises(kp.OptionError, option="fps", expected="a number from 0.001 to 1e+06"):
        load(tmp_path, chain().glb(), fps=fps)


def test_blocks_of_frames_change_nothing(tmp_path, monkeypatch):
    """The general case of scale works in blocks of frames, whose length depends on the number of joints."""
    times = np.arange(40) / 30
    scene = Scene([{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}])
    scene.animate(0, "scale", times, np.stack((1 + times, 2 - times, np.ones(40)), axis=1))
    scene.animate(1, "translation", times, np.stack((times, times**2, 1 - times), axis=1))
    path = tmp_path / "clip.glb"
    path.write_bytes(scene.glb())
    whole = kp.load(path)
    blocks = []
    real = gltf_nodes._apply_general_scale
    monkeypatch.setattr(
        gltf_nodes, "_apply_general_scale", lambda s, p, block: (blocks.append(block), real(s, p, block))
    )
    monkeypatch.setattr(gltf_nodes, "_BLOCK_BYTES", 5 * 2 * gltf_nodes._BYTES_PER_POSE)
    np.testing.assert_array_equal(kp.load(path).world_positions(), whole.world_positions())
    assert blocks[:2] == [slice(0, 5), slice(5, 10)]


def test_only_the_last_key_intervals_are_cached(tmp_path):
    """The sampler caches the intervals of one set of key times only."""
    scene = Scene([{"name": f"n{k}"} for k in range(6)])
    for k in range(6):
        scene.animate(k, "translation", [0, 1 + k / 30], [[0, 0, 0], [k, 0, 0]])
    source = Source(tmp_path / "clip.glb", scene.glb())
    container = open_container(source)
    moving = read_animation(container.json.objects("animations")[0], Accessors(container), 6)
    sampler = Sampler(moving, np.arange(30) / 30, 30.0)
    sampled = [sampler.sample(track) for track in moving.tracks]
    assert len(moving.key_times) == 6
    held = [value for value in vars(sampler).values() if isinstance(value, tuple)]
    assert len(held) == 1 and held[0][0] == moving.tracks[-1].times
    assert sampled[5][29, 0] == pytest.approx(5 * 29 / 35)
