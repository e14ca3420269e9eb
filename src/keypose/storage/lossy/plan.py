"""The parameters that the decoder needs before any frame, and the decoder."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from math import isfinite, sqrt

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.model import Skeleton
from keypose.storage.groups import CodingError, group_bounds

N_LEVELS = 11  # eight bisections, the last frame of the clip, the first of a group, frames in order
COARSE_BITS = 8  # bits of the base of a free rotation, which need not be precise
CENTRE_UNITS = 4096
MAX_STEP = 4096
MAX_CENTRE = 1 << 30
IDENTITY = (0, 0, 0, 0)

MAX_BITS = 40
ROOT_HALF = 0.7071067811865476  # upper bound of all components but the largest, rounded


class RotationKind(IntEnum):
    """The kind of a joint's rotation, as ``Kind`` in ``core/kps_chart.hpp``."""

    FIXED = 0
    HINGE = 1
    PAIR = 2
    FREE = 3
    UPRIGHT = 4

    @property
    def n_tracks(self) -> int:
        """Return the number of tracks."""
        return min(int(self), 3)


class NumberKind(IntEnum):
    """Kinds of numbers, each with its own adaptive model."""

    BITS, ROTATION, TRANSLATION, COORDINATE, LARGEST, FINE, COARSE, SIGN, UP, STEP, SHIFT_STEP, CENTRE, PRIOR, LEVEL = (
        range(14)
    )


class TranslationKind(IntEnum):
    """The kind of a joint's translation."""

    OFFSET = 0  # constant, the skeleton's offset
    CONSTANT = 1  # constant, another position
    MOVING = 2


@dataclass(frozen=True)
class JointPlan:
    """One joint: the quantized parameters of its chart."""

    rotation: RotationKind = RotationKind.FIXED
    base: tuple[int, ...] = IDENTITY  # with fine precision for FIXED, HINGE and PAIR, coarse for FREE
    axes: tuple[tuple[int, ...], ...] = ()  # one for HINGE, two for PAIR
    up: int = 2  # index of the world's up axis, for UPRIGHT
    moves: bool = False
    position: tuple[float, float, float] | None = None  # constant translation; None: the offset

    @property
    def n_tracks(self) -> int:
        """Return the number of tracks."""
        return self.rotation.n_tracks + (3 if self.moves else 0)

    def base_rotation(self, bits: int) -> Floats:
        """Return the base quaternion wxyz of the chart."""
        return dequantize_quaternion(self.base, COARSE_BITS if self.rotation is RotationKind.FREE else bits)

    def chart(self, bits: int, bone_axes: Floats) -> Floats:
        """Return the kind, base and three axes (14,) for the kernels; ``bone_axes``: see ``compute_bone_axes``."""
        axes = np.zeros((3, 3))
        if self.rotation is RotationKind.HINGE:
            axes[1] = dequantize_direction(self.axes[0], bits)
        elif self.rotation is RotationKind.PAIR:
            axes[0], axes[1] = dequantize_direction(self.axes[0], bits), dequantize_direction(self.axes[1], bits)
        elif self.rotation is RotationKind.FREE:
            axes = bone_axes
        elif self.rotation is RotationKind.UPRIGHT:
            axes = np.roll(np.eye(3), -self.up, axis=0)
        return np.concatenate(([float(self.rotation)], self.base_rotation(bits), axes.ravel()))


