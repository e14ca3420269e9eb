"""Turn one dense clip into keys and curves: the job of ``keypose unbake``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keypose.api.select import select
from keypose.api.unbake import unbake
from keypose.batch.convert import resample
from keypose.batch.file_discovery import KEYS_SUFFIXES, load_clip, resolve_frame_range, stem
from keypose.batch.plan import ExistingPolicy, Plan, make_folder, target_format
from keypose.errors import FileError, OptionError
from keypose.formats import load_keyed, save
from keypose.methods import METHODS
from keypose.metrics import Score, score
from keypose.model import KeyedMotion, Motion, list_notes
from keypose.options import LoadOptions

DEFAULT_METHOD = "salient"  # ``unbake`` selects its keys by the error of the fitted curves


@dataclass(frozen=True)
class UnbakeJob:
    """What to read, which keys to select, how to fit curves, and where to write the result."""

    source: Path
    target: Path
    keys_file: Path | None = None  # lossless, beside the target
    load_options: LoadOptions = field(default_factory=LoadOptions)
    frames: tuple[int | None, int | None] | None = None  # start and stop as in a slice, at the clip's own rate
    fps: float | None = None  # of the result
    method: str = DEFAULT_METHOD
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    select_options: Mapping[str, Any] = field(default_factory=dict)  # of ``select``; frames count as in the file
    curve_options: Mapping[str, Any] = field(default_factory=dict)  # of ``unbake``

    def __post_init__(self) -> None:
        if self.tolerance_mm is not None and self.method != DEFAULT_METHOD:
            raise OptionError(
                f"has no effect: {self.method} does not select keys by the error of curves",
                option="tolerance_mm",
                value=self.tolerance_mm,
                expected=f"a number of keys with it, or the method {DEFAULT_METHOD}",
            )
        format_ = target_format(self.target)
        rounding = format_.rounding_mm
        if self.tolerance_mm is not None and self.tolerance_mm <= rounding:
            raise OptionError(
                f"is too small: {format_.name} rounds its numbers",
                option="tolerance_mm",
                value=self.tolerance_mm,
                expected=f"more than {rounding:g}, or a .keys.json file, which rounds nothing",
            )


@dataclass(frozen=True)
class UnbakeResult:
    """What was written, and how exact it is."""

    name: str
    n_frames: int
    fps: float
    keys: tuple[int, ...]  # frames of the result
    extremes: tuple[int, ...]  # a subset of ``keys``; the others are breakdowns
    score: Score | None  # None for a figure without height
    has_residual: bool
    keeps_keys: bool  # the target format stores keys and curves, not every frame
    bytes: int
    keys_file_bytes: int | None
    notes: tuple[str, ...]


def unbake_clip(job: UnbakeJob) -> UnbakeResult:
    """Load, trim, resample, unbake and save one clip; missing folders of the target are created."""
    motion = load_capture(job.source, job.load_options)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    trimmed = motion[start:stop]
    if job.fps is not None and job.fps != trimmed.fps:
        trimmed = resample(trimmed, job.fps, job.source, job.load_options.limits)
    keyed = _unbake_motion(
        trimmed, job, shift_frame_options(job.select_options, start, trimmed.n_frames, trimmed.fps / motion.fps)
    )
    make_folder(job.target.parent)
    _write(keyed, job.target, job.keys_file)
    return UnbakeResult(
        name=keyed.name,
        n_frames=keyed.n_frames,
        fps=keyed.fps,
        keys=tuple(keyed.keys.tolist()),
        extremes=tuple(keyed.keys[keyed.extremes].tolist()),
        score=score(trimmed, keyed).without_arrays() if trimmed.height > 0 else None,
        has_residual=keyed.residual is not None,
        keeps_keys=target_format(job.target).keeps_keys,
        bytes=job.target.stat().st_size,
        keys_file_bytes=None if job.keys_file is None else job.keys_file.stat().st_size,
        notes=list_notes(keyed),
    )


def load_capture(source: Path, load_options: LoadOptions) -> Motion:
    """Return the motion to unbake; keys of an earlier run are sampled with their full residual."""
    if not source.name.lower().endswith(KEYS_SUFFIXES):
        return load_clip(source, load_options)
    keyed = load_keyed(source, limits=load_options.limits)
    return keyed.sample(0.0 if keyed.residual is None else 1.0, fps=load_options.fps)


def _unbake_motion(motion: Motion, job: UnbakeJob, select_options: Mapping[str, Any]) -> KeyedMotion:
    rounding = target_format(job.target).rounding_mm  # so that the rounded file is within the tolerance
    tolerance_mm = None if job.tolerance_mm is None else job.tolerance_mm - rounding
    return unbake_with_method(
        motion, job.method, job.keys, tolerance_mm, select_options, job.curve_options, auto=job.auto
    )


def unbake_with_method(
    motion: Motion,
    method: str,
    keys: int | None,
    tolerance_mm: float | None,
    select_options: Mapping[str, Any],
    curve_options: Mapping[str, Any],
    *,
    auto: bool,
) -> KeyedMotion:
    """Unbake with the requested keys; by default with the method's own number, or an automatic one."""
    has_default_count = keys is None and tolerance_mm is None
    auto = auto or (has_default_count and not METHODS[method].has_own_count)
    if method == DEFAULT_METHOD:
        return unbake(motion, keys=keys, tolerance_mm=tolerance_mm, auto=auto, **select_options, **curve_options)
    return unbake(motion, select(motion, method, keys=keys, auto=auto, **select_options), **curve_options)


