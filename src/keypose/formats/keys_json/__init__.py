"""``.keys.json``: a keyed motion as text that a person can read and edit, without any loss.

docs/formats.md describes every field. ``write`` and ``read`` are each other's twins.
"""

from __future__ import annotations

from keypose.formats.as_text import names_itself
from keypose.formats.base import Format
from keypose.formats.keys_json.read import read, read_keyed
from keypose.formats.keys_json.write import FORMAT_NAME, write, write_keyed


def _sniff(head: bytes) -> bool:
    return names_itself(head, FORMAT_NAME)


FORMAT = Format("Keypose keys", (".keys.json",), _sniff, read, write, read_keyed, write_keyed, gzip=True)
