"""The table of Matsuda & Kondo: how many keys each joint needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose.methods.refine.joint import JointKeys


class RefineRow(NamedTuple):
    """One joint."""

    joint: str
    frames: int
    keys_per_axis: tuple[int, ...]  # the paper's H/P/B; the axes in the order of the features
    overlap: int  # the union over the axes: the paper's "Lap"
    keys: int  # after reduction: the paper's "Del"

    @property
    def removed(self) -> float:
        """The part of the frames that needs no key, 0 to 1: the paper's "Ratio"."""
        return 1 - self.keys / self.frames


@dataclass(frozen=True, repr=False)
class RefineTable:
    """The paper's table of one motion; ``print`` shows it."""

    rows: tuple[RefineRow, ...]

    @property
    def mean_keys_per_axis(self) -> tuple[float, ...]:
        """The mean over the joints that have such an axis."""
        axes = max(len(row.keys_per_axis) for row in self.rows)
        of_axis = ([row.keys_per_axis[a] for row in self.rows if a < len(row.keys_per_axis)] for a in range(axes))
        return tuple(float(np.mean(counts)) for counts in of_axis)

    @property
    def mean_overlap(self) -> float:
        """The mean number of keys before reduction."""
        return float(np.mean([row.overlap for row in self.rows]))

    @property
    def mean_keys(self) -> float:
        """The mean number of keys after reduction."""
        return float(np.mean([row.keys for row in self.rows]))

    @property
    def mean_overlap_ratio(self) -> float:
        """The mean part of the frames, 0 to 1, that are keys before reduction."""
        return float(np.mean([row.overlap / row.frames for row in self.rows]))

    @property
    def mean_removed(self) -> float:
        """The mean part of the frames, 0 to 1, that need no key."""
        return float(np.mean([row.removed for row in self.rows]))

    def __repr__(self) -> str:
        lines = [("joint", "frames", "keys per axis", "overlap", "keys", "removed")]
        for row in self.rows:
            axes = "/".join(map(str, row.keys_per_axis))
            lines.append((row.joint, str(row.frames), axes, str(row.overlap), str(row.keys), f"{row.removed:.1%}"))
        axes = "/".join(f"{mean:.1f}" for mean in self.mean_keys_per_axis)
        means = (f"{self.mean_overlap:.1f}", f"{self.mean_keys:.1f}", f"{self.mean_removed:.1%}")
        lines.append(("mean", "", axes, *means))
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([name.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for name, *cells in lines
        )


def table_of(joints: Sequence[JointKeys]) -> RefineTable:
    """The rows of these joints."""
    return RefineTable(
        tuple(
            RefineRow(
                found.joint,
                len(found.keys),
                tuple(np.count_nonzero(found.of_axes, axis=1).tolist()),
                int(np.count_nonzero(found.overlap)),
                int(np.count_nonzero(found.keys)),
            )
            for found in joints
        )
    )
