"""Damaged and hostile glTF: always a clear error, never a crash or a hang, no access to other files."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest

import keypose as kp
from keypose.limits import limit_hint
from support.errors import Pattern, raises, warns
from support.gltf_errors import moving_scene, refuse
from support.gltf_scene import Scene, glb_of

# The container


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (lambda d: d[:10], {"code": "truncated", "byte": 10, "problem": "a GLB of 10 bytes"}),
        (lambda d: d[:-9], {"code": "truncated", "byte": 8}),
        (lambda d: d[:4] + struct.pack("<I", 1) + d[8:], {"code": "unsupported", "byte": 4, "expected": "2"}),
        (lambda d: d[:12] + struct.pack("<I", 1 << 31) + d[16:], {"code": "truncated", "value": 1 << 31}),
        (lambda d: d[:16] + b"BIN\0" + d[20:], {"code": "syntax", "byte": 16}),
        (lambda d: d[:30] + b"\xff\xfe" + d[32:], {"code": "syntax", "problem": Pattern("^not sound JSON ")}),
    ],
)
def test_damaged_containers(tmp_path, change, fields):
    refuse(tmp_path, change(moving_scene().glb()), fields)


def with_asset(members: str, version: str = '"2.0"') -> bytes:
    return f'{{"asset": {{"version": {version}}}{members}}}'.encode()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (b"[" * 200_000, {"code": "syntax", "problem": Pattern("nested too deeply|not sound JSON")}),
        (b'{"asset":' + b'{"a":' * 200_000, {"code": "syntax", "problem": Pattern("nested too deeply|not sound JSON")}),
        (b"[1, 2]", {"code": "syntax", "subject": "the JSON", "value": [1, 2], "expected": "an object"}),
        (b"{}", {"code": "missing_data", "subject": "asset"}),
        (with_asset("", version='"1.0"'), {"subject": "asset.version", "value": "1.0", "expected": "'2.0'"}),
        (with_asset("", version="2.0"), {"subject": "asset.version", "value": 2.0, "expected": "a string"}),
        (with_asset("", version='"2.0", "minVersion": "2.1"'), {"subject": "asset.minVersion", "value": "2.1"}),
        (with_asset(', "nodes": 5'), {"subject": "nodes", "value": 5, "expected": "an array"}),
        (with_asset(', "nodes": [7]'), {"subject": "nodes[0]", "value": 7, "expected": "an object"}),
        (with_asset(', "x": NaN'), {"code": "syntax", "problem": Pattern("NaN is no JSON number")}),
        (with_asset(', "x": ' + "9" * 5000), {"code": "syntax", "problem": Pattern("^not sound JSON .Exceeds the limit")}),
        (with_asset(""), {"code": "missing_data", "problem": Pattern("no skin and no animated node"), "expected": "a figure that moves"}),
    ],
)  # fmt: skip
def test_damaged_json(tmp_path, text, fields):
    refuse(tmp_path, glb_of(text), fields)


# The nodes


def _huge(children: list[int]) -> dict[str, object]:
    return {"scale": [1e140] * 3, "translation": [1, 0, 0], "children": children}


@pytest.mark.parametrize(
    ("nodes", "fields"),
    [
        ([{"children": [1]}, {"children": [0]}], {"value": 0, "expected": "a tree"}),
        ([{"children": [0]}], {"value": 0, "expected": "a tree"}),
        ([{"children": [2]}, {"children": [2]}, {}], {"value": 2, "expected": "one parent"}),
        ([{"children": [1, 1]}, {}], {"value": 1, "expected": "one parent"}),
        ([{"children": [9]}], {"subject": "nodes[0].children[0]", "value": 9, "expected": "an index from 0 to 0"}),
        ([{"children": [-1]}], {"subject": "nodes[0].children[0]", "value": -1, "expected": "an index from 0 to 0"}),
        (
            [{"children": [True]}],
            {"subject": "nodes[0].children[0]", "value": True, "expected": "an index from 0 to 0"},
        ),
        ([{"children": ["1"]}], {"subject": "nodes[0].children[0]", "value": "1", "expected": "an index from 0 to 0"}),
        ([{"children": {}}], {"subject": "nodes[0].children", "value": {}, "expected": "an array"}),
        ([{"name": 5}], {"subject": "nodes[0].name", "value": 5, "expected": "a string"}),
        (
            [{"translation": [1, 2]}],
            {"subject": "nodes[0].translation", "value": [1, 2], "expected": "3 finite numbers"},
        ),
        (
            [{"translation": [1, 2, None]}],
            {"subject": "nodes[0].translation", "value": [1, 2, None], "expected": "3 finite numbers"},
        ),
        (
            [{"translation": [1, 2, 1e999]}],
            {"code": "syntax", "problem": Pattern("Infinity is no JSON number")},
        ),
        ([{"rotation": [0, 0, 0, 0]}], {"subject": "nodes[0].rotation", "expected": "a quaternion (xyzw) of length 1"}),
        ([{"rotation": "xyzw"}], {"subject": "nodes[0].rotation", "value": "xyzw", "expected": "4 finite numbers"}),
        ([{"matrix": [1] * 15}], {"subject": "nodes[0].matrix", "value": [1] * 15, "expected": "16 finite numbers"}),
        (
            [{"matrix": [1] * 16}],
            {"subject": "nodes[0].matrix", "expected": "0 0 0 1 as its last row (every fourth number)"},
        ),
        (
            [_huge([1]), _huge([2]), _huge([3]), _huge([])],
            {"code": "bad_number", "problem": "positions grow beyond all bounds"},
        ),
        (
            [_huge([1]), _huge([2]), _huge([3]) | {"scale": [1, 1e140, 1]}, _huge([])],
            {"code": "bad_number", "problem": "scales grow beyond all bounds"},
        ),
        (
            [{"scale": [1e100] * 3, "children": [1]}, {"translation": [1, 0, 0]}],
            {
                "code": "inconsistent",
                "problem": "skeleton offsets: 1e+100 at index (1, 0), expected finite numbers up to 1e+15",
            },
        ),
    ],
)
def test_damaged_nodes(tmp_path, nodes, fields):
    scene = Scene(nodes)
    scene.json["skins"] = [{"joints": list(range(len(nodes)))}]
    refuse(tmp_path, scene.glb(), fields)


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
    fields = {"value": 500, "hint": limit_hint("depth")}
    refuse(tmp_path, scene.glb(), fields, kind=kp.LimitError, limits=kp.Limits(depth=400))
    scene.json["skins"] = [{"joints": list(range(n))}]
    fields = {"value": 500, "hint": limit_hint("joints")}
    refuse(tmp_path, scene.glb(), fields, kind=kp.LimitError, limits=kp.Limits(joints=400))
    error = refuse(tmp_path, scene.glb(), fields, kind=kp.LimitError, limits=kp.Limits(joints=49))
    assert error.problem.startswith("500 nodes, ")


def test_a_million_empty_nodes_are_refused_at_once(tmp_path):
    text = b'{"asset":{"version":"2.0"},"skins":[{"joints":[0]}],"nodes":[' + b"{}," * 999_999 + b"{}]}"
    started = time.perf_counter()
    fields = {"value": 1_000_000, "hint": limit_hint("joints")}
    refuse(tmp_path, text, fields, name="clip.gltf", kind=kp.LimitError)
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
    with warns(kp.FormatWarning, code="sheared", value=50) as caught:
        kp.load(tmp_path / "clip.glb")
    assert len(caught) == 1


def test_a_wrong_skin(tmp_path):
    scene = moving_scene()
    scene.json["skins"] = [{"joints": [0, 99]}]
    refuse(tmp_path, scene.glb(), {"subject": "skins[0].joints[1]", "value": 99, "expected": "an index from 0 to 1"})


# The animation


@pytest.mark.parametrize(
    ("times", "kind", "fields"),
    [
        (
            [0, 1, 1],
            kp.FormatError,
            {
                "subject": "animations[0].samplers[0]",
                "problem": "key 2 is at 1 s after one at 1 s",
                "expected": "increasing times",
            },
        ),
        (
            [0, 2, 1],
            kp.FormatError,
            {
                "subject": "animations[0].samplers[0]",
                "problem": "key 2 is at 1 s after one at 2 s",
                "expected": "increasing times",
            },
        ),
        (
            [0, float("nan"), 1],
            kp.FormatError,
            {"subject": "accessors[2]", "problem": "[nan] at element 1", "expected": "finite numbers"},
        ),
        (
            [0, 1, float("inf")],
            kp.FormatError,
            {"subject": "accessors[2]", "problem": "[inf] at element 2", "expected": "finite numbers"},
        ),
        (
            [0, 1],
            kp.FormatError,
            {"subject": "animations[0].samplers[0]", "problem": "3 values for 2 keys", "expected": "2"},
        ),
        ([0, 1, 1e30], kp.LimitError, {"code": "limit", "hint": limit_hint("frames")}),
        ([0, 1, 1e6], kp.LimitError, {"value": 30_000_002, "hint": limit_hint("frames")}),
    ],
)
def test_damaged_times(tmp_path, times, kind, fields):
    scene = moving_scene()
    scene.json["animations"][0]["samplers"][0]["input"] = scene.accessor(times)
    refuse(tmp_path, scene.glb(), fields, kind=kind)


@pytest.mark.parametrize("fps", [1e300, 1e18])
def test_a_rate_beyond_all_bounds(tmp_path, fps):
    (tmp_path / "clip.glb").write_bytes(moving_scene().glb())
    with raises(kp.OptionError, option="fps"):
        kp.load(tmp_path / "clip.glb", fps=fps)


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        (
            [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]],
            {"subject": "animations[0].samplers[0], key 1", "value": [0.0] * 4, "expected": "a quaternion of length 1"},
        ),
        (
            [[0, 0, 0, 1], [np.nan, 0, 0, 0], [0, 0, 0, 1]],
            {"subject": "accessors[2]", "problem": "[nan, 0.0, 0.0, 0.0] at element 1"},
        ),
        (
            [[0, 0, 0, 1]] * 4,
            {"subject": "animations[0].samplers[0]", "problem": "4 values for 3 keys", "expected": "3"},
        ),
    ],
)
def test_damaged_rotations(tmp_path, values, fields):
    scene = moving_scene()
    scene.json["animations"][0]["samplers"][0]["output"] = scene.accessor(values)
    refuse(tmp_path, scene.glb(), fields)


def test_a_spline_through_no_rotation(tmp_path):
    scene = moving_scene()
    zero, one = [0, 0, 0, 0], [0, 0, 0, 1]
    scene.animate(1, "rotation", [0, 1, 2], [zero, one, zero, zero, zero, zero, zero, one, zero], "CUBICSPLINE")
    fields = {"code": "bad_number", "subject": "animations[0].samplers[1], frame 1", "value": [0.0] * 4}
    refuse(tmp_path, scene.glb(), fields, fps=1.0)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (
            lambda a: a["channels"][0].pop("target"),
            {"code": "missing_data", "subject": "animations[0].channels[0].target"},
        ),
        (
            lambda a: a["channels"][0]["target"].pop("path"),
            {"code": "missing_data", "subject": "animations[0].channels[0].target.path"},
        ),
        (
            lambda a: a["channels"][0]["target"].update(node=7),
            {"subject": "animations[0].channels[0].target.node", "value": 7, "expected": "an index from 0 to 1"},
        ),
        (
            lambda a: a["channels"][0].update(sampler=1),
            {"subject": "animations[0].channels[0].sampler", "value": 1, "expected": "an index from 0 to 0"},
        ),
        (
            lambda a: a["samplers"][0].update(input=-1),
            {"subject": "animations[0].samplers[0].input", "value": -1, "expected": "an index from 0 to 1"},
        ),
        (
            lambda a: a["samplers"][0].pop("output"),
            {"code": "missing_data", "subject": "animations[0].samplers[0].output"},
        ),
        (
            lambda a: a["samplers"][0].update(interpolation="BEZIER"),
            {"value": "BEZIER", "expected": "one of LINEAR, STEP, CUBICSPLINE"},
        ),
        (lambda a: a.update(channels={}), {"subject": "animations[0].channels", "value": {}, "expected": "an array"}),
        (lambda a: a.update(name=[]), {"subject": "animations[0].name", "value": [], "expected": "a string"}),
    ],
)
def test_damaged_animations(tmp_path, change, fields):
    scene = moving_scene()
    change(scene.json["animations"][0])
    refuse(tmp_path, scene.glb(), fields)


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
    with warns(kp.FormatWarning, code="repeated_channel", value=99) as caught:
        kp.load(tmp_path / "clip.glb")
    assert len(caught) == 1
    # The golden message of this warning:
    assert "animations[0].channels[1]: rotation of nodes[0] (and 98 more) has keys" in str(caught[0].message)


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
