"""What ``.keys.json`` and ``.swings.json`` share: the head of a clip, its skeleton, packed arrays, the layout."""

from __future__ import annotations

import re


def names_itself(head: bytes, name: str) -> bool:
    """Whether the first bytes of a file are those of a JSON object that states this format."""
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return starts and re.search(rb'"format"\s*:\s*"' + name.encode() + b'"', head) is not None
