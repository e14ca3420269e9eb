"""The BVH files of many exporters, and the malformed ones."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot
from reference import naive
from support.bvh_files import same_motion
from support.errors import warns


@pytest.mark.data
def test_every_exporters_file_loads_and_survives_writing(data_dir, tmp_path):
    files = sorted((data_dir / "formats/bvh").glob("*.bvh"))
    assert len(files) >= 22
    for path in files:
        m = kp.load(path)
        assert np.isfinite(m.world_positions()).all(), path
        kp.save(m, tmp_path / "again.bvh")
        same_motion(m, kp.load(tmp_path / "again.bvh", reference_pose="keep"))


def reference_frames(path: Path) -> np.ndarray:
    text = path.read_bytes().decode("utf-8-sig").replace("\r", "")
    return naive.parse_rows(
        text.split("Frame Time:")[1].split("\n", 1)[1],
        len(text.split("Frame Time:")[1].split("\n")[1].split()),
    )


@pytest.mark.data
def test_poses_of_real_files_agree_with_the_slow_reference(data_dir):
    for path in sorted((data_dir / "formats/bvh").glob("*.bvh")):
        m = kp.load(path, reference_pose="keep")
        rows = reference_frames(path)
        assert len(rows) == m.n_frames
        some = np.linspace(0, m.n_frames - 1, 4).astype(int)
        translations, matrices = naive.poses_from_channels(rows[some], m.skeleton.channels, m.skeleton.offsets)
        np.testing.assert_array_equal(m.translations[some], translations, err_msg=path.name)
        np.testing.assert_allclose(rot.to_matrix(m.rotations[some]), matrices, atol=1e-9, err_msg=path.name)
        positions, _ = naive.forward(m.skeleton.parents, translations, m.rotations[some])
        np.testing.assert_allclose(m.world_positions()[some], positions, atol=1e-9 * max(1, np.abs(positions).max()))


@pytest.mark.data
def test_malformed_files_behave_as_expected(data_dir):
    outcomes = {}
    for row in csv.DictReader((data_dir / "malformed/EXPECT.csv").read_text().splitlines()):
        path = data_dir / row["path"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcomes[path.stem] = (kp.load(path), [str(w.message) for w in caught])
            except kp.KeyposeError as error:
                outcomes[path.stem] = (None, [str(error)])
        motion, messages = outcomes[path.stem]
        expect = row["expect"]
        if expect.startswith("ok with warning"):
            assert motion is not None and messages, row
        elif expect.startswith("ok") and "error" not in expect:
            assert motion is not None and not messages, (row, messages)
        elif expect == "clear error":
            assert motion is None and path.name in messages[0], row
        else:
            assert messages, row  # a warning or an error, never silence
    assert len(outcomes) == 24
    assert outcomes["leading-dot-frame-time"][0].fps == pytest.approx(120, abs=0.01)
    assert outcomes["truncated-last-row"][0].n_frames == 19
    assert outcomes["frames-header-3069_rows-3070"][0].n_frames == 3070
    assert "names" not in outcomes["names-with-spaces"][1]
    assert any(" " in name for name in outcomes["names-with-spaces"][0].skeleton.names)
    assert any(":" in name for name in outcomes["names-colon-dot"][0].skeleton.names)
    assert "frame 4, Yrotation of Hips" in outcomes["nan-values"][1][0]
    wrap = outcomes["gimbal-wrap"][0]
    assert np.abs(np.diff(wrap.euler_curves(), axis=0)).max() < 30


@pytest.mark.data
def test_glued_numbers_are_those_of_the_unglued_file(data_dir):
    """The file is the plain synthetic one with blanks removed before minus signs."""
    folder = data_dir / "malformed/synthetic"
    with warns(kp.FormatWarning, code="missing_space"):
        glued = kp.load(folder / "glued-numbers.bvh")
    text = (folder / "glued-numbers.bvh").read_text().split("Frame Time:")[1].split("\n", 1)[1]
    import re

    rows = naive.parse_rows(re.sub(r"(?<=[0-9])-", " -", text), 15)
    translations, _ = naive.poses_from_channels(rows, glued.skeleton.channels, glued.skeleton.offsets)
    np.testing.assert_array_equal(glued.translations, translations)


@pytest.mark.data
def test_the_cmu_t_pose_is_recognised_in_every_clip_and_nowhere_else(data_dir):
    for folder in ("cmu120", "cmu120/swings"):
        for path in sorted((data_dir / folder).glob("*.bvh")):
            m = kp.load(path)
            assert m.reference_pose is not None, path.name
            if folder == "cmu120":
                assert 62.8 <= m.mm_per_unit <= 67.9, (path.name, m.mm_per_unit)
    for path in sorted((data_dir / "cmu30").rglob("*.bvh")):  # the T-pose was dropped from these
        assert kp.load(path).reference_pose is None, path.name


@pytest.mark.one_python
@pytest.mark.data
def test_of_a_thousand_clips_without_t_pose_two_start_with_an_all_zero_frame(data_dir):
    """The T-pose was dropped from these; in two takes the first captured frame is an artificial pose too."""
    paths = sorted((data_dir / "cmu30-more").glob("*.bvh.gz"))
    result = {path.name.split(".")[0]: kp.load(path) for path in paths}
    apart = {name: m.reference_pose for name, m in result.items() if m.reference_pose is not None}
    assert len(paths) == 1047 and set(apart) == {"07_12", "104_38"}
    for pose in apart.values():
        np.testing.assert_allclose(np.abs(pose.rotations[:, 0]), 1.0, atol=1e-12)
