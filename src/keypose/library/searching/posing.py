"""Search by pose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, JOINTS, PARTNERS
from keypose.library.descriptors.noun import Singles
from keypose.library.extra import sa
from keypose.library.searching.asking import Asked
from keypose.library.searching.body_parts import pose_scales
from keypose.library.searching.found import Found
from keypose.library.searching.hits import SpanPair
from keypose.library.searching.shelf import Chosen, PoseFound, Shelf

HALF_CM = 10.0  # joints that are so far apart score a half
APART_S = 1.0  # between poses of one clip
_MIRRORED = np.append((3 * np.array(PARTNERS)[:, None] + np.arange(3)).ravel(), 3 * len(JOINTS))
_SIGNS = np.append(np.tile((-1.0, 1.0, 1.0), len(JOINTS)), 1.0).astype(np.float32)


def mirrored_pose(vector: Singles) -> Singles:
    """The pose in a mirror."""
    flipped: Singles = vector[_MIRRORED] * _SIGNS
    return flipped


@dataclass(frozen=True, eq=False)
class ByPose:
    """Poses by the places of joints as the body sees them, and the height of the hips above the floor."""

    asked: Asked
    frame: int
    mirrored: bool
    joints: tuple[str, ...] | None
    several: bool = False

    def candidates(self, connection: sa.Connection, shelf: Shelf, chosen: Chosen, keep: int) -> list[Found]:
        """The nearest stored poses. Parts that matter are those of the query: in a mirror, those of the other side."""
        scales = pose_scales(self.joints)
        ways = [self.asked.pose(self.frame)]
        if not self.mirrored:
            return self._found(shelf.poses(connection, ways, scales, chosen, keep, self._apart_s), ways, scales)
        other = scales[_MIRRORED]
        ways.append(mirrored_pose(ways[0]))
        if np.array_equal(other, scales):
            return self._found(shelf.poses(connection, ways, scales, chosen, keep, self._apart_s), ways, scales)
        plain = self._found(shelf.poses(connection, ways[:1], scales, chosen, keep, self._apart_s), ways, scales)
        flipped = self._found(
            shelf.poses(connection, ways[1:], other, chosen, keep, self._apart_s), ways, other, first_way=1
        )
        return self._merged(plain, flipped)[:keep]

    def explained(self, connection: sa.Connection, shelf: Shelf, wanted: Sequence[Found]) -> list[Found]:
        """They know it already."""
        return list(wanted)

    @property
    def _apart_s(self) -> float:
        return APART_S if self.several else math.inf

    def _found(
        self, poses: Sequence[PoseFound], ways: Sequence[Singles], scales: Floats, first_way: int = 0
    ) -> list[Found]:
        return [self._one(pose, ways[first_way + pose.way], first_way + pose.way, scales) for pose in poses]

    def _one(self, pose: PoseFound, asked: Singles, way: int, scales: Floats) -> Found:
        counted = np.flatnonzero(scales[: 3 * len(JOINTS) : 3])
        off = (pose.vector - asked)[: 3 * len(JOINTS)].reshape(-1, 3)[counted]
        centimetres = 100.0 * float(np.linalg.norm(off, axis=1).mean())
        rms_cm = 100.0 * pose.distance / math.sqrt(len(counted))
        start = self.frame / self.asked.fps
        end = (self.frame + 1) / self.asked.fps
        pair = SpanPair(start, end, pose.time_s, pose.time_s + 1.0 / FPS, centimetres)
        return Found(pose.clip, 1.0 / (1.0 + rms_cm / HALF_CM), pose.time_s, pose.time_s, start, end, way == 1, (pair,),
                     centimetres)  # fmt: skip

    def _merged(self, plain: Sequence[Found], flipped: Sequence[Found]) -> list[Found]:
        """Both together, the nearest first, poses of one clip apart as they should be."""
        kept: list[Found] = []
        for found in sorted((*plain, *flipped), key=lambda each: (-each.score, each.mirrored)):
            near = (each.start_s for each in kept if each.number == found.number)
            if all(abs(found.start_s - other) >= self._apart_s for other in near):
                kept.append(found)
        return kept
