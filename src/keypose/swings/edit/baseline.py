"""The state before all edits, retimed with the whole clip, and values derived from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats
from keypose.balance import Balance, balance
from keypose.curves.edit.hinges import HingeResult, hold_hinges
from keypose.errors import OptionError
from keypose.model import FootContacts, Motion
from keypose.swings.edit.detail import apply_to_capture, spread_frames
from keypose.swings.edit.fade import MIN_FADE_S, PaceLimits
from keypose.swings.edit.retime_clip import retime_swings
from keypose.swings.edit.speed_limits import SpeedLimits, measure_speed_limits
from keypose.swings.edit.time_map import TimeMap
from keypose.swings.model import Swings


@dataclass(frozen=True, eq=False)
class Baseline:
    """The swings before all edits, and the capture to which edits are applied, if there is one."""

    original: Original
    base: Swings  # the unedited swings, retimed with the whole clip
    source: Floats | None = None  # (T,) the original frame, whole or not, of each frame; None: the same
    gains: Mapping[int, float] = field(default_factory=dict)  # by joint: factor of the captured detail
    warps: Mapping[int, Floats] = field(default_factory=dict)  # by joint (T,): the frame of ``base`` that each follows
    shares: Mapping[int, Floats] = field(default_factory=dict)  # by joint (T,): share of the detail that remains

    @classmethod
    def build(cls, swings: Swings, capture: Motion | None) -> Baseline:
        """Return the baseline before any operation."""
        return cls(Original(swings, capture), swings)

    def retime(self, time_map: TimeMap) -> Baseline:
        """Return the baseline with the whole clip retimed."""
        source_times = time_map.source_times(np.arange(time_map.n_frames, dtype=np.float64))
        source = source_times if self.source is None else _interpolate(self.source, source_times)
        warps = {j: time_map.map_times(_interpolate(warp, source_times)) for j, warp in self.warps.items()}
        shares = {j: _interpolate(share, source_times) for j, share in self.shares.items()}
        return replace(self, base=retime_swings(self.base, time_map), source=source, warps=warps, shares=shares)

    def warp_joints(self, warps: Mapping[int, Floats], shares: Mapping[int, Floats]) -> Baseline:
        """Return the baseline with some joints moved in time, and with less detail of some."""
        new_warps = {j: _interpolate(self.warps[j], warp) if j in self.warps else warp for j, warp in warps.items()}
        new_shares = {
            j: _interpolate(old_share, warps[j]) if j in warps else old_share for j, old_share in self.shares.items()
        }
        for j, share in shares.items():
            if (share < 1).any():
                new_shares[j] = np.minimum(share, new_shares[j]) if j in new_shares else share
        return replace(self, warps={**self.warps, **new_warps}, shares=new_shares)

    def scale_detail(self, joints: Iterable[int], factor: float) -> Baseline:
        """Return the baseline with the detail of some joints scaled."""
        return replace(self, gains={**self.gains, **{j: factor * self.gains.get(j, 1.0) for j in joints}})

    def play(self, swings: Swings, level: float = 1.0) -> Motion:
        """Return what edited swings play, applied to the capture if there is one, without planting feet."""
        return self.limit_hinges(swings, level).motion

    def limit_hinges(self, swings: Swings, level: float = 1.0) -> HingeResult:
        """Return the same, and which knees and elbows were limited to their range."""
        changed_joints = [j for j, track in enumerate(swings.tracks) if track is not self.base.tracks[j]]
        motion = self.play_unlimited(swings, level)
        if not changed_joints:
            return HingeResult(motion)
        return hold_hinges(self.original.motion, motion, source=self.source, joints=changed_joints)

    def play_unlimited(self, swings: Swings, level: float = 1.0) -> Motion:
        """Return the same without limiting knees and elbows."""
        capture = self.original.capture
        if capture is None:
            return swings.play(level)
        if level != 1:
            raise OptionError(f"level={level:g} leaves swings out, but over a capture all is played: expected 1")
        return apply_to_capture(capture, self.base, swings, self.source, self.gains, self.warps, self.shares)

    def pace_limits(self, swings: Swings, joint: int) -> PaceLimits:
        """Return the speed limits of a joint at seams, in the time of the retimed clip."""
        speedup = 1.0 if self.source is None else max(1.0, float(np.diff(self.source).max(initial=1.0)))
        limits = self.original.speed_limits
        hard, soft = limits.hard[joint] * speedup, limits.soft[joint] * speedup
        return PaceLimits(float(hard), float(soft), MIN_FADE_S * swings.fps)


def affected_frames(
    n_frames: int, fps: float, changed_range: tuple[int, int], before: Baseline, after: Baseline
) -> tuple[int, int]:
    """Return the first and the last frame of a capture that differ, given the range in which swings play differently.

    Detail moves with swings that are moved in time, disappears with deleted ones, and steps are smoothed.
    """
    first, last = changed_range
    if last < first:
        return changed_range
    frames, ones = np.arange(n_frames), np.ones(n_frames)
    changes = [at != before.warps.get(j, frames) for j, at in after.warps.items()]
    changes += [share != before.shares.get(j, ones) for j, share in after.shares.items()]
    changed_frames = np.flatnonzero(np.any(changes, axis=0)) if changes else np.zeros(0, int)
    spread = spread_frames(fps) + 1
    first, last = min([first, *changed_frames[:1].tolist()]), max([last, *changed_frames[-1:].tolist()])
    return max(0, first - spread), min(n_frames - 1, last + spread)


def _interpolate(values: Floats, frames: Floats) -> Floats:
    """Return ``values`` (T,) at ``frames`` (N,), whole or not."""
    return np.asarray(np.interp(frames, np.arange(len(values)), values))


@dataclass(frozen=True, eq=False)
class Original:
    """The swings and the capture before all edits."""

    swings: Swings
    capture: Motion | None

    @cached_property
    def motion(self) -> Motion:
        """The capture or, without one, what the swings play."""
        return self.swings.play() if self.capture is None else self.capture

    @cached_property
    def contacts(self) -> FootContacts:
        """Foot contacts: those stored with the swings or, if unknown, those of the motion."""
        stored = self.swings.contacts
        return stored if stored is not None else self.motion.foot_contacts()

    @cached_property
    def balance(self) -> Balance | None:
        """The balance of the motion; None if masses are unknown, as of a figure without recognised limbs."""
        try:
            return balance(self.motion, contacts=self.contacts)
        except OptionError:
            return None

    @cached_property
    def speed_limits(self) -> SpeedLimits:
        """The speed limits of joints."""
        return measure_speed_limits(self.swings)
