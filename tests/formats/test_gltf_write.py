"""glTF out: what comes back is what went in, every viewer sees an upright figure, the validator agrees."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gltf_scene import Twin, glb_of

import keypose as kp
from keypose.formats.figure import mesh
from keypose.formats.figure.size import metres_per_unit
from keypose.formats.orientation import UPRIGHT
from keypose.kinematics import UPS
from keypose.rotations import IDENTITY, from_euler, rotate

TOOLS = Path(__file__).resolve().parents[2] / "tools"
NAMES = ("Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "RightUpLeg", "RightLeg")
PARENTS = (-1, 0, 1, 0, 3, 0, 5)
OFFSETS = np.array(
    [[0, 0.9, 0], [0, 0.2, 0], [0, 0.4, 0.02], [0.1, -0.05, 0], [0, -0.4, 0], [-0.1, -0.05, 0], [0, -0.4, 0]]
)


def figure(frames: int = 20, *, fps: float = 30.0, unit: float = 1.0, **fields) -> kp.Motion:
    """A small person who wanders and turns; the head keeps still against the spine."""
    rng = np.random.default_rng(frames)
    skeleton = kp.Skeleton(
        NAMES,
        np.array(PARENTS),
        OFFSETS / unit,
        rotation_orders=("ZXY", "XYZ", "YXZ", "ZYX", "ZXY", "XZY", "YZX"),
        end_joints=np.array([2, 4, 6]),
        end_offsets=np.array([[0, 0.2, 0], [0, -0.4, 0.1], [0, -0.4, 0.1]]) / unit,
    )
    turns = from_euler(np.cumsum(rng.normal(0, 0.1, (frames, 7, 3)), axis=0), "ZXY")
    turns[:, 2] = IDENTITY
    translations = np.repeat(skeleton.offsets[None], frames, axis=0)
    translations[:, 0] += np.cumsum(rng.normal(0, 0.02, (frames, 3)), axis=0) / unit
    return kp.Motion("person", skeleton, fps, translations, turns, **fields)


def document(path: Path) -> dict:
    content = path.read_bytes()
    return json.loads(content[20 : 20 + struct.unpack_from("<I", content, 12)[0]])


def with_document(path: Path, changed: dict) -> Path:
    content = path.read_bytes()
    size = struct.unpack_from("<I", content, 12)[0]
    path.write_bytes(glb_of(json.dumps(changed).encode(), content[28 + size :]))
    return path


def assert_same(found: kp.Motion, motion: kp.Motion) -> None:
    mine, its = motion.skeleton, found.skeleton
    for field in ("names", "rotation_orders", "channels"):
        assert getattr(its, field) == getattr(mine, field), field
    for field in ("parents", "offsets", "end_joints", "end_offsets"):
        np.testing.assert_array_equal(getattr(its, field), getattr(mine, field), err_msg=field)
    for field in ("fps", "n_frames", "up", "metres_per_unit", "first_frame"):
        assert getattr(found, field) == getattr(motion, field), field
    size = max(np.abs(motion.translations).max(), 1e-9)
    np.testing.assert_allclose(found.translations, motion.translations, atol=1e-7 * size)
    assert kp.rotations.angle_between(found.rotations, motion.rotations).max() < 1e-6
    assert (found.reference_pose is None) == (motion.reference_pose is None)
    if motion.reference_pose is not None:
        np.testing.assert_allclose(found.reference_pose.rotations, motion.reference_pose.rotations, atol=1e-7)


CASES = {
    "plain": figure(),
    "one frame": figure(1),
    "odd rate": figure(fps=1 / 0.0083333),
    "Z up, inches": figure(unit=0.0254, up="Z", metres_per_unit=0.0254),
    "says no unit": figure(unit=0.01),
    "starts late": figure(first_frame=-17),
    "reference pose": figure(reference_pose=kp.Pose(OFFSETS, from_euler(np.full((7, 3), 0.1), "ZXY"))),
    "stands still": replace(
        figure(), rotations=np.tile(IDENTITY, (20, 7, 1)), translations=np.tile(OFFSETS, (20, 1, 1))
    ),
    "markers": kp.Motion(
        "markers",
        kp.Skeleton(("A", "B", "C"), np.array([-1, -1, -1]), np.zeros((3, 3))),
        100.0,
        np.random.default_rng(0).normal(size=(9, 3, 3)),
        np.tile(IDENTITY, (9, 3, 1)),
    ),
    "one point": kp.Motion(
        "point",
        kp.Skeleton(("A",), np.array([-1]), np.zeros((1, 3))),
        10.0,
        np.zeros((2, 1, 3)),
        np.tile(IDENTITY, (2, 1, 1)),
    ),
}


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("case", CASES)
def test_there_and_back(tmp_path, case, suffix):
    path = tmp_path / f"clip{suffix}"
    kp.save(CASES[case], path)
    assert_same(kp.load(path), CASES[case])
    assert kp.load(path).notes == ()


def with_axes(motion: kp.Motion, up: str, unit: float) -> kp.Motion:
    """A motion of Y up in metres, said in other axes and another unit."""
    turn = np.rint(kp.rotations.to_matrix(np.array(UPRIGHT[up]))).T / unit
    s = motion.skeleton
    turned = motion.rotations.copy()
    turned[..., 1:] = turned[..., 1:] @ turn.T * unit
    return replace(
        motion,
        skeleton=replace(s, offsets=s.offsets @ turn.T, end_offsets=s.end_offsets @ turn.T),
        translations=motion.translations @ turn.T,
        rotations=turned,
        up=up,
        metres_per_unit=unit,
    )


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("unit", [1.0, 0.001, 1000.0])
def test_the_nodes_are_the_same_from_whatever_axes_and_unit(tmp_path, up, unit):
    motions = {"plain.glb": figure(metres_per_unit=1.0), "other.glb": with_axes(figure(), up, unit)}
    for name, motion in motions.items():
        kp.save(motion, tmp_path / name)
        assert_same(kp.load(tmp_path / name), motion)
    plain, other = (document(tmp_path / name)["nodes"] for name in motions)
    for node, twin in zip(plain, other, strict=True):
        assert not {"scale", "matrix"} & set(twin)
        for key, rest in (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1])):
            np.testing.assert_allclose(twin.get(key, rest), node.get(key, rest), atol=1e-6)
    assert "rotation" not in other[7]


@pytest.mark.parametrize("unit", [np.float64(0.01), np.float32(0.25), 2])
def test_a_unit_of_any_number_type(tmp_path, unit):
    kp.save(figure(metres_per_unit=unit), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb").metres_per_unit == unit


def test_far_from_the_origin_nothing_of_the_figure_is_lost(tmp_path):
    motion = figure()
    far = motion.translations.copy()
    far[:, 0] += (4096.0, 0.0, -65536.0)
    kp.save(replace(motion, translations=far), tmp_path / "clip.glb")
    found = kp.load(tmp_path / "clip.glb")
    still = found.translations - found.translations[0]
    np.testing.assert_allclose(still, motion.translations - motion.translations[0], atol=1e-6)


@pytest.mark.parametrize("up", UPS)
def test_any_program_sees_an_upright_figure_in_metres(tmp_path, up):
    motion = figure(up=up, metres_per_unit=0.01, unit=0.01)
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    twin = Twin.of(path)
    for frame in (0, 7, 19):
        expected = rotate(np.array(UPRIGHT[up]), motion.world_positions()[frame]) * 0.01
        found = [twin.world(node, np.float32(frame / 30))[:3, 3] for node in range(7)]
        np.testing.assert_allclose(found, expected, atol=2e-6)
    heights = kp.kinematics.heights_above(motion.world_positions()[3], up) * 0.01
    np.testing.assert_allclose([twin.world(node, 0.1)[1, 3] for node in range(7)], heights, atol=1e-5)


def test_the_reference_pose_as_a_first_frame(tmp_path):
    pose = kp.Pose(OFFSETS, np.tile(IDENTITY, (7, 1)))
    turned = kp.rotations.multiply(from_euler(np.array([0.0, 1.5, 0.0]), "ZXY"), figure().rotations)
    motion = replace(figure(), rotations=turned, reference_pose=pose, first_frame=1)
    path = tmp_path / "clip.glb"
    kp.save(motion, path, reference_pose=True)
    kept = kp.load(path, reference_pose="keep")
    assert (kept.n_frames, kept.first_frame, kept.reference_pose) == (21, 0, None)
    np.testing.assert_allclose(kept.rotations[0], pose.rotations, atol=1e-7)
    assert_same(kp.load(path), motion)


def test_another_rate_can_be_asked_for(tmp_path):
    kp.save(figure(21), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb", fps=15.0).n_frames == 11


def test_names_in_another_encoding(tmp_path):
    motion = figure()
    names = ("H\udcfcfte", *NAMES[1:])
    skeleton = replace(motion.skeleton, names=names)
    kp.save(replace(motion, skeleton=skeleton, name="caf\udce9"), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb").skeleton.names[0] == "Hüfte"


# The figure


def skinned(path: Path, time_s: float) -> tuple[np.ndarray, np.ndarray, Twin]:
    """The figure's vertices where a viewer draws them, the joint of each, and the evaluated file."""
    twin = Twin.of(path)
    attributes = twin.json["meshes"][0]["primitives"][0]["attributes"]
    positions = np.array(twin.values(attributes["POSITION"]))
    joints = np.array(twin.values(attributes["JOINTS_0"]))[:, 0].astype(int)
    entry = twin.json["accessors"][twin.json["skins"][0]["inverseBindMatrices"]]
    start = twin.json["bufferViews"][entry["bufferView"]]["byteOffset"]
    inverse = np.frombuffer(twin.buffers[0], "<f4", 16 * entry["count"], start).reshape(-1, 4, 4).swapaxes(1, 2)
    move = np.array([twin.world(j, time_s) @ inverse[j] for j in range(entry["count"])])
    return np.einsum("vab,vb->va", move[joints], np.c_[positions, np.ones(len(positions))])[:, :3], joints, twin


