"""Groups within a tolerance read number by number, as docs/kps-coding.md says; no checks, only plain values."""

from __future__ import annotations

import struct
from math import floor, sqrt

from naive_range_coder import WholesIn
from naive_residuals import Section
from naive_turns import bone_axes, exp, plus, power_of_eighths, scaled, times, unit

BITS, TURN, PLACE, PLACED, LARGEST, FINE, COARSE, SIGN, UP, STEP, SHIFT_STEP, CENTRE, PRIOR, LEVEL = range(14)
FIXED, HINGE, PAIR, FREE, UPRIGHT, FIXED_TURN = range(6)
TRACKS_OF_TURN = [0, 1, 2, 3, 3, 0]


class Clip:
    """What all groups share: the joints' turns and places, and of each track its joint, step, centre and prior."""

    def __init__(self, skeleton, data: bytes) -> None:
        self.skeleton = skeleton
        numbers = WholesIn(data)
        self.take, self.finished = numbers.take, numbers.finished
        self.bits = self.take(BITS)
        self.joints = [self._joint() for _ in skeleton.names]
        self.tracks = []
        last = {STEP: 0, SHIFT_STEP: 0}
        for j, joint in enumerate(self.joints):
            sorts = [SHIFT_STEP] * 3 * (joint["place"] == 2) + [STEP] * TRACKS_OF_TURN[joint["turn"]]
            for sort in sorts:
                last[sort] += self.take(sort)
                centre = 4096 * self.take(CENTRE) if sort == SHIFT_STEP else 0
                track = {
                    "joint": j,
                    "turns": sort == STEP,
                    "step": last[sort],
                    "centre": centre,
                    "prior": self.take(PRIOR),
                }
                self.tracks.append(track)
        self.level_priors = [self.take(LEVEL) for _ in range(11)]

    def _joint(self) -> dict:
        joint: dict = {"turn": self.take(TURN), "base": None, "axes": []}
        if joint["turn"] in (HINGE, PAIR, FREE, FIXED_TURN):
            joint["base"] = self._unit(4, COARSE if joint["turn"] == FREE else FINE)
        for _ in range({HINGE: 1, PAIR: 2}.get(joint["turn"], 0)):
            axis = self._unit(3, FINE)
            joint["axes"].append([-a for a in axis] if self.take(SIGN) else axis)
        if joint["turn"] == UPRIGHT:
            joint["up"] = self.take(UP)
        joint["place"] = self.take(PLACE)
        if joint["place"] == 1:
            joint["placed"] = [struct.unpack("<d", struct.pack("<q", self.take(PLACED)))[0] for _ in range(3)]
        return joint

    def _unit(self, count: int, kind: int) -> list[float]:
        largest = self.take(LARGEST)
        bits = 8 if kind == COARSE else self.bits
        others = [self.take(kind) * 0.7071067811865476 / 2 ** (bits - 1) for _ in range(count - 1)]
        squares = 0.0
        for other in others:  # not sum(), which newer Pythons round otherwise
            squares += other * other
        others.insert(largest, sqrt(1 - squares))
        return others

    # Translations and rotations

    def group(self, pose: bytes, body: bytes, frames: int, next_pose: bytes | None) -> tuple[list, list]:
        """Translations and rotations of the frames of a group."""
        after = None if next_pose is None else self.pose(next_pose)
        translations, rotations = [], []
        for numbers in self.body(body, frames, self.pose(pose), after):
            places, turns = self.frame(self.values(numbers))
            translations.append(places)
            rotations.append(turns)
        return translations, rotations

    def values(self, numbers: list[int]) -> list[float]:
        """Radians and file units."""
        return [n * (power_of_eighths(t["step"]) / 64) for n, t in zip(numbers, self.tracks, strict=True)]

    def frame(self, values: list[float]) -> tuple[list, list]:
        """Where each joint is and how it turns, by the values of all tracks in radians and file units."""
        places, turns = [], []
        for j, joint in enumerate(self.joints):
            own = [v for v, track in zip(values, self.tracks, strict=True) if track["joint"] == j]
            if joint["place"] == 2:
                places.append(own[:3])
                own = own[3:]
            else:
                places.append(joint["placed"] if joint["place"] == 1 else self.skeleton.offsets[j].tolist())
            turns.append(self.turn(j, own))
        return places, turns

    def turn(self, j: int, own: list[float]) -> list[float]:
        kind, base, axes = (self.joints[j][name] for name in ("turn", "base", "axes"))
        if kind == HINGE:
            return unit(times(base, exp(scaled(own[0], axes[0]))))
        if kind == PAIR:
            return unit(times(times(exp(scaled(own[0], axes[0])), base), exp(scaled(own[1], axes[1]))))
        if kind == FREE:
            bone, across, third = bone_axes(self.skeleton, j)
            return unit(
                times(base, exp(plus(scaled(own[0], bone), plus(scaled(own[1], across), scaled(own[2], third)))))
            )
        if kind == UPRIGHT:
            up, after, last = ([float(i == (self.joints[j]["up"] + k) % 3) for i in range(3)] for k in range(3))
            return unit(times(exp(scaled(own[0], up)), exp(plus(scaled(own[1], after), scaled(own[2], last)))))
        return base or [1.0, 0.0, 0.0, 0.0]

    # Numbers of the tracks

    def pose(self, data: bytes) -> list[int]:
        grain = data[0] % 128 - 48
        section = Section(self, data[1:])
        return [t["centre"] + r * weight(grain, 9) for t, r in zip(self.tracks, section.frame(9, 0), strict=True)]

    def body(self, data: bytes, frames: int, pose: list[int], next_pose: list[int] | None) -> list[list[int]]:
        if frames == 1:
            return [pose]
        order, start = (data[1], 2) if data[0] >= 128 else (0, 1)
        grain = data[0] % 128 - 48
        section = Section(self, data[start:])
        known = {0: pose}
        if next_pose is not None:
            known[frames] = next_pose
        for frame, level, stride, weights in schedule(frames, next_pose is not None, order):
            residuals = section.frame(level, stride)
            known[frame] = [
                (sum(w * known[at][k] for at, w in weights.items()) + 2**13 >> 14) + r * weight(grain, level)
                for k, r in enumerate(residuals)
            ]
        return [known[frame] for frame in range(frames)]


def weight(grain: int, level: int) -> int:
    """How many units a residual stands for."""
    finer = min(level, 3) if level <= 7 else 0
    return max(1, floor(64 * power_of_eighths(grain - finer) + 0.5))


def schedule(frames: int, has_next: bool, order: int):
    """The frames of a body in the order of coding: frame, level, stride, and the frames with weights that predict it."""
    if order:
        for frame in range(1, frames):
            two = order == 2 and frame >= 2
            yield frame, 10, 1, {frame - 1: 2**15, frame - 2: -(2**14)} if two else {frame - 1: 2**14}
        return
    end = frames if has_next else frames - 1
    if not has_next and end > 0:
        yield end, 8, end, {0: 2**14}
    stride = 1
    while 2 * stride < end:
        stride *= 2
    while stride:
        for frame in range(stride, end, 2 * stride):
            yield frame, min(stride.bit_length() - 1, 7), stride, halfway(frame, stride, end)
        stride //= 2


def halfway(frame: int, stride: int, end: int) -> dict[int, int]:
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
