"""``.swings.json``: swings as text that a person can read and edit, without any loss.

docs/formats.md describes every field. ``write`` and ``read`` are each other's twins.
"""

from __future__ import annotations

from keypose.formats.as_text import names_itself
from keypose.formats.base import Format
from keypose.formats.swings_json.read import read, read_swings
from keypose.formats.swings_json.write import FORMAT_NAME, write_swings


def _sniff(head: bytes) -> bool:
    return names_itself(head, FORMAT_NAME)


FORMAT = Format(
    "Keypose swings", (".swings.json",), _sniff, read, gzip=True, read_swings=read_swings, write_swings=write_swings
)