@pytest.mark.parametrize("case", ["plain", "Z up, inches", "reference pose", "markers"])
def test_the_figure_follows_its_joints(tmp_path, case):
    motion = CASES[case]
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    frame = motion.n_frames - 1
    vertices, joints, twin = skinned(path, frame / motion.fps)
    for j in range(motion.n_joints):
        own = vertices[joints == j]
        assert len(own), f"nothing is bound to {motion.skeleton.names[j]}"
        far = np.linalg.norm(own - twin.world(j, frame / motion.fps)[:3, 3], axis=1)
        assert far.min() < 0.1
        assert far.max() < 0.6  # no bone is longer


def test_the_figure_is_as_tall_as_the_person_and_tells_left_from_right(tmp_path):
    path = tmp_path / "clip.glb"
    kp.save(CASES["plain"], path)
    twin = Twin.of(path)
    accessor = twin.json["accessors"][twin.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    assert accessor["max"][1] - accessor["min"][1] == pytest.approx(CASES["plain"].height, rel=0.08)
    assert [m["name"] for m in twin.json["materials"]] == ["middle", "left", "right"]


def test_faces_look_outward(tmp_path):
    path = tmp_path / "clip.glb"
    kp.save(CASES["markers"], path)
    vertices, joints, twin = skinned(path, 0.0)
    primitive = twin.json["meshes"][0]["primitives"][0]
    normals = np.array(twin.values(primitive["attributes"]["NORMAL"]))
    corners = np.array(twin.values(primitive["indices"])).astype(int).reshape(-1, 3)
    assert len(corners) == 3 * 8
    centres = np.array([twin.world(j, 0.0)[:3, 3] for j in joints[corners[:, 0]]])
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)
    assert (np.einsum("na,na->n", facing, (a + b + c) / 3 - centres) > 0).all()
    assert (np.einsum("na,na->n", facing, normals[corners[:, 0]]) > 0).all()


