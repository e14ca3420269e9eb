"""Named arrays as bytes: they come back, or it is said that they do not."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest

from keypose.library.packing import KINDS, PackingError, packed, unpacked

ARRAYS = {
    **{f"of {kind}": np.arange(-3, 4).astype(kind) for kind in KINDS},
    "numbers": np.linspace(-1, 1, 24).reshape(2, 3, 4),
    "none": np.zeros((0, 5), np.float32),
    "one": np.array(2.5),
    "Bögen": np.array([np.nan, np.inf, -0.0]),
    "strided": np.arange(10.0)[::3],
    "big-endian": np.arange(4, dtype=">f4"),
}


def test_arrays_come_back_bit_by_bit_and_read_only() -> None:
    back = unpacked(packed(ARRAYS))
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype.newbyteorder("=") and back[name].shape == array.shape
        assert back[name].tobytes() == array.astype(back[name].dtype).tobytes()
        assert not back[name].flags.writeable and back[name].flags.aligned
    assert packed(back) == packed(ARRAYS) and unpacked(packed({})) == {}


def test_any_change_is_noticed() -> None:
    whole = packed(ARRAYS)
    dice = random.Random(0)
    for place in (*range(60), *dice.sample(range(len(whole)), 200)):
        data = bytearray(whole)
        data[place] ^= 1 << dice.randrange(8)
        with pytest.raises(PackingError):
            unpacked(bytes(data))
    for length in (0, 3, 8, 20, len(whole) - 9, len(whole) - 1):
        with pytest.raises(PackingError):
            unpacked(whole[:length])
    with pytest.raises(PackingError):
        unpacked(whole + b"\0" * 8)


def test_lies_with_a_right_checksum_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zlib.crc32", lambda _: 0)
    whole = packed({"a": np.arange(3.0)})
    dice = random.Random(1)
    sizes = set()
    for _ in range(2000):
        data = bytearray(whole)
        for place in dice.sample(range(len(data) - 4), dice.choice((1, 2, 8))):
            data[place] = dice.choice((0, 1, 8, 255, dice.randrange(256)))
        with contextlib.suppress(PackingError):
            sizes |= {array.nbytes for array in unpacked(bytes(data)).values()}
    assert max(sizes) <= len(whole)  # nothing is ever read from beyond


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
def test_only_numbers_are_packed(arrays: dict[str, np.ndarray]) -> None:
    with pytest.raises(PackingError):
        packed(arrays)
    with pytest.raises(PackingError):
        unpacked("text")  # type: ignore[arg-type]
