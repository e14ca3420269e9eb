"""Written glTF files in the Khronos validator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import keypose as kp
from support.gltf_motions import CASES, assert_same, figure, read_document, replace_document

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def issues(folder: Path, paths: list[Path]) -> dict[str, list]:
    run = subprocess.run(
        ["node", TOOLS / "validate_gltf.mjs", folder, *paths], capture_output=True, text=True, timeout=300, check=True
    )
    return {Path(entry["path"]).name: entry["issues"] for entry in json.loads(run.stdout)}


def skip_or_fail(reason: str) -> None:
    """Skip the test; fail under CI, where everything is installed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def validator() -> Path:
    """The folder of the Khronos validator, installed on first use; skipped without Node.js."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            skip_or_fail(f"the Khronos glTF validator needs {program}, which is not installed")
    run = subprocess.run([TOOLS / "gltf_validator.sh"], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        skip_or_fail(f"the Khronos glTF validator could not be installed: {run.stderr.strip()[-300:]}")
    return Path(run.stdout.strip().splitlines()[-1])


@pytest.mark.node
def test_the_khronos_validator_finds_nothing(tmp_path, validator):
    paths = []
    for number, motion in enumerate(CASES.values()):
        for suffix in (".glb", ".gltf"):
            paths.append(tmp_path / f"{number}{suffix}")
            kp.save(motion, paths[-1])
    assert issues(validator, paths) == {path.name: [] for path in paths}


@pytest.mark.node
def test_the_khronos_validator_would_find_something(tmp_path, validator):
    path = tmp_path / "clip.glb"
    kp.save(figure(), path)
    edited = read_document(path)
    edited["accessors"][0]["max"] = [99.0]
    result = issues(validator, [replace_document(path, edited)])
    assert any(issue["severity"] == 0 for issue in result["clip.glb"])


@pytest.mark.data
@pytest.mark.node
def test_the_khronos_validator_finds_nothing_in_real_motion(tmp_path, validator, data_dir):
    names = ("59joints_fingers_zup", "fair_zup_dab", "kinect-openni_mm_hash-names", "blender_6ch-every-joint_alien",
             "daz3d_170joints_1frame", "tiny_two-joints")  # fmt: skip
    paths = []
    for name in names:
        paths.append(tmp_path / f"{name}.glb")
        motion = kp.load(data_dir / "formats" / "bvh" / f"{name}.bvh")
        kp.save(motion, paths[-1])
        assert_same(kp.load(paths[-1]), motion)
    assert issues(validator, paths) == {path.name: [] for path in paths}
