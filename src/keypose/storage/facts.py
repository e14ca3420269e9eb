"""What is known of a stored motion before any frame of it is read."""

from __future__ import annotations

from keypose.kinematics import Up
from keypose.model import Pose, Skeleton
from keypose.storage.groups import LOSSLESS, NO_FRAMES, group_frames
from keypose.storage.head.clips import Clip


class Facts:
    """What the header of a file says."""

    def __init__(self, clip: Clip, n_bytes: int) -> None:
        self._clip = clip
        self._n_bytes = n_bytes

    @property
    def name(self) -> str:
        """The clip's name."""
        return self._clip.name

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton, as the original file had it."""
        return self._clip.skeleton

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self._clip.fps

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return self._clip.n_frames

    @property
    def n_joints(self) -> int:
        """How many joints there are, end sites not counted."""
        return self._clip.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def up(self) -> Up:
        """The up axis."""
        return self._clip.up

    @property
    def metres_per_unit(self) -> float | None:
        """How many metres a unit is; None: nobody knows."""
        return self._clip.metres_per_unit

    @property
    def first_frame(self) -> int:
        """The number that the source gave to frame 0."""
        return self._clip.first_frame

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed when the original was read."""
        return self._clip.notes

    @property
    def reference_pose(self) -> Pose | None:
        """A pose that is no part of the movement."""
        return self._clip.reference_pose

    @property
    def tolerance_mm(self) -> float | None:
        """The largest error that was promised, in mm on a figure of 1.7 m; None: lossless, or no frames of its own."""
        return self._clip.tolerance_mm

    @property
    def lossless(self) -> bool:
        """Whether every number comes back as it was."""
        return self._clip.kind == LOSSLESS

    @property
    def has_frames(self) -> bool:
        """Whether frames are stored; if not, they are played from the keys or swings that are."""
        return self._clip.kind != NO_FRAMES

    @property
    def has_keys(self) -> bool:
        """Whether ``keyed`` has something to read."""
        return self._clip.keys_bytes is not None

    @property
    def has_swings(self) -> bool:
        """Whether ``swings`` has something to read."""
        return self._clip.swings_bytes is not None

    @property
    def n_groups(self) -> int:
        """How many groups of frames there are, each of which is read alone."""
        return self._clip.n_groups

    @property
    def group_s(self) -> float:
        """How many seconds a group has; the last one has half of it to one and a half."""
        return group_frames(self.fps) / self.fps

    @property
    def n_bytes(self) -> int:
        """How many bytes the file has when it is whole."""
        return self._n_bytes
