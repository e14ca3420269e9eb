"""Any member of a glTF file's JSON, and any of its bytes, may be anything: the result is a motion or a clear error."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.formats import gltf
from keypose.formats.base import Source
from keypose.options import LoadOptions
from support.gltf_scene import Scene, glb_of

_MEMBERS = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["count", "node", "x"]), inner),
    max_leaves=6,
)


def _paths(value, at=()):
    result = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        result += _paths(inner, (*at, key))
    return result


_WHOLE = Scene([{"name": "hips", "children": [1]}, {"name": "head", "translation": [0, 1, 0]}])
_WHOLE.json["skins"] = [{"joints": [0, 1]}]
_WHOLE.animate(0, "rotation", [0, 1, 2], [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
_WHOLE.json["nodes"][0]["extras"] = {"keypose": {"version": 1, "joints": [0, 1], "fps": 30.0, "frames": 3}}
_PATHS = _paths(_WHOLE.json)[1:]


@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_PATHS), _MEMBERS)
def test_any_member_may_be_anything(tmp_path_factory, place, value):
    document = json.loads(json.dumps(_WHOLE.json | {"buffers": [{"byteLength": len(_WHOLE.binary)}]}))
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    content = glb_of(json.dumps(document).encode("utf-8", "surrogatepass"), _WHOLE.binary)
    try:
        motion = gltf.GLB.read(Source(tmp_path_factory.getbasetemp() / "x.glb", content), LoadOptions())
    except kp.KeyposeError:
        return
    assert np.isfinite(motion.world_positions()).all()


@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
def test_any_byte_may_be_anything(tmp_path):
    rng = np.random.default_rng(11)
    whole = np.frombuffer(_WHOLE.glb(), "u1")
    for _ in range(1500):
        content = whole.copy()
        offsets = rng.integers(0, len(content), rng.integers(1, 5))
        content[offsets] = rng.integers(0, 256, len(offsets))
        cut = rng.integers(0, len(content)) if rng.random() < 0.2 else len(content)
        try:
            gltf.GLB.read(Source(tmp_path / "x.glb", content.tobytes()[:cut]), LoadOptions())
        except kp.KeyposeError:
            continue
