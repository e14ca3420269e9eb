"""The skeleton of the CMU motion capture database as BVH (cgspeed's conversion), the most common skeleton.

The hierarchy is always the same, and most proportions are similar: the differences between subjects need a third of the
bits of the numbers themselves. These tables are part of the format, see docs/kps.md. The factors are least-squares fits
over the 30 different skeletons among the CMU clips of the tests; factors fitted to half of them are as good for the
other half.
"""

from __future__ import annotations

from functools import cache
from math import copysign
from typing import NamedTuple

import numpy as np

from keypose.model import Skeleton
from keypose.storage.header.coder import EVEN_START, ONE, BitModel, Coder
from keypose.storage.header.names import common_names
from keypose.storage.header.numbers import scale_to_integer

N_JOINTS = 31
ORDER = "ZYX"
DECIMALS = 5
NUMBER_UNIT, FACTOR_UNIT = 100_000, 1_000_000  # numbers and factors are integers in 1 / unit
MAX_NUMBER = 1 << 30  # limit of numbers, so that predictions do not overflow
EXACT_START: BitModel = (ONE // 8, 3)
END_SUFFIX = "_End"
# Number; prediction: a constant, or a factor times an earlier number; how many low bits of the residual are uniformly
# distributed. Numbers that are not listed are 0.
GUESSES = """
LeftUpLeg.x 1.65 14, LeftUpLeg.y -1.75 13, LeftUpLeg.z 0.468*LeftUpLeg.x 13, LeftLeg.x -1.381*LeftUpLeg.y 13,
LeftLeg.y -2.747478*LeftLeg.x 0, LeftFoot.x 2.61 13, LeftFoot.y -2.747478*LeftFoot.x 0, LeftToeBase.x 0.178 12,
LeftToeBase.y -2.747478*LeftToeBase.x 0, LeftToeBase.z 0.853*LeftLeg.x 13, RightUpLeg.x -0.961*LeftUpLeg.x 13,
RightUpLeg.y 1*LeftUpLeg.y 0, RightUpLeg.z 1*LeftUpLeg.z 0, RightLeg.x -1.021*LeftLeg.x 12,
RightLeg.y 2.747478*RightLeg.x 0, RightFoot.x -0.992*LeftFoot.x 12, RightFoot.y 2.747478*RightFoot.x 0,
RightToeBase.x -0.209 12, RightToeBase.y 2.747478*RightToeBase.x 0, RightToeBase.z 1.005*LeftToeBase.z 13,
Spine.x -0.006 11, Spine.y 2.05 13, Spine.z -0.146 13, Spine1.x 0.023 11, Spine1.y 1.001*Spine.y 11,
Spine1.z -0.007 12, Neck1.x -0.032 12, Neck1.y 0.635*LeftFoot.x 13, Neck1.z 0.179 13, Head.x 0.042 12,
Head.y 0.999*Neck1.y 11, Head.z -0.223 13, LeftArm.x 1.973*Head.y 14, LeftArm.y 0.694*Neck1.y 14, LeftArm.z -0.198 14,
LeftForeArm.x 1.964*LeftFoot.x 14, LeftForeArm.y -0.00002 3, LeftForeArm.z -0.00002 3, LeftHand.x 3.39 13,
LeftHandIndex1.x 0.603 12, RightArm.x -0.961*LeftArm.x 14, RightArm.y 1.082*LeftArm.y 14, RightArm.z -0.196 14,
RightForeArm.x -1.018*LeftForeArm.x 14, RightHand.x -1.006*LeftHand.x 13, RightHandIndex1.x -0.322*Spine1.y 13,
LeftToeBase_End.z 0.518*LeftToeBase.z 9, RightToeBase_End.z 0.522*RightToeBase.z 10, Head_End.x 0.016 11,
Head_End.y 1.029*Neck1.y 11, Head_End.z -0.097 12, LeftHandIndex1_End.x 0.806225*LeftHandIndex1.x 0,
LThumb_End.x 0.818535*LeftHandIndex1.x 0, LThumb_End.z 1*LThumb_End.x 0,
RightHandIndex1_End.x 0.806225*RightHandIndex1.x 0, RThumb_End.x 0.818535*RightHandIndex1.x 0,
RThumb_End.z -1*RThumb_End.x 0
"""
# Zeros with a minus sign, and zeros with either sign.
MINUS_ZEROS = """
LeftHand.y LeftHandIndex1.y RightForeArm.y RightHand.y RightHandIndex1.y LeftToeBase_End.y RightToeBase_End.x
RightToeBase_End.y LeftHandIndex1_End.y LThumb_End.y RightHandIndex1_End.y RThumb_End.y
"""
EITHER_ZEROS = """
LeftHand.z LeftHandIndex1.z RightForeArm.z RightHand.z RightHandIndex1.z LeftHandIndex1_End.z RightHandIndex1_End.z
"""
# The T-pose before each take: rotated joints, in degrees about Z, Y and X.
T_POSE_DEGREES = {
    "LeftUpLeg": (-21.0, 0.0, 0.0),
    "RightUpLeg": (21.0, 0.0, 0.0),
    "Neck": (0.0, 0.0, -16.0),
    "Neck1": (0.0, 0.0, 21.0),
    "Head": (0.0, 0.0, 11.0),
    "LeftArm": (-8.0, 0.0, 0.0),
    "RightArm": (8.0, 0.0, 0.0),
}


class Guess(NamedTuple):
    """The prediction of one number."""

    number_index: int  # x, y and z of the joints, then of the end sites
    factor: int  # millionths
    source_index: int | None  # of the factor; None: of a unit
    bits: int  # uniformly distributed low bits of the residual

    def predict(self, numbers: list[int]) -> int:
        """Return the prediction, rounded to the nearest integer, half up."""
        source = NUMBER_UNIT if self.source_index is None else numbers[self.source_index]
        return (2 * self.factor * source + FACTOR_UNIT) // (2 * FACTOR_UNIT)


def match_numbers(s: Skeleton) -> tuple[float, ...] | None:
    """Return the numbers of a skeleton that matches the template, else None."""
    template = _template_skeleton()
    if s.names != template.names or (s.rotation_orders, s.channels) != (template.rotation_orders, template.channels):
        return None
    if not np.array_equal(s.parents, template.parents) or not np.array_equal(s.end_joints, template.end_joints):
        return None
    values = tuple(np.concatenate((s.offsets, s.end_offsets)).ravel().tolist())
    integers = [scale_to_integer(value, DECIMALS) for value in values]
    variable = {guess.number_index for guess in _guesses()} | {*_either_zero_indices()}
    for k, (value, zero) in enumerate(zip(values, _zeros(), strict=True)):
        if integers[k] is None or (k not in variable and (value != 0 or _is_negative(value) != _is_negative(zero))):
            return None
    if any(values[k] != 0 for k in _either_zero_indices()):
        return None
    return values if max(abs(number or 0) for number in integers) < MAX_NUMBER else None


@cache
def _guesses() -> tuple[Guess, ...]:
    guesses = []
    for row in GUESSES.replace("\n", " ").split(","):
        name, guess, bits = row.split()
        factor, _, source = guess.partition("*")
        source_index = _number_indices()[source] if source else None
        guesses.append(Guess(_number_indices()[name], round(float(factor) * FACTOR_UNIT), source_index, int(bits)))
    return tuple(guesses)


@cache
def _number_indices() -> dict[str, int]:
    """Return the index of each number by its name."""
    s = _template_skeleton()
    names = [*s.names, *(f"{s.names[j]}{END_SUFFIX}" for j in s.end_joints)]
    return {f"{name}.{axis}": 3 * k + a for k, name in enumerate(names) for a, axis in enumerate("xyz")}


@cache
def _template_skeleton() -> Skeleton:
    """Return the skeleton with zero offsets."""
    joints = common_names()[:N_JOINTS]
    parents = [j - word.parent_distance if word.parent_distance else -1 for j, word in enumerate(joints)]
    ends = [j for j in range(N_JOINTS) if j not in parents]
    return Skeleton(
        tuple(word.name for word in joints), np.array(parents, np.int32), np.zeros((N_JOINTS, 3)), (ORDER,) * N_JOINTS,
        end_joints=np.array(ends, np.int32), end_offsets=np.zeros((len(ends), 3)),
    )  # fmt: skip


@cache
def _zeros() -> tuple[float, ...]:
    """Return the signed zeros of the numbers that are not predicted, and 0 for the others."""
    minus = {_number_indices()[name] for name in MINUS_ZEROS.split()}
    return tuple(-0.0 if k in minus else 0.0 for k in range(len(_number_indices())))


@cache
def _either_zero_indices() -> tuple[int, ...]:
    return tuple(_number_indices()[name] for name in EITHER_ZEROS.split())


def t_pose_degrees() -> list[tuple[float, ...]]:
    """Return the angles of each joint in the T-pose, in degrees."""
    return [T_POSE_DEGREES.get(name, (0.0, 0.0, 0.0)) for name in _template_skeleton().names]


def _is_negative(value: float) -> bool:
    return copysign(1.0, value) < 0


def code_numbers(c: Coder, values_or_none: tuple[float, ...] | None) -> tuple[float, ...]:
    """Code the numbers of a matching skeleton."""
    integers = None if values_or_none is None else [round(value * NUMBER_UNIT) for value in values_or_none]
    values, numbers = list(_zeros()), [0] * len(_number_indices())
    for guess in _guesses():
        k, prediction = guess.number_index, guess.predict(numbers)
        error = None if integers is None else integers[k] - prediction
        numbers[k] = prediction + (
            c.code_near_zero("near", guess.bits, error)
            if guess.bits
            else c.code_near_zero("exact", 0, error, EXACT_START)
        )
        values[k] = numbers[k] / NUMBER_UNIT
        if numbers[k] == 0 and c.code_flag(
            "minus zero", None if values_or_none is None else _is_negative(values_or_none[k]), EVEN_START
        ):
            values[k] = -0.0
    is_negative = False
    for k in _either_zero_indices():
        is_negative = c.code_flag(
            ("either zero", is_negative),
            None if values_or_none is None else _is_negative(values_or_none[k]),
            EVEN_START,
        )
        values[k] = -0.0 if is_negative else 0.0
    return tuple(values)


def build_skeleton(numbers: tuple[float, ...]) -> Skeleton:
    """Return the skeleton with these numbers."""
    template, rows = _template_skeleton(), np.array(numbers).reshape(-1, 3)
    return Skeleton(
        template.names, template.parents, rows[:N_JOINTS], template.rotation_orders, template.channels,
        end_joints=template.end_joints, end_offsets=rows[N_JOINTS:],
    )  # fmt: skip
