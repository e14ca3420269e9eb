"""``.keys.json``: a keyed motion as lossless text that a person can read and edit.

docs/formats.md describes every field.
"""

from __future__ import annotations

from keypose.formats.base import Format
from keypose.formats.json_common import has_format_name
from keypose.formats.keys_json.read import read, read_keyed
from keypose.formats.keys_json.write import FORMAT_NAME, write, write_keyed


def _sniff(head: bytes) -> bool:
    return has_format_name(head, FORMAT_NAME)


FORMAT = Format("Keypose keys", (".keys.json",), _sniff, read, write, read_keyed, write_keyed, gzip=True)
