"""Our own notes in a glTF file: used where they fit the file, never trusted."""

from __future__ import annotations

import numpy as np
import pytest
from gltf_motions import document, figure, with_document

import keypose as kp
from keypose.formats.orientation import UPRIGHT
from keypose.rotations import rotate


def _notes(changed: dict) -> dict:
    return next(node["extras"]["keypose"] for node in changed["nodes"] if "extras" in node)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: _notes(d).update(version=2),
        lambda d: _notes(d).update(fps=-1),
        lambda d: _notes(d).update(fps="fast"),
        lambda d: _notes(d).update(fps=60.0),
        lambda d: _notes(d).update(frames=10**9),
        lambda d: _notes(d).update(frames=10**4000),
        lambda d: _notes(d).update(fps=1e9),
        lambda d: _notes(d).update(fps=10**4000),
        lambda d: _notes(d).update(first_frame=10**30),
        lambda d: _notes(d).update(up="Q"),
        lambda d: _notes(d).update(up="Z"),
        lambda d: _notes(d).update(metres_per_unit=0.01),
        lambda d: _notes(d).update(metres_per_unit=None),
        lambda d: _notes(d).update(metres_per_unit=-1.0),
        lambda d: _notes(d).update(metres_per_unit=1e-320),
        lambda d: _notes(d).update(unit_stated="yes"),
        lambda d: _notes(d).pop("unit_stated"),
        lambda d: _notes(d).update(joints=[0, 1, 2]),
        lambda d: _notes(d).update(joints=[0] * 7),
        lambda d: _notes(d).update(joints=[0, 1, 2, 3, 4, 5, 7]),
        lambda d: _notes(d).update(joints=[1, 0, 2, 3, 4, 5, 6]),
        lambda d: _notes(d).update(joints=[0, 1, 2, 3, 4, 5, 99]),
        lambda d: _notes(d).update(offsets=[0.0] * 20),
        lambda d: _notes(d).update(offsets=["0"] * 21),
        lambda d: _notes(d).update(rotation_orders=["ZZZ"] * 7),
        lambda d: _notes(d).update(rotation_orders=[7] * 7),
        lambda d: _notes(d).update(channels=["Wposition"] * 7),
        lambda d: _notes(d).update(end_joints=[7, 0, 0]),
        lambda d: _notes(d).update(end_offsets=[]),
        lambda d: _notes(d).update(rest_checksum=1),
        lambda d: _notes(d).clear(),
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
def test_notes_that_do_not_fit_are_not_used(tmp_path, change):
    path = tmp_path / "clip.glb"
    kp.save(figure(metres_per_unit=1.0), path)
    changed = document(path)
    change(changed)
    with_document(path, changed)
    with pytest.warns(kp.FormatWarning, match="own notes in the file are not used"):
        found = kp.load(path)
    assert found.reference_pose is not None  # read like any other file
    assert found.n_frames == 20


def test_the_plain_reading_has_the_same_world(tmp_path):
    motion = figure(unit=0.01, up="Z", metres_per_unit=0.01)
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    changed = document(path)
    del changed["nodes"][7]["extras"]
    found = kp.load(with_document(path, changed))
    assert found.skeleton.names == motion.skeleton.names
    expected = rotate(np.array(UPRIGHT["Z"]), motion.world_positions()) * 0.01
    np.testing.assert_allclose(found.world_positions(), expected, atol=1e-6)
