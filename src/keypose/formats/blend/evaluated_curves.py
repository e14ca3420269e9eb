"""The values of F-curves of an action on every frame, and the nearest cubics with common keys.

Breakdowns are added where no cubic is near enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import fit_cubics, hermite_basis
from keypose.errors import ModelError
from keypose.formats.blend.fcurves import FCurve
from keypose.formats.blend.keypose_data import KeyposeData
from keypose.formats.orientation import metres_per_unit
from keypose.model import Curves, KeyedMotion, Motion
from keypose.model.keyed_motion import SpanPosition
from keypose.rotations import AXES, angle_between, from_euler, normalise

VALUE_TOLERANCE = 1e-5  # in radians, quaternion components or figure sizes: Blender uses 32-bit floats
N_ROUNDS = 4  # Gauss-Newton steps
MIN_LENGTH = 1e-3  # of a quaternion, to bound its weight
RIDGE = 1e-9  # relative to the trace; parameters that the frames do not determine do not change
N_ROTATION_CHANNELS = 4  # of a bone's seven channels; the location follows
MAX_MM, MAX_DEG = 1.0, 0.5  # maximum deviation of a joint, on a figure of 1.7 m


@dataclass(frozen=True)
class EvaluatedCurves:
    """Channels of joints on every frame, and the F-curves from which they were evaluated."""

    keypose_data: KeyposeData
    rotation_orders: tuple[str, ...] | None
    curves: Mapping[tuple[int, int], FCurve]  # by joint and channel, in our frames
    rotations: Floats  # (T, J, 4) quaternions of any length, or (T, J, 3) angles
    translations: Floats  # (T, J, 3)

    @staticmethod
    def build(
        keypose_data: KeyposeData,
        rotation_orders: tuple[str, ...] | None,
        curves: Mapping[tuple[int, int], FCurve],
        dense: Floats,
    ) -> EvaluatedCurves:
        """Build from the channels (T, J, 7) of the joints' bones."""
        rotations, translations = _joint_channels(keypose_data, rotation_orders, dense)
        return EvaluatedCurves(
            keypose_data, rotation_orders, curves, rotations, translations + keypose_data.rest.translations
        )

    def fit(self, keys: Ints, is_linear: bool) -> tuple[Curves, Curves]:
        """Fit curves of translations and rotations through ``keys`` (K,).

        A joint has only the keys of its F-curves if cubics between these reproduce them, else all keys.
        """
        are_quaternions = self.rotation_orders is None
        if is_linear:
            rotations = _normalise_rotations(self.rotations) if are_quaternions else self.rotations
            return (
                Curves(self.translations[keys], is_key=self._find_own_keys(keys, is_rotation=False)),
                Curves(rotations[keys], is_key=self._find_own_keys(keys, is_rotation=True)),
            )
        in_tangents, out_tangents = (self._tangents(keys, before=before) for before in (True, False))
        own_translations = Curves(
            self.translations[keys],
            in_tangents[1],
            out_tangents[1],
            is_key=self._find_own_keys(keys, is_rotation=False),
        )
        translations = _fit_values(self.translations, own_translations, keys)
        own_rotations = Curves(
            self.rotations[keys],
            in_tangents[0],
            out_tangents[0],
            is_key=self._find_own_keys(keys, is_rotation=True),
        )
        fit_rotations = _fit_rotations if are_quaternions else _fit_values
        return translations, fit_rotations(self.rotations, own_rotations, keys)

    def _find_own_keys(self, keys: Ints, *, is_rotation: bool) -> Bools:
        """Return at which ``keys`` (K,) the F-curves of each joint have a key, (K, J).

        A joint whose channels do not change has the first and the last key, unless all that change have every key.
        """
        is_own = np.zeros((len(keys), self.translations.shape[1]), bool)
        is_changing = np.zeros(is_own.shape[1], bool)
        for (joint, channel), curve in self.curves.items():
            if (channel < N_ROTATION_CHANNELS) == is_rotation and not curve.is_still:
                is_own[:, joint] |= np.isin(keys, curve.key_frames())
                is_changing[joint] = True
        is_shared = bool(is_own[:, is_changing].all())
        is_own[(slice(None) if is_shared else [0, -1],)] |= ~is_changing
        is_own[[0, -1]] |= ~is_own.any(axis=0)
        return is_own

    def span(self, start: int, stop: int) -> EvaluatedCurves:
        """Return the frames from ``start`` to ``stop`` (inclusive) without F-curves, so that all are fitted."""
        frames = slice(start, stop + 1)
        return replace(self, curves={}, rotations=self.rotations[frames], translations=self.translations[frames])

    def build_motion(self, like: KeyedMotion) -> Motion:
        """Return the evaluated frames as a motion with the skeleton and metadata of ``like``."""
        orders = self.rotation_orders
        if orders is None:
            rotations = _normalise_rotations(self.rotations)
        else:
            rotations = np.stack([from_euler(self.rotations[:, j], order) for j, order in enumerate(orders)], axis=1)
        return replace(like.sample(), translations=self.translations, rotations=freeze(rotations))

    def _tangents(self, keys: Ints, *, before: bool) -> tuple[Floats, Floats]:
        """Return the tangents of rotations and translations just before or after each key."""
        tangents = np.zeros((len(keys), self.translations.shape[1], 7))
        for (joint, channel), curve in self.curves.items():
            tangents[:, joint, channel] = curve.tangents(keys.astype(float), before=before)
        return _joint_channels(self.keypose_data, self.rotation_orders, tangents)


