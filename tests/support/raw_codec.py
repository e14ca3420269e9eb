"""A codec that stores raw floats, to test the container alone.

As in the real codec, a group needs the pose of the next group; it is refused with another one.
"""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np

from keypose.storage.groups import CodedFrames, CodingError, group_bounds

CLIP = b"raw!"


def encode(motion, tolerance_mm, *, progress=None):
    rows = np.concatenate((motion.translations, motion.rotations), axis=2)
    bounds = group_bounds(motion.n_frames, motion.fps)
    poses = tuple(rows[start].tobytes() for start, _ in bounds)
    follow = (*poses[1:], b"")
    bodies = tuple(
        zlib.crc32(after).to_bytes(4, "little") + rows[start + 1 : stop].tobytes()
        for (start, stop), after in zip(bounds, follow, strict=True)
    )
    if progress is not None:
        progress(1.0)
    return CodedFrames(1, CLIP, poses, bodies)


class LossyDecoder:
    def __init__(self, skeleton, fps, n_frames, clip):
        if clip != CLIP:
            raise CodingError(f"{clip!r}, expected {CLIP!r}")
        self.joints = skeleton.n_joints
        self.n_groups = len(group_bounds(n_frames, fps))

    def decode_group(self, g, pose, body, next_pose):
        assert (next_pose is None) == (g == self.n_groups - 1)
        if body[:4] != zlib.crc32(next_pose or b"").to_bytes(4, "little"):
            raise CodingError("not the pose of the next group")
        rows = np.frombuffer(pose + body[4:]).reshape(-1, self.joints, 7)
        return rows[..., :3], rows[..., 3:]


MODULE = SimpleNamespace(encode=encode, LossyDecoder=LossyDecoder)
