"""What a library knows about the frames of a clip: key poses and their picture, swings, and what search compares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Frozen, Ints
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import FPS, Canonical, canonical
from keypose.library.descriptors import Description, Windows, describe_body
from keypose.library.descriptors.posture import Posture, posture
from keypose.library.material import skeleton_hash
from keypose.library.parts import PartTrack, describe_parts
from keypose.library.rankers.sheets import PARTS, Sheet, sheet_of_body
from keypose.model import Motion
from keypose.pictures.strip import strip
from keypose.verbs import ladder

ANALYSIS_VERSION = 2  # another one: what was made by others is made anew by rebuild()

KEY_POSES = 8
STRIP_HEIGHT_PX = 80.0
POSE_STEP_M = 0.15  # how far, on average over the joints, a body moves on a figure of 1.7 m between two kept poses
LEAST_FPS = 2.0  # poses that are farther apart in time are no motion to compare
MOST_SWINGING = 1 << 24  # joints x frames at 30 a second: beyond that no swings are looked for
MOST_DRAWN_JOINTS = 500


@dataclass(frozen=True)
class Facts:
    """What the row of a clip says about its frames."""

    fps: float
    n_frames: int
    duration_s: float
    n_joints: int
    skeleton: str  # hash


@dataclass(frozen=True, eq=False)
class Analysis(Frozen):
    """All that is kept about the frames of a clip; without a recognisable body there is nothing to search by."""

    facts: Facts
    key_frames: tuple[int, ...]  # the few poses that tell most, rising
    strip: str  # SVG of them; "" where they cannot be drawn
    sheet: Sheet
    description: Description | None
    track: PartTrack | None
    poses: Windows | None  # 17 x 3 numbers of joints from the hips and their height above the floor; starts_s is when
    version: int = ANALYSIS_VERSION


def analyse(motion: Motion) -> Analysis:
    """What a library keeps about ``motion``; the same motion always gives the same, whatever it is called.

    All but the facts is made of at most 30 frames in a second, so that clips of all rates are alike.
    """
    thin = replace(_thin(motion), name="clip")
    body = _body(thin)
    keys = _key_frames(thin, motion)
    return Analysis(
        facts=facts_of(motion),
        key_frames=tuple(keys.tolist()),
        strip=_strip(motion, keys),
        sheet=_sheet(thin, motion.duration_s, body),
        description=None if body is None else describe_body(body),
        track=None if body is None else describe_parts(body),
        poses=None if body is None else poses_of_body(posture(body)),
    )


def facts_of(motion: Motion) -> Facts:
    """What the row of a clip says."""
    return Facts(motion.fps, motion.n_frames, motion.duration_s, motion.n_joints, skeleton_hash(motion.skeleton))


def sheet_of_motion(motion: Motion) -> Sheet:
    """The swings of a motion as a library keeps them."""
    thin = _thin(motion)
    return _sheet(thin, motion.duration_s, _body(thin))


def _thin(motion: Motion) -> Motion:
    """At most 30 frames in a second."""
    return motion.at_fps(FPS) if motion.fps > FPS else motion


def _body(thin: Motion) -> Canonical | None:
    """The body that is compared; None where there is none, and of poses that are no motion."""
    if thin.fps < LEAST_FPS:
        return None
    try:
        return canonical(thin)
    except OptionError:  # too long to be brought to 30 frames in a second
        return None


def _key_frames(thin: Motion, motion: Motion) -> Ints:
    """The frames of ``motion`` that differ most."""
    try:
        found = ladder(thin, "farthest", max_keys=min(KEY_POSES, thin.n_frames))
        frames = found.at(int(found.counts[-1])).frames
    except ModelError:  # so far from the origin that poses cannot be told from each other
        frames = np.linspace(0, thin.n_frames - 1, min(KEY_POSES, thin.n_frames)).astype(np.int32)
    return np.unique(np.minimum(np.rint(frames * (motion.fps / thin.fps)), motion.n_frames - 1)).astype(np.int32)


def _strip(motion: Motion, keys: Ints) -> str:
    if motion.n_joints > MOST_DRAWN_JOINTS:
        return ""
    return strip(replace(motion, name="clip"), keys, height_px=STRIP_HEIGHT_PX, captions=False, background=False).svg


def _sheet(thin: Motion, duration_s: float, body: Canonical | None) -> Sheet:
    if body is None or thin.n_frames * thin.n_joints > MOST_SWINGING:
        return no_swings(duration_s)
    return replace(sheet_of_body(thin, body), duration_s=duration_s)


def no_swings(duration_s: float) -> Sheet:
    """The sheet of a motion in which nothing swings."""
    none = np.zeros(0)
    return Sheet(duration_s, np.zeros(len(PARTS), bool), none.astype(np.int32), none, none, none.reshape(0, 3), none)


def poses_of_body(seen: Posture) -> Windows:
    """Poses so near to each other that every pose of the body is near one of them."""
    vectors = np.column_stack((seen.positions.reshape(len(seen.positions), -1), seen.heights))
    moved = np.linalg.norm(np.diff(vectors, axis=0), axis=1) / np.sqrt(seen.positions.shape[1])
    way = np.floor(np.concatenate(([0.0], np.cumsum(moved))) / POSE_STEP_M + 0.5)
    kept = np.flatnonzero(np.diff(way, prepend=-1.0))
    starts_s = kept / FPS
    ends_s = np.append(starts_s[1:], len(vectors) / FPS)
    weights = np.full(len(kept), 1.0 / len(kept), np.float32)
    return Windows(vectors[kept].astype(np.float32), starts_s, ends_s, weights, (0.0, 1.0))
