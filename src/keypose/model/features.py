"""Features, the numbers per frame that a method sees, and the costs of leaving out frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints, freeze_items, freeze_or_copy
from keypose.errors import ModelError, OptionError, format_count, format_value
from keypose.rotations import align_signs
from keypose.validation import check_number

MIN_MAGNITUDE = 1e-100  # of the largest number; squares of smaller ones underflow


class Column(NamedTuple):
    """The source of a column of features."""

    joint: str  # "column 0", ... in a plain array, where each column is a joint
    channel: str  # "x", "y", "z", "Zrotation", ...; "value" in a plain array


def _parse_column(column: object) -> Column:
    if not isinstance(column, tuple | list) or len(column) != len(Column._fields):
        raise ModelError(format_value(column), subject="features: columns", expected="a joint and a channel for each")
    return Column(*column)


@dataclass(frozen=True, eq=False)
class Features(Frozen):
    """One point per frame; the distance of two points measures how much the frames differ. At least one frame and
    column."""

    values: Floats  # (T, D)
    fps: float
    columns: tuple[Column, ...] = ()  # (D,)

    def __post_init__(self) -> None:
        values = freeze_floats(self.values, (None, None), "features")
        if 0 in values.shape:
            raise ModelError(f"shape {values.shape}", subject="features", expected="at least one frame and one column")
        self._set_field("values", values)
        columns = [_parse_column(each) for each in freeze_items(self.columns, object, "features: columns")]
        self._set_field("columns", tuple(columns or (Column(f"column {d}", "value") for d in range(values.shape[1]))))
        if len(self.columns) != values.shape[1]:
            raise ModelError(
                f"{format_count(values.shape[1], 'column')} but {format_count(len(self.columns), 'name')}",
                subject="features",
            )
        self._set_field("fps", check_number("fps", self.fps, above=0))
        magnitude = max(float(values.max()), -float(values.min()))
        if 0 < magnitude < MIN_MAGNITUDE:
            raise ModelError(
                f"no number is above {magnitude:g}", subject="features", expected="numbers whose squares do not vanish"
            )

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.values)

    @cached_property
    def joints(self) -> Mapping[str, tuple[int, ...]]:
        """The column indices of each joint, in the order of the features."""
        columns_by_joint: dict[str, list[int]] = {}
        for d, column in enumerate(self.columns):
            columns_by_joint.setdefault(column.joint, []).append(d)
        return MappingProxyType({joint: tuple(columns) for joint, columns in columns_by_joint.items()})

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        joints = format_count(len(self.joints), "joint")
        return (
            f"Features({format_count(self.n_frames, 'frame')} at {self.fps:g} fps, "
            f"{format_count(len(self.columns), 'column')} of {joints})"
        )

    def __getitem__(self, frames: slice) -> Features:
        """Return the features of consecutive frames, ``features[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError(subject="features", expected="consecutive frames, features[100:400]")
        return replace(self, values=self.values[frames])


@dataclass(frozen=True, eq=False)
class EdgeCosts(Frozen):
    """The cost of every pair of neighbouring keys that are at most ``max_gap_frames`` apart.

    ``costs[i, g - 1]`` is the cost of the keys i and i + g, infinite if they must not be neighbours; entries beyond the
    last frame are not used.
    """

    n_frames: int
    max_gap_frames: int
    costs: Floats  # (n_frames, max_gap_frames) at least 0

    def __post_init__(self) -> None:
        for name, min_value in (("n_frames", 1), ("max_gap_frames", 1)):
            try:
                self._set_field(name, index(getattr(self, name)))
            except TypeError:
                raise ModelError(
                    f"{name} {getattr(self, name)!r}", subject="edge costs", expected="a whole number"
                ) from None
            if getattr(self, name) < min_value:
                raise ModelError(
                    f"{name} {getattr(self, name)}", subject="edge costs", expected=f"at least {min_value}"
                )
        try:
            costs = np.asarray(self.costs, np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(f"not numbers ({error})", subject="edge costs") from None
        if costs.shape != (self.n_frames, self.max_gap_frames):
            expected = (self.n_frames, self.max_gap_frames)
            raise ModelError(f"shape {costs.shape}", subject="edge costs", expected=f"{expected}")
        if not (costs >= 0).all():
            at = tuple(int(i) for i in np.argwhere(~(costs >= 0))[0])
            raise ModelError(f"{costs[at]:g} at index {at}", subject="edge costs", expected="numbers of at least 0")
        self._set_field("costs", freeze_or_copy(costs))

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        return f"EdgeCosts({format_count(self.n_frames, 'frame')}, gaps up to {self.max_gap_frames})"

    def __getitem__(self, frames: slice) -> EdgeCosts:
        """Return the costs of consecutive frames, ``edges[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError(subject="edge costs", expected="consecutive frames, edges[100:400]")
        costs = self.costs[frames]
        return EdgeCosts(len(costs), self.max_gap_frames, costs)


@dataclass(frozen=True, eq=False)
class InbetweenCosts(Frozen):
    """The cost of each pair of neighbouring keys, computed on demand.

    The cost is the largest error of any joint in the frames between the two keys, in mm; with ``use_mean``, the
    contribution of these frames to the mean error of the clip.
    """

    fps: float
    parents: Ints  # (J,)
    translations: Floats  # (T, J, 3) local, mm
    rotations: Floats  # (T, J, 4) local wxyz, signs continuous
    world_positions: Floats  # (T, J, 3) mm: of the original
    weights: Floats  # (J,) of the squared error; 0: the joint is ignored
    is_straight: bool = False  # linear in-betweens; else fitted cubics
    use_mean: bool = False

    def __post_init__(self) -> None:
        parents = freeze_ints(self.parents, (None,), "parents")
        joints = len(parents)
        self._set_field("parents", parents)
        self._set_field("rotations", freeze_floats(self.rotations, (None, joints, 4), "rotations"))
        for name in ("translations", "world_positions"):
            self._set_field(name, freeze_floats(getattr(self, name), (len(self.rotations), joints, 3), name))
        self._set_field("weights", freeze_floats(self.weights, (joints,), "weights"))
        if not len(self.rotations) or (self.weights < 0).any() or not (self.weights > 0).any():
            raise ModelError(
                subject="in-between costs", expected="some frames and some joint that counts, no negative weight"
            )

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.rotations)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        kind = "straight" if self.is_straight else "fitted"
        return (
            f"InbetweenCosts({format_count(self.n_frames, 'frame')}, "
            f"{format_count(int((self.weights > 0).sum()), 'joint')}, {kind})"
        )

    def __getitem__(self, frames: slice) -> InbetweenCosts:
        """Return the costs of consecutive frames, ``costs[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError(subject="in-between costs", expected="consecutive frames, costs[100:400]")
        return self.take_frames(np.arange(self.n_frames, dtype=np.int32)[frames])

    def take_frames(self, frames: NDArray[np.integer[Any]]) -> InbetweenCosts:
        """Return the costs of these frames, in this order."""
        return replace(
            self,
            translations=self.translations[frames],
            rotations=freeze(align_signs(self.rotations[frames])),
            world_positions=self.world_positions[frames],
        )

    @property
    def kernel_arguments(self) -> tuple[Ints, Floats, Floats, Floats, Floats, bool, bool]:
        """The arguments of the kernels."""
        return (
            self.parents,
            self.translations,
            self.rotations,
            self.world_positions,
            self.weights,
            self.is_straight,
            self.use_mean,
        )

    @property
    def scale(self) -> float:
        """The factor from the costs of the kernels to mm: with ``use_mean`` the kernels return sums over frames."""
        return 1.0 / self.n_frames if self.use_mean else 1.0

    def build_table(self, max_gap_frames: int, threads: int = 1) -> EdgeCosts:
        """Return the costs of all pairs of keys at most ``max_gap_frames`` apart."""
        costs = _core.inbetween_costs(*self.kernel_arguments, max_gap_frames, threads)
        return EdgeCosts(self.n_frames, max_gap_frames, freeze(costs * self.scale))

    def span_costs(self, keys: Ints) -> Floats:
        """Return the costs of the spans between ``keys``, (K - 1,)."""
        if len(keys) < 2:
            return np.zeros(0)
        return np.asarray(_core.inbetween_spans(*self.kernel_arguments, np.asarray(keys, np.int32)) * self.scale)

    def build_loop_table(self, max_gap_frames: int, threads: int = 1) -> EdgeCosts:
        """Return the costs of all pairs of keys of a loop, where the last frame equals the first and spans may cross
        the end."""
        period = self.n_frames - 1
        frames = np.append(np.arange(period), np.arange(max_gap_frames + 1) % period).astype(np.int32)
        table = self.take_frames(frames).build_table(max_gap_frames, threads).costs[: period + 1]
        return EdgeCosts(self.n_frames, max_gap_frames, table * (len(frames) / self.n_frames if self.use_mean else 1.0))