@pytest.mark.parametrize(
    ("height", "expected"),
    [(1.7, 1.0), (170.0, 0.01), (1650.0, 0.001), (67.0, 0.0254), (5.6, 0.3048), (26.5, 0.05644), (17.0, 0.1)],
)
def test_natural_size(height, expected):
    motion = figure()
    taller = height / motion.height
    skeleton = replace(
        motion.skeleton, offsets=motion.skeleton.offsets * taller, end_offsets=motion.skeleton.end_offsets * taller
    )
    motion = replace(motion, skeleton=skeleton, translations=motion.translations * taller)
    assert motion.height == pytest.approx(height)
    assert metres_per_unit(motion) == pytest.approx(expected)


def test_size_of_nothing_and_of_what_says_its_unit():
    assert metres_per_unit(CASES["one point"]) == 1.0
    assert metres_per_unit(figure(metres_per_unit=3.0)) == 3.0


# What cannot be written


def test_numbers_beyond_32_bits(tmp_path):
    with pytest.raises(kp.OptionError, match="32 bits"):
        kp.save(figure(unit=1e14, metres_per_unit=1e-12), tmp_path / "clip.glb")
    with pytest.raises(kp.OptionError, match="32 bits"):
        kp.save(figure(unit=1e-4, metres_per_unit=1e12), tmp_path / "clip.glb")
    assert not list(tmp_path.iterdir())