def shift_frame_options(options: Mapping[str, Any], start: int, n_frames: int, rate: float) -> dict[str, Any]:
    """Return the options with pins and excluded frames converted from frames of the file to the trimmed clip."""
    shifted = dict(options)
    for name in ("pins", "excluded"):
        if name in shifted:
            shifted[name] = tuple(_shift_frames(shifted[name], start, n_frames, rate, name))
    return shifted


def _shift_frames(
    frames: Iterable[int | str], start: int, n_frames: int, rate: float, option: str
) -> Iterable[int | str]:
    for frame in frames:
        if isinstance(frame, str):
            yield frame
            continue
        shifted = round((frame - start) * rate)
        if not 0 <= shifted < n_frames:
            last = start + int((n_frames - 1) / rate)
            raise OptionError(f"frame {frame}", option=option, expected=f"one of {start} to {last}")
        yield shifted


def _write(keyed: KeyedMotion, target: Path, keys_file: Path | None) -> None:
    """Write both files or none; the keys file has a hidden name until the target is written."""
    # `save` would write the keys to a second file beside the target; the keys file replaces that.
    content = keyed.sample() if target_format(target).has_keys_sidecar else keyed
    if keys_file is None:
        save(content, target)
        return
    temp_file = keys_file.with_name(f".{os.getpid()}-{keys_file.name}")
    try:
        save(keyed, temp_file)
        save(content, target)
        temp_file.replace(keys_file)
    except BaseException:
        with suppress(OSError):
            temp_file.unlink(missing_ok=True)
        raise


def keys_file_for(target: Path) -> Path | None:
    """Return ``walk.keys.json`` for ``walk.glb``; None for a target that is a keys file itself."""
    if target.name.lower().endswith(KEYS_SUFFIXES):
        return None
    return target.with_name(stem(target.name) + KEYS_SUFFIXES[0])


def check_keys_files(plan: Plan, existing: ExistingPolicy) -> None:
    """Raise if a keys file would replace existing keys or a clip of the plan."""
    sources = {os.path.realpath(t.source) for t in plan.targets}
    files = [file for t in plan.targets if (file := keys_file_for(t.target)) is not None]
    for file in files:
        if os.path.realpath(file) in sources:
            raise OptionError(
                "is to be unbaked itself, and would be replaced by the keys of the result",
                path=file,
                hint="--no-keys writes none, or give the result another name",
            )
    existing_files = [file for file in files if os.path.lexists(file)]
    if existing_files and existing != "overwrite":
        more = f" (and {len(existing_files) - 1} more)" if len(existing_files) > 1 else ""
        raise FileError(
            f"exists already{more}, and another result may need it to get its detail back",
            path=existing_files[0],
            hint="--overwrite replaces it, --no-keys writes none",
            code="exists",
        )
