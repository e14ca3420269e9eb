"""Keys of files of other programs: each channel with its own keys and interpolation."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage
from tests.fuzz.seeds import seeds

import keypose as kp
from keypose.formats.base import UNBAKE_HINT
from keypose.rotations import from_euler
from support.errors import Pattern, raises, warns
from support.gltf_scene import ReferenceEvaluator, Scene

FPS = 30.0
NODES = [
    {"name": "hips", "children": [1], "translation": [0, 1, 0]},
    {"name": "spine", "children": [2], "translation": [0, 0.4, 0]},
    {"name": "head", "translation": [0, 0.5, 0.1]},
]


def scene(**root) -> Scene:
    gltf = Scene([dict(node) for node in (NODES[0] | root, *NODES[1:])])
    gltf.json["skins"] = [{"joints": [0, 1, 2]}]  # so that all are joints, also those that keep still
    return gltf


def random_rotations(rng: np.random.Generator, n: int, sample_frames: float = 0.4) -> np.ndarray:
    """Return a random walk of quaternions (n, 4), xyzw as in glTF."""
    return from_euler(np.cumsum(rng.normal(0, sample_frames, (n, 3)), axis=0), "XYZ")[:, (1, 2, 3, 0)]


def cubic(rng: np.random.Generator, values: np.ndarray, slope: float) -> np.ndarray:
    """Return the values of a CUBICSPLINE sampler with random tangents."""
    n, width = values.shape
    tangents = rng.normal(0, slope, (2, n, width))
    return np.stack((tangents[0], values, tangents[1]), axis=1).reshape(3 * n, width)


def load_scene(gltf: Scene, folder: Path, **options) -> kp.KeyedMotion:
    path = folder / "x.glb"
    path.write_bytes(gltf.glb())
    return kp.load_keyed(path, **options)


def reference_positions(gltf: Scene, frames: np.ndarray, start_s: float = 0.0) -> np.ndarray:
    reference = ReferenceEvaluator(gltf.glb())
    times = np.float32(start_s + frames / FPS).tolist()  # as the keys are rounded
    return np.array([[reference.world(j, time)[:3, 3] for j in range(3)] for time in times])


def assert_matches_reference(keyed: kp.KeyedMotion, gltf: Scene, frames=None, *, atol=2e-6, start_s=0.0) -> None:
    frames = np.arange(keyed.n_frames, dtype=float) if frames is None else frames
    ours = keyed.sample(frames=frames).world_positions()
    np.testing.assert_allclose(ours, reference_positions(gltf, frames, start_s), atol=atol)


def test_one_cubic_channel_between_frames_too(tmp_path):
    rng = np.random.default_rng(0)
    gltf, frames = scene(), np.array([0, 7, 12, 30])
    gltf.animate(1, "rotation", frames / FPS, cubic(rng, random_rotations(rng, 4), 2.0), "CUBICSPLINE")
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == frames.tolist() and keyed.is_cubic and keyed.fps == FPS
    assert_matches_reference(keyed, gltf, np.linspace(0, 30, 101))


def test_channels_with_keys_of_their_own(tmp_path):
    """A split cubic of a translation is the same cubic; that of a quaternion nearly so."""
    rng = np.random.default_rng(1)
    gltf = scene()
    gltf.animate(0, "translation", np.array([0, 10, 40]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    gltf.animate(1, "translation", np.array([5, 13, 35]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 5, 10, 13, 35, 40] and keyed.n_frames == 41
    assert_matches_reference(keyed, gltf, np.linspace(0, 40, 161))
    gltf.animate(
        1, "rotation", np.array([0, 20, 40]) / FPS, cubic(rng, random_rotations(rng, 3, 0.1), 0.1), "CUBICSPLINE"
    )
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 5, 10, 13, 20, 35, 40]
    assert_matches_reference(keyed, gltf, np.linspace(0, 40, 161), atol=1e-4)


def test_cubics_far_from_length_1_keep_their_own_keys(tmp_path):
    """They could not be split at the keys of another joint without loss."""
    rng = np.random.default_rng(5)
    gltf = scene()
    gltf.animate(0, "rotation", np.array([0, 40]) / FPS, cubic(rng, random_rotations(rng, 2, 1.5), 6.0), "CUBICSPLINE")
    gltf.animate(
        1, "rotation", np.array([0, 7, 33, 40]) / FPS, cubic(rng, random_rotations(rng, 4), 1.0), "CUBICSPLINE"
    )
    keyed = load_scene(gltf, tmp_path)
    names = keyed.skeleton.names
    assert [keyed.joint_keys(name).tolist() for name in names[:2]] == [[0, 40], [0, 7, 33, 40]]
    assert_matches_reference(keyed, gltf, np.linspace(0, 40, 161))


def test_the_error_of_common_keys_is_reported(tmp_path):
    """A linear rotation among cubics is not a cubic: it gets all keys, and differs between them."""
    rng = np.random.default_rng(5)
    gltf = scene()
    gltf.animate(0, "rotation", np.array([0, 40]) / FPS, [[0, 0, 0, 1], [0, 0, 0.995, 0.0998]])
    gltf.animate(
        1, "rotation", np.array([0, 7, 33, 40]) / FPS, cubic(rng, random_rotations(rng, 4), 1.0), "CUBICSPLINE"
    )
    with warns(kp.FormatWarning, code="separate_keys") as caught:
        keyed = load_scene(gltf, tmp_path)
    assert f"within {caught[0].message.value:.2g} mm of them" in str(caught[0].message)
    assert_matches_reference(keyed, gltf, keyed.keys.astype(float))  # at the keys nothing is lost


def test_straight_channels(tmp_path):
    rng = np.random.default_rng(2)
    gltf = scene()
    flipped = random_rotations(rng, 4) * np.array([1, -1, -1, 1])[:, None]
    gltf.animate(0, "rotation", np.array([0, 4, 9, 20]) / FPS, flipped)
    gltf.animate(1, "translation", np.array([2, 6]) / FPS, rng.normal(size=(2, 3)))
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 2, 4, 6, 9, 20] and not keyed.is_cubic
    assert np.sum(keyed.rotations.values[1:] * keyed.rotations.values[:-1], axis=-1).min() > 0  # signs go on
    assert_matches_reference(keyed, gltf, np.linspace(0, 20, 81))


def test_steps_hold_until_the_frame_before_the_next(tmp_path):
    rng = np.random.default_rng(3)
    gltf = scene()
    gltf.animate(0, "rotation", np.array([0, 8, 9, 20]) / FPS, random_rotations(rng, 4), "STEP")
    gltf.animate(1, "translation", np.array([0, 10]) / FPS, [[0, 0.4, 0], [0, 0.4, 0]], "STEP")  # nothing to hold
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 8, 9, 10, 19, 20] and not keyed.is_cubic
    assert_matches_reference(keyed, gltf)


def test_all_interpolations_together(tmp_path):
    rng = np.random.default_rng(4)
    gltf = scene()
    gltf.animate(0, "translation", np.array([0, 20]) / FPS, cubic(rng, rng.normal(size=(2, 3)), 1.0), "CUBICSPLINE")
    gltf.animate(0, "rotation", np.array([0, 12, 20]) / FPS, random_rotations(rng, 3, 0.2))
    gltf.animate(1, "rotation", np.array([0, 6]) / FPS, random_rotations(rng, 2), "STEP")
    gltf.animate(2, "translation", np.array([3, 9]) / FPS, rng.normal(size=(2, 3)))
    keyed = load_scene(gltf, tmp_path)
    assert keyed.is_cubic and keyed.keys.tolist() == [0, 3, 5, 6, 9, 12, 20]
    assert_matches_reference(keyed, gltf, atol=2e-4)


def test_uniform_scales_and_ancestors(tmp_path):
    rng = np.random.default_rng(6)
    gltf = scene(scale=[2, 2, 2])
    gltf.json["nodes"].append(
        {
            "name": "above",
            "children": [0],
            "rotation": [0.5, 0.5, 0.5, 0.5],
            "scale": [0.1] * 3,
            "translation": [3, 4, 5],
        }
    )
    gltf.animate(0, "translation", np.array([0, 7, 20]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    gltf.animate(0, "rotation", np.array([0, 7, 20]) / FPS, cubic(rng, random_rotations(rng, 3), 1.0), "CUBICSPLINE")
    gltf.animate(1, "translation", np.array([0, 7, 20]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    gltf.animate(2, "scale", np.array([0, 20]) / FPS, np.ones((2, 3)))
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 20]
    assert_matches_reference(keyed, gltf, np.linspace(0, 20, 41))


@pytest.mark.parametrize(
    ("values", "interpolation"),
    [([[1, 1, 1], [2, 2, 2]], "LINEAR"), (np.ones((6, 3)), "CUBICSPLINE"), ([[1, 1, 2], [1, 1, 2]], "LINEAR")],
)
def test_joints_that_change_their_size_have_no_keys(values, interpolation, tmp_path):
    gltf = scene()
    gltf.animate(1, "scale", [0, 1], values, interpolation)
    with raises(kp.FormatError, path=str(tmp_path / "x.glb"), hint=UNBAKE_HINT):
        load_scene(gltf, tmp_path)
    assert kp.load(tmp_path / "x.glb").n_frames == 31


def test_the_frames_of_a_file_that_starts_late(tmp_path):
    rng = np.random.default_rng(7)
    gltf = scene()
    gltf.animate(0, "rotation", np.array([90, 97, 105]) / FPS, cubic(rng, random_rotations(rng, 3), 1.0), "CUBICSPLINE")
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 15] and keyed.first_frame == 90 and keyed.n_frames == 16
    assert_matches_reference(keyed, gltf, start_s=3.0, atol=1e-5)


def test_keys_off_frames(tmp_path):
    gltf = scene()
    gltf.animate(0, "translation", [0, 0.1, 0.2718, 1], np.eye(4)[:, :3])
    with raises(kp.FormatError, code="inconsistent", subject=None, path=str(tmp_path / "x.glb")) as caught:
        load_scene(gltf, tmp_path)
    # The golden message of this error:
    assert str(caught.value).endswith(
        "no common frame rate; fps= states one at which each has a frame, kp.load samples the file at any rate"
    )
    with raises(
        kp.FormatError,
        code="inconsistent",
        subject="animations[0].samplers[0]",
        problem=Pattern("^the key at 0.2718 s has no frame of its own at 30 "),
    ):
        load_scene(gltf, tmp_path, fps=30)
    assert load_scene(gltf, tmp_path, fps=5000).keys.tolist() == [0, 500, 1359, 5000]
    close = scene()
    close.animate(0, "translation", [0, 1e-5, 1], np.eye(3))
    with raises(
        kp.FormatError,
        code="inconsistent",
        subject="animations[0].samplers[0]",
        problem=Pattern("^the key at 1e-05 s has no frame of its own at 30 "),
    ):
        load_scene(close, tmp_path, fps=30)


def test_constant_tracks(tmp_path):
    gltf = scene()
    gltf.animate(0, "rotation", [0.5], [[0, 0, 0, 1]])
    assert load_scene(gltf, tmp_path).keys.tolist() == [0]
    gltf.animate(1, "rotation", [0.9], [[0, 1, 0, 0]])
    keyed = load_scene(gltf, tmp_path)
    assert keyed.keys.tolist() == [0] and keyed.n_keys == 1
    assert keyed.rotations.values[0, 1].tolist() == [0, 0, 1, 0]


def test_one_of_several_animations(tmp_path):
    rng = np.random.default_rng(8)
    gltf = scene()
    gltf.animate(0, "rotation", [0, 1], random_rotations(rng, 2))
    gltf.animate(0, "rotation", [0, 1, 2], random_rotations(rng, 3), animation=1)
    assert load_scene(gltf, tmp_path, animation="clip1").keys.tolist() == [0, 30, 60]
    expected = "a name or a number from 0 of: 'clip0', 'clip1'"
    with raises(kp.OptionError, code="unknown_animation", value="x", expected=expected):
        load_scene(gltf, tmp_path, animation="x")


def test_a_cubic_that_is_no_rotation(tmp_path):
    gltf = scene()
    gltf.animate(0, "rotation", [0, 1], np.zeros((6, 4)), "CUBICSPLINE")
    with raises(kp.FormatError, code="bad_number", expected="a quaternion of length 1"):
        load_scene(gltf, tmp_path)


def test_a_nan_that_signals_is_refused_like_any_other(tmp_path):
    gltf = scene()
    gltf.animate(0, "translation", [0, 1], np.zeros((2, 3)))
    gltf.binary = gltf.binary[:-4] + b"\x01\x00\xa0\x7f"
    with raises(kp.FormatError, code="bad_number", subject="accessors[1]", expected="finite numbers"):
        load_scene(gltf, tmp_path)


frames = st.lists(st.integers(0, 25), min_size=1, max_size=5, unique=True).map(sorted)
interpolations = st.sampled_from(["LINEAR", "STEP", "CUBICSPLINE"])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tracks=st.dictionaries(st.tuples(st.integers(0, 2), st.sampled_from(["translation", "rotation"])),
                              st.tuples(frames, interpolations), min_size=1, max_size=5),
       seed=st.integers(0, 99))  # fmt: skip
def test_any_tracks_agree_with_the_reference(tracks, seed, tmp_path):
    """At every frame, to a hundredth of a millimetre; split rotations within the reported error."""
    rng = np.random.default_rng(seed)
    gltf = scene()
    for (node, path), (at, interpolation) in tracks.items():
        values = random_rotations(rng, len(at), 0.15) if path == "rotation" else rng.normal(size=(len(at), 3))
        gltf.animate(
            node,
            path,
            np.array(at) / FPS,
            cubic(rng, values, 0.5) if interpolation == "CUBICSPLINE" else values,
            interpolation,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        keyed = load_scene(gltf, tmp_path, fps=FPS)
        dense = kp.load(tmp_path / "x.glb", fps=FPS, reference_pose="keep")
    start = min(at[0] for at, _ in tracks.values())
    assert keyed.first_frame == start and keyed.n_frames == dense.n_frames
    at_frames = np.arange(keyed.n_frames, dtype=float)
    reference = reference_positions(gltf, at_frames, start / FPS)
    np.testing.assert_allclose(dense.world_positions(), reference, atol=1e-5)
    reported_mm = [float(note.split("within ")[1].split(" mm")[0]) for note in keyed.notes if "on common keys" in note]
    allowed = (1.06 * reported_mm[0] if reported_mm else 0.01) / dense.mm_per_unit  # two digits are reported
    assert np.linalg.norm(keyed.sample().world_positions() - reference, axis=-1).max() < allowed + 1e-5


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["BoxAnimated", "CesiumMan", "Fox", "InterpolationTest", "RiggedFigure", "RobotExpressive"]
)
def test_sample_files(name, data_dir):
    path = data_dir / "gltf" / f"{name}.glb"
    motion = kp.load(path, reference_pose="keep")
    keyed = kp.load_keyed(path, fps=motion.fps)
    assert keyed.n_frames == motion.n_frames and keyed.skeleton.names == motion.skeleton.names
    away = np.linalg.norm(keyed.sample().world_positions() - motion.world_positions(), axis=-1)
    assert away.max() < 1e-5 * np.ptp(motion.world_positions(), axis=(0, 1)).max()


@pytest.mark.parametrize(("scale", "is_even"), [((1, 1.00000179, 1.00001574), True), ((1, 1, 1.001), False)])
def test_rounded_scales_are_even(tmp_path, scale, is_even):
    """Blender writes scales such as those of RobotExpressive, where 1 is meant."""
    gltf = scene()
    gltf.json["nodes"][1]["scale"] = scale
    gltf.animate(0, "rotation", np.array([0, 10, 20]) / FPS, random_rotations(np.random.default_rng(1), 3))
    if not is_even:
        with raises(kp.FormatError, code="unsupported", problem=Pattern("scaled unevenly"), hint=UNBAKE_HINT):
            load_scene(gltf, tmp_path)
        return
    assert_matches_reference(load_scene(gltf, tmp_path), gltf, atol=2e-5)
    assert not any("scaled" in note for note in kp.load(tmp_path / "x.glb").notes)


@pytest.mark.parametrize("kind", ["glb", "gltf"])
def test_damaged_files_end_in_keys_or_a_keypose_error(kind, tmp_path):
    sound = seeds(kind)
    rng = random.Random(kind)
    path, outcomes = tmp_path / sound.name, set()
    for _ in range(150):
        path.write_bytes(damage(rng.choice(sound.contents), sound.contents, rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            try:
                kp.load_keyed(path, limits=kp.Limits(bytes=64 << 20)).sample()
                outcomes.add("loaded")
            except kp.KeyposeError as error:
                assert str(path) in str(error)
                outcomes.add("refused")
    assert outcomes == {"loaded", "refused"}
