"""One dense clip into keys and curves: the work that ``keypose unbake`` maps over its clips."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keypose.batch.convert import make_folder, resampled
from keypose.batch.inputs import KEYS_SUFFIXES
from keypose.batch.keeping import ROUNDING_MM, format_of, keeps_keys
from keypose.batch.reading import Reading, frames_meant
from keypose.errors import OptionError
from keypose.formats import load_keyed, save
from keypose.methods import METHODS
from keypose.metrics import score
from keypose.model import KeyedMotion, Motion
from keypose.rotations import angle_between
from keypose.verbs import select, unbake

BEST = "salient"  # the method whose keys ``unbake`` chooses itself, by the error of the very curves that it fits


@dataclass(frozen=True)
class Unbaking:
    """What to read, which keys to choose, how to fit, and where to write it."""

    source: Path
    target: Path
    keys_file: Path | None = None  # the lossless file beside the target
    reading: Reading = field(default_factory=Reading)
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice, at the clip's own rate
    fps: float | None = None  # of the result
    method: str = BEST
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    choosing: Mapping[str, Any] = field(default_factory=dict)  # options of ``select``; frames are those of the file
    fitting: Mapping[str, Any] = field(default_factory=dict)  # options of ``unbake``

    def __post_init__(self) -> None:
        if self.tolerance_mm is not None and self.method != BEST:
            raise OptionError(
                f"tolerance_mm={self.tolerance_mm:g}, but {self.method} does not choose keys by the error of curves; "
                f"expected keys=... with it, or the method {BEST}"
            )
        format_ = format_of(self.target)
        rounding = ROUNDING_MM.get(format_.name, 0.0)
        if self.tolerance_mm is not None and self.tolerance_mm <= rounding:
            raise OptionError(
                f"tolerance_mm={self.tolerance_mm:g}, but {format_.name} rounds its numbers: expected more than "
                f"{rounding:g}, or a .keys.json file, which rounds nothing"
            )


@dataclass(frozen=True)
class Closeness:
    """How close keys and curves alone come to the capture, on a figure of 1.7 m."""

    mean_mm: float
    p95_mm: float
    max_mm: float
    worst_frame: int  # where the largest error is,
    worst_joint: str  # and of which joint
    mean_deg: float
    max_deg: float
    worst_turn_frame: int  # where a turn is farthest off,
    worst_turn_joint: str  # and of which joint
    foot_slide_mm: float | None  # None where no foot ever stands
    original_foot_slide_mm: float | None
    key_acceleration: float | None  # at inner keys, against the capture's; None without
    stored_values: int


@dataclass(frozen=True)
class Unbaked:
    """What was written."""

    name: str
    frames: int
    fps: float
    keys: tuple[int, ...]  # frames of the result
    extremes: tuple[int, ...]  # those of them that are; the others are breakdowns
    closeness: Closeness | None  # None for a figure without height
    has_residual: bool
    keeps_keys: bool  # whether the format of the target holds keys and curves, else every frame
    bytes: int
    keys_file_bytes: int | None
    notes: tuple[str, ...]


def unbake_clip(job: Unbaking) -> Unbaked:
    """Reads, cuts, resamples, unbakes and writes one clip; the folders that its target needs are made."""
    motion = capture(job.source, job.reading)
    start, stop = frames_meant(job.frames, motion.n_frames)
    part = motion[start:stop]
    if job.fps is not None and job.fps != part.fps:
        part = resampled(part, job.fps, job.source, job.reading.limits)
    keyed = _unbaked(part, job, in_part(job.choosing, start, part.n_frames, part.fps / motion.fps))
    make_folder(job.target.parent)
    _write(keyed, job.target, job.keys_file)
    return Unbaked(
        name=keyed.name,
        frames=keyed.n_frames,
        fps=keyed.fps,
        keys=tuple(keyed.keys.tolist()),
        extremes=tuple(keyed.keys[keyed.extremes].tolist()),
        closeness=closeness(part, keyed) if part.height > 0 else None,
        has_residual=keyed.residual is not None,
        keeps_keys=keeps_keys(format_of(job.target)),
        bytes=job.target.stat().st_size,
        keys_file_bytes=None if job.keys_file is None else job.keys_file.stat().st_size,
        notes=keyed.notes,
    )


def capture(source: Path, reading: Reading) -> Motion:
    """The motion to start from; of keys that an earlier run wrote, with all the detail that they kept."""
    if not source.name.lower().endswith(KEYS_SUFFIXES):
        return reading.load(source)
    keyed = load_keyed(source, limits=reading.limits)
    return keyed.sample(0.0 if keyed.residual is None else 1.0, fps=reading.fps)


def _unbaked(motion: Motion, job: Unbaking, choosing: Mapping[str, Any]) -> KeyedMotion:
    rounding = ROUNDING_MM.get(format_of(job.target).name, 0.0)  # so that the file keeps what was promised
    tolerance_mm = None if job.tolerance_mm is None else job.tolerance_mm - rounding
    return unbaked_by(motion, job.method, job.keys, tolerance_mm, choosing, job.fitting, auto=job.auto)


def unbaked_by(
    motion: Motion,
    method: str,
    keys: int | None,
    tolerance_mm: float | None,
    choosing: Mapping[str, Any],
    fitting: Mapping[str, Any],
    *,
    auto: bool,
) -> KeyedMotion:
    """With the keys that are asked for; where nothing is said, with the method's own number or as many as it takes."""
    nothing_said = keys is None and tolerance_mm is None
    auto = auto or (nothing_said and not METHODS[method].has_own_count)
    if method == BEST:
        return unbake(motion, keys=keys, tolerance_mm=tolerance_mm, auto=auto, **choosing, **fitting)
    return unbake(motion, select(motion, method, keys=keys, auto=auto, **choosing), **fitting)