def test_a_glb_of_more_bytes_than_it_can_count(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["keypose.formats.gltf.write"], "MOST_GLB_BYTES", 1000)
    with pytest.raises(kp.OptionError, match="expected at most the 1000 of a GLB"):
        kp.save(figure(), tmp_path / "clip.glb")
    kp.save(figure(), tmp_path / "clip.gltf")


def test_a_first_frame_beyond_what_json_counts(tmp_path):
    with pytest.raises(kp.ModelError, match="first frame"):
        figure(first_frame=2**60)
    motion = figure(first_frame=2**53 - 1)
    kp.save(motion, tmp_path / "clip.glb")
    assert_same(kp.load(tmp_path / "clip.glb"), motion)


def test_numbers_of_numpy(tmp_path):
    motion = figure(fps=np.float32(30.0), unit=0.01, first_frame=np.int64(7), metres_per_unit=np.float32(0.01))
    kp.save(motion, tmp_path / "clip.glb")
    assert_same(kp.load(tmp_path / "clip.glb"), motion)


def test_figures_too_small_or_too_far_away_to_be_drawn(tmp_path):
    tiny = figure(unit=1e200)
    for away in (1.0, 9e14):
        there = tiny.translations.copy()
        there[:, 0, 0] += away
        kp.save(replace(tiny, translations=there), tmp_path / "tiny.glb")
        assert kp.load(tmp_path / "tiny.glb").translations[0, 0, 0] == pytest.approx(away)
    far = figure(metres_per_unit=1.0)
    there = far.translations.copy()
    there[:, 0, 2] += 9e14
    kp.save(replace(far, translations=there), tmp_path / "far.glb")
    assert kp.load(tmp_path / "far.glb").translations[0, 0, 2] == pytest.approx(9e14)


def test_a_skeleton_as_deep_as_the_limit(tmp_path):
    n = kp.Limits().depth
    skeleton = kp.Skeleton(tuple(f"j{k}" for k in range(n)), np.arange(n) - 1, np.tile((0.0, 0.01, 0.0), (n, 1)))
    motion = kp.Motion("deep", skeleton, 30.0, skeleton.offsets[None], np.tile(IDENTITY, (1, n, 1)))
    kp.save(motion, tmp_path / "clip.glb")
    np.testing.assert_array_equal(kp.load(tmp_path / "clip.glb").skeleton.parents, skeleton.parents)


