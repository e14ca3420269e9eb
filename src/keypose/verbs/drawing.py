"""Curves through keys as a person asks for them: which kind, with what slopes, polished or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keypose.arrays import Ints
from keypose.errors import OptionError
from keypose.inbetween.channels import TURNINGS, Turning, channels_of
from keypose.inbetween.costs import inbetween_costs
from keypose.inbetween.keyed import INTERPOLATIONS, Interpolation, keyed_motion
from keypose.inbetween.polish import Polish
from keypose.methods.salient import MOST_THREADS, available_cores
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion
from keypose.options import flag, number, one_of, whole


@dataclass(frozen=True)
class Style:
    """How curves are drawn through keys."""

    interpolation: Interpolation
    rotation: Turning
    shared_tangents: bool
    jump_penalty: float
    polish: bool
    polish_weights: Mapping[str, float] | None
    threads: int

    @property
    def search(self) -> str:
        """The in-betweens by whose error keys are chosen."""
        return "linear" if self.interpolation == "linear" else "bezier"

    @property
    def is_plain(self) -> bool:
        """Whether spans are just those that keys are chosen by, but for polish."""
        is_free = not self.shared_tangents and not self.jump_penalty
        return self.interpolation != "natural" and self.rotation == "quaternion" and is_free


class Drawing:
    """Curves of one style through any keys of one motion."""

    def __init__(self, motion: Motion, style: Style) -> None:
        self._motion, self._style = motion, style
        self._channels = channels_of(motion, style.rotation)
        can = style.polish and motion.n_frames > 1
        self._polish = Polish(motion, self._channels, style.polish_weights, style.threads) if can else None
        self._plain = inbetween_costs(motion, interpolation=style.search) if motion.n_frames > 1 else None

    def through(self, keys: Ints, limit_mm: float | None = None) -> KeyedMotion:
        """The keyed motion; polishing leaves spans alone that it would take beyond ``limit_mm`` or the worst of all."""
        style = self._style
        plain = keyed_motion(
            self._motion,
            keys,
            style.interpolation,
            self._channels,
            shared=style.shared_tangents,
            jump_penalty=style.jump_penalty,
        )
        if self._polish is None or self._plain is None:
            return plain
        if limit_mm is None:
            limit_mm = float(self._plain.of_spans(keys).max(initial=0.0))
        return self._polish.polished(plain, limit_mm=limit_mm)

    def within(self, keys: Ints, tolerance_mm: float) -> KeyedMotion | None:
        """The same if it leaves no joint farther off, as sampled; None if it does."""
        if self._style.is_plain and self._plain is not None:  # each span for itself, most of them met before
            costs = self._plain.of_spans(keys)
            for start, stop, cost in zip(keys[:-1].tolist(), keys[1:].tolist(), costs.tolist(), strict=True):
                if cost <= tolerance_mm:
                    continue
                if self._polish is None or self._polish.error_of_span(start, stop, tolerance_mm) > tolerance_mm:
                    return None
        keyed = self.through(keys, tolerance_mm)
        return keyed if self.greatest_mm(keyed) <= tolerance_mm else None

    def greatest_mm(self, keyed: KeyedMotion) -> float:
        """The largest error of what is sampled."""
        return float(position_errors_mm(self._motion, keyed.sample()).max())


def style_of(
    interpolation: Interpolation,
    rotation: Turning,
    shared_tangents: bool,
    jump_penalty: float,
    polish: bool | None,
    polish_weights: Mapping[str, float] | None,
    threads: int | None,
) -> Style:
    """The style, checked; polished by default where that is possible."""
    one_of("interpolation", interpolation, INTERPOLATIONS)
    one_of("rotation", rotation, TURNINGS)
    shared, penalty = flag("shared_tangents", shared_tangents), number("jump_penalty", jump_penalty, least=0, most=1e6)
    if interpolation != "bezier":
        for name, is_given in (("shared_tangents", shared), ("jump_penalty", penalty > 0)):
            if is_given:
                raise OptionError(f"{name}= is for interpolation='bezier', whose slopes are free")
    can = interpolation == "bezier" and rotation == "quaternion" and not shared and not penalty
    if polish is not None and flag("polish", polish) and not can:
        raise OptionError("polish=True needs interpolation='bezier', rotation='quaternion' and free slopes")
    if polish_weights is not None and (polish is False or not can):
        raise OptionError("polish_weights= says how to polish, which is off here")
    cores = available_cores() if threads is None else min(whole("threads", threads, least=1), MOST_THREADS)
    return Style(interpolation, rotation, shared, penalty, can if polish is None else polish, polish_weights, cores)
