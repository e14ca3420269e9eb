"""Packed swings: few bytes, each accounted for, that play the same; and no damage that is not noticed."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
import naive_swings_packed as naive
from keypose.rotations import IDENTITY, angle_between, exp, from_euler, multiply
from keypose.swings import Path, Settings
from keypose.swings.block import head, numbers
from keypose.swings.block.turns import ACCURACY_RAD, folded, n_numbers, unfolded
from keypose.swings.packed import pack, unpack
from keypose.swings.size import PARTS
from stored_swings import CASES, OFFSETS, random_swings, skeleton

PLACE = 2.0**-23  # of numbers of 32 bits: rounding to them moves a curve by no more than this part of its largest one
AMC = ("01_01", "02_01", "07_05", "09_06", "131_04", "14_24")
relaxed = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def assert_plays_the_same(found: kp.Swings, made: kp.Swings) -> None:
    a, b = found.play(), made.play()
    assert angle_between(a.rotations, b.rotations).max() <= ACCURACY_RAD
    largest = np.abs(made.places).max(initial=0.0)
    for path in made.paths:
        reach = np.abs(path.curves.values).max()
        if path.curves.is_cubic:
            gap = np.diff(path.keys).max(initial=0)
            reach += gap * max(np.abs(path.curves.leaving).max(), np.abs(path.curves.arriving).max())
        largest = max(largest, reach)
    np.testing.assert_allclose(a.translations, b.translations, rtol=0, atol=PLACE * largest)


def assert_same_but_rounded(found: kp.Swings, made: kp.Swings) -> None:
    """Every field, those that do not play too."""
    for field in ("name", "fps", "n_frames", "settings", "up", "metres_per_unit", "first_frame", "notes"):
        assert getattr(found, field) == getattr(made, field), field
    for field in ("names", "rotation_orders", "channels"):
        assert getattr(found.skeleton, field) == getattr(made.skeleton, field), field
    for field in ("parents", "end_joints"):
        np.testing.assert_array_equal(getattr(found.skeleton, field), getattr(made.skeleton, field))
    for field in ("offsets", "end_offsets"):
        np.testing.assert_allclose(getattr(found.skeleton, field), getattr(made.skeleton, field), rtol=PLACE)
    for a, b in zip(found.tracks, made.tracks, strict=True):
        for field in ("starts", "ends", "rest_starts", "rest_ends"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
        for field in ("mean_rotation", "start_rotations", "rest_rotations"):
            assert angle_between(getattr(a, field), getattr(b, field)).max(initial=0.0) <= ACCURACY_RAD
        np.testing.assert_allclose(a.turns, b.turns, rtol=PLACE, atol=1e-38)
        assert [span.frames.tolist() for span in a.keyed] == [span.frames.tolist() for span in b.keyed]
        for span, other in zip(a.keyed, b.keyed, strict=True):
            assert angle_between(span.rotations, other.rotations).max() <= ACCURACY_RAD
    assert [p.joint for p in found.paths] == [p.joint for p in made.paths]
    for a, b in zip(found.paths, made.paths, strict=True):
        np.testing.assert_array_equal(a.keys, b.keys)
        assert a.curves.is_cubic == b.curves.is_cubic
    assert (found.contacts is None) == (made.contacts is None)
    if made.contacts is not None:
        assert found.contacts.feet == made.contacts.feet
        np.testing.assert_array_equal(found.contacts.touching, made.contacts.touching)
    assert (found.reference_pose is None) == (made.reference_pose is None)
    if made.reference_pose is not None:
        np.testing.assert_allclose(found.reference_pose.translations, made.reference_pose.translations, rtol=PLACE)
        assert angle_between(found.reference_pose.rotations, made.reference_pose.rotations).max() <= ACCURACY_RAD


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name):
    made = CASES[name]
    found = unpack(pack(made))
    assert_same_but_rounded(found, made)
    assert_plays_the_same(found, made)


@relaxed
@given(seed=st.integers(0, 2**31), n_frames=st.integers(1, 400))
def test_round_trip_of_anything(seed, n_frames):
    made = random_swings(seed, n_frames)
    found = unpack(pack(made))
    assert_same_but_rounded(found, made)
    assert_plays_the_same(found, made)


@pytest.mark.parametrize("name", CASES)
def test_every_byte_is_accounted_for(name):
    size = CASES[name].size()
    assert size.total == len(pack(CASES[name])) == sum(size.parts.values())
    assert tuple(size.parts) == PARTS
    channels = sum(map(len, CASES[name].skeleton.channels))
    assert size.raw_bytes == 4 * channels * CASES[name].n_frames
    assert size.ratio == size.total / max(1, size.raw_bytes)


def test_what_costs_what():
    """A swing 26 bytes, a rest 14, a key of a joint about one axis 4, a joint that keeps still next to nothing."""
    still = CASES["points"]
    rotations = np.array(IDENTITY)

    def more(track: kp.Track, *left_out: str) -> dict[str, int]:
        named = replace(still, settings=Settings(left_out=left_out))
        before, after = named.size().parts, named.with_tracks({1: track}).size().parts
        return {part: n - before[part] for part, n in after.items() if n > before[part]}

    swing, rest = kp.Swing("B", 1, 5, rotations, (0, 0, 1), 1.0), kp.Rest("B", 6, 8, exp(np.array([0.1, 0.2, 0.3])))
    assert more(kp.Track.of("B", rotations, [swing])) == {"swings": 1 + 26}
    assert more(kp.Track.of("B", rotations, rests=[rest])) == {"rests": 1 + 14}
    assert more(kp.Track.of("B", rotations, rests=[kp.Rest("B", 0, 8, rotations)])) == {"rests": 1 + 2}
    frames = np.arange(9)
    hinge = exp(np.linspace(0.1, 1, 9)[:, None] * (0.6, 0, 0.8))
    every, few, same = (
        kp.Track("B", rotations, keyed=(kp.KeyedSpan(*some),))
        for some in ((frames, hinge), (frames[:4], hinge[:4]), (frames, hinge[:1].repeat(9, 0)))
    )
    assert more(every, "B") == {"left_out": 4 + 12 + 12 + 9 * 4}
    assert more(every) == more(every, "A", "C") == {"keys": 4 + 12 + 12 + 9 * 4}  # none too many, but not left out
    assert more(few) == more(few, "B") == {"keys": 4 + 12 + 12 + 4 * 4}
    assert more(same, "B") == {"left_out": 4 + 12}
    assert replace(still, settings=Settings(left_out=("A", "C"))).size().header - still.size().header == 2
    places = np.random.default_rng(0).normal(size=(9, 1, 3))
    path = replace(still, paths=(Path("B", frames, kp.Curves(places)),))
    assert path.size().translation - still.size().translation == 1 + 3 + 9 * 12


# Rotations in few numbers


@given(seed=st.integers(0, 2**31), keys=st.integers(1, 60), angles=st.integers(0, 3), size=st.floats(0.02, 3.0))
@relaxed
def test_rotations_take_as_many_angles_as_they_have(seed, keys, angles, size):
    rng = np.random.default_rng(seed)
    frame, tilt = exp(rng.normal(0, 1, (2, 3)))
    euler = rng.normal(0, size, (keys, 3)) * (np.arange(3) < angles)
    rotations = multiply(frame, multiply(from_euler(euler, "ZXY"), tilt))
    found, packed = folded(rotations)
    assert found <= angles or n_numbers(angles, keys) >= n_numbers(3, keys)
    assert packed.dtype == np.float32 and len(packed) == n_numbers(found, keys) <= max(3, 3 * keys)
    assert angle_between(unfolded(found, packed.astype(float), keys), rotations).max() <= ACCURACY_RAD


def test_half_turns_come_back():
    """Where the axis of a rotation vector may point either way."""
    axes = np.random.default_rng(1).normal(size=(300, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    for angle in (np.pi, np.pi - 1e-9, np.pi - 1e-7, np.pi + 1e-9, 2 * np.pi):
        found, packed = folded(exp(angle * axes))
        back = unfolded(found, packed.astype(float), 300)
        assert angle_between(back, exp(angle * axes)).max() <= ACCURACY_RAD


@given(
    st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 300) | st.sampled_from([127, 128, 16383, 16384]), max_size=50)
)
@relaxed
def test_whole_numbers(values):
    data = b"".join(map(naive.written, values))
    assert numbers.written(np.array(values, np.int64)) == data == b"".join(map(numbers.written_one, values))
    behind = np.frombuffer(data + b"\x85\x01\x02", np.uint8)
    found, taken = numbers.read(behind, len(values))
    assert found.tolist() == values and taken == len(data)
    short, _ = numbers.read(np.frombuffer(data[:-1], np.uint8), len(values))
    assert short.tolist() == values[: len(short)] and (len(short) < len(values) or not values)


@given(st.integers(-(2**53), 2**53))
def test_signs(value):
    assert numbers.unfolded_sign(numbers.folded_sign(value)) == value


# What the document says


@pytest.mark.parametrize("name", CASES)
def test_the_document_says_how_to_read_it(name):
    """A reader that was written by the page alone finds the same."""
    made = CASES[name]
    found, said = unpack(pack(made)), naive.unpacked(pack(made))
    for field in ("name", "fps", "n_frames", "first_frame", "up", "metres_per_unit"):
        assert said[field] == getattr(made, field)
    assert tuple(said["notes"]) == made.notes
    assert (said["metric"], said["fallback"]) == (made.settings.metric, made.settings.fallback)
    assert said["settings"] == [
        getattr(made.settings, n)
        for n in ("threshold", "smoothing_s", "window_s", "least_s", "rest_rad_per_s", "fallback_deg", "translation_mm")
    ]
    assert tuple(said["left_out"]) == made.settings.left_out
    assert said["names"] == list(made.skeleton.names) and said["parents"] == made.skeleton.parents.tolist()
    assert tuple(map(tuple, said["channels"])) == made.skeleton.channels
    assert tuple(said["rotation_orders"]) == made.skeleton.rotation_orders
    np.testing.assert_array_equal(said["offsets"], found.skeleton.offsets)
    assert said["end_joints"] == made.skeleton.end_joints.tolist()
    moving = {path.joint for path in made.paths}
    for j, (track, place) in enumerate(zip(found.tracks, found.places, strict=True)):
        if track.joint not in moving:
            np.testing.assert_array_equal(said["places"][j], place)
        told = said["tracks"][j]
        assert [(start, end) for start, end, _, _ in told["swings"]] == [(s.start, s.end) for s in track.swings]
        for (_, _, start_rotation, turn), swing in zip(told["swings"], track.swings, strict=True):
            assert naive.degrees_apart(naive.quaternion(start_rotation), swing.start_rotation) < 1e-10
            np.testing.assert_allclose(turn, swing.turn, atol=1e-14)
        for (start, end, rotation), rest in zip(told["rests"], track.rests, strict=True):
            assert (start, end) == (rest.start, rest.end)
            assert naive.degrees_apart(naive.quaternion(rotation), rest.rotation) < 1e-10
        for told_span, span in zip(told["keyed"], track.keyed, strict=True):
            assert [frame for frame, _ in told_span] == span.frames.tolist()
            for (_, q), own in zip(told_span, span.rotations, strict=True):
                assert naive.degrees_apart(q, own) < 1e-10
    for path in found.paths:
        told = said["paths"][path.joint]
        assert told["frames"] == path.keys.tolist()
        np.testing.assert_array_equal(told["values"], path.curves.values[:, 0])
        if path.curves.is_cubic:
            np.testing.assert_array_equal(np.reshape(told["leaving"], (-1, 3)), path.curves.leaving[:-1, 0])
            np.testing.assert_array_equal(np.reshape(told["arriving"], (-1, 3)), path.curves.arriving[1:, 0])
    if made.contacts is not None:
        for foot, touching in zip(made.contacts.feet, made.contacts.touching.T, strict=True):
            changes = said["contacts"][foot]
            assert [sum(frame >= c for c in changes) % 2 == 1 for frame in range(made.n_frames)] == touching.tolist()


def test_no_setting_is_forgotten():
    assert {*head.NUMBERS, "metric", "fallback", "left_out"} == {field.name for field in fields(Settings)}


def test_a_place_is_kept_where_it_is_not_the_offset():
    places = OFFSETS + np.array([[0, 0, 0], [1, 2, 3], [0, 0, 0], [0, 1e-9, 0]])
    made = random_swings(9, skeleton=skeleton(), places=places, paths=())
    assert unpack(pack(made)).places.tolist() == np.float32(places).tolist()
    assert made.size().translation == 1 + 13 + 1  # the last one's is no other number of 32 bits


# Real motion


def _same_on_a_figure(made: kp.Swings) -> None:
    found = unpack(pack(made))
    assert_plays_the_same(found, made)
    a, b = found.play(), made.play()
    off = np.linalg.norm(a.world_positions() - b.world_positions(), axis=-1).max() * b.mm_per_unit
    assert off <= 0.001  # mm on a figure of 1.7 m: what docs/swings-packed.md states
    assert np.rad2deg(angle_between(a.rotations, b.rotations).max()) <= 6e-5


@pytest.mark.data
@pytest.mark.parametrize("options", [{}, {"fallback": "keys"}, {"translation_mm": 0.0}], ids=str)
@pytest.mark.parametrize("file", ["cmu120/49_06_cartwheel.bvh", "asf-amc/09_06.amc", "gltf/CesiumMan.glb"])
def test_real_clips(data_dir, file, options):
    _same_on_a_figure(kp.swings(kp.load(data_dir / file), **options))


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
def test_markers_are_many_roots(data_dir):
    made = kp.swings(kp.load(data_dir / "c3d" / "optotrak.c3d"))
    assert len(made.skeleton.roots) == made.n_joints > 10
    _same_on_a_figure(made)
    size = made.size()
    assert size.swings == 0 and size.rests <= 5 * made.n_joints  # nothing turns
    assert size.translation > 0.5 * size.total


@pytest.mark.data
@pytest.mark.parametrize(("fps", "most"), [(120, 0.25), (60, 0.30)])
def test_a_quarter_of_the_raw_motion(data_dir, fps, most):
    """Of 62 degrees of freedom, as the AMC files have them, at 4 bytes in each frame."""
    clips = [kp.load(data_dir / "asf-amc" / f"{name}.amc").at_fps(fps) for name in AMC]
    sizes = [kp.swings(clip).size() for clip in clips]
    raw = sum(4 * 62 * clip.n_frames for clip in clips)
    assert sum(size.total for size in sizes) / raw <= most
    assert sum(size.left_out for size in sizes) / raw <= 10.2 / 62  # of 12 degrees of freedom two never change
    keyed = [kp.swings(clip, fallback="keys").size() for clip in clips]
    assert sum(size.total for size in keyed) / raw <= most
