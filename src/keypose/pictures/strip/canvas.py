"""Size of a strip, its layouts, captions, time axis and floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.errors import Hint, OptionError
from keypose.options import check_option_int, check_option_number
from keypose.options.pictures import Layout, StripOptions
from keypose.pictures.svg import Theme, number, text_element, text_width

HEIGHT_PX = 180.0
MARGIN_PX = 10.0
TITLE_PX = 24.0
CAPTION_PX = 30.0  # two lines
TICKS_PX = 20.0
LABEL_PX, LABEL_FONT_PX = 19.0, 12.5  # of a row
CAPTION_WIDTH_PX, SPAN_WIDTH_PX = 44.0, 100.0  # of one frame and time; of a range
MAX_WIDTH_PX = 16_000.0
MAX_ITERATIONS = 5
LARGE_PX, MAX_TEXT_SCALE = 320.0, 3.0  # text grows with pictures taller than this, up to this factor
MIN_HEIGHT = 0.9  # heights; lying poses are not enlarged beyond standing ones
MIN_CAPTIONED_SCALE = 0.66  # captions are omitted if figures would be smaller than this share

# minimum width of a pose, space between rows, in heights -> offsets (F, 2)
PlaceFunction = Callable[[float, float], Floats]
ExtentFunction = Callable[[Floats], Floats]  # offsets -> min and max x and y (2, 2)

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
ROW_LAYOUTS: tuple[Layout, ...] = ("side", "time")
GAP = 0.07  # in heights, between neighbours that must not touch
MIN_TIME_GAP_SHARE = 0.5  # of the distance at which neighbours touch, in layout "time"
MAX_TIME_STRETCH = 1.8  # maximum width of layout "time" relative to poses side by side
DRIFT = 0.5  # in heights, added to the last pose relative to the first when sorting by position

FRAME_PX, TIME_PX = 11.5, 10.0
CAPTION_GAP_PX = 4.0  # between two captions
LINE_PX = 12.5
TICK_GAP_PX = 70.0

DEPTH_BEHIND, DEPTH_IN_FRONT = 0.075, 0.06  # of the plane around the feet, in heights
GRID_STEP = 0.5  # heights between lines
MAX_LINES = 60


@dataclass(frozen=True)
class SizeOptions:
    """Requested size in px."""

    height: float | None = None
    width: float | None = None  # maximum
    is_exact: bool = False  # the picture has exactly this width and height

    @staticmethod
    def parse(height_px: float | None, width_px: float | None, size_px: tuple[float, float] | None) -> SizeOptions:
        """Check the size options of ``strip`` and return them."""
        if size_px is not None:
            if height_px is not None or width_px is not None:
                raise OptionError(
                    "sets both width and height",
                    code="conflicting_options",
                    option="size_px",
                    hint=Hint("omit height_px and width_px", "omit --height-px and --width-px"),
                )
            if not isinstance(size_px, tuple | list) or len(size_px) != 2:
                raise OptionError(option="size_px", value=size_px, expected="(width, height)")
            exact_width, exact_height = (check_option_number(StripOptions, "size_px", each) for each in size_px)
            return SizeOptions(exact_height, exact_width, is_exact=True)
        height, width = (
            None if value is None else check_option_number(StripOptions, name, value)
            for name, value in (("height_px", height_px), ("width_px", width_px))
        )
        return SizeOptions(height, width)


@dataclass(frozen=True, eq=False)
class Canvas(Frozen):
    """A picture of ``width`` x ``height`` px with ``scale`` px per height of the figure."""

    width: float
    height: float
    scale: float
    left: float  # px of x = 0
    floor: float  # px of y = 0
    bottom: float  # px of the end of the figure area and start of captions
    figures_px: float  # height of the figure area in px
    has_captions: bool
    text_scale: float  # relative to the default text size
    offsets: Floats  # (F, 2) of poses, in heights

    def x(self, heights: float) -> float:
        """Return px from the left."""
        return self.left + self.scale * heights

    def y(self, heights: float) -> float:
        """Return px from the top."""
        return self.floor - self.scale * heights


@dataclass(frozen=True)
class Decorations:
    """Space used besides the poses: title, captions of ``caption_px`` width, px below the last ones, rows, labels."""

    has_title: bool
    has_captions: bool
    caption_px: float
    extra_caption_px: float = 0.0
    n_rows: int = 1
    labels_px: float = 0.0  # width of the widest label of a row; 0: no labels


def fit_canvas(size: SizeOptions, place: PlaceFunction, extent: ExtentFunction, decorations: Decorations) -> Canvas:
    """Return a canvas that fits all poses; captions are dropped if they would make the poses small."""
    captioned = _fit_canvas(size, place, extent, decorations)
    height = size.height or HEIGHT_PX * decorations.n_rows
    if not decorations.has_captions or (size.width is None and captioned.figures_px >= MIN_CAPTIONED_SCALE * height):
        return captioned
    without_captions = replace(decorations, has_captions=False, caption_px=0.0, extra_caption_px=0.0)
    bare = _fit_canvas(size, place, extent, without_captions)
    return captioned if captioned.scale >= MIN_CAPTIONED_SCALE * bare.scale else bare


def _fit_canvas(size: SizeOptions, place: PlaceFunction, extent: ExtentFunction, decorations: Decorations) -> Canvas:
    rows, captions = decorations.n_rows, decorations.has_captions
    height_limit = size.height or HEIGHT_PX * rows
    margin, text_scale = (
        min(MARGIN_PX, 0.06 * height_limit / rows),
        min(max(1.0, height_limit / rows / LARGE_PX), MAX_TEXT_SCALE),
    )
    caption_px, lines = text_scale * decorations.caption_px, text_scale * CAPTION_PX * captions
    label_px = text_scale * LABEL_PX * (decorations.labels_px > 0)
    head, between = margin + TITLE_PX * decorations.has_title + label_px, 0.5 * margin + lines + label_px
    foot = 0.5 * margin + lines + text_scale * decorations.extra_caption_px * captions
    figures_px = max(8.0, height_limit - head - foot - (rows - 1) * between)
    max_width = max(8.0, (size.width or MAX_WIDTH_PX) - 2 * margin)
    scale = figures_px / MIN_HEIGHT
    for _ in range(MAX_ITERATIONS):
        offsets = place(caption_px / scale, 0.0)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
        fitting_scale = min(figures_px / max(y1 - y0, MIN_HEIGHT), max_width / (x1 - x0))
        if fitting_scale >= 0.999 * scale:
            break
        scale = fitting_scale  # captions need more heights of smaller poses
    min_width, scale = caption_px / scale, min(scale, fitting_scale)
    if rows > 1:
        offsets = place(min_width, between / scale)
        (x0, y0), (x1, y1) = extent(offsets).tolist()
    content_width = max(scale * (x1 - x0), caption_px, text_scale * decorations.labels_px) + 2 * margin
    width = size.width if size.is_exact and size.width else min(content_width, size.width or MAX_WIDTH_PX)
    height = height_limit if size.is_exact else min(height_limit, head + foot + scale * max(y1 - y0, MIN_HEIGHT))
    bottom = height - foot - 0.5 * max(0.0, height - head - foot - scale * max(y1 - y0, MIN_HEIGHT))
    left = (width - scale * (x0 + x1)) / 2
    return Canvas(
        math.ceil(width),
        math.ceil(height),
        scale,
        left,
        bottom + scale * y0,
        bottom,
        figures_px,
        captions,
        text_scale,
        offsets,
    )


def check_rows(per_row: int | None, layout: Layout, *, has_labels: bool) -> None:
    """Raise OptionError if ``per_row``, or a labelled row for each selection, is invalid for ``layout``."""
    if has_labels and layout not in ROW_LAYOUTS:
        raise OptionError("with a row for each selection", option="layout", value=layout, expected="side or time")
    if has_labels and per_row is not None:
        raise OptionError("with several selections", option="per_row", value=per_row, expected="it with a single one")
    if per_row is not None and check_option_int(StripOptions, "per_row", per_row) and layout != "side":
        raise OptionError(
            f"with layout {layout}",
            option="per_row",
            value=per_row,
            expected="it with side: only poses side by side have rows",
        )


def side_by_side(boxes: Floats, min_width: float) -> Floats:
    """Return offsets (F,) to the right that put boxes (F, 2, 2) side by side, each at least ``min_width`` wide."""
    lows, highs = boxes[:, 0, 0], boxes[:, 1, 0]
    spare = np.maximum(0.0, min_width - (highs - lows)) / 2
    widths = highs - lows + 2 * spare + GAP
    starts = np.concatenate(([0.0], np.cumsum(widths)[:-1]))
    offsets: Floats = starts + spare - lows
    return offsets


def in_rows(boxes: Floats, rows: Ints, min_width: float) -> Floats:
    """Return offsets (F,) to the right of boxes side by side, for each of ``rows`` (F,) from the left."""
    offsets = np.empty(len(boxes))
    for row in range(int(rows.max()) + 1):
        own = rows == row
        offsets[own] = side_by_side(boxes[own], min_width)
    return offsets


def row_floors(low: Floats, high: Floats, between: float) -> Floats:
    """Return the floor heights (R,) of rows that reach from ``low`` to ``high`` (R,) around them, the first at 0."""
    steps = high[1:] - low[:-1] + between
    return -np.concatenate(([0.0], np.cumsum(steps)))


def by_time(boxes: Floats, times: Floats, rows: Ints, min_width: float) -> Floats:
    """Return offsets (F,) in proportion to ``times``, the same in all ``rows``; poses close in time may overlap."""
    if np.ptp(times) == 0:
        return -boxes[:, 0, 0]
    row_masks = [rows == row for row in range(int(rows.max()) + 1)]
    rate = max(_time_rate(boxes[own], times[own], min_width) for own in row_masks)
    if rate == 0:  # one pose in each row
        order = np.unique(times, return_index=True)[1]
        rate = _time_rate(boxes[order], times[order], min_width)
    offsets: Floats = (times - times.min()) * rate - boxes[:, :, 0].mean(axis=1)
    return offsets


def _time_rate(boxes: Floats, times: Floats, min_width: float) -> float:
    """Return heights per second at which poses (F, 2, 2) overlap little; 0 for one pose."""
    if len(times) < 2:
        return 0.0
    halves = np.maximum(boxes[:, 1, 0] - boxes[:, 0, 0], min_width) / 2
    min_distances = MIN_TIME_GAP_SHARE * (halves[1:] + halves[:-1] + GAP)
    side_offsets = side_by_side(boxes, min_width)
    rate = float((min_distances / np.diff(times)).max())
    max_length = MAX_TIME_STRETCH * float(side_offsets[-1] - side_offsets[0] + GAP)
    return min(rate, max_length / float(times[-1] - times[0]))


def expand_along_path(boxes: Floats, x: Floats) -> Floats:
    """Return the offsets (F,) nearest to positions ``x`` at which no boxes overlap.

    Poses keep the order of their positions; those at one position the order of time. The offsets minimise the
    sum of squared shifts.
    """
    order = np.argsort(x + DRIFT * np.linspace(0.0, 1.0, len(x)), kind="stable")
    lows, highs = boxes[order, 0, 0], boxes[order, 1, 0]
    min_offsets = np.concatenate(([0.0], np.cumsum(highs[:-1] - lows[1:] + GAP)))
    offsets = np.empty(len(x))
    offsets[order] = _isotonic_fit(x[order] - min_offsets) + min_offsets
    return offsets


def _isotonic_fit(values: Floats) -> Floats:
    """Return the least-squares non-decreasing fit by pooling adjacent violators."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


