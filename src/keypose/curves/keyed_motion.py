"""Build a keyed motion from a motion and its keys, by the options of a user; polish its tangents, and compute its
residual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from keypose import _core, kinematics
from keypose.arrays import Floats, Ints, freeze
from keypose.curves.capture_faults import leaf_joints
from keypose.curves.cubic_fit import (
    Channels,
    build_channels,
    compute_inbetween_costs,
    error_scale,
    fit_cubics,
    fit_natural_spline,
)
from keypose.errors import OptionError, UnknownJoint
from keypose.extremes import Extreme, find_extremes, mark_extremes
from keypose.kinematics import distances
from keypose.model import Curves, KeyedMotion, Motion, Residual, Skeleton
from keypose.options import Interpolation, RotationKind
from keypose.rotations import angle_between, conjugate, log, multiply, rotate
from keypose.validation import check_number

INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)

# The error of a rotation is measured at a point at this distance from its joint, so that limbs do not twist about their
# axis: with 25 mm the mean error of angles is about twice that of the plain fit (benchmarks/unbake).
LEVER_MM = 25.0
# The same for a quaternion that is not of length 1; the polish increases it where a quaternion would be much too short.
LENGTH_MM = 25.0
ITERATIONS = 6
MAX_POLISHED_CHAIN = 100  # joints, as the time of polish grows with the cube of their number
POWER = 2.5  # exponent of errors: a little above 2, so that the largest errors are reduced, too
DEFAULT_WEIGHTS = {"feet": 3.0}

# Where curves have few keys, their tangents fit the frames between keys at the expense of jerks at keys.
MAX_KEY_ACCELERATION = 1.2  # mean acceleration of smooth curves at keys over that of the capture
SMOOTH_SHARE = 0.07  # of the frames are keys: with more, curves are smooth by default only if they are asked to be
SMOOTH_COST = 1.15  # factor of the mean error at most for which curves are smooth by default
SMOOTH_TURN = 2.0  # factor of the mean error of rotations at most; beyond, hands and feet twist between few keys
# Weights of the acceleration at a key in the polish, relative to the error of a frame: the first, the factor from one
# to the next, and how many are tried by default and where curves must be smooth.
FIRST_SMOOTH_WEIGHT, SMOOTH_WEIGHT_GROWTH, SMOOTH_TRIES, MAX_SMOOTH_TRIES = 4.0, 1.5, 10, 24
SMOOTH_ITERATIONS = 2  # of polish with each weight
TARGET_ACCELERATION = 0.5  # relative to the capture's: polish only partly reaches it
LEAF_PENALTY = 0.01  # of jumps of tangents
SMOOTH_PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)  # of jumps of tangents, where nothing is polished


def build_keyed_motion(
    motion: Motion,
    keys: Ints,
    interpolation: Interpolation = "bezier",
    channels: Channels | None = None,
    *,
    shared: bool = False,
    jump_penalty: float = 0.0,
) -> KeyedMotion:
    """Return ``motion`` as its poses at ``keys`` with curves between them; no residual, and all keys are extremes."""
    channels = channels or build_channels(motion)

    def build_curves(values: Floats) -> Curves:
        return _fit(values, keys, interpolation, shared, jump_penalty)

    return _assemble(
        motion, keys, build_curves(channels.translations), build_curves(channels.rotations), channels.rotation_orders
    )


def build_joint_keyed_motion(
    motion: Motion,
    rotation_keys: Sequence[Ints],
    translation_keys: Sequence[Ints],
    interpolation: Interpolation = "bezier",
    channels: Channels | None = None,
    *,
    shared: bool = False,
    jump_penalty: float = 0.0,
) -> KeyedMotion:
    """Return ``motion`` with keys of their own for the rotation and the translation of each joint (J,).

    Each joint's curves are fitted as in ``build_keyed_motion`` to its own keys.
    """
    channels = channels or build_channels(motion)
    keys = np.unique(np.concatenate([*rotation_keys, *translation_keys])).astype(np.int32)

    def build_curves(values: Floats, joint_keys: Sequence[Ints]) -> Curves:
        shape = (len(keys), *values.shape[1:])
        arrays, is_key = np.zeros((3, *shape)), np.zeros(shape[:2], bool)
        for own_keys, joint_list in _group_joints(joint_keys):
            joints = np.array(joint_list)
            rows = np.searchsorted(keys, own_keys)
            own = _fit(np.ascontiguousarray(values[:, joints]), own_keys, interpolation, shared, jump_penalty)
            is_key[np.ix_(rows, joints)] = True
            for array, own_array in zip(arrays, (own.values, own.in_tangents, own.out_tangents), strict=True):
                if own_array is not None:
                    array[np.ix_(rows, joints)] = own_array
        key_values, *tangents = (freeze(array) for array in arrays)
        return Curves(key_values, *(tangents if interpolation != "linear" else (None, None)), is_key=freeze(is_key))

    return _assemble(
        motion,
        keys,
        build_curves(channels.translations, translation_keys),
        build_curves(channels.rotations, rotation_keys),
        channels.rotation_orders,
    )


def _group_joints(joint_keys: Sequence[Ints]) -> Iterator[tuple[Ints, list[int]]]:
    """Yield each list of keys with the joints that have it."""
    groups: dict[bytes, list[int]] = {}
    for j, own_keys in enumerate(joint_keys):
        groups.setdefault(own_keys.astype(np.int32).tobytes(), []).append(j)
    for joints in groups.values():
        yield joint_keys[joints[0]], joints


def _fit(values: Floats, keys: Ints, interpolation: Interpolation, shared: bool, jump_penalty: float) -> Curves:
    if interpolation == "linear":
        return Curves(values[keys])
    if interpolation == "natural":
        return fit_natural_spline(values, keys)
    return fit_cubics(values, keys, shared=shared, jump_penalty=jump_penalty)


def _assemble(
    motion: Motion, keys: Ints, translations: Curves, rotations: Curves, rotation_orders: tuple[str, ...] | None
) -> KeyedMotion:
    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=keys,
        translations=translations,
        rotations=rotations,
        rotation_orders=rotation_orders,
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
        tolerance_mm=motion.tolerance_mm,
    )


def add_residual(keyed: KeyedMotion, original: Motion) -> KeyedMotion:
    """Return ``keyed`` with the residual that restores ``original``, a motion of the same frames."""
    sampled = keyed.sample()
    inverse = conjugate(sampled.rotations)
    return replace(
        keyed,
        residual=Residual(
            rotations=freeze(log(multiply(inverse, original.rotations))),
            shifts=freeze(rotate(inverse, original.translations - sampled.translations)),
        ),
    )


class Polisher:
    """Polish curves through keys of one motion."""

    def __init__(
        self, motion: Motion, channels: Channels, weights: Mapping[str, float] | None = None, threads: int = 1
    ) -> None:
        """Prepare for ``motion``; ``weights`` multiply the squared errors of joints, body parts or groups, by default 3
        for feet."""
        self._channels = channels
        self._mm = error_scale(motion)
        self._parents = motion.skeleton.parents
        self._frames = (
            np.ascontiguousarray(channels.translations * self._mm),
            np.ascontiguousarray(channels.rotations),
            np.ascontiguousarray(motion.world_positions() * self._mm),
        )
        self._weights = joint_weights(motion.skeleton, weights)
        self._moves = np.stack([_find_moving_joints(values) for values in self._frames[:2]], axis=1)
        self._is_leaf = leaf_joints(motion.skeleton)
        self._threads = threads
        self._span_errors: dict[tuple[int, int], float] = {}

    def polish(self, keyed: KeyedMotion, *, limit_mm: float = 0.0) -> KeyedMotion:
        """Return ``keyed`` with tangents that bring the joints closest to their captured positions; keys do not change.

        A span is not changed if its largest error would grow beyond ``limit_mm``.
        """
        if keyed.n_keys < 2 or not keyed.is_cubic:
            return keyed
        rotations, translations, _ = self._improve(
            slice(None), keyed.keys, keyed.rotations, keyed.translations, limit_mm
        )
        return replace(keyed, rotations=rotations, translations=translations)

    def smooth(self, keyed: KeyedMotion, *, limit_mm: float, n_tries: int = SMOOTH_TRIES) -> KeyedMotion:
        """Return polished curves ``keyed`` with tangents such that joints do not accelerate too much at keys.

        The acceleration at keys is at most ``MAX_KEY_ACCELERATION`` times that of the capture, unless errors would grow
        beyond ``limit_mm``. Tangents on both sides of a key are moved towards each other, by the positions of the
        joints in the frames beside it, with a weight that grows until that is reached.
        """
        keys = keyed.keys
        inner, captured = keys[1:-1], self._frames[2]
        if not len(inner) or not keyed.is_cubic:
            return keyed
        capture_bends = kinematics.accelerations(captured, inner)
        max_bend = MAX_KEY_ACCELERATION * np.linalg.norm(capture_bends, axis=-1).mean()
        rotations, translations = self._soften_leaves(keyed), keyed.translations
        key_positions, weights = np.zeros((len(keys), 2, *captured.shape[1:])), np.zeros(len(keys))
        weight, iterations = FIRST_SMOOTH_WEIGHT, 0  # the first pass only computes positions
        for _ in range(1 + n_tries):
            rotations, translations, _ = self._improve(
                slice(None), keys, rotations, translations, limit_mm, iterations, key_positions, weights
            )
            bends = key_positions[1:-1].sum(axis=1) - 2 * captured[inner]
            if np.linalg.norm(bends, axis=-1).mean() <= max_bend:
                break
            key_positions[1:-1] -= (bends - TARGET_ACCELERATION * capture_bends)[:, None] / 2
            weights[1:-1], iterations = weight, SMOOTH_ITERATIONS
            weight *= SMOOTH_WEIGHT_GROWTH
        return replace(keyed, rotations=rotations, translations=translations)

    def _soften_leaves(self, keyed: KeyedMotion) -> Curves:
        """Return the rotations with a penalty on jumps of the tangents of leaf joints, which are not polished."""
        tangents = _copy_tangents(keyed.rotations)
        leaves = fit_cubics(self._channels.rotations[:, self._is_leaf], keyed.keys, jump_penalty=LEAF_PENALTY)
        for own, fitted in zip(tangents, _copy_tangents(leaves), strict=True):
            own[:, self._is_leaf] = fitted
        return Curves(keyed.rotations.values, freeze(tangents[1]), freeze(tangents[0]))

    def span_error_mm(self, start: int, stop: int, limit_mm: float) -> float:
        """Return the largest error of the polished span between two keys, in mm; cached."""
        if (start, stop) not in self._span_errors:
            frames, keys = slice(start, stop + 1), np.array((0, stop - start), np.int32)
            channels = (self._channels.rotations, self._channels.translations)
            rotations, translations = (fit_cubics(values[frames], keys) for values in channels)
            *_, max_errors = self._improve(frames, keys, rotations, translations, limit_mm)
            self._span_errors[start, stop] = float(max_errors[0])
        return self._span_errors[start, stop]

    def _improve(
        self,
        frames: slice,
        keys: Ints,
        rotations: Curves,
        translations: Curves,
        limit_mm: float,
        iterations: int = ITERATIONS,
        key_positions: Floats | None = None,
        key_weights: Floats | None = None,
    ) -> tuple[Curves, Curves, Floats]:
        """Return the polished curves of these frames, from the first of which ``keys`` count, and their errors.

        ``key_positions`` (K, 2, J, 3) are second targets of the frames before and after each key, with ``key_weights``
        (K,); they become the positions of the curves there.
        """
        rotation_tangents, translation_tangents = _copy_tangents(rotations), _copy_tangents(translations, self._mm)
        captured_translations, captured_rotations, captured_positions = (values[frames] for values in self._frames)
        max_errors = _core.polish(
            self._parents,
            captured_translations,
            captured_rotations,
            captured_positions,
            self._weights,
            self._moves,
            keys,
            *rotation_tangents,
            *translation_tangents,
            LEVER_MM,
            LENGTH_MM,
            POWER,
            limit_mm,
            iterations,
            self._threads,
            key_positions,
            key_weights,
        )
        file_tangents = [freeze(tangents / self._mm) for tangents in translation_tangents]
        return (
            Curves(rotations.values, freeze(rotation_tangents[1]), freeze(rotation_tangents[0])),
            Curves(translations.values, file_tangents[1], file_tangents[0]),
            max_errors,
        )


def _find_moving_joints(values: Floats) -> NDArray[np.uint8]:
    """Return for each joint whether its values (T, J, C) ever change, as numbers 0 and 1."""
    return np.asarray((values != values[0]).any(axis=(0, 2)).astype(np.uint8))


def _copy_tangents(curves: Curves, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Return writable copies of the out and in tangents."""
    assert curves.out_tangents is not None and curves.in_tangents is not None  # both or none
    return scale * curves.out_tangents, scale * curves.in_tangents


