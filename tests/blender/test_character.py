"""Keys in the file of a character in real Blender: its meshes in the poses at the keys, its other animations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

pytestmark = [pytest.mark.blender, pytest.mark.data]

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "import_character.py"
TIMEOUT_S = 300
SAME_OF_SIZE = 1e-5  # single precision
KEY_FRAMES = 7  # from one key to the next


def import_character(blender_python: str, path: Path, motion: kp.Motion, animation: str, frames: list[int]) -> dict:
    result = path.with_suffix(".npz")
    arguments = (f"{motion.fps:g}", animation, ",".join(map(str, frames)), result)
    run = subprocess.run(
        [blender_python, "-P", SCRIPT, path, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert run.returncode == 0, run.stderr[-2000:]
    with np.load(result, allow_pickle=False) as arrays:
        return dict(arrays)


@pytest.mark.parametrize(
    ("name", "animation"),
    [
        ("characters/Knight.glb", "1H_Melee_Attack_Chop"),  # other nodes and 75 other animations
        ("gltf/RobotExpressive.glb", "Dance"),  # morph weights, scales that are rounded
        ("gltf/InterpolationTest.glb", "Linear Scale"),  # a track of scale
    ],
)
def test_character_has_its_meshes_in_the_poses_at_the_keys(
    blender_python: str, data_dir: Path, tmp_path: Path, name: str, animation: str
) -> None:
    original, out = tmp_path / "original.glb", tmp_path / "out.glb"
    original.write_bytes((data_dir / name).read_bytes())
    motion = kp.load(original, animation=animation)
    keyed = kp.unbake(motion, sorted({*range(0, motion.n_frames, KEY_FRAMES), motion.n_frames - 1}))
    kp.save(keyed, out, into=original)
    expected, result = (
        import_character(blender_python, path, motion, animation, keyed.keys.tolist()) for path in (original, out)
    )
    assert result.keys() == expected.keys()
    for names in ("actions", "shape_keys"):
        assert result.pop(names).tolist() == expected.pop(names).tolist(), names
    size = np.ptp(np.concatenate([vertices.reshape(-1, 3) for vertices in expected.values()]), axis=0).max()
    for mesh, vertices in expected.items():
        np.testing.assert_allclose(result[mesh], vertices, atol=SAME_OF_SIZE * size, err_msg=mesh)
    moved = max(float(np.ptp(vertices, axis=0).max()) for vertices in expected.values())
    assert moved > 0.05 * size  # the animation was played
