"""The swings of one motion file, in figures: the work that ``keypose swings`` maps over its clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keypose.batch.convert import resampled
from keypose.batch.inputs import SWINGS_SUFFIXES
from keypose.batch.reading import Reading, frames_meant
from keypose.errors import OptionError
from keypose.formats import load_swings
from keypose.metrics import score
from keypose.model import Motion
from keypose.swings import Swing, Swings, swings
from keypose.swings.size import Size
from keypose.verbs.swinging import Sweep, sweep, swings_within


@dataclass(frozen=True)
class Finding:
    """How to read a file, and how to find its swings."""

    reading: Reading = field(default_factory=Reading)
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice, at the clip's own rate
    fps: float | None = None  # that the capture is brought to first
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``swings``, those that were given
    max_deg: float | None = None  # the smallest swings that are this near,
    max_mm: float | None = None

    def motion(self, path: Path) -> Motion:
        """The capture in ``path``."""
        motion = self.reading.load(path)
        if self.frames is not None:
            motion = motion[slice(*frames_meant(self.frames, motion.n_frames))]
        if self.fps is not None and self.fps != motion.fps:
            motion = resampled(motion, self.fps, path, self.reading.limits)
        return motion

    def swings(self, path: Path) -> tuple[Motion | None, Swings]:
        """The capture, where the file holds one and not swings already, and its swings."""
        if holds_swings(path):
            self._check_none_to_find(path)
            return None, load_swings(path, limits=self.reading.limits)
        motion = self.motion(path)
        if self.max_deg is None and self.max_mm is None:
            return motion, swings(motion, **self.options)
        return motion, swings_within(motion, max_deg=self.max_deg, max_mm=self.max_mm, **self.options)

    def _check_none_to_find(self, path: Path) -> None:
        told = {"max_deg": self.max_deg, "max_mm": self.max_mm, "fps": self.fps, "frames": self.frames, **self.options}
        given = [name for name, value in told.items() if value is not None]
        if given:
            named = {"frames": "--range", "fps": "--fps", "max_deg": "--within-deg", "max_mm": "--within-mm"}
            option = named.get(given[0], f"--{given[0].replace('_', '-')}")
            raise OptionError(f"{path}: holds swings already, expected no {option}, which is for finding them")


def holds_swings(path: Path) -> bool:
    """Whether a file of this name holds swings, not a motion."""
    return path.name.lower().endswith(SWINGS_SUFFIXES)


@dataclass(frozen=True)
class SwingsWanted:
    """Which file, how to find its swings, and what to tell of them."""

    path: Path
    finding: Finding = field(default_factory=Finding)
    level: float = 1.0  # the share of swings that counts
    joints: tuple[str, ...] = ("all",)  # that are told of one by one
    which: Mapping[str, Any] = field(default_factory=dict)  # options of ``find``: list the swings that fit
    sweep: bool = False  # over thresholds, in place of all else
    whole: bool = True  # the swings themselves too, not only the figures of all together


@dataclass(frozen=True)
class JointFigures:
    """What one joint does, in figures; shares are of all frames."""

    joint: str
    part: str | None
    left_out: bool  # kept frame by frame from the start
    n_swings: int
    n_rests: int
    n_keys: int
    longest_s: float | None  # None, as the angles, without any swing
    swinging: float
    resting: float
    keyed: float
    mean_deg: float | None
    max_deg: float | None


@dataclass(frozen=True)
class Distance:
    """How far the played motion is off the capture, on a figure of 1.7 m."""

    mean_mm: float
    p95_mm: float
    max_mm: float
    worst_frame: int
    worst_joint: str


@dataclass(frozen=True)
class ClipSwings:
    """The swings of one motion file."""

    path: str
    name: str
    n_frames: int
    fps: float
    n_swings: int
    n_keys: int  # of joints that are not left out
    settings: Mapping[str, Any]
    error_deg: float | None  # None, as the next two, where the file holds swings and no capture
    error_per_angle_deg: float | None
    score: Distance | None  # None also for a figure without height
    size: Size
    joints: tuple[JointFigures, ...]  # those that were asked for
    swings: Swings | None  # None where only figures of all together are wanted
    listed: tuple[tuple[int, Swing], ...] | None  # that fit what was asked, with their place within the joint
    sweep: Sweep | None  # size against error, where it was asked for
    notes: tuple[str, ...]


def swings_of_clip(wanted: SwingsWanted) -> ClipSwings:
    """Reads one file and finds its swings."""
    motion, found = wanted.finding.swings(wanted.path)
    if wanted.level < 1:
        found = found.coarser(wanted.level)
    if wanted.sweep and motion is None:
        raise OptionError(f"{wanted.path}: holds swings already, expected a motion for --sweep")
    swept = sweep(motion, **wanted.finding.options) if motion is not None and wanted.sweep else None
    return ClipSwings(
        path=str(wanted.path),
        name=found.name,
        n_frames=found.n_frames,
        fps=found.fps,
        n_swings=found.n_swings,
        n_keys=found.n_keys,
        settings=asdict(found.settings),
        error_deg=None if motion is None else found.error(motion),
        error_per_angle_deg=None if motion is None else found.error(motion, per="angle"),
        score=None if motion is None else distance(motion, found.play()),
        size=found.size(),
        joints=tuple(joint_figures(found, j) for j in found.skeleton.joints(wanted.joints)),
        swings=found if wanted.whole else None,
        listed=_listed(found, wanted.joints, wanted.which) if wanted.which else None,
        sweep=swept,
        notes=found.notes,
    )


def joint_figures(found: Swings, joint: int) -> JointFigures:
    """What one joint of them does."""
    track = found.tracks[joint]
    lasts, angles = track.ends - track.starts, np.rad2deg(track.angles)
    keyed = sum(span.end - span.start + 1 for span in track.keyed)
    return JointFigures(
        joint=track.joint,
        part=found.skeleton.anatomy.parts[joint],
        left_out=found.is_left_out(joint),
        n_swings=track.n_swings,
        n_rests=len(track.rest_starts),
        n_keys=track.n_keys,
        longest_s=float(lasts.max() / found.fps) if track.n_swings else None,
        swinging=int((lasts + 1).sum()) / found.n_frames,
        resting=int((track.rest_ends - track.rest_starts + 1).sum()) / found.n_frames,
        keyed=keyed / found.n_frames,
        mean_deg=float(angles.mean()) if track.n_swings else None,
        max_deg=float(angles.max()) if track.n_swings else None,
    )


def distance(motion: Motion, played: Motion) -> Distance | None:
    """How far ``played`` is off in millimetres; None for a figure without height."""
    if not motion.height > 0:
        return None
    off = score(motion, played)
    return Distance(off.mean_mm, off.p95_mm, off.max_mm, off.worst_frame, off.worst_joint)


def _listed(found: Swings, joints: tuple[str, ...], which: Mapping[str, Any]) -> tuple[tuple[int, Swing], ...]:
    places = {swing: n for track in found.tracks for n, swing in enumerate(track.swings)}
    return tuple((places[swing], swing) for swing in found.find(joints, **which))
