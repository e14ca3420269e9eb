"""Which swings are meant: a swing, several, or all of named joints, body parts or groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from keypose.errors import OptionError
from keypose.swings.noun import Swings
from keypose.swings.parts import Swing

Which: TypeAlias = Swing | str | Sequence[Swing | str]

MOST_SHOWN = 6


def chosen(now: Swings, which: Which) -> Mapping[int, tuple[int, ...]]:
    """By joint, which of its swings are meant; at least one in all. A swing is known by its joint, start and end."""
    given = (which,) if isinstance(which, Swing | str) else which
    if not isinstance(given, tuple | list):
        raise OptionError(f"{which!r}, expected a swing, several swings, or names of joints, body parts or groups")
    if not given:
        raise OptionError("no swing is given, expected at least one")
    found: dict[int, set[int]] = {}
    for each in given:
        if isinstance(each, Swing):
            j, index = place_of(now, each)
            found.setdefault(j, set()).add(index)
            continue
        if not isinstance(each, str):
            raise OptionError(f"{each!r}, expected a swing or the name of a joint, body part or group")
        for j in now.skeleton.joints(each):
            if now.tracks[j].n_swings:
                found.setdefault(j, set()).update(range(now.tracks[j].n_swings))
    if not found:
        names = ", ".join(repr(name) for name in given)
        raise OptionError(f"{names}: no swing at all; joints with swings are {_with_swings(now)}")
    return {j: tuple(sorted(found[j])) for j in sorted(found)}


def place_of(now: Swings, swing: Swing) -> tuple[int, int]:
    """The joint of a swing, and which of its swings it is at present."""
    j = now.skeleton.joint(swing.joint)
    track = now.tracks[j]
    for index, ends in enumerate(zip(track.starts.tolist(), track.ends.tolist(), strict=True)):
        if ends == (swing.start, swing.end):
            return j, index
    near = sorted(track.swings, key=lambda own: abs(own.start - swing.start) + abs(own.end - swing.end))[:MOST_SHOWN]
    there = ", ".join(f"{own.start} to {own.end}" for own in sorted(near, key=lambda own: own.start))
    less = "" if len(near) == track.n_swings else " (nearest)"
    instead = f"its swings are now at frames {there}{less}" if near else "it has no swing now"
    raise OptionError(f"no swing of {swing.joint!r} at frames {swing.start} to {swing.end}; {instead}")


def only_one(now: Swings, which: Which) -> tuple[int, int]:
    """The joint and index of the one swing that is meant."""
    found = [(j, index) for j, some in chosen(now, which).items() for index in some]
    if len(found) != 1:
        raise OptionError(f"{len(found)} swings are meant, expected one, as swings['right_thigh'][0]")
    return found[0]


def _with_swings(now: Swings) -> str:
    names = [track.joint for track in now.tracks if track.n_swings]
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") if names else "none"
