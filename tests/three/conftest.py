"""Evaluate files with the loader and mixer of three.js."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

_HERE = Path(__file__).resolve().parent
_INSTALL = _HERE.parents[1] / "tools" / "three.sh"


@dataclass(frozen=True)
class ThreePositions:
    """The positions of a file's nodes in three.js."""

    names: tuple[str, ...]
    positions: np.ndarray  # (times, nodes, 3) in metres, Y up
    duration_s: float

    def positions_of(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the positions (times, len(names), 3) of the nodes with these names."""
        return self.positions[:, [self.names.index(name) for name in names]]


def _skip_or_fail(reason: str) -> None:
    """Skip the test; fail under CI, where everything is installed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def three_folder() -> Path:
    """The folder of three.js, installed on first use."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _skip_or_fail(f"three.js needs {program}, which is not installed")
    run = subprocess.run([_INSTALL], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        _skip_or_fail(f"three.js could not be installed: {run.stderr.strip()[-300:]}")
    return Path(run.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def evaluate_in_three(three_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ThreePositions]:
    """A function that returns the node positions of a file in three.js at times in seconds."""

    def run(path: Path, times_s: np.ndarray) -> ThreePositions:
        times = tmp_path_factory.mktemp("three") / "times.json"
        times.write_text(json.dumps(np.asarray(times_s, float).tolist()))
        run = subprocess.run(
            ["node", _HERE / "positions.mjs", three_folder, path, times], capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, run.stderr[-2000:]
        answer = json.loads(run.stdout)
        return ThreePositions(tuple(answer["names"]), np.array(answer["positions"]), answer["duration"])

    return run
