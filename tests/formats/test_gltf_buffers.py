"""Buffers of glTF files: inside the file or in other files."""

from __future__ import annotations

import json

import pytest

import keypose as kp
from keypose.formats.base import Source
from keypose.formats.gltf import container
from keypose.limits import limit_hint
from support.errors import raises, warns
from support.gltf_scene import Scene


def moving_scene() -> Scene:
    scene = Scene([{"name": "hips"}])
    scene.animate(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    return scene


def load(tmp_path, content: bytes, name: str = "clip.glb", **options) -> kp.Motion:
    path = tmp_path / name
    path.write_bytes(content)
    return kp.load(path, **options)


def test_an_embedded_buffer_and_content_that_decides(tmp_path):
    assert load(tmp_path, moving_scene().gltf(), "clip.gltf").n_frames == 31
    assert load(tmp_path, b"\xef\xbb\xbf" + moving_scene().gltf(), "clip.txt").n_frames == 31
    assert load(tmp_path, moving_scene().glb(), "clip.txt").n_frames == 31


def test_a_data_uri_by_percent_signs(tmp_path):
    scene = moving_scene()
    uri = "data:application/gltf-buffer," + "".join(f"%{byte:02x}" for byte in scene.binary)
    assert load(tmp_path, scene.gltf(uri), "clip.gltf").n_frames == 31


@pytest.mark.parametrize("uri", ["walk%20data.bin", "sub/walk.bin", "sub/../walk%20data.bin"])
def test_external_buffers(tmp_path, uri):
    scene = moving_scene()
    (tmp_path / "sub").mkdir()
    for name in ("walk data.bin", "sub/walk.bin"):
        (tmp_path / name).write_bytes(scene.binary)
    assert load(tmp_path, scene.gltf(uri), "clip.gltf").n_frames == 31


def test_a_missing_external_buffer(tmp_path):
    """The error names the glTF file, not only its buffer."""
    with raises(kp.FormatError, code="missing_buffer", expected="the file beside this one"):
        load(tmp_path, moving_scene().gltf("gone.bin"), "clip.gltf")


def test_an_external_buffer_that_begins_like_gzip(tmp_path):
    scene = moving_scene()
    scene.binary = b"\x1f\x8b\x08\x00" + scene.binary
    for view in scene.json["bufferViews"]:
        view["byteOffset"] += 4
    (tmp_path / "data.bin").write_bytes(scene.binary)
    assert load(tmp_path, scene.gltf("data.bin"), "clip.gltf").n_frames == 31


def test_external_bytes_count_for_the_limits(tmp_path):
    scene = moving_scene()
    (tmp_path / "data.bin").write_bytes(scene.binary + bytes(5000))
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        load(tmp_path, scene.gltf("data.bin"), "clip.gltf", limits=kp.Limits(bytes=4096))


def test_a_file_that_many_buffers_name_is_read_and_counted_once(tmp_path, monkeypatch):
    scene = moving_scene()
    (tmp_path / "data.bin").write_bytes(scene.binary)
    (tmp_path / "link.bin").symlink_to(tmp_path / "data.bin")
    names = ("data.bin", "link.bin", "./data.bin", "sub/../data.bin", "clip.gltf")
    scene.json["buffers"] = [{"byteLength": 4, "uri": name} for name in names for _ in range(20)]
    scene.json["bufferViews"] = [{"buffer": k, "byteLength": 4} for k in range(len(scene.json["buffers"]))]
    opened = []
    real = container.read_bytes
    monkeypatch.setattr(container, "read_bytes", lambda path, *a, **k: opened.append(path) or real(path, *a, **k))
    (tmp_path / "clip.gltf").write_text(json.dumps(scene.json))
    source = Source(tmp_path / "clip.gltf", (tmp_path / "clip.gltf").read_bytes())
    result = container.open_container(source)
    assert {len(result.view(k)) for k in range(len(result.views))} == {4}
    assert opened == [tmp_path.resolve() / "data.bin"]
    assert source.companion_bytes == len(scene.binary)


def test_animation_of_other_things_is_passed_over(tmp_path):
    scene = moving_scene()
    scene.animate(0, "weights", [0, 5], [[0.0], [1.0]])
    scene.json["animations"][0]["channels"].append({"sampler": 0, "target": {"path": "pointer"}})
    assert load(tmp_path, scene.glb()).duration_s == pytest.approx(31 / 30)


def test_unknown_chunks_and_trailing_bytes(tmp_path):
    scene = moving_scene()
    content = scene.glb() + b"\x04\0\0\0ABCD" + b"data"
    content = content[:8] + len(content).to_bytes(4, "little") + content[12:]
    assert load(tmp_path, content).n_frames == 31
    with warns(kp.FormatWarning, code="extra_bytes", value=5):
        assert load(tmp_path, content + b"extra").n_frames == 31
