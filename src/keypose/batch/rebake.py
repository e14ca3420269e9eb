"""The captured detail back on one edited file: the work that ``keypose rebake`` maps over its edits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from keypose.batch.convert import make_folder
from keypose.batch.describe import format_name
from keypose.batch.likeness import likeness
from keypose.batch.reading import Reading
from keypose.batch.rebake_plan import Sources, same_name
from keypose.errors import FileError, FormatError, OptionError
from keypose.formats import FORMATS, load_keyed, save
from keypose.formats.base import warn_caller
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion
from keypose.verbs.rebaking import rebake
from keypose.verbs.retiming import Timing, clock_of

UsedTiming = Literal["keys", "frames", "own"]
SAME_TURN_RAD = 1e-6
LEAST_ALIKE = 0.25  # of the keys: an edit leaves most of them as they were


@dataclass(frozen=True)
class Rebaking:
    """The edited file, what it was made from, how much detail to put back, and where to write it."""

    source: Path
    target: Path
    original: Sources
    residual: float
    timing: Timing = "auto"
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True)
class Rebaked:
    """What was written."""

    original: str  # the file whose detail it is; the edit itself where that brings its own
    timing: UsedTiming  # what the detail went by: "keys" where some were moved; "own": as the edit itself has moved it
    frames: int
    fps: float
    keys: int | None  # of the edit; None where it was read frame by frame
    original_keys: int | None  # None where the edit brings its own detail
    mean_mm: float | None  # how far the detail moves joints, on a figure of 1.7 m; None for one without height
    max_mm: float | None
    bytes: int
    notes: tuple[str, ...]


def rebake_clip(job: Rebaking) -> Rebaked:
    """Reads both files, puts the detail back, and writes the result; the folder that it needs is made."""
    keyed, problem = _keys_of_edit(job)
    original, path = _original(job, keyed)
    is_own = original is keyed
    if keyed is not None and not is_own and not _same_detail(keyed, original):
        keyed = replace(keyed, residual=None)  # which was told is meant, not which the edit brings along
    edited = keyed or _frames_of_edit(job, original, problem)
    _doubt(job, edited, original, path)
    if is_own and job.timing == "frames":
        original = _as_captured(original)
    result = rebake(edited, original, job.residual, timing=job.timing)
    make_folder(job.target.parent)
    save(result, job.target)
    dense = edited if isinstance(edited, Motion) else edited.sample()
    moved = position_errors_mm(dense, result) if dense.height > 0 else None
    return Rebaked(
        original=str(path),
        timing=used_timing(edited, original, job.timing),
        frames=result.n_frames,
        fps=result.fps,
        keys=None if keyed is None else keyed.n_keys,
        original_keys=None if is_own else original.n_keys,
        mean_mm=None if moved is None else float(moved.mean()),
        max_mm=None if moved is None else float(moved.max()),
        bytes=job.target.stat().st_size,
        notes=result.notes,
    )


def used_timing(edited: KeyedMotion | Motion, original: KeyedMotion, asked: Timing) -> UsedTiming:
    """What the detail of ``original`` goes by in a rebake of ``edited``."""
    if asked != "auto":
        return asked
    if not isinstance(edited, KeyedMotion):
        return "frames"
    if edited.residual is not None:
        return "frames" if edited.residual.frames is None else "own"
    assert original.residual is not None
    return "keys" if clock_of(edited, original, original.residual, "auto").moved_keys else "frames"


def _keys_of_edit(job: Rebaking) -> tuple[KeyedMotion | None, str]:
    """The edit with its keys, where its format has such; else None, and why, where that is worth a note."""
    reading = job.reading
    keyed = {format_.name for format_ in FORMATS if format_.read_keyed is not None}
    if not job.source.exists() or format_name(job.source) not in keyed:
        return None, ""
    try:
        return load_keyed(job.source, animation=reading.animation, fps=reading.fps, limits=reading.limits), ""
    except FormatError as error:  # keys of an animation program may stand anywhere
        if job.timing == "keys":
            raise
        return None, error.problem.split(";")[0]


def _frames_of_edit(job: Rebaking, original: KeyedMotion, problem: str) -> Motion:
    if not problem:
        return job.reading.load(job.source)
    motion = replace(job.reading, fps=job.reading.fps or original.fps).load(job.source)
    return replace(motion, notes=(*motion.notes, f"read frame by frame: {problem}"))


def _original(job: Rebaking, edited: KeyedMotion | None) -> tuple[KeyedMotion, Path]:
    """What the edit was made from: as told, else the edit itself where it brings its detail, else the keys beside."""
    path = job.original.told
    if path is None and edited is not None and edited.residual is not None:
        return edited, job.source
    if path is not None and job.original.looked is not None and not path.is_file():
        raise FileError(f"{path}: no such file, expected the keys that {job.source.name} was made from")
    path = path or job.original.beside
    if path is None:
        looked = f", and there is no {job.original.looked}" if job.original.looked else ""
        raise OptionError(f"{job.source}: brings no detail of its own{looked}; what was it made from? "
                          "Expected --from NAME.keys.json, which unbake wrote")  # fmt: skip
    return load_keyed(path, limits=job.reading.limits), path


def _same_detail(one: KeyedMotion, other: KeyedMotion) -> bool:
    """Whether both keep the same detail, at whatever frames."""
    ours, theirs = one.residual, other.residual
    return (
        ours is not None
        and theirs is not None
        and ours.turns.shape == theirs.turns.shape
        and np.allclose(ours.turns, theirs.turns, rtol=0.0, atol=SAME_TURN_RAD)
    )


def _as_captured(original: KeyedMotion) -> KeyedMotion:
    """With the detail of each frame in its place, wherever keys were moved since."""
    assert original.residual is not None
    return replace(original, residual=replace(original.residual, frames=None, sources=None))


def _doubt(job: Rebaking, edited: KeyedMotion | Motion, original: KeyedMotion, path: Path) -> None:
    """A warning where the edit has another name than the original and hardly one of its poses."""
    if original is edited or same_name(job.source, path):
        return
    found = likeness(edited, original)
    if found is not None and found.alike < LEAST_ALIKE * found.keys:
        warn_caller(f"{job.source}: was it made from {path}? Of {found.keys} key poses there, {found.alike} are "
                    f"still the same here; --from names the .keys.json of the edit")  # fmt: skip
