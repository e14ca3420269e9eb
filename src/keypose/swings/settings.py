"""Options for finding swings, with their bounds and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from keypose.arrays import Frozen
from keypose.errors import OptionError
from keypose.validation import check_choice, check_number

Metric = Literal["angle", "cosine"]
Fallback = Literal["keys"]
METRICS: tuple[Metric, ...] = get_args(Metric)
FALLBACKS: tuple[Fallback | None, ...] = (None, *get_args(Fallback))

MAX_WINDOW_S = 10.0
MAX_THRESHOLD = float(np.pi)  # the largest angle between axes
MAX_ANGLE_DEG = 180.0  # the largest angle between rotations
MAX_TRANSLATION_MM = 1e6  # a kilometre, on a figure of 1.7 m
MAX_RAD_PER_S = 1e6


class _Bounds(TypedDict, total=False):
    above: float
    min_value: float
    max_value: float


BOUNDS: dict[str, _Bounds] = {
    "threshold": {"min_value": 0.0, "max_value": MAX_THRESHOLD},
    "smoothing_s": {"min_value": 0.0, "max_value": MAX_WINDOW_S},
    "window_s": {"above": 0.0, "max_value": MAX_WINDOW_S},
    "min_duration_s": {"min_value": 0.0, "max_value": MAX_WINDOW_S},
    "rest_rad_per_s": {"min_value": 0.0, "max_value": MAX_RAD_PER_S},
    "fallback_deg": {"above": 0.0, "max_value": MAX_ANGLE_DEG},
    "translation_mm": {"min_value": 0.0, "max_value": MAX_TRANSLATION_MM},
}


def check_setting(name: str, value: Any, *, option: str | None = None) -> float:
    """Return ``value`` as a number within the bounds of the setting ``name``; ``option`` is its name in messages."""
    return check_number(option or name, value, **BOUNDS[name])


@dataclass(frozen=True)
class Settings(Frozen):
    """Options with which swings were found; see ``kp.swings``."""

    threshold: float = 0.4
    metric: Metric = "angle"
    smoothing_s: float = 10 / 60
    window_s: float = 20 / 60
    min_duration_s: float = 8 / 60
    rest_rad_per_s: float = 0.003 * 60
    fallback: Fallback | None = None
    fallback_deg: float = 2.8
    translation_mm: float = 1.0
    left_out: tuple[str, ...] = ()  # names of the joints stored frame by frame, in the skeleton's order

    def __post_init__(self) -> None:
        for name in BOUNDS:
            self._set_field(name, check_setting(name, getattr(self, name)))
        check_choice("metric", self.metric, METRICS)
        if self.fallback is not None:
            check_choice("fallback", self.fallback, get_args(Fallback))
        names = self.left_out
        if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
            raise OptionError(f"left_out={names!r}, expected names of joints")
        self._set_field("left_out", tuple(names))


DEFAULT_SETTINGS = Settings()
