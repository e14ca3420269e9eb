"""Untrusted packed swings: any block gives Swings or an error that names the byte, in bounded memory."""

from __future__ import annotations

import random
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage

import keypose as kp
from keypose.rotations import IDENTITY
from keypose.swings import Settings
from keypose.swings.block import header
from keypose.swings.codec import MAGIC, pack, unpack
from support.errors import Pattern, raises
from support.stored_swings import CASES, random_swings

relaxed = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
SMALL = replace(random_swings(11, 30), contacts=kp.FootContacts(("left",), np.arange(30)[:, None] % 9 > 4))


def test_every_flipped_byte_is_noticed():
    data = pack(SMALL)
    for at in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            with raises(kp.FormatError, path="packed swings"):
                unpack(data[:at] + bytes((data[at] ^ flip,)) + data[at + 1 :])


def test_cut_short_or_too_long_anywhere():
    body = pack(SMALL)[:-4]
    assert unpack(_with_checksum(body)).n_frames == 30
    for end in range(len(body)):
        with pytest.raises(kp.FormatError):
            unpack(body[:end])
        with pytest.raises(kp.FormatError):
            unpack(_with_checksum(body[:end]))
    with raises(kp.FormatError, code="damaged", byte=540):
        unpack(_with_checksum(body + b"\0"))


def _with_checksum(body: bytes) -> bytes:
    """Append a valid checksum, so that errors must be found in the content."""
    return body + zlib.crc32(body).to_bytes(4, "little")


def _unpack_or_reject(data: bytes) -> str:
    try:
        unpack(data, where="x.kps", max_bytes=1 << 22)
    except kp.FormatError as error:
        assert str(error).startswith("x.kps: ") and len(str(error)) < 700
        return "refused"
    return "read"


def test_a_damaged_block_raises_an_error():
    bodies = [pack(swings)[:-4] for swings in (SMALL, CASES["drawn"], CASES["reference pose"], CASES["odd channels"])]
    rng = random.Random(0)
    outcomes = [_unpack_or_reject(_with_checksum(damage(rng.choice(bodies), bodies, rng))) for _ in range(500)]
    assert set(outcomes) == {"read", "refused"}


@relaxed
@given(tail=st.binary(max_size=400), at=st.integers(5, 900))
def test_any_bytes_behind_a_sound_start(tail, at):
    _unpack_or_reject(_with_checksum(pack(SMALL)[:at] + tail))


def test_another_value_of_every_byte():
    """One byte after the other, with a checksum that fits."""
    body = pack(SMALL)[:-4]
    for at in range(5, len(body)):
        value = (0, 1, 0x7F, 0x80, 0xFF)[at % 5]
        _unpack_or_reject(_with_checksum(body[:at] + bytes((value,)) + body[at + 1 :]))


def test_memory_is_bounded():
    """Keys on every frame of joints that keep still take no bytes: a small block could ask for any memory."""
    n_frames, still = 2_000_000, np.tile(IDENTITY, (2_000_000, 1))
    track = kp.Track("A", np.array(IDENTITY), keyed=(kp.KeyedSpan(np.arange(n_frames), still),))
    long = replace(CASES["one joint"], n_frames=n_frames, tracks=(track,))
    data = pack(long)
    assert len(data) < 150 and unpack(data).n_frames == n_frames
    tracemalloc.start()
    with raises(kp.FormatError, code="inconsistent", byte=108):
        unpack(data, max_bytes=1 << 20)
    assert tracemalloc.get_traced_memory()[1] < 1 << 18
    tracemalloc.stop()
    feet = kp.FootContacts(("left",) * 40, np.zeros((n_frames, 40), bool))
    with raises(kp.FormatError, code="inconsistent", byte=302):
        unpack(pack(replace(CASES["one joint"], n_frames=n_frames, contacts=feet)), max_bytes=1 << 20)


