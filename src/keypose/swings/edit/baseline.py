"""The state before all edits, retimed with the whole clip, and values derived from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.balance import Balance, balance
from keypose.curves.edit.hinges import HingeResult, hold_hinges
from keypose.errors import OptionError, format_count
from keypose.model import Curves, FootContacts, Motion
from keypose.options import SwingEditOptions
from keypose.rotations import angle_between, at_frames, conjugate, multiply
from keypose.swings.edit.detail import apply_to_capture, spread_frames
from keypose.swings.edit.neighbours import MIN_FADE_S, PaceLimits
from keypose.swings.edit.pieces import Piece, add_rests, build_track_without_rests, cut_rests, split_track
from keypose.swings.edit.time_map import SpeedLimits, TimeMap, measure_speed_limits
from keypose.swings.model import Swings
from keypose.swings.swing import Path
from keypose.swings.track import Track


@dataclass(frozen=True, eq=False)
class Baseline:
    """The swings before all edits, and the capture to which edits are applied, if there is one."""

    original: Original
    base: Swings  # the unedited swings, retimed with the whole clip
    source: Floats | None = None  # (T,) the original frame, which may be fractional, of each frame; None: the same
    gains: Mapping[int, float] = field(default_factory=dict)  # by joint: factor of the captured detail
    # By joint (T,): the frame of ``base`` that corresponds to each frame.
    warps: Mapping[int, Floats] = field(default_factory=dict)
    shares: Mapping[int, Floats] = field(default_factory=dict)  # by joint (T,): share of the detail that remains
    return_s: float = SwingEditOptions.return_s  # time in which edited joints return to their old motion

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

    def detail_displacement(
        self, joint: int, track: Track, new_track: Track, warp: Floats, zones: Iterable[tuple[int, int]]
    ) -> Floats:
        """Return the angles (T,) by which a joint differs outside of ``zones`` because its captured detail is moved to
        the times ``warp`` (T,)."""
        angles = np.zeros(len(warp))
        capture, all_frames = self.original.capture, np.arange(len(warp), dtype=np.float64)
        is_outside = warp != all_frames
        for first, last in zones:
            is_outside[first : last + 1] = False
        if capture is None or not is_outside.any():
            return angles
        frames = np.flatnonzero(is_outside)
        old_warp, source = self.warps.get(joint, all_frames), all_frames if self.source is None else self.source

        def edited_rotations(edited_track: Track, times: Floats) -> Floats:
            base_times = _interpolate(old_warp, times)
            captured_rotations = at_frames(capture.rotations[:, joint], _interpolate(source, base_times))
            detail = multiply(conjugate(self.base.tracks[joint].sample(base_times)), captured_rotations)
            return multiply(edited_track.sample(frames.astype(np.float64)), detail)

        angles[frames] = angle_between(
            edited_rotations(track, frames.astype(np.float64)), edited_rotations(new_track, warp[frames])
        )
        return angles

    def play(self, swings: Swings, level: float = 1.0) -> Motion:
        """Return the motion of edited swings, applied to the capture if there is one, without planted feet."""
        return self.limit_hinges(swings, level).motion

    def limit_hinges(self, swings: Swings, level: float = 1.0) -> HingeResult:
        """Return the same, and which knees and elbows were limited to their range."""
        changed_joints = [j for j, track in enumerate(swings.tracks) if track is not self.base.tracks[j]]
        motion = self.play_unlimited(swings, level)
        if not changed_joints:
            return HingeResult(motion)
        return hold_hinges(self.original.motion, motion, source=self.source, joints=changed_joints)

    def play_unlimited(self, swings: Swings, level: float = 1.0) -> Motion:
        """Return the motion of edited swings without limiting knees and elbows."""
        capture = self.original.capture
        if capture is None:
            return swings.play(level)
        if level != 1:
            raise OptionError(
                "leaves swings out, but over a capture all is played", option="level", value=level, expected="1"
            )
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
    """Return the first and the last frame of a capture that change, given the range in which the played swings change.

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
    """Return ``values`` (T,) at ``frames`` (N,), which may be fractional."""
    return np.asarray(np.interp(frames, np.arange(len(values)), values))


@dataclass(frozen=True, eq=False)
class Original:
    """The swings and the capture before all edits."""

    swings: Swings
    capture: Motion | None

    @cached_property
    def motion(self) -> Motion:
        """The capture or, without one, the motion of the swings."""
        return self.swings.play() if self.capture is None else self.capture

    @cached_property
    def contacts(self) -> FootContacts:
        """Foot contacts: those stored with the swings or, if unknown, those of the motion."""
        stored = self.swings.contacts
        return stored if stored is not None else self.motion.foot_contacts()

    @cached_property
    def balance(self) -> Balance | None:
        """The balance of the motion; None if masses are unknown, as for a figure without recognised limbs."""
        try:
            return balance(self.motion, contacts=self.contacts)
        except OptionError:
            return None

    @cached_property
    def speed_limits(self) -> SpeedLimits:
        """The speed limits of joints."""
        return measure_speed_limits(self.swings)


