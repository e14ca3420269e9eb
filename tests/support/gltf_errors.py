"""A small valid glTF scene, and the check that a damaged one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keypose as kp
from support.errors import raises
from support.gltf_scene import Scene


def moving_scene() -> Scene:
    scene = Scene([{"name": "hips", "children": [1]}, {"name": "head", "translation": [0, 1, 0]}])
    scene.json["skins"] = [{"joints": [0, 1]}]
    scene.animate(0, "rotation", [0, 1, 2], [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    return scene


def refuse(
    tmp_path: Path,
    content: bytes,
    fields: Mapping[str, Any],
    *,
    name: str = "clip.glb",
    kind: type[kp.FormatError] = kp.FormatError,
    **options: Any,
) -> kp.FormatError:
    """Check that a file of this content is refused with an error of these fields; return the error."""
    path = tmp_path / name
    path.write_bytes(content)
    with raises(kind, path=str(path), **fields) as caught:
        kp.load(path, **options)
    return caught.value
