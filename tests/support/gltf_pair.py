"""A motion as a .gltf file with external buffers."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

import keypose as kp


def gltf(motion: kp.Motion, *uris: str) -> tuple[bytes, list[bytes]]:
    """Return the text of the file and the buffers at ``uris``, over which its buffer views are distributed."""
    with tempfile.TemporaryDirectory() as folder:
        kp.save(motion, Path(folder) / "x.gltf")
        scene = json.loads((Path(folder) / "x.gltf").read_bytes())
    data = base64.b64decode(scene["buffers"][0]["uri"].partition(",")[2])
    buffers = [bytearray() for _ in uris]
    for number, view in enumerate(scene["bufferViews"]):
        start, which = view.get("byteOffset", 0), number % len(uris)
        view.update(buffer=which, byteOffset=len(buffers[which]))
        buffers[which] += data[start : start + view["byteLength"]]
        buffers[which] += bytes(-len(buffers[which]) % 4)
    scene["buffers"] = [{"uri": uri, "byteLength": len(own)} for uri, own in zip(uris, buffers, strict=True)]
    return json.dumps(scene).encode(), [bytes(own) for own in buffers]
