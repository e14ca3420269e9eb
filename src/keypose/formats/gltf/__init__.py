"""glTF 2.0, the format of viewers and game engines: GLB (one binary file) and JSON with buffers.

The docstrings of ``read`` and ``write`` describe how nodes, skins and animations are converted.
"""

from __future__ import annotations

from keypose.formats.base import Format
from keypose.formats.gltf.character import write_into
from keypose.formats.gltf.container import GLB_MAGIC
from keypose.formats.gltf.read import list_animations, read
from keypose.formats.gltf.read_keyed import read_keyed
from keypose.formats.gltf.write import write, write_keyed

_BOM = b"\xef\xbb\xbf"
_MEMBERS = (b'"asset"', b'"nodes"', b'"accessors"', b'"buffers"', b'"animations"', b'"scenes"', b'"extensionsUsed"')
ROUNDING_MM = 0.01  # 32-bit numbers


def _sniff_json(head: bytes) -> bool:
    """Return whether ``head`` is the start of a JSON object with a member of glTF; not every exporter writes "asset"
    first."""
    return head.removeprefix(_BOM).lstrip().startswith(b"{") and any(member in head for member in _MEMBERS)


GLB = Format(
    "GLB",
    (".glb",),
    lambda head: head.startswith(GLB_MAGIC),
    read,
    write,
    read_keyed,
    write_keyed,
    write_into=write_into,
    list_animations=list_animations,
    has_companions=True,
    rounding_mm=ROUNDING_MM,
    blender_needs_addon=True,
    media_type="model/gltf-binary",
    binary_suffixes=(".glb",),
    variants={".glb": "binary glTF"},
    purpose="For the web, Blender, Unity and Unreal.",
)
GLTF = Format(
    "glTF",
    (".gltf",),
    _sniff_json,
    read,
    write,
    read_keyed,
    write_keyed,
    list_animations=list_animations,
    has_companions=True,
    rounding_mm=ROUNDING_MM,
    blender_needs_addon=True,
    media_type="model/gltf+json",
    variants={".gltf": "text"},
    purpose="Like .glb, but as text.",
)
FORMATS = (GLB, GLTF)
