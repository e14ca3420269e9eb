"""``keypose demo``: run the main workflow on a generated motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from cyclopts import Parameter

from keypose.api.rebake import rebake
from keypose.api.select import select
from keypose.api.unbake import unbake
from keypose.batch.plan import make_folder
from keypose.cli import clip_view, output
from keypose.cli.options import Flags, Json, with_flags
from keypose.cli.output import missing_argument_error
from keypose.cli.unbake import score_rows
from keypose.demo import demo_motion
from keypose.errors import format_count
from keypose.formats import FORMATS, load, load_keyed, save
from keypose.formats.base import Extra
from keypose.metrics import Score, score
from keypose.model import KeyedMotion, Motion, Selection
from keypose.options.compare import DemoOptions
from keypose.pictures.report import report
from keypose.pictures.strip import strip
from keypose.pictures.timeline import timeline
from keypose.swings import Swings, swings

SUFFIXES = (".bvh", ".glb")
KEYED = "demo_unbaked"
KEYED_SUFFIXES = (".glb", ".keys.json")
KEYS_BY_METHOD = {"farthest": 6, "salient": 12}  # the last selection is drawn
TOLERANCE_MM = 1.0  # of the .kps file
# What extras add beside formats.
EXTRAS = {
    Extra("library", "sqlalchemy"): "a library of clips with search by example",
    Extra("serve", "fastapi"): "the web app",
}
Result = TypeVar("Result")


@with_flags()
class DemoFlags(Flags, DemoOptions):
    """The generated motion."""


DEFAULT_MOTION = DemoFlags()


def demo(
    out: Annotated[str, Parameter(show_default=True, help="The output folder.")] = "out",
    /,
    *,
    motion: DemoFlags = DEFAULT_MOTION,
    json: Json = False,
) -> int:
    """Run the main workflow on a generated motion, each step timed.

    Generates the motion, saves it, reads it back and chooses its keys; unbakes it
    into a few keys with curves, saves these, finds its swings and edits some,
    rebakes the captured detail, and writes pictures and a report.

    For example:
      keypose demo
      keypose demo somewhere/ --fps 60
    """
    if not out:
        raise missing_argument_error("an empty name", "a folder", ". is the current one")
    report = run_demo(Path(out), **motion.options())
    if json:
        output.print_json({**asdict(report), "score": clip_view.score_document(report.score)})
        return 0
    output.print_line(
        f"a figure of {format_count(report.n_joints, 'joint')}: "
        f"{format_count(report.n_frames, 'frame')} at {report.fps:g} fps, "
        f"{output.format_duration(report.duration_s)}"
    )
    for step in report.steps:
        size = f", {output.format_bytes(step.bytes)}" if step.bytes is not None else ""
        pose_error = f", poses within {step.error_mm:.2g} mm" if step.error_mm is not None else ""
        keys = f": frames {' '.join(map(str, step.keys))}" if step.keys is not None else ""
        output.print_line(f"{step.seconds * 1000:7.1f} ms  {step.description}{size}{pose_error}{keys}")
    removed_percent = 100 * (1 - report.n_keys / report.n_frames)
    output.print_line(
        f"{format_count(report.n_keys, 'key')} in place of {format_count(report.n_frames, 'frame')}, "
        f"{removed_percent:.1f} % removed; "
        "curves between them:"
    )
    rows = score_rows(report.score)
    label_width = max(len(label) for label, _ in rows)
    for label, text in rows:
        output.print_line(f"  {label:{label_width}}  {text}")
    for line in missing_extras():
        output.print_line(line)
    folder = Path(out)
    output.print_line(
        f"next: open {folder / 'demo_report.html'} in a browser, {folder / 'demo_unbaked.glb'} in any glTF viewer, "
        f"and try: keypose unbake {folder / 'demo.bvh'} {folder / 'mine.glb'} --keys 40"
    )
    return 0


def missing_extras() -> list[str]:
    """Return a line for each extra that is not installed: what it adds, and how to install it."""
    suffixes: dict[Extra, list[str]] = {}
    for format_ in FORMATS:
        if format_.extra is not None:
            suffixes.setdefault(format_.extra, []).extend(format_.suffixes)
    extras = EXTRAS | {extra: f"{' '.join(names)} files" for extra, names in suffixes.items()}
    return [f"for {purpose}: {extra.install_hint}" for extra, purpose in extras.items() if extra.find_python() is None]


@dataclass(frozen=True)
class Step:
    """One timed step."""

    description: str
    seconds: float
    path: str | None = None
    bytes: int | None = None  # size of the written file
    error_mm: float | None = None  # largest distance of a joint after reading back, on a figure of 1.7 m
    keys: tuple[int, ...] | None = None  # selected frames


@dataclass(frozen=True)
class DemoReport:
    """The results of the demo."""

    n_joints: int
    n_frames: int
    fps: float
    duration_s: float
    steps: tuple[Step, ...]
    n_keys: int  # of the unbaked motion
    score: Score  # of the unbaked motion against the original


def run_demo(folder: Path, *, fps: float = 120.0, seed: int = 0) -> DemoReport:
    """Generate the motion, save it in ``folder``, read it back, select keys, unbake, edit and draw it."""
    motion, seconds = _time(lambda: demo_motion(fps=fps, seed=seed))
    steps = [Step("made the motion", seconds)]
    make_folder(folder)
    for suffix in SUFFIXES:
        steps += _save_and_reload(motion, motion, folder / f"demo{suffix}")
    steps += _save_and_reload(motion, motion, folder / "demo.kps", tolerance_mm=TOLERANCE_MM)
    for method, keys in KEYS_BY_METHOD.items():
        selection, seconds = _time(lambda method=method, keys=keys: select(motion, method, keys=keys))  # type: ignore[misc]
        steps.append(Step(f"chose {format_count(keys, 'key')} by {method}", seconds, keys=tuple(selection)))
    keyed, seconds = _time(lambda: unbake(motion, auto=True))
    steps.append(
        Step(f"unbaked {format_count(motion.n_frames, 'frame')} into {format_count(keyed.n_keys, 'key')}", seconds)
    )
    for suffix in KEYED_SUFFIXES:
        steps += _save_and_reload(keyed, keyed.sample(), folder / f"{KEYED}{suffix}")
    swings_of_motion, seconds = _time(lambda: swings(motion))
    steps.append(Step(f"found {format_count(swings_of_motion.n_swings, 'swing')}", seconds))
    steps += _intensify(motion, swings_of_motion, folder / "demo_stronger.glb")
    steps.append(_rebake(motion, *(folder / f"{KEYED}{suffix}" for suffix in KEYED_SUFFIXES)))
    steps += _draw_pictures(motion, selection, keyed, swings_of_motion, folder)
    return DemoReport(
        n_joints=motion.n_joints,
        n_frames=motion.n_frames,
        fps=motion.fps,
        duration_s=motion.duration_s,
        steps=tuple(steps),
        n_keys=keyed.n_keys,
        score=score(motion, keyed).without_arrays(),
    )


def _save_and_reload(
    motion: Motion | KeyedMotion, expected: Motion, path: Path, *, tolerance_mm: float | None = None
) -> list[Step]:
    """Write a file and read it back; measure the error against ``expected``."""
    _, save_s = _time(lambda: save(motion, path, tolerance_mm=tolerance_mm))
    reloaded, load_s = _time(lambda: load(path))
    within = "" if tolerance_mm is None else f" within {tolerance_mm:g} mm"
    return [
        Step(f"wrote {path}{within}", save_s, str(path), bytes=path.stat().st_size),
        Step(f"read {path}", load_s, str(path), error_mm=_max_distance_mm(expected, reloaded)),
    ]


def _intensify(motion: Motion, swings_of_motion: Swings, path: Path) -> list[Step]:
    """Write the motion with larger swings of the right leg."""
    edit = swings_of_motion.edit(motion)
    _, edit_s = _time(lambda: edit.intensify("right_leg", 1.3))
    played, play_s = _time(edit.play)
    return [
        Step("made the right leg's swings 1.3 times as wide, standing feet held", edit_s + play_s),
        *_save_and_reload(played, played, path),
    ]


def _draw_pictures(
    motion: Motion, selection: Selection, keyed: KeyedMotion, swings_of_motion: Swings, folder: Path
) -> list[Step]:
    """Draw strips of the selected poses, a timeline of the swings, and a report."""
    drawings: dict[str, Callable[[Path], object]] = {
        "demo_strip.svg": lambda path: strip(motion, selection, path),
        "demo_strip.png": lambda path: strip(motion, selection, path),
        "demo_path.svg": lambda path: strip(motion, selection, path, layout="path"),
        "demo_swings.svg": lambda path: timeline(swings_of_motion, path, keys=keyed),
        "demo_report.html": lambda path: report(motion, path),
    }
    steps = []
    for name, draw in drawings.items():
        path = folder / name
        _, seconds = _time(lambda draw=draw, path=path: draw(path))  # type: ignore[misc]
        steps.append(Step(f"drew {path}", seconds, str(path), bytes=path.stat().st_size))
    return steps


def _rebake(motion: Motion, edited: Path, original: Path) -> Step:
    """Put all captured detail back on an unedited file, which must give the original motion."""
    rebaked, seconds = _time(lambda: rebake(load_keyed(edited), load_keyed(original), 1.0))
    return Step(f"added the detail back to {edited}", seconds, error_mm=_max_distance_mm(motion, rebaked))


def _time(action: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return action(), time.perf_counter() - start


def _max_distance_mm(motion: Motion, other: Motion) -> float:
    """Return the largest distance over all joints and frames; joints are matched by name, units are converted."""
    joints = [other.skeleton.names.index(name) for name in motion.skeleton.names]
    scale = (other.metres_per_unit or 1.0) / (motion.metres_per_unit or 1.0) if other.metres_per_unit else 1.0
    difference = other.world_positions()[:, joints] * scale - motion.world_positions()
    return float(np.linalg.norm(difference, axis=-1).max() * motion.mm_per_unit)
