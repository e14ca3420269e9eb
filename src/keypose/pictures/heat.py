"""The heat map: how much each of some rows has at each time, by colour; made for errors of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, runs
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.options import number as checked
from keypose.options import text
from keypose.pictures.chart.axes import TEXT_PX, Area
from keypose.pictures.chart.chart import MOST_PX, size_from
from keypose.pictures.chart.layout import EDGE_PX, TITLE_PX
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.ticks import round_step, tick_text
from keypose.pictures.chart.times import TIME_PX, draw_keys, draw_time, frame_scale
from keypose.pictures.joint_rows import Side, limbs_of
from keypose.pictures.keys_of import Keys, key_frames
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.svg import document, fitting, number, text_width, words
from keypose.pictures.theme import STEPS, Theme, theme_of

COLUMN_PX = 2.0  # of which each shows the most of its frames
MOST_ROWS = 80
LONGEST_NAME = 0.24  # of the width
PART = 99.0  # % of the numbers that the scale tells apart; all above have the last colour
GAP_PX = 3.0  # between limbs
BOX_PX, LEGEND_PX = 40.0, 34.0  # of each colour, and of all


def heat_map(
    values: ArrayLike,
    rows: Skeleton | Sequence[str],
    path: str | PathLike[str] | None = None,
    *,
    fps: float,
    keys: Keys = None,
    unit: str = "mm",
    what: str = "error",
    most: float | None = None,
    title: str = "",
    width_px: float = 960.0,
    row_px: float = 12.0,
    theme: str = "light",
) -> Picture:
    """Numbers (T, R), none below 0, by colour: a row for each column of ``values``, time from left to right.

    ``rows`` names them; a Skeleton also sorts its joints by limb. Each column of px shows the largest number of its
    frames, in nine steps up to ``most``, by default what 99 % of the numbers stay below, rounded up. Of more than 80
    rows those with the largest numbers are shown. ``keys`` are upright lines. With ``path`` the picture is saved too.
    """
    target = None if path is None else picture_path(path)
    colours = theme_of(theme)
    width, _ = size_from(width_px, MOST_PX)
    for name, value in (("title", title), ("unit", unit), ("what", what)):
        text(name, value)
    names = rows.names if isinstance(rows, Skeleton) else tuple(map(str, rows))
    numbers = _numbers(values, len(names))
    shown, left_out = _shown(numbers, rows)
    rate = checked("fps", fps, above=0)
    step = _step(numbers, most)
    plan = _lay_out([(names[row], side, gap) for row, side, gap in shown], len(numbers), width,
                    checked("row_px", row_px, least=4.0, most=60.0), title)  # fmt: skip
    at = key_frames(keys, len(numbers))
    worst = np.unravel_index(int(numbers.argmax()), numbers.shape)
    says = (
        f"{title or 'Heat map'}: {what} of {len(names):,} rows over {len(numbers) / rate:.2f} s. The most is "
        f"{numbers[worst]:.3g} {unit}, {names[int(worst[1])]} at frame {int(worst[0])}. {left_out}"
    ).strip()
    body = _drawn(plan, numbers[:, [row for row, _, _ in shown]], step, rate, title, colours)
    body += draw_keys(plan.area, plan.frames.px(at).tolist(), colours)
    body += _legend(plan, step, f"{what} ({unit})" if unit else what, left_out, width, colours)
    height = plan.area.bottom + TIME_PX + LEGEND_PX + (16 if left_out else 0)
    svg = document(body, width, height, colours, title=title or "heat map", says=says)
    picture = Picture(svg, width, height, says)
    if target is not None:
        picture.save(target)
    return picture


def binned(values: Floats, columns: int) -> Floats:
    """The largest of the rows (T, R) that fall into each of so many columns, (columns, R); with fewer rows all."""
    if len(values) <= columns:
        return values
    starts = np.arange(columns) * len(values) // columns
    most: Floats = np.maximum.reduceat(values, starts, axis=0)
    return most


def _numbers(values: ArrayLike, rows: int) -> Floats:
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise OptionError("values that are no numbers, expected an array of frames and rows") from None
    if numbers.ndim != 2 or numbers.shape[1] != rows or not numbers.size:
        raise OptionError(f"values {numbers.shape}, expected (frames, {rows}), at least one of each")
    if not np.isfinite(numbers).all() or numbers.min() < 0:
        raise OptionError("values: expected finite numbers that are not below 0")
    return numbers


def _shown(numbers: Floats, rows: Skeleton | Sequence[str]) -> tuple[list[tuple[int, Side, bool]], str]:
    """Rows with their side, and whether a limb starts there; and in words what is left out."""
    greatest = numbers.max(axis=0)
    kept = sorted(np.argsort(-greatest, kind="stable")[:MOST_ROWS].tolist())
    few = len(greatest) - len(kept)
    left_out = f"{few:,} rows with the smallest numbers are left out." if few else ""
    if not isinstance(rows, Skeleton):
        return [(row, "middle", False) for row in kept], left_out
    found: list[tuple[int, Side, bool]] = []
    for limb in limbs_of(rows, kept):
        found += [(joint, limb.side, n == 0 and bool(found)) for n, joint in enumerate(limb.joints)]
    return found, left_out


def _step(numbers: Floats, most: float | None) -> float:
    """What each colour covers: a round number, if nothing else was said."""
    if most is not None:
        return checked("most", most, above=0) / STEPS
    return round_step(float(np.percentile(numbers, PART)) / STEPS) or round_step(float(numbers.max()) / STEPS) or 1.0


@dataclass(frozen=True)
class _Plan:
    """Places in px."""

    area: Area
    frames: Scale
    rows: tuple[tuple[str, Side, float], ...]  # name, side, top
    row_px: float
    text_px: float


def _lay_out(rows: Sequence[tuple[str, Side, bool]], n_frames: int, width: float, row_px: float, title: str) -> _Plan:
    text_px = min(TEXT_PX, row_px)
    names = [fitting(name, LONGEST_NAME * width, text_px) for name, _, _ in rows]
    left = EDGE_PX + max(*(text_width(name, text_px) for name in names), text_width("seconds", TEXT_PX)) + 16
    y = top = EDGE_PX + (TITLE_PX + 8 if title else 0.0) + 8
    placed = []
    for name, (_, side, is_first) in zip(names, rows, strict=True):
        y += GAP_PX if is_first else 0.0
        placed.append((name, side, y))
        y += row_px
    area = Area(left, top, width - EDGE_PX - 8, y)
    return _Plan(area, frame_scale(n_frames, area.left, area.right), tuple(placed), row_px, text_px)


def _drawn(plan: _Plan, numbers: Floats, step: float, fps: float, title: str, theme: Theme) -> str:
    area, drawn = plan.area, []
    if title:
        shown = fitting(title, area.right - EDGE_PX, TITLE_PX, bold=True)
        drawn.append(words(EDGE_PX, EDGE_PX + TITLE_PX - 2, shown, TITLE_PX, theme["ink"], bold=True))
    drawn.append(draw_time(area, plan.frames, fps, theme, grid=False))
    columns = binned(numbers, max(1, int(area.width / COLUMN_PX)))
    steps = np.minimum((columns / step).astype(np.int64), STEPS - 1)
    wide = area.width / len(columns)
    paths: list[list[str]] = [[] for _ in range(STEPS)]
    for r, (name, side, top) in enumerate(plan.rows):
        middle = top + plan.row_px / 2
        paths[0].append(f"M{number(area.left)} {number(middle)}H{number(area.right)}")
        for colour in range(1, STEPS):
            for start, stop in runs(steps[:, r] == colour):
                x = area.left + start * wide
                paths[colour].append(f"M{number(x)} {number(middle)}h{number((stop - start) * wide)}")
        y = middle + 0.35 * plan.text_px
        drawn.append(words(area.left - 12, y, name, plan.text_px, theme["ink"], anchor="end"))
        dash = ' stroke-dasharray="3 2"' if side == "right" else ""
        drawn.append(f'<path d="M{number(area.left - 6)} {number(top)}v{number(plan.row_px)}" '
                     f'stroke="{theme[f"{side}4"]}" stroke-width="4"{dash}/>')  # fmt: skip
    thick = number(plan.row_px - 0.5)
    for colour, path in enumerate(paths):
        if path:
            drawn.append(f'<path data-heat="{colour}" d="{"".join(path)}" stroke="{theme[f"heat{colour}"]}" '
                         f'stroke-width="{thick}" fill="none"/>')  # fmt: skip
    return "".join(drawn)


def _legend(plan: _Plan, step: float, label: str, left_out: str, width: float, theme: Theme) -> str:
    y = plan.area.bottom + TIME_PX + 14
    room = width - 2 * EDGE_PX - 6
    box = min(BOX_PX, (room - min(text_width(label, TEXT_PX), room / 3)) / STEPS)
    drawn = []
    for colour in range(STEPS):
        x = EDGE_PX + colour * box
        drawn.append(f'<rect x="{number(x)}" y="{number(y - 9)}" width="{number(box)}" height="10" '
                     f'fill="{theme[f"heat{colour}"]}"/>')  # fmt: skip
        text = tick_text(float(f"{colour * step:.6g}")) + "+" * (colour == STEPS - 1)
        drawn.append(words(x, y + 13, fitting(text, box - 2, TEXT_PX - 1), TEXT_PX - 1, theme["muted"]))
    shown = fitting(label, room - STEPS * box, TEXT_PX)
    drawn.append(words(EDGE_PX + STEPS * box + 6, y, shown, TEXT_PX, theme["ink"]))
    if left_out:
        shown = fitting(left_out, width - 2 * EDGE_PX, TEXT_PX)
        drawn.append(words(EDGE_PX, y + 30, shown, TEXT_PX, theme["muted"]))
    return "".join(drawn)