@dataclass(frozen=True, eq=False)
class Plan:
    """The plans of all joints, and the steps of their tracks as 8 log2."""

    bits: int  # of fine rotations and directions
    joints: tuple[JointPlan, ...]
    steps: tuple[int, ...] = ()
    centres: tuple[int, ...] = ()  # in units of 64 steps
    track_priors: tuple[int, ...] = ()  # residual sizes, as 2 log2
    level_priors: tuple[int, ...] = field(default=(0,) * N_LEVELS)

    @property
    def n_tracks(self) -> int:
        """Return the number of tracks."""
        return sum(joint.n_tracks for joint in self.joints)

    def build_kernel(self, skeleton: Skeleton) -> _core.KpsClip:
        """Return the clip for the kernels."""
        bones = compute_bone_axes(skeleton)
        charts = [joint.chart(self.bits, bone) for joint, bone in zip(self.joints, bones, strict=True)]
        positions = [
            o if j.position is None else j.position for j, o in zip(self.joints, skeleton.offsets.tolist(), strict=True)
        ]
        return _core.kps_clip(
            np.ascontiguousarray(skeleton.parents, np.int32),
            np.array(charts),
            np.array([joint.moves for joint in self.joints], np.uint8),
            np.array(positions, np.float64),
            np.array(self.steps, np.int32),
            np.array(self.centres, np.int64) * CENTRE_UNITS,
            np.array(self.track_priors, np.int32),
            np.array(self.level_priors, np.int32),
        )

    def to_bytes(self) -> bytes:
        """Encode the plan for ``from_bytes``."""
        out = _core.IntegerWriter()
        out.write(NumberKind.BITS, self.bits)
        for joint in self.joints:
            _write_joint(out, joint)
        step = {NumberKind.STEP: 0, NumberKind.SHIFT_STEP: 0}
        for kind, track_step, centre, prior in zip(
            self._kinds(), self.steps, self.centres, self.track_priors, strict=True
        ):
            out.write(kind, track_step - step[kind])
            step[kind] = track_step
            if kind is NumberKind.SHIFT_STEP:
                out.write(NumberKind.CENTRE, centre)
            out.write(NumberKind.PRIOR, prior)
        for prior in self.level_priors:
            out.write(NumberKind.LEVEL, prior)
        return out.finish()

    @staticmethod
    def from_bytes(data: bytes, n_joints: int) -> Plan:
        """Decode the plan that ``to_bytes`` wrote; raise ``CodingError`` if it is invalid."""
        reader = _CheckedReader(data)
        bits = reader.read(NumberKind.BITS, 2, MAX_BITS)
        plan = Plan(bits, tuple(_read_joint(reader, bits) for _ in range(n_joints)))
        steps, centres, priors = [], [], []
        step = {NumberKind.STEP: 0, NumberKind.SHIFT_STEP: 0}
        for kind in plan._kinds():
            step[kind] += reader.read(kind, -2 * MAX_STEP, 2 * MAX_STEP)
            if abs(step[kind]) > MAX_STEP:
                raise CodingError("a step beyond all measure")
            steps.append(step[kind])
            centres.append(
                reader.read(NumberKind.CENTRE, -MAX_CENTRE, MAX_CENTRE) if kind is NumberKind.SHIFT_STEP else 0
            )
            priors.append(reader.read(NumberKind.PRIOR, -1000, 1000))
        levels = tuple(reader.read(NumberKind.LEVEL, -1000, 1000) for _ in range(N_LEVELS))
        reader.finish()
        return Plan(bits, plan.joints, tuple(steps), tuple(centres), tuple(priors), levels)

    def _kinds(self) -> list[NumberKind]:
        """Return the kind of each track's step: of a translation or a rotation."""
        kinds: list[NumberKind] = []
        for joint in self.joints:
            kinds += [NumberKind.SHIFT_STEP] * (3 if joint.moves else 0) + [NumberKind.STEP] * joint.rotation.n_tracks
        return kinds


class _CheckedReader:
    """Reads numbers from untrusted bytes."""

    def __init__(self, data: bytes) -> None:
        self._reader = _core.IntegerReader(data)

    def read(self, kind: NumberKind, min_value: int, max_value: int) -> int:
        try:
            number = self._reader.read(kind)
        except ValueError as error:
            raise CodingError(str(error)) from None
        if not min_value <= number <= max_value:
            raise CodingError(f"{kind.name.lower()} {number}, expected {min_value} to {max_value}")
        return number

    def finish(self) -> None:
        """Raise ``CodingError`` if there are more numbers, or missing bytes."""
        try:
            self._reader.finish()
        except ValueError as error:
            raise CodingError(str(error)) from None


