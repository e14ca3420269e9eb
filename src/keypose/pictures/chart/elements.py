"""Elements of a chart, in data coordinates: axes, lines, marks and bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Axis:
    """A scale with its label. Without ``low`` and ``high`` it covers all data."""

    label: str = ""
    log: bool = False  # omits values <= 0
    unit: str = ""  # after the label, in parentheses
    ticks: Sequence[float] | None = None  # None: as many round numbers as fit
    low: float | None = None
    high: float | None = None
    text: Callable[[float], str] | None = None  # text of a tick; None: the number
    is_integer: bool = False  # ticks at integers only, for keys and frames

    @property
    def full_label(self) -> str:
        """Label and unit."""
        return f"{self.label} ({self.unit})" if self.unit and self.label else self.label or self.unit


@dataclass(frozen=True)
class Line:
    """Points joined in order, with a gap where x or y is not finite.

    ``dashed=None``: the chart chooses a dash pattern, different for up to ten lines.
    """

    label: str
    x: ArrayLike  # (N,) never decreasing
    y: ArrayLike  # (N,)
    colour: str = "line0"  # name of a colour of the theme
    dashed: bool | None = None
    dots: bool = False  # at each point, with a different shape for each line
    width_px: float = 1.8
    filled: bool = False  # down to the bottom of the chart


@dataclass(frozen=True)
class Mark:
    """A vertical line at ``x``, or a dot if ``y`` is given, from which a line may drop to the axis.

    The label is omitted if there is no space; the first marks have precedence.
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
    """A coloured range of x behind the lines."""

    start: float
    end: float
    colour: str = "grid"
    opacity: float = 0.5


@dataclass(frozen=True)
class TopAxis:
    """A second x axis along the top; ``ticks`` are pairs of x and text."""

    label: str
    ticks: Sequence[tuple[float, str]]
