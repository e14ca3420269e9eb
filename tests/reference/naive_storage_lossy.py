"""Reference decoder of lossy groups after docs/kps-coding.md; no checks, only plain values."""

from __future__ import annotations

import struct
from math import floor, sqrt

from reference.naive_range_coder import IntegerReader
from reference.naive_residuals import ResidualReader
from reference.naive_turns import (
    add_vectors,
    bone_axes,
    exp,
    normalise,
    power_of_eighths,
    quaternion_product,
    scale_vector,
)

BITS, ROTATION, TRANSLATION, COORDINATE, LARGEST, FINE, COARSE, SIGN, UP, STEP, SHIFT_STEP, CENTRE, PRIOR, LEVEL = (
    range(14)
)
IDENTITY, HINGE, PAIR, FREE, UPRIGHT, FIXED_ROTATION = range(6)
TRACKS_OF_ROTATION = [0, 1, 2, 3, 3, 0]


class LossyClip:
    """The parameters shared by all groups: kinds of rotations and translations; joint, step, centre and prior per track."""

    def __init__(self, skeleton, data: bytes) -> None:
        self.skeleton = skeleton
        reader = IntegerReader(data)
        self.read, self.is_finished = reader.read, reader.is_finished
        self.bits = self.read(BITS)
        self.joints = [self._read_joint() for _ in skeleton.names]
        self.tracks = []
        last = {STEP: 0, SHIFT_STEP: 0}
        for j, joint in enumerate(self.joints):
            kinds = [SHIFT_STEP] * 3 * (joint["place"] == 2) + [STEP] * TRACKS_OF_ROTATION[joint["turn"]]
            for kind in kinds:
                last[kind] += self.read(kind)
                centre = 4096 * self.read(CENTRE) if kind == SHIFT_STEP else 0
                track = {
                    "joint": j,
                    "turns": kind == STEP,
                    "step": last[kind],
                    "centre": centre,
                    "prior": self.read(PRIOR),
                }
                self.tracks.append(track)
        self.level_priors = [self.read(LEVEL) for _ in range(11)]

    def _read_joint(self) -> dict:
        joint: dict = {"turn": self.read(ROTATION), "base": None, "axes": []}
        if joint["turn"] in (HINGE, PAIR, FREE, FIXED_ROTATION):
            joint["base"] = self._read_unit_vector(4, COARSE if joint["turn"] == FREE else FINE)
        for _ in range({HINGE: 1, PAIR: 2}.get(joint["turn"], 0)):
            axis = self._read_unit_vector(3, FINE)
            joint["axes"].append([-a for a in axis] if self.read(SIGN) else axis)
        if joint["turn"] == UPRIGHT:
            joint["up"] = self.read(UP)
        joint["place"] = self.read(TRANSLATION)
        if joint["place"] == 1:
            joint["placed"] = [struct.unpack("<d", struct.pack("<q", self.read(COORDINATE)))[0] for _ in range(3)]
        return joint

    def _read_unit_vector(self, count: int, kind: int) -> list[float]:
        largest = self.read(LARGEST)
        bits = 8 if kind == COARSE else self.bits
        others = [self.read(kind) * 0.7071067811865476 / 2 ** (bits - 1) for _ in range(count - 1)]
        squares = 0.0
        for other in others:  # not sum(), which rounds differently from Python 3.12 on
            squares += other * other
        others.insert(largest, sqrt(1 - squares))
        return others

    # Translations and rotations

    def group(self, pose: bytes, body: bytes, frames: int, next_pose: bytes | None) -> tuple[list, list]:
        """Return the translations and rotations of the frames of a group."""
        next_numbers = None if next_pose is None else self.pose(next_pose)
        translations, rotations = [], []
        for numbers in self.body(body, frames, self.pose(pose), next_numbers):
            frame_translations, frame_rotations = self.frame(self.values(numbers))
            translations.append(frame_translations)
            rotations.append(frame_rotations)
        return translations, rotations

    def values(self, numbers: list[int]) -> list[float]:
        """Return the values in radians and file units."""
        return [n * (power_of_eighths(t["step"]) / 64) for n, t in zip(numbers, self.tracks, strict=True)]

    def frame(self, values: list[float]) -> tuple[list, list]:
        """Return the translation and rotation of each joint from the values of all tracks in radians and file units."""
        translations, rotations = [], []
        for j, joint in enumerate(self.joints):
            joint_values = [v for v, track in zip(values, self.tracks, strict=True) if track["joint"] == j]
            if joint["place"] == 2:
                translations.append(joint_values[:3])
                joint_values = joint_values[3:]
            else:
                translations.append(joint["placed"] if joint["place"] == 1 else self.skeleton.offsets[j].tolist())
            rotations.append(self.rotation(j, joint_values))
        return translations, rotations

    def rotation(self, j: int, joint_values: list[float]) -> list[float]:
        kind, base, axes = (self.joints[j][name] for name in ("turn", "base", "axes"))
        if kind == HINGE:
            return normalise(quaternion_product(base, exp(scale_vector(joint_values[0], axes[0]))))
        if kind == PAIR:
            return normalise(
                quaternion_product(
                    quaternion_product(exp(scale_vector(joint_values[0], axes[0])), base),
                    exp(scale_vector(joint_values[1], axes[1])),
                )
            )
        if kind == FREE:
            bone, across, third = bone_axes(self.skeleton, j)
            return normalise(
                quaternion_product(
                    base,
                    exp(
                        add_vectors(
                            scale_vector(joint_values[0], bone),
                            add_vectors(scale_vector(joint_values[1], across), scale_vector(joint_values[2], third)),
                        )
                    ),
                )
            )
        if kind == UPRIGHT:
            up, after, last = ([float(i == (self.joints[j]["up"] + k) % 3) for i in range(3)] for k in range(3))
            return normalise(
                quaternion_product(
                    exp(scale_vector(joint_values[0], up)),
                    exp(add_vectors(scale_vector(joint_values[1], after), scale_vector(joint_values[2], last))),
                )
            )
        return base or [1.0, 0.0, 0.0, 0.0]

    # Numbers of the tracks

    def pose(self, data: bytes) -> list[int]:
        grain = data[0] % 128 - 48
        section = ResidualReader(self, data[1:])
        return [
            t["centre"] + r * units_per_residual(grain, 9)
            for t, r in zip(self.tracks, section.read_frame(9, 0), strict=True)
        ]

    def body(self, data: bytes, frames: int, pose: list[int], next_pose: list[int] | None) -> list[list[int]]:
        if frames == 1:
            return [pose]
        order, start = (data[1], 2) if data[0] >= 128 else (0, 1)
        grain = data[0] % 128 - 48
        section = ResidualReader(self, data[start:])
        numbers = {0: pose}
        if next_pose is not None:
            numbers[frames] = next_pose
        for frame, level, stride, weights in schedule(frames, next_pose is not None, order):
            residuals = section.read_frame(level, stride)
            numbers[frame] = [
                (sum(w * numbers[at][k] for at, w in weights.items()) + 2**13 >> 14)
                + r * units_per_residual(grain, level)
                for k, r in enumerate(residuals)
            ]
        return [numbers[frame] for frame in range(frames)]


