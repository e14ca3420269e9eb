"""One clip, every way: the keys of each method once, then its in-betweens at each budget."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keypose.errors import KeyposeError, OptionError
from keypose.inbetween.keyed import keyed_motion
from keypose.methods.salient import usual_gap
from keypose.metrics import Score, score
from keypose.model import Ladder, Motion, Selection
from keypose.verbs.comparing.budgets import Budget, budgets_of, removed
from keypose.verbs.comparing.columns import Columns
from keypose.verbs.comparing.per_curve import PerCurve
from keypose.verbs.comparing.principal import Principal
from keypose.verbs.comparing.rows import OWN, Row
from keypose.verbs.comparing.settings import BY_INBETWEEN, CONTENDERS, PCA, PER_CURVE, REFERENCES, Contender, Settings
from keypose.verbs.selecting import ladder
from keypose.verbs.unbaking import unbake

MOST_FRAMES = 20_000  # beyond them choosing optimal keys takes many minutes and much memory
Told = Callable[[float], None]


class Reference(Protocol):
    """A way without whole poses as keys."""

    def within(self, stored_values: int) -> tuple[Motion, int]:
        """Every frame, and how many numbers it takes: at most so many."""


def compare_motion(
    motion: Motion, settings: Settings | None = None, *, source: str = "", told: Told | None = None
) -> tuple[Row, ...]:
    """Every way of ``settings`` at every budget, on one motion; ``told`` hears which part is done, from 0 to 1.

    The keys of a method are chosen once, on one core, and its ladder is then asked for every budget. References get
    as many numbers as keys of the whole pose with fitted curves take at that budget.
    """
    settings = settings or Settings()
    return measured(settings.part_of(motion), settings, source=source, source_fps=motion.fps, told=told)


def measured(
    motion: Motion, settings: Settings, *, source: str, source_fps: float, told: Told | None = None
) -> tuple[Row, ...]:
    """The same on a motion that is the part that was asked for already."""
    if motion.n_frames > MOST_FRAMES:
        raise OptionError(f"{motion.name}: {motion.n_frames:,} frames, expected at most {MOST_FRAMES:,} to compare "
                          f"methods on: take a part of it, or a lower rate")  # fmt: skip
    clip = _Clip(motion, settings, source, source_fps)
    rows: list[Row] = []
    ways = [*settings.methods, *settings.references]
    for done, name in enumerate(ways):
        if told is not None:
            told(done / len(ways))
        if name in CONTENDERS:
            rows += clip.with_keys(CONTENDERS[name])
        else:
            rows += clip.without_keys(REFERENCES[name])
    return tuple(rows)


def digest_of(motion: Motion) -> str:
    """All that figures of a comparison depend on, as one number: the same for the same frames from any file."""
    skeleton, pose = motion.skeleton, motion.reference_pose
    found = hashlib.sha256()
    words = (motion.fps, motion.up, skeleton.names, skeleton.rotation_orders, skeleton.channels)
    found.update(repr(words).encode("utf-8", "surrogatepass"))
    arrays: list[NDArray[Any]] = [motion.translations, motion.rotations, skeleton.parents, skeleton.offsets]
    arrays += [skeleton.end_joints, skeleton.end_offsets]
    arrays += [] if pose is None else [pose.translations, pose.rotations]
    for array in arrays:
        found.update(repr(array.shape).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


@dataclass(frozen=True)
class _Chosen:
    """Keys for one budget, or why there are none."""

    selection: Selection | None
    seconds: float
    note: str = ""


class _Clip:
    def __init__(self, motion: Motion, settings: Settings, source: str, source_fps: float) -> None:
        self.motion, self.settings = motion, settings
        self.budgets = budgets_of(motion.n_frames, settings.removed_percent, curves=settings.curves)
        self.told: dict[str, Any] = {
            "clip": motion.name,
            "source": source,
            "sha256": digest_of(motion),
            "frames": motion.n_frames,
            "fps": motion.fps,
            "source_fps": source_fps,
            "joints": motion.n_joints,
        }
        self.every_value = score(motion, motion).stored_values

    def with_keys(self, way: Contender) -> Iterator[Row]:
        """A method at every budget, with all in-betweens."""
        chosen = _Keys(self.motion, way, max(budget.keys for budget in self.budgets))
        for budget in self.budgets:
            found = chosen.at(budget.keys)
            for inbetweens in self.settings.inbetweens:
                row = replace(self._asked(way, inbetweens, budget), note=found.note)
                yield self._measured(row, found) if found.selection is not None else row

    def _measured(self, row: Row, found: _Chosen) -> Row:
        selection = found.selection
        assert selection is not None
        start = time.perf_counter()
        if row.inbetweens == "linear":
            figures, fitting_s = score(self.motion, selection), 0.0
        else:
            keyed = unbake(self.motion, selection, polish=row.inbetweens == "polished", residual=False, threads=1)
            fitting_s = time.perf_counter() - start
            figures = score(self.motion, keyed)
        return replace(
            self._scored(row, figures, figures.stored_values),
            keys=len(selection),
            removed_percent=removed(self.motion.n_frames, len(selection)),
            key_acceleration=figures.key_acceleration,
            choosing_s=found.seconds,
            fitting_s=fitting_s,
        )

    def without_keys(self, way: Contender) -> Iterator[Row]:
        """A reference at as many stored values as fitted keys take at every budget."""
        start = time.perf_counter()
        reference = _REFERENCES[way.name](self.columns)
        choosing_s = time.perf_counter() - start
        for budget in self.budgets:
            row = self._asked(way, OWN, budget)
            start = time.perf_counter()
            try:
                rebuilt, stored = reference.within(self.values_of_keys(budget.keys))
            except OptionError as error:
                yield replace(row, note=str(error))
                continue
            fitting_s = time.perf_counter() - start
            row = self._scored(row, score(self.motion, rebuilt), stored)
            yield replace(row, choosing_s=choosing_s, fitting_s=fitting_s)

    @cached_property
    def columns(self) -> Columns:
        """What references store."""
        return Columns.of(self.motion)

    @cached_property
    def moving(self) -> tuple[int, int]:
        """How many numbers of a pose change from frame to frame with fitted curves, and how many do not."""
        motion = self.motion
        every_frame = np.arange(motion.n_frames, dtype=np.int32)
        stored = score(motion, keyed_motion(motion, every_frame)).stored_values  # frames * (1 + 3 moving) + still
        numbers = 7 * motion.n_joints
        moving = (stored - motion.n_frames - numbers) // (3 * motion.n_frames - 1)
        return moving, numbers - moving

    def values_of_keys(self, keys: int) -> int:
        """The numbers of so many keys with fitted curves: a frame each, and value and two slopes of all that moves."""
        moving, still = self.moving
        return keys * (1 + 3 * moving) + still

    def _asked(self, way: Contender, inbetweens: str, budget: Budget) -> Row:
        return Row(
            **self.told,
            method=way.name,
            kind=way.kind,
            inbetweens=inbetweens,
            part=budget.part,
            removed_percent_asked=budget.removed_percent,
            keys_asked=budget.keys,
        )

    def _scored(self, row: Row, figures: Score, stored: int) -> Row:
        return replace(
            row,
            stored_values=stored,
            stored_percent=100.0 * stored / self.every_value,
            mean_mm=figures.mean_mm,
            p95_mm=figures.p95_mm,
            max_mm=figures.max_mm,
            mean_deg=figures.mean_deg,
            max_deg=figures.max_deg,
            foot_slide_mm=figures.foot_slide_mm,
            original_foot_slide_mm=figures.original_foot_slide_mm,
        )


_REFERENCES: Mapping[str, Callable[[Columns], Reference]] = {PER_CURVE: PerCurve, PCA: Principal}


class _Keys:
    """The ladder of one method, made once, and what it has for each budget."""

    def __init__(self, motion: Motion, way: Contender, most: int) -> None:
        self._motion, self._way = motion, way
        self._ladder: Ladder | None = None
        self._why = ""
        options: dict[str, Any] = dict(way.options)
        if way.method == "salient":
            options["threads"] = 1  # times of methods are compared: one core for each
        start = time.perf_counter()
        try:
            self._ladder = ladder(motion, way.method, max_keys=max(2, most), **options)
        except KeyposeError as error:
            self._why = str(error)
        self._seconds = time.perf_counter() - start

    def at(self, keys: int) -> _Chosen:
        """The selection with so many keys, else with the nearest number below and a note, else a note alone."""
        if self._way.name == BY_INBETWEEN and not self._has_room(keys):
            return self._searched(keys)
        if self._ladder is None:
            return _Chosen(None, self._seconds, self._why)
        counts = self._ladder.counts
        below = counts[counts <= keys]
        has = f"{self._way.name} has {counts[0]} to {counts[-1]} keys here"
        if not len(below):
            return _Chosen(None, self._seconds, f"{keys} keys, but {has}")
        nearest = int(below[-1])
        note = "" if nearest == keys else f"{nearest} key{'s' * (nearest != 1)} in place of {keys}: {has}"
        return _Chosen(self._ladder.at(nearest), self._seconds, note)

    def _has_room(self, keys: int) -> bool:
        """Whether the ladder's keys are not as far apart as they may be: then unbake looks no further either."""
        if self._ladder is None or keys not in self._ladder.counts:
            return False
        gap = usual_gap(self._motion.n_frames, self._motion.fps, int(self._ladder.counts[-1]))
        return int(np.diff(self._ladder.at(keys).frames).max(initial=0)) < gap

    def _searched(self, keys: int) -> _Chosen:
        """The keys that unbake chooses, which tries wider and wider gaps."""
        start = time.perf_counter()
        try:
            keyed = unbake(self._motion, keys=keys, polish=False, residual=False, threads=1)
        except KeyposeError as error:
            return _Chosen(None, time.perf_counter() - start, str(error))
        selection = Selection(keyed.keys, keyed.n_frames, self._way.method)
        return _Chosen(selection, self._seconds + time.perf_counter() - start)
