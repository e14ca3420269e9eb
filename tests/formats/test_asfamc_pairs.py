"""ASF/AMC: which skeleton belongs to a motion, and pairs that do not fit."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, Hint
from keypose.formats.acclaim import find_skeleton
from keypose.formats.base import Source
from support.acclaim import AMC, ASF, swap, write
from support.errors import Pattern, raises


def write_skeletons(folder: Path, *names: str) -> None:
    for name in names:
        text = ASF.encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


@pytest.mark.parametrize(
    ("motion", "files", "expected"),
    [
        ("02_01.amc", ["02_01.asf", "02.asf", "03.asf"], "02_01.asf"),
        ("02_01.amc", ["02.asf", "03.asf"], "02.asf"),
        ("02_01.amc", ["02.asf.gz", "03.asf"], "02.asf.gz"),
        ("02_01.amc", ["02.asf.gz", "02.asf"], "02.asf"),
        ("02_01.amc", ["02.ASF", "03.asf"], "02.ASF"),
        ("HDM_bd_walk_001.amc", ["HDM_bd.asf", "HDM_tr.asf"], "HDM_bd.asf"),
        ("02_01.amc", ["takeo.asf"], "takeo.asf"),
        ("walk.amc", ["12.asf"], "12.asf"),
    ],
)
def test_the_skeleton_in_the_same_folder(tmp_path, motion, files, expected):
    write_skeletons(tmp_path, *files)
    (tmp_path / motion).write_text(AMC)
    assert find_skeleton(Source(tmp_path / motion, AMC.encode())) == tmp_path / expected
    assert "skeleton from the .asf file beside it" in kp.load(tmp_path / motion).notes
    assert "skeleton from the given .asf file" in kp.load(tmp_path / motion, asf=tmp_path / expected).notes


def test_missing_skeleton_error_names_the_asf_option(tmp_path):
    (tmp_path / "02_01.amc").write_text(AMC)
    hint = Hint(python="give it with asf=...", command="give it with --asf FILE")
    with raises(FormatError, path=str(tmp_path / "02_01.amc"), hint=hint) as error:
        kp.load(tmp_path / "02_01.amc")
    # The golden message of this error:
    assert re.search(r"expected 02_01\.asf or 02\.asf.*found none; give it with asf=", str(error.value))
    write_skeletons(tmp_path, "a.asf", "b.asf")
    with raises(FormatError, path=str(tmp_path / "02_01.amc"), hint=hint):
        kp.load(tmp_path / "02_01.amc")
    assert kp.load(tmp_path / "02_01.amc", asf=tmp_path / "b.asf").n_frames == 3


def test_the_only_skeleton_of_another_subject_is_refused(tmp_path):
    (tmp_path / "02_01.amc").write_text(AMC)
    write_skeletons(tmp_path, "12.asf")
    problem = Pattern("found only 12.asf, by its name the skeleton of subject 12, not 02$")
    with raises(FormatError, code="missing_data", expected="02_01.asf or 02.asf beside it", problem=problem):
        kp.load(tmp_path / "02_01.amc")
    assert kp.load(tmp_path / "02_01.amc", asf=tmp_path / "12.asf").n_frames == 3


def test_asf_option_that_is_no_skeleton(tmp_path):
    path = write(tmp_path)
    with raises(FileError, code="no_such_file", path=str(tmp_path / "nowhere.asf")):
        kp.load(path, asf=tmp_path / "nowhere.asf")
    with raises(FormatError, code="syntax", expected="an ASF skeleton"):
        kp.load(path, asf=path)
    (tmp_path / "x.bvh").write_text("HIERARCHY\nROOT a\n")
    with raises(FormatError, code="syntax", line=1, expected="a section such as :version or :bonedata"):
        kp.load(path, asf=tmp_path / "x.bvh")
    (tmp_path / "empty.asf").write_text("")
    with raises(FormatError, code="missing_data", line=1, expected="one such as TX TY TZ RX RY RZ"):
        kp.load(path, asf=tmp_path / "empty.asf")


def test_gzip_of_both(tmp_path):
    plain = kp.load(write(tmp_path))
    for suffix, text in (("asf", ASF), ("amc", AMC)):
        (tmp_path / f"leg.{suffix}").unlink()
        (tmp_path / f"leg.{suffix}.gz").write_bytes(gzip.compress(text.encode()))
    m = kp.load(tmp_path / "leg.amc.gz")
    assert (m.rotations == plain.rotations).all()
    assert m.name == "leg"
    assert kp.load(tmp_path / "leg.asf.gz").n_frames == 1


def test_content_decides(tmp_path):
    write(tmp_path)
    for name, text in (("motion.txt", AMC), ("skeleton.txt", ASF), ("bare.txt", AMC.split(":DEGREES\n")[1])):
        (tmp_path / name).write_text(text)
        assert kp.load(tmp_path / name).skeleton.names[0] == "root"


def test_a_pair_that_does_not_fit_names_the_bone(tmp_path):
    path = write(tmp_path)
    for old, new, fields in (
        ("dof rx rz", "dof rx", {"code": "inconsistent", "expected": "1 (rx) by other.asf"}),
        ("dof rx rz", "dof rx ry rz", {"code": "inconsistent", "expected": "3 (rx ry rz) by other.asf"}),
        (
            "axis 0 0 0 XYZ",
            "axis 0 0 0 XYZ\n dof rx",
            {"code": "missing_data", "expected": "1 (rx) by other.asf"},
        ),
    ):
        (tmp_path / "other.asf").write_text(swap(ASF, old, new))
        with raises(FormatError, **fields) as caught:
            kp.load(path, asf=tmp_path / "other.asf")
        assert caught.value.line is not None
    (tmp_path / "other.asf").write_text(ASF.replace("shin", "calf"))
    with raises(
        FormatError,
        code="inconsistent",
        line=7,
        problem=Pattern("^frame 1 moves 'shin', but there is no such bone in other.asf$"),
    ):
        kp.load(path, asf=tmp_path / "other.asf")


@pytest.mark.data
def test_zeros_are_the_rest_pose(data_dir):
    folder = data_dir / "asf-amc"
    m = kp.load(folder / "zeros_7frames.amc", asf=folder / "02.asf")
    assert m.n_frames == 7
    assert m.world_positions() == pytest.approx(np.tile(m.skeleton.rest_positions[: m.n_joints], (7, 1, 1)))
    hint = Hint(python="give it with asf=...", command="give it with --asf FILE")
    with raises(FormatError, code="missing_data", value=6, hint=hint):
        kp.load(folder / "zeros_7frames.amc")


@pytest.mark.data
def test_the_mismatched_pair(data_dir):
    """12.asf has the bones, dof and axes of 02.asf, only other lengths: only its name differs."""
    folder = data_dir / "asf-amc"
    path = folder / "mismatch" / "02_01.amc"
    problem = Pattern("found only 12.asf, by its name the skeleton of subject 12, not 02$")
    with raises(FormatError, code="missing_data", expected="02_01.asf or 02.asf beside it", problem=problem):
        kp.load(path)
    right = kp.load(path, asf=folder / "02.asf")
    wrong = kp.load(path, asf=folder / "mismatch" / "12.asf")
    assert (right.rotations == kp.load(folder / "02_01.amc").rotations).all()
    assert wrong.rotations == pytest.approx(right.rotations, abs=1e-12)
    assert np.abs(wrong.skeleton.offsets - right.skeleton.offsets).max() > 0.1
