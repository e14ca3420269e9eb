"""What an operation on swings gives back: the swings after it, and where they may play differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.inbetween.editing.planting import Planted
from keypose.model import Motion
from keypose.swings.editing.balancing import tips
from keypose.swings.editing.feet import with_feet_held
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.track import Track

LONG = 60_000  # frames x joints: beyond, a change is shown without asking whether the figure tips over


@dataclass(frozen=True, eq=False)
class SwingChange:
    """Swings after an operation. Frames outside ``first`` to ``last`` and joints not named play the same bits.

    That is without holding feet, which turns legs where it must.
    """

    swings: Swings
    first: int  # the first and the last frame that may differ; last before first: none does
    last: int
    joints: tuple[int, ...]  # those that play otherwise on some frame
    note: str = ""  # what the operation has to say
    before: Unedited | None = None  # what all operations started from
    holds_feet: bool = False  # when played, because this operation or one before it moved legs or hips

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    @property
    def held(self) -> Planted | None:
        """The motion with feet held where they stood, made anew; None: no operation moved legs or hips."""
        if not self.holds_feet or self.before is None:
            return None
        return with_feet_held(self.before, self.swings, self.before.shown(self.swings))

    @property
    def played(self) -> Motion:
        """The motion after the operation, feet held where they stood if legs or hips were moved."""
        held = self.held
        if held is not None:
            return held.motion
        return self.swings.play() if self.before is None else self.before.shown(self.swings)

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """When the figure tips over that stood before all edits, and how far its centre of mass is outside its feet."""
        return () if self.before is None else tips(self.before, self.swings, self.played)

    def __repr__(self) -> str:
        where = f"frames {self.first} to {self.last}" if self.joints else "nothing"
        names = ", ".join(self.swings.skeleton.names[j] for j in self.joints[:4])
        more = f" and {len(self.joints) - 4} more" if len(self.joints) > 4 else ""
        is_long = self.swings.n_frames * self.swings.n_joints > LONG
        known = self.__dict__.get("tips", ()) if is_long else self.tips
        said = "".join(f", {text}" for text in ((f"{names}{more}" if names else ""), self.note, *known) if text)
        return f"SwingChange({where}{said})"


def changed(now: Swings, tracks: Mapping[int, Track], note: str = "") -> SwingChange:
    """``now`` with other tracks. Those that play the same on every frame, with other rests, say, are not named."""
    frames = np.arange(now.n_frames, dtype=np.float64)
    others = {j: track for j, track in tracks.items() if track is not now.tracks[j]}
    if not others:
        return SwingChange(now, 0, -1, (), note or "nothing to change")
    differ = {
        j: np.flatnonzero((track.sample(frames) != now.tracks[j].sample(frames)).any(axis=1))
        for j, track in others.items()
    }
    touched = tuple(sorted(j for j, some in differ.items() if len(some)))
    if not touched:
        return SwingChange(now.with_tracks(others), 0, -1, (), note or "plays the same")
    first, last = min(int(differ[j][0]) for j in touched), max(int(differ[j][-1]) for j in touched)
    return SwingChange(now.with_tracks(others), first, last, touched, note)
