"""``.keys.json``: a keyed motion as text that a person can read and edit, without any loss.

docs/formats.md describes every field. ``write`` and ``read`` are each other's twins.
"""

from __future__ import annotations

import re

from keypose.formats.base import Format
from keypose.formats.keys_json.read import read, read_keyed
from keypose.formats.keys_json.write import FORMAT_NAME, write, write_keyed

_NAMED = re.compile(rb'"format"\s*:\s*"' + FORMAT_NAME.encode() + b'"')


def _sniff(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") and _NAMED.search(head) is not None


FORMAT = Format("Keypose keys", (".keys.json",), _sniff, read, write, read_keyed, write_keyed, gzip=True)