def retime_swings(swings: Swings, time_map: TimeMap) -> Swings:
    """Return swings with all frames mapped: swings, rests, keys, paths and contacts."""
    n_frames = time_map.n_frames
    contacts = swings.contacts
    if contacts is not None:
        nearest = np.floor(time_map.source_times(np.arange(n_frames, dtype=np.float64)) + 0.5).astype(int)
        contacts = FootContacts(contacts.feet, contacts.in_contact[nearest])
    return replace(
        swings,
        n_frames=n_frames,
        tracks=tuple(_retime_track(track, time_map) for track in swings.tracks),
        paths=tuple(_retime_path(path, time_map) for path in swings.paths),
        contacts=contacts,
    )


def _retime_track(track: Track, time_map: TimeMap) -> Track:
    row = [piece for piece in split_track(track) if piece.rest is None]
    ends = np.array(sorted({frame for piece in row for frame in (piece.start, piece.end)}), np.int32)
    if len(ends) > time_map.n_frames:
        raise OptionError(
            f"{track.joint} has {format_count(track.n_swings, 'swing')} and {len(track.keyed)} keyed spans, which "
            f"need at least {format_count(len(ends), 'frame')}",
            hint=f"{time_map.n_frames} are too few",
        )
    new_frames = dict(
        zip(ends.tolist(), _separate_frames(time_map.map_frames(ends), time_map.n_frames).tolist(), strict=True)
    )
    new_row = [_retime_piece(track, piece, new_frames[piece.start], new_frames[piece.end], time_map) for piece in row]
    rest_starts = time_map.map_frames(track.rest_starts)
    rest_ends = np.minimum(time_map.map_frames(track.rest_ends + 1), time_map.n_frames) - 1
    rest_ends[track.rest_ends == time_map.before[-1]] = time_map.n_frames - 1
    # the frame at which a rest is played stays in its middle
    rest_ends = np.minimum(rest_ends, 2 * time_map.map_frames(track.rest_middles) - rest_starts + 1)
    return add_rests(
        build_track_without_rests(track, new_row), cut_rests(rest_starts, rest_ends, new_row), track.rest_rotations
    )


def _retime_piece(track: Track, piece: Piece, start: int, end: int, time_map: TimeMap) -> Piece:
    if piece.rotation_vector is not None:
        return replace(piece, frames=np.array((start, end), np.int32))
    if len(piece.frames) == piece.n_frames:  # if there was a key on every frame, there still is
        frames = np.arange(start, end + 1, dtype=np.int32)
        source_times = np.clip(time_map.source_times(frames.astype(np.float64)), piece.start, piece.end)
        source_times[0], source_times[-1] = piece.start, piece.end
        return replace(piece, frames=frames, rotations=track.sample(source_times))
    new_frames = np.clip(time_map.map_frames(piece.frames), start, end)
    new_frames[0], new_frames[-1] = start, end
    frames, key_indices = np.unique(new_frames, return_index=True)
    # Of keys on the same frame the first remains; the first and last key always remain.
    key_indices[-1] = len(new_frames) - 1
    return replace(piece, frames=frames, rotations=piece.rotations[key_indices])


def _retime_path(path: Path, time_map: TimeMap) -> Path:
    """Return a path with moved keys and scaled tangents; with a key on every frame if it had one before or keys
    collide."""
    keys = time_map.map_frames(path.keys)
    is_dense = len(keys) > 1 and not path.curves.is_cubic and (np.diff(path.keys) == 1).all()
    if is_dense or (np.diff(keys) == 0).any():
        frames = np.arange(time_map.n_frames, dtype=np.float64)
        return Path(path.joint, frames.astype(np.int32), Curves(path.sample(time_map.source_times(frames))[:, None]))
    curves = path.curves
    if curves.in_tangents is None or curves.out_tangents is None:
        return Path(path.joint, keys, curves)
    factor = (np.diff(path.keys) / np.diff(keys))[:, None, None]
    in_tangents, out_tangents = curves.in_tangents.copy(), curves.out_tangents.copy()
    out_tangents[:-1] *= factor
    in_tangents[1:] *= factor
    return Path(path.joint, keys, Curves(curves.values, in_tangents, out_tangents))


def _separate_frames(frames: Ints, n_frames: int) -> Ints:
    """Return frames made distinct after rounding, within the clip."""
    steps = np.arange(len(frames))
    separated = np.maximum.accumulate(frames - steps) + steps
    return np.minimum(separated, n_frames - len(frames) + steps).astype(np.int32)
