"""Keys of files that other programs wrote: each channel with keys and ways of its own."""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gltf_scene import Scene, Twin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.rotations import from_euler

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.fuzz.mutate import damage
from tests.fuzz.seeds import seeds

FPS = 30.0
NODES = [
    {"name": "hips", "children": [1], "translation": [0, 1, 0]},
    {"name": "spine", "children": [2], "translation": [0, 0.4, 0]},
    {"name": "head", "translation": [0, 0.5, 0.1]},
]


def scene(**root) -> Scene:
    made = Scene([dict(node) for node in (NODES[0] | root, *NODES[1:])])
    made.json["skins"] = [{"joints": [0, 1, 2]}]  # so that all are joints, also those that keep still
    return made


def turns(rng: np.random.Generator, n: int, spread: float = 0.4) -> np.ndarray:
    """Quaternions (n, 4), xyzw as glTF has them, that wander."""
    return from_euler(np.cumsum(rng.normal(0, spread, (n, 3)), axis=0), "XYZ")[:, (1, 2, 3, 0)]


def cubic(rng: np.random.Generator, values: np.ndarray, slope: float) -> np.ndarray:
    """The values of a CUBICSPLINE sampler with tangents at random."""
    n, width = values.shape
    tangents = rng.normal(0, slope, (2, n, width))
    return np.stack((tangents[0], values, tangents[1]), axis=1).reshape(3 * n, width)


def loaded(made: Scene, folder: Path, **options) -> kp.KeyedMotion:
    path = folder / "x.glb"
    path.write_bytes(made.glb())
    return kp.load_keyed(path, **options)


def twin_positions(made: Scene, frames: np.ndarray, start_s: float = 0.0) -> np.ndarray:
    twin = Twin(made.glb())
    times = np.float32(start_s + frames / FPS).tolist()  # as the keys are rounded
    return np.array([[twin.world(j, time)[:3, 3] for j in range(3)] for time in times])


def assert_like_the_twin(keyed: kp.KeyedMotion, made: Scene, frames=None, *, atol=2e-6, start_s=0.0) -> None:
    frames = np.arange(keyed.n_frames, dtype=float) if frames is None else frames
    ours = keyed.sample(frames=frames).world_positions()
    np.testing.assert_allclose(ours, twin_positions(made, frames, start_s), atol=atol)


def test_one_cubic_channel_between_frames_too(tmp_path):
    rng = np.random.default_rng(0)
    made, frames = scene(), np.array([0, 7, 12, 30])
    made.animate(1, "rotation", frames / FPS, cubic(rng, turns(rng, 4), 2.0), "CUBICSPLINE")
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == frames.tolist() and keyed.is_cubic and keyed.fps == FPS
    assert_like_the_twin(keyed, made, np.linspace(0, 30, 101))


def test_channels_with_keys_of_their_own(tmp_path):
    """A cut cubic of a translation is the same cubic; that of a quaternion nearly so."""
    rng = np.random.default_rng(1)
    made = scene()
    made.animate(0, "translation", np.array([0, 10, 40]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    made.animate(1, "translation", np.array([5, 13, 35]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 5, 10, 13, 35, 40] and keyed.n_frames == 41
    assert_like_the_twin(keyed, made, np.linspace(0, 40, 161))
    made.animate(1, "rotation", np.array([0, 20, 40]) / FPS, cubic(rng, turns(rng, 3, 0.1), 0.1), "CUBICSPLINE")
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 5, 10, 13, 20, 35, 40]
    assert_like_the_twin(keyed, made, np.linspace(0, 40, 161), atol=1e-4)


def test_how_far_common_keys_are_is_said(tmp_path):
    """Quaternion cubics that go far from length 1 between their keys cannot be cut without loss."""
    rng = np.random.default_rng(5)
    made = scene()
    made.animate(0, "rotation", np.array([0, 40]) / FPS, cubic(rng, turns(rng, 2, 1.5), 6.0), "CUBICSPLINE")
    made.animate(1, "rotation", np.array([0, 7, 33, 40]) / FPS, cubic(rng, turns(rng, 4), 1.0), "CUBICSPLINE")
    with pytest.warns(kp.FormatWarning, match=r"keys of their own; on common keys the figure is within .* mm"):
        keyed = loaded(made, tmp_path)
    assert_like_the_twin(keyed, made, keyed.keys.astype(float))  # at the keys nothing is lost


def test_straight_channels(tmp_path):
    rng = np.random.default_rng(2)
    made = scene()
    flipped = turns(rng, 4) * np.array([1, -1, -1, 1])[:, None]
    made.animate(0, "rotation", np.array([0, 4, 9, 20]) / FPS, flipped)
    made.animate(1, "translation", np.array([2, 6]) / FPS, rng.normal(size=(2, 3)))
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 2, 4, 6, 9, 20] and not keyed.is_cubic
    assert np.sum(keyed.rotations.values[1:] * keyed.rotations.values[:-1], axis=-1).min() > 0  # signs go on
    assert_like_the_twin(keyed, made, np.linspace(0, 20, 81))


def test_steps_hold_until_the_frame_before_the_next(tmp_path):
    rng = np.random.default_rng(3)
    made = scene()
    made.animate(0, "rotation", np.array([0, 8, 9, 20]) / FPS, turns(rng, 4), "STEP")
    made.animate(1, "translation", np.array([0, 10]) / FPS, [[0, 0.4, 0], [0, 0.4, 0]], "STEP")  # nothing to hold
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 8, 9, 10, 19, 20] and not keyed.is_cubic
    assert_like_the_twin(keyed, made)


