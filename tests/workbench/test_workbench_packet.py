"""Packets of arrays, read by a decoder that is written from the words of docs/api.md alone."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.errors import ModelError
from keypose.workbench import packet


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    (length,) = struct.unpack_from("<I", data, 0)
    body = 4 + length
    assert body % 8 == 0
    header = json.loads(data[4:body].decode("utf-8"))
    arrays = {}
    for name, placed in header.pop("arrays").items():
        assert placed["offset"] % 8 == 0
        kind = {"float32": "<f4", "int32": "<i4"}[placed["dtype"]]
        count = int(np.prod(placed["shape"]))
        at = body + placed["offset"]
        arrays[name] = np.frombuffer(data, kind, count, at).reshape(placed["shape"])
    return header, arrays


@given(
    st.dictionaries(st.text(max_size=8).filter(lambda name: name != "arrays"), st.integers() | st.text(max_size=9)),
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), max_size=4),
)
def test_what_is_packed_comes_back(header: dict[str, Any], shapes: list[list[int]]) -> None:
    arrays = {
        f"a{k}": np.arange(np.prod(shape), dtype=(np.float32, np.int32)[k % 2]).reshape(shape)
        for k, shape in enumerate(shapes)
    }
    data = packet(header, arrays)
    assert len(data) % 8 == 0
    found, there = unpacked(data)
    assert found == header and list(there) == list(arrays)
    for name, array in arrays.items():
        assert there[name].dtype == array.dtype
        np.testing.assert_array_equal(there[name], array)


def test_wider_numbers_are_rounded_to_those_of_a_browser() -> None:
    _, there = unpacked(packet({}, {"x": np.array([1.0, 1e-9]), "n": np.array([1, 2**40 % 7], np.int64)}))
    assert there["x"].dtype == np.float32 and there["n"].dtype == np.int32


def test_a_header_has_finite_numbers_and_no_arrays_of_its_own() -> None:
    with pytest.raises(ModelError, match="'arrays' of its own"):
        packet({"arrays": 1}, {})
    with pytest.raises(ValueError, match="not JSON compliant"):
        packet({"x": float("nan")}, {})