def test_of_very_many_bones_only_the_longest_are_drawn():
    n = 5000
    lengths = np.linspace(0.1, 1.0, n)
    skeleton = kp.Skeleton(
        ("a", "b"),
        np.array([-1, 0]),
        np.array([[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]),
        end_joints=np.zeros(n, np.int32),
        end_offsets=np.stack((lengths, np.zeros(n), np.zeros(n)), axis=1),
    )
    drawn = mesh.build_figure(skeleton, skeleton.offsets, skeleton.end_offsets, 1.0)
    per_bone = 4 * len(mesh.SHAPES["bone"])
    assert len(drawn.positions) == mesh.MOST_BONES * per_bone + 2 * 4 * len(mesh.SHAPES["ball"])
    ends = drawn.positions[: mesh.MOST_BONES * per_bone].reshape(mesh.MOST_BONES, -1, 3)
    reach = ends.max(axis=1)  # of each bone
    assert reach[:, 1].max() >= 9.0  # the child is the farthest of all
    assert np.sort(reach[:, 0])[1] >= lengths[-mesh.MOST_BONES]
    np.testing.assert_allclose(np.linalg.norm(drawn.normals, axis=1), 1.0)


def test_end_sites_count_as_joints(tmp_path):
    kp.save(figure(), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb", limits=kp.Limits(joints=10)).n_joints == 7
    with pytest.raises(kp.LimitError, match="10 joints"):
        kp.load(tmp_path / "clip.glb", limits=kp.Limits(joints=9))


# Notes that do not fit


def _notes(changed: dict) -> dict:
    return next(node["extras"]["keypose"] for node in changed["nodes"] if "extras" in node)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: _notes(d).update(version=2),
        lambda d: _notes(d).update(fps=-1),
        lambda d: _notes(d).update(fps="fast"),
        lambda d: _notes(d).update(fps=60.0),
        lambda d: _notes(d).update(frames=10**9),
        lambda d: _notes(d).update(frames=10**4000),
        lambda d: _notes(d).update(fps=1e9),
        lambda d: _notes(d).update(fps=10**4000),
        lambda d: _notes(d).update(first_frame=10**30),
        lambda d: _notes(d).update(up="Q"),
        lambda d: _notes(d).update(up="Z"),
        lambda d: _notes(d).update(metres_per_unit=0.01),
        lambda d: _notes(d).update(metres_per_unit=None),
        lambda d: _notes(d).update(metres_per_unit=-1.0),
        lambda d: _notes(d).update(metres_per_unit=1e-320),
        lambda d: _notes(d).update(unit_stated="yes"),
        lambda d: _notes(d).pop("unit_stated"),
        lambda d: _notes(d).update(joints=[0, 1, 2]),
        lambda d: _notes(d).update(joints=[0] * 7),
        lambda d: _notes(d).update(joints=[0, 1, 2, 3, 4, 5, 7]),
        lambda d: _notes(d).update(joints=[1, 0, 2, 3, 4, 5, 6]),
        lambda d: _notes(d).update(joints=[0, 1, 2, 3, 4, 5, 99]),
        lambda d: _notes(d).update(offsets=[0.0] * 20),
        lambda d: _notes(d).update(offsets=["0"] * 21),
        lambda d: _notes(d).update(rotation_orders=["ZZZ"] * 7),
        lambda d: _notes(d).update(rotation_orders=[7] * 7),
        lambda d: _notes(d).update(channels=["Wposition"] * 7),
        lambda d: _notes(d).update(end_joints=[7, 0, 0]),
        lambda d: _notes(d).update(end_offsets=[]),
        lambda d: _notes(d).update(rest_checksum=1),
        lambda d: _notes(d).clear(),
        lambda d: d["nodes"][2].update(translation=[0, 9, 0]),
        lambda d: d["nodes"][2].update(scale=[2, 2, 2]),
        lambda d: d["nodes"][2].pop("name"),
        lambda d: d["nodes"][2].update(name="Hips"),
        lambda d: d["nodes"][7].update(translation=[0, 1, 0]),
        lambda d: d["nodes"][7].update(scale=[2, 2, 2]),
        lambda d: d["nodes"][7].update(rotation=[1, 0, 0, 0]),
        lambda d: d["nodes"].append({"children": [7]}),
        lambda d: d["animations"][0]["channels"][-1]["target"].update(path="scale"),
        lambda d: d["animations"][0]["channels"][0]["target"].update(node=7),
    ],
)  # fmt: skip
def test_notes_that_do_not_fit_are_not_used(tmp_path, change):
    path = tmp_path / "clip.glb"
    kp.save(figure(metres_per_unit=1.0), path)
    changed = document(path)
    change(changed)
    with_document(path, changed)
    with pytest.warns(kp.FormatWarning, match="own notes in the file are not used"):
        found = kp.load(path)
    assert found.reference_pose is not None  # read like any other file
    assert found.n_frames == 20