def test_ways_of_all_kinds_together(tmp_path):
    rng = np.random.default_rng(4)
    made = scene()
    made.animate(0, "translation", np.array([0, 20]) / FPS, cubic(rng, rng.normal(size=(2, 3)), 1.0), "CUBICSPLINE")
    made.animate(0, "rotation", np.array([0, 12, 20]) / FPS, turns(rng, 3, 0.2))
    made.animate(1, "rotation", np.array([0, 6]) / FPS, turns(rng, 2), "STEP")
    made.animate(2, "translation", np.array([3, 9]) / FPS, rng.normal(size=(2, 3)))
    keyed = loaded(made, tmp_path)
    assert keyed.is_cubic and keyed.keys.tolist() == [0, 3, 5, 6, 9, 12, 20]
    assert_like_the_twin(keyed, made, atol=2e-4)


def test_all_that_scales_evenly_and_stands_above(tmp_path):
    rng = np.random.default_rng(6)
    made = scene(scale=[2, 2, 2])
    made.json["nodes"].append(
        {
            "name": "above",
            "children": [0],
            "rotation": [0.5, 0.5, 0.5, 0.5],
            "scale": [0.1] * 3,
            "translation": [3, 4, 5],
        }
    )
    made.animate(0, "translation", np.array([0, 7, 20]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    made.animate(0, "rotation", np.array([0, 7, 20]) / FPS, cubic(rng, turns(rng, 3), 1.0), "CUBICSPLINE")
    made.animate(1, "translation", np.array([0, 7, 20]) / FPS, cubic(rng, rng.normal(size=(3, 3)), 1.0), "CUBICSPLINE")
    made.animate(2, "scale", np.array([0, 20]) / FPS, np.ones((2, 3)))
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 20]
    assert_like_the_twin(keyed, made, np.linspace(0, 20, 41))


@pytest.mark.parametrize(
    ("values", "way"),
    [([[1, 1, 1], [2, 2, 2]], "LINEAR"), (np.ones((6, 3)), "CUBICSPLINE"), ([[1, 1, 2], [1, 1, 2]], "LINEAR")],
)
def test_joints_that_change_their_size_have_no_keys(values, way, tmp_path):
    made = scene()
    made.animate(1, "scale", [0, 1], values, way)
    with pytest.raises(kp.FormatError, match=r"scaled unevenly, mirrored or in time.*kp\.load samples"):
        loaded(made, tmp_path)
    assert kp.load(tmp_path / "x.glb").n_frames == 31


def test_the_frames_of_a_file_that_starts_late(tmp_path):
    rng = np.random.default_rng(7)
    made = scene()
    made.animate(0, "rotation", np.array([90, 97, 105]) / FPS, cubic(rng, turns(rng, 3), 1.0), "CUBICSPLINE")
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0, 7, 15] and keyed.first_frame == 90 and keyed.n_frames == 16
    assert_like_the_twin(keyed, made, start_s=3.0, atol=1e-5)


def test_keys_beside_all_frames(tmp_path):
    made = scene()
    made.animate(0, "translation", [0, 0.1, 0.2718, 1], np.eye(4)[:, :3])
    with pytest.raises(kp.FormatError, match=r"no common frame rate; fps= states one .* kp\.load samples"):
        loaded(made, tmp_path)
    with pytest.raises(kp.FormatError, match=r"the key at 0\.2718 s has no frame of its own at 30 frames"):
        loaded(made, tmp_path, fps=30)
    assert loaded(made, tmp_path, fps=5000).keys.tolist() == [0, 500, 1359, 5000]
    close = scene()
    close.animate(0, "translation", [0, 1e-5, 1], np.eye(3))
    with pytest.raises(kp.FormatError, match=r"no frame of its own at 30 frames"):
        loaded(close, tmp_path, fps=30)