def _joint_channels(
    keypose_data: KeyposeData, orders: tuple[str, ...] | None, channels: Floats
) -> tuple[Floats, Floats]:
    """Return rotations and translations of joints, or their tangents, from the channels of their bones."""
    rotations = channels[..., :N_ROTATION_CHANNELS]
    translations = keypose_data.translations_from_channels(channels[..., N_ROTATION_CHANNELS:])
    if orders is None:
        return keypose_data.rotations_from_channels(rotations), translations
    columns = np.array([[AXES.index(axis) for axis in order] for order in orders])
    return np.take_along_axis(rotations, np.broadcast_to(columns, (*rotations.shape[:2], 3)), axis=2), translations


def _normalise_rotations(rotations: Floats) -> Floats:
    if not (np.linalg.norm(rotations, axis=2) > 0).all():
        raise ModelError("a bone's quaternion of length 0 among the keys")
    return normalise(rotations)


def _fit_values(values: Floats, own: Curves, keys: Ints) -> Curves:
    """Return curves through the keys: with their own tangents where these reproduce ``values``, else fitted ones."""
    return _choose_curves(own, replace(own, is_key=None), fit_cubics(values, keys), keys, values, is_rotation=False)


def _fit_rotations(rotations: Floats, own: Curves, keys: Ints) -> Curves:
    """Fit quaternion curves, which have length 1 at keys of Keypose and any length in Blender.

    Only directions are relevant, so a curve is scaled by a factor that is linear between two keys. This does not change
    a cubic of length 1 at the keys.
    """
    unit = _normalise_rotations(rotations)
    factors = 1.0 / np.linalg.norm(rotations[keys], axis=2, keepdims=True)  # (K, J, 1)
    factors[np.abs(factors - 1) <= VALUE_TOLERANCE] = 1.0
    position = SpanPosition.locate(keys, np.arange(len(rotations), dtype=np.float64))
    scaled = rotations * Curves(factors).at(position)
    scaled[keys] = unit[keys]
    fitted_curves = _refine_directions(fit_cubics(scaled, keys), unit, keys)
    own_factors = Curves(factors, is_key=own.is_key).fill_between_keys(keys).values
    own_scaled, all_scaled = (_scale_curves(own, each, keys) for each in (own_factors, factors))
    return _choose_curves(own_scaled, replace(all_scaled, is_key=None), fitted_curves, keys, unit, is_rotation=True)


def _scale_curves(curves: Curves, factors: Floats, keys: Ints) -> Curves:
    """Return curves times ``factors`` (K, J, 1), which change linearly between keys."""
    assert curves.in_tangents is not None and curves.out_tangents is not None
    growth = np.diff(factors, axis=0) / np.diff(keys)[:, None, None]  # (K - 1, J, 1)
    zeros = np.zeros((1, *factors.shape[1:]))
    return replace(
        curves,
        values=curves.values * factors,
        in_tangents=factors * curves.in_tangents + np.concatenate((zeros, growth)) * curves.values,
        out_tangents=factors * curves.out_tangents + np.concatenate((growth, zeros)) * curves.values,
    )


