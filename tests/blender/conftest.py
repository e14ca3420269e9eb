"""Real Blender as the judge of poses: one child process imports all files of a test and says where the joints are."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from blend_files import Shown, write_and_judge

import keypose as kp
from keypose.rotations import from_euler

_HERE = Path(__file__).resolve().parent
_INSTALL = _HERE.parents[1] / "tools" / "blender.sh"
_INSTALL_LIMIT_S = 1800
_JUDGE_LIMIT_S = 300


@dataclass(frozen=True)
class Judged:
    """Where Blender puts the joints of one file, or why it would not import it."""

    names: tuple[str, ...]
    positions: np.ndarray  # (frames asked for, J, 3) in the file's axes and units
    lengths: np.ndarray  # (J,) of the bones as Blender draws them; NaN for what is no bone
    error: str | None = None

    def of(self, names: tuple[str, ...]) -> np.ndarray:
        """The positions (frames, len(names), 3) of the joints with these names."""
        return self.positions[:, self._numbers(names)]

    def lengths_of(self, names: tuple[str, ...]) -> np.ndarray:
        """The lengths (len(names),) of the bones with these names."""
        return self.lengths[self._numbers(names)]

    def _numbers(self, names: tuple[str, ...]) -> list[int]:
        missing = [name for name in names if name not in self.names]
        assert not missing, f"Blender has no joint {missing}, only {self.names}"
        return [self.names.index(name) for name in names]


@dataclass(frozen=True)
class Asked:
    """A file to import, the frames to look at, the rate of its motion, and where to export it as FBX, if anywhere."""

    path: Path
    frames: list[int]
    fps: float
    fbx: Path | None = None


Judge = Callable[..., list[Judged]]


@pytest.fixture(scope="session")
def blender_python() -> str:
    """The interpreter with Blender's module; installed on first use. Absent: a skip in sight, a failure under CI."""
    if given := os.environ.get("KEYPOSE_BLENDER_PYTHON"):
        return given
    try:
        run = subprocess.run([_INSTALL], capture_output=True, text=True, timeout=_INSTALL_LIMIT_S)
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
def judge(blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """A function that asks one Blender process about many files."""

    def ask(*files: Asked) -> list[Judged]:
        folder = tmp_path_factory.mktemp("judge")
        request, result = folder / "request.json", folder / "result.npz"
        entries = [
            {k: str(v) if isinstance(v, Path) else v for k, v in vars(f).items() if v is not None} for f in files
        ]
        request.write_text(json.dumps(entries))
        run = subprocess.run(
            [blender_python, "-P", _HERE / "judge.py", request, result],
            capture_output=True,
            text=True,
            timeout=_JUDGE_LIMIT_S,
        )
        assert run.returncode == 0, f"Blender ended with {run.returncode}: {run.stderr[-2000:]}"
        with np.load(result, allow_pickle=False) as arrays:
            return [
                Judged((), np.zeros((0, 0, 3)), np.zeros(0), str(arrays[f"{k}_error"]))
                if f"{k}_error" in arrays
                else Judged(tuple(arrays[f"{k}_names"].tolist()), arrays[f"{k}_positions"], arrays[f"{k}_lengths"])
                for k in range(len(files))
            ]

    return ask


@pytest.fixture(scope="session")
def shown(blender_python: str, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Keyed motions as .blend files, and what Blender shows of them."""
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        return write_and_judge(walk, blender_python, tmp_path_factory.mktemp("blend"))


@pytest.fixture(scope="session")
def asked() -> type[Asked]:
    return Asked


@pytest.fixture(scope="session")
def spread() -> Callable[[int], list[int]]:
    """A few frames of a clip: the first two, the last, and some between."""

    def frames(n_frames: int) -> list[int]:
        wanted = {0, 1, n_frames // 3, n_frames // 2, 2 * n_frames // 3, n_frames - 1}
        return sorted(frame for frame in wanted if frame < n_frames)

    return frames


@pytest.fixture(scope="session")
def wandering() -> kp.Motion:
    """A branching figure, Y up, in metres, whose joints all turn at random and whose root wanders."""
    rng = np.random.default_rng(7)
    names = ("Hips", "Spine", "Head", "LeftArm", "LeftHand", "RightArm", "LeftLeg", "LeftFoot", "RightLeg")
    parents = [-1, 0, 1, 1, 3, 1, 0, 6, 0]
    offsets = np.array(
        [[0, 0.9, 0], [0, 0.3, 0.02], [0, 0.4, 0], [0.2, 0.2, 0], [0.5, 0, 0.1], [-0.2, 0.2, 0],
         [0.1, -0.1, 0], [0, -0.7, 0.05], [-0.1, -0.1, 0]]
    )  # fmt: skip
    frames = 40
    turns = np.cumsum(rng.normal(0, 6, (frames, len(names), 3)), axis=0)
    translations = np.repeat(offsets[None], frames, axis=0)
    translations[:, 0] += np.cumsum(rng.normal(0, 0.02, (frames, 3)), axis=0)
    rotations = from_euler(np.deg2rad(turns), "ZXY")
    skeleton = kp.Skeleton(
        names,
        np.array(parents),
        offsets,
        end_offsets=np.array([[0, 0.2, 0], [0.1, 0, 0]]),
        end_joints=np.array([2, 4]),
    )
    return kp.Motion("wandering", skeleton, 30.0, translations, rotations, up="Y", metres_per_unit=1.0)
