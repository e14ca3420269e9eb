"""What a search looks for: a motion that somebody has, or a clip of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keypose.arrays import frozen_floats
from keypose.errors import ModelError, OptionError
from keypose.library.analysis import LEAST_FPS, no_swings, sheet_of_motion
from keypose.library.analysis_rows import is_searched
from keypose.library.canonical import FPS, JOINTS, NEEDED, Canonical, canonical
from keypose.library.descriptors import Description, describe_body
from keypose.library.descriptors.noun import Singles
from keypose.library.descriptors.posture import posture
from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.parts import PartTrack, describe_parts
from keypose.library.rankers.sheets import Sheet
from keypose.library.rows import clips_numbered, find, is_thrown_away
from keypose.library.searching.shelf import Shelf
from keypose.library.store import Store
from keypose.model import Motion
from keypose.options import shown, whole

_INSTEAD = "expected a figure with both knees; search by words instead: library.clips('walk')"
MOST_NAMED = 4
POSE_SIZE = 3 * len(JOINTS) + 1


@dataclass(frozen=True, eq=False)
class Asked:
    """A query. Of a clip of the library the stored numbers are taken; its bytes are read only where they must be."""

    store: Store
    given: Motion | None
    number: int | None = None  # of the clip, if it is one of the library
    clip: Clip | None = None
    is_stored: bool = True  # what is stored of the clip can be compared
    numbers: Singles | None = None  # of the pose that is asked for, where they are known already

    @property
    def duration_s(self) -> float:
        """How long it lasts."""
        return self.clip.duration_s if self.clip is not None else self.motion.duration_s

    @property
    def n_frames(self) -> int:
        """How many frames it has."""
        return self.clip.n_frames if self.clip is not None else self.motion.n_frames

    @property
    def fps(self) -> float:
        """Its frames per second."""
        return self.clip.fps if self.clip is not None else self.motion.fps

    @cached_property
    def motion(self) -> Motion:
        """Its frames."""
        if self.given is not None:
            return self.given
        assert self.clip is not None
        return replace(self.store.motion(self.clip), name=self.clip.name)

    @property
    def is_too_slow(self) -> bool:
        """Whether its poses are so far apart in time that they are no motion; one alone is a posed figure."""
        return self.fps < LEAST_FPS and self.n_frames > 1

    @cached_property
    def body(self) -> Canonical:
        """It as a body that can be compared; an error that says what is missing if it is none."""
        if self.is_too_slow:
            raise OptionError(self.no_body())
        body = canonical(self.motion)
        if body is None:
            raise OptionError(self.no_body())
        return body

    def descriptions(self, connection: sa.Connection, shelf: Shelf, *, mirrored: bool) -> list[Description]:
        """Of the query and, if wanted, of its mirror image."""
        if self.number is None:
            own = describe_body(self.body)
        else:
            stored = shelf.descriptions(connection, [self.number]) if self.is_stored else {}
            if self.number not in stored:
                raise OptionError(self.no_body())
            own = stored[self.number]
        return [own, own.mirrored()] if mirrored else [own]

    def track(self, connection: sa.Connection, shelf: Shelf) -> PartTrack:
        """What part search knows of it."""
        if self.number is None:
            return describe_parts(self.body)
        stored = shelf.tracks(connection, [self.number]) if self.is_stored else {}
        if self.number not in stored:
            raise OptionError(self.no_body())
        return stored[self.number]

    def pose(self, frame: int) -> Singles:
        """The pose of a frame as poses are stored: joints from the hips, then their height above the floor."""
        if self.numbers is not None:
            return self.numbers
        seen = posture(self.body)
        at = min(round(frame * FPS / self.motion.fps), len(seen.heights) - 1)
        return np.append(seen.positions[at].ravel(), seen.heights[at]).astype(np.float32)

    def sheet(self, connection: sa.Connection, shelf: Shelf) -> Sheet:
        """Its swings."""
        if self.number is not None and self.is_stored:
            stored = shelf.some_sheets(connection, [self.number])
            if self.number in stored:
                return stored[self.number]
        if self.number is not None and not clips_numbered(connection, [self.number]):
            return no_swings(self.duration_s)  # the clip is gone since it was asked for
        return self._own_sheet

    @cached_property
    def _own_sheet(self) -> Sheet:
        return sheet_of_motion(self.motion)

    def no_body(self) -> str:
        """Why it cannot be searched by: it has no body, or nobody has looked at it."""
        if self.is_too_slow:
            named = self.clip.name if self.clip is not None else self.motion.name or "the query"
            return f"{named}: {self.fps:g} frames in a second, expected at least {LEAST_FPS:g} to compare it by"
        if canonical(self.motion) is None or self.clip is None:
            return _no_body(self.motion)
        return f"clip {self.clip.name!r} was not analysed by this version, expected one that was: rebuild() does it"


def ask(store: Store, query: Motion | str) -> Asked:
    """The query; a text is the name or the hash of a clip of the library.

    One that was thrown away is a motion like those that come from elsewhere.
    """
    if isinstance(query, Motion):
        return Asked(store, query)
    if not isinstance(query, str):
        raise OptionError(f"query={shown(query)}, expected a Motion or the name of a clip of the library")
    with store.database.reading() as connection:
        number, clip = find(connection, query)
        is_stored, is_away = is_searched(connection, number), is_thrown_away(connection, number)
    if is_away:
        return Asked(store, replace(store.motion(clip), name=clip.name))
    return Asked(store, None, number, clip, is_stored)


def pose_numbers(numbers: Sequence[float]) -> Singles:
    """The numbers of a pose as somebody gives them, checked."""
    try:
        return frozen_floats(numbers, (POSE_SIZE,), "numbers").astype(np.float32)
    except ModelError as error:
        raise OptionError(f"{error}: {POSE_SIZE} as pose_numbers() gives them") from None


def frames_asked(start: int, end: int, n_frames: int) -> tuple[int, int]:
    """A part of a query, as frames of a slice are counted."""
    first, stop = whole("start", start, least=0), whole("end", end)
    if not first < stop <= n_frames:
        raise OptionError(
            f"frames {first}:{stop} of {n_frames}, expected a start below the end, which is at most {n_frames}"
        )
    return first, stop


def _no_body(motion: Motion) -> str:
    known = set(motion.skeleton.anatomy.parts)
    missing: Sequence[str] = [part for part in (*NEEDED, *JOINTS) if part not in known]
    lacks = f"no {', '.join(dict.fromkeys(missing[:MOST_NAMED]))}" if missing else "its bones have no length"
    return f"{motion.name or 'the query'}: no body that can be compared ({lacks}), {_INSTEAD}"