def _write_joint(out: _core.IntegerWriter, joint: JointPlan) -> None:
    is_fixed_rotation = joint.rotation is RotationKind.FIXED and joint.base != IDENTITY
    out.write(NumberKind.ROTATION, 5 if is_fixed_rotation else int(joint.rotation))
    if is_fixed_rotation or joint.rotation in (RotationKind.HINGE, RotationKind.PAIR, RotationKind.FREE):
        _write_quantized(
            out, joint.base, NumberKind.COARSE if joint.rotation is RotationKind.FREE else NumberKind.FINE, signed=False
        )
    for axis in joint.axes:
        _write_quantized(out, axis, NumberKind.FINE, signed=True)
    if joint.rotation is RotationKind.UPRIGHT:
        out.write(NumberKind.UP, joint.up)
    translation = (
        TranslationKind.MOVING
        if joint.moves
        else TranslationKind.OFFSET
        if joint.position is None
        else TranslationKind.CONSTANT
    )
    out.write(NumberKind.TRANSLATION, translation)
    if translation is TranslationKind.CONSTANT and joint.position is not None:
        for coordinate in joint.position:
            out.write(NumberKind.COORDINATE, struct.unpack("<q", struct.pack("<d", coordinate))[0])


def _write_quantized(out: _core.IntegerWriter, integers: tuple[int, ...], kind: NumberKind, *, signed: bool) -> None:
    out.write(NumberKind.LARGEST, integers[0])
    for number in integers[1:-1] if signed else integers[1:]:
        out.write(kind, number)
    if signed:
        out.write(NumberKind.SIGN, integers[-1])


def _read_joint(reader: _CheckedReader, bits: int) -> JointPlan:
    code = reader.read(NumberKind.ROTATION, 0, 5)
    rotation = RotationKind.FIXED if code == 5 else RotationKind(code)
    base: tuple[int, ...] = IDENTITY
    if code == 5 or rotation in (RotationKind.HINGE, RotationKind.PAIR, RotationKind.FREE):
        base = _read_quantized(reader, 3, bits, coarse=rotation is RotationKind.FREE)
    axes = tuple(
        (*_read_quantized(reader, 2, bits), reader.read(NumberKind.SIGN, 0, 1)) for _ in range(rotation.n_tracks % 3)
    )
    up = reader.read(NumberKind.UP, 0, 2) if rotation is RotationKind.UPRIGHT else 2
    translation = TranslationKind(reader.read(NumberKind.TRANSLATION, 0, 2))
    position = None
    if translation is TranslationKind.CONSTANT:
        position = (_read_double(reader), _read_double(reader), _read_double(reader))
    return JointPlan(rotation, base, axes, up, translation is TranslationKind.MOVING, position)


def _read_double(reader: _CheckedReader) -> float:
    bits = reader.read(NumberKind.COORDINATE, -(1 << 63), (1 << 63) - 1)
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    if not isfinite(value):
        raise CodingError("a joint's place is not a number")
    return value


def _read_quantized(reader: _CheckedReader, n_values: int, bits: int, *, coarse: bool = False) -> tuple[int, ...]:
    largest = reader.read(NumberKind.LARGEST, 0, n_values)
    limit = 1 << ((COARSE_BITS if coarse else bits) - 1)
    kind = NumberKind.COARSE if coarse else NumberKind.FINE
    return (largest, *(reader.read(kind, -limit, limit) for _ in range(n_values)))


