"""Turn one dense clip into keys and curves: the job of ``keypose unbake``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keypose.api.key_count import auto_tolerance
from keypose.api.unbake import unbake
from keypose.batch.convert import resample
from keypose.batch.file_discovery import KEYS_SUFFIXES, AnimationName, clip_path, load_clip, resolve_frame_range, stem
from keypose.batch.plan import ExistingPolicy, Plan, Target, make_folder, target_format
from keypose.batch.worker import Outcome, run_item
from keypose.curves.capture_faults import list_flips, repair_capture, without_spike_warnings
from keypose.errors import FileError, KeyposeError, OptionError
from keypose.extremes import find_extremes, list_parts_at_keys
from keypose.formats import load_keyed, save, save_into
from keypose.methods import METHODS
from keypose.metrics import FootSlide, Score, find_sliding_feet, score
from keypose.model import KeyedMotion, Motion, list_notes, note_code
from keypose.options import LoadOptions

DEFAULT_METHOD = "salient"  # ``unbake`` selects its keys by the error of the fitted curves
FAR_MM = 20.0  # a requested number of keys with a larger error is far from the capture


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
    into: Path | None = None  # a character that the target is a copy of
    animation: AnimationName | None = None  # one of several of the source
    shares_target: bool = False  # ``write_shared_targets`` writes the target, with other animations
    reduce_tracks: bool = True  # of the character
    repair: bool = False  # the capture

    @property
    def clip_path(self) -> Path:
        """The source, or a name beside it for one of several animations."""
        return clip_path(self.source, self.animation)

    def __post_init__(self) -> None:
        if self.into is not None and target_format(self.target).write_into is None:
            raise OptionError(option="into", value=str(self.into), path=self.target, expected="a .glb file as result")
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
    keys: tuple[int, ...]  # frames of the result, at which any joint has a key
    joint_keys: Mapping[str, tuple[int, ...]] | None  # of joints with keys of their own that move; None: all have all
    extremes: tuple[int, ...]  # a subset of ``keys``; the others are breakdowns
    extreme_parts: tuple[tuple[str, ...], ...]  # per key, the parts of the body at the end of their travel
    score: Score | None  # None for a figure without height
    auto_tolerance_mm: float | None  # largest error that an automatic number of keys accepts; None for other numbers
    flips: Mapping[str, tuple[tuple[int, int], ...]]  # by joint: first and last frames of flips of the capture
    keys_for_far_mm: int | None  # fewest keys within FAR_MM if the requested number is farther off, and some are within
    sliding_feet: tuple[FootSlide, ...]
    has_residual: bool
    keeps_keys: bool  # the target format stores keys and curves, not every frame
    bytes: int
    keys_file_bytes: int | None
    notes: tuple[str, ...]
    keyed: KeyedMotion | None = None  # of a target with several animations, without the residual

    @property
    def removed_percent(self) -> float:
        """The share of the frames that are no keys; with keys per joint, the mean over the joints that move."""
        n_keys = len(self.keys) if self.joint_keys is None else self.mean_joint_keys
        return 100 * (1 - n_keys / self.n_frames)

    @property
    def mean_joint_keys(self) -> float:
        """The mean number of keys of the joints that move."""
        counts = [len(self.keys)] if not self.joint_keys else [len(frames) for frames in self.joint_keys.values()]
        return sum(counts) / len(counts)


def unbake_clip(job: UnbakeJob) -> UnbakeResult:
    """Load, trim, resample, unbake and save one clip; missing folders of the target are created."""
    try:
        return _unbake_clip(job)
    except KeyposeError as error:
        if job.animation is None:
            raise
        raise error.with_fields(
            subject=": ".join(filter(None, (f"animation {job.animation.name!r}", error.subject)))
        ) from None


def _unbake_clip(job: UnbakeJob) -> UnbakeResult:
    motion = load_capture(job.source, job.load_options)
    motion = repair_capture(motion) if job.repair else motion
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    trimmed = motion[start:stop]
    if job.fps is not None and job.fps != trimmed.fps:
        trimmed = resample(trimmed, job.fps, job.source, job.load_options.limits)
    select_options = shift_frame_options(job.select_options, start, trimmed.n_frames, trimmed.fps / motion.fps)
    keyed = _unbake_motion(trimmed, job, select_options)
    error = score(trimmed, keyed).without_arrays() if trimmed.height > 0 else None
    make_folder(job.target.parent)
    _write(keyed, job)
    return UnbakeResult(
        name=keyed.name,
        n_frames=keyed.n_frames,
        fps=keyed.fps,
        keys=tuple(keyed.keys.tolist()),
        joint_keys=_list_joint_keys(keyed) if keyed.is_per_joint else None,
        extremes=tuple(keyed.keys[keyed.extremes].tolist()),
        extreme_parts=list_parts_at_keys(keyed.keys, find_extremes(trimmed), trimmed.fps),
        score=error,
        auto_tolerance_mm=auto_tolerance(trimmed) if error is not None and is_automatic(job) else None,
        flips=list_flips(trimmed),
        keys_for_far_mm=_count_keys_within(trimmed, FAR_MM, select_options, job) if is_far(job, error) else None,
        sliding_feet=() if error is None else find_sliding_feet(trimmed, keyed.sample()),
        has_residual=keyed.residual is not None,
        keeps_keys=target_format(job.target).keeps_keys,
        bytes=0 if job.shares_target else job.target.stat().st_size,
        keys_file_bytes=None if job.keys_file is None else job.keys_file.stat().st_size,
        notes=_list_notes(keyed, job),
        keyed=replace(keyed, residual=None) if job.shares_target else None,
    )


def _list_joint_keys(keyed: KeyedMotion) -> dict[str, tuple[int, ...]]:
    moves = ~(keyed.rotations.still_joints() & keyed.translations.still_joints())
    names = [name for name, is_moving in zip(keyed.skeleton.names, moves, strict=True) if is_moving]
    return {name: tuple(keyed.joint_keys(name).tolist()) for name in names}


def is_far(job: UnbakeJob, score: Score | None) -> bool:
    """Return whether the requested number of key poses is far too small; curves omit flips, whatever it is."""
    is_per_joint = job.curve_options.get("per") == "joint"
    return job.keys is not None and not is_per_joint and score is not None and score.max_outside_flips_mm > FAR_MM


def _list_notes(keyed: KeyedMotion, job: UnbakeJob) -> tuple[str, ...]:
    """Return the notes for the user; what is not read of a character stays in it, and is no loss."""
    is_own_file = job.into is not None and os.path.realpath(job.into) == os.path.realpath(job.source)
    return tuple(note for note in list_notes(keyed) if not (is_own_file and note_code(note) == "not_read"))


def write_shared_targets(
    work: Sequence[UnbakeJob], outcomes: Sequence[Outcome[UnbakeResult]]
) -> list[Outcome[UnbakeResult]]:
    """Write each target that several jobs share; return the outcomes with its size, or with the failure to write it."""
    # by target, character and ``reduce_tracks``: by index of the outcome
    motions: dict[tuple[Path, Path, bool], dict[int, KeyedMotion]] = {}
    for outcome in outcomes:
        job = work[outcome.index]
        if outcome.value is not None and outcome.value.keyed is not None and job.into is not None:
            motions.setdefault((job.target, job.into, job.reduce_tracks), {})[outcome.index] = outcome.value.keyed
    written = {outcome.index: outcome for outcome in outcomes}
    for (target, into, reduce_tracks), own in motions.items():
        merged = run_item(_save_into, 0, (list(own.values()), target, into, reduce_tracks))
        for index in own:
            old = written[index]
            value = None
            if merged.failure is None and old.value is not None:
                value = replace(old.value, keyed=None, bytes=target.stat().st_size)
            written[index] = replace(old, value=value, failure=merged.failure)
        first = written[min(own)]
        written[min(own)] = replace(first, warnings=(*first.warnings, *merged.warnings))
    return list(written.values())


def _save_into(arguments: tuple[Sequence[KeyedMotion], Path, Path, bool]) -> None:
    clips, path, into, reduce_tracks = arguments
    save_into(clips, path, into, reduce_tracks=reduce_tracks)


def is_automatic(job: UnbakeJob) -> bool:
    """Return whether the number of keys is neither requested nor the method's own."""
    return job.auto or (job.keys is None and job.tolerance_mm is None and not METHODS[job.method].has_own_count)