def draw_captions(
    positions: Sequence[tuple[float, float]], frames: Sequence[int], fps: float, canvas: Canvas, theme: Theme,
    *, times: bool = True,
) -> str:  # fmt: skip
    """Draw frame and time at ``positions`` (x, y px of the first line); captions that would overlap are omitted."""
    occupied: list[tuple[float, float, float]] = []
    elements = []
    for (x, y), frame in zip(positions, frames, strict=True):
        lines = [str(frame), *([format_seconds(frame / fps)] if times else [])]
        half = _caption_width(lines, canvas.text_scale) / 2
        x = min(max(x, half + 2), canvas.width - half - 2)
        min_distance, line_height = CAPTION_GAP_PX + half, 2 * LINE_PX * canvas.text_scale
        if 2 * half + 4 > canvas.width:
            continue
        if any(abs(x - other) < min_distance + wide and abs(y - line) < line_height for other, line, wide in occupied):
            continue
        occupied.append((x, y, half))
        elements.append(_draw_lines(x, y, lines, canvas.text_scale, theme))
    return "".join(elements)


def draw_range_caption(frames: Sequence[int], fps: float, x: float, y: float, canvas: Canvas, theme: Theme) -> str:
    """Draw the range of frames and times below poses at one position; empty if it does not fit."""
    first, last = frames[0], frames[-1]
    lines = [str(first), format_seconds(first / fps)]
    if last > first:
        lines = [f"{first} – {last}", f"{first / fps:.2f} – {format_seconds(last / fps)}"]
    half = _caption_width(lines, canvas.text_scale) / 2
    x = min(max(x, half + 2), canvas.width - half - 2)
    return _draw_lines(x, y, lines, canvas.text_scale, theme) if 2 * half + 4 <= canvas.width else ""


