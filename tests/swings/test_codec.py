"""Packed swings: compact, every byte accounted for, same playback; every damage is detected."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.rotations import IDENTITY, angle_between, exp, from_euler, multiply
from keypose.swings import Path, Settings
from keypose.swings.block import byte_io, header
from keypose.swings.block.tracks import ACCURACY_RAD, count_numbers, decode_rotations, encode_rotations
from keypose.swings.codec import SECTIONS, pack, unpack
from reference import naive_swings_codec as naive
from support.stored_swings import CASES, OFFSETS, random_swings, skeleton

FLOAT32_STEP = 2.0**-23  # relative rounding error of 32-bit numbers
AMC = ("01_01", "02_01", "07_05", "09_06", "131_04", "14_24")
relaxed = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def assert_plays_the_same(unpacked: kp.Swings, original: kp.Swings) -> None:
    a, b = unpacked.play(), original.play()
    assert angle_between(a.rotations, b.rotations).max() <= ACCURACY_RAD
    largest = np.abs(original.translations).max(initial=0.0)
    for path in original.paths:
        reach = np.abs(path.curves.values).max()
        if path.curves.is_cubic:
            gap = np.diff(path.keys).max(initial=0)
            reach += gap * max(np.abs(path.curves.out_tangents).max(), np.abs(path.curves.in_tangents).max())
        largest = max(largest, reach)
    np.testing.assert_allclose(a.translations, b.translations, rtol=0, atol=FLOAT32_STEP * largest)


def assert_same_but_rounded(unpacked: kp.Swings, original: kp.Swings) -> None:
    """Every field, those that do not play too."""
    for field in ("name", "fps", "n_frames", "settings", "up", "metres_per_unit", "first_frame", "notes"):
        assert getattr(unpacked, field) == getattr(original, field), field
    for field in ("names", "rotation_orders", "channels"):
        assert getattr(unpacked.skeleton, field) == getattr(original.skeleton, field), field
    for field in ("parents", "end_joints"):
        np.testing.assert_array_equal(getattr(unpacked.skeleton, field), getattr(original.skeleton, field))
    for field in ("offsets", "end_offsets"):
        np.testing.assert_allclose(
            getattr(unpacked.skeleton, field), getattr(original.skeleton, field), rtol=FLOAT32_STEP
        )
    for a, b in zip(unpacked.tracks, original.tracks, strict=True):
        for field in ("starts", "ends", "rest_starts", "rest_ends"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
        for field in ("mean_rotation", "start_rotations", "rest_rotations"):
            assert angle_between(getattr(a, field), getattr(b, field)).max(initial=0.0) <= ACCURACY_RAD
        np.testing.assert_allclose(a.rotation_vectors, b.rotation_vectors, rtol=FLOAT32_STEP, atol=1e-38)
        assert [span.frames.tolist() for span in a.keyed] == [span.frames.tolist() for span in b.keyed]
        for span, other in zip(a.keyed, b.keyed, strict=True):
            assert angle_between(span.rotations, other.rotations).max() <= ACCURACY_RAD
    assert [p.joint for p in unpacked.paths] == [p.joint for p in original.paths]
    for a, b in zip(unpacked.paths, original.paths, strict=True):
        np.testing.assert_array_equal(a.keys, b.keys)
        assert a.curves.is_cubic == b.curves.is_cubic
    assert (unpacked.contacts is None) == (original.contacts is None)
    if original.contacts is not None:
        assert unpacked.contacts.feet == original.contacts.feet
        np.testing.assert_array_equal(unpacked.contacts.in_contact, original.contacts.in_contact)
    assert (unpacked.reference_pose is None) == (original.reference_pose is None)
    if original.reference_pose is not None:
        np.testing.assert_allclose(
            unpacked.reference_pose.translations, original.reference_pose.translations, rtol=FLOAT32_STEP
        )
        assert angle_between(unpacked.reference_pose.rotations, original.reference_pose.rotations).max() <= ACCURACY_RAD


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name):
    original = CASES[name]
    unpacked = unpack(pack(original))
    assert_same_but_rounded(unpacked, original)
    assert_plays_the_same(unpacked, original)


@relaxed
@given(seed=st.integers(0, 2**31), n_frames=st.integers(1, 400))
def test_round_trip_of_anything(seed, n_frames):
    original = random_swings(seed, n_frames)
    unpacked = unpack(pack(original))
    assert_same_but_rounded(unpacked, original)
    assert_plays_the_same(unpacked, original)


@pytest.mark.parametrize("name", CASES)
def test_every_byte_is_accounted_for(name):
    size = CASES[name].size()
    assert size.total == len(pack(CASES[name])) == sum(size.sections.values())
    assert tuple(size.sections) == SECTIONS
    channels, swings = sum(map(len, CASES[name].skeleton.channels)), CASES[name]
    assert size.raw_bytes == 4 * channels * swings.n_frames
    assert size.ratio == size.total / max(1, size.raw_bytes)
    left_out = sum(len(swings.skeleton.channels[j]) for j in range(swings.n_joints) if swings.is_left_out(j))
    assert size.left_out_raw_bytes == 4 * left_out * swings.n_frames
    others = size.raw_bytes - size.left_out_raw_bytes
    assert size.swinging_ratio == (size.total - size.left_out) / max(1, others)


def test_section_sizes():
    """A swing takes 26 bytes, a rest 14, a key of a joint about one axis 4, a still joint next to nothing."""
    still = CASES["points"]
    rotations = np.array(IDENTITY)

    def added_bytes(track: kp.Track, *left_out: str) -> dict[str, int]:
        named = replace(still, settings=Settings(left_out=left_out))
        before, after = named.size().sections, named.replace_tracks({1: track}).size().sections
        return {part: n - before[part] for part, n in after.items() if n > before[part]}

    swing, rest = kp.Swing("B", 1, 5, rotations, (0, 0, 1), 1.0), kp.Rest("B", 6, 8, exp(np.array([0.1, 0.2, 0.3])))
    assert added_bytes(kp.Track.build("B", rotations, [swing])) == {"swings": 1 + 26}
    assert added_bytes(kp.Track.build("B", rotations, rests=[rest])) == {"rests": 1 + 14}
    assert added_bytes(kp.Track.build("B", rotations, rests=[kp.Rest("B", 0, 8, rotations)])) == {"rests": 1 + 2}
    frames = np.arange(9)
    hinge = exp(np.linspace(0.1, 1, 9)[:, None] * (0.6, 0, 0.8))
    every, few, same = (
        kp.Track("B", rotations, keyed=(kp.KeyedSpan(*some),))
        for some in ((frames, hinge), (frames[:4], hinge[:4]), (frames, hinge[:1].repeat(9, 0)))
    )
    assert added_bytes(every, "B") == {"left_out": 4 + 12 + 12 + 9 * 4}
    assert (
        added_bytes(every) == added_bytes(every, "A", "C") == {"keys": 4 + 12 + 12 + 9 * 4}
    )  # none too many, but not left out
    assert added_bytes(few) == added_bytes(few, "B") == {"keys": 4 + 12 + 12 + 4 * 4}
    assert added_bytes(same, "B") == {"left_out": 4 + 12}
    assert replace(still, settings=Settings(left_out=("A", "C"))).size().header - still.size().header == 2
    translations = np.random.default_rng(0).normal(size=(9, 1, 3))
    path = replace(still, paths=(Path("B", frames, kp.Curves(translations)),))
    assert path.size().translation - still.size().translation == 1 + 3 + 9 * 12


# Rotations in few numbers


@given(seed=st.integers(0, 2**31), keys=st.integers(1, 60), angles=st.integers(0, 3), size=st.floats(0.02, 3.0))
@relaxed
def test_rotations_take_as_many_angles_as_they_have(seed, keys, angles, size):
    rng = np.random.default_rng(seed)
    frame, tilt = exp(rng.normal(0, 1, (2, 3)))
    euler = rng.normal(0, size, (keys, 3)) * (np.arange(3) < angles)
    rotations = multiply(frame, multiply(from_euler(euler, "ZXY"), tilt))
    n_angles, numbers = encode_rotations(rotations)
    assert n_angles <= angles or count_numbers(angles, keys) >= count_numbers(3, keys)
    assert numbers.dtype == np.float32 and len(numbers) == count_numbers(n_angles, keys) <= max(3, 3 * keys)
    assert angle_between(decode_rotations(n_angles, numbers.astype(float), keys), rotations).max() <= ACCURACY_RAD


def test_half_turns_are_restored():
    """Where the axis of a rotation vector may point either way."""
    axes = np.random.default_rng(1).normal(size=(300, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    for angle in (np.pi, np.pi - 1e-9, np.pi - 1e-7, np.pi + 1e-9, 2 * np.pi):
        n_angles, numbers = encode_rotations(exp(angle * axes))
        back = decode_rotations(n_angles, numbers.astype(float), 300)
        assert angle_between(back, exp(angle * axes)).max() <= ACCURACY_RAD


@given(
    st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 300) | st.sampled_from([127, 128, 16383, 16384]), max_size=50)
)
@relaxed
def test_varints(values):
    data = b"".join(map(naive.encode_varint, values))
    assert byte_io.encode(np.array(values, np.int64)) == data == b"".join(map(byte_io.encode_one, values))
    padded = np.frombuffer(data + b"\x85\x01\x02", np.uint8)
    decoded, n_bytes = byte_io.decode(padded, len(values))
    assert decoded.tolist() == values and n_bytes == len(data)
    short, _ = byte_io.decode(np.frombuffer(data[:-1], np.uint8), len(values))
    assert short.tolist() == values[: len(short)] and (len(short) < len(values) or not values)


@given(st.integers(-(2**53), 2**53))
def test_signs(value):
    assert byte_io.decode_sign(byte_io.encode_sign(value)) == value


# The documentation


@pytest.mark.parametrize("name", CASES)
def test_reader_written_from_the_document_agrees(name):
    """A reader written from the page alone reads the same values."""
    original = CASES[name]
    unpacked, block = unpack(pack(original)), naive.unpack(pack(original))
    for field in ("name", "fps", "n_frames", "first_frame", "up", "metres_per_unit"):
        assert block[field] == getattr(original, field)
    assert tuple(block["notes"]) == original.notes
    assert (block["metric"], block["fallback"]) == (original.settings.metric, original.settings.fallback)
    assert block["settings"] == [
        getattr(original.settings, n)
        for n in (
            "threshold",
            "smoothing_s",
            "window_s",
            "min_duration_s",
            "rest_rad_per_s",
            "fallback_deg",
            "translation_mm",
        )
    ]
    assert tuple(block["left_out"]) == original.settings.left_out
    assert block["names"] == list(original.skeleton.names) and block["parents"] == original.skeleton.parents.tolist()
    assert tuple(map(tuple, block["channels"])) == original.skeleton.channels
    assert tuple(block["rotation_orders"]) == original.skeleton.rotation_orders
    np.testing.assert_array_equal(block["offsets"], unpacked.skeleton.offsets)
    assert block["end_joints"] == original.skeleton.end_joints.tolist()
    moving = {path.joint for path in original.paths}
    for j, (track, place) in enumerate(zip(unpacked.tracks, unpacked.translations, strict=True)):
        if track.joint not in moving:
            np.testing.assert_array_equal(block["translations"][j], place)
        block_track = block["tracks"][j]
        assert [(start, end) for start, end, _, _ in block_track["swings"]] == [(s.start, s.end) for s in track.swings]
        for (_, _, start_rotation, turn), swing in zip(block_track["swings"], track.swings, strict=True):
            assert naive.degrees_apart(naive.quaternion(start_rotation), swing.start_rotation) < 1e-10
            np.testing.assert_allclose(turn, swing.rotation_vector, atol=1e-14)
        for (start, end, rotation), rest in zip(block_track["rests"], track.rests, strict=True):
            assert (start, end) == (rest.start, rest.end)
            assert naive.degrees_apart(naive.quaternion(rotation), rest.rotation) < 1e-10
        for block_span, span in zip(block_track["keyed"], track.keyed, strict=True):
            assert [frame for frame, _ in block_span] == span.frames.tolist()
            for (_, q), own in zip(block_span, span.rotations, strict=True):
                assert naive.degrees_apart(q, own) < 1e-10
    for path in unpacked.paths:
        block_track = block["paths"][path.joint]
        assert block_track["frames"] == path.keys.tolist()
        np.testing.assert_array_equal(block_track["values"], path.curves.values[:, 0])
        if path.curves.is_cubic:
            np.testing.assert_array_equal(
                np.reshape(block_track["out_tangents"], (-1, 3)), path.curves.out_tangents[:-1, 0]
            )
            np.testing.assert_array_equal(
                np.reshape(block_track["in_tangents"], (-1, 3)), path.curves.in_tangents[1:, 0]
            )
    if original.contacts is not None:
        for foot, in_contact in zip(original.contacts.feet, original.contacts.in_contact.T, strict=True):
            changes = block["contacts"][foot]
            assert [
                sum(frame >= c for c in changes) % 2 == 1 for frame in range(original.n_frames)
            ] == in_contact.tolist()


def test_every_setting_is_written():
    assert {*header.NUMBER_SETTINGS, "metric", "fallback", "left_out"} == {field.name for field in fields(Settings)}


def test_a_translation_is_written_where_it_differs_from_the_offset():
    translations = OFFSETS + np.array([[0, 0, 0], [1, 2, 3], [0, 0, 0], [0, 1e-9, 0]])
    original = random_swings(9, skeleton=skeleton(), translations=translations, paths=())
    assert unpack(pack(original)).translations.tolist() == np.float32(translations).tolist()
    assert original.size().translation == 1 + 13 + 1  # the last one's is no other number of 32 bits


# Real motion


def _assert_same_on_a_figure(original: kp.Swings) -> None:
    unpacked = unpack(pack(original))
    assert_plays_the_same(unpacked, original)
    a, b = unpacked.play(), original.play()
    off = np.linalg.norm(a.world_positions() - b.world_positions(), axis=-1).max() * b.mm_per_unit
    assert off <= 0.001  # mm on a figure of 1.7 m: what docs/swings-packed.md states
    assert np.rad2deg(angle_between(a.rotations, b.rotations).max()) <= 6e-5


@pytest.mark.data
@pytest.mark.parametrize("options", [{}, {"fallback": "keys"}, {"translation_mm": 0.0}], ids=str)
@pytest.mark.parametrize("file", ["cmu120/49_06_cartwheel.bvh", "asf-amc/09_06.amc", "gltf/CesiumMan.glb"])
def test_real_clips(data_dir, file, options):
    _assert_same_on_a_figure(kp.swings(kp.load(data_dir / file), **options))


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
def test_markers_are_many_roots(data_dir):
    swings = kp.swings(kp.load(data_dir / "c3d" / "optotrak.c3d"))
    assert len(swings.skeleton.roots) == swings.n_joints > 10
    _assert_same_on_a_figure(swings)
    size = swings.size()
    assert size.swings == 0 and size.rests <= 5 * swings.n_joints  # nothing turns
    assert size.translation > 0.5 * size.total


@pytest.mark.data
@pytest.mark.parametrize(("fps", "max_ratio"), [(120, 0.25), (60, 0.30)])
def test_a_quarter_of_the_raw_motion(data_dir, fps, max_ratio):
    """Of 62 degrees of freedom, as the AMC files have them, at 4 bytes in each frame."""
    clips = [kp.load(data_dir / "asf-amc" / f"{name}.amc").at_fps(fps) for name in AMC]
    sizes = [kp.swings(clip).size() for clip in clips]
    raw = sum(4 * 62 * clip.n_frames for clip in clips)
    assert sum(size.raw_bytes for size in sizes) == raw
    assert sum(size.total for size in sizes) / raw <= max_ratio
    assert {size.left_out_raw_bytes / size.raw_bytes for size in sizes} == {12 / 62}
    restored = unpack(pack(kp.swings(clips[0])))
    assert restored.skeleton.channel_counts.tolist() == clips[0].skeleton.channel_counts.tolist()
    assert sum(size.left_out for size in sizes) / raw <= 10.2 / 62  # of 12 degrees of freedom two never change
    keyed = [kp.swings(clip, fallback="keys").size() for clip in clips]
    assert sum(size.total for size in keyed) / raw <= max_ratio
