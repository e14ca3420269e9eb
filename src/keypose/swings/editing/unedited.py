"""What an edit started from, on the clock of what it has become: what edits ask of it again and again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats
from keypose.balance import Balance, balance
from keypose.errors import OptionError
from keypose.inbetween.editing.hinges import Hinged, hold_hinges
from keypose.model import FootContacts, Motion
from keypose.swings.editing.bounds import Bounds, bounds_of
from keypose.swings.editing.clock import Clock
from keypose.swings.editing.detail import over_capture, spread_frames
from keypose.swings.editing.fading import LEAST_FADE_S, Pace
from keypose.swings.editing.retime_clip import retimed
from keypose.swings.noun import Swings


@dataclass(frozen=True, eq=False)
class Unedited:
    """The swings that an edit started from, and the capture that it is put on top of, if there is one."""

    original: Origin
    base: Swings  # the unedited swings, retimed as the whole clip was since
    source: Floats | None = None  # (T,) the frame, whole or not, that each frame was before that; None: the same
    gains: Mapping[int, float] = field(default_factory=dict)  # of joints: how many times their captured detail
    warps: Mapping[int, Floats] = field(default_factory=dict)  # of joints (T,): which frame of ``base`` each follows
    shares: Mapping[int, Floats] = field(default_factory=dict)  # of joints (T,): how much of their detail is left

    @classmethod
    def of(cls, swings: Swings, capture: Motion | None) -> Unedited:
        """Before any operation."""
        return cls(Origin(swings, capture), swings)

    def on(self, clock: Clock) -> Unedited:
        """The same with the whole clip retimed."""
        came = clock.source(np.arange(clock.n_frames, dtype=np.float64))
        source = came if self.source is None else _at(self.source, came)
        warps = {j: clock.into(_at(at, came)) for j, at in self.warps.items()}
        shares = {j: _at(left, came) for j, left in self.shares.items()}
        return replace(self, base=retimed(self.base, clock), source=source, warps=warps, shares=shares)

    def warped(self, warps: Mapping[int, Floats], shares: Mapping[int, Floats]) -> Unedited:
        """The same with some joints moved in time, and with less of the detail of some."""
        now = {j: _at(self.warps[j], at) if j in self.warps else at for j, at in warps.items()}
        left = {j: _at(own, warps[j]) if j in warps else own for j, own in self.shares.items()}
        for j, share in shares.items():
            if (share < 1).any():
                left[j] = np.minimum(share, left[j]) if j in left else share
        return replace(self, warps={**self.warps, **now}, shares=left)

    def gained(self, joints: Iterable[int], factor: float) -> Unedited:
        """The same with the detail of some joints scaled."""
        return replace(self, gains={**self.gains, **{j: factor * self.gains.get(j, 1.0) for j in joints}})

    def shown(self, now: Swings, level: float = 1.0) -> Motion:
        """What edited swings ``now`` play, on top of the capture if there is one; feet go where they go."""
        return self.hinged(now, level).motion

    def hinged(self, now: Swings, level: float = 1.0) -> Hinged:
        """The same, and which knees and elbows had to be held in what they can do."""
        touched = [j for j, track in enumerate(now.tracks) if track is not self.base.tracks[j]]
        motion = self.unheld(now, level)
        if not touched:
            return Hinged(motion)
        return hold_hinges(self.original.played, motion, source=self.source, joints=touched)

    def unheld(self, now: Swings, level: float = 1.0) -> Motion:
        """The same with knees and elbows as the edit has them."""
        capture = self.original.capture
        if capture is None:
            return now.play(level)
        if level != 1:
            raise OptionError(f"level={level:g} leaves swings out, but over a capture all is played: expected 1")
        return over_capture(capture, self.base, now, self.source, self.gains, self.warps, self.shares)

    def pace(self, now: Swings, joint: int) -> Pace:
        """How fast a joint of ``now``, which may have been retimed as a whole, may turn at seams."""
        quicker = 1.0 if self.source is None else max(1.0, float(np.diff(self.source).max(initial=1.0)))
        bounds = self.original.bounds
        limit, usual = bounds.limits[joint] * quicker, bounds.paces[joint] * quicker
        return Pace(float(limit), float(usual), LEAST_FADE_S * now.fps)


def reach(n_frames: int, fps: float, played: tuple[int, int], before: Unedited, after: Unedited) -> tuple[int, int]:
    """The first and the last frame that differ over a capture, given those that are ``played`` differently by swings.

    Detail moves with swings that are moved in time and goes with those that are taken away, and steps are spread.
    """
    first, last = played
    if last < first:
        return played
    frames, whole = np.arange(n_frames), np.ones(n_frames)
    moved = [at != before.warps.get(j, frames) for j, at in after.warps.items()]
    moved += [left != before.shares.get(j, whole) for j, left in after.shares.items()]
    touched = np.flatnonzero(np.any(moved, axis=0)) if moved else np.zeros(0, int)
    spread = spread_frames(fps) + 1
    first, last = min([first, *touched[:1].tolist()]), max([last, *touched[-1:].tolist()])
    return max(0, first - spread), min(n_frames - 1, last + spread)


def _at(values: Floats, frames: Floats) -> Floats:
    """``values`` (T,) at ``frames`` (N,), whole or not."""
    return np.asarray(np.interp(frames, np.arange(len(values)), values))


@dataclass(frozen=True, eq=False)
class Origin:
    """Before all edits."""

    swings: Swings
    capture: Motion | None

    @cached_property
    def played(self) -> Motion:
        """The capture or, without one, what the swings play."""
        return self.swings.play() if self.capture is None else self.capture

    @cached_property
    def contacts(self) -> FootContacts:
        """When feet stand: as in the capture or, where that is not known, as played."""
        known = self.swings.contacts
        return known if known is not None else self.played.foot_contacts()

    @cached_property
    def balance(self) -> Balance | None:
        """How it is balanced; None where masses cannot be told, as of a figure without known arms and legs."""
        try:
            return balance(self.played, contacts=self.contacts)
        except OptionError:
            return None

    @cached_property
    def bounds(self) -> Bounds:
        """How fast joints turn."""
        return bounds_of(self.swings)