def load_capture(source: Path, load_options: LoadOptions) -> Motion:
    """Return the motion to unbake; keys of an earlier run are sampled with their full residual."""
    if not source.name.lower().endswith(KEYS_SUFFIXES):
        return load_clip(source, load_options)
    keyed = load_keyed(source, limits=load_options.limits)
    return keyed.sample(0.0 if keyed.residual is None else 1.0, fps=load_options.fps)


def _count_keys_within(
    motion: Motion, tolerance_mm: float, select_options: Mapping[str, Any], job: UnbakeJob
) -> int | None:
    """Return the fewest keys of the default method whose curves are within the tolerance; None if there are none."""
    options = select_options if job.method == DEFAULT_METHOD else {}
    try:
        with without_spike_warnings():
            return unbake(motion, tolerance_mm=tolerance_mm, **options, **job.curve_options).n_keys
    except OptionError:
        return None


def _unbake_motion(motion: Motion, job: UnbakeJob, select_options: Mapping[str, Any]) -> KeyedMotion:
    rounding = target_format(job.target).rounding_mm  # so that the rounded file is within the tolerance
    tolerance_mm = None if job.tolerance_mm is None else job.tolerance_mm - rounding
    options = {**select_options, **job.curve_options}
    return unbake(motion, method=job.method, keys=job.keys, tolerance_mm=tolerance_mm, auto=job.auto, **options)


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


