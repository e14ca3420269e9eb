"""Damaged and hostile glTF: always a clear error, never a crash, a hang or a look at other files."""

from __future__ import annotations

import json
import os
import struct
import time

import numpy as np
import pytest
from gltf_scene import Scene, glb_of

import keypose as kp


def moving() -> Scene:
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


# The container


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda d: d[:10], "10 bytes, expected at least"),
        (lambda d: d[:-9], "cut short"),
        (lambda d: d[:4] + struct.pack("<I", 1) + d[8:], "version 1 of GLB, expected 2"),
        (lambda d: d[:12] + struct.pack("<I", 1 << 31) + d[16:], "a chunk of 2147483648 bytes"),
        (lambda d: d[:16] + b"BIN\0" + d[20:], "the first chunk is"),
        (lambda d: d[:30] + b"\xff\xfe" + d[32:], "not sound JSON"),
    ],
)
def test_damaged_containers(tmp_path, change, match):
    refuse(tmp_path, change(moving().glb()), match)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"[" * 200_000, "nested too deeply|not sound JSON"),
        (b'{"asset":' + b'{"a":' * 200_000, "nested too deeply|not sound JSON"),
        (b"[1, 2]", "the JSON is .1, 2., expected an object"),
        (b"{}", "asset is absent"),
        (b'{"asset": {"version": "1.0"}}', "asset.version is '1.0', expected '2.0'"),
        (b'{"asset": {"version": 2.0}}', "asset.version is 2.0, expected a string"),
        (b'{"asset": {"version": "2.0", "minVersion": "2.1"}}', "minVersion"),
        (b'{"asset": {"version": "2.0"}, "nodes": 5}', "nodes is 5, expected an array"),
        (b'{"asset": {"version": "2.0"}, "nodes": [7]}', r"nodes\[0\] is 7, expected an object"),
        (b'{"asset": {"version": "2.0"}, "x": NaN}', "NaN is no JSON number"),
        (b'{"asset": {"version": "2.0"}, "x": ' + b"9" * 5000 + b"}", "not sound JSON"),
        (b'{"asset": {"version": "2.0"}}', "no skin and no animated node"),
    ],
)
def test_damaged_json(tmp_path, text, match):
    refuse(tmp_path, glb_of(text), match)


# The nodes


def _huge(children: list[int]) -> dict[str, object]:
    return {"scale": [1e140] * 3, "translation": [1, 0, 0], "children": children}


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ([{"children": [1]}, {"children": [0]}], "its own ancestor"),
        ([{"children": [0]}], "its own ancestor"),
        ([{"children": [2]}, {"children": [2]}, {}], r"nodes\[2\] hangs on nodes\[0\] and on nodes\[1\]"),
        ([{"children": [1, 1]}, {}], "expected one parent"),
        ([{"children": [9]}], r"nodes\[0\].children\[0\] is 9, expected an index from 0 to 0"),
        ([{"children": [-1]}], "expected an index"),
        ([{"children": [True]}], "expected an index"),
        ([{"children": ["1"]}], "expected an index"),
        ([{"children": {}}], "expected an array"),
        ([{"name": 5}], "name is 5, expected a string"),
        ([{"translation": [1, 2]}], "expected 3 finite numbers"),
        ([{"translation": [1, 2, None]}], "expected 3 finite numbers"),
        ([{"translation": [1, 2, 1e999]}], "expected 3 finite numbers|no JSON number"),
        ([{"rotation": [0, 0, 0, 0]}], "expected a quaternion"),
        ([{"rotation": "xyzw"}], "expected 4 finite numbers"),
        ([{"matrix": [1] * 15}], "expected 16 finite numbers"),
        ([{"matrix": [1] * 16}], "as its last row"),
        ([_huge([1]), _huge([2]), _huge([3]), _huge([])], "positions grow beyond all bounds"),
        ([_huge([1]), _huge([2]), _huge([3]) | {"scale": [1, 1e140, 1]}, _huge([])], "scales grow beyond all bounds"),
        ([{"scale": [1e100] * 3, "children": [1]}, {"translation": [1, 0, 0]}], "expected finite numbers up to"),
    ],
)
def test_damaged_nodes(tmp_path, nodes, match):
    scene = Scene(nodes)
    scene.json["skins"] = [{"joints": list(range(len(nodes)))}]
    refuse(tmp_path, scene.glb(), match)


