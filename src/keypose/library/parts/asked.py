"""What is looked for: the query, its mirror image, slower and faster, with the parts of the body that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.arrays import Bools, Floats, Frozen
from keypose.errors import OptionError
from keypose.library.descriptors.noun import Singles
from keypose.library.parts.basis import AXES
from keypose.library.parts.measure import GROUPS
from keypose.library.parts.track import PartTrack
from keypose.options import shown

SPEEDS = (1.0, 0.7, 1.4)  # of what is found against the query
NAMES = {
    **{group: (group,) for group in GROUPS},
    "arms": ("left_arm", "right_arm"),
    "legs": ("left_leg", "right_leg"),
}
_SIDES = {"left_arm": "right_arm", "right_arm": "left_arm", "left_leg": "right_leg", "right_leg": "left_leg"}


@dataclass(frozen=True, eq=False)
class Asked(Frozen):
    """One way in which the query may be found."""

    vectors: Singles  # (n, SIZE); 0 where a group does not count
    groups: Bools  # (len(GROUPS),) which count
    mirrored: bool
    speed: float

    @cached_property
    def square(self) -> float:
        """The sum of all squares."""
        return float(np.square(self.vectors, dtype=np.float64).sum())


def ways(query: PartTrack, mirrored: PartTrack | None, joints: Sequence[str] | None) -> list[Asked]:
    """All ways, the plain one first."""
    chosen = chosen_groups(joints)
    found = _at_speeds(query, chosen, mirrored=False)
    if mirrored is not None:
        found += _at_speeds(mirrored, {_SIDES.get(group, group) for group in chosen}, mirrored=True)
    return found


def chosen_groups(joints: Sequence[str] | None) -> set[str]:
    """The groups that these names mean; None is all."""
    if joints is None:
        return set(GROUPS)
    if isinstance(joints, str) or not joints or any(name not in NAMES for name in joints):
        raise OptionError(f"joints={shown(joints)}, expected some of {', '.join(NAMES)}")
    return {group for name in joints for group in NAMES[name]}


def _at_speeds(track: PartTrack, chosen: set[str], *, mirrored: bool) -> list[Asked]:
    groups = np.array([group in chosen for group in GROUPS])
    vectors = track.vectors.astype(np.float32) * np.repeat(groups, AXES)
    by_length: dict[int, float] = {}  # of a short query several speeds are the same
    for speed in SPEEDS:
        by_length.setdefault(max(round(len(vectors) / speed), 1), speed)
    return [Asked(_stretched(vectors, n), groups, mirrored, speed) for n, speed in by_length.items()]


def _stretched(vectors: Singles, n: int) -> Singles:
    """``vectors`` (m, D) drawn out, or together, to n samples."""
    if n == len(vectors):
        return vectors
    at: Floats = np.clip((np.arange(n) + 0.5) * len(vectors) / n - 0.5, 0.0, len(vectors) - 1)
    before = at.astype(int)
    after = np.minimum(before + 1, len(vectors) - 1)
    share = (at - before)[:, None].astype(np.float32)
    drawn: Singles = (1 - share) * vectors[before] + share * vectors[after]
    return drawn