@dataclass(frozen=True)
class TimeAxis:
    """Times in px: x is ``x_at_zero`` + ``px_per_second`` * seconds."""

    first_s: float
    last_s: float
    x_at_zero: float
    px_per_second: float

    def x(self, time_s: float) -> float:
        """Return px from the left."""
        return self.x_at_zero + self.px_per_second * time_s

    def ticks(self, text_scale: float) -> list[float]:
        """Return round times (s), far enough apart for their texts."""
        step = round_step(TICK_GAP_PX * text_scale / self.px_per_second)
        first, last = math.ceil(self.first_s / step - 1e-9), math.floor(self.last_s / step + 1e-9)
        return [n * step for n in range(first, last + 1)]


def draw_time_grid(axis: TimeAxis, top: float, bottom: float, canvas: Canvas, theme: Theme) -> str:
    """Draw a line across all rows at each tick."""
    lines = "".join(f"M{number(axis.x(tick))} {number(top)}V{number(bottom)}" for tick in axis.ticks(canvas.text_scale))
    return f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>' if lines else ""


def draw_time_ticks(axis: TimeAxis, y: float, canvas: Canvas, theme: Theme) -> str:
    """Draw a time axis at ``y``."""
    line = f"M{number(axis.x(axis.first_s))} {number(y)}H{number(axis.x(axis.last_s))}"
    elements = []
    for tick in axis.ticks(canvas.text_scale):
        x = axis.x(tick)
        line += f"M{number(x)} {number(y)}v4"
        text = f"{tick:.10g} s"
        half = text_width(text, canvas.text_scale * TIME_PX) / 2
        middle = min(max(x, half + 2), canvas.width - half - 2)
        elements.append(
            text_element(
                middle, y + 15 * canvas.text_scale, text, canvas.text_scale * TIME_PX, theme["muted"], anchor="middle"
            )
        )
    return f'<path d="{line}" stroke="{theme["floor"]}" fill="none"/>' + "".join(elements)


