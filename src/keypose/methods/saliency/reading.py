"""The options of both the whole-clip and the streaming method, checked once and turned into frames."""

from __future__ import annotations

import math
from dataclasses import dataclass

from keypose.options import number, one_of

FRAMES = 1 / 120  # the paper's clips have 120 frames a second; its numbers of frames are kept as times
SIGMA_S = 7 * FRAMES
CUT_SIGMAS = 2.0
GAP_S = {"joint": 10 * FRAMES, "body": 20 * FRAMES}
MANY = 1e9  # frames: more than any take has

OPTIONS_HELP = {
    "sigma_s": "sigma of the finer Gaussian in seconds; the coarser one has twice as much",
    "cut_sigmas": "both Gaussians are cut at so many of their own sigmas",
    "least_gap_s": "least time between two keys in seconds; default 10/120 for one joint, 20/120 for several",
    "rank": "importance of a frame: joint (largest S/mean of a curve), body (root of the sum of S squared) or auto",
    "each_cluster": "keys of a cluster on one curve: one (the most salient extremum) or all (every extremum)",
    "extremes": "flat (a top that holds its value for a few frames counts, as its last frame) or strict (it does not)",
}


@dataclass(frozen=True)
class Reading:
    """How the paper is read for one take, in frames."""

    sigma_frames: float
    cut_sigmas: float
    gap_frames: int  # two keys are never closer
    rank: str  # "joint" or "body"
    each_cluster: str  # "one" or "all"
    extremes: str  # "flat" or "strict"

    @property
    def reach(self) -> int:
        """How many frames the coarser window looks to either side."""
        return int(min(2 * self.cut_sigmas * self.sigma_frames, MANY) + 1e-9)


def reading_of(
    fps: float,
    n_joints: int,
    sigma_s: float,
    cut_sigmas: float,
    least_gap_s: float | None,
    rank: str,
    each_cluster: str,
    extremes: str,
) -> Reading:
    """The checked options in frames. A sigma is at least so wide that the finer window holds three frames."""
    cut = number("cut_sigmas", cut_sigmas, above=0)
    sigma = number("sigma_s", sigma_s, above=0) * fps
    kind = one_of("rank", rank, ("auto", "joint", "body"))
    if kind == "auto":
        kind = "joint" if n_joints == 1 else "body"
    gap_s = GAP_S[kind] if least_gap_s is None else number("least_gap_s", least_gap_s, least=0)
    return Reading(
        sigma_frames=min(max(sigma, 1 / cut), MANY),
        cut_sigmas=cut,
        gap_frames=whole_frames(gap_s, fps),
        rank=kind,
        each_cluster=one_of("each_cluster", each_cluster, ("one", "all")),
        extremes=one_of("extremes", extremes, ("flat", "strict")),
    )


def whole_frames(seconds: float, fps: float) -> int:
    """The fewest frames, at least one, that last so long."""
    return max(1, math.ceil(min(seconds * fps, MANY) - 1e-9))
