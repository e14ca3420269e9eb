"""Swings before all edits, with what edits ask of them again and again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.arrays import Floats
from keypose.balance import Balance, balance
from keypose.errors import OptionError
from keypose.model import FootContacts, Motion
from keypose.swings.editing.bounds import Bounds, bounds_of
from keypose.swings.editing.detail import over_capture
from keypose.swings.editing.fading import LEAST_FADE_S, Pace
from keypose.swings.noun import Swings


@dataclass(frozen=True, eq=False)
class Unedited:
    """The swings that an edit started from, and the capture that it is put on top of, if there is one."""

    swings: Swings
    capture: Motion | None = None

    @cached_property
    def bare(self) -> Motion:
        """What the swings play."""
        return self.swings.play()

    @property
    def played(self) -> Motion:
        """The motion before all edits: the capture or, without one, what the swings play."""
        return self.bare if self.capture is None else self.capture

    def shown(self, now: Swings, level: float = 1.0) -> Motion:
        """What edited swings ``now`` play, on top of the capture if there is one; feet go where they go."""
        after = now.play(level)
        if self.capture is None:
            return after
        if level != 1:
            raise OptionError(f"level={level:g} leaves swings out, but over a capture all is played: expected 1")
        return over_capture(self.capture, self.bare, after, self.source(now))

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
    def _bounds(self) -> Bounds:
        return bounds_of(self.swings)

    def pace(self, now: Swings, joint: int) -> Pace:
        """How fast a joint of ``now``, which may have been retimed as a whole, may turn at seams."""
        quicker = max(1.0, (self.swings.n_frames - 1) / max(1, now.n_frames - 1))
        limit, usual = self._bounds.limits[joint] * quicker, self._bounds.paces[joint] * quicker
        return Pace(float(limit), float(usual), LEAST_FADE_S * now.fps)

    def source(self, now: Swings) -> Floats | None:
        """The frame here that belongs to each frame (T,) of ``now``; None: the same ones."""
        last = self.swings.n_frames - 1
        return None if now.n_frames == last + 1 else np.linspace(0.0, last, now.n_frames)
