"""Invalid files with valid checksums: clear errors, in bounded memory and time."""

from __future__ import annotations

import random
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage as mutated

import keypose as kp
from keypose.limits import limit_hint
from keypose.storage import encode_kps
from keypose.storage.container import MAGIC, VERSION
from keypose.storage.header.clip_header import code_header as code_clip
from keypose.storage.header.coder import Decoder, Encoder
from support.checksum_repair import update_checksums
from support.errors import Pattern, raises
from support.headers import read_back, tiny_motion

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
    return encode_kps(MOTION)


def _body(data: bytes) -> tuple[bytes, bytes]:
    """Return the body of the header, and the bytes after the header."""
    start = read_back(data).start_byte
    at = 5 if data[4] < 128 else 6
    return data[at : start - 4], data[start:]


def _with(data: bytes, body: bytes) -> bytes:
    """Return the file with another header."""
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
    outcomes = [_must_not_break(update_checksums(mutated(data, [data], rng))) for _ in range(300)]
    assert 5 < outcomes.count("read") < 295


@relaxed
@given(st.binary(max_size=300))
def test_any_header(body):
    _must_not_break(_with(encode_kps(MOTION), body))


def test_hostile_groups(data):
    """Groups of another motion, with valid checksums."""
    parameters = read_back(data).coding_parameters
    with raises(kp.FormatError, code="damaged", problem=Pattern("^group 0 is not what an encoder writes")):
        kp.open_kps(_with(data, _body(data)[0].replace(parameters, b"rew!"))).motion()


class WrongEncoder(Encoder):
    """Encodes other values than the given ones in some contexts."""

    def __init__(self, wrong_values: dict[object, int]) -> None:
        super().__init__()
        self.wrong_values = wrong_values

    def code_natural(self, context, value, sizes=5):
        super().code_natural(context, self.wrong_values.get(context, value), sizes)
        return value

    def code_near_zero(self, context, bits, value, *start):
        super().code_near_zero(context, bits, self.wrong_values.pop(context, value), *start)
        return value


@pytest.mark.parametrize(
    ("context", "lie", "kind", "fields"),
    [
        ("frames", 2**31, kp.LimitError, {"value": 2**31 + 1, "hint": limit_hint("frames")}),
        (
            "frames",
            4_000_000,
            kp.FormatError,
            {"code": "damaged", "problem": Pattern(": 2000001 groups of frames, but there is room for 16$")},
        ),
        ("joints", 2**31, kp.LimitError, {"value": 2**31 + 1, "hint": limit_hint("joints")}),
        (
            "coding",
            2**31,
            kp.FormatError,
            {"code": "damaged", "problem": Pattern(": 50 bytes are too few for what it says$")},
        ),
        ("letters", 2**31, kp.FormatError, {"code": "damaged", "problem": Pattern(": a text of 2147483648 bytes$")}),
        (
            "pose",
            2**31,
            kp.FormatError,
            {"code": "damaged", "problem": Pattern(": a group of 21474837.. bytes for 2 frames of 1 joints$")},
        ),
        (
            "bytes of texts",
            2**31,
            kp.FormatError,
            {"code": "damaged", "problem": Pattern(": texts of 2147483648 bytes$")},
        ),
        ("end sites", 2**31, kp.LimitError, {"value": 2**31 + 1, "hint": limit_hint("joints")}),
    ],
    ids=str,
)
def test_huge_counts_take_no_memory(data, context, lie, kind, fields):
    header = read_back(data).header
    c = WrongEncoder({context: lie})
    c.code_flag("texts", context == "bytes of texts")
    if context == "bytes of texts":
        c.code_natural("bytes of texts", 0)
    code_clip(c, header, kp.Limits(), 100)
    hostile = _with(data, c.finish() + bytes(16))
    with memory_below(1 << 20), raises(kind, **fields):
        kp.open_kps(hostile)


def test_long_texts_unfold_to_no_more_than_they_say():
    c = Encoder()
    c.code_text_bytes(1 << 24, bytes(1 << 24))
    bomb = c.deflate_texts()
    decoder = Decoder(b"")
    decoder.set_deflated_texts(bomb)
    with memory_below(1 << 20):
        assert decoder.code_text_bytes(100, None) == bytes(100) and decoder.code_text_bytes(5, None) == bytes(5)
