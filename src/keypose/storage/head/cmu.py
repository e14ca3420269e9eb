"""The skeleton of the CMU motion capture database as BVH (cgspeed's conversion), the one most used.

Who hangs on whom is always the same, and so is most of the proportions: what differs from subject to subject takes a
third of the bits that the numbers would take by themselves. Part of the format, as docs/kps.md is. The factors are
least squares over the 30 different skeletons among the CMU clips of the tests; half of them do as well for the others.
"""

from __future__ import annotations

from functools import cache
from math import copysign
from typing import NamedTuple

import numpy as np

from keypose.model import Skeleton
from keypose.storage.head.coder import EVEN, ONE, Coder, Start
from keypose.storage.head.numbers import scaled
from keypose.storage.head.words import words

N_JOINTS = 31
ORDER = "ZYX"
DECIMALS = 5
UNIT, FACTOR_UNIT = 100_000, 1_000_000  # what numbers and factors are parts of
GREATEST = 1 << 30  # number of which guesses stay small
EXACT: Start = (ONE // 8, 3)
END = "_End"
# Which number; how it is guessed: a number, or a number times one before it; how many low bits of what it is off are
# anybody's guess. Numbers that are not here are 0.
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
# Zeros that have a minus sign, and those that may have one.
MINUS_ZEROS = """
LeftHand.y LeftHandIndex1.y RightForeArm.y RightHand.y RightHandIndex1.y LeftToeBase_End.y RightToeBase_End.x
RightToeBase_End.y LeftHandIndex1_End.y LThumb_End.y RightHandIndex1_End.y RThumb_End.y
"""
EITHER_ZEROS = """
LeftHand.z LeftHandIndex1.z RightForeArm.z RightHand.z RightHandIndex1.z LeftHandIndex1_End.z RightHandIndex1_End.z
"""
# The T-pose before each take: joints that are turned, in degrees about Z, Y and X.
TURNED = {
    "LeftUpLeg": (-21.0, 0.0, 0.0),
    "RightUpLeg": (21.0, 0.0, 0.0),
    "Neck": (0.0, 0.0, -16.0),
    "Neck1": (0.0, 0.0, 21.0),
    "Head": (0.0, 0.0, 11.0),
    "LeftArm": (-8.0, 0.0, 0.0),
    "RightArm": (8.0, 0.0, 0.0),
}


class Guess(NamedTuple):
    """How one number is guessed."""

    number: int  # counted from 0: x, y and z of the joints, then of the end sites
    factor: int  # millionths
    source: int | None  # of which number; None: of a unit
    bits: int  # low ones of the residual, anybody's guess

    def value(self, numbers: list[int]) -> int:
        """The guess, rounded to the nearest whole number, a half up."""
        of = UNIT if self.source is None else numbers[self.source]
        return (2 * self.factor * of + FACTOR_UNIT) // (2 * FACTOR_UNIT)


@cache
def _empty() -> Skeleton:
    """The skeleton without its numbers."""
    usual = words()[:N_JOINTS]
    parents = [j - word.back if word.back else -1 for j, word in enumerate(usual)]
    ends = [j for j in range(N_JOINTS) if j not in parents]
    return Skeleton(
        tuple(word.name for word in usual), np.array(parents, np.int32), np.zeros((N_JOINTS, 3)), (ORDER,) * N_JOINTS,
        end_joints=np.array(ends, np.int32), end_offsets=np.zeros((len(ends), 3)),
    )  # fmt: skip


@cache
def _places() -> dict[str, int]:
    """Where the number of that name stands."""
    s = _empty()
    names = [*s.names, *(f"{s.names[j]}{END}" for j in s.end_joints)]
    return {f"{name}.{axis}": 3 * k + a for k, name in enumerate(names) for a, axis in enumerate("xyz")}


@cache
def _guesses() -> tuple[Guess, ...]:
    found = []
    for row in GUESSES.replace("\n", " ").split(","):
        name, guess, bits = row.split()
        factor, _, source = guess.partition("*")
        place = _places()[source] if source else None
        found.append(Guess(_places()[name], round(float(factor) * FACTOR_UNIT), place, int(bits)))
    return tuple(found)


@cache
def _zeros() -> tuple[float, ...]:
    """The numbers that are not guessed, and 0 for the others."""
    minus = {_places()[name] for name in MINUS_ZEROS.split()}
    return tuple(-0.0 if k in minus else 0.0 for k in range(len(_places())))


@cache
def _either() -> tuple[int, ...]:
    return tuple(_places()[name] for name in EITHER_ZEROS.split())


def numbers_of(s: Skeleton) -> tuple[float, ...] | None:
    """The numbers of a skeleton if it is such a one, else None."""
    usual = _empty()
    if s.names != usual.names or (s.rotation_orders, s.channels) != (usual.rotation_orders, usual.channels):
        return None
    if not np.array_equal(s.parents, usual.parents) or not np.array_equal(s.end_joints, usual.end_joints):
        return None
    values = tuple(np.concatenate((s.offsets, s.end_offsets)).ravel().tolist())
    whole = [scaled(value, DECIMALS) for value in values]
    free = {guess.number for guess in _guesses()} | {*_either()}
    for k, (value, zero) in enumerate(zip(values, _zeros(), strict=True)):
        if whole[k] is None or (k not in free and (value != 0 or _is_minus(value) != _is_minus(zero))):
            return None
    if any(values[k] != 0 for k in _either()):
        return None
    return values if max(abs(number or 0) for number in whole) < GREATEST else None


def t_pose() -> list[tuple[float, ...]]:
    """The angles of each joint in the T-pose."""
    return [TURNED.get(name, (0.0, 0.0, 0.0)) for name in _empty().names]


def _is_minus(value: float) -> bool:
    return copysign(1.0, value) < 0


def code_numbers(c: Coder, given: tuple[float, ...] | None) -> tuple[float, ...]:
    """The numbers of such a skeleton."""
    wanted = None if given is None else [round(value * UNIT) for value in given]
    values, numbers = list(_zeros()), [0] * len(_places())
    for guess in _guesses():
        k, expected = guess.number, guess.value(numbers)
        off = None if wanted is None else wanted[k] - expected
        numbers[k] = expected + (c.near("near", guess.bits, off) if guess.bits else c.near("exact", 0, off, EXACT))
        values[k] = numbers[k] / UNIT
        if numbers[k] == 0 and c.flag("minus zero", None if given is None else _is_minus(given[k]), EVEN):
            values[k] = -0.0
    before = False
    for k in _either():
        before = c.flag(("either zero", before), None if given is None else _is_minus(given[k]), EVEN)
        values[k] = -0.0 if before else 0.0
    return tuple(values)


def skeleton(numbers: tuple[float, ...]) -> Skeleton:
    """The skeleton that has these numbers."""
    usual, rows = _empty(), np.array(numbers).reshape(-1, 3)
    return Skeleton(
        usual.names, usual.parents, rows[:N_JOINTS], usual.rotation_orders, usual.channels,
        end_joints=usual.end_joints, end_offsets=rows[N_JOINTS:],
    )  # fmt: skip