def _caption_width(lines: Sequence[str], text_scale: float) -> float:
    return max(text_width(line, text_scale * (FRAME_PX, TIME_PX)[n], bold=not n) for n, line in enumerate(lines))


def _draw_lines(x: float, y: float, lines: Sequence[str], text_scale: float, theme: Theme) -> str:
    return "".join(
        text_element(
            x,
            y + text_scale * LINE_PX * n,
            line,
            text_scale * (FRAME_PX, TIME_PX)[n],
            theme[("ink", "muted")[n]],
            anchor="middle",
            bold=not n,
        )
        for n, line in enumerate(lines)
    )


def round_step(min_step: float) -> float:
    """Return the smallest of 1, 2, 5, 10, ... (times a power of ten) that is at least ``min_step``."""
    power = 10.0 ** math.floor(math.log10(min_step)) if 0 < min_step < math.inf else 1.0
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= min_step * (1 - 1e-9))


def format_seconds(time_s: float) -> str:
    """Return a time as short text: 1.25 s, 125.0 s, 1.25e+04 s."""
    return f"{time_s:.2f} s" if time_s < 100 else f"{time_s:.1f} s" if time_s < 10_000 else f"{time_s:.3g} s"


def draw_plane(height: float, canvas: Canvas, theme: Theme) -> str:
    """Draw the floor at ``height`` for poses side by side."""
    top, bottom = canvas.y(height + DEPTH_BEHIND), canvas.y(height - DEPTH_IN_FRONT)
    return (f'<path d="M0 {number(top)}h{number(canvas.width)}V{number(bottom)}H0z" fill="{theme["panel"]}"/>'
            f'<path d="M0 {number(top)}h{number(canvas.width)}" stroke="{theme["grid"]}"/>')  # fmt: skip


