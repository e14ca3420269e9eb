"""What an edit of swings leaves alone or takes away, although one might not expect it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keypose.swings import Swing, Swings

NAMES_SHOWN = 4
TIMES = ("at_s", "from_s", "to_s")  # options of ``find`` that say when
FARTHER = ("scale", "set_angle")  # what intensify would do to keys as well


def kept_keys(
    swings: Swings, verb: str, joints: Sequence[str], meant: Sequence[Swing], which: Mapping[str, Any]
) -> str:
    """How many keyed spans of the joints an edit of their swings leaves as they are; empty: none.

    Those count that lie in the selected time or, where the selection says nothing of times, between the meant swings.
    """
    spans = 0
    names: list[str] = []
    for j in swings.skeleton.joints(tuple(joints)):
        track = swings.tracks[j]
        own = [swing for swing in meant if swing.joint == track.joint]
        if swings.is_left_out(j) or (which and not own and not any(name in which for name in TIMES)):
            continue
        first, last = _time(swings, own, which)
        kept = sum(span.start <= last and span.end >= first for span in track.keyed)
        if kept:
            spans, names = spans + kept, [*names, track.joint]
    if not spans:
        return ""
    one = spans == 1
    stay = ("is not copied" if one else "are not copied") if verb == "mirror_copy" else "stays" if one else "stay"
    too = "all that a joint does" if which else f"{'it' if one else 'them'} too"
    also = f": --intensify changes {too}" if verb in FARTHER else ""
    are = "span of {} is no swing" if one else "spans of {} are no swings"
    return f"{spans} keyed {are.format(_listed(names))} and {stay}{also}"


def _time(swings: Swings, own: Sequence[Swing], which: Mapping[str, Any]) -> tuple[float, float]:
    """The frames that are meant, first and last."""
    if which and not any(name in which for name in TIMES):
        return min(swing.start for swing in own), max(swing.end for swing in own)
    at = which.get("at_s")
    first = max(which.get("from_s", 0.0), 0.0 if at is None else at)
    last = min(which.get("to_s", swings.duration_s), swings.duration_s if at is None else at)
    return first * swings.fps, last * swings.fps


def replaced_swings(swings: Swings, meant: Iterable[Swing]) -> str:
    """How many swings of the other side give way to mirrored copies of those that are meant; empty: none."""
    other = swings.skeleton.anatomy.mirrored()
    gone: dict[str, set[int]] = {}
    for swing in meant:
        track = swings.tracks[other[swings.skeleton.joint(swing.joint)]]
        hit = [n for n, its in enumerate(track.swings) if its.start <= swing.end and its.end >= swing.start]
        gone.setdefault(track.joint, set()).update(hit)
    names = [joint for joint in swings.skeleton.names if gone.get(joint)]
    count = sum(len(gone[joint]) for joint in names)
    if not count:
        return ""
    return f"{count} {'swing' if count == 1 else 'swings'} of {_listed(names)} {'is' if count == 1 else 'are'} replaced"


def _listed(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B, C, D and 3 more``."""
    more = len(names) - NAMES_SHOWN
    if more > 0:
        return f"{', '.join(names[:NAMES_SHOWN])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
