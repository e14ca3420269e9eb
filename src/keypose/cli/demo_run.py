"""The main job, once over, on the motion made in code: what ``keypose demo`` and ``make demo`` show."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from keypose.batch.convert import make_folder
from keypose.batch.unbake import Closeness, closeness
from keypose.demo import demo_motion
from keypose.formats import load, load_keyed, save
from keypose.model import KeyedMotion, Motion, Selection
from keypose.pictures.report import report
from keypose.pictures.strip import strip
from keypose.pictures.timeline import timeline
from keypose.swings import Swings, swings
from keypose.verbs import select, unbake
from keypose.verbs.rebaking import rebake

SUFFIXES = (".bvh", ".glb")
KEYED = "demo_unbaked"
KEYED_SUFFIXES = (".glb", ".keys.json")
CHOSEN = {"farthest": 6, "salient": 12}  # the last are drawn
TOLERANCE_MM = 1.0  # of the stored motion

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
    keys: int  # of the unbaked motion
    closeness: Closeness  # what these keys and the curves between them come to


def run_demo(folder: Path, *, fps: float = 120.0, seed: int = 0) -> DemoReport:
    """Makes the motion, saves it in ``folder``, reads it back, chooses keys, unbakes it, edits it, draws it."""
    motion, seconds = _timed(lambda: demo_motion(fps=fps, seed=seed))
    steps = [Step("made the motion", seconds)]
    make_folder(folder)
    for suffix in SUFFIXES:
        steps += _there_and_back(motion, motion, folder / f"demo{suffix}")
    steps += _there_and_back(motion, motion, folder / "demo.kps", tolerance_mm=TOLERANCE_MM)
    for method, keys in CHOSEN.items():
        selection, seconds = _timed(lambda method=method, keys=keys: select(motion, method, keys=keys))  # type: ignore[misc]
        steps.append(Step(f"chose {keys} keys by {method}", seconds, keys=tuple(selection)))
    keyed, seconds = _timed(lambda: unbake(motion, auto=True))
    steps.append(Step(f"unbaked {motion.n_frames} frames into {keyed.n_keys} keys", seconds))
    for suffix in KEYED_SUFFIXES:
        steps += _there_and_back(keyed, keyed.sample(), folder / f"{KEYED}{suffix}")
    found, seconds = _timed(lambda: swings(motion))
    steps.append(Step(f"found {found.n_swings} swings", seconds))
    steps += _stronger(motion, found, folder / "demo_stronger.glb")
    steps.append(_rebaked(motion, *(folder / f"{KEYED}{suffix}" for suffix in KEYED_SUFFIXES)))
    steps += _pictures(motion, selection, keyed, found, folder)
    return DemoReport(
        joints=motion.n_joints,
        frames=motion.n_frames,
        fps=motion.fps,
        duration_s=motion.duration_s,
        steps=tuple(steps),
        keys=keyed.n_keys,
        closeness=closeness(motion, keyed),
    )


def _there_and_back(
    what: Motion | KeyedMotion, poses: Motion, path: Path, *, tolerance_mm: float | None = None
) -> list[Step]:
    """Writes a file and reads it again, which must give ``poses``, within the tolerance if there is one."""
    _, writing = _timed(lambda: save(what, path, tolerance_mm=tolerance_mm))
    again, reading = _timed(lambda: load(path))
    kept = "" if tolerance_mm is None else f" within {tolerance_mm:g} mm"
    return [
        Step(f"wrote {path}{kept}", writing, str(path), bytes=path.stat().st_size),
        Step(f"read {path}", reading, str(path), error_mm=_largest_distance_mm(poses, again)),
    ]


def _stronger(motion: Motion, found: Swings, path: Path) -> list[Step]:
    """The motion written with more forceful kicks."""
    edit = found.edit(motion)
    _, editing = _timed(lambda: edit.intensify("right_leg", 1.3))
    played, playing = _timed(edit.play)
    return [
        Step("made the right leg's swings 1.3 times as wide, standing feet held", editing + playing),
        *_there_and_back(played, played, path),
    ]


def _pictures(motion: Motion, chosen: Selection, keyed: KeyedMotion, found: Swings, folder: Path) -> list[Step]:
    """The chosen poses side by side and along the way, the swings in time, and the page that has all."""
    drawn: dict[str, Callable[[Path], object]] = {
        "demo_strip.svg": lambda path: strip(motion, chosen, path),
        "demo_strip.png": lambda path: strip(motion, chosen, path),
        "demo_path.svg": lambda path: strip(motion, chosen, path, layout="path"),
        "demo_swings.svg": lambda path: timeline(found, path, keys=keyed),
        "demo_report.html": lambda path: report(motion, path),
    }
    steps = []
    for name, draw in drawn.items():
        path = folder / name
        _, seconds = _timed(lambda draw=draw, path=path: draw(path))  # type: ignore[misc]
        steps.append(Step(f"drew {path}", seconds, str(path), bytes=path.stat().st_size))
    return steps


def _rebaked(motion: Motion, edited: Path, original: Path) -> Step:
    """What an artist's file becomes with all the detail back: before any edit, the motion again."""
    again, seconds = _timed(lambda: rebake(load_keyed(edited), load_keyed(original), 1.0))
    return Step(f"put the detail back on {edited}", seconds, error_mm=_largest_distance_mm(motion, again))


def _timed(action: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return action(), time.perf_counter() - start


def _largest_distance_mm(motion: Motion, again: Motion) -> float:
    """Over all joints and frames; joints are matched by name and files may differ in unit."""
    joints = [again.skeleton.names.index(name) for name in motion.skeleton.names]
    scale = (again.metres_per_unit or 1.0) / (motion.metres_per_unit or 1.0) if again.metres_per_unit else 1.0
    difference = again.world_positions()[:, joints] * scale - motion.world_positions()
    return float(np.linalg.norm(difference, axis=-1).max() * motion.mm_per_unit)
