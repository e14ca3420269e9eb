"""The variants of a query: mirrored, slower and faster, restricted to body parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.arrays import Bools, Floats, Frozen
from keypose.errors import OptionError
from keypose.library.descriptors.description import Singles
from keypose.library.part_search.basis import AXES
from keypose.library.part_search.body_features import GROUPS
from keypose.library.part_search.track import PartTrack
from keypose.validation import format_value

SPEEDS = (1.0, 0.7, 1.4)  # of the span relative to the query
GROUP_NAMES = {
    **{group: (group,) for group in GROUPS},
    "arms": ("left_arm", "right_arm"),
    "legs": ("left_leg", "right_leg"),
}
_MIRRORED_GROUPS = {"left_arm": "right_arm", "right_arm": "left_arm", "left_leg": "right_leg", "right_leg": "left_leg"}


@dataclass(frozen=True, eq=False)
class QueryVariant(Frozen):
    """One form in which the query is searched for."""

    vectors: Singles  # (n, SIZE); 0 for groups that do not count
    groups: Bools  # (len(GROUPS),) which count
    mirrored: bool
    speed: float

    @cached_property
    def square_sum(self) -> float:
        """The sum of all squares."""
        return float(np.square(self.vectors, dtype=np.float64).sum())


def build_variants(query: PartTrack, mirrored: PartTrack | None, joints: Sequence[str] | None) -> list[QueryVariant]:
    """Return all variants, the unchanged query first."""
    groups = parse_groups(joints)
    variants = _build_at_speeds(query, groups, mirrored=False)
    if mirrored is not None:
        variants += _build_at_speeds(mirrored, {_MIRRORED_GROUPS.get(group, group) for group in groups}, mirrored=True)
    return variants


def parse_groups(joints: Sequence[str] | None) -> set[str]:
    """Return the groups of these names; None: all."""
    if joints is None:
        return set(GROUPS)
    if isinstance(joints, str) or not joints or any(name not in GROUP_NAMES for name in joints):
        raise OptionError(f"joints={format_value(joints)}, expected some of {', '.join(GROUP_NAMES)}")
    return {group for name in joints for group in GROUP_NAMES[name]}


def _build_at_speeds(track: PartTrack, group_names: set[str], *, mirrored: bool) -> list[QueryVariant]:
    groups = np.array([group in group_names for group in GROUPS])
    vectors = track.vectors.astype(np.float32) * np.repeat(groups, AXES)
    by_length: dict[int, float] = {}  # several speeds of a short query have the same length
    for speed in SPEEDS:
        by_length.setdefault(max(round(len(vectors) / speed), 1), speed)
    return [QueryVariant(_resample(vectors, n), groups, mirrored, speed) for n, speed in by_length.items()]


def _resample(vectors: Singles, n: int) -> Singles:
    """Return ``vectors`` (m, D) linearly resampled to n samples."""
    if n == len(vectors):
        return vectors
    at: Floats = np.clip((np.arange(n) + 0.5) * len(vectors) / n - 0.5, 0.0, len(vectors) - 1)
    before = at.astype(int)
    after = np.minimum(before + 1, len(vectors) - 1)
    share = (at - before)[:, None].astype(np.float32)
    resampled: Singles = (1 - share) * vectors[before] + share * vectors[after]
    return resampled