def test_what_never_moves(tmp_path):
    made = scene()
    made.animate(0, "rotation", [0.5], [[0, 0, 0, 1]])
    assert loaded(made, tmp_path).keys.tolist() == [0]
    made.animate(1, "rotation", [0.9], [[0, 1, 0, 0]])
    keyed = loaded(made, tmp_path)
    assert keyed.keys.tolist() == [0] and keyed.n_keys == 1
    assert keyed.rotations.values[0, 1].tolist() == [0, 0, 1, 0]


def test_one_of_several_animations(tmp_path):
    rng = np.random.default_rng(8)
    made = scene()
    made.animate(0, "rotation", [0, 1], turns(rng, 2))
    made.animate(0, "rotation", [0, 1, 2], turns(rng, 3), animation=1)
    assert loaded(made, tmp_path, animation="clip1").keys.tolist() == [0, 30, 60]
    with pytest.raises(kp.OptionError, match="there are: 'clip0', 'clip1'"):
        loaded(made, tmp_path, animation="x")


def test_a_cubic_that_is_no_rotation(tmp_path):
    made = scene()
    made.animate(0, "rotation", [0, 1], np.zeros((6, 4)), "CUBICSPLINE")
    with pytest.raises(kp.FormatError, match="is no rotation"):
        loaded(made, tmp_path)


def test_a_nan_that_signals_is_refused_like_any_other(tmp_path):
    made = scene()
    made.animate(0, "translation", [0, 1], np.zeros((2, 3)))
    made.binary = made.binary[:-4] + b"\x01\x00\xa0\x7f"
    with pytest.raises(kp.FormatError, match="expected finite numbers"):
        loaded(made, tmp_path)


frames = st.lists(st.integers(0, 25), min_size=1, max_size=5, unique=True).map(sorted)
ways = st.sampled_from(["LINEAR", "STEP", "CUBICSPLINE"])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tracks=st.dictionaries(st.tuples(st.integers(0, 2), st.sampled_from(["translation", "rotation"])),
                              st.tuples(frames, ways), min_size=1, max_size=5),
       seed=st.integers(0, 99))  # fmt: skip
def test_any_tracks_are_where_glTF_has_them(tracks, seed, tmp_path):
    """At every frame, to a hundredth of a millimetre; turns that had to be cut to what the file's notes say."""
    rng = np.random.default_rng(seed)
    made = scene()
    for (node, path), (at, way) in tracks.items():
        values = turns(rng, len(at), 0.15) if path == "rotation" else rng.normal(size=(len(at), 3))
        made.animate(node, path, np.array(at) / FPS, cubic(rng, values, 0.5) if way == "CUBICSPLINE" else values, way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        keyed = loaded(made, tmp_path, fps=FPS)
        dense = kp.load(tmp_path / "x.glb", fps=FPS, reference_pose="keep")
    start = min(at[0] for at, _ in tracks.values())
    assert keyed.first_frame == start and keyed.n_frames == dense.n_frames
    at_frames = np.arange(keyed.n_frames, dtype=float)
    twin = twin_positions(made, at_frames, start / FPS)
    np.testing.assert_allclose(dense.world_positions(), twin, atol=1e-5)
    said = [float(note.split("within ")[1].split(" mm")[0]) for note in keyed.notes if "on common keys" in note]
    allowed = (1.06 * said[0] if said else 0.01) / dense.mm_per_unit  # two digits are said
    assert np.linalg.norm(keyed.sample().world_positions() - twin, axis=-1).max() < allowed + 1e-5


@pytest.mark.data
@pytest.mark.parametrize("name", ["BoxAnimated", "CesiumMan", "Fox", "InterpolationTest", "RiggedFigure"])
def test_files_of_the_world(name, data_dir):
    path = data_dir / "gltf" / f"{name}.glb"
    motion = kp.load(path, reference_pose="keep")
    keyed = kp.load_keyed(path, fps=motion.fps)
    assert keyed.n_frames == motion.n_frames and keyed.skeleton.names == motion.skeleton.names
    away = np.linalg.norm(keyed.sample().world_positions() - motion.world_positions(), axis=-1)
    assert away.max() < 1e-5 * np.ptp(motion.world_positions(), axis=(0, 1)).max()


@pytest.mark.data
def test_a_robot_whose_joints_are_scaled_unevenly(data_dir):
    with pytest.raises(kp.FormatError, match=r"scaled unevenly.*kp\.unbake finds keys"):
        kp.load_keyed(data_dir / "gltf" / "RobotExpressive.glb")


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
