"""Shared by ``.keys.json`` and ``.swings.json``: the header of a clip, its skeleton, encoded arrays, the layout."""

from __future__ import annotations

import re


def has_format_name(head: bytes, name: str) -> bool:
    """Return whether ``head``, the first bytes of a file, is a JSON object with this ``format``."""
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return starts and re.search(rb'"format"\s*:\s*"' + name.encode() + b'"', head) is not None
