"""What tests of stored motions share."""

from __future__ import annotations

import sys

import pytest
import raw_codec


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames are stored as they stand in memory: what is looked at is the file around them."""
    monkeypatch.setitem(sys.modules, "keypose.storage.codec", raw_codec.MODULE)
