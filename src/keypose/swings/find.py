"""Find swings of some joints by time, duration or angle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Bools
from keypose.errors import Hint, OptionError, format_count
from keypose.options import SwingFilterOptions, check_option_number
from keypose.swings.model import Swings
from keypose.swings.swing import Swing
from keypose.swings.track import Track
from keypose.validation import check_int, check_number

SAME_FRAME = 1e-6  # frames: tolerance for times computed from frames by division


def find(
    swings: Swings,
    joints: str | tuple[str, ...] | list[str] = "all",
    *,
    index: int | None = None,
    at_s: float | None = None,
    from_s: float | None = None,
    to_s: float | None = None,
    longer_s: float | None = None,
    shorter_s: float | None = None,
    wider_deg: float | None = None,
    narrower_deg: float | None = None,
) -> tuple[Swing, ...]:
    """Return the swings that match, in order of time and then of the skeleton; see ``Swings.find``.

    A swing lasts from its first to its last frame, ``(end - start) / fps`` seconds. The limits of longer, shorter,
    wider and narrower are exclusive.
    """
    indices = _check_joints(swings, joints)
    last_s = swings.duration_s
    at_frame = None if at_s is None else check_number("at_s", at_s, min_value=0.0, max_value=last_s) * swings.fps
    from_frame = (
        None if from_s is None else check_number("from_s", from_s, min_value=0.0, max_value=last_s) * swings.fps
    )
    to_frame = None if to_s is None else check_option_number(SwingFilterOptions, "to_s", to_s) * swings.fps
    min_length = (
        None if longer_s is None else check_option_number(SwingFilterOptions, "longer_s", longer_s) * swings.fps
    )
    max_length = (
        None if shorter_s is None else check_option_number(SwingFilterOptions, "shorter_s", shorter_s) * swings.fps
    )
    min_angle = (
        None if wider_deg is None else np.deg2rad(check_option_number(SwingFilterOptions, "wider_deg", wider_deg))
    )
    max_angle = (
        None
        if narrower_deg is None
        else np.deg2rad(check_option_number(SwingFilterOptions, "narrower_deg", narrower_deg))
    )
    _check_order("from_s", from_s, "to_s", to_s, equal=True)
    _check_order("longer_s", longer_s, "shorter_s", shorter_s)
    _check_order("wider_deg", wider_deg, "narrower_deg", narrower_deg)
    swing_index = None if index is None else _check_index(swings, indices, index)

    matches: list[tuple[int, int, Swing]] = []
    for j in indices:
        track = swings.tracks[j]
        lengths = track.ends - track.starts
        fits = _matches_index(track, swing_index)
        if at_frame is not None:
            fits &= (track.starts <= at_frame + SAME_FRAME) & (track.ends >= at_frame - SAME_FRAME)
        if from_frame is not None:
            fits &= track.ends >= from_frame - SAME_FRAME
        if to_frame is not None:
            fits &= track.starts <= to_frame + SAME_FRAME
        if min_length is not None:
            fits &= lengths > min_length + SAME_FRAME
        if max_length is not None:
            fits &= lengths < max_length - SAME_FRAME
        if min_angle is not None:
            fits &= track.angles > min_angle
        if max_angle is not None:
            fits &= track.angles < max_angle
        matches += [(int(track.starts[n]), j, track.swings[n]) for n in np.flatnonzero(fits).tolist()]
    return tuple(swing for _, _, swing in sorted(matches, key=lambda each: each[:2]))


def _check_joints(swings: Swings, joints: str | Sequence[str]) -> tuple[int, ...]:
    indices = swings.skeleton.joints(joints)  # type: ignore[arg-type]
    if not indices:
        raise OptionError(option="joints", value=joints, expected="names of joints, body parts or groups, at least one")
    return indices


def _check_index(swings: Swings, joints: Sequence[int], index: int) -> int:
    """Return ``index`` if any joint has that many swings."""
    swing_index = check_int("index", index)
    longest_track = max((swings.tracks[j] for j in joints), key=lambda track: track.n_swings)
    if -longest_track.n_swings <= swing_index < longest_track.n_swings:
        return swing_index
    is_multiple = len(joints) > 1
    if not longest_track.n_swings:
        none = "none of the joints has any" if is_multiple else f"{longest_track.joint} has none"
        raise OptionError(option="index", value=swing_index, expected=f"a joint with swings: {none}")
    count = format_count(longest_track.n_swings, "swing")
    limit = f"no joint has more than {count}" if is_multiple else f"{longest_track.joint} has {count}"
    raise OptionError(
        f"is out of range: {limit}",
        option="index",
        value=swing_index,
        expected=f"{-longest_track.n_swings} to {longest_track.n_swings - 1}",
    )


def _matches_index(track: Track, swing_index: int | None) -> Bools:
    """Return flags (N,) of the swings of one joint that ``swing_index`` selects; None selects all."""
    if swing_index is None:
        return np.ones(track.n_swings, bool)
    return np.asarray(np.arange(track.n_swings) == (swing_index if swing_index >= 0 else swing_index + track.n_swings))


def _check_order(
    low_option: str, low: float | None, high_option: str, high: float | None, *, equal: bool = False
) -> None:
    if low is None or high is None or low < high or (equal and low == high):
        return
    relation = "at most" if equal else "less than"
    flag = f"--{high_option.replace('_', '-')}"
    expected = Hint(f"{relation} {high_option}={high:g}", f"{relation} {flag} {high:g}")
    raise OptionError(option=low_option, value=low, expected=expected)
