"""Edge costs from in-betweens: the position errors of the curves between two keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints
from keypose.errors import ModelError, OptionError
from keypose.model.edge_costs import EdgeCosts
from keypose.rotations import align_signs


@dataclass(frozen=True, eq=False)
class InbetweenCosts(Frozen):
    """The cost of each pair of neighbouring keys, computed on demand.

    The cost is the largest error of a joint in a frame between the two, in mm; with ``use_mean``, their contribution
    to the mean error of the clip.
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
            raise ModelError("in-between costs: expected some frames and some joint that counts, no negative weight")

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.rotations)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        kind = "straight" if self.is_straight else "fitted"
        return f"InbetweenCosts({self.n_frames} frames, {int((self.weights > 0).sum())} joints, {kind})"

    def __getitem__(self, frames: slice) -> InbetweenCosts:
        """Return the costs of consecutive frames, ``costs[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("in-between costs are sliced by consecutive frames, costs[100:400]")
        return self._take_frames(np.arange(self.n_frames, dtype=np.int32)[frames])

    def _take_frames(self, frames: Ints) -> InbetweenCosts:
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
        """Factor of the kernels' costs: with ``use_mean`` they are sums over frames."""
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
        """Return the costs of a loop, whose last frame equals its first: rows continue past the end."""
        period = self.n_frames - 1
        frames = np.append(np.arange(period), np.arange(max_gap_frames + 1) % period).astype(np.int32)
        table = self._take_frames(frames).build_table(max_gap_frames, threads).costs[: period + 1]
        return EdgeCosts(self.n_frames, max_gap_frames, table * (len(frames) / self.n_frames if self.use_mean else 1.0))
