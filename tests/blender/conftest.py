"""Poses in real Blender: one child process imports all files of a test and returns the positions of joints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import from_euler
from support.blend_files import BlendResult, write_and_inspect

_TESTS = Path(__file__).resolve().parents[1]
_INSTALL = _TESTS.parent / "tools" / "blender.sh"
_INSTALL_LIMIT_S = 1800
_VERSION = "4.5" if sys.version_info < (3, 13) else "5.2"  # so that the suites on both Pythons test both
_IMPORT_LIMIT_S = 300


@dataclass(frozen=True)
class ImportResult:
    """The joint positions of one file in Blender, or the import error."""

    names: tuple[str, ...]
    positions: np.ndarray  # (requested frames, J, 3) in the file's axes and units
    lengths: np.ndarray  # (J,) of the bones as Blender draws them; NaN for other objects
    error: str | None = None

    def positions_of(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the positions (frames, len(names), 3) of the joints with these names."""
        return self.positions[:, self._indices(names)]

    def lengths_of(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the lengths (len(names),) of the bones with these names."""
        return self.lengths[self._indices(names)]

    def _indices(self, names: tuple[str, ...]) -> list[int]:
        missing = [name for name in names if name not in self.names]
        assert not missing, f"Blender has no joint {missing}, only {self.names}"
        return [self.names.index(name) for name in names]


@dataclass(frozen=True)
class ImportRequest:
    """A file to import, the frames to evaluate, the rate of its motion, and the path of an FBX export, if any."""

    path: Path
    frames: list[int]
    fps: float
    fbx: Path | None = None


ImportFunction = Callable[..., list[ImportResult]]


@pytest.fixture(scope="session")
def blender_python() -> str:
    """The interpreter with Blender's module, installed on first use; without it skip, or fail under CI."""
    if arrays := os.environ.get("KEYPOSE_BLENDER_PYTHON"):
        return arrays
    try:
        run = subprocess.run([_INSTALL, _VERSION], capture_output=True, text=True, timeout=_INSTALL_LIMIT_S)
        problem = None if run.returncode == 0 else run.stderr.strip()[-500:]
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem is None:
        return run.stdout.strip().splitlines()[-1]
    message = f"Blender's Python module could not be installed by tools/blender.sh: {problem}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def import_in_blender(blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> ImportFunction:
    """A function that imports many files in one Blender process."""

    def run(*files: ImportRequest) -> list[ImportResult]:
        folder = tmp_path_factory.mktemp("import")
        request, result = folder / "request.json", folder / "result.npz"
        entries = [
            {k: str(v) if isinstance(v, Path) else v for k, v in vars(f).items() if v is not None} for f in files
        ]
        request.write_text(json.dumps(entries))
        run = subprocess.run(
            [blender_python, "-P", _TESTS / "support" / "import_files.py", request, result],
            capture_output=True,
            text=True,
            timeout=_IMPORT_LIMIT_S,
        )
        assert run.returncode == 0, f"Blender ended with {run.returncode}: {run.stderr[-2000:]}"
        with np.load(result, allow_pickle=False) as arrays:
            return [
                ImportResult((), np.zeros((0, 0, 3)), np.zeros(0), str(arrays[f"{k}_error"]))
                if f"{k}_error" in arrays
                else ImportResult(
                    tuple(arrays[f"{k}_names"].tolist()), arrays[f"{k}_positions"], arrays[f"{k}_lengths"]
                )
                for k in range(len(files))
            ]

    return run


@pytest.fixture(scope="session")
def blend_results(
    blender_python: str, data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, BlendResult]:
    """Keyed motions as .blend files, and what Blender evaluates from them."""
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        return write_and_inspect(walk, blender_python, tmp_path_factory.mktemp("blend"))


@pytest.fixture(scope="session")
def import_request() -> type[ImportRequest]:
    return ImportRequest


@pytest.fixture(scope="session")
def sample_frames() -> Callable[[int], list[int]]:
    """A few frames of a clip: the first two, the last, and some between."""

    def frames(n_frames: int) -> list[int]:
        expected = {0, 1, n_frames // 3, n_frames // 2, 2 * n_frames // 3, n_frames - 1}
        return sorted(frame for frame in expected if frame < n_frames)

    return frames


@pytest.fixture(scope="session")
def random_motion() -> kp.Motion:
    """A branching figure, Y up, in metres, with random rotations of all joints and a moving root."""
    rng = np.random.default_rng(7)
    names = ("Hips", "Spine", "Head", "LeftArm", "LeftHand", "RightArm", "LeftLeg", "LeftFoot", "RightLeg")
    parents = [-1, 0, 1, 1, 3, 1, 0, 6, 0]
    offsets = np.array(
        [[0, 0.9, 0], [0, 0.3, 0.02], [0, 0.4, 0], [0.2, 0.2, 0], [0.5, 0, 0.1], [-0.2, 0.2, 0],
         [0.1, -0.1, 0], [0, -0.7, 0.05], [-0.1, -0.1, 0]]
    )  # fmt: skip
    frames = 40
    angles = np.cumsum(rng.normal(0, 6, (frames, len(names), 3)), axis=0)
    translations = np.repeat(offsets[None], frames, axis=0)
    translations[:, 0] += np.cumsum(rng.normal(0, 0.02, (frames, 3)), axis=0)
    rotations = from_euler(np.deg2rad(angles), "ZXY")
    skeleton = kp.Skeleton(
        names,
        np.array(parents),
        offsets,
        end_offsets=np.array([[0, 0.2, 0], [0.1, 0, 0]]),
        end_joints=np.array([2, 4]),
    )
    return kp.Motion("wandering", skeleton, 30.0, translations, rotations, up="Y", metres_per_unit=1.0)
