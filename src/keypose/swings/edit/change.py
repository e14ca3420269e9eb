"""The result of an operation on swings: the swings after it, and the frames that may play differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.curves.edit.foot_plants import PlantResult
from keypose.model import Motion
from keypose.swings.edit.balance import find_tips
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.feet import hold_feet
from keypose.swings.model import Swings
from keypose.swings.track import Track

MAX_TIP_SAMPLES = 60_000  # frames x joints: for longer clips repr() does not compute tips


@dataclass(frozen=True, eq=False)
class SwingChange:
    """Swings after an operation. Frames outside ``first`` to ``last`` and joints not listed play exactly the same.

    That is without planting feet, which may rotate legs.
    """

    swings: Swings
    first: int  # the first and the last frame that may differ; last < first: none
    last: int
    joints: tuple[int, ...]  # those that play differently in some frame
    note: str = ""  # remarks of the operation
    baseline: Baseline | None = None  # the state before all operations
    holds_feet: bool = False  # feet are planted when played, since an operation so far moved legs or hips

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    @property
    def plant_result(self) -> PlantResult | None:
        """The motion with feet planted, computed on each access; None: no operation moved legs or hips."""
        if not self.holds_feet or self.baseline is None:
            return None
        return hold_feet(self.baseline, self.swings, self.baseline.play(self.swings))

    @property
    def motion(self) -> Motion:
        """The motion after the operation, with feet planted if legs or hips were moved."""
        planted = self.plant_result
        if planted is not None:
            return planted.motion
        return self.swings.play() if self.baseline is None else self.baseline.play(self.swings)

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """Descriptions of when the figure tips over though it did not before all edits."""
        return () if self.baseline is None else find_tips(self.baseline, self.swings, self.motion)

    def __repr__(self) -> str:
        where = f"frames {self.first} to {self.last}" if self.joints else "nothing"
        names = ", ".join(self.swings.skeleton.names[j] for j in self.joints[:4])
        more = f" and {len(self.joints) - 4} more" if len(self.joints) > 4 else ""
        is_long = self.swings.n_frames * self.swings.n_joints > MAX_TIP_SAMPLES
        tips = self.__dict__.get("tips", ()) if is_long else self.tips
        details = "".join(f", {text}" for text in ((f"{names}{more}" if names else ""), self.note, *tips) if text)
        return f"SwingChange({where}{details})"


def build_change(swings: Swings, tracks: Mapping[int, Track], note: str = "") -> SwingChange:
    """Return ``swings`` with other tracks as a change; joints that play the same in every frame are not listed."""
    frames = np.arange(swings.n_frames, dtype=np.float64)
    new_tracks = {j: track for j, track in tracks.items() if track is not swings.tracks[j]}
    if not new_tracks:
        return SwingChange(swings, 0, -1, (), note or "nothing to change")
    changed_frames = {
        j: np.flatnonzero((track.sample(frames) != swings.tracks[j].sample(frames)).any(axis=1))
        for j, track in new_tracks.items()
    }
    changed_joints = tuple(sorted(j for j, changed in changed_frames.items() if len(changed)))
    if not changed_joints:
        return SwingChange(swings.replace_tracks(new_tracks), 0, -1, (), note or "plays the same")
    first, last = (
        min(int(changed_frames[j][0]) for j in changed_joints),
        max(int(changed_frames[j][-1]) for j in changed_joints),
    )
    return SwingChange(swings.replace_tracks(new_tracks), first, last, changed_joints, note)