def _refine_directions(curves: Curves, unit: Floats, keys: Ints) -> Curves:
    """Return quaternion curves with directions nearest to ``unit`` (T, J, 4) and any lengths.

    By the Gauss-Newton method: the component of a curve across the target direction, divided by its length,
    approximates the angle.
    """
    assert curves.in_tangents is not None and curves.out_tangents is not None
    values, in_tangents, out_tangents = curves.values, curves.in_tangents.copy(), curves.out_tangents.copy()
    for k, gap in enumerate(np.diff(keys).tolist()):
        if gap < 3:  # one inner frame does not determine the tangents; the curve passes through it
            continue
        rise, a, b = (weights[:, None, None] for weights in hermite_basis(gap))
        targets = unit[keys[k] + 1 : keys[k + 1]]
        across = np.eye(4) - targets[..., None] * targets[..., None, :]  # (gap - 1, J, 4, 4)
        weights_by_tangent = np.stack((a, b))[..., 0, 0]
        for _ in range(N_ROUNDS):
            current = values[k] + rise * (values[k + 1] - values[k]) + a * out_tangents[k] + b * in_tangents[k + 1]
            weights = 1.0 / np.maximum(np.sum(current * current, axis=2), MIN_LENGTH**2)
            weighted = across * weights[..., None, None]
            gradient = np.einsum("pt,tjcd,tjd->jpc", weights_by_tangent, weighted, current).reshape(-1, 8)
            normal = np.einsum("pt,qt,tjcd->jpcqd", weights_by_tangent, weights_by_tangent, weighted).reshape(-1, 8, 8)
            normal += RIDGE * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(8)
            step = np.linalg.solve(normal, -gradient[..., None]).reshape(-1, 2, 4)
            out_tangents[k] += step[:, 0]
            in_tangents[k + 1] += step[:, 1]
    return Curves(values, freeze(in_tangents), freeze(out_tangents))


def _choose_curves(
    own: Curves, split: Curves, fitted_curves: Curves, keys: Ints, targets: Floats, *, is_rotation: bool
) -> Curves:
    """Return ``own`` curves for joints with keys of their own that reproduce ``targets`` (T, J, C) with them.

    Other joints have all keys: the curves ``split`` there, with the tangents of ``fitted_curves`` in spans that do not
    reproduce the targets.
    """
    assert split.in_tangents is not None and split.out_tangents is not None
    assert fitted_curves.in_tangents is not None and fitted_curves.out_tangents is not None
    position = SpanPosition.locate(keys, np.arange(len(targets), dtype=np.float64))
    size = 1.0 if is_rotation else max(1.0, float(np.abs(targets).max()))

    def errors(curves: Curves) -> Floats:
        values = curves.at(position)
        differences: Floats = (normalise(values) if is_rotation else values) - targets
        return np.asarray(np.abs(differences).max(axis=2))  # (T, J)

    in_tangents, out_tangents = split.in_tangents.copy(), split.out_tangents.copy()
    split_errors = errors(split)
    for k in range(len(keys) - 1):
        is_off = split_errors[keys[k] : keys[k + 1]].max(axis=0) > VALUE_TOLERANCE * size
        out_tangents[k, is_off] = fitted_curves.out_tangents[k, is_off]
        in_tangents[k + 1, is_off] = fitted_curves.in_tangents[k + 1, is_off]
    split = Curves(fitted_curves.values, freeze(in_tangents), freeze(out_tangents))
    if own.is_key is None:
        return split
    filled = own.fill_between_keys(keys)
    assert filled.in_tangents is not None and filled.out_tangents is not None
    is_exact = errors(filled).max(axis=0) <= VALUE_TOLERANCE * size  # (J,)
    return Curves(
        freeze(np.where(is_exact[:, None], filled.values, fitted_curves.values)),
        freeze(np.where(is_exact[:, None], filled.in_tangents, in_tangents)),
        freeze(np.where(is_exact[:, None], filled.out_tangents, out_tangents)),
        is_key=own.is_key | ~is_exact,
    )