def _write(keyed: KeyedMotion, job: UnbakeJob) -> None:
    """Write both files or none; the keys file has a hidden name until the target is written."""
    # `save` would write the keys to a second file beside the target; the keys file replaces that.
    content = keyed.sample() if target_format(job.target).has_keys_sidecar else keyed
    if job.keys_file is None:
        _write_target(content, job)
        return
    temp_file = job.keys_file.with_name(f".{os.getpid()}-{job.keys_file.name}")
    try:
        save(keyed, temp_file)
        _write_target(content, job)
        temp_file.replace(job.keys_file)
    except BaseException:
        with suppress(OSError):
            temp_file.unlink(missing_ok=True)
        raise


def _write_target(content: Motion | KeyedMotion, job: UnbakeJob) -> None:
    if not job.shares_target:
        save(content, job.target, into=job.into, reduce_tracks=job.reduce_tracks)


def plan_keys_files(plan: Plan, existing: ExistingPolicy, *, shares_targets: bool = False) -> dict[Target, Path]:
    """Return the keys file of each target, without targets that are keys files themselves.

    With ``shares_targets`` the animations of a source have one target, and each a keys file.
    Raise an error if a keys file would replace existing keys, a clip of the plan, or another keys file of it.
    """
    sources = {os.path.realpath(t.source) for t in plan.targets}
    keys_files = {
        t: _choose_keys_file(t, sources, existing, shares_targets=shares_targets)
        for t in plan.targets
        if not t.target.name.lower().endswith(KEYS_SUFFIXES)
    }
    target_by_file: dict[str, Target] = {}
    for target, file in keys_files.items():
        if os.path.realpath(file) in sources:
            raise OptionError(
                "is to be unbaked itself, and would be replaced by the keys of the result",
                path=file,
                hint="--no-keys writes none, or give the result another name",
            )
        other = target_by_file.setdefault(os.path.realpath(file), target)
        if other != target:
            raise OptionError(
                f"would hold the keys of both {other.target} and {target.target}",
                path=file,
                code="same_target",
                hint="--no-keys writes none, or give one of them another name",
            )
    existing_files = [file for file in keys_files.values() if os.path.lexists(file)]
    if existing_files and existing != "overwrite":
        more = f" (and {len(existing_files) - 1} more)" if len(existing_files) > 1 else ""
        raise FileError(
            f"exists already{more}, and another result may need it to get its detail back",
            path=existing_files[0],
            hint="--overwrite replaces it, --no-keys writes none",
            code="exists",
        )
    return keys_files


def _choose_keys_file(planned: Target, sources: Set[str], existing: ExistingPolicy, *, shares_targets: bool) -> Path:
    """Return ``walk.keys.json`` for ``walk.glb``; ``walk.glb.keys.json`` if that is another result's or a source."""
    target = clip_path(planned.target, planned.animation) if shares_targets else planned.target
    short_name = target.with_name(stem(target.name) + KEYS_SUFFIXES[0])
    full_name = target.with_name(target.name.removesuffix(".gz") + KEYS_SUFFIXES[0])
    is_replaced = existing == "overwrite" and os.path.lexists(planned.target)
    has_other_keys = os.path.lexists(short_name) and not is_replaced
    is_source = os.path.realpath(short_name) in sources
    return full_name if os.path.lexists(full_name) or has_other_keys or is_source else short_name
