"""What a chart is told: axes, lines, marks and bands, in the numbers of whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Axis:
    """A scale with its words. Without ``low`` and ``high`` it covers all that is drawn, up to round numbers."""

    label: str = ""
    log: bool = False  # numbers that are not above 0 are then left out
    unit: str = ""  # stands after the label, in brackets
    ticks: Sequence[float] | None = None  # None: round numbers, as many as there is room for
    low: float | None = None
    high: float | None = None
    text: Callable[[float], str] | None = None  # of a tick; None: the number
    whole: bool = False  # ticks at whole numbers only: of keys or frames there is no half

    @property
    def says(self) -> str:
        """Label and unit."""
        return f"{self.label} ({self.unit})" if self.unit and self.label else self.label or self.unit


@dataclass(frozen=True)
class Line:
    """Points joined in their order; where x or y is no finite number there is a gap.

    ``dashed=None`` leaves it to the chart, which dashes up to ten lines differently.
    """

    label: str
    x: ArrayLike  # (N,) never decreasing
    y: ArrayLike  # (N,)
    colour: str = "line0"  # of the theme, by name
    dashed: bool | None = None
    dots: bool = False  # at each point, of a shape of its own for each line
    width_px: float = 1.8
    filled: bool = False  # down to the bottom of the chart


@dataclass(frozen=True)
class Mark:
    """An upright line at ``x``, or with ``y`` a dot, from which a line may drop down to the axis.

    Its label is left out where there is no room for it; of several marks the first ones get their labels first.
    """

    x: float
    label: str = ""
    y: float | None = None
    colour: str = "muted"
    dashed: bool = False
    drop: bool = False
    shape: str = "circle"


@dataclass(frozen=True)
class Band:
    """All between two x, behind the lines."""

    start: float
    end: float
    colour: str = "grid"
    opacity: float = 0.5


@dataclass(frozen=True)
class TopAxis:
    """The same x in other words, along the top: ``ticks`` are pairs of an x and what to write there."""

    label: str
    ticks: Sequence[tuple[float, str]]
