"""A short run of damaged files: `make fuzz` does the same with 100,000 of them in child processes."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.seeds import KINDS, SHARES, SUBPROCESS_KINDS, seeds
from tests.fuzz.worker import try_input

import keypose as kp

HERE = [kind for kind in KINDS if kind != "fbx"]  # damaged FBX is tested in tests/blender
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def load_or_refuse(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            kp.load(path).world_positions()
        except kp.MissingExtra:
            pass  # it looks like FBX, which needs Blender
        except kp.KeyposeError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("kind", HERE)
def test_sound_files_load(kind, tmp_path):
    for name, data in seeds(kind).companions.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / seeds(kind).name).write_bytes(seeds(kind).contents[0])
    assert kp.load(tmp_path / seeds(kind).name).n_frames >= 1


@pytest.mark.parametrize("kind", HERE)
def test_damaged_files_end_in_a_motion_or_a_keypose_error(kind, tmp_path):
    for name, data in seeds(kind).companions.items():
        (tmp_path / name).write_bytes(data)
    outcomes = [
        try_input(kind, number, tmp_path)[0] for number in range(4 if kind in SUBPROCESS_KINDS else SHARES[kind] // 10)
    ]
    assert [o for o in outcomes if o not in ("loaded", "refused")] == []
    assert "refused" in outcomes or kind in SUBPROCESS_KINDS


MAGIC = {
    "x.bvh": b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n",
    "x.asf": b":version 1.10\n:units\n:root\n:bonedata\nbegin\n",
    "x.c3d": b"\x02\x50",
    "x.glb": b"glTF\x02\x00\x00\x00",
    "x.gltf": b'{"asset": {"version": "2.0"}',
    "x.bvh.gz": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    "x.txt": b"",
}


@pytest.mark.parametrize("name", MAGIC)
@relaxed
@given(tail=st.binary(max_size=3000))
def test_any_bytes_after_the_magic(name, tail):
    load_or_refuse(MAGIC[name] + tail, name)


words = st.sampled_from(
    "ROOT JOINT End Site { } OFFSET CHANNELS MOTION Frames: Frame Time: Xposition Xrotation Yrotation a b 0 1 -1 3 6 "
    "1.5 nan 1e9 99999999 \n \n \n".split(" ")
)


@relaxed
@given(st.lists(words, max_size=120))
def test_any_order_of_the_words_of_a_bvh(tokens):
    load_or_refuse(("HIERARCHY\n" + " ".join(tokens)).encode(), "x.bvh")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.integers() | st.floats() | st.sampled_from(["", "VEC3", "a"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


def _list_paths(node: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, child in children for place in _list_paths(child, (*path, key)))]


@relaxed
@given(data=st.data())
def test_any_value_anywhere_in_a_gltf_document(data):
    document = json.loads(seeds("gltf").contents[0])
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from([p for p in _list_paths(document) if p and "uri" not in p]))
        target = document
        for key in above:
            target = target[key]
        target[last] = data.draw(values)
    load_or_refuse(json.dumps(document).encode(), "x.gltf")
