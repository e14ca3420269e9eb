"""Curve saliency of a take that is still being recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, frozen_floats
from keypose.errors import ModelError, OptionError
from keypose.methods.saliency.curves import Before, Turns, frame_importance, saliency_between, turning_points
from keypose.methods.saliency.reading import CUT_SIGMAS, FRAMES, SIGMA_S, reading_of, whole_frames
from keypose.model import Column
from keypose.options import number, whole

MOST_COLUMNS = 1_000_000


class StreamingSaliency:
    """Reports keys by curve saliency while frames come in, each at most ``greatest_delay_frames`` late.

    What differs from ``saliency`` on the whole clip: the mean of the saliency is that of the frames so far; a cluster
    is closed after ``cluster_s`` and what follows is the next one; keys are accepted by blocks of
    ``block_s``, so that a more important key of the next block cannot push out one that was reported. The first
    frame is reported at once, the last by ``close``. Memory does not grow with the take.

    ``columns`` says what a frame holds: how many numbers, or a name (joint, channel) for each, as in
    ``Features.columns``; of numbers without names each is a joint of its own. The curves must be without jumps.
    Euler angles that come wrapped, such as -180 to 180, are unwrapped here with ``period=360.0``; a jump of all three
    to the other triple of the same turn is not noticed.

        stream = StreamingSaliency(3, fps=120, rank="joint")
        for frame in frames:
            for key in stream.push(frame): ...
        for key in stream.close(): ...
    """

    def __init__(
        self,
        columns: int | Sequence[Column | tuple[str, str]],
        fps: float,
        *,
        sigma_s: float = SIGMA_S,
        cut_sigmas: float = CUT_SIGMAS,
        least_gap_s: float | None = None,
        rank: str = "auto",
        each_cluster: str = "one",
        extremes: str = "flat",
        cluster_s: float = 24 * FRAMES,
        block_s: float = 40 * FRAMES,
        period: float | None = None,
    ) -> None:
        fps = number("fps", fps, above=0)
        self._width, n_joints = _width(columns)
        self._reading = reading_of(fps, n_joints, sigma_s, cut_sigmas, least_gap_s, rank, each_cluster, extremes)
        self._longest = whole_frames(number("cluster_s", cluster_s, above=0), fps)
        self._block = whole_frames(number("block_s", block_s, above=0), fps)
        self._period = None if period is None else number("period", period, least=1e-9)

        self._rows: list[Floats] = []  # frames that a window still needs, the last is the newest
        self._n_frames = 0
        self._measured = 0  # frames whose saliency was measured
        self._decided = 0  # frames of which it is settled whether they are keys: whole blocks
        self._last_key = 0
        self._greatest = 0.0
        self._total = np.zeros(self._width)  # of the saliency so far
        self._before: Before | None = None
        self._waiting: list[Turns] = []  # extrema that are not settled, or share a cluster with such
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"keys at most {self.greatest_delay_frames} frames late"
        return f"StreamingSaliency({self._width} columns, {self._n_frames} frames so far, {state})"

    @property
    def n_frames(self) -> int:
        """How many frames were pushed."""
        return self._n_frames

    @property
    def greatest_delay_frames(self) -> int:
        """A key is reported at the latest with the frame that comes so many after it."""
        return self._block + self._longest + self._reading.reach - 1

    def push(self, frame: ArrayLike) -> tuple[int, ...]:
        """Takes the next frame (D,); returns the keys that are now certain: frame numbers from 0, increasing.

        A frame that is refused changes nothing: the next one takes its place.
        """
        self._keep(self._checked(frame))
        first = (0,) if self._n_frames == 1 else ()
        end = self._decided + self._block + self._longest
        if self._n_frames < end + self._reading.reach:
            return first
        self._measure(end)
        return first + self._settle(self._decided + self._block)

    def close(self) -> tuple[int, ...]:
        """Ends the take; returns its last keys, the last frame among them. Nothing can be pushed afterwards."""
        was_closed, self._closed = self._closed, True
        if was_closed or self._n_frames < 2:
            return ()
        self._measure(self._n_frames)
        return self._settle(self._n_frames, (self._n_frames - 1,))

    def _checked(self, frame: ArrayLike) -> Floats:
        if self._closed:
            raise OptionError(f"the stream was closed after {self._n_frames} frames; a new take needs a new stream")
        try:
            values: Floats = frozen_floats(frame, (self._width,), f"frame {self._n_frames}")
        except ModelError as error:
            raise OptionError(str(error)) from None
        if self._period is not None and self._rows:
            values = values - self._period * np.round((values - self._rows[-1]) / self._period)
        return values

    def _keep(self, values: Floats) -> None:
        self._rows.append(values)
        self._n_frames += 1
        self._greatest = max(self._greatest, float(np.abs(values).max()))

    def _measure(self, end: int) -> None:
        """Finds the extrema of the frames up to ``end`` and lets go of the rows that no later window needs."""
        known = self._n_frames - len(self._rows)  # frame of the first row
        start, stop = self._measured - known, end - known
        values = np.array(self._rows)
        saliency = saliency_between(values, self._reading, start, stop, self._greatest)
        self._total += saliency.sum(axis=0)
        mean = self._total / end
        turns, self._before = turning_points(
            values[start:stop],
            saliency,
            mean,
            frame_importance(saliency, mean, self._reading),
            self._reading,
            first=self._measured,
            longest=self._longest,
            before=self._before,
        )
        self._waiting.append(turns)
        self._measured = end
        del self._rows[: max(0, stop - self._reading.reach)]

    def _settle(self, stop: int, ends: tuple[int, ...] = ()) -> tuple[int, ...]:
        """The keys from the last settled frame up to ``stop``; ``ends`` are keys in any case."""
        turns = Turns(*(np.concatenate(parts) for parts in zip(*self._waiting, strict=True)))
        best = turns.chosen(self._reading)
        best = best.of((best.frames >= self._decided) & (best.frames < stop))
        keys = list(ends)
        for frame in best.frames[np.lexsort((best.frames, -best.importance))].tolist():
            if all(abs(frame - key) >= self._reading.gap_frames for key in (self._last_key, *keys)):
                keys.append(frame)
        self._waiting = [turns.of(turns.frames > stop - self._longest)]
        self._decided = stop
        self._last_key = max((self._last_key, *keys))
        return tuple(sorted(keys))


def _width(columns: int | Sequence[Column | tuple[str, str]]) -> tuple[int, int]:
    """How many columns and joints there are."""
    if isinstance(columns, list | tuple) and columns and all(isinstance(c, tuple) and len(c) == 2 for c in columns):
        return len(columns), len({Column(*column).joint for column in columns})
    try:
        n = whole("columns", columns, least=1)
    except OptionError:
        n = 0
    if not 1 <= n <= MOST_COLUMNS:
        expected = f"a number from 1 to {MOST_COLUMNS} or names (joint, channel)"
        raise OptionError(f"columns={columns!r}, expected {expected}")
    return n, n
