"""Fixtures of the tests of stored motions."""

from __future__ import annotations

import sys

import pytest

from support import raw_codec


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store frames uncoded, to test the container alone."""
    monkeypatch.setitem(sys.modules, "keypose.storage.codec", raw_codec.MODULE)
