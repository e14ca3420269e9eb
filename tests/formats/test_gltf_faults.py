"""Damaged and hostile glTF: always a clear error, never a crash or a hang, no access to other files."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest

import keypose as kp
from support.errors import raises, warns
from support.gltf_errors import moving_scene, refuse
from support.gltf_scene import Scene, glb_of

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
    refuse(tmp_path, change(moving_scene().glb()), match)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"[" * 200_000, "nested too deeply|not sound JSON"),
        (b'{"asset":' + b'{"a":' * 200_000, "nested too deeply|not sound JSON"),
        (b"[1, 2]", "the JSON: .1, 2., expected an object"),
        (b"{}", "asset: missing"),
        (b'{"asset": {"version": "1.0"}}', "asset.version: '1.0', expected '2.0'"),
        (b'{"asset": {"version": 2.0}}', "asset.version: 2.0, expected a string"),
        (b'{"asset": {"version": "2.0", "minVersion": "2.1"}}', "minVersion"),
        (b'{"asset": {"version": "2.0"}, "nodes": 5}', "nodes: 5, expected an array"),
        (b'{"asset": {"version": "2.0"}, "nodes": [7]}', r"nodes\[0\]: 7, expected an object"),
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
        ([{"children": [9]}], r"nodes\[0\].children\[0\]: 9, expected an index from 0 to 0"),
        ([{"children": [-1]}], "expected an index"),
        ([{"children": [True]}], "expected an index"),
        ([{"children": ["1"]}], "expected an index"),
        ([{"children": {}}], "expected an array"),
        ([{"name": 5}], "name: 5, expected a string"),
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
    scene = moving_scene()
    scene.json["nodes"][1] = {"name": "head", "matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with warns(kp.FormatWarning, code="sheared"):
        kp.load(tmp_path / "clip.glb")


def test_a_singular_matrix_is_a_vanishing_scale(tmp_path):
    scene = moving_scene()
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


def test_nodes_outside_the_figure_are_not_read(tmp_path):
    scene = moving_scene()
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
    scene = moving_scene()
    scene.json["skins"] = [{"joints": [0, 99]}]
    refuse(tmp_path, scene.glb(), r"skins\[0\].joints\[1\]: 99")


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
    scene = moving_scene()
    scene.json["animations"][0]["samplers"][0]["input"] = scene.accessor(times)
    refuse(tmp_path, scene.glb(), match)


@pytest.mark.parametrize("fps", [1e300, 1e18])
def test_a_rate_beyond_all_bounds(tmp_path, fps):
    (tmp_path / "clip.glb").write_bytes(moving_scene().glb())
    with raises(kp.OptionError, option="fps"):
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
    scene = moving_scene()
    scene.json["animations"][0]["samplers"][0]["output"] = scene.accessor(values)
    refuse(tmp_path, scene.glb(), match)


def test_a_spline_through_no_rotation(tmp_path):
    scene = moving_scene()
    zero, one = [0, 0, 0, 0], [0, 0, 0, 1]
    scene.animate(1, "rotation", [0, 1, 2], [zero, one, zero, zero, zero, zero, zero, one, zero], "CUBICSPLINE")
    refuse(tmp_path, scene.glb(), "is no rotation", fps=1.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a: a["channels"][0].pop("target"), "target: missing"),
        (lambda a: a["channels"][0]["target"].pop("path"), "path: missing"),
        (lambda a: a["channels"][0]["target"].update(node=7), "node: 7"),
        (lambda a: a["channels"][0].update(sampler=1), "sampler: 1, expected an index from 0 to 0"),
        (lambda a: a["samplers"][0].update(input=-1), "input: -1"),
        (lambda a: a["samplers"][0].pop("output"), "output: missing"),
        (lambda a: a["samplers"][0].update(interpolation="BEZIER"), "expected one of LINEAR, STEP, CUBICSPLINE"),
        (lambda a: a.update(channels={}), "expected an array"),
        (lambda a: a.update(name=[]), "expected a string"),
    ],
)
def test_damaged_animations(tmp_path, change, match):
    scene = moving_scene()
    change(scene.json["animations"][0])
    refuse(tmp_path, scene.glb(), match)


def test_two_tracks_of_one_property(tmp_path):
    scene = moving_scene()
    scene.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [1, 0, 0, 0]])
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with warns(kp.FormatWarning, code="repeated_channel"):
        assert kp.load(tmp_path / "clip.glb").duration_s > 2


def test_many_tracks_of_one_property_give_one_warning(tmp_path):
    scene = moving_scene()
    scene.json["animations"][0]["channels"] *= 100
    (tmp_path / "clip.glb").write_bytes(scene.glb())
    with pytest.warns(kp.FormatWarning, match=r"channels\[1\]: rotation of nodes\[0\] \(and 98 more\)") as caught:
        kp.load(tmp_path / "clip.glb")
    assert len(caught) == 1


# Lone surrogates


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".gltf"])
def test_names_with_half_a_character_can_be_saved(tmp_path, suffix):
    scene = moving_scene()
    scene.json["nodes"][0]["name"] = "\ud800hips"
    scene.json["animations"][0]["name"] = "\udc80"
    (tmp_path / "clip.gltf").write_bytes(scene.gltf())
    motion = kp.load(tmp_path / "clip.gltf")
    assert motion.skeleton.names == ("\ufffdhips", "head")
    kp.save(motion, tmp_path / f"out{suffix}")
    assert kp.load(tmp_path / f"out{suffix}").skeleton.names == ("\ufffdhips", "head")
