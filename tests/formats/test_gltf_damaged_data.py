"""glTF whose accessors and buffers are damaged or lead to other files."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest

import keypose as kp
from support.gltf_errors import moving_scene, refuse
from support.gltf_scene import Scene, glb_of


@pytest.mark.parametrize(
    ("kind", "member", "value", "match"),
    [
        ("accessors", "count", 10**12, "reaches to byte"),
        (
            "accessors",
            "count",
            10**4000,
            "count: a number beyond 9007199254740992, expected a whole number of at most",
        ),
        ("accessors", "byteOffset", 10**4000, "byteOffset: a number beyond"),
        ("accessors", "byteOffset", -(10**4000), "byteOffset: a number below"),
        ("accessors", "componentType", 10**4000, "componentType: a number beyond"),
        ("accessors", "bufferView", 10**4000, "bufferView: a number beyond 9007199254740992, expected an index"),
        ("bufferViews", "byteOffset", 10**4000, "byteOffset: a number beyond"),
        ("bufferViews", "byteLength", 10**4000, "byteLength: a number beyond"),
        ("accessors", "count", 0, "whole number of at least 1"),
        ("accessors", "count", -4, "whole number"),
        ("accessors", "count", 3.5, "whole number"),
        ("accessors", "byteOffset", 4, "reaches to byte"),
        ("accessors", "byteOffset", -4, "whole number"),
        ("accessors", "type", "MAT4", "expected 'SCALAR'"),
        ("accessors", "componentType", 5130, "componentType"),
        ("accessors", "componentType", 5123, "expected 5126"),
        ("accessors", "bufferView", 99, "expected an index"),
        ("accessors", "sparse", 5, "expected an object"),
        ("accessors", "sparse", {"count": 1}, "with indices and values"),
        ("accessors", "sparse", {"count": 9, "indices": {}, "values": {}}, "at most 3"),
        ("bufferViews", "buffer", 5, "expected an index"),
        ("bufferViews", "byteLength", 10**9, "of a buffer of"),
        ("bufferViews", "byteOffset", 10**9, "of a buffer of"),
        ("bufferViews", "byteStride", 0, "whole number"),
        ("bufferViews", "byteStride", 300, "to 252"),
        ("bufferViews", "byteStride", 2, "to 252"),
        ("bufferViews", "extensions", {"EXT_meshopt_compression": {}}, "decompress the file first"),
    ],
)
def test_damaged_accessors(tmp_path, kind, member, value, match):
    scene = moving_scene()
    scene.json[kind][0][member] = value
    refuse(tmp_path, scene.glb(), match)


@pytest.mark.parametrize("rows", [[2, 1], [1, 1], [0, 3]])
def test_sparse_indices_out_of_order_or_range(tmp_path, rows):
    scene = moving_scene()
    indices = scene.view(np.array(rows, "u1").tobytes())
    values = scene.view(np.zeros((2, 4), "<f4").tobytes())
    scene.json["accessors"][1]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": indices, "componentType": 5121},
        "values": {"bufferView": values},
    }
    refuse(tmp_path, scene.glb(), "not increasing from 0 to 2")


def test_data_out_of_nothing_are_limited(tmp_path):
    scene = moving_scene()
    scene.json["accessors"][1] |= {"count": 10**10}
    del scene.json["accessors"][1]["bufferView"]
    refuse(tmp_path, scene.glb(), "more than 100 times the file's own size")


def test_the_same_data_over_and_over_are_limited(tmp_path):
    n = 3000
    scene = Scene([{} for _ in range(n)])
    keys = np.zeros((30_000, 4))
    keys[:, 3] = 1
    scene.animate(0, "rotation", np.arange(30_000) / 30, keys)
    own = scene.json["animations"][0]
    own["channels"] = [{"sampler": 0, "target": {"node": k, "path": "rotation"}} for k in range(n)]
    started = time.perf_counter()
    refuse(tmp_path, scene.glb(), "more than 100 times", fps=0.1)
    assert time.perf_counter() - started < 5.0


@pytest.mark.parametrize(
    "uri",
    [
        "/etc/hostname",
        "../secret.bin",
        "sub/../../secret.bin",
        "%2e%2e/secret.bin",
        "..%2fsecret.bin",
        "file:///etc/hostname",
        "FILE:secret.bin",
        "http://example.org/a.bin",
        "C:/secret.bin",
        "C%3A/secret.bin",
        "\\\\server\\share",
        "link.bin",
        "a%00b",
        "a" * 5000,
        "",
        5,
        "data:application/octet-stream;base64,%%%",
        "data:application/octet-stream;base64,abc",
        "data:nothing",
        "data:,\ud800abcdefg",
        "data:,\u00e4bcdefg",
        "data:application/octet-stream;base64,\ud800",
        "\ud800.bin",
    ],
)
def test_uris_that_lead_elsewhere(tmp_path, uri):
    folder = tmp_path / "folder"
    folder.mkdir()
    scene = moving_scene()
    (tmp_path / "secret.bin").write_bytes(scene.binary)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    document = scene.json | {"buffers": [{"byteLength": len(scene.binary), "uri": uri}]}
    path = folder / "clip.gltf"
    path.write_text(json.dumps(document))
    with pytest.raises(kp.KeyposeError) as caught:
        kp.load(path)
    assert isinstance(caught.value, kp.FormatError | kp.FileError)


@pytest.mark.parametrize("make", ["missing", "folder", "fifo", "loop"])
def test_buffers_that_are_no_files(tmp_path, make):
    target = tmp_path / "data.bin"
    if make == "folder":
        target.mkdir()
    elif make == "fifo":
        os.mkfifo(target)
    elif make == "loop":
        target.symlink_to(target)
    (tmp_path / "clip.gltf").write_bytes(moving_scene().gltf("data.bin"))
    with pytest.raises(kp.KeyposeError, match=r"data\.bin|cannot be followed"):
        kp.load(tmp_path / "clip.gltf")


def test_a_buffer_shorter_than_it_says(tmp_path):
    scene = moving_scene()
    (tmp_path / "data.bin").write_bytes(scene.binary[:-1])
    refuse(tmp_path, scene.gltf("data.bin"), "its byteLength says", "clip.gltf")


def test_a_glb_without_its_data(tmp_path):
    scene = moving_scene()
    scene.json["buffers"] = [{"byteLength": len(scene.binary)}]
    refuse(tmp_path, glb_of(json.dumps(scene.json).encode()), "uri: missing")
