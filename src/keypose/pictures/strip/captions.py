"""What is written on a strip: frames and times below poses, seconds below a strip of time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keypose.pictures.strip.canvas import Canvas
from keypose.pictures.svg import number, text_width, words
from keypose.pictures.theme import Theme

FRAME_PX, TIME_PX = 11.5, 10.0
FAR_APART_PX = 4.0  # between two captions
LINE_PX = 12.5
TICKS_APART_PX = 70.0


def captions(
    places: Sequence[tuple[float, float]], frames: Sequence[int], fps: float, canvas: Canvas, theme: Theme,
    *, times: bool = True,
) -> str:  # fmt: skip
    """Frame and time at ``places`` (x, y px of the first line); where two would touch, the later one is left out."""
    taken: list[tuple[float, float, float]] = []
    found = []
    for (x, y), frame in zip(places, frames, strict=True):
        lines = [str(frame), *([seconds(frame / fps)] if times else [])]
        half = _width(lines, canvas.text) / 2
        x = min(max(x, half + 2), canvas.width - half - 2)
        near, tall = FAR_APART_PX + half, 2 * LINE_PX * canvas.text
        if 2 * half + 4 > canvas.width:
            continue
        if any(abs(x - other) < near + wide and abs(y - line) < tall for other, line, wide in taken):
            continue
        taken.append((x, y, half))
        found.append(_lines(x, y, lines, canvas.text, theme))
    return "".join(found)


def span(frames: Sequence[int], fps: float, x: float, y: float, canvas: Canvas, theme: Theme) -> str:
    """From which frame and time to which, below poses at one place; nothing where it has no room."""
    first, last = frames[0], frames[-1]
    lines = [f"{first} – {last}" if last > first else str(first),
             f"{first / fps:.2f} – {seconds(last / fps)}" if last > first else seconds(first / fps)]  # fmt: skip
    half = _width(lines, canvas.text) / 2
    x = min(max(x, half + 2), canvas.width - half - 2)
    return _lines(x, y, lines, canvas.text, theme) if 2 * half + 4 <= canvas.width else ""


def ticks(first_s: float, last_s: float, x_of: tuple[float, float], y: float, canvas: Canvas, theme: Theme) -> str:
    """A time axis at ``y``: x is x_of[0] + x_of[1] * seconds."""
    at, rate = x_of
    step = nice_step(TICKS_APART_PX * canvas.text / rate)
    line = f"M{number(at + rate * first_s)} {number(y)}H{number(at + rate * last_s)}"
    found = []
    for n in range(math.ceil(first_s / step - 1e-9), math.floor(last_s / step + 1e-9) + 1):
        x = at + rate * n * step
        line += f"M{number(x)} {number(y)}v4"
        text = f"{n * step:.10g} s"
        half = text_width(text, canvas.text * TIME_PX) / 2
        middle = min(max(x, half + 2), canvas.width - half - 2)
        found.append(words(middle, y + 15 * canvas.text, text, canvas.text * TIME_PX, theme["muted"], anchor="middle"))
    return f'<path d="{line}" stroke="{theme["floor"]}" fill="none"/>' + "".join(found)


def _width(lines: Sequence[str], larger: float) -> float:
    return max(text_width(line, larger * (FRAME_PX, TIME_PX)[n], bold=not n) for n, line in enumerate(lines))


def _lines(x: float, y: float, lines: Sequence[str], larger: float, theme: Theme) -> str:
    return "".join(
        words(x, y + larger * LINE_PX * n, line, larger * (FRAME_PX, TIME_PX)[n], theme[("ink", "muted")[n]],
              anchor="middle", bold=not n)
        for n, line in enumerate(lines)
    )  # fmt: skip


def nice_step(least: float) -> float:
    """The least of 1, 2, 5, 10, ... (times a power of ten) that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least)) if 0 < least < math.inf else 1.0
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= least * (1 - 1e-9))


def seconds(time_s: float) -> str:
    """A time as short as it may be: 1.25 s, 125.0 s, 1.25e+04 s."""
    return f"{time_s:.2f} s" if time_s < 100 else f"{time_s:.1f} s" if time_s < 10_000 else f"{time_s:.3g} s"
