"""three.js as a judge: what its loader and its mixer make of a file."""

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
class Shown:
    """Where three.js shows the nodes of a file."""

    names: tuple[str, ...]
    positions: np.ndarray  # (times, nodes, 3) in metres, Y up
    duration_s: float

    def of(self, names: tuple[str, ...]) -> np.ndarray:
        """The positions (times, len(names), 3) of the nodes with these names."""
        return self.positions[:, [self.names.index(name) for name in names]]


def _absent(why: str) -> None:
    """A skip in sight; a failure under CI, which has everything."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(why)


@pytest.fixture(scope="session")
def three_folder() -> Path:
    """The folder of three.js, installed on first use."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _absent(f"three.js needs {program}, which is not installed")
    run = subprocess.run([_INSTALL], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        _absent(f"three.js could not be installed: {run.stderr.strip()[-300:]}")
    return Path(run.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def shown(three_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Shown]:
    """A function that asks three.js where the nodes of a file are at times in seconds."""

    def ask(path: Path, times_s: np.ndarray) -> Shown:
        times = tmp_path_factory.mktemp("three") / "times.json"
        times.write_text(json.dumps(np.asarray(times_s, float).tolist()))
        run = subprocess.run(
            ["node", _HERE / "positions.mjs", three_folder, path, times], capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, run.stderr[-2000:]
        answer = json.loads(run.stdout)
        return Shown(tuple(answer["names"]), np.array(answer["positions"]), answer["duration"])

    return ask
