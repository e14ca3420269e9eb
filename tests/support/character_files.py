"""The file of a character: a figure with a mesh, whose hat grows with a key on every frame."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path

import numpy as np

import keypose as kp
from support.gltf_scene import glb_of


def character_glb(motion: kp.Motion) -> bytes:
    """Return a GLB of ``motion`` with a triangle as hat, and a track of scale of the hat, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{motion.name}.glb"
        kp.save(motion, path)
        content = path.read_bytes()
    (size,) = struct.unpack_from("<I", content, 12)
    document, binary = json.loads(content[20 : 20 + size]), content[28 + size :]

    for owner in (document, document["asset"], *document["animations"], *document["nodes"], *document.get("skins", [])):
        owner.pop("extras", None)  # the file is to look like that of another program

    def add(values: np.ndarray, kind: str, **members: object) -> int:
        nonlocal binary
        data = values.astype("<f4").tobytes()
        document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        binary += data
        view = len(document["bufferViews"]) - 1
        document["accessors"].append(
            {"bufferView": view, "componentType": 5126, "count": len(values), "type": kind, **members}
        )
        return len(document["accessors"]) - 1

    triangle = add(np.eye(3), "VEC3", min=[0, 0, 0], max=[1, 1, 1])
    document["meshes"] = [{"primitives": [{"attributes": {"POSITION": triangle}}]}]
    head = next(
        node for node in document["nodes"] if node.get("name") == motion.skeleton.names[motion.skeleton.joint("head")]
    )
    document["nodes"].append({"name": "hat", "mesh": 0})
    hat = len(document["nodes"]) - 1
    head.setdefault("children", []).append(hat)
    times = np.arange(motion.n_frames) / motion.fps
    scales = np.repeat(1.0 + 0.5 * np.sin(3.0 * times)[:, None] ** 2, 3, axis=1)
    animation = document["animations"][0]
    inputs = add(times, "SCALAR", min=[0.0], max=[float(np.float32(times[-1]))])
    animation["samplers"].append({"input": inputs, "output": add(scales, "VEC3"), "interpolation": "LINEAR"})
    animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": {"node": hat, "path": "scale"}})
    document["buffers"] = [{"byteLength": len(binary)}]
    return glb_of(json.dumps(document).encode(), binary)
