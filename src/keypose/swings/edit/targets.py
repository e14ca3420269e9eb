"""Targets of operations: a swing, several, or all of named joints, body parts or groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from keypose.errors import OptionError
from keypose.swings.model import Swings
from keypose.swings.swing import Swing

SwingTargets: TypeAlias = Swing | str | Sequence[Swing | str]

MAX_LISTED = 6


def resolve_targets(swings: Swings, targets: SwingTargets) -> Mapping[int, tuple[int, ...]]:
    """Return the target swings by joint, at least one in total. A swing is identified by joint, start and end."""
    items = (targets,) if isinstance(targets, Swing | str) else targets
    if not isinstance(items, tuple | list):
        raise OptionError(f"{targets!r}, expected a swing, several swings, or names of joints, body parts or groups")
    if not items:
        raise OptionError("no swing is given, expected at least one")
    indices: dict[int, set[int]] = {}
    for item in items:
        if isinstance(item, Swing):
            j, index = find_swing_index(swings, item)
            indices.setdefault(j, set()).add(index)
            continue
        if not isinstance(item, str):
            raise OptionError(f"{item!r}, expected a swing or the name of a joint, body part or group")
        for j in swings.skeleton.joints(item):
            if swings.tracks[j].n_swings:
                indices.setdefault(j, set()).update(range(swings.tracks[j].n_swings))
    if not indices:
        names = ", ".join(repr(name) for name in items)
        raise OptionError(f"{names}: no swing at all; joints with swings are {_format_joints_with_swings(swings)}")
    return {j: tuple(sorted(indices[j])) for j in sorted(indices)}


def find_swing_index(swings: Swings, swing: Swing) -> tuple[int, int]:
    """Return the joint of a swing, and its current index among the swings of the joint."""
    j = swings.skeleton.joint(swing.joint)
    track = swings.tracks[j]
    for index, ends in enumerate(zip(track.starts.tolist(), track.ends.tolist(), strict=True)):
        if ends == (swing.start, swing.end):
            return j, index
    near = sorted(track.swings, key=lambda own: abs(own.start - swing.start) + abs(own.end - swing.end))[:MAX_LISTED]
    frames = ", ".join(
        f"{track_swing.start} to {track_swing.end}" for track_swing in sorted(near, key=lambda own: own.start)
    )
    suffix = "" if len(near) == track.n_swings else " (nearest)"
    hint = f"its swings are now at frames {frames}{suffix}" if near else "it has no swing now"
    raise OptionError(f"no swing of {swing.joint!r} at frames {swing.start} to {swing.end}; {hint}")


def resolve_one(swings: Swings, targets: SwingTargets) -> tuple[int, int]:
    """Return the joint and index of a single target swing."""
    matches = [(j, index) for j, some in resolve_targets(swings, targets).items() for index in some]
    if len(matches) != 1:
        raise OptionError(f"{len(matches)} swings are meant, expected one, as swings['right_thigh'][0]")
    return matches[0]


def _format_joints_with_swings(swings: Swings) -> str:
    names = [track.joint for track in swings.tracks if track.n_swings]
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") if names else "none"
