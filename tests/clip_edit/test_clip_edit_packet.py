"""Packets of arrays, read by a decoder that was written from docs/api.md alone."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.clip_edit import pack_arrays
from keypose.errors import ModelError
from support.errors import raises


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    (length,) = struct.unpack_from("<I", data, 0)
    body = 4 + length
    assert body % 8 == 0
    header = json.loads(data[4:body].decode("utf-8"))
    arrays = {}
    for name, entry in header.pop("arrays").items():
        assert entry["offset"] % 8 == 0
        dtype = {"float32": "<f4", "int32": "<i4"}[entry["dtype"]]
        count = int(np.prod(entry["shape"]))
        start = body + entry["offset"]
        arrays[name] = np.frombuffer(data, dtype, count, start).reshape(entry["shape"])
    return header, arrays


@given(
    st.dictionaries(st.text(max_size=8).filter(lambda name: name != "arrays"), st.integers() | st.text(max_size=9)),
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), max_size=4),
)
def test_round_trip(header: dict[str, Any], shapes: list[list[int]]) -> None:
    arrays = {
        f"a{k}": np.arange(np.prod(shape), dtype=(np.float32, np.int32)[k % 2]).reshape(shape)
        for k, shape in enumerate(shapes)
    }
    data = pack_arrays(header, arrays)
    assert len(data) % 8 == 0
    unpacked_header, unpacked_arrays = unpack(data)
    assert unpacked_header == header and list(unpacked_arrays) == list(arrays)
    for name, array in arrays.items():
        assert unpacked_arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(unpacked_arrays[name], array)


def test_wide_types_are_narrowed() -> None:
    _, unpacked_arrays = unpack(pack_arrays({}, {"x": np.array([1.0, 1e-9]), "n": np.array([1, 2**40 % 7], np.int64)}))
    assert unpacked_arrays["x"].dtype == np.float32 and unpacked_arrays["n"].dtype == np.int32


def test_invalid_headers() -> None:
    with raises(ModelError, expected="any other names"):
        pack_arrays({"arrays": 1}, {})
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack_arrays({"x": float("nan")}, {})