def joint_weights(skeleton: Skeleton, weights: Mapping[str, float] | None) -> Floats:
    """Return the weight (J,) of each joint's squared error."""
    factors = np.ones(skeleton.n_joints)
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(option="polish_weights", value=weights, expected="a mapping such as {'feet': 3.0}")
    for name, weight in (DEFAULT_WEIGHTS if weights is None else weights).items():
        try:
            factors[list(skeleton.joints(name))] = check_number(f"weight {name}", weight, min_value=0, max_value=1e6)
        except UnknownJoint:
            if weights is not None:
                raise
    if not factors.any():
        raise OptionError("no joint counts", option="polish_weights")
    return factors


@dataclass(frozen=True)
class CurveOptions:
    """How curves are fitted through keys."""

    interpolation: Interpolation
    rotation: RotationKind
    shared_tangents: bool
    jump_penalty: float
    polish: bool
    polish_weights: Mapping[str, float] | None
    threads: int
    smooth: bool | None = False

    @property
    def search_interpolation(self) -> str:
        """Return the in-betweens of the error by which keys are selected."""
        return "linear" if self.interpolation == "linear" else "bezier"

    def may_smooth(self, n_keys: int, n_frames: int) -> bool:
        """Return whether curves through so many keys may be made smooth: by default polished ones with few keys."""
        if self.smooth is None:
            return self.polish and n_keys <= SMOOTH_SHARE * n_frames
        return self.smooth

    @property
    def is_search_curve(self) -> bool:
        """Return whether the fitted curves are, except for polish, those of the error by which keys are selected."""
        is_free = not self.shared_tangents and not self.jump_penalty
        return self.interpolation != "natural" and self.rotation == "quaternion" and is_free


