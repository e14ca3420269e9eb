"""Stored files with checksums that fit, but that no encoder wrote: clear errors, in bounded memory and time."""

from __future__ import annotations

import random
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from headers import read_back, tiny_motion
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sealing import sealed

import keypose as kp
from keypose.storage import stored_bytes
from keypose.storage.container import MAGIC, VERSION
from keypose.storage.head.clips import clip as code_clip
from keypose.storage.head.coder import Decoder, Encoder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.fuzz.mutate import damage as mutated

pytestmark = pytest.mark.usefixtures("raw")
relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
MOTION = tiny_motion()


@contextmanager
def memory_below(n_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


@pytest.fixture
def data() -> bytes:
    return stored_bytes(MOTION)


def _body(data: bytes) -> tuple[bytes, bytes]:
    """The header's body, and what follows the header."""
    start = read_back(data).start
    at = 5 if data[4] < 128 else 6
    return data[at : start - 4], data[start:]


def _with(data: bytes, body: bytes) -> bytes:
    """The file with another header."""
    head = MAGIC + bytes((VERSION, len(body) & 127 | 128, len(body) >> 7)) + body
    return head + zlib.crc32(head).to_bytes(4, "little") + _body(data)[1]


def _must_not_break(data: bytes) -> str:
    try:
        stored = kp.open_kps(data)
        stored.damage()
        stored.motion()
    except kp.FormatError as error:
        assert len(str(error)) < 1500
        return "refused"
    return "read"


def test_hostile_headers(data):
    body, _ = _body(data)
    rng = random.Random(0)
    outcomes = [_must_not_break(_with(data, mutated(body, [body], rng)[:16000])) for _ in range(300)]
    assert outcomes.count("refused") > 100
    for at in range(len(body)):
        _must_not_break(_with(data, body[:at] + bytes((body[at] ^ 1 << at % 8,)) + body[at + 1 :]))
        _must_not_break(_with(data, body[:at]))


def test_hostile_files(data):
    rng = random.Random(1)
    outcomes = [_must_not_break(sealed(mutated(data, [data], rng))) for _ in range(300)]
    assert 5 < outcomes.count("read") < 295


@relaxed
@given(st.binary(max_size=300))
def test_any_header(body):
    _must_not_break(_with(stored_bytes(MOTION), body))


def test_hostile_groups(data):
    """Groups with checksums that fit, as of another motion."""
    coding = read_back(data).coding
    with pytest.raises(kp.FormatError, match="what all groups need is not what an encoder writes: b'rew!'"):
        kp.open_kps(_with(data, _body(data)[0].replace(coding, b"rew!"))).motion()


class Liar(Encoder):
    """Answers some questions otherwise than asked."""

    def __init__(self, lies: dict[object, int]) -> None:
        super().__init__()
        self.lies = lies

    def whole(self, context, value, sizes=5):
        super().whole(context, self.lies.get(context, value), sizes)
        return value

    def near(self, context, bits, value, *start):
        super().near(context, bits, self.lies.pop(context, value), *start)
        return value


@pytest.mark.parametrize(
    ("context", "lie", "message"),
    [
        ("frames", 2**31, "2147483649 frames, more than the limit of 5000000"),
        ("frames", 4_000_000, "2000001 groups of frames, but there is room for"),
        ("joints", 2**31, "2147483649 joints, more than the limit of 10000"),
        ("coding", 2**31, "bytes are too few for what it says"),
        ("letters", 2**31, "a text of 2147483648 bytes"),
        ("pose", 2**31, "a group of 21474837.. bytes for 2 frames of 1 joints"),
        ("bytes of texts", 2**31, "texts of 2147483648 bytes"),
        ("end sites", 2**31, "joints, more than the limit of 10000|asks for more|not what"),
    ],
    ids=str,
)
def test_counts_beyond_all_measure_take_no_memory(data, context, lie, message):
    made = read_back(data).clip
    c = Liar({context: lie})
    c.flag("texts", context == "bytes of texts")
    if context == "bytes of texts":
        c.whole("bytes of texts", 0)
    code_clip(c, made, kp.Limits(), 100)
    hostile = _with(data, c.finish() + bytes(16))
    with memory_below(1 << 20), pytest.raises(kp.FormatError, match=message):
        kp.open_kps(hostile)


def test_long_texts_unfold_to_no_more_than_they_say():
    c = Encoder()
    c.apart(1 << 24, bytes(1 << 24))
    bomb = c.deflated_apart()
    decoder = Decoder(b"")
    decoder.set_apart(bomb)
    with memory_below(1 << 20):
        assert decoder.apart(100, None) == bytes(100) and decoder.apart(5, None) == bytes(5)