def test_messages():
    data = pack(SMALL)
    with raises(kp.FormatError, code="unknown_format", byte=0, expected="b'KPsw'"):
        unpack(b"GIF8" + data[4:], where="a.kps")
    with raises(kp.FormatError, code="unsupported", hint="update Keypose to read it"):
        unpack(_with_checksum(MAGIC + b"\x02" + data[5:-4]))
    with raises(kp.FormatError, code="unsupported", expected="1"):
        unpack(_with_checksum(MAGIC + b"\x00" + data[5:-4]))
    with raises(kp.FormatError, code="damaged", problem=Pattern("the checksum of its bytes is ")):
        unpack(data[:30] + b"\x55" + data[31:])
    with raises(kp.FormatError, code="truncated", expected="at least 9"):
        unpack(data[:5])
    with raises(kp.FormatError, code="unknown_format", byte=0, expected="b'KPsw'"):
        unpack(b"")
    name = len(SMALL.name)
    with raises(kp.FormatError, code="truncated", byte=5):
        unpack(_with_checksum(data[:5] + b"\xff\xff\x7f" + data[6:-4]))
    with raises(kp.FormatError, code="bad_number", byte=14, expected="finite numbers up to 1e+15"):
        unpack(_with_checksum(data[: 6 + name] + np.array([np.nan], "<f8").tobytes() + data[14 + name : -4]))
    with raises(
        kp.FormatError, path="packed swings", value=0.0, problem=Pattern(r"^fps=0\.0, expected a number from 0\.001")
    ):
        unpack(_with_checksum(data[: 6 + name] + bytes(8) + data[14 + name : -4]))
    with raises(kp.OptionError, expected="Swings, as kp.swings gives them"):
        pack(SMALL.play())


@pytest.mark.parametrize("joints", [(1, 1), (0, 3), (4,)], ids=str)
def test_left_out_joints_are_those_of_the_skeleton(joints):
    still, named = (replace(CASES["points"], settings=Settings(left_out=out)) for out in ((), ("A",)))
    plain, other = pack(still)[:-4], pack(named)[:-4]
    at = next(at for at in range(5, len(plain)) if plain[at] != other[at])  # how many there are
    steps = bytes(np.diff(joints, prepend=0).tolist())
    with raises(kp.FormatError, code="inconsistent", byte=130):
        unpack(_with_checksum(plain[:at] + bytes((len(joints),)) + steps + plain[at + 1 :]))


def test_too_many_joints(monkeypatch):
    data = pack(CASES["drawn"])
    monkeypatch.setattr(header, "MAX_JOINTS", 3)
    with raises(kp.FormatError, code="bad_number", byte=25, expected="at most 3"):
        unpack(data)


def test_settings_are_named_with_their_byte():
    body = pack(SMALL)[:-4]
    first = body.index(np.array([SMALL.settings.threshold, SMALL.settings.smoothing_s], "<f8").tobytes())
    for n, (name, wrong) in enumerate(
        (("threshold", 3.2), ("smoothing_s", 11), ("window_s", 0), ("min_duration_s", 1e9), ("rest_rad_per_s", 1e9),
         ("fallback_deg", 0), ("translation_mm", 1e9))
    ):  # fmt: skip
        at = first + 8 * n
        data = _with_checksum(body[:at] + np.array([wrong], "<f8").tobytes() + body[at + 8 :])
        with raises(
            kp.FormatError, path="x.kps", byte=at, code="bad_number", value=float(wrong), problem=Pattern(f"^{name}=")
        ):
            unpack(data, where="x.kps")


@pytest.mark.parametrize("wrong", [None, 0.5, 10**12, "KPsw", [1, 2]], ids=str)
def test_other_types_are_rejected(wrong):
    with raises(kp.OptionError, expected="bytes, as pack gives them"):
        unpack(wrong)
    assert unpack(bytearray(pack(SMALL))).n_swings == unpack(memoryview(pack(SMALL))).n_swings == SMALL.n_swings
