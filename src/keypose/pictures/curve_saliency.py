"""The saliency of one joint's curves, as it is drawn: how far each frame stands out, and where curves turn there."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.arrays import Floats, Ints
from keypose.methods.saliency.curves import curve_saliency, frame_importance, turning_points
from keypose.methods.saliency.reading import CUT_SIGMAS, reading_of
from keypose.model import Features


@dataclass(frozen=True)
class JointSaliency:
    """Of one joint: what the method of Bulut & Capin sees of it before it chooses."""

    over_mean: Floats  # (T,) the largest S / mean(S) among its curves; above 1 a frame is a candidate
    frames: Ints  # (N,) extrema among the candidates, the most salient of each cluster,
    columns: Ints  # (N,) and on which curve each lies


def joint_saliency(features: Features, sigma_s: float) -> JointSaliency:
    """The saliency of curves (T, D) of one joint."""
    reading = reading_of(features.fps, 1, sigma_s, CUT_SIGMAS, None, "joint", "one", "flat")
    salience = curve_saliency(features.values, reading)
    mean = salience.mean(axis=0)
    over_mean = frame_importance(salience, mean, reading)
    turns, _ = turning_points(features.values, salience, mean, over_mean, reading)
    chosen = turns.chosen(reading)
    return JointSaliency(over_mean, chosen.frames.astype("int32"), chosen.columns.astype("int32"))
