"""Build the buffer of a glTF file with its views and accessors, and encode the file."""

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

MAX_GLB_BYTES = (1 << 32) - 1  # the size of a GLB is a 32-bit number
_COMPONENTS = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


@dataclass
class Buffer:
    """The buffer of a file under construction, with its views and accessors."""

    chunks: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def view(self, array: NDArray[Any], target: int | None = None) -> int:
        """Append an array and return the index of its view."""
        data = array.tobytes()
        entry = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        self.views.append(entry | ({"target": target} if target else {}))
        data += bytes(-len(data) % 4)
        self.chunks.append(data)
        self.size += len(data)
        return len(self.views) - 1

    def accessor(
        self, array: NDArray[Any], view: int, start: int = 0, *, bounds: bool = False, normalised: bool = False
    ) -> int:
        """Add an accessor of an array (count, width) at byte ``start`` of a view and return its index."""
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

    def add(self, array: NDArray[Any], target: int | None = None, **flags: bool) -> int:
        """Append an array with a view and an accessor of its own; return the index of the accessor."""
        return self.accessor(array, self.view(array, target), **flags)

    def glb(self, document: dict[str, Any], name: str) -> bytes:
        """Return the content of a GLB; ``name`` is that of the motion, for errors."""
        text = _json(document | {"buffers": [{"byteLength": self.size}]})
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + self.size
        if total > MAX_GLB_BYTES:
            raise OptionError(f"{name}: {total} bytes, expected at most the {MAX_GLB_BYTES} of a GLB: "
                              f"save it in parts, or as .bvh")  # fmt: skip
        head = GLB_MAGIC + struct.pack("<IIII", 2, total, len(text), JSON_CHUNK)
        return b"".join((head, text, struct.pack("<II", self.size, BINARY_CHUNK), *self.chunks))

    def gltf(self, document: dict[str, Any]) -> bytes:
        """Return the content of a glTF file with the buffer as a data URI."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(b"".join(self.chunks)).decode()
        return _json(document | {"buffers": [{"byteLength": self.size, "uri": uri}]}) + b"\n"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def float32(values: Floats, name: str) -> NDArray[np.float32]:
    """Return float32 values; raise OptionError with the name of the motion if one is too large."""
    with np.errstate(over="ignore"):
        narrow = values.astype("<f4")
    if not np.isfinite(narrow).all():
        raise OptionError(f"{name}: numbers as large as {np.abs(values).max():g} do not fit into glTF's 32 bits")
    return narrow


def rounded_numbers(values: Floats, name: str) -> list[float]:
    """Return values rounded to 32 bits, as the shortest numbers that round to them."""
    return [float(str(value)) for value in float32(values, name)]


def valid_text(name: str) -> str:
    """Return a name as valid Unicode: escaped bytes of another encoding are decoded as Latin-1."""
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            return name.encode("utf-8", "surrogateescape").decode("latin-1")
        except UnicodeEncodeError:  # a lone surrogate that is no escaped byte
            return name.encode("utf-8", "replace").decode()
    return name
