"""A motion generated in code, for trying things without a file."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from keypose.arrays import freeze
from keypose.demo import rig
from keypose.demo.footwork import DURATION_S
from keypose.demo.performance import compute_controls
from keypose.demo.rig import pose_figure
from keypose.errors import OptionError, format_value
from keypose.model import Motion
from keypose.options import declared_options
from keypose.options.compare import DemoOptions
from keypose.rotations import IDENTITY

__all__ = ["demo_motion"]

_BOUNDS = declared_options(DemoOptions)["fps"].bounds
MIN_FPS, MAX_FPS = _BOUNDS["min_value"], _BOUNDS["max_value"]


def demo_motion(fps: float = 120.0, seed: int = 0) -> Motion:
    """Return a figure that stands, walks along a curve, turns around, jumps, kicks and stands again.

    The same continuous motion is sampled at any frame rate ``fps``. ``seed`` changes only a small sway. Units are
    metres, Y is up.
    """
    if not isinstance(fps, Real) or not MIN_FPS <= fps <= MAX_FPS:
        raise OptionError(
            f"{format_value(fps)} frames per second", expected=f"a number from {MIN_FPS:g} to {MAX_FPS:g}"
        )
    if not isinstance(seed, Integral) or seed < 0:
        raise OptionError(option="seed", value=seed, expected="a whole number from 0 on")
    fps, seed = float(fps), int(seed)
    t = np.arange(int(DURATION_S * fps + 1e-6) + 1) / fps
    skeleton = rig.skeleton()
    pelvis, joint_rotations = pose_figure(compute_controls(t), t, seed)
    translations = np.tile(skeleton.offsets, (len(t), 1, 1))
    translations[:, 0] = pelvis
    rotations = np.tile(np.array(IDENTITY), (len(t), skeleton.n_joints, 1))
    for name, rotation in joint_rotations.items():
        rotations[:, skeleton.names.index(name)] = rotation
    return Motion(
        name="demo",
        skeleton=skeleton,
        fps=fps,
        translations=freeze(translations),
        rotations=freeze(rotations),
        up="Y",
        metres_per_unit=1.0,
    )
