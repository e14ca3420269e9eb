"""Compare all methods on one clip: select the keys of each method once, then fit in-betweens at each budget."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keypose.api.compare.references import Columns, PerCurve, PrincipalPoses
from keypose.api.compare.settings import (
    BY_INBETWEEN,
    COMPARED_METHODS,
    PCA,
    PER_CURVE,
    REFERENCES,
    Budget,
    ComparedMethod,
    CompareOptions,
    build_budgets,
    compute_removed_percent,
)
from keypose.api.compare.tables import OWN, Row
from keypose.api.select import ladder
from keypose.api.unbake import unbake
from keypose.curves.capture_faults import without_spike_warnings
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.errors import KeyposeError, OptionError, format_count, format_count_range
from keypose.methods.salient import default_gap_frames
from keypose.metrics import Score, count_stored_values, score
from keypose.model import Ladder, Motion, Selection

MAX_FRAMES = 20_000  # with more, optimal keys take many minutes and much memory
OnProgress = Callable[[float], None]
_REFERENCES: Mapping[str, Callable[[Columns], Reference]] = {PER_CURVE: PerCurve, PCA: PrincipalPoses}


class Reference(Protocol):
    """A reference: a compression that does not use whole poses as keys."""

    def rebuild_within(self, stored_values: int) -> tuple[Motion, int]:
        """Return the rebuilt motion and the number of stored values: at most ``stored_values``."""


def compare_motion(
    motion: Motion, settings: CompareOptions | None = None, *, source: str = "", on_progress: OnProgress | None = None
) -> tuple[Row, ...]:
    """Measure all methods and references at every budget on one motion; ``on_progress`` is called with the finished
    share, 0 to 1.

    The ladder of a method is computed once, on one core, and used for every budget. References may store as many
    numbers as whole-pose keys with fitted curves at that budget.
    """
    settings = settings or CompareOptions()
    return measure_motion(
        settings.trim(motion), settings, source=source, source_fps=motion.fps, on_progress=on_progress
    )


def measure_motion(
    motion: Motion, settings: CompareOptions, *, source: str, source_fps: float, on_progress: OnProgress | None = None
) -> tuple[Row, ...]:
    """Measure a motion that is trimmed and resampled already; otherwise as ``compare_motion``."""
    if motion.n_frames > MAX_FRAMES:
        raise OptionError(
            format_count(motion.n_frames, "frame", ","),
            subject=motion.name,
            expected=f"at most {MAX_FRAMES:,} to compare methods on: take a part of it, or a lower rate",
        )
    clip = _ClipComparison(motion, settings, source, source_fps)
    rows: list[Row] = []
    names = [*settings.methods, *settings.references]
    for n_done, name in enumerate(names):
        if on_progress is not None:
            on_progress(n_done / len(names))
        if name in COMPARED_METHODS:
            rows += clip.rows_of_method(COMPARED_METHODS[name])
        else:
            rows += clip.rows_of_reference(REFERENCES[name])
    return tuple(rows)


def compute_digest(motion: Motion) -> str:
    """Return a SHA-256 of everything in a motion on which the figures depend; the file and the name are not
    included."""
    skeleton, pose = motion.skeleton, motion.reference_pose
    digest = hashlib.sha256()
    header = (motion.fps, motion.up, skeleton.names, skeleton.rotation_orders, skeleton.channels)
    digest.update(repr(header).encode("utf-8", "surrogatepass"))
    arrays: list[NDArray[Any]] = [motion.translations, motion.rotations, skeleton.parents, skeleton.offsets]
    arrays += [skeleton.end_joints, skeleton.end_offsets]
    arrays += [] if pose is None else [pose.translations, pose.rotations]
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class _KeyChoice:
    """Keys for one budget, or a note why there are none."""

    selection: Selection | None
    seconds: float
    note: str = ""


class _ClipComparison:
    def __init__(self, motion: Motion, settings: CompareOptions, source: str, source_fps: float) -> None:
        self.motion, self.settings = motion, settings
        self.budgets = build_budgets(motion.n_frames, settings.removed_percent, curves=settings.curves)
        self.clip_columns: dict[str, Any] = {
            "clip": motion.name,
            "source": source,
            "sha256": compute_digest(motion),
            "frames": motion.n_frames,
            "fps": motion.fps,
            "source_fps": source_fps,
            "joints": motion.n_joints,
        }
        _ = motion.mm_per_unit  # raises for a figure without height
        self.dense_values = count_stored_values(motion, motion)

    def rows_of_method(self, method: ComparedMethod) -> Iterator[Row]:
        """Return the rows of a method: every budget with all in-betweens."""
        keys = _MethodKeys(self.motion, method, max(budget.keys for budget in self.budgets))
        for budget in self.budgets:
            choice = keys.at(budget.keys)
            for inbetweens in self.settings.inbetweens:
                row = replace(self._empty_row(method, inbetweens, budget), note=choice.note)
                yield self._measure(row, choice) if choice.selection is not None else row

    def _measure(self, row: Row, choice: _KeyChoice) -> Row:
        selection = choice.selection
        assert selection is not None
        start = time.perf_counter()
        if row.inbetweens == "linear":
            errors, fitting_s = score(self.motion, selection), 0.0
        else:
            keyed = unbake(self.motion, selection, polish=row.inbetweens == "polished", residual=False, threads=1)
            fitting_s = time.perf_counter() - start
            errors = score(self.motion, keyed)
        assert errors.stored_values is not None
        return replace(
            self._add_score(row, errors, errors.stored_values),
            keys=len(selection),
            removed_percent=compute_removed_percent(self.motion.n_frames, len(selection)),
            key_acceleration=errors.key_acceleration,
            selection_s=choice.seconds,
            fitting_s=fitting_s,
        )

    def rows_of_reference(self, method: ComparedMethod) -> Iterator[Row]:
        """Return the rows of a reference, at as many stored values as fitted keys take at every budget."""
        start = time.perf_counter()
        reference = _REFERENCES[method.name](self.columns)
        selection_s = time.perf_counter() - start
        for budget in self.budgets:
            row = self._empty_row(method, OWN, budget)
            start = time.perf_counter()
            try:
                rebuilt, n_stored = reference.rebuild_within(self.count_key_values(budget.keys))
            except OptionError as error:
                yield replace(row, note=str(error))
                continue
            fitting_s = time.perf_counter() - start
            row = self._add_score(row, score(self.motion, rebuilt), n_stored)
            yield replace(row, selection_s=selection_s, fitting_s=fitting_s)

    @cached_property
    def columns(self) -> Columns:
        """Return the columns that references store."""
        return Columns.build(self.motion)

    @cached_property
    def n_moving_and_still(self) -> tuple[int, int]:
        """Return how many numbers of a pose change over time with fitted curves, and how many do not."""
        motion = self.motion
        every_frame = np.arange(motion.n_frames, dtype=np.int32)
        # frames * (1 + 3 moving) + still
        n_stored = count_stored_values(motion, build_keyed_motion(motion, every_frame))
        numbers = 7 * motion.n_joints
        moving = (n_stored - motion.n_frames - numbers) // (3 * motion.n_frames - 1)
        return moving, numbers - moving

    def count_key_values(self, keys: int) -> int:
        """Return the stored values of fitted keys: each has a frame, and value and two tangents per moving number."""
        moving, still = self.n_moving_and_still
        return keys * (1 + 3 * moving) + still

    def _empty_row(self, method: ComparedMethod, inbetweens: str, budget: Budget) -> Row:
        return Row(
            **self.clip_columns,
            method=method.name,
            kind=method.kind,
            inbetweens=inbetweens,
            series=budget.series,
            target_removed_percent=budget.removed_percent,
            target_keys=budget.keys,
        )

    def _add_score(self, row: Row, errors: Score, n_stored: int) -> Row:
        return replace(
            row,
            stored_values=n_stored,
            stored_percent=100.0 * n_stored / self.dense_values,
            mean_mm=errors.mean_mm,
            p95_mm=errors.p95_mm,
            max_mm=errors.max_mm,
            mean_deg=errors.mean_deg,
            max_deg=errors.max_deg,
            foot_slide_mm=errors.foot_slide_mm,
            original_foot_slide_mm=errors.original_foot_slide_mm,
        )


class _MethodKeys:
    """The ladder of one method, computed once, and its selection for each budget."""

    def __init__(self, motion: Motion, method: ComparedMethod, max_keys: int) -> None:
        self._motion, self._method = motion, method
        self._ladder: Ladder | None = None
        self._error = ""
        options: dict[str, Any] = dict(method.options)
        if method.method == "salient":
            options["threads"] = 1  # one core for each method, as their times are compared
        start = time.perf_counter()
        try:
            self._ladder = ladder(motion, method.method, max_keys=max(2, max_keys), **options)
        except KeyposeError as error:
            self._error = str(error)
        self._seconds = time.perf_counter() - start

    def at(self, keys: int) -> _KeyChoice:
        """Return the selection with this many keys, else the nearest smaller one with a note, else only a note."""
        if self._method.name == BY_INBETWEEN and not self._is_below_max_gap(keys):
            return self._search(keys)
        if self._ladder is None:
            return _KeyChoice(None, self._seconds, self._error)
        counts = self._ladder.counts
        below = counts[counts <= keys]
        has = f"{self._method.name} has {format_count_range(int(counts[0]), int(counts[-1]), 'key')} here"
        if not len(below):
            return _KeyChoice(None, self._seconds, f"{format_count(keys, 'key')}, but {has}")
        nearest = int(below[-1])
        note = "" if nearest == keys else f"{format_count(nearest, 'key')} in place of {keys}: {has}"
        return _KeyChoice(self._ladder.at(nearest), self._seconds, note)

    def _is_below_max_gap(self, keys: int) -> bool:
        """Return whether no gap of the ladder reaches the maximum; then ``unbake`` does not try wider gaps."""
        if self._ladder is None or keys not in self._ladder.counts:
            return False
        gap = default_gap_frames(self._motion.n_frames, self._motion.fps, int(self._ladder.counts[-1]))
        return int(np.diff(self._ladder.at(keys).frames).max(initial=0)) < gap

    def _search(self, keys: int) -> _KeyChoice:
        """Return the keys that ``unbake`` selects with increasing maximum gaps."""
        start = time.perf_counter()
        try:
            with without_spike_warnings():
                keyed = unbake(self._motion, keys=keys, polish=False, residual=False, threads=1)
        except KeyposeError as error:
            return _KeyChoice(None, time.perf_counter() - start, str(error))
        selection = Selection(keyed.keys, keyed.n_frames, self._method.method)
        return _KeyChoice(selection, self._seconds + time.perf_counter() - start)
