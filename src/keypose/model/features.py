"""Features: all that a point method ever sees of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from keypose.arrays import Floats, Frozen, frozen_floats
from keypose.errors import ModelError, OptionError
from keypose.options import number

LEAST_GREATEST = 1e-100  # of the numbers; the squares of smaller ones are lost


class Column(NamedTuple):
    """Where a column of features comes from."""

    joint: str  # of a plain array: its own for each column, "column 0", ...
    channel: str  # "x", "y", "z", "Zrotation", ...; of a plain array "value"


@dataclass(frozen=True, eq=False)
class Features(Frozen):
    """Numbers per frame, whose distances say how much two frames differ. At least one frame and one column."""

    values: Floats  # (T, D)
    fps: float
    columns: tuple[Column, ...] = ()  # (D,)

    def __post_init__(self) -> None:
        values = frozen_floats(self.values, (None, None), "features")
        if 0 in values.shape:
            raise ModelError(f"features: shape {values.shape}, expected at least one frame and one column")
        self._put("values", values)
        columns = self.columns or (Column(f"column {d}", "value") for d in range(values.shape[1]))
        self._put("columns", tuple(Column(*column) for column in columns))
        if len(self.columns) != values.shape[1]:
            raise ModelError(f"features: {values.shape[1]} columns but {len(self.columns)} names")
        self._put("fps", number("fps", self.fps, above=0))
        greatest = max(float(values.max()), -float(values.min()))
        if 0 < greatest < LEAST_GREATEST:
            raise ModelError(f"features: no number is above {greatest:g}, expected numbers whose squares do not vanish")

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.values)

    @cached_property
    def joints(self) -> Mapping[str, tuple[int, ...]]:
        """The columns of each joint, joints and columns in the order of the features."""
        found: dict[str, list[int]] = {}
        for d, column in enumerate(self.columns):
            found.setdefault(column.joint, []).append(d)
        return MappingProxyType({joint: tuple(columns) for joint, columns in found.items()})

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        joints = f"{len(self.joints)} joint{'s' * (len(self.joints) != 1)}"
        return f"Features({self.n_frames} frames at {self.fps:g} fps, {len(self.columns)} columns of {joints})"

    def __getitem__(self, frames: slice) -> Features:
        """Consecutive frames, ``features[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("features are sliced by consecutive frames, features[100:400]")
        return replace(self, values=self.values[frames])