@dataclass(frozen=True)
class Deviation:
    """The deviation of a keyed motion from Blender's curves, on whole frames."""

    mm: Floats  # (T,) of the worst joint, on a figure of 1.7 m
    degrees: Floats  # (T,) of the worst joint

    @staticmethod
    def measure(keyed: KeyedMotion, motion: Motion, mm_per_unit: float) -> Deviation:
        """Measure the deviation of ``keyed`` from ``motion``, which has the same frames."""
        sampled = keyed.sample()
        distances = np.linalg.norm(sampled.world_positions() - motion.world_positions(), axis=2).max(axis=1)
        angles = angle_between(sampled.rotations, motion.rotations).max(axis=1)
        return Deviation(distances * mm_per_unit, np.rad2deg(angles))

    @property
    def is_within_limits(self) -> bool:
        """Whether no frame deviates too much."""
        return bool(self.mm.max(initial=0.0) <= MAX_MM and self.degrees.max(initial=0.0) <= MAX_DEG)

    def span(self, start: int, stop: int) -> Deviation:
        """Return the frames from ``start`` to before ``stop``."""
        return Deviation(self.mm[start:stop], self.degrees[start:stop])


def add_breakdowns(keyed: KeyedMotion, evaluated: EvaluatedCurves, motion: Motion) -> tuple[KeyedMotion, Deviation]:
    """Return ``keyed`` with the breakdowns needed to stay within the limits, and the remaining deviation.

    Linear spans do not change.
    """
    mm_per_unit = motion.mm_per_unit if motion.height > 0 else 1000.0 * metres_per_unit(motion)
    deviation = Deviation.measure(keyed, motion, mm_per_unit)
    far_spans = _find_far_spans(keyed, deviation)
    if not (far_spans and keyed.is_cubic):
        return keyed, deviation
    breakdowns = [
        frame
        for start, stop in far_spans
        for frame in _find_breakdowns(keyed, evaluated, motion, mm_per_unit, start, stop)
    ]
    keys = np.union1d(keyed.keys, breakdowns).astype(np.int32)
    extremes = np.zeros(len(keys), bool)
    extremes[np.searchsorted(keys, keyed.keys)] = keyed.extremes
    translations, rotations = evaluated.fit(keys, is_linear=False)
    keyed = replace(keyed, keys=keys, translations=translations, rotations=rotations, extremes=extremes)
    return keyed, Deviation.measure(keyed, motion, mm_per_unit)


def _find_far_spans(keyed: KeyedMotion, deviation: Deviation) -> list[tuple[int, int]]:
    """Return the spans that deviate too much, also those before the first and after the last key, where the pose is
    constant."""
    borders = sorted({0, *keyed.keys.tolist(), keyed.n_frames - 1})
    return [(start, stop) for start, stop in pairwise(borders) if not deviation.span(start, stop + 1).is_within_limits]


def _find_breakdowns(
    keyed: KeyedMotion, evaluated: EvaluatedCurves, motion: Motion, mm_per_unit: float, start: int, stop: int
) -> list[int]:
    """Return few frames from ``start`` to ``stop`` (inclusive) between which every span is within the limits."""

    def is_near(a: int, b: int) -> bool:
        a, b = min(a, b), max(a, b)
        if b - a < 2:
            return True
        span = _keyed_span(keyed, evaluated.span(a, b))
        return Deviation.measure(span, motion[a : b + 1], mm_per_unit).is_within_limits

    latest, earliest = _find_strides(start, stop, is_near), _find_strides(stop, start, is_near)[::-1]
    if len(latest) == len(earliest):  # with frames halfway between both no span has only one or two frames
        middle = [(a + b) // 2 for a, b in zip(earliest, latest, strict=True)]
        if all(a < b and is_near(a, b) for a, b in pairwise(middle)):
            return middle
    return latest


def _find_strides(start: int, stop: int, is_near: Callable[[int, int], bool]) -> list[int]:
    """Return frames from ``start`` to ``stop`` (forwards or backwards), with each stride as long as possible."""
    frames, direction = [start], 1 if start < stop else -1
    while not is_near(frames[-1], stop):
        current = frames[-1]
        near, far = 1, 2
        while far < abs(stop - current) and is_near(current, current + direction * far):
            near, far = far, 2 * far
        far = min(far, abs(stop - current))
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if is_near(current, current + direction * middle) else (near, middle)
        frames.append(current + direction * near)
    return [*frames, stop]


def _keyed_span(keyed: KeyedMotion, evaluated: EvaluatedCurves) -> KeyedMotion:
    """Return the frames of ``evaluated`` as a keyed motion with a key at both ends."""
    keys: Ints = np.array([0, len(evaluated.translations) - 1], np.int32)
    translations, rotations = evaluated.fit(keys, is_linear=False)
    return replace(
        keyed,
        n_frames=len(evaluated.translations),
        keys=keys,
        translations=translations,
        rotations=rotations,
        residual=None,
        extremes=np.zeros(2, bool),
    )
