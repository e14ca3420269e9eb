"""Part search in many clips: in which of them, and where, a given span of motion occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Bools, Floats, Frozen
from keypose.errors import OptionError, format_count
from keypose.library.incremental_index import GrowableArray, Indices
from keypose.library.search.cross_correlation import IncrementalLevel, Level, Peak, find_peaks, refine_peak
from keypose.library.search.part_features import (
    GROUP_NAMES,
    GROUPS,
    RATE,
    SIZE,
    PartTrack,
    QueryVariant,
    build_part_track,
    build_variants,
)
from keypose.validation import check_int

MAX_SAMPLES = 10  # of a query; longer ones are compared by every 2nd, 4th, 8th, ... sample
CANDIDATE_FACTOR = 3  # this factor times ``limit`` clips are refined if a stride was used,
MIN_CANDIDATES = 32  # but no fewer than this
MAX_STRIDE = 16  # each stride needs as much memory as the samples
__all__ = ["GROUPS", "GROUP_NAMES", "RATE", "PartGallery", "PartMatch", "PartTrack", "build_part_track"]


@dataclass(frozen=True)
class PartMatch:
    """A span of a clip, and its distance from the query."""

    clip: int  # index in the gallery
    start_s: float
    end_s: float
    distance: float  # 0 is the same, 1 unrelated, 2 the opposite
    mirrored: bool
    speed: float  # 1.4: the span is 1.4 times as fast as the query

    @property
    def score(self) -> float:
        """1 is the same, 0 unrelated."""
        return min(max(1.0 - self.distance, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class PartGallery(Frozen):
    """The tracks of many clips, one after another.

    One second needs 2 kB of memory, and as much again for each stride of long queries: 2 above one second, 4 above two,
    8 above four. Strides are computed on first use.
    """

    level: Level
    durations_s: Floats  # (C,)

    levels_by_stride: dict[int, Level] = field(default_factory=dict)  # levels that have been used

    @classmethod
    def build(cls, tracks: Sequence[PartTrack]) -> PartGallery:
        """Return the gallery of these tracks, all of the same basis; ``PartMatch.clip`` is an index of them."""
        builder = IncrementalPartGallery()
        builder.add(tracks)
        return builder.snapshot()

    def search(
        self,
        query: PartTrack,
        *,
        mirrored: PartTrack | None = None,
        is_allowed: Bools | None = None,
        joints: Sequence[str] | None = None,
        limit: int = 10,
        multiple: bool = False,
    ) -> list[PartMatch]:
        """Return the spans most similar to ``query``, best first: one per clip, or ``multiple`` without overlap.

        The query is compared at its own speed, at 0.7 and at 1.4 times this speed. ``mirrored``: also its mirror image,
        ``query.mirror()``. ``is_allowed`` (C,): only these clips. ``joints``: only these body parts of the query are
        compared: left_arm, right_arm, left_leg, right_leg, trunk, arms, legs. A clip shorter than the query matches as
        a whole, at the best position in the query; its score is the lower the more of the query is beyond it.
        Similarity below 0 is no match, so there may be fewer matches than ``limit``.
        """
        limit = check_int("limit", limit, min_value=1)
        variants = build_variants(query, mirrored, joints)
        allowed = np.ones(len(self.durations_s), bool) if is_allowed is None else np.asarray(is_allowed, bool)
        if allowed.shape != self.durations_s.shape:
            raise OptionError(
                f"shape {allowed.shape}",
                option="among",
                expected=f"one flag for each of {format_count(len(self.durations_s), 'clip')}",
            )
        if not allowed.any():
            return []
        stride = 1
        while len(query) > MAX_SAMPLES * stride and stride < MAX_STRIDE:
            stride *= 2
        n_candidates = limit if stride == 1 else max(CANDIDATE_FACTOR * limit, MIN_CANDIDATES)
        peaks: Iterable[Peak] = find_peaks(self._level(stride), variants, allowed, n_candidates, multiple=multiple)
        if stride > 1:
            if multiple:
                peaks = [place for place, _ in self._drop_overlaps(peaks, variants, query, n_candidates, multiple=True)]
            refined = [refine_peak(self.level, variants[place.variant], place, stride) for place in peaks]
            peaks = sorted(refined, key=lambda place: (-place.similarity, place.variant))
        matches = self._drop_overlaps(peaks, variants, query, limit, multiple=multiple)
        return [match for _, match in matches]

    def _level(self, stride: int) -> Level:
        """Return the level of a stride, computed on first use."""
        if stride == 1:
            return self.level
        if stride not in self.levels_by_stride:
            self.levels_by_stride[stride] = Level.build(self.level.vectors, self.level.firsts, stride)
        return self.levels_by_stride[stride]

    def _drop_overlaps(
        self, peaks: Iterable[Peak], variants: Sequence[QueryVariant], query: PartTrack, n: int, *, multiple: bool
    ) -> list[tuple[Peak, PartMatch]]:
        """Return the first n peaks in different clips, or without overlap, and their matches."""
        selected: list[tuple[Peak, PartMatch]] = []
        matches_by_clip: dict[int, list[PartMatch]] = {}
        for peak in peaks:
            match = self._build_match(peak, variants[peak.variant], query)
            others = matches_by_clip.setdefault(peak.clip, [])
            is_separate = all(match.end_s <= other.start_s or match.start_s >= other.end_s for other in others)
            if is_separate if multiple else not others:
                others.append(match)
                selected.append((peak, match))
                if len(selected) == n:
                    break
        return selected

    def _build_match(self, peak: Peak, variant: QueryVariant, query: PartTrack) -> PartMatch:
        duration_s = float(self.durations_s[peak.clip])
        length_s = min(query.duration_s / variant.speed, duration_s)
        start_s = peak.shift / RATE + query.start_offset_s / variant.speed
        start_s = min(max(start_s, 0.0), duration_s - length_s)
        return PartMatch(peak.clip, start_s, start_s + length_s, 1.0 - peak.similarity, variant.mirrored, variant.speed)


class IncrementalPartGallery:
    """A gallery that clips can be added to. Strides that were used once are extended with it."""

    def __init__(self) -> None:
        self._levels = {1: IncrementalLevel(1)}
        self._durations_s = GrowableArray(np.empty(0))
        self._last_snapshot: PartGallery | None = None

    def add(self, tracks: Sequence[PartTrack]) -> None:
        """Append clips."""
        self._adopt_levels()
        vectors = np.concatenate([np.zeros((0, SIZE), np.float16), *(each.vectors for each in tracks)])
        samples, lengths = vectors.astype(np.float32), np.array([len(each) for each in tracks], np.int32)
        for level in self._levels.values():
            level.add(samples, lengths)
        self._durations_s.add(np.array([each.duration_s for each in tracks]))

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        self._adopt_levels()
        for level in self._levels.values():
            level.keep(indices)
        self._durations_s.keep(indices)

    def snapshot(self) -> PartGallery:
        """Return the gallery of the current clips."""
        levels = {stride: level.snapshot() for stride, level in self._levels.items()}
        self._last_snapshot = PartGallery(levels.pop(1), self._durations_s.view, levels)
        return self._last_snapshot

    def _adopt_levels(self) -> None:
        """Take over the strides that were computed since the last change."""
        if self._last_snapshot is not None:
            new = {
                stride: level
                for stride, level in self._last_snapshot.levels_by_stride.copy().items()
                if stride not in self._levels
            }
            self._levels |= {stride: IncrementalLevel.from_level(level) for stride, level in new.items()}
            self._last_snapshot = None
