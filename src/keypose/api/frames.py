"""Parse frames given by a user: ranges, pins, contacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from keypose.api.contacts import contact_frames
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.validation import check_int

FrameRange: TypeAlias = tuple[int | None, int | None] | slice | None


def parse_frame_range(frames: FrameRange, n_frames: int) -> tuple[int, int]:
    """Return start and stop of a range given as in a slice."""
    if frames is None:
        return 0, n_frames
    pair = (frames.start, frames.stop) if isinstance(frames, slice) and frames.step in (None, 1) else frames
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(f"frames={frames!r}, expected a range (start, stop)")
    ends = [None if end is None else check_int("frames", end) for end in pair]
    first, last, _ = slice(*ends).indices(n_frames)
    if first >= last:
        raise OptionError(f"frames {pair[0]}:{pair[1]} hold no frame: the motion has {n_frames} (0 to {n_frames - 1})")
    return first, last


def parse_frame_options(
    motion: object, options: Mapping[str, Any], start: int, stop: int
) -> dict[str, tuple[int, ...]]:
    """Return pins and excluded frames, converted from frames of the whole motion to frames of the range."""
    frame_sets = {
        name: {
            frame
            for item in _items(name, options[name])
            for frame in _parse_frame_item(motion, name, item, start, stop)
        }
        for name in ("pins", "excluded")
        if name in options
    }
    both = frame_sets.get("pins", set()) & frame_sets.get("excluded", set())
    if both:
        raise OptionError(f"frame {min(both)} is both pinned and excluded")
    return {name: tuple(sorted(frame - start for frame in frames)) for name, frames in frame_sets.items()}


def _items(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | int | np.integer):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise OptionError(f"{name}={value!r}, expected frames such as (30, 88)") from None


def _parse_frame_item(motion: object, name: str, item: Any, start: int, stop: int) -> Iterable[int]:
    if name == "pins" and isinstance(item, str):
        if item != "contacts":
            raise OptionError(f"pins: {item!r}, expected frames or the word 'contacts'")
        if not isinstance(motion, Motion):
            raise OptionError("pins='contacts' needs a Motion: a plain array has no feet")
        return [frame for frame in contact_frames(motion) if start <= frame < stop]
    frame = check_int(name, item)
    if not start <= frame < stop:
        raise OptionError(f"{name}: frame {frame}, expected {start} to {stop - 1}")
    return [frame]
