"""Build a keyed motion from a motion and its keys, by the options of a user; polish its tangents, and compute its
residual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Floats, Ints, freeze
from keypose.curves.cubic_fit import (
    ROTATION_KINDS,
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
from keypose.methods.salient import MAX_THREADS, available_cores
from keypose.model import Curves, KeyedMotion, Motion, Residual, Skeleton
from keypose.options import Interpolation, RotationKind, UnbakeOptions, check_option_int, check_option_number
from keypose.rotations import conjugate, log, multiply, rotate
from keypose.validation import check_bool, check_choice, check_number

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
        self, frames: slice, keys: Ints, rotations: Curves, translations: Curves, limit_mm: float
    ) -> tuple[Curves, Curves, Floats]:
        """Return the polished curves of these frames, from the first of which ``keys`` count, and their errors."""
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
            ITERATIONS,
            self._threads,
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


def _chain_length(skeleton: Skeleton) -> int:
    """Return the number of joints on the longest way from a root."""
    lengths: list[int] = []
    for parent in skeleton.parents.tolist():
        lengths.append(1 + (lengths[parent] if parent >= 0 else 0))
    return max(lengths)


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

    @property
    def search_interpolation(self) -> str:
        """Return the in-betweens of the error by which keys are selected."""
        return "linear" if self.interpolation == "linear" else "bezier"

    @property
    def is_search_curve(self) -> bool:
        """Return whether the fitted curves are, except for polish, those of the error by which keys are selected."""
        is_free = not self.shared_tangents and not self.jump_penalty
        return self.interpolation != "natural" and self.rotation == "quaternion" and is_free


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


def build_curve_options(
    skeleton: Skeleton,
    interpolation: Interpolation,
    rotation: RotationKind,
    shared_tangents: bool,
    jump_penalty: float,
    polish: bool | None,
    polish_weights: Mapping[str, float] | None,
    threads: int | None,
) -> CurveOptions:
    """Return checked options; polish is on by default where it is possible."""
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("rotation", rotation, ROTATION_KINDS)
    shared = check_bool("shared_tangents", shared_tangents)
    penalty = check_option_number(UnbakeOptions, "jump_penalty", jump_penalty)
    if interpolation != "bezier":
        for name, is_given in (("shared_tangents", shared), ("jump_penalty", penalty > 0)):
            if is_given:
                raise OptionError("only interpolation bezier has free tangents", option=name)
    has_free_tangents = interpolation == "bezier" and rotation == "quaternion" and not shared and not penalty
    can_polish = has_free_tangents and _chain_length(skeleton) <= MAX_POLISHED_CHAIN
    if polish is not None and check_bool("polish", polish) and not can_polish:
        needed = "interpolation bezier, rotation quaternion and free tangents"
        if has_free_tangents:
            needed = f"chains of at most {MAX_POLISHED_CHAIN} joints"
        raise OptionError(f"needs {needed}", option="polish", value=True)
    if polish_weights is not None and (polish is False or not can_polish):
        raise OptionError("curves are not polished here, so weights have no effect", option="polish_weights")
    cores = (
        available_cores() if threads is None else min(check_option_int(UnbakeOptions, "threads", threads), MAX_THREADS)
    )
    return CurveOptions(
        interpolation, rotation, shared, penalty, can_polish if polish is None else polish, polish_weights, cores
    )
