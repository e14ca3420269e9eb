"""Which swings are meant: those of some joints that fit a time, a length or an angle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Bools
from keypose.errors import OptionError
from keypose.options import number, whole
from keypose.swings.noun import Swings
from keypose.swings.parts import Swing
from keypose.swings.track import Track

SAME_FRAME = 1e-6  # frames: a time that was made of a frame by division means that frame


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
    """The swings that ``Swings.find`` describes, in order of time; of one frame, in the order of the skeleton.

    A swing lasts from its first to its last frame, ``(end - start) / fps`` seconds. Longer, shorter, wider and
    narrower are meant strictly.
    """
    chosen = _joints(swings, joints)
    last_s = swings.duration_s
    at = None if at_s is None else number("at_s", at_s, least=0.0, most=last_s) * swings.fps
    begin = None if from_s is None else number("from_s", from_s, least=0.0, most=last_s) * swings.fps
    stop = None if to_s is None else number("to_s", to_s, least=0.0) * swings.fps
    longer = None if longer_s is None else number("longer_s", longer_s, least=0.0) * swings.fps
    shorter = None if shorter_s is None else number("shorter_s", shorter_s, above=0.0) * swings.fps
    wider = None if wider_deg is None else np.deg2rad(number("wider_deg", wider_deg, least=0.0))
    narrower = None if narrower_deg is None else np.deg2rad(number("narrower_deg", narrower_deg, above=0.0))
    _in_order("from_s", from_s, "to_s", to_s, equal=True)
    _in_order("longer_s", longer_s, "shorter_s", shorter_s)
    _in_order("wider_deg", wider_deg, "narrower_deg", narrower_deg)
    place = None if index is None else _index(swings, chosen, index)

    found: list[tuple[int, int, Swing]] = []
    for j in chosen:
        track = swings.tracks[j]
        lasts = track.ends - track.starts
        fits = _at_place(track, place)
        if at is not None:
            fits &= (track.starts <= at + SAME_FRAME) & (track.ends >= at - SAME_FRAME)
        if begin is not None:
            fits &= track.ends >= begin - SAME_FRAME
        if stop is not None:
            fits &= track.starts <= stop + SAME_FRAME
        if longer is not None:
            fits &= lasts > longer + SAME_FRAME
        if shorter is not None:
            fits &= lasts < shorter - SAME_FRAME
        if wider is not None:
            fits &= track.angles > wider
        if narrower is not None:
            fits &= track.angles < narrower
        found += [(int(track.starts[n]), j, track.swings[n]) for n in np.flatnonzero(fits).tolist()]
    return tuple(swing for _, _, swing in sorted(found, key=lambda each: each[:2]))


def _joints(swings: Swings, joints: str | Sequence[str]) -> tuple[int, ...]:
    chosen = swings.skeleton.joints(joints)  # type: ignore[arg-type]
    if not chosen:
        raise OptionError(f"joints={joints!r}, expected names of joints, body parts or groups, at least one")
    return chosen


def _index(swings: Swings, chosen: Sequence[int], index: int) -> int:
    """``index`` if any joint has so many swings."""
    place = whole("index", index)
    most = max((swings.tracks[j] for j in chosen), key=lambda track: track.n_swings)
    if -most.n_swings <= place < most.n_swings:
        return place
    several = len(chosen) > 1
    if not most.n_swings:
        none = "none of the joints has any" if several else f"{most.joint} has none"
        raise OptionError(f"index={place}, expected a joint with swings: {none}")
    count = f"{most.n_swings} swing" + ("s" if most.n_swings > 1 else "")
    which = f"no joint has more than {count}" if several else f"{most.joint} has {count}"
    raise OptionError(f"index={place}, but {which}: expected {-most.n_swings} to {most.n_swings - 1}")


def _at_place(track: Track, place: int | None) -> Bools:
    """(N,) which swings of one joint ``place`` means: one, none where there are fewer, or all."""
    if place is None:
        return np.ones(track.n_swings, bool)
    return np.asarray(np.arange(track.n_swings) == (place if place >= 0 else place + track.n_swings))


def _in_order(low: str, least: float | None, high: str, most: float | None, *, equal: bool = False) -> None:
    if least is None or most is None or least < most or (equal and least == most):
        return
    than = "not to be larger" if equal else "to be smaller"
    raise OptionError(f"{low}={least:g} and {high}={most:g}, expected the first {than}")
