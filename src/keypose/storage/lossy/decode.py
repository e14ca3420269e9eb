"""Bytes to the frames of a motion, any group without the others."""

from __future__ import annotations

from keypose.arrays import Floats
from keypose.model import Skeleton
from keypose.storage.groups import CodingError, group_bounds
from keypose.storage.lossy.plan import Plan


class LossyDecoder:
    """Reads the groups of one clip, in any order."""

    def __init__(self, skeleton: Skeleton, fps: float, n_frames: int, clip: bytes) -> None:
        """``clip`` is what all groups share. Raises ``CodingError`` where no encoder can have written it."""
        self._bounds = group_bounds(n_frames, fps)
        try:
            self._clip = Plan.from_bytes(clip, skeleton.n_joints).kernel(skeleton)
        except (ValueError, OverflowError) as error:
            raise CodingError(str(error)) from None

    def group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Translations (n, J, 3) and rotations (n, J, 4) of group ``g``; ``next_pose`` is that of the next one."""
        start, stop = self._bounds[g]
        try:
            first = self._clip.decode_pose(pose)
            after = None if next_pose is None else self._clip.decode_pose(next_pose)
            return self._clip.poses(self._clip.decode_body(stop - start, body, first, after))
        except (ValueError, RuntimeError) as error:
            raise CodingError(str(error)) from None
