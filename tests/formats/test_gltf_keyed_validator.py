"""Sparse glTF files in the Khronos validator."""

from __future__ import annotations

import warnings

import pytest
from test_gltf_validator import issues, validator  # noqa: F401 - a fixture

import keypose as kp
from support.keyed_motions import CASES


@pytest.mark.node
def test_the_khronos_validator_finds_nothing_in_sparse_files(tmp_path, validator):  # noqa: F811
    paths = []
    for number, case in enumerate(CASES.values()):
        for suffix in (".glb", ".gltf"):
            paths.append(tmp_path / f"{number}{suffix}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kp.FormatWarning)  # that Euler curves are fitted again
                kp.save(case, paths[-1])
    assert issues(validator, paths) == {path.name: [] for path in paths}


@pytest.mark.data
@pytest.mark.node
def test_the_khronos_validator_finds_nothing_in_real_motion(tmp_path, validator, data_dir):  # noqa: F811
    motion = kp.load(data_dir / "fbx" / "07_01.bvh")
    path = tmp_path / "walk.glb"
    kp.save(kp.unbake(motion, list(range(4, motion.n_frames, 9))), path)
    assert issues(validator, [path]) == {path.name: []}
