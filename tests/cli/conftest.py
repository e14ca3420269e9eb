"""Fixtures: small motion files, and the command line run in this process or in a new one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import run

BVH = """HIERARCHY
ROOT {root}
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT {joint}
  {{
    OFFSET 0 12 0.5
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {{
      OFFSET 0 9 1
    }}
  }}
}}
MOTION
Frames: {stated}
Frame Time: 0.025
{rows}
"""


@dataclass(frozen=True)
class CommandResult:
    """The result of one command line."""

    code: int
    out: str
    err: str


Keypose = Callable[..., CommandResult]
MakeClip = Callable[..., Path]


@pytest.fixture
def keypose(capfd: pytest.CaptureFixture[str]) -> Keypose:
    """Run a command line in this process."""

    def call(*arguments: object) -> CommandResult:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        return CommandResult(code, *capfd.readouterr())

    return call


@pytest.fixture
def program() -> Keypose:
    """Run a command line in a new process."""

    def call(*arguments: object, **options: object) -> CommandResult:
        command = [sys.executable, "-m", "keypose", *map(str, arguments)]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)  # type: ignore[call-overload]
        return CommandResult(completed.returncode, completed.stdout, completed.stderr)

    return call


@pytest.fixture
def clip(tmp_path: Path) -> MakeClip:
    """Write a small BVH file below ``tmp_path``."""

    def make(
        name: str = "walk.bvh", *, frames: int = 8, stated: int | None = None, root: str = "Hips", joint: str = "Chest"
    ) -> Path:
        rows = "\n".join(f"{i} 20 0 {i} 2 3 4 {i} 6" for i in range(frames))
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BVH.format(root=root, joint=joint, stated=frames if stated is None else stated, rows=rows))
        return path

    return make


@pytest.fixture(scope="session")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo motion as a file."""
    path = tmp_path_factory.mktemp("keys") / "walk.bvh"
    kp.save(kp.demo_motion(fps=20.0), path)
    return path


@pytest.fixture(scope="session")
def motion(walk: Path) -> kp.Motion:
    """The motion of that file."""
    return kp.load(walk)


@pytest.fixture(scope="session")
def kick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the demo motion in which the figure jumps and kicks."""
    path = tmp_path_factory.mktemp("swings") / "kick.bvh"
    kp.save(kp.demo_motion(fps=30.0)[200:360], path)
    return path


@pytest.fixture(scope="session")
def capture(kick: Path) -> kp.Motion:
    return kp.load(kick)


@pytest.fixture(scope="session")
def kick_swings(capture: kp.Motion) -> kp.Swings:
    return kp.swings(capture)
