"""Find the swings of one motion file and report them in figures: the job of ``keypose swings``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keypose.api.swings import Sweep, sweep, swings_within
from keypose.batch.convert import resample
from keypose.batch.file_discovery import SWINGS_SUFFIXES, load_clip, resolve_frame_range
from keypose.errors import OptionError
from keypose.formats import load_swings
from keypose.metrics import Score, score_positions
from keypose.model import Motion, list_notes
from keypose.options import LoadOptions
from keypose.swings import Actions, Swing, Swings, swings
from keypose.swings.codec import SwingSize


@dataclass(frozen=True)
class SwingsLoader:
    """Options for reading a file and for finding its swings."""

    load_options: LoadOptions = field(default_factory=LoadOptions)
    frames: tuple[int | None, int | None] | None = None  # start and stop as in a slice, at the clip's own rate
    fps: float | None = None  # resample the capture to this rate first
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``swings``, without defaults
    max_deg: float | None = None  # find the smallest swings within these errors
    max_mm: float | None = None

    def load_motion(self, path: Path) -> Motion:
        """Load the capture in ``path``, trimmed and resampled."""
        motion = load_clip(path, self.load_options)
        if self.frames is not None:
            motion = motion[slice(*resolve_frame_range(self.frames, motion.n_frames))]
        if self.fps is not None and self.fps != motion.fps:
            motion = resample(motion, self.fps, path, self.load_options.limits)
        return motion

    def find_swings(self, path: Path) -> tuple[Motion | None, Swings]:
        """Return the capture, or None if the file contains swings already, and the swings."""
        if holds_swings(path):
            self._check_no_options(path)
            return None, load_swings(path, limits=self.load_options.limits)
        motion = self.load_motion(path)
        if self.max_deg is None and self.max_mm is None:
            return motion, swings(motion, **self.options)
        return motion, swings_within(motion, max_deg=self.max_deg, max_mm=self.max_mm, **self.options)

    def _check_no_options(self, path: Path) -> None:
        options = {
            "max_deg": self.max_deg,
            "max_mm": self.max_mm,
            "fps": self.fps,
            "frames": self.frames,
            **self.options,
        }
        names = [name for name, value in options.items() if value is not None]
        if names:
            option_names = {"frames": "--range", "fps": "--fps", "max_deg": "--max-deg", "max_mm": "--max-mm"}
            option = option_names.get(names[0], f"--{names[0].replace('_', '-')}")
            raise OptionError("holds swings already", path=path, expected=f"no {option}, which is for finding them")


def holds_swings(path: Path) -> bool:
    """Return whether a file of this name contains swings, not a motion."""
    return path.name.lower().endswith(SWINGS_SUFFIXES)


@dataclass(frozen=True)
class SwingsJob:
    """A file, how to find its swings, and what to report."""

    path: Path
    loader: SwingsLoader = field(default_factory=SwingsLoader)
    level: float = 1.0  # share of the swings that are played; the others are dropped
    joints: tuple[str, ...] = ("all",)  # to report one by one
    filters: Mapping[str, Any] = field(default_factory=dict)  # options of ``find``: also list the matching swings
    actions: bool = False  # also find actions
    sweep: bool = False  # whether size and error by threshold are reported instead of the swings
    include_swings: bool = True  # whether the result contains the swings, not only figures


@dataclass(frozen=True)
class JointSwingStats:
    """The swings of one joint in figures; shares are of all frames."""

    joint: str
    body_part: str | None
    left_out: bool  # stored frame by frame
    n_swings: int
    n_rests: int
    n_keys: int
    max_duration_s: float | None  # None, like the angles, without any swing
    swing_share: float
    rest_share: float
    keyed_share: float
    mean_deg: float | None
    max_deg: float | None


@dataclass(frozen=True)
class SwingsResult:
    """The swings of one motion file."""

    path: str
    name: str
    n_frames: int
    fps: float
    n_swings: int
    n_keys: int  # without left-out joints
    settings: Mapping[str, Any]
    error_deg: float | None  # None, like the next two, if the file contains swings and no capture
    error_per_angle_deg: float | None
    score: Score | None  # None also for a figure without height
    size: SwingSize
    joints: tuple[JointSwingStats, ...]  # those of ``SwingsJob.joints``
    swings: Swings | None  # None unless ``include_swings``
    matches: tuple[tuple[int, Swing], ...] | None  # swings that match the filters, with their index within the joint
    actions: Actions | None  # if requested
    sweep: Sweep | None  # size against error, if requested
    notes: tuple[str, ...]


def find_clip_swings(job: SwingsJob) -> SwingsResult:
    """Load one file and find its swings."""
    motion, clip_swings = job.loader.find_swings(job.path)
    if job.level < 1:
        clip_swings = clip_swings.simplify(job.level)
    if job.sweep and motion is None:
        raise OptionError("holds swings already", path=job.path, expected="a motion for --sweep")
    sweep_rows = sweep(motion, **job.loader.options) if motion is not None and job.sweep else None
    return SwingsResult(
        path=str(job.path),
        name=clip_swings.name,
        n_frames=clip_swings.n_frames,
        fps=clip_swings.fps,
        n_swings=clip_swings.n_swings,
        n_keys=clip_swings.n_keys,
        settings=asdict(clip_swings.settings),
        error_deg=None if motion is None else clip_swings.error(motion),
        error_per_angle_deg=None if motion is None else clip_swings.error(motion, per="angle"),
        score=None if motion is None else score_swings(motion, clip_swings.play()),
        size=clip_swings.size(),
        joints=tuple(joint_swing_stats(clip_swings, j) for j in clip_swings.skeleton.joints(job.joints)),
        swings=clip_swings if job.include_swings else None,
        matches=_find_matches(clip_swings, job.joints, job.filters) if job.filters else None,
        actions=clip_swings.actions(motion) if job.actions else None,
        sweep=sweep_rows,
        notes=list_notes(clip_swings),
    )


def joint_swing_stats(swings: Swings, joint: int) -> JointSwingStats:
    """Return the figures of one joint."""
    track = swings.tracks[joint]
    durations, angles = track.ends - track.starts, np.rad2deg(track.angles)
    n_keyed_frames = sum(span.end - span.start + 1 for span in track.keyed)
    return JointSwingStats(
        joint=track.joint,
        body_part=swings.skeleton.anatomy.body_parts[joint],
        left_out=swings.is_left_out(joint),
        n_swings=track.n_swings,
        n_rests=len(track.rest_starts),
        n_keys=track.n_keys,
        max_duration_s=float(durations.max() / swings.fps) if track.n_swings else None,
        swing_share=int((durations + 1).sum()) / swings.n_frames,
        rest_share=int((track.rest_ends - track.rest_starts + 1).sum()) / swings.n_frames,
        keyed_share=n_keyed_frames / swings.n_frames,
        mean_deg=float(angles.mean()) if track.n_swings else None,
        max_deg=float(angles.max()) if track.n_swings else None,
    )


def score_swings(motion: Motion, played: Motion) -> Score | None:
    """Return the error of ``played`` in millimetres; None for a figure without height."""
    if not motion.height > 0:
        return None
    return score_positions(motion, played).without_arrays()


def _find_matches(swings: Swings, joints: tuple[str, ...], filters: Mapping[str, Any]) -> tuple[tuple[int, Swing], ...]:
    indices = {swing: n for track in swings.tracks for n, swing in enumerate(track.swings)}
    return tuple((indices[swing], swing) for swing in swings.find(joints, **filters))
