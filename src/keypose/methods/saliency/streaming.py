"""Curve saliency of a take while it is recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, freeze_floats
from keypose.errors import ModelError, OptionError, format_count
from keypose.methods.saliency.curves import (
    CUT_SIGMAS,
    FRAME_S,
    SIGMA_S,
    build_options,
    find_extrema,
    frame_importance,
    range_saliency,
    seconds_to_frames,
)
from keypose.model import Column
from keypose.validation import check_int, check_number

MAX_COLUMNS = 1_000_000
LOOKAHEAD_S = 65 * FRAME_S
STEP_S = 32 * FRAME_S  # keys are chosen this often, and at least twice per lookahead
HISTORY_S = 65 * FRAME_S  # decided frames that are still in the window, so that a cluster is not cut


class StreamingSaliency:
    """Keys by curve saliency of a take while it is recorded, each reported at most ``max_delay_frames`` after its
    frame.

    Keys are chosen as by ``saliency`` in a window that moves over the take: a frame is decided as soon as the saliency
    of ``lookahead_s`` after it is known. A longer lookahead agrees better with the whole clip and reports later. The
    other difference is the mean of the saliency, which is that of the frames so far: with the mean of the whole clip,
    the default lookahead selects the same keys (``benchmarks/papers``). The first frame is reported at once, the last
    by ``close``. Memory does not grow with the take.

    ``columns``: how many numbers a frame has, or a name (joint, channel) for each, as in ``Features.columns``; without
    names each number is a joint. The curves must not jump. Wrapped Euler angles, such as -180 to 180, are unwrapped
    with ``period=360.0``; a jump of all three to the other triple of the same rotation is not detected.

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
        min_gap_s: float | None = None,
        rank: str = "auto",
        keys_per_cluster: str = "one",
        extremes: str = "flat",
        lookahead_s: float = LOOKAHEAD_S,
        period: float | None = None,
    ) -> None:
        fps = check_number("fps", fps, above=0)
        self._width, n_joints = _count_columns(columns)
        self._options = build_options(fps, n_joints, sigma_s, cut_sigmas, min_gap_s, rank, keys_per_cluster, extremes)
        self._lookahead_frames = seconds_to_frames(check_number("lookahead_s", lookahead_s, above=0), fps)
        self._step_frames = min(seconds_to_frames(STEP_S, fps), max(1, self._lookahead_frames // 2))
        self._history_frames = seconds_to_frames(HISTORY_S, fps)
        self._period = None if period is None else check_number("period", period, min_value=1e-9)

        self._first = 0  # number of the first frame in memory
        self._values = np.zeros((0, self._width))  # the frames from it on
        self._new_rows: list[Floats] = []  # the latest frames, which are not in this array yet
        self._saliency = np.zeros((0, self._width))  # of the frames in memory, as far as it is known
        self._n_frames = 0
        self._n_decided = 0  # frames decided to be keys or not
        self._last_key = 0
        self._magnitude = 0.0
        self._total = np.zeros(self._width)  # sum of the saliency so far
        self._is_closed = False

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else f"keys at most {format_count(self.max_delay_frames, 'frame')} late"
        return (
            f"StreamingSaliency({format_count(self._width, 'column')}, "
            f"{format_count(self._n_frames, 'frame')} so far, {state})"
        )

    @property
    def n_frames(self) -> int:
        """The number of frames pushed."""
        return self._n_frames

    @property
    def max_delay_frames(self) -> int:
        """The maximum number of frames between a key and its report."""
        return self._lookahead_frames + self._options.reach

    def push(self, frame: ArrayLike) -> tuple[int, ...]:
        """Add the next frame (D,); return the keys that are now certain: frame numbers from 0, increasing.

        If the frame is invalid, an error is raised and nothing changes; the next frame has the same number.
        """
        self._append(self._check_frame(frame))
        first = (0,) if self._n_frames == 1 else ()
        if self._n_frames <= self._n_decided + self.max_delay_frames:
            return first
        self._measure(self._n_frames - self._options.reach)
        return first + self._choose_keys(self._n_decided + self._step_frames)

    def close(self) -> tuple[int, ...]:
        """End the take and return its last keys, including the last frame. No frame can be pushed afterwards."""
        was_closed, self._is_closed = self._is_closed, True
        if was_closed or self._n_frames < 2:
            return ()
        self._measure(self._n_frames)
        return self._choose_keys(self._n_frames, (self._n_frames - 1,))

    def _check_frame(self, frame: ArrayLike) -> Floats:
        if self._is_closed:
            raise OptionError(
                f"the stream was closed after {format_count(self._n_frames, 'frame')}",
                hint="a new take needs a new stream",
            )
        try:
            values: Floats = freeze_floats(frame, (self._width,), f"frame {self._n_frames}")
        except ModelError as error:
            raise OptionError.from_error(error) from None
        if self._period is not None and self._n_frames:
            previous = self._new_rows[-1] if self._new_rows else self._values[-1]
            values = values - self._period * np.round((values - previous) / self._period)
        return values

    def _append(self, values: Floats) -> None:
        self._new_rows.append(values)
        self._n_frames += 1
        self._magnitude = max(self._magnitude, float(np.abs(values).max()))

    def _measure(self, end: int) -> None:
        """Compute the saliency of the frames up to ``end``."""
        start, stop = len(self._saliency), end - self._first
        context = max(0, start - self._options.reach)
        self._values = np.concatenate((self._values, np.reshape(self._new_rows, (-1, self._width))))
        self._new_rows = []
        values = self._values[context:]
        saliency = range_saliency(values, self._options, start - context, stop - context, self._magnitude)
        self._total += saliency.sum(axis=0)
        self._saliency = np.concatenate((self._saliency, saliency))

    def _choose_keys(self, stop: int, ends: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the keys from the first undecided frame up to ``stop``; ``ends`` are always keys."""
        saliency = self._saliency
        mean = self._total / (self._first + len(saliency))
        importance = frame_importance(saliency, mean, self._options)
        values = self._values[: len(saliency)]
        extrema = find_extrema(values, saliency, mean, importance, self._options, self._first)
        candidates = np.unique(extrema.select(self._options).frames)
        candidates = candidates[candidates >= self._n_decided]
        keys = list(ends)
        for frame in candidates[np.argsort(-importance[candidates - self._first], kind="stable")].tolist():
            if all(abs(frame - key) >= self._options.min_gap_frames for key in (self._last_key, *keys)):
                keys.append(frame)
        new_keys = tuple(sorted(key for key in keys if key < stop))
        self._n_decided = stop
        self._last_key = max((self._last_key, *new_keys))
        self._forget(min(stop - self._history_frames, self._first + len(saliency) - self._options.reach))
        return new_keys

    def _forget(self, first: int) -> None:
        """Drop the frames before ``first``."""
        n = max(0, first - self._first)
        self._values, self._saliency = self._values[n:].copy(), self._saliency[n:].copy()
        self._first += n


def _count_columns(columns: int | Sequence[Column | tuple[str, str]]) -> tuple[int, int]:
    """Return the numbers of columns and joints."""
    if isinstance(columns, list | tuple) and columns and all(isinstance(c, tuple) and len(c) == 2 for c in columns):
        return len(columns), len({Column(*column).joint for column in columns})
    try:
        n = check_int("columns", columns, min_value=1)
    except OptionError:
        n = 0
    if not 1 <= n <= MAX_COLUMNS:
        expected = f"a number from 1 to {MAX_COLUMNS} or names (joint, channel)"
        raise OptionError(option="columns", value=columns, expected=expected)
    return n, n