def in_part(options: Mapping[str, Any], start: int, n_frames: int, rate: float) -> dict[str, Any]:
    """The options with pins and excluded frames, which are frames of the file, as frames of the part and its rate."""
    told = dict(options)
    for name in ("pins", "excluded"):
        if name in told:
            told[name] = tuple(_moved(told[name], start, n_frames, rate, name))
    return told


def _moved(frames: Iterable[int | str], start: int, n_frames: int, rate: float, option: str) -> Iterable[int | str]:
    for frame in frames:
        if isinstance(frame, str):
            yield frame
            continue
        moved = round((frame - start) * rate)
        if not 0 <= moved < n_frames:
            last = start + int((n_frames - 1) / rate)
            raise OptionError(f"{option}: frame {frame}, expected one of {start} to {last}")
        yield moved


def closeness(original: Motion, keyed: KeyedMotion) -> Closeness:
    """The score in figures, and where it is worst."""
    found = score(original, keyed)
    frame, joint = worst_turn(original, keyed.sample())
    return Closeness(
        mean_mm=found.mean_mm,
        p95_mm=found.p95_mm,
        max_mm=found.max_mm,
        worst_frame=found.worst_frame,
        worst_joint=found.worst_joint,
        mean_deg=found.mean_deg,
        max_deg=found.max_deg,
        worst_turn_frame=frame,
        worst_turn_joint=joint,
        foot_slide_mm=found.foot_slide_mm,
        original_foot_slide_mm=found.original_foot_slide_mm,
        key_acceleration=found.key_acceleration,
        stored_values=found.stored_values,
    )


def worst_turn(original: Motion, rebuilt: Motion) -> tuple[int, str]:
    """The frame and the joint whose turn is farthest off."""
    off = angle_between(original.rotations, rebuilt.rotations)
    frame, joint = np.unravel_index(int(off.argmax()), off.shape)
    return int(frame), original.skeleton.names[joint]


def _write(keyed: KeyedMotion, target: Path, keys_file: Path | None) -> None:
    """Writes both files or none: the lossless one waits under a hidden name until the other is there."""
    # Where `save` would put the keys into a file of its own choice beside the target, ours is enough.
    what = keyed.sample() if format_of(target).keys_beside else keyed
    if keys_file is None:
        save(what, target)
        return
    waiting = keys_file.with_name(f".{os.getpid()}-{keys_file.name}")
    try:
        save(keyed, waiting)
        save(what, target)
        waiting.replace(keys_file)
    except BaseException:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)
        raise
