"""Where in which clips something happens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Bools, Floats, Frozen
from keypose.errors import OptionError
from keypose.library.growing import Places, Rows
from keypose.library.parts.asked import Asked, ways
from keypose.library.parts.basis import SIZE
from keypose.library.parts.measure import RATE
from keypose.library.parts.places import Place, closer, places
from keypose.library.parts.sliding import GrowingLevel, Level
from keypose.library.parts.track import PartTrack
from keypose.options import whole

MOST_SAMPLES = 10  # of a query that is slid along all clips: a second as it is, longer ones by every 2nd, 4th, 8th, ...
MORE_THAN_WANTED = 3  # times as many clips are looked at closely where not all samples were compared,
LEAST_LOOKED_AT = 32  # and no fewer
GREATEST_STRIDE = 16  # each takes as much memory as the samples themselves


@dataclass(frozen=True)
class PartMatch:
    """A stretch of a clip, and how like the query it is."""

    clip: int  # its place in the gallery
    start_s: float
    end_s: float
    distance: float  # 0 is the same, 1 nothing in common, 2 the opposite
    mirrored: bool
    speed: float  # 1.4: what is found is as much faster than the query

    @property
    def score(self) -> float:
        """1 is the same, 0 nothing in common."""
        return min(max(1.0 - self.distance, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class PartGallery(Frozen):
    """The tracks of many clips, one after another.

    A second takes 2 kB of memory, and as much again for each stride that long queries need: 2 above one second, 4 above
    two, 8 above four. It is made when first wanted.
    """

    level: Level
    durations_s: Floats  # (C,)

    made: dict[int, Level] = field(default_factory=dict)  # by stride, those that were wanted

    @classmethod
    def of(cls, tracks: Sequence[PartTrack]) -> PartGallery:
        """The gallery of these clips, all of the same basis; their order is what ``PartMatch.clip`` counts."""
        growing = GrowingParts()
        growing.add(tracks)
        return growing.now()

    def search(
        self,
        query: PartTrack,
        *,
        mirrored: PartTrack | None = None,
        among: Bools | None = None,
        joints: Sequence[str] | None = None,
        limit: int = 10,
        several: bool = False,
    ) -> list[PartMatch]:
        """The stretches that are most like ``query``, best first: one of a clip, or ``several`` that do not overlap.

        The query is tried as it is, at 0.7 and at 1.4 times its speed. ``mirrored``: also its mirror image,
        ``query.mirrored()``. ``among`` (C,): only these clips. ``joints``: only these parts of the query's body count:
        left_arm, right_arm, left_leg, right_leg, trunk, arms, legs. A clip that is shorter than the query is found as a
        whole, by where in the query it fits best, and scores the less the more of the query is beyond it. Likeness
        below 0 is none: there may be fewer matches than ``limit``.
        """
        limit = whole("limit", limit, least=1)
        asked = ways(query, mirrored, joints)
        allowed = np.ones(len(self.durations_s), bool) if among is None else np.asarray(among, bool)
        if allowed.shape != self.durations_s.shape:
            raise OptionError(
                f"among: shape {allowed.shape}, expected one flag for each of {len(self.durations_s)} clips"
            )
        if not allowed.any():
            return []
        stride = 1
        while len(query) > MOST_SAMPLES * stride and stride < GREATEST_STRIDE:
            stride *= 2
        wanted = limit if stride == 1 else max(MORE_THAN_WANTED * limit, LEAST_LOOKED_AT)
        found: Iterable[Place] = places(self._level(stride), asked, allowed, wanted, several=several)
        if stride > 1:
            if several:
                found = [place for place, _ in self._apart(found, asked, query, wanted, several=True)]
            near = [closer(self.level, asked[place.way], place, stride) for place in found]
            found = sorted(near, key=lambda place: (-place.like, place.way))
        matches = self._apart(found, asked, query, limit, several=several)
        return [match for _, match in matches]

    def _level(self, stride: int) -> Level:
        """Means of so many samples, made when they are first wanted."""
        if stride == 1:
            return self.level
        if stride not in self.made:
            self.made[stride] = Level.of(self.level.vectors, self.level.firsts, stride)
        return self.made[stride]

    def _apart(
        self, found: Iterable[Place], asked: Sequence[Asked], query: PartTrack, n: int, *, several: bool
    ) -> list[tuple[Place, PartMatch]]:
        """The first n places of different clips, or that overlap none before them, and the matches that they are."""
        kept: list[tuple[Place, PartMatch]] = []
        taken: dict[int, list[PartMatch]] = {}
        for place in found:
            match = self._match(place, asked[place.way], query)
            others = taken.setdefault(place.clip, [])
            apart = all(match.end_s <= other.start_s or match.start_s >= other.end_s for other in others)
            if apart if several else not others:
                others.append(match)
                kept.append((place, match))
                if len(kept) == n:
                    break
        return kept

    def _match(self, place: Place, asked: Asked, query: PartTrack) -> PartMatch:
        duration_s = float(self.durations_s[place.clip])
        length_s = min(query.duration_s / asked.speed, duration_s)
        start_s = place.shift / RATE + query.starts_after_s / asked.speed
        start_s = min(max(start_s, 0.0), duration_s - length_s)
        return PartMatch(place.clip, start_s, start_s + length_s, 1.0 - place.like, asked.mirrored, asked.speed)


class GrowingParts:
    """A gallery to which clips are added. Strides that were wanted once grow with it."""

    def __init__(self) -> None:
        self._levels = {1: GrowingLevel(1)}
        self._durations_s = Rows(np.empty(0))
        self._given: PartGallery | None = None

    def add(self, tracks: Sequence[PartTrack]) -> None:
        """More clips."""
        self._take_made()
        vectors = np.concatenate([np.zeros((0, SIZE), np.float16), *(each.vectors for each in tracks)])
        samples, lengths = vectors.astype(np.float32), np.array([len(each) for each in tracks], np.int32)
        for level in self._levels.values():
            level.add(samples, lengths)
        self._durations_s.add(np.array([each.duration_s for each in tracks]))

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        self._take_made()
        for level in self._levels.values():
            level.keep(places)
        self._durations_s.keep(places)

    def now(self) -> PartGallery:
        """The gallery of the clips that are there."""
        levels = {stride: level.now() for stride, level in self._levels.items()}
        self._given = PartGallery(levels.pop(1), self._durations_s.now, levels)
        return self._given

    def _take_made(self) -> None:
        """Strides that were wanted since the last change."""
        if self._given is not None:
            new = {stride: level for stride, level in self._given.made.copy().items() if stride not in self._levels}
            self._levels |= {stride: GrowingLevel.of(level) for stride, level in new.items()}
            self._given = None