class LossyDecoder:
    """Decodes the groups of one clip, in any order."""

    def __init__(self, skeleton: Skeleton, fps: float, n_frames: int, parameters: bytes) -> None:
        """``parameters`` are the bytes shared by all groups. Raises ``CodingError`` if they are invalid."""
        self._bounds = group_bounds(n_frames, fps)
        try:
            self._kernel = Plan.from_bytes(parameters, skeleton.n_joints).build_kernel(skeleton)
        except (ValueError, OverflowError) as error:
            raise CodingError(str(error)) from None

    def decode_group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Return translations (n, J, 3) and rotations (n, J, 4) of group ``g``; ``next_pose``: of the next group."""
        start, stop = self._bounds[g]
        try:
            first = self._kernel.decode_pose(pose)
            next_numbers = None if next_pose is None else self._kernel.decode_pose(next_pose)
            return self._kernel.poses(self._kernel.decode_body(stop - start, body, first, next_numbers))
        except (ValueError, RuntimeError) as error:
            raise CodingError(str(error)) from None


def quantize(values: Floats, bits: int) -> tuple[int, ...]:
    """Quantize a unit quaternion (4,) or direction (3,): the index of the omitted component, then the others.

    The largest component is omitted. For a quaternion it is made positive, which does not change the rotation; for a
    direction its sign is the last number.
    """
    largest = int(np.argmax(np.abs(values)))
    negative = bool(values[largest] < 0)
    others = np.delete(-values if negative else values, largest)
    numbers = np.rint(others / ROOT_HALF * (1 << (bits - 1))).astype(int).tolist()
    return (largest, *numbers, *((int(negative),) if len(values) == 3 else ()))


def dequantize_quaternion(numbers: tuple[int, ...], bits: int) -> Floats:
    """Return the unit quaternion wxyz of its quantized numbers."""
    return _restore_unit_vector(numbers[0], numbers[1:], bits)


def dequantize_direction(numbers: tuple[int, ...], bits: int) -> Floats:
    """Return the unit vector of its quantized numbers."""
    vector = _restore_unit_vector(numbers[0], numbers[1:-1], bits)
    return -vector if numbers[-1] else vector


def _restore_unit_vector(largest: int, numbers: tuple[int, ...], bits: int) -> Floats:
    scale = ROOT_HALF / (1 << (bits - 1))
    others = [n * scale for n in numbers]
    rest = 1.0 - _sum_of_squares(others)
    if not 0 <= largest <= len(others) or rest <= 0.0:
        raise CodingError("a turn that is none")
    others.insert(largest, sqrt(rest))
    return np.array(others)


def _sum_of_squares(values: list[float]) -> float:
    """Return the sum of squares, rounded after each addition: ``sum`` rounds differently from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value * value
    return total


def compute_bone_axes(skeleton: Skeleton) -> Floats:
    """Return three orthogonal axes for each joint (J, 3, 3), the first along its longest bone.

    It is computed only with scalar sums, products, quotients and square roots, so that the bits are the same on every
    machine.
    """
    axes = np.tile(np.eye(3), (skeleton.n_joints, 1, 1))
    max_squares = np.zeros(skeleton.n_joints)
    parents = skeleton.parents.tolist() + skeleton.end_joints.tolist()
    for joint, offset in zip(parents, skeleton.offsets.tolist() + skeleton.end_offsets.tolist(), strict=True):
        x, y, z = offset
        square = x * x + y * y + z * z
        if joint < 0 or square <= max_squares[joint] or not 1e-200 < square < 1e200:
            continue
        max_squares[joint] = square
        length = sqrt(square)
        x, y, z = x / length, y / length, z / length
        smallest = min(range(3), key=lambda axis: abs((x, y, z)[axis]))
        # across = bone x axis, normalised; third = bone x across
        across = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))[smallest]
        norm = sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2])
        a, b, c = across[0] / norm, across[1] / norm, across[2] / norm
        axes[joint] = (x, y, z), (a, b, c), (y * c - z * b, z * a - x * c, x * b - y * a)
    return axes
