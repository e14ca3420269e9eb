"""The table of Matsuda & Kondo: numbers of keys per joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose.methods.refine.joint import JointKeys


class RefineRow(NamedTuple):
    """The row of one joint."""

    joint: str
    frames: int
    keys_per_axis: tuple[int, ...]  # the paper's H/P/B; the axes in the order of the features
    overlap: int  # the union over the axes: the paper's "Lap"
    keys: int  # after reduction: the paper's "Del"

    @property
    def removed_ratio(self) -> float:
        """The share of the frames that are no keys, 0 to 1: the paper's "Ratio"."""
        return 1 - self.keys / self.frames


@dataclass(frozen=True, repr=False)
class RefineTable:
    """The paper's table of one motion; ``print`` formats it."""

    rows: tuple[RefineRow, ...]

    @property
    def mean_keys_per_axis(self) -> tuple[float, ...]:
        """The mean over the joints that have such an axis."""
        axes = max(len(row.keys_per_axis) for row in self.rows)
        counts_by_axis = (
            [row.keys_per_axis[a] for row in self.rows if a < len(row.keys_per_axis)] for a in range(axes)
        )
        return tuple(float(np.mean(counts)) for counts in counts_by_axis)

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
        """The mean share of the frames, 0 to 1, that are keys before reduction."""
        return float(np.mean([row.overlap / row.frames for row in self.rows]))

    @property
    def mean_removed_ratio(self) -> float:
        """The mean share of the frames, 0 to 1, that are no keys."""
        return float(np.mean([row.removed_ratio for row in self.rows]))

    def __repr__(self) -> str:
        lines = [("joint", "frames", "keys per axis", "overlap", "keys", "removed")]
        for row in self.rows:
            axes = "/".join(map(str, row.keys_per_axis))
            lines.append(
                (row.joint, str(row.frames), axes, str(row.overlap), str(row.keys), f"{row.removed_ratio:.1%}")
            )
        axes = "/".join(f"{mean:.1f}" for mean in self.mean_keys_per_axis)
        means = (f"{self.mean_overlap:.1f}", f"{self.mean_keys:.1f}", f"{self.mean_removed_ratio:.1%}")
        lines.append(("mean", "", axes, *means))
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([name.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for name, *cells in lines
        )


def build_table(joints: Sequence[JointKeys]) -> RefineTable:
    """Return the table of ``joints``."""
    return RefineTable(
        tuple(
            RefineRow(
                joint.joint,
                len(joint.keys),
                tuple(np.count_nonzero(joint.axis_keys, axis=1).tolist()),
                int(np.count_nonzero(joint.overlap)),
                int(np.count_nonzero(joint.keys)),
            )
            for joint in joints
        )
    )
