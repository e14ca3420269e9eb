"""Properties of a stored motion that are known from its header."""

from __future__ import annotations

from keypose.kinematics import Up
from keypose.model import Pose, Skeleton
from keypose.storage.groups import LOSSLESS, NO_FRAMES, group_frames
from keypose.storage.header.clip_header import ClipHeader


class HeaderFields:
    """The fields of a file's header."""

    def __init__(self, header: ClipHeader, n_bytes: int) -> None:
        self._header = header
        self._n_bytes = n_bytes

    @property
    def name(self) -> str:
        """Return the name of the clip."""
        return self._header.name

    @property
    def skeleton(self) -> Skeleton:
        """Return the skeleton of the original file."""
        return self._header.skeleton

    @property
    def fps(self) -> float:
        """Return the frames per second."""
        return self._header.fps

    @property
    def n_frames(self) -> int:
        """Return the number of frames."""
        return self._header.n_frames

    @property
    def n_joints(self) -> int:
        """Return the number of joints, without end sites."""
        return self._header.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Return the seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def up(self) -> Up:
        """Return the up axis."""
        return self._header.up

    @property
    def metres_per_unit(self) -> float | None:
        """Return the metres per file unit; None: unknown."""
        return self._header.metres_per_unit

    @property
    def first_frame(self) -> int:
        """Return the number of frame 0 in the source."""
        return self._header.first_frame

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the reader of the original."""
        return self._header.notes

    @property
    def reference_pose(self) -> Pose | None:
        """Return the reference pose, which is not part of the movement; None: there is none."""
        return self._header.reference_pose

    @property
    def tolerance_mm(self) -> float | None:
        """Return the error bound in mm on a figure of 1.7 m; None: lossless, or no stored frames."""
        return self._header.tolerance_mm

    @property
    def lossless(self) -> bool:
        """Return whether every number is restored exactly."""
        return self._header.kind == LOSSLESS

    @property
    def has_frames(self) -> bool:
        """Return whether frames are stored; if not, they are played from the stored keys or swings."""
        return self._header.kind != NO_FRAMES

    @property
    def has_keys(self) -> bool:
        """Return whether the file has keys."""
        return self._header.keys_bytes is not None

    @property
    def has_swings(self) -> bool:
        """Return whether the file has swings."""
        return self._header.swings_bytes is not None

    @property
    def n_groups(self) -> int:
        """Return the number of groups of frames, each of which is decoded separately."""
        return self._header.n_groups

    @property
    def group_s(self) -> float:
        """Return the seconds per group; the last one has 0.5 to 1.5 times as many."""
        return group_frames(self.fps) / self.fps

    @property
    def n_bytes(self) -> int:
        """Return the size of the complete file in bytes."""
        return self._n_bytes
