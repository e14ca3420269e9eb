"""Options for finding swings, with their bounds and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from keypose.arrays import Frozen
from keypose.errors import OptionError
from keypose.options import Bounds, Fallback, Metric, SwingOptions, declared_options
from keypose.validation import check_choice, check_number

METRICS: tuple[Metric, ...] = get_args(Metric)
FALLBACKS: tuple[Fallback | None, ...] = (None, *get_args(Fallback))
BOUNDS: dict[str, Bounds] = {
    name: option.bounds for name, option in declared_options(SwingOptions).items() if option.bounds
}


def check_setting(name: str, value: Any, *, option: str | None = None) -> float:
    """Return ``value`` as a number within the bounds of the setting ``name``; ``option`` is its name in messages."""
    return check_number(option or name, value, **BOUNDS[name])


_DEFAULTS = SwingOptions()


@dataclass(frozen=True)
class Settings(Frozen):
    """Options with which swings were found; see ``kp.swings``."""

    threshold: float = _DEFAULTS.threshold
    metric: Metric = _DEFAULTS.metric
    smoothing_s: float = _DEFAULTS.smoothing_s
    window_s: float = _DEFAULTS.window_s
    min_duration_s: float = _DEFAULTS.min_duration_s
    rest_rad_per_s: float = _DEFAULTS.rest_rad_per_s
    fallback: Fallback | None = _DEFAULTS.fallback
    fallback_deg: float = _DEFAULTS.fallback_deg
    translation_mm: float = _DEFAULTS.translation_mm
    left_out: tuple[str, ...] = ()  # names of the joints stored frame by frame, in the skeleton's order

    def __post_init__(self) -> None:
        for name in BOUNDS:
            self._set_field(name, check_setting(name, getattr(self, name)))
        check_choice("metric", self.metric, METRICS)
        if self.fallback is not None:
            check_choice("fallback", self.fallback, get_args(Fallback))
        names = self.left_out
        if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
            raise OptionError(option="left_out", value=names, expected="names of joints")
        self._set_field("left_out", tuple(names))
