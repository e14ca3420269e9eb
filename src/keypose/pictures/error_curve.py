"""Error against the number of keys, with the cliffs at which a key buys much and the next ones little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import Ladder, Selection
from keypose.model.selection import NOISE
from keypose.options import flag, text, whole
from keypose.pictures.chart import Axis, Line, Mark, TopAxis, chart
from keypose.pictures.chart.ticks import tick_text
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.theme import SERIES

Ladders: TypeAlias = Ladder | Mapping[str, Ladder] | Sequence[Ladder]
MOST_CLIFFS = 5  # of one ladder that are named, the strongest
MOST_LADDERS = 30
MOST_FRAMES = 2**31 - 1  # frames are counted in 32 bits
REMOVED = (50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5)  # % of the frames


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
    theme: str = "light",
) -> Picture:
    """The cost of every number of keys of one ladder, or of several by name.

    Costs are what each method itself makes small, in the units of its features: comparable along one line, and between
    lines only where these are of the same kind. ``label`` and ``unit`` are written at their axis; say ``"mm"`` for
    ladders of ``cost="inbetween"``. Cliffs are marked with their number of keys, and the knee of the curve if there is
    no cliff; ``chosen`` marks the keys that are used. A cost of 0 has no place on a logarithmic scale: the line ends
    before it.
    """
    target = None if path is None else picture_path(path)
    named = _named(ladders)
    text("unit", unit)
    words = _title(named) if title is None else text("title", title)
    picked = _picked(chosen, next(iter(named.values())))
    if n_frames is not None:
        most = whole("n_frames", n_frames, least=1, most=MOST_FRAMES)
        named = {name: replace(ladder, n_frames=most) for name, ladder in named.items()}
    only = len(named) == 1
    lines = [
        Line("" if only else name, ladder.counts, _seen(ladder), f"line{n % SERIES}", dots=len(ladder) < 2)
        for n, (name, ladder) in enumerate(named.items())
    ]
    found = _Found.of(next(iter(named.values()))) if only and flag("cliffs", cliffs) else None
    marks = _marks(next(iter(named.values())), found, picked)
    log = any(ladder.cost_values.any() for ladder in named.values())
    own = "in units of the features" if only else "each in its method's own units"
    picture = chart(
        lines,
        Axis("keys", whole=True),
        Axis(label if unit else f"{label}, {own}", log=log, unit=unit),
        width_px=width_px,
        height_px=height_px,
        theme=theme,
        title=words,
        says=_says(named, found, picked, unit),
        marks=marks,
        top=_removed(named),
    )
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _Found:
    """Numbers of keys worth stopping at."""

    cliffs: tuple[int, ...]  # strongest first
    knee: int | None  # where there is no cliff

    @staticmethod
    def of(ladder: Ladder) -> _Found:
        cliffs = tuple(cliff.keys for cliff in ladder.cliffs()[:MOST_CLIFFS])
        return _Found(cliffs, ladder.knee() if not cliffs and len(ladder) > 2 else None)


def _named(ladders: Ladders) -> dict[str, Ladder]:
    """Ladders by name; those of a list by their method, numbered where one has several."""
    if isinstance(ladders, Ladder):
        return {ladders.method: ladders}
    if isinstance(ladders, Mapping):
        named = dict(ladders)
    else:
        several = list(ladders) if isinstance(ladders, Sequence) and not isinstance(ladders, str) else [ladders]
        _check(several)
        methods = [ladder.method for ladder in several]
        named = {m if methods.count(m) == 1 else f"{m} {n + 1}": several[n] for n, m in enumerate(methods)}
    _check(list(named.values()))
    if not 1 <= len(named) <= MOST_LADDERS:
        raise OptionError(f"{len(named)} ladders, expected 1 to {MOST_LADDERS}")
    return {str(name): ladder for name, ladder in named.items()}


def _check(ladders: Sequence[object]) -> None:
    for ladder in ladders:
        if not isinstance(ladder, Ladder):
            raise OptionError(f"{type(ladder).__name__}, expected a Ladder, as kp.ladder gives it, or several by name")


def _picked(chosen: int | Selection | None, ladder: Ladder) -> int | None:
    if chosen is None:
        return None
    if isinstance(chosen, Selection) and chosen.n_frames != ladder.n_frames:
        raise OptionError(f"chosen: keys of {chosen.n_frames:,} frames, expected those of the {ladder.n_frames:,} of "
                          f"the ladder")  # fmt: skip
    keys = len(chosen) if isinstance(chosen, Selection) else whole("chosen", chosen)
    if keys not in ladder.costs:
        raise OptionError(f"chosen={keys}, expected a number of keys of the ladder, "
                          f"{ladder.counts[0]} to {ladder.counts[-1]}")  # fmt: skip
    return keys


def _seen(ladder: Ladder) -> Floats:
    """The costs (C,), NaN for what is nothing or rounding; of a ladder without any cost all are 0."""
    costs = ladder.cost_values
    return np.where(costs >= NOISE * costs.max(), costs, np.nan) if costs.any() else costs


def _marks(ladder: Ladder, found: _Found | None, picked: int | None) -> list[Mark]:
    """Dots on the curve; what costs nothing is a line, since there is no curve."""
    seen = _seen(ladder)

    def mark(keys: int, label: str, colour: str, shape: str = "circle") -> Mark:
        cost = float(seen[ladder.counts == keys][0])
        return Mark(keys, label, None if np.isnan(cost) else cost, colour, dashed=True, drop=True, shape=shape)

    marks = [] if picked is None else [mark(picked, f"{picked:,} keys chosen", "key")]
    if found is not None:
        marks += [mark(keys, f"cliff {keys:,}", "cliff", "diamond") for keys in found.cliffs]
        marks += [] if found.knee is None else [mark(found.knee, f"knee {found.knee:,}", "muted", "square")]
    return marks


def _removed(named: Mapping[str, Ladder]) -> TopAxis | None:
    """How many % of the frames each number of keys leaves out; None where the ladders are of different motions."""
    frames = {ladder.n_frames for ladder in named.values()}
    if len(frames) > 1:
        return None
    n = frames.pop()
    keys: Floats = np.round(n * (1 - np.array(REMOVED) / 100))
    ticks = [(count, f"{tick_text(percent)} %") for count, percent in zip(keys.tolist(), REMOVED, strict=True)]
    return TopAxis("removed", ticks[::-1])


def _title(named: Mapping[str, Ladder]) -> str:
    if len(named) > 1:
        return "Error against keys"
    ladder = next(iter(named.values()))
    return f"Error against keys: {ladder.method}"


def _says(named: Mapping[str, Ladder], found: _Found | None, picked: int | None, unit: str) -> str:
    sentences = []
    for name, ladder in named.items():
        first, last = int(ladder.counts[0]), int(ladder.counts[-1])
        costs = f"{ladder.cost_values[0]:.3g} to {ladder.cost_values[-1]:.3g}{' ' * bool(unit)}{unit}"
        sentences.append(f"{name}: cost {costs} for {first:,} to {last:,} keys of {ladder.n_frames:,} frames")
    if found is not None and found.cliffs:
        sentences.append(f"cliffs at {', '.join(map(str, found.cliffs))} keys")
    if found is not None and found.knee:
        sentences.append(f"no cliff; the knee is at {found.knee} keys")
    if picked is not None:
        sentences.append(f"{picked} keys chosen")
    return "Error against keys. " + ". ".join(sentences) + "."
