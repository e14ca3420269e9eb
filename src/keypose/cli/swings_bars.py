"""What joints do against time, as bars of text: the picture of swings that the thesis draws with red lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from keypose.swings.timeline import Row, Standing

LEAST_COLUMNS = 20
MOST_COLUMNS = 80
STYLES = ("cyan", "magenta")  # by turns, so that one sees where a swing ends and the next one starts


@dataclass(frozen=True)
class Signs:
    """What bars are drawn with."""

    speeds: str  # of swings, from slow to fast
    rest: str
    keys: str
    key: str  # between which a joint turns evenly
    stands: str


BLOCKS = Signs("▁▂▃▄▅▆▇█", "·", "─", "•", "━")
PLAIN = Signs("_-=+*#%@", ".", "~", "o", "=")


@dataclass(frozen=True)
class Scale:
    """So many frames on so many columns; the fastest swing is as high as a bar gets."""

    n_frames: int
    columns: int
    fastest: float  # degrees per second
    signs: Signs = BLOCKS

    def bar(self, row: Row) -> Text:
        """What one joint does: in each column that which it does for at least half of its frames."""
        kinds = ("swing", "rest", "keys")
        covered = {kind: np.zeros(self.columns) for kind in kinds}
        speed, parity = np.zeros(self.columns), np.zeros((2, self.columns))
        place = 0
        for bar in row.bars:
            for column, frames in self._columns(bar.start, bar.end):
                covered[bar.kind][column] += frames
                if bar.deg_per_s is not None:
                    speed[column] += frames * bar.deg_per_s
                    parity[place % 2, column] += frames
            place += bar.kind == "swing"
        text = Text(no_wrap=True)
        width = self.n_frames / self.columns
        for column in range(self.columns):
            most = max(kinds, key=lambda kind: covered[kind][column])
            frames = covered[most][column]
            if frames < width / 2:
                text.append(self.signs.key if covered["keys"][column] else " ")
            elif most == "swing":
                style = STYLES[int(parity[1, column] > parity[0, column])]
                text.append(self._height(speed[column] / frames), style)
            else:
                text.append(*((self.signs.rest, "dim") if most == "rest" else (self.signs.keys, "")))
        return text

    def feet(self, standings: Iterable[Standing]) -> Text:
        """Where a foot stands for most of the frames of a column."""
        covered = np.zeros(self.columns)
        for standing in standings:
            for column, frames in self._columns(standing.start, standing.end):
                covered[column] += frames
        return Text("".join(self.signs.stands if frames >= self.n_frames / self.columns / 2 else " "
                            for frames in covered), no_wrap=True)  # fmt: skip

    def axis(self, fps: float) -> str:
        """Round seconds, each where it is."""
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
        """The columns that frames from ``start`` to ``end`` are in, and how many of these frames each has."""
        first, after = (frame * self.columns / self.n_frames for frame in (start, end + 1))
        for column in range(int(first), min(math.ceil(after), self.columns)):
            part = min(after, column + 1) - max(first, column)
            yield column, part * self.n_frames / self.columns

    def _height(self, deg_per_s: float) -> str:
        """Heights grow with the square root of the speed, so that slow swings are seen beside fast ones."""
        share = math.sqrt(min(1.0, deg_per_s / self.fastest)) if self.fastest > 0 else 0.0
        return self.signs.speeds[min(int(share * len(self.signs.speeds)), len(self.signs.speeds) - 1)]


def fastest(rows: Sequence[Row]) -> float:
    """The speed of the fastest swing, in degrees per second."""
    return max((bar.deg_per_s or 0.0 for row in rows for bar in row.bars), default=0.0)


def _round_step(span: float, labels: float) -> float:
    """A round number of seconds that goes into ``span`` no more than ``labels`` times."""
    sizes = (digit * 10.0**exponent for exponent in range(-4, 12) for digit in (1, 2, 5))
    return next(size for size in sizes if span / size <= max(1.0, labels))
