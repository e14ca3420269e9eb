"""In-betweens as edge costs: how far the curves from one key to the next take a figure off its way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Frozen, Ints, frozen_floats, frozen_ints, give_away
from keypose.errors import ModelError, OptionError
from keypose.model.edges import EdgeCosts
from keypose.rotations import sign_continuous


@dataclass(frozen=True, eq=False)
class InbetweenCosts(Frozen):
    """What each pair of neighbouring keys would cost, made where a search asks for it.

    The cost is the largest error of a joint in a frame between the two, in mm; with ``mean``, what their errors add to
    the mean error of the clip.
    """

    fps: float
    parents: Ints  # (J,)
    translations: Floats  # (T, J, 3) local, mm
    rotations: Floats  # (T, J, 4) local wxyz, signs going on from frame to frame
    world_positions: Floats  # (T, J, 3) mm: where joints ought to be
    weights: Floats  # (J,) on the squared error; 0 where a joint does not count
    straight: bool = False  # straight in-betweens; else fitted cubics
    mean: bool = False

    def __post_init__(self) -> None:
        parents = frozen_ints(self.parents, (None,), "parents")
        joints = len(parents)
        self._put("parents", parents)
        self._put("rotations", frozen_floats(self.rotations, (None, joints, 4), "rotations"))
        for name in ("translations", "world_positions"):
            self._put(name, frozen_floats(getattr(self, name), (len(self.rotations), joints, 3), name))
        self._put("weights", frozen_floats(self.weights, (joints,), "weights"))
        if not len(self.rotations) or (self.weights < 0).any() or not (self.weights > 0).any():
            raise ModelError("in-between costs: expected some frames and some joint that counts, no negative weight")

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.rotations)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        kind = "straight" if self.straight else "fitted"
        return f"InbetweenCosts({self.n_frames} frames, {int((self.weights > 0).sum())} joints, {kind})"

    def __getitem__(self, frames: slice) -> InbetweenCosts:
        """Consecutive frames, ``costs[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("in-between costs are sliced by consecutive frames, costs[100:400]")
        return self._of(np.arange(self.n_frames, dtype=np.int32)[frames])

    def _of(self, frames: Ints) -> InbetweenCosts:
        return replace(
            self,
            translations=self.translations[frames],
            rotations=give_away(sign_continuous(self.rotations[frames])),
            world_positions=self.world_positions[frames],
        )

    @property
    def arrays(self) -> tuple[Ints, Floats, Floats, Floats, Floats, bool, bool]:
        """What the kernels take."""
        return (
            self.parents,
            self.translations,
            self.rotations,
            self.world_positions,
            self.weights,
            self.straight,
            self.mean,
        )

    @property
    def scale(self) -> float:
        """By what the kernels' costs are multiplied: they add up over frames where the mean is meant."""
        return 1.0 / self.n_frames if self.mean else 1.0

    def table(self, greatest_gap: int, threads: int = 1) -> EdgeCosts:
        """All of them, for keys at most ``greatest_gap`` frames apart."""
        costs = _core.inbetween_costs(*self.arrays, greatest_gap, threads)
        return EdgeCosts(self.n_frames, greatest_gap, give_away(costs * self.scale))

    def of_spans(self, keys: Ints) -> Floats:
        """Those of given keys, (K - 1,)."""
        if len(keys) < 2:
            return np.zeros(0)
        return np.asarray(_core.inbetween_spans(*self.arrays, np.asarray(keys, np.int32)) * self.scale)

    def around(self, greatest_gap: int, threads: int = 1) -> EdgeCosts:
        """The costs on the circle of a loop, whose last frame is its first again: row i goes on behind the end."""
        period = self.n_frames - 1
        twice = np.append(np.arange(period), np.arange(greatest_gap + 1) % period).astype(np.int32)
        table = self._of(twice).table(greatest_gap, threads).costs[: period + 1]
        return EdgeCosts(self.n_frames, greatest_gap, table * (len(twice) / self.n_frames if self.mean else 1.0))
