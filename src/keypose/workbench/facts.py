"""What there is to know about the frames of a clip before anything is done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from keypose.arrays import runs
from keypose.library.canonical import canonical
from keypose.model import Motion
from keypose.swings import Swings
from keypose.workbench.curves import Bench

MOST_SWINGING = 1 << 22  # joints x frames: beyond that no swings are looked for


@dataclass(frozen=True)
class SwingBar:
    """One swing of a joint, and its place among the joint's swings."""

    joint: str
    index: int
    start: int
    end: int
    angle_deg: float


@dataclass(frozen=True)
class JointFacts:
    """One joint of a skeleton."""

    name: str
    parent: int  # -1: a root
    part: str | None  # of the body


@dataclass(frozen=True)
class MotionFacts:
    """What a page shows beside the figure."""

    has_body: bool
    joints: tuple[JointFacts, ...]
    groups: Mapping[str, tuple[int, ...]]
    contacts: Mapping[str, tuple[tuple[int, int], ...]]  # of each foot, the first and the last frame of each stand
    swings: tuple[SwingBar, ...]


def facts_of(bench: Bench) -> MotionFacts:
    """What there is to know about the clip of ``bench``; without a height there are neither contacts nor swings."""
    motion, skeleton = bench.motion, bench.motion.skeleton
    anatomy = skeleton.anatomy
    joints = zip(skeleton.names, skeleton.parents.tolist(), anatomy.parts, strict=True)
    measurable = motion.height > 0
    small = motion.n_frames * motion.n_joints <= MOST_SWINGING
    return MotionFacts(
        has_body=canonical(motion[:1]) is not None,
        joints=tuple(JointFacts(*each) for each in joints),
        groups=dict(anatomy.groups),
        contacts=_contacts(motion) if measurable else {},
        swings=bars_of(bench.swings()) if measurable and small else (),
    )


def bars_of(swings: Swings) -> tuple[SwingBar, ...]:
    """The swings of all joints, by joint and by time."""
    return tuple(
        SwingBar(track.joint, index, start, end, round(float(np.rad2deg(angle)), 3))
        for track in swings.tracks
        for index, (start, end, angle) in enumerate(
            zip(track.starts.tolist(), track.ends.tolist(), track.angles.tolist(), strict=True)
        )
    )


def _contacts(motion: Motion) -> dict[str, tuple[tuple[int, int], ...]]:
    found = motion.foot_contacts()
    return {
        foot: tuple((start, stop - 1) for start, stop in runs(found.touching[:, column]))
        for column, foot in enumerate(found.feet)
    }
