"""Captions of a strip: frames and times below poses, and a time axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keypose.pictures.strip.canvas import Canvas
from keypose.pictures.svg import number, text_element, text_width
from keypose.pictures.theme import Theme

FRAME_PX, TIME_PX = 11.5, 10.0
CAPTION_GAP_PX = 4.0  # between two captions
LINE_PX = 12.5
TICK_GAP_PX = 70.0


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
    """Draw the range of frames and times below poses at one place; empty if it does not fit."""
    first, last = frames[0], frames[-1]
    lines = [str(first), format_seconds(first / fps)]
    if last > first:
        lines = [f"{first} – {last}", f"{first / fps:.2f} – {format_seconds(last / fps)}"]
    half = _caption_width(lines, canvas.text_scale) / 2
    x = min(max(x, half + 2), canvas.width - half - 2)
    return _draw_lines(x, y, lines, canvas.text_scale, theme) if 2 * half + 4 <= canvas.width else ""


def draw_time_ticks(
    first_s: float, last_s: float, time_to_x: tuple[float, float], y: float, canvas: Canvas, theme: Theme
) -> str:
    """Draw a time axis at ``y``: x is time_to_x[0] + time_to_x[1] * seconds."""
    x_at_zero, px_per_second = time_to_x
    step = round_step(TICK_GAP_PX * canvas.text_scale / px_per_second)
    line = f"M{number(x_at_zero + px_per_second * first_s)} {number(y)}H{number(x_at_zero + px_per_second * last_s)}"
    elements = []
    for n in range(math.ceil(first_s / step - 1e-9), math.floor(last_s / step + 1e-9) + 1):
        x = x_at_zero + px_per_second * n * step
        line += f"M{number(x)} {number(y)}v4"
        text = f"{n * step:.10g} s"
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