class _Measures(NamedTuple):
    """Errors of curves, in mm or in file units, and whether joints accelerate little enough at keys."""

    mean_mm: float
    max_mm: float
    mean_turn: float  # of rotations, radians
    is_smooth: bool


class CurveFitter:
    """Fits curves with the same options through any keys of one motion."""

    def __init__(self, motion: Motion, options: CurveOptions) -> None:
        self._motion, self._options = motion, options
        self._channels = build_channels(motion, options.rotation)
        can_polish = options.polish and motion.n_frames > 1
        self._polisher = (
            Polisher(motion, self._channels, options.polish_weights, options.threads) if can_polish else None
        )
        self._span_costs = (
            compute_inbetween_costs(motion, interpolation=options.search_interpolation) if motion.n_frames > 1 else None
        )
        self._cost_by_span: dict[tuple[int, int], float] = {}

    @cached_property
    def extremes(self) -> tuple[Extreme, ...]:
        """The extremes of the motion."""
        return find_extremes(self._motion)

    def fit(self, keys: Ints, limit_mm: float | None = None) -> KeyedMotion:
        """Return the keyed motion; spans are not polished beyond ``limit_mm`` or the worst error of all."""
        options = self._options
        keyed = build_keyed_motion(
            self._motion,
            keys,
            options.interpolation,
            self._channels,
            shared=options.shared_tangents,
            jump_penalty=options.jump_penalty,
        )
        keyed = replace(keyed, extremes=mark_extremes(keys, self.extremes, self._motion.fps))
        if self._polisher is None or self._span_costs is None:
            return keyed
        if limit_mm is None:
            limit_mm = float(self._span_costs.span_costs(keys).max(initial=0.0))
        return self._polisher.polish(keyed, limit_mm=limit_mm)

    def smooth(self, keyed: KeyedMotion, tolerance_mm: float | None = None) -> KeyedMotion:
        """Return ``keyed``, which ``fit`` returned, or as smooth curves if the options ask for them.

        By default they are smooth if there are few keys, which have been polished, and if that costs little: the
        largest error does not grow, and rotations stay close. Otherwise only a tolerance limits it.
        """
        if not self._options.may_smooth(keyed.n_keys, keyed.n_frames):
            return keyed
        plain, polisher = self._measure(keyed), self._polisher
        if plain.is_smooth:
            return keyed
        limit_mm = np.inf if tolerance_mm is None else tolerance_mm
        if polisher is None:
            return self._smooth_by_penalty(keyed, limit_mm)
        smooth = polisher.smooth(keyed, limit_mm=plain.max_mm)
        measures = self._measure(smooth)
        if self._options.smooth is None:
            is_close = (
                measures.mean_mm <= SMOOTH_COST * plain.mean_mm and measures.mean_turn <= SMOOTH_TURN * plain.mean_turn
            )
            return smooth if measures.is_smooth and is_close else keyed
        if not measures.is_smooth:
            smooth = polisher.smooth(keyed, limit_mm=limit_mm, n_tries=MAX_SMOOTH_TRIES)
        return smooth if self._measure(smooth).is_smooth else self._smooth_by_penalty(smooth, limit_mm)

    def _smooth_by_penalty(self, keyed: KeyedMotion, limit_mm: float) -> KeyedMotion:
        """Return curves with as low a penalty for jumps of tangents as makes them smooth, or the highest within the
        limit, or ``keyed``."""
        result = keyed
        for penalty in SMOOTH_PENALTIES:
            curves = build_keyed_motion(self._motion, keyed.keys, "bezier", self._channels, jump_penalty=penalty)
            measures = self._measure(curves)
            if measures.max_mm > limit_mm:
                break
            result = replace(keyed, translations=curves.translations, rotations=curves.rotations)
            if measures.is_smooth:
                break
        return result

    def _measure(self, keyed: KeyedMotion) -> _Measures:
        sampled = keyed.sample()
        positions, captured = sampled.world_positions(), self._motion.world_positions()
        turns = angle_between(self._motion.rotations, sampled.rotations)
        errors = error_scale(self._motion) * distances(captured, positions)
        inner = keyed.keys[(keyed.keys > 0) & (keyed.keys < keyed.n_frames - 1)]
        bend, captured_bend = (
            float(np.linalg.norm(kinematics.accelerations(each, inner), axis=-1).mean()) if len(inner) else 0.0
            for each in (positions, captured)
        )
        is_smooth = bend <= MAX_KEY_ACCELERATION * captured_bend
        return _Measures(float(errors.mean()), float(errors.max()), float(turns.mean()), is_smooth)

    def fit_within(self, keys: Ints, tolerance_mm: float) -> KeyedMotion | None:
        """Return the keyed motion if no sampled joint exceeds the tolerance; else None."""
        if next(self._spans_beyond(keys, tolerance_mm), None) is not None:
            return None
        keyed = self.fit(keys, tolerance_mm)
        return keyed if self.max_error_mm(keyed) <= tolerance_mm else None

    def spans_beyond(self, keys: Ints, limit_mm: float) -> list[tuple[int, int]]:
        """Return the spans, as pairs of keys, in which curves through ``keys`` have an error above the limit."""
        if self._options.is_search_curve and self._span_costs is not None:
            return list(self._spans_beyond(keys, limit_mm))
        frames = np.flatnonzero(self._errors_mm(self.fit(keys, limit_mm)) > limit_mm)
        spans = np.unique(np.searchsorted(keys, frames, side="right") - 1)
        inner = spans[(spans >= 0) & (spans < len(keys) - 1)]
        return [(int(keys[k]), int(keys[k + 1])) for k in inner.tolist()]

    def _spans_beyond(self, keys: Ints, limit_mm: float) -> Iterator[tuple[int, int]]:
        """Yield the same span by span, most of them from the cache; none if spans depend on each other."""
        if not self._options.is_search_curve or self._span_costs is None:
            return
        for start, stop in pairwise(keys.tolist()):
            if self._span_cost(start, stop) > limit_mm and (
                self._polisher is None or self._polisher.span_error_mm(start, stop, limit_mm) > limit_mm
            ):
                yield start, stop

    def _span_cost(self, start: int, stop: int) -> float:
        """Return the error between two keys before polish; cached."""
        assert self._span_costs is not None
        if (start, stop) not in self._cost_by_span:
            span = self._span_costs[start : stop + 1]
            self._cost_by_span[start, stop] = float(span.span_costs(np.array((0, stop - start)))[0])
        return self._cost_by_span[start, stop]

    def max_error_mm(self, keyed: KeyedMotion) -> float:
        """Return the largest error of the sampled motion, in mm; in file units if the figure has no height."""
        return float(self._errors_mm(keyed).max())

    def _errors_mm(self, keyed: KeyedMotion) -> Floats:
        """Return the largest error of any joint in each frame of the sampled motion, (T,)."""
        errors = distances(self._motion.world_positions(), keyed.sample().world_positions())
        return np.asarray(error_scale(self._motion) * errors.max(axis=1))
