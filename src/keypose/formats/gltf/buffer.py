"""What a glTF file is put together from: one buffer with its views and accessors, and the JSON about them."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.gltf.container import BINARY_CHUNK, GLB_MAGIC, JSON_CHUNK

MOST_GLB_BYTES = (1 << 32) - 1  # a GLB counts its bytes by 32 bits
_COMPONENTS = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


@dataclass
class Buffer:
    """The one buffer of the file as it grows, with its views and accessors."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def view(self, array: NDArray[Any], target: int | None = None) -> int:
        """Appends an array; the view's number."""
        data = array.tobytes()
        entry = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        self.views.append(entry | ({"target": target} if target else {}))
        data += bytes(-len(data) % 4)
        self.pieces.append(data)
        self.size += len(data)
        return len(self.views) - 1

    def accessor(
        self, array: NDArray[Any], view: int, start: int = 0, *, bounds: bool = False, normalised: bool = False
    ) -> int:
        """An accessor of an array (count, width) that lies in a view from byte ``start``; its number."""
        entry: dict[str, Any] = {
            "bufferView": view,
            "byteOffset": start,
            "componentType": _COMPONENTS[array.dtype.str[1:]],
            "count": len(array),
            "type": _TYPES[array.shape[1]],
        }
        if normalised:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def add(self, array: NDArray[Any], target: int | None = None, **kinds: bool) -> int:
        """An accessor with a view of its own."""
        return self.accessor(array, self.view(array, target), **kinds)

    def glb(self, document: dict[str, Any], name: str) -> bytes:
        """The content of a GLB."""
        text = _json(document | {"buffers": [{"byteLength": self.size}]})
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + self.size
        if total > MOST_GLB_BYTES:
            raise OptionError(f"{name}: {total} bytes, expected at most the {MOST_GLB_BYTES} of a GLB: "
                              f"save it in parts, or as .bvh")  # fmt: skip
        head = GLB_MAGIC + struct.pack("<IIII", 2, total, len(text), JSON_CHUNK)
        return b"".join((head, text, struct.pack("<II", self.size, BINARY_CHUNK), *self.pieces))

    def gltf(self, document: dict[str, Any]) -> bytes:
        """The content of a glTF file with the buffer inside."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(b"".join(self.pieces)).decode()
        return _json(document | {"buffers": [{"byteLength": self.size, "uri": uri}]}) + b"\n"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def float32(values: Floats, name: str) -> NDArray[np.float32]:
    """Numbers as glTF has them; an error that names the motion where one is too large."""
    with np.errstate(over="ignore"):
        narrow = values.astype("<f4")
    if not np.isfinite(narrow).all():
        raise OptionError(f"{name}: numbers as large as {np.abs(values).max():g} do not fit into glTF's 32 bits")
    return narrow


def numbers(values: Floats, name: str) -> list[float]:
    """Numbers rounded to 32 bits in their shortest form."""
    return [float(str(value)) for value in float32(values, name)]


def sound_text(name: str) -> str:
    """A name that is sound Unicode: bytes that some BVH file had in another encoding are taken as Latin-1."""
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            return name.encode("utf-8", "surrogateescape").decode("latin-1")
        except UnicodeEncodeError:  # half a character, which stands for no byte
            return name.encode("utf-8", "replace").decode()
    return name
