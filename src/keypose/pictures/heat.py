"""Heat map of values by row and time, such as errors of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, runs
from keypose.errors import OptionError, format_count
from keypose.model import Skeleton
from keypose.pictures.chart.axes import TEXT_PX, TIME_PX, Area, draw_key_lines, draw_time_axis, frame_scale
from keypose.pictures.chart.chart import EDGE_PX, TITLE_PX, check_width
from keypose.pictures.chart.scale import Scale, format_tick, round_step
from keypose.pictures.joint_rows import Keys, Side, group_joints, key_frames
from keypose.pictures.svg import (
    STEPS,
    Picture,
    Theme,
    document,
    find_theme,
    fit_text,
    number,
    picture_path,
    text_element,
    text_width,
)
from keypose.validation import check_number, check_text

COLUMN_PX = 2.0  # width of a column, which shows the maximum of its frames
MAX_ROWS = 80
MAX_NAME_SHARE = 0.24  # of the width of the picture
SCALE_PERCENTILE = 99.0  # percentile at which the scale ends; larger values have the last colour
GAP_PX = 3.0  # between body regions
BOX_PX, LEGEND_PX = 40.0, 34.0  # width of each colour, height of the legend


def heat_map(
    values: ArrayLike,
    rows: Skeleton | Sequence[str],
    path: str | PathLike[str] | None = None,
    *,
    fps: float,
    keys: Keys = None,
    unit: str = "mm",
    quantity: str = "error",
    max_value: float | None = None,
    title: str = "",
    width_px: float = 960.0,
    row_px: float = 12.0,
    theme: str = "light",
) -> Picture:
    """Return a heat map of ``values`` (T, R), all >= 0: one row for each column of ``values``, time from left to right.

    ``rows`` names the rows; the joints of a Skeleton are sorted by body region. Each pixel column shows the maximum of
    its frames in nine colour steps up to ``max_value``, by default the 99th percentile rounded up. At most 80 rows are
    drawn, those with the largest values. ``keys`` are drawn as vertical lines, ``quantity`` and ``unit`` label the
    scale. With ``path`` the picture is saved as well.
    """
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width = check_width(width_px)
    for name, value in (("title", title), ("unit", unit), ("quantity", quantity)):
        check_text(name, value)
    names = rows.names if isinstance(rows, Skeleton) else tuple(map(str, rows))
    numbers = _check_values(values, len(names))
    selected_rows, omission_note = _select_rows(numbers, rows)
    rate = check_number("fps", fps, above=0)
    step = _colour_step(numbers, max_value)
    layout = _lay_out([(names[row], side, gap) for row, side, gap in selected_rows], len(numbers), width,
                    check_number("row_px", row_px, min_value=4.0, max_value=60.0), title)  # fmt: skip
    key_indices = key_frames(keys, len(numbers))
    worst = np.unravel_index(int(numbers.argmax()), numbers.shape)
    alt_text = (
        f"{title or 'Heat map'}: {quantity} of {format_count(len(names), 'row', ',')} "
        f"over {len(numbers) / rate:.2f} s. The most is "
        f"{numbers[worst]:.3g} {unit}, {names[int(worst[1])]} at frame {int(worst[0])}. {omission_note}"
    ).strip()
    body = _render(layout, numbers[:, [row for row, _, _ in selected_rows]], step, rate, title, colours)
    body += draw_key_lines(layout.area, layout.frames.px(key_indices).tolist(), colours)
    body += _render_legend(layout, step, f"{quantity} ({unit})" if unit else quantity, omission_note, width, colours)
    height = layout.area.bottom + TIME_PX + LEGEND_PX + (16 if omission_note else 0)
    svg = document(body, width, height, colours, title=title or "heat map", alt_text=alt_text)
    picture = Picture(svg, width, height, alt_text)
    if target is not None:
        picture.save(target)
    return picture


def bin_max(values: Floats, columns: int) -> Floats:
    """Return the maximum (columns, R) of the rows of ``values`` (T, R) in each column; ``values`` if T <= columns."""
    if len(values) <= columns:
        return values
    starts = np.arange(columns) * len(values) // columns
    maxima: Floats = np.maximum.reduceat(values, starts, axis=0)
    return maxima


def _check_values(values: ArrayLike, rows: int) -> Floats:
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise OptionError("values that are no numbers", expected="an array of frames and rows") from None
    if numbers.ndim != 2 or numbers.shape[1] != rows or not numbers.size:
        raise OptionError(f"values {numbers.shape}", expected=f"(frames, {rows}), at least one of each")
    if not np.isfinite(numbers).all() or numbers.min() < 0:
        raise OptionError(option="values", expected="finite numbers that are not below 0")
    return numbers


def _select_rows(numbers: Floats, rows: Skeleton | Sequence[str]) -> tuple[list[tuple[int, Side, bool]], str]:
    """Return (row, side, starts a body region) of each row to draw, and a note on the omitted rows."""
    maxima = numbers.max(axis=0)
    row_indices = sorted(np.argsort(-maxima, kind="stable")[:MAX_ROWS].tolist())
    n_omitted = len(maxima) - len(row_indices)
    omission_note = (
        f"{format_count(n_omitted, 'row', ',')} with the smallest numbers {'is' if n_omitted == 1 else 'are'} left out."
        if n_omitted
        else ""
    )
    if not isinstance(rows, Skeleton):
        return [(row, "middle", False) for row in row_indices], omission_note
    selected_rows: list[tuple[int, Side, bool]] = []
    for region in group_joints(rows, row_indices):
        selected_rows += [(joint, region.side, n == 0 and bool(selected_rows)) for n, joint in enumerate(region.joints)]
    return selected_rows, omission_note


def _colour_step(numbers: Floats, max_value: float | None) -> float:
    """Return the range of values of one colour, a round number unless ``max_value`` is given."""
    if max_value is not None:
        return check_number("max_value", max_value, above=0) / STEPS
    return (
        round_step(float(np.percentile(numbers, SCALE_PERCENTILE)) / STEPS)
        or round_step(float(numbers.max()) / STEPS)
        or 1.0
    )


@dataclass(frozen=True)
class _Layout:
    """Positions in px."""

    area: Area
    frames: Scale
    rows: tuple[tuple[str, Side, float], ...]  # name, side, top
    row_px: float
    text_px: float


def _lay_out(rows: Sequence[tuple[str, Side, bool]], n_frames: int, width: float, row_px: float, title: str) -> _Layout:
    text_px = min(TEXT_PX, row_px)
    names = [fit_text(name, MAX_NAME_SHARE * width, text_px) for name, _, _ in rows]
    left = EDGE_PX + max(*(text_width(name, text_px) for name in names), text_width("seconds", TEXT_PX)) + 16
    y = top = EDGE_PX + (TITLE_PX + 8 if title else 0.0) + 8
    row_tops = []
    for name, (_, side, is_first) in zip(names, rows, strict=True):
        y += GAP_PX if is_first else 0.0
        row_tops.append((name, side, y))
        y += row_px
    area = Area(left, top, width - EDGE_PX - 8, y)
    return _Layout(area, frame_scale(n_frames, area.left, area.right), tuple(row_tops), row_px, text_px)


def _render(layout: _Layout, numbers: Floats, step: float, fps: float, title: str, theme: Theme) -> str:
    area, elements = layout.area, []
    if title:
        title_text = fit_text(title, area.right - EDGE_PX, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, title_text, TITLE_PX, theme["ink"], bold=True))
    elements.append(draw_time_axis(area, layout.frames, fps, theme, grid=False))
    columns = bin_max(numbers, max(1, int(area.width / COLUMN_PX)))
    steps = np.minimum((columns / step).astype(np.int64), STEPS - 1)
    column_width = area.width / len(columns)
    paths: list[list[str]] = [[] for _ in range(STEPS)]
    for r, (name, side, top) in enumerate(layout.rows):
        middle = top + layout.row_px / 2
        paths[0].append(f"M{number(area.left)} {number(middle)}H{number(area.right)}")
        for colour in range(1, STEPS):
            for start, stop in runs(steps[:, r] == colour):
                x = area.left + start * column_width
                paths[colour].append(f"M{number(x)} {number(middle)}h{number((stop - start) * column_width)}")
        y = middle + 0.35 * layout.text_px
        elements.append(text_element(area.left - 12, y, name, layout.text_px, theme["ink"], anchor="end"))
        dash = ' stroke-dasharray="3 2"' if side == "right" else ""
        elements.append(f'<path d="M{number(area.left - 6)} {number(top)}v{number(layout.row_px)}" '
                     f'stroke="{theme[f"{side}4"]}" stroke-width="4"{dash}/>')  # fmt: skip
    thick = number(layout.row_px - 0.5)
    for colour, path in enumerate(paths):
        if path:
            elements.append(f'<path data-heat="{colour}" d="{"".join(path)}" stroke="{theme[f"heat{colour}"]}" '
                         f'stroke-width="{thick}" fill="none"/>')  # fmt: skip
    return "".join(elements)


def _render_legend(layout: _Layout, step: float, label: str, omission_note: str, width: float, theme: Theme) -> str:
    y = layout.area.bottom + TIME_PX + 14
    max_width = width - 2 * EDGE_PX - 6
    box = min(BOX_PX, (max_width - min(text_width(label, TEXT_PX), max_width / 3)) / STEPS)
    elements = []
    for colour in range(STEPS):
        x = EDGE_PX + colour * box
        elements.append(f'<rect x="{number(x)}" y="{number(y - 9)}" width="{number(box)}" height="10" '
                     f'fill="{theme[f"heat{colour}"]}"/>')  # fmt: skip
        text = format_tick(float(f"{colour * step:.6g}")) + "+" * (colour == STEPS - 1)
        elements.append(text_element(x, y + 13, fit_text(text, box - 2, TEXT_PX - 1), TEXT_PX - 1, theme["muted"]))
    line = fit_text(label, max_width - STEPS * box, TEXT_PX)
    elements.append(text_element(EDGE_PX + STEPS * box + 6, y, line, TEXT_PX, theme["ink"]))
    if omission_note:
        line = fit_text(omission_note, width - 2 * EDGE_PX, TEXT_PX)
        elements.append(text_element(EDGE_PX, y + 30, line, TEXT_PX, theme["muted"]))
    return "".join(elements)
