"""Saliency of the curves of one joint: how much each frame stands out, and the salient extrema."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.arrays import Floats, Ints
from keypose.methods.saliency.curves import curve_saliency, find_extrema, frame_importance
from keypose.methods.saliency.options import CUT_SIGMAS, build_options
from keypose.model import Features


@dataclass(frozen=True)
class JointSaliency:
    """Saliency of one joint, the input of the method of Bulut & Capin."""

    over_mean: Floats  # (T,) maximum of S / mean(S) over the curves; frames above 1 are candidates
    frames: Ints  # (N,) extrema among the candidates, the most salient of each cluster
    columns: Ints  # (N,) index of the curve of each extremum


def compute_joint_saliency(features: Features, sigma_s: float) -> JointSaliency:
    """Return the saliency of the curves (T, D) of one joint."""
    options = build_options(features.fps, 1, sigma_s, CUT_SIGMAS, None, "joint", "one", "flat")
    salience = curve_saliency(features.values, options)
    mean = salience.mean(axis=0)
    over_mean = frame_importance(salience, mean, options)
    extrema, _ = find_extrema(features.values, salience, mean, over_mean, options)
    chosen = extrema.select(options)
    return JointSaliency(over_mean, chosen.frames.astype("int32"), chosen.columns.astype("int32"))
