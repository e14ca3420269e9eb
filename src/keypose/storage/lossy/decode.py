"""Decode the frames of a motion, each group separately."""

from __future__ import annotations

from keypose.arrays import Floats
from keypose.model import Skeleton
from keypose.storage.groups import CodingError, group_bounds
from keypose.storage.lossy.plan import Plan


class LossyDecoder:
    """Decodes the groups of one clip, in any order."""

    def __init__(self, skeleton: Skeleton, fps: float, n_frames: int, parameters: bytes) -> None:
        """``parameters`` are the bytes shared by all groups. Raises ``CodingError`` if they are invalid."""
        self._bounds = group_bounds(n_frames, fps)
        try:
            self._kernel = Plan.from_bytes(parameters, skeleton.n_joints).build_kernel(skeleton)
        except (ValueError, OverflowError) as error:
            raise CodingError(str(error)) from None

    def decode_group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Return translations (n, J, 3) and rotations (n, J, 4) of group ``g``; ``next_pose``: of the next group."""
        start, stop = self._bounds[g]
        try:
            first = self._kernel.decode_pose(pose)
            next_numbers = None if next_pose is None else self._kernel.decode_pose(next_pose)
            return self._kernel.poses(self._kernel.decode_body(stop - start, body, first, next_numbers))
        except (ValueError, RuntimeError) as error:
            raise CodingError(str(error)) from None
