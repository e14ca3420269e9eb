"""Keys of their own for every joint: those that a method selects on the joint's curves, or the fewest within a
tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from keypose import kinematics
from keypose.api.key_count import auto_tolerance
from keypose.api.method_input import check_options, find_method
from keypose.api.select import ladder, selection_with_keys
from keypose.arrays import Floats, Ints, freeze
from keypose.curves.cubic_fit import build_channels, error_scale
from keypose.curves.keyed_motion import LEVER_MM, CurveOptions, build_joint_keyed_motion
from keypose.errors import Hint, OptionError
from keypose.extremes import find_extremes, mark_extremes
from keypose.kinematics import distances
from keypose.methods import METHODS
from keypose.methods.salient import FewestKeys, default_gap_frames
from keypose.model import Column, Features, InbetweenCosts, KeyedMotion, Motion
from keypose.rotations import IDENTITY

OPTIMAL = "salient"  # selects by the error of the curves that come out; other methods by the Euler angles of the file
MAX_GAP_S = 4.0  # between keys of a joint that hardly turns
START_SHARE, SEARCH_STEPS = 0.5, 8  # of the tolerance that each joint may use: the first that is tried, and steps
# Of three points at one distance in perpendicular directions, one moves at least 1 / LEVER_FACTOR times as far as the
# point at this distance that moves most.
LEVER_FACTOR = float(np.sqrt(1.5))


class _Part(NamedTuple):
    """The rotation or the translation of one joint, which changes."""

    joint: int
    is_rotation: bool


def unbake_per_joint(
    motion: Motion,
    method: str,
    curve_options: CurveOptions,
    keys: int | None,
    tolerance_mm: float | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    """Return ``motion`` with keys of their own for the rotation and the translation of every joint.

    ``keys`` is the number of keys of each. Without it a method decides itself; ``salient`` selects the fewest keys of
    each joint with which no joint is farther than ``tolerance_mm`` from the capture, by default 1 % of the height.
    ``options`` are those of the method.
    """
    check_options(find_method(method), options)
    fitter = _JointCurveFitter(motion, method, curve_options)
    if keys is not None:
        part_keys = [fitter.select(part, keys, options) for part in fitter.parts]
        keyed = fitter.fit(part_keys)
    elif method == OPTIMAL:
        keyed = _find_fewest(fitter, auto_tolerance(motion) if tolerance_mm is None else tolerance_mm, options)
    else:
        keyed = fitter.fit([fitter.select(part, None, options) for part in fitter.parts])
    return replace(keyed, extremes=mark_extremes(keyed.keys, find_extremes(motion), motion.fps))


class _JointCurveFitter:
    """Selects keys for each part of one motion, and fits curves through them."""

    def __init__(self, motion: Motion, method: str, options: CurveOptions) -> None:
        self.motion, self.method, self.options = motion, method, options
        # Keys that were selected on the Euler angles of the file belong on these curves.
        sees_own_angles = method != OPTIMAL and options.rotation == "euler"
        orders = motion.skeleton.rotation_orders if sees_own_angles else None
        self._channels = build_channels(motion, options.rotation, orders)
        is_turning = np.ptp(self._channels.rotations, axis=0).any(axis=1)
        is_moving = np.ptp(self._channels.translations, axis=0).any(axis=1)
        self.parts = [
            *(_Part(j, True) for j in np.flatnonzero(is_turning).tolist()),
            *(_Part(j, False) for j in np.flatnonzero(is_moving).tolist()),
        ]

    def select(self, part: _Part, keys: int | None, options: Mapping[str, Any]) -> Ints:
        """Return ``keys`` keys of one part, or the method's own number of keys."""
        source = self.optimal_input(part) if self.method == OPTIMAL else self._features(part)
        key_ladder = ladder(source, self.method, max_keys=None if keys is None else max(keys, 2), **options)
        if keys is not None:
            return selection_with_keys(key_ladder, keys).frames
        if key_ladder.natural is None:
            own = ", ".join(name for name, row in METHODS.items() if row.has_own_count)
            raise OptionError(
                f"{self.method} has no number of keys of its own (only {own} have one)",
                code="missing_argument",
                value=self.method,
                expected=Hint("keys=", "--keys"),
            )
        return key_ladder.at(key_ladder.natural).frames

    def fit(self, part_keys: Sequence[Ints]) -> KeyedMotion:
        """Return the keyed motion with the keys of each part; what does not change has the first and the last frame."""
        ends = np.unique([0, self.motion.n_frames - 1]).astype(np.int32)
        keys_of = dict(zip(self.parts, part_keys, strict=True))
        rotation_keys, translation_keys = (
            [keys_of.get(_Part(j, is_rotation), ends) for j in range(self.motion.n_joints)]
            for is_rotation in (True, False)
        )
        return build_joint_keyed_motion(
            self.motion,
            rotation_keys,
            translation_keys,
            self.options.interpolation,
            self._channels,
            shared=self.options.shared_tangents,
            jump_penalty=self.options.jump_penalty,
        )

    def max_error_mm(self, keyed: KeyedMotion) -> float:
        """Return the largest error of any joint in mm; in file units if the figure has no height."""
        errors = distances(self.motion.world_positions(), keyed.sample().world_positions())
        return error_scale(self.motion) * float(errors.max())

    def _features(self, part: _Part) -> Features:
        """Return the curves of one part: Euler angles in degrees, or positions."""
        source = self._euler_angles if part.is_rotation else self.motion.translations
        columns = tuple(Column(self.motion.skeleton.names[part.joint], axis) for axis in "xyz")
        return Features(source[:, part.joint], self.motion.fps, columns)

    @cached_property
    def _euler_angles(self) -> Floats:
        return self.motion.euler_curves()

    def optimal_input(self, part: _Part) -> InbetweenCosts:
        """Return the errors of spans of one part: how far they move what it carries, in mm.

        An error of a rotation is measured at three points as far from the joint as the farthest joint below it.
        """
        n_frames = self.motion.n_frames
        translations, rotations = np.zeros((n_frames, 4, 3)), np.empty((n_frames, 4, 4))
        rotations[:] = IDENTITY
        if part.is_rotation:
            rotations[:, 0] = self._quaternions[:, part.joint]
            translations[:, 1:] = self._levers_mm[part.joint] * np.eye(3)
            weights = np.array((0.0, 1.0, 1.0, 1.0))
        else:
            translations[:, 0] = error_scale(self.motion) * self._channels.translations[:, part.joint]
            weights = np.array((1.0, 0.0, 0.0, 0.0))
        parents = np.array((-1, 0, 0, 0), np.int32)
        return InbetweenCosts(
            fps=self.motion.fps,
            parents=parents,
            translations=freeze(translations),
            rotations=freeze(rotations),
            world_positions=freeze(kinematics.forward(parents, translations, rotations)[0]),
            weights=freeze(weights),
            is_straight=self.options.interpolation == "linear",
        )

    @cached_property
    def n_moved(self) -> Floats:
        """The number of joints (P,) that each part moves, at least one."""
        parents = self.motion.skeleton.parents.tolist()
        n_carried = np.ones(len(parents))  # with the joint itself
        for j in range(len(parents) - 1, -1, -1):  # parents come first
            if parents[j] >= 0:
                n_carried[parents[j]] += n_carried[j]
        return np.array([max(1.0, n_carried[part.joint] - part.is_rotation) for part in self.parts])

    @cached_property
    def _quaternions(self) -> Floats:
        channels = self._channels if self.options.rotation == "quaternion" else build_channels(self.motion)
        return channels.rotations

    @cached_property
    def _levers_mm(self) -> Floats:
        """The largest distance (J,) of a joint or end site below each joint from it, in any frame, in mm."""
        motion, skeleton = self.motion, self.motion.skeleton
        world = motion.world_positions()
        levers = np.full(motion.n_joints, LEVER_MM / error_scale(motion))
        points = [(int(skeleton.parents[j]), world[:, j]) for j in range(motion.n_joints)]
        ends = kinematics.end_positions(world, motion.world_rotations(), skeleton.end_joints, skeleton.end_offsets)
        points += [(joint, ends[:, n]) for n, joint in enumerate(skeleton.end_joints.tolist())]
        for above, point in points:
            while above >= 0:
                levers[above] = max(levers[above], float(distances(world[:, above], point).max()))
                above = int(skeleton.parents[above])
        return LEVER_FACTOR * error_scale(motion) * levers


