"""Error against the number of keys, with cliffs: numbers of keys after which further keys improve little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError, format_count, format_count_range
from keypose.model import Ladder, Selection
from keypose.model.selection import NOISE
from keypose.options import check_option_int
from keypose.options.pictures import ErrorPlotOptions, ThemeName
from keypose.pictures.chart import Axis, Line, Mark, TopAxis, chart
from keypose.pictures.chart.scale import format_tick
from keypose.pictures.svg import SERIES, Picture, picture_path
from keypose.validation import check_bool, check_int, check_text

Ladders: TypeAlias = Ladder | Mapping[str, Ladder] | Sequence[Ladder]
MAX_CLIFFS = 5  # number of cliffs that are marked on one ladder, the strongest ones
MAX_LADDERS = 30
REMOVED_PERCENT = (50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5)  # % of the frames


def plot_errors(
    ladders: Ladders,
    path: str | PathLike[str] | None = None,
    *,
    chosen: int | Selection | None = None,
    unit: str = "",
    label: str = "cost",
    n_frames: int | None = None,
    cliffs: bool = True,
    title: str | None = None,
    width_px: float = 720.0,
    height_px: float = 400.0,
    theme: ThemeName = "light",
) -> Picture:
    """Return a chart of cost against number of keys, for one ladder or several by name.

    Costs are what each method minimises, in the units of its features: they can be compared along one line, and between
    lines only if these have the same units. ``label`` and ``unit`` label the cost axis; use ``"mm"`` for ladders of
    ``cost="inbetween"``. With ``cliffs`` they are marked with their number of keys, or the knee of the curve if there
    is none; ``chosen`` marks the number of keys in use. The scale is logarithmic, so the line ends before a cost of 0.
    ``n_frames`` replaces the number of frames of the ladders. ``title``: by default the method; ``width_px``,
    ``height_px``: the size; ``theme``: ``light``, ``dark``, ``page`` or ``notebook``. With ``path`` the picture is
    saved as well.
    """
    target = None if path is None else picture_path(path)
    ladders_by_name = _ladders_by_name(ladders)
    check_text("unit", unit)
    heading = _title(ladders_by_name) if title is None else check_text("title", title)
    n_chosen = _check_chosen(chosen, next(iter(ladders_by_name.values())))
    if n_frames is not None:
        frame_count = check_option_int(ErrorPlotOptions, "n_frames", n_frames)
        ladders_by_name = {name: replace(ladder, n_frames=frame_count) for name, ladder in ladders_by_name.items()}
    is_single = len(ladders_by_name) == 1
    lines = [
        Line(
            "" if is_single else name, ladder.counts, _visible_costs(ladder), f"line{n % SERIES}", dots=len(ladder) < 2
        )
        for n, (name, ladder) in enumerate(ladders_by_name.items())
    ]
    stop_points = (
        _StopPoints.find(next(iter(ladders_by_name.values()))) if is_single and check_bool("cliffs", cliffs) else None
    )
    marks = _marks(next(iter(ladders_by_name.values())), stop_points, n_chosen)
    log = any(ladder.cost_values.any() for ladder in ladders_by_name.values())
    cost_units = "in units of the features" if is_single else "each in its method's own units"
    picture = chart(
        lines,
        Axis("keys", is_integer=True),
        Axis(label if unit else f"{label}, {cost_units}", log=log, unit=unit),
        width_px=width_px,
        height_px=height_px,
        theme=theme,
        title=heading,
        alt_text=_describe(ladders_by_name, stop_points, n_chosen, unit),
        marks=marks,
        top=_removed_axis(ladders_by_name),
    )
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _StopPoints:
    """Numbers of keys after which further keys improve little."""

    cliffs: tuple[int, ...]  # strongest first
    knee: int | None  # None if there are cliffs

    @staticmethod
    def find(ladder: Ladder) -> _StopPoints:
        cliffs = tuple(cliff.keys for cliff in ladder.cliffs()[:MAX_CLIFFS])
        return _StopPoints(cliffs, ladder.knee() if not cliffs and len(ladder) > 2 else None)


def _ladders_by_name(ladders: Ladders) -> dict[str, Ladder]:
    """Return ladders by name; ladders of a list are named by method, numbered if a method occurs twice."""
    if isinstance(ladders, Ladder):
        return {ladders.method: ladders}
    if isinstance(ladders, Mapping):
        ladders_by_name = dict(ladders)
    else:
        ladder_list = list(ladders) if isinstance(ladders, Sequence) and not isinstance(ladders, str) else [ladders]
        _check(ladder_list)
        methods = [ladder.method for ladder in ladder_list]
        ladders_by_name = {
            m if methods.count(m) == 1 else f"{m} {n + 1}": ladder_list[n] for n, m in enumerate(methods)
        }
    _check(list(ladders_by_name.values()))
    if not 1 <= len(ladders_by_name) <= MAX_LADDERS:
        raise OptionError(f"{len(ladders_by_name)} ladders", expected=f"1 to {MAX_LADDERS}")
    return {str(name): ladder for name, ladder in ladders_by_name.items()}


def _check(ladders: Sequence[object]) -> None:
    for ladder in ladders:
        if not isinstance(ladder, Ladder):
            raise OptionError(type(ladder).__name__, expected="a Ladder, as kp.ladder gives it, or several by name")


def _check_chosen(chosen: int | Selection | None, ladder: Ladder) -> int | None:
    if chosen is None:
        return None
    if isinstance(chosen, Selection) and chosen.n_frames != ladder.n_frames:
        raise OptionError(
            f"keys of {format_count(chosen.n_frames, 'frame', ',')}",
            option="chosen",
            expected=f"those of the {ladder.n_frames:,} of the ladder",
        )
    keys = len(chosen) if isinstance(chosen, Selection) else check_int("chosen", chosen)
    if keys not in ladder.costs:
        raise OptionError(
            option="chosen",
            value=keys,
            expected=f"a number of keys of the ladder, {ladder.counts[0]} to {ladder.counts[-1]}",
        )
    return keys


def _visible_costs(ladder: Ladder) -> Floats:
    """Return the costs (C,), NaN where they are 0 or rounding noise; all 0 for a ladder without costs."""
    costs = ladder.cost_values
    return np.where(costs >= NOISE * costs.max(), costs, np.nan) if costs.any() else costs


def _marks(ladder: Ladder, stop_points: _StopPoints | None, n_chosen: int | None) -> list[Mark]:
    """Return marks on the curve; zero cost is marked by a vertical line, since the curve does not reach it."""
    visible_costs = _visible_costs(ladder)

    def mark(keys: int, label: str, colour: str, shape: str = "circle") -> Mark:
        cost = float(visible_costs[ladder.counts == keys][0])
        return Mark(keys, label, None if np.isnan(cost) else cost, colour, dashed=True, drop=True, shape=shape)

    marks = [] if n_chosen is None else [mark(n_chosen, f"{format_count(n_chosen, 'key', ',')} chosen", "key")]
    if stop_points is not None:
        marks += [mark(keys, f"cliff {keys:,}", "cliff", "diamond") for keys in stop_points.cliffs]
        marks += (
            []
            if stop_points.knee is None
            else [mark(stop_points.knee, f"knee {stop_points.knee:,}", "muted", "square")]
        )
    return marks


def _removed_axis(ladders_by_name: Mapping[str, Ladder]) -> TopAxis | None:
    """Return the axis of removed frames in %; None if the ladders have different numbers of frames."""
    frames = {ladder.n_frames for ladder in ladders_by_name.values()}
    if len(frames) > 1:
        return None
    n = frames.pop()
    keys: Floats = np.round(n * (1 - np.array(REMOVED_PERCENT) / 100))
    ticks = [
        (count, f"{format_tick(percent)} %") for count, percent in zip(keys.tolist(), REMOVED_PERCENT, strict=True)
    ]
    return TopAxis("removed", ticks[::-1])


def _title(ladders_by_name: Mapping[str, Ladder]) -> str:
    if len(ladders_by_name) > 1:
        return "Error against keys"
    ladder = next(iter(ladders_by_name.values()))
    return f"Error against keys: {ladder.method}"


def _describe(
    ladders_by_name: Mapping[str, Ladder], stop_points: _StopPoints | None, n_chosen: int | None, unit: str
) -> str:
    sentences = []
    for name, ladder in ladders_by_name.items():
        first, last = int(ladder.counts[0]), int(ladder.counts[-1])
        costs = f"{ladder.cost_values[0]:.3g} to {ladder.cost_values[-1]:.3g}{' ' * bool(unit)}{unit}"
        sentences.append(
            f"{name}: cost {costs} for {format_count_range(first, last, 'key', ',')} of "
            f"{format_count(ladder.n_frames, 'frame', ',')}"
        )
    if stop_points is not None and stop_points.cliffs:
        sentences.append(f"cliffs at {', '.join(map(str, stop_points.cliffs))} keys")
    if stop_points is not None and stop_points.knee:
        sentences.append(f"no cliff; the knee is at {format_count(stop_points.knee, 'key')}")
    if n_chosen is not None:
        sentences.append(f"{format_count(n_chosen, 'key')} chosen")
    return "Error against keys. " + ". ".join(sentences) + "."
