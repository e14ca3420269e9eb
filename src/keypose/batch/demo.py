"""The main job, once over, on the motion made in code: what ``keypose demo`` and ``make demo`` show."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from keypose.demo import demo_motion
from keypose.errors import FileError
from keypose.formats import load, save
from keypose.model import Motion
from keypose.verbs import select

SUFFIXES = (".bvh", ".glb")
CHOSEN = {"salient": 12, "farthest": 6}

Result = TypeVar("Result")


@dataclass(frozen=True)
class Step:
    """One thing that was done."""

    what: str
    seconds: float
    path: str | None = None
    bytes: int | None = None  # of a file that was written
    error_mm: float | None = None  # of poses read back: the largest distance of a joint, on a figure of 1.7 m
    keys: tuple[int, ...] | None = None  # frames that were chosen


@dataclass(frozen=True)
class DemoReport:
    """What the demo made."""

    joints: int
    frames: int
    fps: float
    duration_s: float
    steps: tuple[Step, ...]


def run_demo(folder: Path, *, fps: float = 120.0, seed: int = 0) -> DemoReport:
    """Makes the motion, saves it in ``folder`` as each of ``SUFFIXES``, reads every file back, and chooses keys."""
    motion, seconds = _timed(lambda: demo_motion(fps=fps, seed=seed))
    steps = [Step("made the motion", seconds)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror})") from None
    for suffix in SUFFIXES:
        path = folder / f"demo{suffix}"
        _, seconds = _timed(lambda path=path: save(motion, path))  # type: ignore[misc]
        steps.append(Step(f"wrote {path}", seconds, str(path), bytes=path.stat().st_size))
        again, seconds = _timed(lambda path=path: load(path))  # type: ignore[misc]
        steps.append(Step(f"read {path}", seconds, str(path), error_mm=_largest_distance_mm(motion, again)))
    for method, keys in CHOSEN.items():
        selection, seconds = _timed(lambda method=method, keys=keys: select(motion, method, keys=keys))  # type: ignore[misc]
        steps.append(Step(f"chose {keys} keys by {method}", seconds, keys=tuple(selection)))
    return DemoReport(motion.n_joints, motion.n_frames, motion.fps, motion.duration_s, tuple(steps))


def _timed(action: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return action(), time.perf_counter() - start


def _largest_distance_mm(motion: Motion, again: Motion) -> float:
    """Over all joints and frames; joints are matched by name and files may differ in unit."""
    joints = [again.skeleton.names.index(name) for name in motion.skeleton.names]
    scale = (again.metres_per_unit or 1.0) / (motion.metres_per_unit or 1.0) if again.metres_per_unit else 1.0
    difference = again.world_positions()[:, joints] * scale - motion.world_positions()
    return float(np.linalg.norm(difference, axis=-1).max() * motion.mm_per_unit)
