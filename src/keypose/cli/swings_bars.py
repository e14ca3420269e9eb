"""Swings of joints against time as text bars, after the figure of swings in Chia's thesis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from keypose.swings.timeline import ContactBar, Row

MIN_COLUMNS = 20
MAX_COLUMNS = 80
STYLES = ("cyan", "magenta")  # alternating, to separate adjacent swings


@dataclass(frozen=True)
class Symbols:
    """The characters of bars."""

    speeds: str  # of swings, from slow to fast
    rest: str
    keys: str
    key_mark: str  # a key, between which a joint rotates evenly
    contact: str


BLOCKS = Symbols("▁▂▃▄▅▆▇█", "·", "─", "•", "━")
PLAIN = Symbols("_-=+*#%@", ".", "~", "o", "=")


@dataclass(frozen=True)
class TimeScale:
    """Map frames to columns and speeds to bar heights; ``max_speed`` has the full height."""

    n_frames: int
    columns: int
    max_speed: float  # degrees per second
    symbols: Symbols = BLOCKS

    def bar(self, row: Row) -> Text:
        """Return the bar of one joint: each column shows what lasts for at least half of its frames."""
        kinds = ("swing", "rest", "keys")
        frames_by_kind = {kind: np.zeros(self.columns) for kind in kinds}
        speed, parity = np.zeros(self.columns), np.zeros((2, self.columns))
        swing_index = 0
        for bar in row.bars:
            for column, frames in self._columns(bar.start, bar.end):
                frames_by_kind[bar.kind][column] += frames
                if bar.deg_per_s is not None:
                    speed[column] += frames * bar.deg_per_s
                    parity[swing_index % 2, column] += frames
            swing_index += bar.kind == "swing"
        text = Text(no_wrap=True)
        width = self.n_frames / self.columns
        for column in range(self.columns):
            main_kind = max(kinds, key=lambda kind: frames_by_kind[kind][column])
            frames = frames_by_kind[main_kind][column]
            if frames < width / 2:
                text.append(self.symbols.key_mark if frames_by_kind["keys"][column] else " ")
            elif main_kind == "swing":
                style = STYLES[int(parity[1, column] > parity[0, column])]
                text.append(self._symbol_for_speed(speed[column] / frames), style)
            else:
                text.append(*((self.symbols.rest, "dim") if main_kind == "rest" else (self.symbols.keys, "")))
        return text

    def feet(self, standings: Iterable[ContactBar]) -> Text:
        """Return a bar of the columns in which a foot is in contact for at least half of the frames."""
        frames_by_column = np.zeros(self.columns)
        for standing in standings:
            for column, frames in self._columns(standing.start, standing.end):
                frames_by_column[column] += frames
        return Text(
            "".join(
                self.symbols.contact if frames >= self.n_frames / self.columns / 2 else " "
                for frames in frames_by_column
            ),
            no_wrap=True,
        )

    def axis(self, fps: float) -> str:
        """Return the time axis, labelled with round seconds."""
        last_s = self.n_frames / fps
        labels = [" "] * (self.columns + 8)
        step = _round_step(last_s, self.columns / 8)
        for n in range(int(last_s / step) + 1):
            label = f"{n * step:g}" + ("" if n else " s")
            at = int(n * step / last_s * self.columns)
            if at + len(label) <= self.columns:
                labels[at : at + len(label)] = label
        return "".join(labels[: self.columns]).rstrip()

    def _columns(self, start: int, end: int) -> Iterable[tuple[int, float]]:
        """Yield the columns of the frames ``start`` to ``end``, with the number of these frames in each."""
        first, after = (frame * self.columns / self.n_frames for frame in (start, end + 1))
        for column in range(int(first), min(math.ceil(after), self.columns)):
            part = min(after, column + 1) - max(first, column)
            yield column, part * self.n_frames / self.columns

    def _symbol_for_speed(self, deg_per_s: float) -> str:
        """Return the symbol of a speed; heights grow with its square root, so that slow swings stay visible."""
        share = math.sqrt(min(1.0, deg_per_s / self.max_speed)) if self.max_speed > 0 else 0.0
        return self.symbols.speeds[min(int(share * len(self.symbols.speeds)), len(self.symbols.speeds) - 1)]


def max_speed(rows: Sequence[Row]) -> float:
    """Return the speed of the fastest swing, in degrees per second."""
    return max((bar.deg_per_s or 0.0 for row in rows for bar in row.bars), default=0.0)


def _round_step(span: float, labels: float) -> float:
    """Return a round number of seconds that divides ``span`` into at most ``labels`` steps."""
    sizes = (digit * 10.0**exponent for exponent in range(-4, 12) for digit in (1, 2, 5))
    return next(size for size in sizes if span / size <= max(1.0, labels))
