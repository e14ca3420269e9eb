"""Options of the whole-clip and the streaming method, checked and converted to frames."""

from __future__ import annotations

import math
from dataclasses import dataclass

from keypose.validation import check_choice, check_number

FRAME_S = 1 / 120  # the paper's clips have 120 fps; its numbers of frames are used as times
SIGMA_S = 7 * FRAME_S
CUT_SIGMAS = 2.0
MIN_GAP_S = {"joint": 10 * FRAME_S, "body": 20 * FRAME_S}
MAX_FRAMES = 1e9  # more than any take has

OPTIONS_HELP = {
    "sigma_s": "sigma of the finer Gaussian in seconds; the coarser one has twice as much",
    "cut_sigmas": "both Gaussians are cut at so many of their own sigmas",
    "min_gap_s": "minimum time between two keys in seconds; default 10/120 for one joint, 20/120 for several",
    "rank": "importance of a frame: joint (largest S/mean of a curve), body (root of the sum of S squared) or auto",
    "keys_per_cluster": "keys of a cluster on one curve: one (the most salient extremum) or all (every extremum)",
    "extremes": "flat (a top that holds its value for a few frames counts, as its last frame) or strict (it does not)",
}


@dataclass(frozen=True)
class SaliencyOptions:
    """Checked options of one take, in frames."""

    sigma_frames: float
    cut_sigmas: float
    min_gap_frames: int  # minimum distance of two keys
    rank: str  # "joint" or "body"
    keys_per_cluster: str  # "one" or "all"
    extremes: str  # "flat" or "strict"

    @property
    def reach(self) -> int:
        """Frames of the coarser window on either side."""
        return int(min(2 * self.cut_sigmas * self.sigma_frames, MAX_FRAMES) + 1e-9)


def build_options(
    fps: float,
    n_joints: int,
    sigma_s: float,
    cut_sigmas: float,
    min_gap_s: float | None,
    rank: str,
    keys_per_cluster: str,
    extremes: str,
) -> SaliencyOptions:
    """Return the checked options in frames. Sigma is at least so large that the finer window has three frames."""
    cut = check_number("cut_sigmas", cut_sigmas, above=0)
    sigma = check_number("sigma_s", sigma_s, above=0) * fps
    rank_kind = check_choice("rank", rank, ("auto", "joint", "body"))
    if rank_kind == "auto":
        rank_kind = "joint" if n_joints == 1 else "body"
    gap_s = MIN_GAP_S[rank_kind] if min_gap_s is None else check_number("min_gap_s", min_gap_s, min_value=0)
    return SaliencyOptions(
        sigma_frames=min(max(sigma, 1 / cut), MAX_FRAMES),
        cut_sigmas=cut,
        min_gap_frames=seconds_to_frames(gap_s, fps),
        rank=rank_kind,
        keys_per_cluster=check_choice("keys_per_cluster", keys_per_cluster, ("one", "all")),
        extremes=check_choice("extremes", extremes, ("flat", "strict")),
    )


def seconds_to_frames(seconds: float, fps: float) -> int:
    """Return the smallest number of frames, at least one, that last ``seconds``."""
    return max(1, math.ceil(min(seconds * fps, MAX_FRAMES) - 1e-9))
