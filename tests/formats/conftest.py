"""Fixtures of the tests of formats."""

from __future__ import annotations

import pytest

import keypose as kp


@pytest.fixture
def load_text(tmp_path):
    def load(text: str | bytes, name: str = "x.bvh", **options) -> kp.Motion:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return kp.load(path, **options)

    return load
