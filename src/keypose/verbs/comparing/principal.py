"""A reference for compression only: poses as sums of a few principal ones."""

from __future__ import annotations

import numpy as np

from keypose.errors import OptionError
from keypose.model import Motion
from keypose.verbs.comparing.columns import Columns


class Principal:
    """The principal poses of a motion, weighed by how many mm each number moves the body."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.mean = columns.values.mean(axis=0)
        left = (columns.values - self.mean) * columns.weights
        self.amounts, self.sizes, self.poses = np.linalg.svd(left, full_matrices=False)

    def stored(self, rank: int) -> int:
        """Numbers of ``rank`` poses: each pose, how much of it there is in each frame, the mean, what never changes."""
        frames, width = self.columns.values.shape
        return int(rank * (frames + width) + width + self.columns.still)

    def within(self, stored_values: int) -> tuple[Motion, int]:
        """Every frame from as many poses as fit into ``stored_values``, and how many numbers these are."""
        if self.stored(0) > stored_values:
            raise OptionError(f"{stored_values} values, expected at least {self.stored(0)}: the mean pose")
        frames, width = self.columns.values.shape
        rank = min((stored_values - self.stored(0)) // (frames + width), len(self.sizes))
        shares = self.amounts[:, :rank] * self.sizes[:rank]
        values = self.mean + shares @ self.poses[:rank] / self.columns.weights
        return self.columns.rebuilt(values), self.stored(rank)
