"""Build glTF files for tests, and a slow reference evaluation: 4x4 matrices, one node and time at a time."""

from __future__ import annotations

import base64
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
NORMALISED_BY = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class Scene:
    """A glTF document under construction."""

    def __init__(self, nodes: list[dict[str, Any]] | None = None) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "nodes": nodes or []}
        self.binary = b""

    def view(self, data: bytes, **more: Any) -> int:
        views = self.json.setdefault("bufferViews", [])
        views.append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data), **more})
        self.binary += data + bytes(-len(data) % 4)
        return len(views) - 1

    def accessor(self, values: Any, component: int = 5126, **more: Any) -> int:
        """Add an accessor of raw component values; keywords replace members. Return its index."""
        array = np.asarray(values)
        array = array.reshape(len(array), -1)
        data = array.astype("<" + FORMATS[component].replace("b", "i1").replace("B", "u1")).tobytes()
        kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[array.shape[1]]
        entry = {"bufferView": self.view(data), "componentType": component, "count": len(array), "type": kind}
        self.json.setdefault("accessors", []).append(entry | more)
        return len(self.json["accessors"]) - 1

    def animate(
        self, node: int, path: str, times: Any, values: Any, interpolation: str = "LINEAR", *, animation: int = 0,
        **more: Any,
    ) -> None:  # fmt: skip
        animations = self.json.setdefault("animations", [])
        while len(animations) <= animation:
            animations.append({"name": f"clip{len(animations)}", "channels": [], "samplers": []})
        own = animations[animation]
        own["samplers"].append(
            {"input": self.accessor(times), "output": self.accessor(values, **more), "interpolation": interpolation}
        )
        own["channels"].append({"sampler": len(own["samplers"]) - 1, "target": {"node": node, "path": path}})

    def glb(self) -> bytes:
        document = dict(self.json)
        if self.binary:
            document.setdefault("buffers", [{"byteLength": len(self.binary)}])
        return glb_of(json.dumps(document).encode(), self.binary)

    def gltf(self, uri: str | None = None) -> bytes:
        """Return the JSON, its buffer at ``uri`` or, by default, inside."""
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(self.binary).decode()
        return json.dumps(self.json | {"buffers": [{"byteLength": len(self.binary), "uri": uri}]}).encode()


def glb_of(text: bytes, binary: bytes = b"") -> bytes:
    """Return a GLB of a JSON chunk and a binary one."""
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


