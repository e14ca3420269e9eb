"""A reference for compression only: poses as sums of a few principal poses."""

from __future__ import annotations

import numpy as np

from keypose.api.compare.columns import Columns
from keypose.errors import OptionError
from keypose.model import Motion


class PrincipalPoses:
    """The principal poses of a motion, weighted by how many mm each number moves the body."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.mean = columns.values.mean(axis=0)
        weighted = (columns.values - self.mean) * columns.weights
        self.amounts, self.sizes, self.poses = np.linalg.svd(weighted, full_matrices=False)

    def count_values(self, rank: int) -> int:
        """Return the stored values of ``rank`` poses: poses, coefficients per frame, the mean, constant numbers."""
        frames, width = self.columns.values.shape
        return int(rank * (frames + width) + width + self.columns.n_still)

    def rebuild_within(self, stored_values: int) -> tuple[Motion, int]:
        """Return the motion rebuilt from as many poses as fit into ``stored_values``, and the count of its numbers."""
        if self.count_values(0) > stored_values:
            raise OptionError(f"{stored_values} values, expected at least {self.count_values(0)}: the mean pose")
        frames, width = self.columns.values.shape
        rank = min((stored_values - self.count_values(0)) // (frames + width), len(self.sizes))
        shares = self.amounts[:, :rank] * self.sizes[:rank]
        values = self.mean + shares @ self.poses[:rank] / self.columns.weights
        return self.columns.rebuild(values), self.count_values(rank)