def units_per_residual(grain: int, level: int) -> int:
    """Return the number of units per residual."""
    finer = min(level, 3) if level <= 7 else 0
    return max(1, floor(64 * power_of_eighths(grain - finer) + 0.5))


def schedule(frames: int, has_next: bool, order: int):
    """Yield the frames of a body in coding order: frame, level, stride, and the weights of the frames that predict it."""
    if order:
        for frame in range(1, frames):
            is_linear = order == 2 and frame >= 2
            yield frame, 10, 1, {frame - 1: 2**15, frame - 2: -(2**14)} if is_linear else {frame - 1: 2**14}
        return
    end = frames if has_next else frames - 1
    if not has_next and end > 0:
        yield end, 8, end, {0: 2**14}
    stride = 1
    while 2 * stride < end:
        stride *= 2
    while stride:
        for frame in range(stride, end, 2 * stride):
            yield frame, min(stride.bit_length() - 1, 7), stride, midpoint_weights(frame, stride, end)
        stride //= 2


def midpoint_weights(frame: int, stride: int, end: int) -> dict[int, int]:
    after = min(frame + stride, end)
    points = [frame - stride, after]
    if frame >= 3 * stride:
        points.insert(0, frame - 3 * stride)
    if frame + 3 * stride <= end:
        points.append(frame + 3 * stride)
    elif end - after >= stride:
        points.append(end)
    weights = {}
    for at in points:
        above = below = 1.0
        for other in points:
            if other != at:
                above *= frame - other
                below *= at - other
        weights[at] = floor(above / below * 2**14 + 0.5)
    weights[frame - stride] += 2**14 - sum(weights.values())
    return weights