def test_a_sheared_matrix_is_repaired(tmp_path):
    scene = moving()
    scene.json["nodes"][1] = {"name": "head", "matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with pytest.warns(kp.FormatWarning, match="sheared"):
        kp.load(tmp_path / "clip.glb")


def test_a_singular_matrix_is_a_vanishing_scale(tmp_path):
    scene = moving()
    scene.json["nodes"][0]["matrix"] = [0] * 12 + [1, 2, 3, 1]
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    positions = kp.load(tmp_path / "clip.glb").world_positions()
    np.testing.assert_array_equal(positions[0], [[1, 2, 3], [1, 2, 3]])


def test_limits_of_joints_and_depth(tmp_path):
    n = 500
    scene = Scene([{"children": [i + 1]} for i in range(n - 1)] + [{}])
    scene.json["skins"] = [{"joints": [n - 1]}]
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    assert kp.load(tmp_path / "clip.glb", limits=kp.Limits(depth=1)).n_joints == 1  # the others are folded away
    scene.json["skins"] = [{"joints": [0, n - 1]}]
    refuse(tmp_path, scene.glb(), "500 levels of joints", limits=kp.Limits(depth=400))
    scene.json["skins"] = [{"joints": list(range(n))}]
    refuse(tmp_path, scene.glb(), "500 joints", limits=kp.Limits(joints=400))
    refuse(tmp_path, scene.glb(), r"500 nodes, .*Limits\(joints=...\)", limits=kp.Limits(joints=49))


def test_a_million_empty_nodes_are_refused_at_once(tmp_path):
    text = b'{"asset":{"version":"2.0"},"skins":[{"joints":[0]}],"nodes":[' + b"{}," * 999_999 + b"{}]}"
    started = time.perf_counter()
    refuse(tmp_path, text, "1000000 nodes, more than the limit", "clip.gltf")
    assert time.perf_counter() - started < 5.0


def test_nodes_beside_the_figure_are_not_looked_at(tmp_path):
    scene = moving()
    scene.json["nodes"].append({"matrix": [1] * 16})
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    assert kp.load(tmp_path / "clip.glb").n_joints == 2


def test_many_sheared_matrices_are_one_warning(tmp_path):
    sheared = {"matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}
    scene = Scene([dict(sheared) for _ in range(50)])
    scene.json["skins"] = [{"joints": list(range(50))}]
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with pytest.warns(kp.FormatWarning, match=r"nodes\[0\].matrix \(and 49 more\) is sheared") as caught:
        kp.load(tmp_path / "clip.glb")
    assert len(caught) == 1


def test_a_wrong_skin(tmp_path):
    scene = moving()
    scene.json["skins"] = [{"joints": [0, 99]}]
    refuse(tmp_path, scene.glb(), r"skins\[0\].joints\[1\] is 99")


# Accessors and buffers


@pytest.mark.parametrize(
    ("kind", "member", "value", "match"),
    [
        ("accessors", "count", 10**12, "reaches to byte"),
        (
            "accessors",
            "count",
            10**4000,
            "count is a number beyond 9007199254740992, expected a whole number of at most",
        ),
        ("accessors", "byteOffset", 10**4000, "byteOffset is a number beyond"),
        ("accessors", "byteOffset", -(10**4000), "byteOffset is a number below"),
        ("accessors", "componentType", 10**4000, "componentType is a number beyond"),
        ("accessors", "bufferView", 10**4000, "bufferView is a number beyond 9007199254740992, expected an index"),
        ("bufferViews", "byteOffset", 10**4000, "byteOffset is a number beyond"),
        ("bufferViews", "byteLength", 10**4000, "byteLength is a number beyond"),
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
    scene = moving()
    scene.json[kind][0][member] = value
    refuse(tmp_path, scene.glb(), match)


@pytest.mark.parametrize("places", [[2, 1], [1, 1], [0, 3]])
def test_sparse_places_out_of_order_or_range(tmp_path, places):
    scene = moving()
    indices = scene.view(np.array(places, "u1").tobytes())
    values = scene.view(np.zeros((2, 4), "<f4").tobytes())
    scene.json["accessors"][1]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": indices, "componentType": 5121},
        "values": {"bufferView": values},
    }
    refuse(tmp_path, scene.glb(), "not increasing from 0 to 2")


def test_data_out_of_nothing_are_limited(tmp_path):
    scene = moving()
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
    scene = moving()
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
    (tmp_path / "clip.gltf").write_bytes(moving().gltf("data.bin"))
    with pytest.raises(kp.KeyposeError, match=r"data\.bin|cannot be followed"):
        kp.load(tmp_path / "clip.gltf")


def test_a_buffer_shorter_than_it_says(tmp_path):
    scene = moving()
    (tmp_path / "data.bin").write_bytes(scene.binary[:-1])
    refuse(tmp_path, scene.gltf("data.bin"), "its byteLength says", "clip.gltf")


def test_a_glb_without_its_data(tmp_path):
    scene = moving()
    scene.json["buffers"] = [{"byteLength": len(scene.binary)}]
    refuse(tmp_path, glb_of(json.dumps(scene.json).encode()), "uri is absent")


# The animation


@pytest.mark.parametrize(
    ("times", "match"),
    [
        ([0, 1, 1], "key 2 is at 1 s after one at 1 s, expected increasing times"),
        ([0, 2, 1], "increasing"),
        ([0, float("nan"), 1], "expected finite numbers"),
        ([0, 1, float("inf")], "expected finite numbers"),
        ([0, 1], "3 values for 2 keys, expected 2"),
        ([0, 1, 1e30], "more than the limit"),
        ([0, 1, 1e6], "more than the limit|times the file's own size"),
    ],
)
def test_damaged_times(tmp_path, times, match):
    scene = moving()
    scene.json["animations"][0]["samplers"][0]["input"] = scene.accessor(times)
    refuse(tmp_path, scene.glb(), match)


@pytest.mark.parametrize("fps", [1e300, 1e18])
def test_a_rate_beyond_all_bounds(tmp_path, fps):
    (tmp_path / "clip.glb").write_bytes(moving().glb())
    with pytest.raises(kp.OptionError, match="frames per second"):
        kp.load(tmp_path / "clip.glb", fps=fps)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]], "key 1: .* is no rotation"),
        ([[0, 0, 0, 1], [np.nan, 0, 0, 0], [0, 0, 0, 1]], "at element 1, expected finite numbers"),
        ([[0, 0, 0, 1]] * 4, "4 values for 3 keys"),
    ],
)
def test_damaged_rotations(tmp_path, values, match):
    scene = moving()
    scene.json["animations"][0]["samplers"][0]["output"] = scene.accessor(values)
    refuse(tmp_path, scene.glb(), match)


