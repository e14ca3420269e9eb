"""A motion made in code, for trying things without a file."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from keypose.arrays import give_away
from keypose.demo import figure
from keypose.demo.footwork import DURATION_S
from keypose.demo.performance import perform
from keypose.demo.rig import pose
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import IDENTITY

__all__ = ["demo_motion"]

LEAST_FPS, GREATEST_FPS = 1.0, 10_000.0


def demo_motion(fps: float = 120.0, seed: int = 0) -> Motion:
    """A figure that stands, walks along a curve, turns around, jumps, kicks and stands again.

    Every frame rate samples the same continuous motion. ``seed`` changes only a trace of sway, so that the
    figure is not a robot. Metres, Y up.
    """
    if not isinstance(fps, Real) or not LEAST_FPS <= fps <= GREATEST_FPS:
        raise OptionError(f"{fps!r} frames per second, expected a number from {LEAST_FPS:g} to {GREATEST_FPS:g}")
    if not isinstance(seed, Integral) or seed < 0:
        raise OptionError(f"seed={seed!r}, expected a whole number from 0 on")
    fps, seed = float(fps), int(seed)
    t = np.arange(int(DURATION_S * fps + 1e-6) + 1) / fps
    skeleton = figure.skeleton()
    pelvis, turns = pose(perform(t), t, seed)
    translations = np.tile(skeleton.offsets, (len(t), 1, 1))
    translations[:, 0] = pelvis
    rotations = np.tile(np.array(IDENTITY), (len(t), skeleton.n_joints, 1))
    for name, turn in turns.items():
        rotations[:, skeleton.names.index(name)] = turn
    return Motion(
        name="demo",
        skeleton=skeleton,
        fps=fps,
        translations=give_away(translations),
        rotations=give_away(rotations),
        up="Y",
        metres_per_unit=1.0,
    )
