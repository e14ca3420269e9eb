"""Notes about what an edit of swings unexpectedly leaves unchanged or replaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keypose.swings import Swing, Swings

MAX_NAMES = 4
TIME_FILTERS = ("at_s", "from_s", "to_s")  # options of ``find`` about time
SCALING_OPERATIONS = ("scale", "set_angle")  # ``intensify`` would also change keys


def unchanged_keys_note(
    swings: Swings, operation: str, joints: Sequence[str], targets: Sequence[Swing], filters: Mapping[str, Any]
) -> str:
    """Return a note about keyed spans of the joints that an edit of their swings does not change; empty if none.

    Counts spans in the selected time or, without a time filter, between the first and the last target.
    """
    n_total = 0
    names: list[str] = []
    for j in swings.skeleton.joints(tuple(joints)):
        track = swings.tracks[j]
        joint_targets = [swing for swing in targets if swing.joint == track.joint]
        if swings.is_left_out(j) or (
            filters and not joint_targets and not any(name in filters for name in TIME_FILTERS)
        ):
            continue
        first, last = _affected_frames(swings, joint_targets, filters)
        n_spans = sum(span.start <= last and span.end >= first for span in track.keyed)
        if n_spans:
            n_total, names = n_total + n_spans, [*names, track.joint]
    if not n_total:
        return ""
    is_single = n_total == 1
    effect = (
        ("is not copied" if is_single else "are not copied")
        if operation == "mirror_copy"
        else "stays"
        if is_single
        else "stay"
    )
    scope = "all that a joint does" if filters else f"{'it' if is_single else 'them'} too"
    hint = f": --intensify changes {scope}" if operation in SCALING_OPERATIONS else ""
    phrase = "span of {} is no swing" if is_single else "spans of {} are no swings"
    return f"{n_total} keyed {phrase.format(_format_names(names))} and {effect}{hint}"


def _affected_frames(swings: Swings, joint_targets: Sequence[Swing], filters: Mapping[str, Any]) -> tuple[float, float]:
    """Return the first and last affected frame."""
    if filters and not any(name in filters for name in TIME_FILTERS):
        return min(swing.start for swing in joint_targets), max(swing.end for swing in joint_targets)
    at = filters.get("at_s")
    first = max(filters.get("from_s", 0.0), 0.0 if at is None else at)
    last = min(filters.get("to_s", swings.duration_s), swings.duration_s if at is None else at)
    return first * swings.fps, last * swings.fps


def replaced_swings_note(swings: Swings, targets: Iterable[Swing]) -> str:
    """Return a note about swings of the other side that mirrored copies of the targets replace; empty if none."""
    partners = swings.skeleton.anatomy.mirror_partners()
    replaced: dict[str, set[int]] = {}
    for swing in targets:
        track = swings.tracks[partners[swings.skeleton.joint(swing.joint)]]
        overlapping = [
            n for n, existing in enumerate(track.swings) if existing.start <= swing.end and existing.end >= swing.start
        ]
        replaced.setdefault(track.joint, set()).update(overlapping)
    names = [joint for joint in swings.skeleton.names if replaced.get(joint)]
    count = sum(len(replaced[joint]) for joint in names)
    if not count:
        return ""
    noun, verb = ("swing", "is") if count == 1 else ("swings", "are")
    return f"{count} {noun} of {_format_names(names)} {verb} replaced"


def _format_names(names: Sequence[str]) -> str:
    """Return ``A``, ``A and B`` or ``A, B, C, D and 3 more``."""
    more = len(names) - MAX_NAMES
    if more > 0:
        return f"{', '.join(names[:MAX_NAMES])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
