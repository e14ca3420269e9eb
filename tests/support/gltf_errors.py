"""A small valid glTF scene, and the check that a damaged one is refused."""

from __future__ import annotations

import pytest

import keypose as kp
from support.gltf_scene import Scene


def moving_scene() -> Scene:
    scene = Scene([{"name": "hips", "children": [1]}, {"name": "head", "translation": [0, 1, 0]}])
    scene.json["skins"] = [{"joints": [0, 1]}]
    scene.animate(0, "rotation", [0, 1, 2], [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    return scene


def refuse(tmp_path, content: bytes, match: str, name: str = "clip.glb", **options) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(kp.FormatError, match=match) as caught:
        kp.load(path, **options)
    assert str(caught.value).startswith(str(path))