class ReferenceEvaluator:
    """World matrices of a file's nodes at a time, by the glTF specification."""

    def __init__(self, content: bytes) -> None:
        if content[:4] == b"glTF":
            (size,) = struct.unpack_from("<I", content, 12)
            self.json = json.loads(content[20 : 20 + size])
            self.buffers = [content[28 + size :]]
        else:
            self.json = json.loads(content)
            uris = [buffer["uri"] for buffer in self.json["buffers"]]
            self.buffers = [base64.b64decode(uri.split(",")[1]) for uri in uris]
        self.parents = {c: i for i, node in enumerate(self.json["nodes"]) for c in node.get("children", [])}
        self._decoded: dict[int, list[list[float]]] = {}

    @classmethod
    def of(cls, path: Path) -> ReferenceEvaluator:
        return cls(path.read_bytes())

    def world(self, node: int, time_s: float, animation: int | None = 0) -> np.ndarray:
        """Return the world matrix of a node at a time of an animation; None: at rest."""
        matrix = self._local(node, time_s, animation)
        while node in self.parents:
            node = self.parents[node]
            matrix = self._local(node, time_s, animation) @ matrix
        return matrix

    def _local(self, node: int, time_s: float, animation: int | None) -> np.ndarray:
        entry = self.json["nodes"][node]
        result = self._animate_node(node, time_s, animation)
        if "matrix" in entry and not result:
            return np.array(entry["matrix"], float).reshape(4, 4).T
        t = result.get("translation", entry.get("translation", [0, 0, 0]))
        x, y, z, w = result.get("rotation", entry.get("rotation", [0, 0, 0, 1]))
        s = result.get("scale", entry.get("scale", [1, 1, 1]))
        length = math.sqrt(x * x + y * y + z * z + w * w)
        x, y, z, w = x / length, y / length, z / length, w / length
        turn = np.array(
            [[1 - 2 * y * y - 2 * z * z, 2 * x * y - 2 * z * w, 2 * x * z + 2 * y * w, 0],
             [2 * x * y + 2 * z * w, 1 - 2 * x * x - 2 * z * z, 2 * y * z - 2 * x * w, 0],
             [2 * x * z - 2 * y * w, 2 * y * z + 2 * x * w, 1 - 2 * x * x - 2 * y * y, 0],
             [0, 0, 0, 1]]
        )  # fmt: skip
        shift = np.eye(4)
        shift[:3, 3] = t
        return shift @ turn @ np.diag([*s, 1.0])

    def _animate_node(self, node: int, time_s: float, animation: int | None) -> dict[str, list[float]]:
        result = {}
        if animation is None or not self.json.get("animations"):
            return result
        own = self.json["animations"][animation]
        for channel in own["channels"]:
            if channel["target"].get("node") == node and channel["target"]["path"] != "weights":
                path = channel["target"]["path"]
                result[path] = self._value(own["samplers"][channel["sampler"]], path, time_s)
        return result

    def _value(self, sampler: dict[str, Any], path: str, time_s: float) -> list[float]:
        times = [t for (t,) in self.values(sampler["input"])]
        values = self.values(sampler["output"])
        interpolation = sampler.get("interpolation", "LINEAR")
        if interpolation == "CUBICSPLINE":
            in_tangents, values, out_tangents = values[0::3], values[1::3], values[2::3]
        if time_s <= times[0]:
            return values[0]
        if time_s >= times[-1]:
            return values[-1]
        k = max(k for k, t in enumerate(times) if t <= time_s)
        gap = times[k + 1] - times[k]
        u = (time_s - times[k]) / gap
        a, b = values[k], values[k + 1]
        if interpolation == "STEP":
            return a
        if interpolation == "CUBICSPLINE":
            m, n = out_tangents[k], in_tangents[k + 1]
            h00, h10 = 2 * u**3 - 3 * u**2 + 1, u**3 - 2 * u**2 + u
            h01, h11 = -2 * u**3 + 3 * u**2, u**3 - u**2
            return [h00 * a[i] + h10 * gap * m[i] + h01 * b[i] + h11 * gap * n[i] for i in range(len(a))]
        if path != "rotation":
            return [x * (1 - u) + y * u for x, y in zip(a, b, strict=True)]
        dot = sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
        sign, angle = (1 if dot >= 0 else -1), math.acos(min(1.0, abs(dot)))
        if angle < 1e-9:
            return a
        p, q = math.sin((1 - u) * angle) / math.sin(angle), sign * math.sin(u * angle) / math.sin(angle)
        norms = [math.sqrt(sum(x * x for x in v)) for v in (a, b)]
        return [p * x / norms[0] + q * y / norms[1] for x, y in zip(a, b, strict=True)]

    def values(self, index: int) -> list[list[float]]:
        if index not in self._decoded:
            self._decoded[index] = self._decode(index)
        return self._decoded[index]

    def _decode(self, index: int) -> list[list[float]]:
        entry = self.json["accessors"][index]
        component, width = entry["componentType"], WIDTHS[entry["type"]]
        size = struct.calcsize(FORMATS[component]) * width
        rows = [[0.0] * width for _ in range(entry["count"])]
        if "bufferView" in entry:
            view = self.json["bufferViews"][entry["bufferView"]]
            start = view.get("byteOffset", 0) + entry.get("byteOffset", 0)
            for k in range(entry["count"]):
                at = start + k * view.get("byteStride", size)
                rows[k] = list(struct.unpack_from(f"<{width}{FORMATS[component]}", self.buffers[view["buffer"]], at))
        if sparse := entry.get("sparse"):
            positions, values = sparse["indices"], sparse["values"]
            view = self.json["bufferViews"][positions["bufferView"]]
            kind = FORMATS[positions["componentType"]]
            where = struct.unpack_from(f"<{sparse['count']}{kind}", self.buffers[0], view["byteOffset"])
            view = self.json["bufferViews"][values["bufferView"]]
            for k, row in enumerate(where):
                at = view["byteOffset"] + k * size
                rows[row] = list(struct.unpack_from(f"<{width}{FORMATS[component]}", self.buffers[0], at))
        if entry.get("normalized"):
            return [[max(x / NORMALISED_BY[component], -1.0) for x in row] for row in rows]
        return rows
