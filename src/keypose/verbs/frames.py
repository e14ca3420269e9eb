"""Frames as a person says them: ranges, pins, contacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from keypose.errors import OptionError
from keypose.model import Motion
from keypose.options import whole
from keypose.verbs.contacts import contact_frames

FrameRange: TypeAlias = tuple[int | None, int | None] | slice | None


def frame_range(frames: FrameRange, n_frames: int) -> tuple[int, int]:
    """The range, read as a slice is, as its first frame and the one after its last."""
    if frames is None:
        return 0, n_frames
    pair = (frames.start, frames.stop) if isinstance(frames, slice) and frames.step in (None, 1) else frames
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(f"frames={frames!r}, expected a range (start, stop)")
    ends = [None if end is None else whole("frames", end) for end in pair]
    first, last, _ = slice(*ends).indices(n_frames)
    if first >= last:
        raise OptionError(f"frames {pair[0]}:{pair[1]} hold no frame: the motion has {n_frames} (0 to {n_frames - 1})")
    return first, last


def frames_of_options(motion: object, options: Mapping[str, Any], start: int, stop: int) -> dict[str, tuple[int, ...]]:
    """Pins and excluded frames, said as frames of the whole motion, as frames of the range."""
    found = {
        name: {frame for item in _items(name, options[name]) for frame in _meant(motion, name, item, start, stop)}
        for name in ("pins", "excluded")
        if name in options
    }
    both = found.get("pins", set()) & found.get("excluded", set())
    if both:
        raise OptionError(f"frame {min(both)} is both pinned and excluded")
    return {name: tuple(sorted(frame - start for frame in frames)) for name, frames in found.items()}


def _items(what: str, told: Any) -> Iterable[Any]:
    if isinstance(told, str | int | np.integer):
        return (told,)
    try:
        return tuple(told)
    except TypeError:
        raise OptionError(f"{what}={told!r}, expected frames such as (30, 88)") from None


def _meant(motion: object, what: str, item: Any, start: int, stop: int) -> Iterable[int]:
    if what == "pins" and isinstance(item, str):
        if item != "contacts":
            raise OptionError(f"pins: {item!r}, expected frames or the word 'contacts'")
        if not isinstance(motion, Motion):
            raise OptionError("pins='contacts' needs a Motion: a plain array has no feet")
        return [frame for frame in contact_frames(motion) if start <= frame < stop]
    frame = whole(what, item)
    if not start <= frame < stop:
        raise OptionError(f"{what}: frame {frame}, expected {start} to {stop - 1}")
    return [frame]
