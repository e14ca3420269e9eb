"""``.keys.json``: exact round trips of readable text."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import keypose as kp
from keypose.formats.base import SaveOptions
from keypose.formats.keys_json import FIELDS, VERSION, write_keyed
from keypose.storage import encode_kps_keys
from support.errors import raises
from support.keyed_motions import CASES, bits, keyed

DOCS = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


@pytest.mark.parametrize("suffix", [".keys.json", ".keys.json.gz", ".KEYS.JSON"])
@pytest.mark.parametrize("name", CASES)
def test_every_bit_comes_back(name, suffix, tmp_path):
    path = tmp_path / f"a.b{suffix}"
    kp.save(CASES[name], path)
    assert bits(kp.load_keyed(path)) == bits(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_load_gives_the_sampled_frames(name, tmp_path):
    kp.save(CASES[name], tmp_path / "x.keys.json")
    assert bits(kp.load(tmp_path / "x.keys.json")) == bits(CASES[name].sample())
    assert bits(kp.load(tmp_path / "x.keys.json", fps=48)) == bits(CASES[name].sample(fps=48))


def test_the_file_states_its_rate(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.keys.json")
    assert kp.load_keyed(tmp_path / "x.keys.json", fps=30).fps == 30
    with raises(kp.OptionError, option="fps", value=60, expected="30, which the file states"):
        kp.load_keyed(tmp_path / "x.keys.json", fps=60)


numbers = st.floats(-1e15, 1e15) | st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 1 / 3])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=arrays(float, (3, 5, 7, 3), elements=numbers),
    angles=arrays(float, (3, 5, 7, 3), elements=numbers),
    detail=arrays(float, (2, 4, 7, 3), elements=numbers),
    still=arrays(bool, 7),
    extremes=arrays(bool, 5),
)
def test_any_numbers_come_back(values, angles, detail, still, extremes, tmp_path):
    for curves in (values, angles):
        curves[0][:, still] = curves[0][:1, still]
        curves[1:, :, still] = 0.0
    wild = replace(
        keyed(),
        translations=kp.Curves(*values),
        rotations=kp.Curves(*angles),
        rotation_orders=("XYZ", "ZXY", "YXZ", "ZYX", "XZY", "YZX", "XYZ"),
        residual=kp.Residual(*detail),
        extremes=extremes,
    )
    kp.save(wild, tmp_path / "x.keys.json")
    assert bits(kp.load_keyed(tmp_path / "x.keys.json")) == bits(wild)


def test_a_dense_motion_has_a_key_on_every_frame(tmp_path):
    motion = kp.demo_motion(fps=30)[:30]
    kp.save(motion, tmp_path / "x.keys.json")
    every = kp.load_keyed(tmp_path / "x.keys.json")
    assert every.keys.tolist() == list(range(30)) and not every.is_cubic
    np.testing.assert_array_equal(every.sample().world_positions(), motion.world_positions())


def test_the_reference_pose_as_a_first_frame(tmp_path):
    motion = CASES["reference pose"].sample()
    kp.save(motion, tmp_path / "x.keys.json", reference_pose=True)
    again = kp.load(tmp_path / "x.keys.json")
    assert again.n_frames == motion.n_frames + 1 and again.first_frame == -1
    np.testing.assert_array_equal(again[0].rotations, motion.reference_pose.rotations)


def test_frame_0_as_reference_pose_on_demand(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.keys.json")
    motion = kp.load(tmp_path / "x.keys.json", reference_pose="drop")
    assert motion.n_frames == 19 and motion.first_frame == 1
    np.testing.assert_array_equal(motion.reference_pose.rotations, CASES["cubic"].rotations.values[0])


def test_a_person_can_read_it(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.keys.json")
    text = (tmp_path / "x.keys.json").read_text()
    lines = text.splitlines()
    assert ' "keys": [0, 4, 5, 11, 19],' in lines and ' "interpolation": "cubic",' in lines
    assert '  {"joint": "Head", "still": [1.0, 0.0, 0.0, 0.0]},' in lines  # the head never turns
    assert max(len(line) for line in lines if '"data"' not in line) < 200
    document = json.loads(text)
    hips = document["translations"][0]
    assert hips["joint"] == "Hips" and len(hips["values"]) == len(hips["in_tangents"]) == len(hips["out_tangents"]) == 5
    np.testing.assert_array_equal(hips["values"], CASES["cubic"].translations.values[:, 0])
    assert document["version"] == VERSION and document["skeleton"]["joints"][1]["parent"] == "Hips"


def test_an_edit_by_hand(tmp_path):
    """A key moved in the text moves the motion, and nothing else."""
    kp.save(CASES["cubic"], tmp_path / "x.keys.json")
    document = json.loads((tmp_path / "x.keys.json").read_text())
    document["translations"][0]["values"][1] = [1, 2, 3]
    (tmp_path / "x.keys.json").write_text(json.dumps(document, indent=4))
    edited = kp.load_keyed(tmp_path / "x.keys.json")
    assert edited.translations.values[1, 0].tolist() == [1.0, 2.0, 3.0]
    assert bits(edited.rotations) == bits(CASES["cubic"].rotations)


def test_content_decides_whatever_the_name(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.keys.json")
    data = (tmp_path / "x.keys.json").read_bytes()
    (tmp_path / "y.json").write_bytes(b"\xef\xbb\xbf\n" + data)
    assert bits(kp.load_keyed(tmp_path / "y.json")) == bits(CASES["cubic"])
    (tmp_path / "z.glb").write_bytes(gzip.compress(data))
    assert "not what the suffix .glb says" in kp.load_keyed(tmp_path / "z.glb").notes[0]
    with raises(kp.OptionError, value=".json", path=str(tmp_path / "w.json")):
        kp.save(CASES["cubic"], tmp_path / "w.json")
    with raises(kp.OptionError, value=".json", path=str(tmp_path / ".keys.json")):
        kp.save(CASES["cubic"], tmp_path / ".keys.json")


def test_names_of_three_members_in_kps_files(tmp_path):
    """Files of version 1 say arriving, leaving and turns; they are read and written so."""
    case = CASES["cubic"]
    kp.save(case, tmp_path / "x.kps")
    text = write_keyed(case, ".keys.json", SaveOptions())
    for old, new in ((b"arriving", b"in_tangents"), (b"leaving", b"out_tangents")):
        text = text.replace(b'"%s":' % new, b'"%s":' % old)
    head, tail = text.split(b'"residual": {', 1)
    text = head + b'"residual": {' + tail.replace(b'"rotations":', b'"turns":', 1)
    text = re.sub(rb'\s*"tolerance_mm": null,', b"", text)  # it is among the notes
    assert b'"arriving"' in text and b'"turns"' in text
    assert (tmp_path / "x.kps").read_bytes() == encode_kps_keys(case, text)
    assert bits(kp.load_keyed(tmp_path / "x.kps")) == bits(case)


def test_every_field_is_documented():
    page = DOCS.read_text().split("## Keys as text")[1].split("\n## ")[0]
    inner = ("joints", "end_sites", "parent", "offset", "channels", "rotation_order", "joint", "still", "values", "in_tangents",
             "out_tangents", "rotations", "shifts", "frames", "sources", "shape", "crc32", "data")  # fmt: skip
    assert [name for name in (*FIELDS, *inner) if f"`{name}`" not in page] == []


@pytest.mark.data
def test_real_motion(tmp_path, data_dir):
    motion = kp.load(data_dir / "fbx" / "07_01.bvh")
    real = kp.unbake(motion, list(range(0, motion.n_frames, 10)))
    kp.save(real, tmp_path / "x.keys.json")
    again = kp.load_keyed(tmp_path / "x.keys.json")
    assert bits(again) == bits(real)
    np.testing.assert_allclose(again.sample(1.0).world_positions(), motion.world_positions(), atol=1e-9)
