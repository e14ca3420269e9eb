"""Hostile lossless bytes: a clear error or some numbers, never a crash, an endless loop or unbounded memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_lossless import from_angles, walk_curves

from keypose import _core
from keypose.arrays import MAX_MAGNITUDE
from keypose.storage.groups import CodingError
from keypose.storage.lossless import LosslessDecoder, encode_lossless
from support.lossless_motions import build_skeleton

relaxed = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
MOTION = from_angles(walk_curves(45))
CODED_FRAMES = encode_lossless(MOTION)


def outcome(clip: bytes, bodies: tuple[bytes, ...], n_frames: int = MOTION.n_frames) -> str:
    """Assert finite numbers, or a CodingError with a readable message."""
    try:
        decoder = LosslessDecoder(MOTION.skeleton, MOTION.fps, n_frames, clip)
        decoder.reference_pose()
        for g, body in enumerate(bodies):
            translations, rotations = decoder.decode_group(g, b"", body, None)
            assert (np.abs(translations) <= MAX_MAGNITUDE).all()
            assert np.allclose(np.linalg.norm(rotations, axis=-1), 1)
        decoder.channels(bodies)
    except CodingError as error:
        assert 10 < len(str(error)) < 200
        return "refused"
    return "read"


def test_valid_data_is_decoded():
    assert outcome(CODED_FRAMES.parameters, CODED_FRAMES.bodies) == "read"


def test_every_byte_changed():
    for at in range(len(CODED_FRAMES.parameters)):
        for change in (1, 255):
            outcome(
                CODED_FRAMES.parameters[:at]
                + bytes([CODED_FRAMES.parameters[at] ^ change])
                + CODED_FRAMES.parameters[at + 1 :],
                CODED_FRAMES.bodies,
            )
    body = CODED_FRAMES.bodies[0]
    for at in range(len(body)):
        outcome(CODED_FRAMES.parameters, (body[:at] + bytes([body[at] ^ 255]) + body[at + 1 :],), 30)


def test_truncated_bytes_are_refused():
    for length in range(0, len(CODED_FRAMES.parameters) - 4, 3):
        assert outcome(CODED_FRAMES.parameters[:length], CODED_FRAMES.bodies) == "refused"
    for length in range(0, len(CODED_FRAMES.bodies[0]) - 4, 7):
        assert (
            outcome(CODED_FRAMES.parameters, (CODED_FRAMES.bodies[0][:length], *CODED_FRAMES.bodies[1:])) == "refused"
        )


@given(clip=st.binary(max_size=300), body=st.binary(max_size=60))
@relaxed
def test_arbitrary_parameters_and_bodies(clip, body):
    outcome(clip, (body,) * len(CODED_FRAMES.bodies))
    outcome(CODED_FRAMES.parameters, (body,) * len(CODED_FRAMES.bodies))


@given(
    plan=st.lists(st.one_of(st.integers(-3, 12), st.integers(-(2**63), 2**63 - 1)), max_size=60),
    data=st.binary(max_size=40),
    frames=st.integers(0, 300),
)
@relaxed
def test_arbitrary_plans_are_refused_or_decoded(plan, data, frames):
    try:
        numbers = _core.lossless_decode(np.array(plan, np.int64), data, frames)
    except ValueError as error:
        assert str(error)
    else:
        assert numbers.shape[1] == frames


def test_too_many_frames_for_the_bytes_are_refused_before_allocation():
    plan = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 0] * 100, np.int64)
    tracemalloc.start()
    with pytest.raises(ValueError, match="too few bytes"):
        _core.lossless_decode(plan, b"\x01" * 50, 10**12)
    decoder = LosslessDecoder(MOTION.skeleton, 1e9, 10**9, CODED_FRAMES.parameters)
    with pytest.raises(CodingError, match=r"too few bytes|end too early"):
        decoder.decode_group(0, b"", CODED_FRAMES.bodies[0], None)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_references_to_later_columns_are_refused():
    sound = np.zeros(10, np.int64)
    assert _core.lossless_decode(sound, _core.lossless_encode(sound, np.array([[7, -5]])), 2).tolist() == [[7, -5]]
    for plan in ([0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5], [0, 0, 0]):
        with pytest.raises(ValueError, match="plan"):
            _core.lossless_decode(np.array(plan, np.int64), b"\x80", 1)


def test_unexpected_pose_or_body_bytes_are_refused():
    decoder = LosslessDecoder(MOTION.skeleton, MOTION.fps, MOTION.n_frames, CODED_FRAMES.parameters)
    with pytest.raises(CodingError, match="pose"):
        decoder.decode_group(0, b"x", CODED_FRAMES.bodies[0], None)
    still = from_angles(np.zeros((3, 9)))
    coded_frames = encode_lossless(still)
    with pytest.raises(CodingError, match="no columns that change"):
        LosslessDecoder(still.skeleton, still.fps, 3, coded_frames.parameters).decode_group(0, b"", b"\x80", None)


def test_another_skeleton_is_refused_or_decodes_to_finite_numbers():
    for joints in (1, 2, 5):
        skeleton = build_skeleton([("Zrotation", "Xrotation", "Yrotation")] * joints)
        try:
            decoder = LosslessDecoder(skeleton, MOTION.fps, MOTION.n_frames, CODED_FRAMES.parameters)
            decoder.decode_group(0, b"", CODED_FRAMES.bodies[0], None)
        except CodingError:
            pass
