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
    BlockState,
    Extrema,
    build_options,
    find_extrema,
    frame_importance,
    range_saliency,
    seconds_to_frames,
)
from keypose.model import Column
from keypose.validation import check_int, check_number

MAX_COLUMNS = 1_000_000


class StreamingSaliency:
    """Keys by curve saliency of a take while it is recorded, each reported at most ``max_delay_frames`` after its
    frame.

    Differences from ``saliency`` on the whole clip: the mean of the saliency is that of the frames so far; a cluster
    ends after ``cluster_s``; keys are accepted in blocks of ``block_s``, so that a more important key of the next block
    does not displace a reported one. The first frame is reported at once, the last by ``close``. Memory does not grow
    with the take.

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
        cluster_s: float = 24 * FRAME_S,
        block_s: float = 40 * FRAME_S,
        period: float | None = None,
    ) -> None:
        fps = check_number("fps", fps, above=0)
        self._width, n_joints = _count_columns(columns)
        self._options = build_options(fps, n_joints, sigma_s, cut_sigmas, min_gap_s, rank, keys_per_cluster, extremes)
        self._max_cluster_frames = seconds_to_frames(check_number("cluster_s", cluster_s, above=0), fps)
        self._block_frames = seconds_to_frames(check_number("block_s", block_s, above=0), fps)
        self._period = None if period is None else check_number("period", period, min_value=1e-9)

        self._rows: list[Floats] = []  # frames that later windows need, the latest last
        self._n_frames = 0
        self._n_measured = 0  # frames whose saliency is computed
        self._n_decided = 0  # frames decided to be keys or not: whole blocks
        self._last_key = 0
        self._magnitude = 0.0
        self._total = np.zeros(self._width)  # sum of the saliency so far
        self._state: BlockState | None = None
        self._pending: list[Extrema] = []  # extrema that are undecided, or in the same cluster as undecided ones
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
        return self._block_frames + self._max_cluster_frames + self._options.reach - 1

    def push(self, frame: ArrayLike) -> tuple[int, ...]:
        """Add the next frame (D,); return the keys that are now certain: frame numbers from 0, increasing.

        If the frame is invalid, an error is raised and nothing changes; the next frame has the same number.
        """
        self._append(self._check_frame(frame))
        first = (0,) if self._n_frames == 1 else ()
        end = self._n_decided + self._block_frames + self._max_cluster_frames
        if self._n_frames < end + self._options.reach:
            return first
        self._measure(end)
        return first + self._accept_keys(self._n_decided + self._block_frames)

    def close(self) -> tuple[int, ...]:
        """End the take and return its last keys, including the last frame. No frame can be pushed afterwards."""
        was_closed, self._is_closed = self._is_closed, True
        if was_closed or self._n_frames < 2:
            return ()
        self._measure(self._n_frames)
        return self._accept_keys(self._n_frames, (self._n_frames - 1,))

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
        if self._period is not None and self._rows:
            values = values - self._period * np.round((values - self._rows[-1]) / self._period)
        return values

    def _append(self, values: Floats) -> None:
        self._rows.append(values)
        self._n_frames += 1
        self._magnitude = max(self._magnitude, float(np.abs(values).max()))

    def _measure(self, end: int) -> None:
        """Find the extrema of the frames up to ``end`` and drop the rows that no later window needs."""
        first_row = self._n_frames - len(self._rows)  # frame of the first row
        start, stop = self._n_measured - first_row, end - first_row
        values = np.array(self._rows)
        saliency = range_saliency(values, self._options, start, stop, self._magnitude)
        self._total += saliency.sum(axis=0)
        mean = self._total / end
        extrema, self._state = find_extrema(
            values[start:stop],
            saliency,
            mean,
            frame_importance(saliency, mean, self._options),
            self._options,
            first=self._n_measured,
            max_cluster_frames=self._max_cluster_frames,
            state=self._state,
        )
        self._pending.append(extrema)
        self._n_measured = end
        del self._rows[: max(0, stop - self._options.reach)]

    def _accept_keys(self, stop: int, ends: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the keys from the last decided frame up to ``stop``; ``ends`` are always keys."""
        extrema = Extrema(*(np.concatenate(arrays) for arrays in zip(*self._pending, strict=True)))
        best = extrema.select(self._options)
        best = best.take((best.frames >= self._n_decided) & (best.frames < stop))
        keys = list(ends)
        for frame in best.frames[np.lexsort((best.frames, -best.importance))].tolist():
            if all(abs(frame - key) >= self._options.min_gap_frames for key in (self._last_key, *keys)):
                keys.append(frame)
        self._pending = [extrema.take(extrema.frames > stop - self._max_cluster_frames)]
        self._n_decided = stop
        self._last_key = max((self._last_key, *keys))
        return tuple(sorted(keys))


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
