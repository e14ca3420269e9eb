""".blend files, read and written by Blender in a child process."""

from __future__ import annotations

from keypose.formats.base import Format
from keypose.formats.blend.read import read
from keypose.formats.blend.read_keyed import read_keyed
from keypose.formats.blend.write import EXTRA, FIRST_FRAME, write, write_keyed

_MAGIC = b"BLENDER"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # as Blender compresses its files


def _sniff(head: bytes) -> bool:
    return head.startswith((_MAGIC, _ZSTANDARD))


FORMAT = Format(
    "Blender",
    (".blend",),
    _sniff,
    read,
    write,
    read_keyed,
    write_keyed,
    extra=EXTRA,
    stores_residual=True,
    rounding_mm=0.02,  # 32-bit numbers
    first_frame=FIRST_FRAME,
    binary_suffixes=(".blend",),
    purpose="A Blender file.",
)
