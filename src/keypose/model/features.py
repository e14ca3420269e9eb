"""Features: the numbers per frame from which a method selects keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from keypose.arrays import Floats, Frozen, freeze_floats
from keypose.errors import ModelError, OptionError
from keypose.validation import check_number

MIN_MAGNITUDE = 1e-100  # of the largest number; squares of smaller ones underflow


class Column(NamedTuple):
    """The source of a column of features."""

    joint: str  # in a plain array each column is a joint: "column 0", ...
    channel: str  # "x", "y", "z", "Zrotation", ...; "value" in a plain array


@dataclass(frozen=True, eq=False)
class Features(Frozen):
    """Points, one per frame, whose distances measure how much frames differ. At least one frame and one column."""

    values: Floats  # (T, D)
    fps: float
    columns: tuple[Column, ...] = ()  # (D,)

    def __post_init__(self) -> None:
        values = freeze_floats(self.values, (None, None), "features")
        if 0 in values.shape:
            raise ModelError(f"features: shape {values.shape}, expected at least one frame and one column")
        self._set_field("values", values)
        columns = self.columns or (Column(f"column {d}", "value") for d in range(values.shape[1]))
        self._set_field("columns", tuple(Column(*column) for column in columns))
        if len(self.columns) != values.shape[1]:
            raise ModelError(f"features: {values.shape[1]} columns but {len(self.columns)} names")
        self._set_field("fps", check_number("fps", self.fps, above=0))
        magnitude = max(float(values.max()), -float(values.min()))
        if 0 < magnitude < MIN_MAGNITUDE:
            raise ModelError(
                f"features: no number is above {magnitude:g}, expected numbers whose squares do not vanish"
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
        joints = f"{len(self.joints)} joint{'s' * (len(self.joints) != 1)}"
        return f"Features({self.n_frames} frames at {self.fps:g} fps, {len(self.columns)} columns of {joints})"

    def __getitem__(self, frames: slice) -> Features:
        """Return the features of consecutive frames, ``features[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("features are sliced by consecutive frames, features[100:400]")
        return replace(self, values=self.values[frames])
