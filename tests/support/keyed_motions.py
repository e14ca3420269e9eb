"""Keyed motions of many kinds, and a bitwise comparison."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np

import keypose as kp
from keypose.curves.cubic_fit import build_channels
from keypose.curves.keyed_motion import add_residual, build_keyed_motion
from keypose.rotations import from_euler
from support.gltf_motions import OFFSETS, figure


def bits(value: object) -> object:
    """Return a value as plain data, arrays as dtype, shape and bytes, so that == compares every bit."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if is_dataclass(value):
        return type(value).__name__, {field.name: bits(getattr(value, field.name)) for field in fields(value)}
    return value


def keyed(keys=(0, 4, 5, 11, 19), *, frames: int = 20, interpolation: str = "bezier", rotation: str = "quaternion",
          residual: bool = True, **more) -> kp.KeyedMotion:  # fmt: skip
    """Return the small person of the glTF tests with a few keys."""
    motion = figure(frames, **more)
    result = build_keyed_motion(motion, np.array(list(keys), np.int32), interpolation, build_channels(motion, rotation))
    return add_residual(result, motion) if residual else result


def _retime() -> kp.KeyedMotion:
    plain = keyed()
    before = np.array([0.0, 7.0, 19.0])
    return replace(plain, residual=plain.residual.retime(before, np.array([0.0, 9.5, 19.0])))


def _odd_numbers() -> kp.KeyedMotion:
    """Return a keyed motion with signed zeros, tiny numbers, and joints that are nearly still."""
    plain = keyed()
    values, in_tangents, out_tangents = (
        getattr(plain.translations, side).copy() for side in ("values", "in_tangents", "out_tangents")
    )
    values[:, 1:], in_tangents[:, 1:], out_tangents[:, 1:] = OFFSETS[1:], 0.0, 0.0
    values[2, 1] = (-0.0, 0.2, 0.0)
    values[:, 2] = (5e-324, 0.1, 1e-300)
    in_tangents[0, 3] = -0.0
    return replace(plain, translations=kp.Curves(values, in_tangents, out_tangents), residual=None)


CASES = {
    "cubic": keyed(),
    "without residual": keyed(residual=False),
    "natural": keyed(interpolation="natural"),
    "straight": keyed(interpolation="linear"),
    "Euler": keyed(rotation="euler"),
    "straight Euler": keyed(rotation="euler", interpolation="linear"),
    "retimed residual": _retime(),
    "keys away from the ends": keyed((3, 9, 12)),
    "one key": keyed((7,)),
    "one frame": keyed((0,), frames=1),
    "every frame": keyed(range(20)),
    "Z up, inches, starts late": replace(
        keyed(unit=0.0254, up="Z", metres_per_unit=0.0254, first_frame=-17), notes=("a note", "ein Wörtchen 字")
    ),
    "says no unit": keyed(unit=0.01),
    "odd rate": keyed(fps=1 / 0.0083333),
    "reference pose": keyed(reference_pose=kp.Pose(OFFSETS, from_euler(np.full((7, 3), 0.1), "ZXY"))),
    "odd numbers": _odd_numbers(),
    "breakdowns": replace(keyed(), extremes=np.array([True, False, False, True, True])),
    "odd names": replace(
        keyed(),
        name='ge\udce4hen "x"\n',
        skeleton=replace(figure().skeleton, names=("Hips", "a b", "字", "\udcff", '"', "\\", "é")),
    ),
    "end sites in their own order": replace(
        keyed(), skeleton=replace(figure().skeleton, end_joints=np.array([6, 2, 2]))
    ),
}
