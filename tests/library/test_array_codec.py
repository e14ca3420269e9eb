"""Named arrays as bytes: they round-trip, or an error is raised."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest

from keypose.library.analysis_rows import DTYPES, ArrayCodecError, decode_arrays, encode_arrays

ARRAYS = {
    **{f"of {kind}": np.arange(-3, 4).astype(kind) for kind in DTYPES},
    "numbers": np.linspace(-1, 1, 24).reshape(2, 3, 4),
    "none": np.zeros((0, 5), np.float32),
    "one": np.array(2.5),
    "Bögen": np.array([np.nan, np.inf, -0.0]),
    "strided": np.arange(10.0)[::3],
    "big-endian": np.arange(4, dtype=">f4"),
}


def test_arrays_round_trip_bit_by_bit_and_are_read_only() -> None:
    back = decode_arrays(encode_arrays(ARRAYS))
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype.newbyteorder("=") and back[name].shape == array.shape
        assert back[name].tobytes() == array.astype(back[name].dtype).tobytes()
        assert not back[name].flags.writeable and back[name].flags.aligned
    assert encode_arrays(back) == encode_arrays(ARRAYS) and decode_arrays(encode_arrays({})) == {}


def test_any_change_is_detected() -> None:
    encoded = encode_arrays(ARRAYS)
    dice = random.Random(0)
    for offset in (*range(60), *dice.sample(range(len(encoded)), 200)):
        data = bytearray(encoded)
        data[offset] ^= 1 << dice.randrange(8)
        with pytest.raises(ArrayCodecError):
            decode_arrays(bytes(data))
    for length in (0, 3, 8, 20, len(encoded) - 9, len(encoded) - 1):
        with pytest.raises(ArrayCodecError):
            decode_arrays(encoded[:length])
    with pytest.raises(ArrayCodecError):
        decode_arrays(encoded + b"\0" * 8)


def test_invalid_headers_with_a_valid_checksum_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zlib.crc32", lambda _: 0)
    encoded = encode_arrays({"a": np.arange(3.0)})
    dice = random.Random(1)
    sizes = set()
    for _ in range(2000):
        data = bytearray(encoded)
        for offset in dice.sample(range(len(data) - 4), dice.choice((1, 2, 8))):
            data[offset] = dice.choice((0, 1, 8, 255, dice.randrange(256)))
        with contextlib.suppress(ArrayCodecError):
            sizes |= {array.nbytes for array in decode_arrays(bytes(data)).values()}
    assert max(sizes) <= len(encoded)  # nothing is ever read from beyond


@pytest.mark.parametrize(
    "arrays",
    [
        {"a": np.array(["text"])},
        {"a": np.array([object()])},
        {"a": np.zeros(2, complex)},
        {"n" * 300: np.zeros(1)},
        {str(n): np.zeros(1) for n in range(300)},
    ],
)
def test_only_numbers_are_encoded(arrays: dict[str, np.ndarray]) -> None:
    with pytest.raises(ArrayCodecError):
        encode_arrays(arrays)
    with pytest.raises(ArrayCodecError):
        decode_arrays("text")  # type: ignore[arg-type]