def draw_grid(corners: Floats, sine: float, canvas: Canvas, theme: Theme) -> str:
    """Draw a grid on the floor between corners (2, 2): min and max right and towards, in heights."""
    (x0, z0), (x1, z1) = corners.tolist()
    step = GRID_STEP * max(1.0, np.ceil(max(x1 - x0, z1 - z0) / GRID_STEP / MAX_LINES))
    xs, zs = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step for low, high in ((x0, x1), (z0, z1)))
    left, right, back, front = canvas.x(xs[0]), canvas.x(xs[-1]), canvas.y(-sine * zs[0]), canvas.y(-sine * zs[-1])
    lines = "".join(f"M{number(canvas.x(x))} {number(back)}V{number(front)}" for x in xs.tolist())
    lines += "".join(f"M{number(left)} {number(canvas.y(-sine * z))}H{number(right)}" for z in zs.tolist())
    return f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'


def draw_path(points: Floats, sine: float, canvas: Canvas, theme: Theme) -> str:
    """Draw the path of the figure on the floor, points (N, 2) right and towards, with an arrow at its end."""
    px = canvas.scale * points * (1.0, sine) + (canvas.left, canvas.floor)
    step_lengths = np.linalg.norm(np.diff(px, axis=0), axis=1)
    if len(px) < 2 or step_lengths.sum() < 6.0:
        return ""
    distinct_px = px[np.concatenate(([True], step_lengths > 0.05))]
    line = "L".join(f"{number(x)} {number(y)}" for x, y in distinct_px.tolist())
    return (f'<path d="M{line}" fill="none" stroke="{theme["floor"]}" stroke-width="1.5" stroke-linejoin="round" '
            f'stroke-linecap="round"/>{_draw_arrow(distinct_px, theme)}')  # fmt: skip


def _draw_arrow(px: Floats, theme: Theme) -> str:
    far = np.linalg.norm(px - px[-1], axis=1) > 6.0
    if not far.any():
        return ""
    ahead = px[-1] - px[np.flatnonzero(far)[-1]]
    ahead = ahead / float(np.linalg.norm(ahead))
    aside = np.array((-ahead[1], ahead[0]))
    tip, a, b = px[-1] + 5 * ahead, px[-1] - 3 * ahead + 3.5 * aside, px[-1] - 3 * ahead - 3.5 * aside
    corners = "L".join(f"{number(x)} {number(y)}" for x, y in (tip.tolist(), a.tolist(), b.tolist()))
    return f'<path d="M{corners}z" fill="{theme["floor"]}"/>'
