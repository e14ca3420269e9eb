"""Joints, contacts and swings of a clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from keypose.arrays import runs
from keypose.clip_edit.clip_editor import ClipEditor
from keypose.library.canonical import canonical_body
from keypose.model import Motion
from keypose.swings import Swings

MAX_SWING_CELLS = 1 << 22  # joints x frames beyond which no swings are computed


@dataclass(frozen=True)
class SwingBar:
    """One swing of a joint, with its index among the joint's swings."""

    joint: str
    index: int
    start: int
    end: int
    angle_deg: float


@dataclass(frozen=True)
class JointDetails:
    """One joint of a skeleton."""

    name: str
    parent: int  # -1: a root
    body_part: str | None  # None: not recognised


@dataclass(frozen=True)
class MotionDetails:
    """Joints, joint groups, contacts and swings of a motion."""

    has_body: bool
    joints: tuple[JointDetails, ...]
    joint_groups: Mapping[str, tuple[int, ...]]
    contacts: Mapping[str, tuple[tuple[int, int], ...]]  # first and last frame of each contact, by foot
    swings: tuple[SwingBar, ...]


def describe_motion(editor: ClipEditor) -> MotionDetails:
    """Return the details of the clip of ``editor``; a figure without height has neither contacts nor swings."""
    motion, skeleton = editor.motion, editor.motion.skeleton
    anatomy = skeleton.anatomy
    joints = zip(skeleton.names, skeleton.parents.tolist(), anatomy.body_parts, strict=True)
    has_height = motion.height > 0
    is_small = motion.n_frames * motion.n_joints <= MAX_SWING_CELLS
    return MotionDetails(
        has_body=canonical_body(motion[:1]) is not None,
        joints=tuple(JointDetails(*each) for each in joints),
        joint_groups=dict(anatomy.groups),
        contacts=_contact_ranges(motion) if has_height else {},
        swings=swing_bars(editor.swings()) if has_height and is_small else (),
    )


def swing_bars(swings: Swings) -> tuple[SwingBar, ...]:
    """Return the swings of all joints, by joint and by time."""
    return tuple(
        SwingBar(track.joint, index, start, end, round(float(np.rad2deg(angle)), 3))
        for track in swings.tracks
        for index, (start, end, angle) in enumerate(
            zip(track.starts.tolist(), track.ends.tolist(), track.angles.tolist(), strict=True)
        )
    )


def _contact_ranges(motion: Motion) -> dict[str, tuple[tuple[int, int], ...]]:
    contacts = motion.foot_contacts()
    return {
        foot: tuple((start, stop - 1) for start, stop in runs(contacts.in_contact[:, column]))
        for column, foot in enumerate(contacts.feet)
    }