def test_a_spline_through_no_rotation(tmp_path):
    scene = moving()
    zero, one = [0, 0, 0, 0], [0, 0, 0, 1]
    scene.animate(1, "rotation", [0, 1, 2], [zero, one, zero, zero, zero, zero, zero, one, zero], "CUBICSPLINE")
    refuse(tmp_path, scene.glb(), "is no rotation", fps=1.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a: a["channels"][0].pop("target"), "target is absent"),
        (lambda a: a["channels"][0]["target"].pop("path"), "path is absent"),
        (lambda a: a["channels"][0]["target"].update(node=7), "node is 7"),
        (lambda a: a["channels"][0].update(sampler=1), "sampler is 1, expected an index from 0 to 0"),
        (lambda a: a["samplers"][0].update(input=-1), "input is -1"),
        (lambda a: a["samplers"][0].pop("output"), "output is absent"),
        (lambda a: a["samplers"][0].update(interpolation="BEZIER"), "expected one of LINEAR, STEP, CUBICSPLINE"),
        (lambda a: a.update(channels={}), "expected an array"),
        (lambda a: a.update(name=[]), "expected a string"),
    ],
)
def test_damaged_animations(tmp_path, change, match):
    scene = moving()
    change(scene.json["animations"][0])
    refuse(tmp_path, scene.glb(), match)


def test_two_tracks_for_one_thing(tmp_path):
    scene = moving()
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [1, 0, 0, 0]])
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with pytest.warns(kp.FormatWarning, match="has keys already"):
        assert kp.load(tmp_path / "clip.glb").duration_s > 2


def test_many_tracks_for_one_thing_are_one_warning(tmp_path):
    scene = moving()
    scene.json["animations"][0]["channels"] *= 100
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with pytest.warns(kp.FormatWarning, match=r"channels\[1\]: rotation of nodes\[0\] \(and 98 more\)") as caught:
        kp.load(tmp_path / "clip.glb")
    assert len(caught) == 1


# Halves of characters


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".gltf"])
def test_names_with_half_a_character_can_be_saved(tmp_path, suffix):
    scene = moving()
    scene.json["nodes"][0]["name"] = "\ud800hips"
    scene.json["animations"][0]["name"] = "\udc80"
    (tmp_path / "clip.gltf").write_bytes(scene.gltf())
    motion = kp.load(tmp_path / "clip.gltf")
    assert motion.skeleton.names == ("\ufffdhips", "head")
    kp.save(motion, tmp_path / f"out{suffix}")
    assert kp.load(tmp_path / f"out{suffix}").skeleton.names == ("\ufffdhips", "head")
