"""How swings were found, checked: the bounds of every setting stand here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from keypose.arrays import Frozen
from keypose.errors import OptionError
from keypose.options import number, one_of

Metric = Literal["angle", "cosine"]
Fallback = Literal["keys"]
METRICS: tuple[Metric, ...] = get_args(Metric)
FALLBACKS: tuple[Fallback | None, ...] = (None, *get_args(Fallback))

LONGEST_WINDOW_S = 10.0
GREATEST_THRESHOLD = float(np.pi)  # every axis is that near
WIDEST_TURN_DEG = 180.0  # no turn is farther off than that
FARTHEST_MM = 1e6  # a kilometre, on a figure of 1.7 m
FASTEST_RAD_PER_S = 1e6


class _Bounds(TypedDict, total=False):
    above: float
    least: float
    most: float


BOUNDS: dict[str, _Bounds] = {
    "threshold": {"least": 0.0, "most": GREATEST_THRESHOLD},
    "smoothing_s": {"least": 0.0, "most": LONGEST_WINDOW_S},
    "window_s": {"above": 0.0, "most": LONGEST_WINDOW_S},
    "least_s": {"least": 0.0, "most": LONGEST_WINDOW_S},
    "rest_rad_per_s": {"least": 0.0, "most": FASTEST_RAD_PER_S},
    "fallback_deg": {"above": 0.0, "most": WIDEST_TURN_DEG},
    "translation_mm": {"least": 0.0, "most": FARTHEST_MM},
}


def setting(name: str, value: Any, *, said: str | None = None) -> float:
    """The number ``value`` if the setting ``name`` may have it; ``said`` is its name where it was given."""
    return number(said or name, value, **BOUNDS[name])


@dataclass(frozen=True)
class Settings(Frozen):
    """How swings were found; ``kp.swings`` says what each means."""

    threshold: float = 0.4
    metric: Metric = "angle"
    smoothing_s: float = 10 / 60
    window_s: float = 20 / 60
    least_s: float = 8 / 60
    rest_rad_per_s: float = 0.003 * 60
    fallback: Fallback | None = None
    fallback_deg: float = 2.8
    translation_mm: float = 1.0
    left_out: tuple[str, ...] = ()  # names of the joints that are kept frame by frame, in the skeleton's order

    def __post_init__(self) -> None:
        for name in BOUNDS:
            self._put(name, setting(name, getattr(self, name)))
        one_of("metric", self.metric, METRICS)
        if self.fallback is not None:
            one_of("fallback", self.fallback, get_args(Fallback))
        names = self.left_out
        if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
            raise OptionError(f"left_out={names!r}, expected names of joints")
        self._put("left_out", tuple(names))


USUAL = Settings()