def test_the_plain_reading_has_the_same_world(tmp_path):
    motion = figure(unit=0.01, up="Z", metres_per_unit=0.01)
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    changed = document(path)
    del changed["nodes"][7]["extras"]
    found = kp.load(with_document(path, changed))
    assert found.skeleton.names == motion.skeleton.names
    expected = rotate(np.array(UPRIGHT["Z"]), motion.world_positions()) * 0.01
    np.testing.assert_allclose(found.world_positions(), expected, atol=1e-6)


# The judges


def issues(folder: Path, paths: list[Path]) -> dict[str, list]:
    run = subprocess.run(
        ["node", TOOLS / "validate_gltf.mjs", folder, *paths], capture_output=True, text=True, timeout=300, check=True
    )
    return {Path(entry["path"]).name: entry["issues"] for entry in json.loads(run.stdout)}


@pytest.fixture(scope="session")
def validator() -> Path:
    """The folder of the Khronos validator, installed on first use; a skip in sight where there is no Node.js."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"the Khronos glTF validator needs {program}, which is not installed")
    run = subprocess.run([TOOLS / "gltf_validator.sh"], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        pytest.skip(f"the Khronos glTF validator could not be installed: {run.stderr.strip()[-300:]}")
    return Path(run.stdout.strip().splitlines()[-1])


@pytest.mark.node
def test_the_khronos_validator_finds_nothing(tmp_path, validator):
    paths = []
    for number, motion in enumerate(CASES.values()):
        for suffix in (".glb", ".gltf"):
            paths.append(tmp_path / f"{number}{suffix}")
            kp.save(motion, paths[-1])
    assert issues(validator, paths) == {path.name: [] for path in paths}


@pytest.mark.node
def test_the_khronos_validator_would_find_something(tmp_path, validator):
    path = tmp_path / "clip.glb"
    kp.save(figure(), path)
    changed = document(path)
    changed["accessors"][0]["max"] = [99.0]
    found = issues(validator, [with_document(path, changed)])
    assert any(issue["severity"] == 0 for issue in found["clip.glb"])


@pytest.mark.data
@pytest.mark.node
def test_the_khronos_validator_finds_nothing_in_real_motion(tmp_path, validator, data_dir):
    names = ("59joints_fingers_zup", "fair_zup_dab", "kinect-openni_mm_hash-names", "blender_6ch-every-joint_alien",
             "daz3d_170joints_1frame", "tiny_two-joints")  # fmt: skip
    paths = []
    for name in names:
        paths.append(tmp_path / f"{name}.glb")
        motion = kp.load(data_dir / "formats" / "bvh" / f"{name}.bvh")
        kp.save(motion, paths[-1])
        assert_same(kp.load(paths[-1]), motion)
    assert issues(validator, paths) == {path.name: [] for path in paths}
