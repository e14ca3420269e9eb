"""``.swings.json``: swings as lossless text that a person can read and edit.

docs/formats.md describes every field.
"""

from __future__ import annotations

from keypose.formats.base import Format
from keypose.formats.json_common import has_format_name
from keypose.formats.swings_json.read import read, read_swings
from keypose.formats.swings_json.write import FORMAT_NAME, write_swings


def _sniff(head: bytes) -> bool:
    return has_format_name(head, FORMAT_NAME)


FORMAT = Format(
    "Keypose swings", (".swings.json",), _sniff, read, gzip=True, read_swings=read_swings, write_swings=write_swings
)