def _find_fewest(fitter: _JointCurveFitter, tolerance_mm: float, options: Mapping[str, Any]) -> KeyedMotion:
    """Return the keyed motion with the fewest keys within the tolerance.

    Errors add up from joint to joint, so that each part may use only a share of the tolerance at what it carries. The
    more joints a part moves, the smaller its share: in proportion to the inverse square root of their number, which
    shares out the squared errors of all joints. The shares are the largest found with which the motion is within the
    tolerance.
    """
    searches = [_PartSearch(fitter, part, tolerance_mm, options) for part in fitter.parts]
    factors = np.sqrt(fitter.n_moved.max(initial=1.0) / fitter.n_moved)
    low, high, best = 0.0, 2 * START_SHARE, None
    for _ in range(SEARCH_STEPS):
        share = (low + high) / 2
        limits = tolerance_mm * np.minimum(share * factors, 1.0)
        keyed = fitter.fit([search.find(limit) for search, limit in zip(searches, limits.tolist(), strict=True)])
        if fitter.max_error_mm(keyed) <= tolerance_mm:
            low, best = share, keyed
        else:
            high = share
    if best is not None:
        return best
    every_frame = np.arange(fitter.motion.n_frames, dtype=np.int32)
    return fitter.fit([every_frame] * len(fitter.parts))


class _PartSearch:
    """Search for the fewest keys of one part within an error, for any error up to a largest one."""

    def __init__(self, fitter: _JointCurveFitter, part: _Part, max_mm: float, options: Mapping[str, Any]) -> None:
        self._costs, self._max_mm, self._options = fitter.optimal_input(part), max_mm, options
        self._max_gap_frames = min(fitter.motion.n_frames - 1, round(MAX_GAP_S * fitter.motion.fps))
        self._search = self._build(default_gap_frames(fitter.motion.n_frames, fitter.motion.fps, None))

    def _build(self, gap_frames: int) -> FewestKeys:
        return FewestKeys(self._costs, self._max_mm, gap_frames, **self._options)

    def find(self, max_mm: float) -> Ints:
        """Return the fewest keys; wider gaps are allowed where the keys reach the largest gap, as in a hold."""
        while True:
            keys = self._search.find(max_mm)
            gap = self._search.max_gap_frames
            if gap >= self._max_gap_frames or (keys is not None and int(np.diff(keys).max(initial=0)) < gap):
                if keys is None:
                    raise OptionError(f"no keys stay within {max_mm:g} mm", code="no_selection", value=max_mm)
                return keys
            self._search = self._build(2 * gap)
