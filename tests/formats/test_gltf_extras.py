"""Keypose's extras in a glTF file: used only if they fit the file."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.rotations import rotate
from support.errors import Pattern, warns
from support.gltf_motions import figure, read_document, replace_document


def _extras(document: dict) -> dict:
    return next(node["extras"]["keypose"] for node in document["nodes"] if "extras" in node)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: _extras(d).update(version=2),
        lambda d: _extras(d).update(fps=-1),
        lambda d: _extras(d).update(fps="fast"),
        lambda d: _extras(d).update(fps=60.0),
        lambda d: _extras(d).update(frames=10**9),
        lambda d: _extras(d).update(frames=10**4000),
        lambda d: _extras(d).update(fps=1e9),
        lambda d: _extras(d).update(fps=10**4000),
        lambda d: _extras(d).update(first_frame=10**30),
        lambda d: _extras(d).update(up="Q"),
        lambda d: _extras(d).update(up="Z"),
        lambda d: _extras(d).update(metres_per_unit=0.01),
        lambda d: _extras(d).update(metres_per_unit=None),
        lambda d: _extras(d).update(metres_per_unit=-1.0),
        lambda d: _extras(d).update(metres_per_unit=1e-320),
        lambda d: _extras(d).update(unit_stated="yes"),
        lambda d: _extras(d).pop("unit_stated"),
        lambda d: _extras(d).update(joints=[0, 1, 2]),
        lambda d: _extras(d).update(joints=[0] * 7),
        lambda d: _extras(d).update(joints=[0, 1, 2, 3, 4, 5, 7]),
        lambda d: _extras(d).update(joints=[1, 0, 2, 3, 4, 5, 6]),
        lambda d: _extras(d).update(joints=[0, 1, 2, 3, 4, 5, 99]),
        lambda d: _extras(d).update(offsets=[0.0] * 20),
        lambda d: _extras(d).update(offsets=["0"] * 21),
        lambda d: _extras(d).update(rotation_orders=["ZZZ"] * 7),
        lambda d: _extras(d).update(rotation_orders=[7] * 7),
        lambda d: _extras(d).update(channels=["Wposition"] * 7),
        lambda d: _extras(d).update(end_joints=[7, 0, 0]),
        lambda d: _extras(d).update(end_offsets=[]),
        lambda d: _extras(d).update(rest_checksum=1),
        lambda d: _extras(d).clear(),
        lambda d: d["nodes"][2].update(translation=[0, 9, 0]),
        lambda d: d["nodes"][2].update(scale=[2, 2, 2]),
        lambda d: d["nodes"][2].pop("name"),
        lambda d: d["nodes"][2].update(name="Hips"),
        lambda d: d["nodes"][7].update(translation=[0, 1, 0]),
        lambda d: d["nodes"][7].update(scale=[2, 2, 2]),
        lambda d: d["nodes"][7].update(rotation=[1, 0, 0, 0]),
        lambda d: d["nodes"].append({"children": [7]}),
        lambda d: d["animations"][0]["channels"][-1]["target"].update(path="scale"),
        lambda d: d["animations"][0]["channels"][0]["target"].update(node=7),
    ],
)  # fmt: skip
def test_extras_that_do_not_fit_are_ignored(tmp_path, change):
    path = tmp_path / "clip.glb"
    kp.save(figure(metres_per_unit=1.0), path)
    edited = read_document(path)
    change(edited)
    replace_document(path, edited)
    with warns(
        kp.FormatWarning, code="unused_data", problem=Pattern("^the data of Keypose in the file are not used: ")
    ):
        result = kp.load(path)
    assert result.reference_pose is not None  # read like any other file
    assert result.n_frames == 20


def test_the_world_is_the_same_without_extras(tmp_path):
    motion = figure(unit=0.01, up="Z", metres_per_unit=0.01)
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    edited = read_document(path)
    del edited["nodes"][7]["extras"]
    result = kp.load(replace_document(path, edited))
    assert result.skeleton.names == motion.skeleton.names
    expected = rotate(np.array(ROTATION_TO_Y_UP["Z"]), motion.world_positions()) * 0.01
    np.testing.assert_allclose(result.world_positions(), expected, atol=1e-6)
