"""glTF whose accessors and buffers are damaged or lead to other files."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest

import keypose as kp
from keypose.limits import limit_hint
from support.errors import raises
from support.gltf_errors import moving_scene, refuse
from support.gltf_scene import Scene, glb_of

BEYOND = {"expected": "a whole number of at most 9007199254740992"}


@pytest.mark.parametrize(
    ("kind", "member", "value", "fields"),
    [
        ("accessors", "count", 10**12, {"code": "truncated", "value": 4 * 10**12}),
        ("accessors", "count", 10**4000, BEYOND),
        ("accessors", "byteOffset", 10**4000, BEYOND),
        ("accessors", "byteOffset", -(10**4000), {"expected": "a whole number of at least 0"}),
        ("accessors", "componentType", 10**4000, BEYOND),
        ("accessors", "bufferView", 10**4000, {"expected": "an index from 0 to 1"}),
        ("bufferViews", "byteOffset", 10**4000, BEYOND),
        ("bufferViews", "byteLength", 10**4000, BEYOND),
        ("accessors", "count", 0, {"expected": "a whole number of at least 1"}),
        ("accessors", "count", -4, {"expected": "a whole number of at least 1"}),
        ("accessors", "count", 3.5, {"expected": "a whole number of at least 1"}),
        ("accessors", "byteOffset", 4, {"code": "truncated", "value": 16}),
        ("accessors", "byteOffset", -4, {"expected": "a whole number of at least 0"}),
        ("accessors", "type", "MAT4", {"expected": "'SCALAR'"}),
        ("accessors", "componentType", 5130, {"expected": "5126 (float)"}),
        ("accessors", "componentType", 5123, {"expected": "5126 (float)"}),
        ("accessors", "bufferView", 99, {"expected": "an index from 0 to 1"}),
        ("accessors", "sparse", 5, {"expected": "an object"}),
        (
            "accessors",
            "sparse",
            {"count": 1},
            {"subject": "accessors[0].sparse.count", "value": 1, "expected": "at most 3 with indices and values"},
        ),
        (
            "accessors",
            "sparse",
            {"count": 9, "indices": {}, "values": {}},
            {"subject": "accessors[0].sparse.count", "value": 9, "expected": "at most 3 with indices and values"},
        ),
        ("bufferViews", "buffer", 5, {"expected": "an index from 0 to 0"}),
        ("bufferViews", "byteLength", 10**9, {"code": "truncated", "value": 10**9}),
        ("bufferViews", "byteOffset", 10**9, {"code": "truncated", "value": 10**9 + 12}),
        ("bufferViews", "byteStride", 0, {"expected": "a whole number of at least 1"}),
        ("bufferViews", "byteStride", 300, {"expected": "4 to 252"}),
        ("bufferViews", "byteStride", 2, {"expected": "4 to 252"}),
        (
            "bufferViews",
            "extensions",
            {"EXT_meshopt_compression": {}},
            {"code": "unsupported", "value": "EXT_meshopt_compression"},
        ),
    ],
)
def test_damaged_accessors(tmp_path, kind, member, value, fields):
    scene = moving_scene()
    scene.json[kind][0][member] = value
    if "value" not in fields:
        fields = {"subject": f"{kind}[0].{member}", "value": value} | fields
    refuse(tmp_path, scene.glb(), fields)


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
    refuse(tmp_path, scene.glb(), {"code": "inconsistent", "subject": "accessors[1].sparse.indices"})


def test_data_out_of_nothing_are_limited(tmp_path):
    scene = moving_scene()
    scene.json["accessors"][1] |= {"count": 10**10}
    del scene.json["accessors"][1]["bufferView"]
    refuse(tmp_path, scene.glb(), {"hint": limit_hint("expansion")}, kind=kp.LimitError)


def test_the_same_data_over_and_over_are_limited(tmp_path):
    n = 3000
    scene = Scene([{} for _ in range(n)])
    keys = np.zeros((30_000, 4))
    keys[:, 3] = 1
    scene.animate(0, "rotation", np.arange(30_000) / 30, keys)
    own = scene.json["animations"][0]
    own["channels"] = [{"sampler": 0, "target": {"node": k, "path": "rotation"}} for k in range(n)]
    started = time.perf_counter()
    refuse(tmp_path, scene.glb(), {"hint": limit_hint("expansion")}, kind=kp.LimitError, fps=0.1)
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


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        ("missing", {"code": "missing_buffer", "problem": "'data.bin': no such file"}),
        ("folder", {"code": "missing_buffer", "problem": "'data.bin': is a folder, expected a motion file"}),
        ("fifo", {"code": "missing_buffer", "problem": "'data.bin': is not a regular file"}),
        ("loop", {}),  # its wording depends on the version of Python
    ],
)
def test_buffers_that_are_no_files(tmp_path, make, fields):
    """The problems pin the wording of these errors."""
    target = tmp_path / "data.bin"
    if make == "folder":
        target.mkdir()
    elif make == "fifo":
        os.mkfifo(target)
    elif make == "loop":
        target.symlink_to(target)
    (tmp_path / "clip.gltf").write_bytes(moving_scene().gltf("data.bin"))
    with raises(kp.FormatError, value="data.bin", **fields):
        kp.load(tmp_path / "clip.gltf")


def test_a_buffer_shorter_than_it_says(tmp_path):
    scene = moving_scene()
    (tmp_path / "data.bin").write_bytes(scene.binary[:-1])
    fields = {"code": "truncated", "value": len(scene.binary) - 1}
    refuse(tmp_path, scene.gltf("data.bin"), fields, name="clip.gltf")


def test_a_glb_without_its_data(tmp_path):
    scene = moving_scene()
    scene.json["buffers"] = [{"byteLength": len(scene.binary)}]
    fields = {"code": "missing_data", "subject": "buffers[0].uri"}
    refuse(tmp_path, glb_of(json.dumps(scene.json).encode()), fields)
