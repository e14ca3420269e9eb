"""Analysis of the frames of a clip: key poses and their picture, swings, and the data that search compares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.api.select import ladder
from keypose.arrays import Frozen, Ints
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import FPS, CanonicalBody, canonical_body
from keypose.library.descriptors import Description, Windows, describe_body
from keypose.library.descriptors.posture import Posture, posture
from keypose.library.part_search import PartTrack, build_part_track
from keypose.library.rankers.swing_table import BODY_PARTS, SwingTable, build_body_swing_table
from keypose.library.source_file import skeleton_hash
from keypose.model import Motion
from keypose.pictures.strip import strip

ANALYSIS_VERSION = 2  # rebuild() replaces analyses of other versions

KEY_POSES = 8
STRIP_HEIGHT_PX = 80.0
POSE_STEP_M = 0.15  # mean joint movement between two stored poses, on a figure of 1.7 m
MIN_FPS = 2.0  # below it poses are not compared as motion
MAX_SWING_SAMPLES = 1 << 24  # joints x frames at 30 fps: above it no swings are computed
MAX_DRAWN_JOINTS = 500


@dataclass(frozen=True)
class Facts:
    """Properties of a motion that are columns of table ``clips``."""

    fps: float
    n_frames: int
    duration_s: float
    n_joints: int
    skeleton: str  # hash


@dataclass(frozen=True, eq=False)
class Analysis(Frozen):
    """Everything that is stored about the frames of a clip; without a recognisable body nothing can be searched."""

    facts: Facts
    key_frames: tuple[int, ...]  # of the most different poses, ascending
    strip: str  # SVG of them; "" where they cannot be drawn
    swing_table: SwingTable
    description: Description | None
    track: PartTrack | None
    poses: Windows | None  # 17 x 3 joint positions from the hips, and height above the floor
    version: int = ANALYSIS_VERSION


def analyse(motion: Motion) -> Analysis:
    """Return the analysis of ``motion``; it depends on the frames only, not on the name.

    Everything but the facts is computed at no more than 30 fps, so that clips of all frame rates are comparable.
    """
    resampled = replace(_resample(motion), name="clip")
    body = _comparable_body(resampled)
    keys = _key_frames(resampled, motion)
    return Analysis(
        facts=motion_facts(motion),
        key_frames=tuple(keys.tolist()),
        strip=_strip(motion, keys),
        swing_table=_swing_table(resampled, motion.duration_s, body),
        description=None if body is None else describe_body(body),
        track=None if body is None else build_part_track(body),
        poses=None if body is None else sample_poses(posture(body)),
    )


def motion_facts(motion: Motion) -> Facts:
    """Return the properties of a motion that are columns of table ``clips``."""
    return Facts(motion.fps, motion.n_frames, motion.duration_s, motion.n_joints, skeleton_hash(motion.skeleton))


def compute_swing_table(motion: Motion) -> SwingTable:
    """Return the swings of a motion as a library stores them."""
    resampled = _resample(motion)
    return _swing_table(resampled, motion.duration_s, _comparable_body(resampled))


def _resample(motion: Motion) -> Motion:
    """Return the motion at no more than 30 fps."""
    return motion.at_fps(FPS) if motion.fps > FPS else motion


def _comparable_body(resampled: Motion) -> CanonicalBody | None:
    """Return the canonical body; None if there is none, if the frame rate is too low or the motion too long."""
    if resampled.fps < MIN_FPS:
        return None
    try:
        return canonical_body(resampled)
    except OptionError:  # too long to be resampled to 30 fps
        return None


def _key_frames(resampled: Motion, motion: Motion) -> Ints:
    """Return the frames of ``motion`` that differ most, ascending."""
    try:
        key_ladder = ladder(resampled, "farthest", max_keys=min(KEY_POSES, resampled.n_frames))
        frames = key_ladder.at(int(key_ladder.counts[-1])).frames
    except ModelError:  # so far from the origin that poses cannot be distinguished
        frames = np.linspace(0, resampled.n_frames - 1, min(KEY_POSES, resampled.n_frames)).astype(np.int32)
    return np.unique(np.minimum(np.rint(frames * (motion.fps / resampled.fps)), motion.n_frames - 1)).astype(np.int32)


def _strip(motion: Motion, keys: Ints) -> str:
    if motion.n_joints > MAX_DRAWN_JOINTS:
        return ""
    return strip(replace(motion, name="clip"), keys, height_px=STRIP_HEIGHT_PX, captions=False, background=False).svg


def _swing_table(resampled: Motion, duration_s: float, body: CanonicalBody | None) -> SwingTable:
    if body is None or resampled.n_frames * resampled.n_joints > MAX_SWING_SAMPLES:
        return empty_swing_table(duration_s)
    return replace(build_body_swing_table(resampled, body), duration_s=duration_s)


def empty_swing_table(duration_s: float) -> SwingTable:
    """Return the table of a motion without swings."""
    empty = np.zeros(0)
    return SwingTable(
        duration_s, np.zeros(len(BODY_PARTS), bool), empty.astype(np.int32), empty, empty, empty.reshape(0, 3), empty
    )


def sample_poses(body_posture: Posture) -> Windows:
    """Return poses so dense that every pose of the body is within POSE_STEP_M of one of them."""
    vectors = np.column_stack((body_posture.positions.reshape(len(body_posture.positions), -1), body_posture.heights))
    step_lengths = np.linalg.norm(np.diff(vectors, axis=0), axis=1) / np.sqrt(body_posture.positions.shape[1])
    step_counts = np.floor(np.concatenate(([0.0], np.cumsum(step_lengths))) / POSE_STEP_M + 0.5)
    frames = np.flatnonzero(np.diff(step_counts, prepend=-1.0))
    starts_s = frames / FPS
    ends_s = np.append(starts_s[1:], len(vectors) / FPS)
    weights = np.full(len(frames), 1.0 / len(frames), np.float32)
    return Windows(vectors[frames].astype(np.float32), starts_s, ends_s, weights, (0.0, 1.0))
