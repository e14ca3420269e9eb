"""Add the captured detail to one edited file: the job of ``keypose rebake``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from keypose.api.rebake import build_timing_map, compute_rebake
from keypose.arrays import Floats
from keypose.batch.file_discovery import KEYS_SUFFIXES, ClipFile, load_clip, stem
from keypose.batch.info import detect_format_name
from keypose.batch.plan import make_folder
from keypose.errors import FileError, FormatError, FormatWarning, OptionError
from keypose.formats import FORMATS, find_format, load_keyed, save
from keypose.formats.base import warn_caller
from keypose.metrics import Score, score_positions
from keypose.model import KeyedMotion, Motion, Skeleton, list_notes, note_code
from keypose.options import LoadOptions, Timing

ResolvedTiming = Literal["keys", "frames", "own"]
SAME_ROTATION_RAD = 1e-6
MIN_MATCH_RATIO = 0.25  # share of the keys, as an edit does not change most of them

MATCH_DEG = 2.0  # maximum median difference of the angles of a pose
MIN_RANGE_DEG = 5.0  # angles that vary less are ignored, such as those of fingers, which are stiff in most captures
MIN_ANGLES, MIN_KEYS = 3, 2  # poses with fewer angles, and motions with fewer keys, are not compared
MIN_BONE_RATIO = 1e-6  # relative to the longest bone


@dataclass(frozen=True)
class RebakeJob:
    """The edited file, the source of its detail, the share of it to add, and the path of the result."""

    source: Path
    target: Path
    detail_sources: DetailSources
    residual: float
    timing: Timing = "auto"
    load_options: LoadOptions = field(default_factory=LoadOptions)
    into: Path | None = None  # a character that the target is a copy of


@dataclass(frozen=True)
class RebakeResult:
    """What was written, and from what."""

    original: str  # the file with the detail, possibly the edit itself
    timing: ResolvedTiming  # "keys": with moved keys; "own": the detail and timing of the edit itself
    n_moved_keys: int  # with their detail
    frames: int
    fps: float
    keys: int | None  # of the edit; None if it was read frame by frame
    original_keys: int | None  # None if the edit has its own detail
    score: Score | None  # of the result against the edit: how far the detail moves joints; None without height
    bytes: int
    notes: tuple[str, ...]


def rebake_clip(job: RebakeJob) -> RebakeResult:
    """Load both files, add the detail and save the result; missing folders of the target are created."""
    keyed, problem = _load_keyed_edit(job)
    original, path = _load_original(job, keyed, problem)
    has_own_detail = original is keyed
    if keyed is not None and not has_own_detail and not _same_detail(keyed, original):
        keyed = replace(keyed, residual=None)  # the detail of the named file is used, not that of the edit
    edited = keyed or _load_dense_edit(job, original, problem)
    _warn_if_unrelated(job, edited, original, path)
    if has_own_detail and job.timing == "frames":
        original = _reset_residual_timing(original)
    rebaked = compute_rebake(edited, original, job.residual, job.timing)
    result = rebaked.motion
    make_folder(job.target.parent)
    # In a character it is the animation that the keys were made from, whatever the edit is called.
    name = result.name if job.into is None else original.name
    save(replace(result, name=name, notes=(*result.notes, *rebaked.timing_notes)), job.target, into=job.into)
    edited_motion = edited if isinstance(edited, Motion) else edited.sample()
    return RebakeResult(
        original=str(path),
        timing=resolve_timing(edited, original, job.timing),
        n_moved_keys=rebaked.n_moved_keys,
        frames=result.n_frames,
        fps=result.fps,
        keys=None if keyed is None else keyed.n_keys,
        original_keys=None if has_own_detail else original.n_keys,
        score=score_positions(edited_motion, result).without_arrays() if edited_motion.height > 0 else None,
        bytes=job.target.stat().st_size,
        notes=tuple(note for note in list_notes(result) if job.into is None or note_code(note) != "not_read"),
    )


def resolve_timing(edited: KeyedMotion | Motion, original: KeyedMotion, timing: Timing) -> ResolvedTiming:
    """Return how the detail of ``original`` is timed in a rebake of ``edited``."""
    if timing != "auto":
        return timing
    if not isinstance(edited, KeyedMotion):
        return "frames"
    if edited.residual is not None:
        return "frames" if edited.residual.frames is None else "own"
    assert original.residual is not None
    return "keys" if build_timing_map(edited, original, original.residual, "auto").n_moved_keys else "frames"


def _load_keyed_edit(job: RebakeJob) -> tuple[KeyedMotion | None, str]:
    """Return the edit with its keys, or None and the reason for a note (empty if its format has no keys)."""
    load_options = job.load_options
    keyed_formats = {format_.name for format_ in FORMATS if format_.read_keyed is not None}
    if detect_format_name(job.source) not in keyed_formats:
        return None, ""
    try:
        return load_keyed(
            job.source, animation=load_options.animation, fps=load_options.fps, limits=load_options.limits
        ), ""
    except FormatError as error:  # keys of other programs may be at fractional frames
        if job.timing == "keys":
            raise
        return None, error.summary


def _load_dense_edit(job: RebakeJob, original: KeyedMotion, problem: str) -> Motion:
    if not problem:
        return load_clip(job.source, job.load_options)
    motion = load_clip(job.source, replace(job.load_options, fps=job.load_options.fps or original.fps))
    return replace(motion, notes=(*motion.notes, f"read frame by frame: {problem}"))


def _load_original(job: RebakeJob, edited: KeyedMotion | None, problem: str) -> tuple[KeyedMotion, Path]:
    """Return the original and its path: the named file, else the edit itself if it has detail, else the keys beside.

    ``problem``: why the keys of the edit, which may have had detail, cannot be read; empty if they can.
    """
    path = job.detail_sources.explicit
    if path is None and edited is not None and edited.residual is not None:
        return edited, job.source
    if path is not None and job.detail_sources.expected is not None and not path.is_file():
        raise FileError(
            "no such file", path=path, expected=f"the keys that {job.source.name} was made from", code="no_such_file"
        )
    path = path or job.detail_sources.companion
    if path is None and problem and may_have_detail(job.source):
        raise OptionError(
            f"its keys and their detail cannot be read: {problem}",
            code="inconsistent",
            path=job.source,
            hint="undo that, or name the .keys.json that unbake wrote with --from: it is then read frame by frame",
        )
    if path is None:
        missing = f", and there is no {job.detail_sources.expected}" if job.detail_sources.expected else ""
        raise OptionError(
            f"contains no captured detail{missing}",
            path=job.source,
            expected="--from NAME.keys.json, which unbake wrote",
        )
    return load_keyed(path, limits=job.load_options.limits), path


def _same_detail(first: KeyedMotion, second: KeyedMotion) -> bool:
    """Return whether both have the same residual rotations, at any frames."""
    first_residual, second_residual = first.residual, second.residual
    return (
        first_residual is not None
        and second_residual is not None
        and first_residual.rotations.shape == second_residual.rotations.shape
        and np.allclose(first_residual.rotations, second_residual.rotations, rtol=0.0, atol=SAME_ROTATION_RAD)
    )


def _reset_residual_timing(original: KeyedMotion) -> KeyedMotion:
    """Return the original with the detail at its captured frames, although keys were moved since."""
    assert original.residual is not None
    return replace(original, residual=replace(original.residual, frames=None, sources=None))


def _warn_if_unrelated(job: RebakeJob, edited: KeyedMotion | Motion, original: KeyedMotion, path: Path) -> None:
    """Warn if the edit has another name than the original and few of its key poses."""
    if original is edited or is_same_clip_name(job.source, path):
        return
    pose_match = match_poses(edited, original)
    if pose_match is not None and pose_match.n_matches < MIN_MATCH_RATIO * pose_match.n_keys:
        problem = f"was it made from {path}? Of {pose_match.n_keys} key poses there, {pose_match.n_matches} "
        warn_caller(
            FormatWarning(
                problem + "are still the same here",
                code="other_original",
                path=job.source,
                hint="--from names the .keys.json of the edit",
            )
        )


@dataclass(frozen=True)
class DetailSources:
    """Possible sources of the detail of an edit: a named file, else the edit itself, else the keys beside it."""

    explicit: Path | None = None
    companion: Path | None = None  # None if it does not exist
    expected: Path | None = None  # the path searched first


def find_detail_sources(file: ClipFile, from_path: Path | None) -> DetailSources:
    """Return the detail sources of an edit; ``from_path`` is one file for all edits, or a folder with one per edit."""
    if from_path is not None and not from_path.is_dir():
        return DetailSources(from_path)
    if from_path is not None:
        return _find_keys_file(from_path / file.relative, is_explicit=True)
    if file.path.name.lower().endswith(KEYS_SUFFIXES):  # the file would be its own companion
        return DetailSources()
    return _find_keys_file(file.path, is_explicit=False)


def _find_keys_file(path: Path, *, is_explicit: bool) -> DetailSources:
    """Return the keys that belong to a file: ``walk.glb.keys.json``, else ``walk.keys.json``."""
    names = (path.name.removesuffix(".gz"), stem(path.name))
    candidates = [path.with_name(name + suffix) for name in names for suffix in KEYS_SUFFIXES]
    existing = next((candidate for candidate in candidates if candidate.is_file()), None)
    expected = path.with_name(stem(path.name) + KEYS_SUFFIXES[0])
    if is_explicit:
        return DetailSources(existing or expected, expected=expected)
    return DetailSources(companion=existing, expected=expected)


def may_have_detail(path: Path) -> bool:
    """Return whether a file of this name may contain its own detail."""
    format_ = find_format(path)
    return format_ is not None and format_.stores_residual


def is_same_clip_name(source: Path, original: Path) -> bool:
    """Return whether an edit and its keys have the same name, ignoring suffixes."""
    name = stem(original.name)
    return name.lower() in (stem(source.name).lower(), source.name.lower())


def find_detail_conflict(rebakes: Sequence[tuple[Path, Path, DetailSources]]) -> Path | None:
    """Return the first target, of (edit, target, sources) triples, that would replace a file with detail that is
    needed."""
    protected = set()
    for source, _, sources in rebakes:
        own_file = source if sources.explicit is None and may_have_detail(source) else None
        protected |= {
            os.path.realpath(path) for path in (sources.explicit, sources.companion, own_file) if path is not None
        }
    return next((target for _, target, _ in rebakes if os.path.realpath(target) in protected), None)


@dataclass(frozen=True)
class PoseMatch:
    """How many key poses the original has, and how many of them are in the edit."""

    n_keys: int
    n_matches: int


def match_poses(edited: KeyedMotion | Motion, original: KeyedMotion) -> PoseMatch | None:
    """Compare poses at the keys of the original; None if there are too few shared bones or keys.

    With the same number of keys, the n-th keys are compared; otherwise poses at the same time.
    """
    names = set(edited.skeleton.names) & set(original.skeleton.names)
    edited_bends, original_bends = (_find_bends(motion.skeleton, names) for motion in (edited, original))
    shared_bends = sorted(edited_bends.keys() & original_bends.keys())
    edited_frames, original_frames = _corresponding_frames(edited, original)
    if len(shared_bends) < MIN_ANGLES or len(original_frames) < MIN_KEYS:
        return None
    edited_angles = _angles_deg(_positions_at(edited, edited_frames), [edited_bends[bend] for bend in shared_bends])
    original_angles = _angles_deg(
        _positions_at(original, original_frames), [original_bends[bend] for bend in shared_bends]
    )
    is_finite = np.isfinite(edited_angles).all(axis=0) & np.isfinite(original_angles).all(axis=0)
    is_moving = is_finite & (np.ptp(np.where(is_finite, original_angles, 0.0), axis=0) > MIN_RANGE_DEG)
    if is_moving.sum() < MIN_ANGLES:
        return None
    errors_deg = np.median(np.abs(edited_angles - original_angles)[:, is_moving], axis=1)
    return PoseMatch(len(original_frames), int((errors_deg <= MATCH_DEG).sum()))


def _corresponding_frames(edited: KeyedMotion | Motion, original: KeyedMotion) -> tuple[Floats, Floats]:
    """Return frames of the edit and the corresponding frames of the original."""
    keys = original.keys.astype(np.float64)
    if isinstance(edited, KeyedMotion) and edited.n_keys == original.n_keys:
        return edited.keys.astype(np.float64), keys
    edited_frames = keys * (edited.fps / original.fps)
    is_inside = edited_frames <= edited.n_frames - 1
    return edited_frames[is_inside], keys[is_inside]


def _positions_at(motion: KeyedMotion | Motion, frames: Floats) -> Floats:
    """Return world positions (N, J, 3) at fractional frames, interpolated linearly if the motion is dense."""
    if isinstance(motion, KeyedMotion):
        return motion.sample(frames=frames).world_positions()
    before = np.floor(frames).astype(np.intp)
    after = np.minimum(before + 1, motion.n_frames - 1)
    world, fraction = motion.world_positions(), (frames - before)[:, None, None]
    return np.asarray(world[before] + fraction * (world[after] - world[before]))


def _find_bends(skeleton: Skeleton, names: set[str]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """Return (base, middle, tip) joints by their names: each named joint with its next two named ancestors."""

    def find_ancestor(joint: int) -> int:
        joint = int(skeleton.parents[joint])
        while joint >= 0 and skeleton.names[joint] not in names:
            joint = int(skeleton.parents[joint])
        return joint

    bends = {}
    for tip, name in enumerate(skeleton.names):
        middle = find_ancestor(tip) if name in names else -1
        base = find_ancestor(middle) if middle >= 0 else -1
        if base >= 0:
            bends[skeleton.names[base], skeleton.names[middle], name] = (base, middle, tip)
    return bends


def _angles_deg(positions: Floats, bends: list[tuple[int, int, int]]) -> Floats:
    """Return the angles (N, B) between neighbouring bones; NaN where a bone has no length."""
    base, middle, tip = np.array(bends).T
    lower, upper = positions[:, middle] - positions[:, base], positions[:, tip] - positions[:, middle]
    lengths = np.linalg.norm(lower, axis=2), np.linalg.norm(upper, axis=2)
    max_length = max(float(length.max()) for length in lengths)
    products = np.where(np.minimum(*lengths) > MIN_BONE_RATIO * max_length, lengths[0] * lengths[1], np.nan)
    return np.asarray(np.rad2deg(np.arccos(np.clip(np.sum(lower * upper, axis=2) / products, -1.0, 1.0))))
