"""Curves through keys by the options of a user: interpolation, tangents, polish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keypose.arrays import Ints
from keypose.curves.cubic_fit import ROTATION_KINDS, build_channels, compute_inbetween_costs
from keypose.curves.keyed_motion import INTERPOLATIONS, Polisher, build_keyed_motion
from keypose.errors import OptionError
from keypose.methods.salient import MAX_THREADS, available_cores
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion
from keypose.options import Interpolation, RotationKind, UnbakeOptions, check_option_int, check_option_number
from keypose.validation import check_bool, check_choice


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
        if self._polisher is None or self._span_costs is None:
            return keyed
        if limit_mm is None:
            limit_mm = float(self._span_costs.span_costs(keys).max(initial=0.0))
        return self._polisher.polish(keyed, limit_mm=limit_mm)

    def fit_within(self, keys: Ints, tolerance_mm: float) -> KeyedMotion | None:
        """Return the keyed motion if no sampled joint exceeds the tolerance; else None."""
        if self._options.is_search_curve and self._span_costs is not None:  # span by span, most of them from the cache
            costs = self._span_costs.span_costs(keys)
            for start, stop, cost in zip(keys[:-1].tolist(), keys[1:].tolist(), costs.tolist(), strict=True):
                if cost <= tolerance_mm:
                    continue
                if self._polisher is None or self._polisher.span_error_mm(start, stop, tolerance_mm) > tolerance_mm:
                    return None
        keyed = self.fit(keys, tolerance_mm)
        return keyed if self.max_error_mm(keyed) <= tolerance_mm else None

    def max_error_mm(self, keyed: KeyedMotion) -> float:
        """Return the largest error of the sampled motion."""
        return float(position_errors_mm(self._motion, keyed.sample()).max())


def build_curve_options(
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
    can_polish = interpolation == "bezier" and rotation == "quaternion" and not shared and not penalty
    if polish is not None and check_bool("polish", polish) and not can_polish:
        raise OptionError(
            "needs interpolation bezier, rotation quaternion and free tangents", option="polish", value=True
        )
    if polish_weights is not None and (polish is False or not can_polish):
        raise OptionError("curves are not polished here, so weights have no effect", option="polish_weights")
    cores = (
        available_cores() if threads is None else min(check_option_int(UnbakeOptions, "threads", threads), MAX_THREADS)
    )
    return CurveOptions(
        interpolation, rotation, shared, penalty, can_polish if polish is None else polish, polish_weights, cores
    )
