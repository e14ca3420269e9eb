"""A block of packed swings read byte by byte, as docs/swings-packed.md says; no checks, only plain values."""

from __future__ import annotations

import struct
from itertools import accumulate
from math import cos, pi, sin, sqrt

UPS = ("X", "Y", "Z", "-X", "-Y", "-Z")
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")


def written(number: int) -> bytes:
    """A whole number, seven bits in a byte."""
    low, rest = number % 128, number // 128
    return bytes([low]) if rest == 0 else bytes([low + 128]) + written(rest)


def quaternion(turn) -> tuple[float, ...]:
    """wxyz of axis times angle."""
    angle = sqrt(sum(t * t for t in turn))
    share = sin(angle / 2) / angle if angle > 0 else 0.5
    return (cos(angle / 2), *(share * t for t in turn))


def times(p, q) -> tuple[float, ...]:
    """The product of two quaternions."""
    a, b, c, d = p
    e, f, g, h = q
    return (a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e)  # fmt: skip


def about(axis, angle) -> tuple[float, ...]:
    """The quaternion of a turn about an axis."""
    length = sqrt(sum(a * a for a in axis))
    return quaternion([angle * a / length for a in axis])


class Bytes:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def whole(self) -> int:
        digit = self.byte()
        return digit if digit < 128 else digit - 128 + 128 * self.whole()

    def wholes(self) -> list[int]:
        return [self.whole() for _ in range(self.whole())]

    def steps(self, count: int) -> list[int]:
        return list(accumulate(self.whole() for _ in range(count)))

    def double(self) -> float:
        return struct.unpack("<d", self.take(8))[0]

    def rows(self, count: int) -> list[tuple[float, ...]]:
        return [struct.unpack("<3f", self.take(12)) for _ in range(count)]

    def text(self) -> str:
        return self.take(self.whole()).decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        return [self.text() for _ in range(self.whole())]

    def rows_unlike(self, usual) -> list[tuple[float, ...]]:
        joints = self.steps(self.whole())
        given = dict(zip(joints, self.rows(len(joints)), strict=True))
        return [given.get(j, row) for j, row in enumerate(usual)]


def unpacked(data: bytes) -> dict:
    """All that a block says."""
    block = Bytes(data)
    assert block.take(5) == b"KPsw\x01"
    clip = {"name": block.text(), "fps": block.double(), "n_frames": block.whole()}
    first = block.whole()
    clip["first_frame"] = first // 2 if first % 2 == 0 else -(first + 1) // 2
    known = block.byte()
    clip["up"] = UPS[known % 8]
    clip["metres_per_unit"] = block.double() if known & 8 else None
    clip["notes"] = block.texts()
    names = clip["names"] = block.texts()
    clip["parents"] = [j - back if back else -1 for j, back in ((j, block.whole()) for j in range(len(names)))]
    clip["rotation_orders"], clip["channels"] = [], []
    for _ in names:
        form = block.byte()
        order = ORDERS[form % 8]
        turns = [f"{axis}rotation" for axis in order]
        listed = [CHANNELS[block.byte()] for _ in range(block.byte())] if form // 8 == 3 else []
        clip["rotation_orders"].append(order)
        clip["channels"].append([turns, [*CHANNELS[:3], *turns], [], listed][form // 8])
    offsets = clip["offsets"] = block.rows(len(names))
    clip["end_joints"] = block.wholes()
    clip["end_offsets"] = block.rows(len(clip["end_joints"]))
    none = [(0.0, 0.0, 0.0)] * len(names)
    clip["pose"] = (block.rows_unlike(offsets), block.rows_unlike(none)) if known & 16 else None
    clip["settings"] = [block.double() for _ in range(7)]
    words = block.byte()
    clip["metric"], clip["fallback"] = ("angle", "cosine")[words % 2], (None, "keys")[words // 2]
    clip["left_out"] = [names[j] for j in block.steps(block.whole())]
    clip["contacts"] = None
    if known & 32:
        feet = block.texts()
        clip["contacts"] = {foot: block.steps(block.whole()) for foot in feet}
    clip["means"] = block.rows_unlike(none)
    clip["tracks"] = [_track(block, mean) for mean in clip["means"]]
    clip["places"] = block.rows_unlike(offsets)
    moving = block.steps(block.whole())
    clip["paths"] = {names[j]: _path(block) for j in moving}
    assert block.at == len(data) - 4
    return clip


def _track(block: Bytes, mean) -> dict:
    has = block.byte()
    track: dict = {"swings": [], "rests": [], "keyed": []}
    if has & 1:
        edges = block.steps(2 * block.whole())
        numbers = block.rows(len(edges))
        track["swings"] = list(zip(edges[::2], edges[1::2], numbers[::2], numbers[1::2], strict=True))
    if has & 2:
        edges = block.steps(2 * block.whole())
        means = [mean] * (len(edges) // 2) if has & 4 else block.rows(len(edges) // 2)
        track["rests"] = list(zip(edges[::2], edges[1::2], means, strict=True))
    if has & 8:
        track["keyed"] = [_span(block) for _ in range(block.whole())]
    return track


def _frames(block: Bytes) -> tuple[list[int], int]:
    form, count = block.byte(), block.whole()
    if form & 4:
        first = block.whole()
        return list(range(first, first + count)), form
    return block.steps(count), form


def _span(block: Bytes) -> list[tuple[int, tuple[float, ...]]]:
    """Frames with their quaternions."""
    frames, form = _frames(block)
    angles = form % 4
    if angles == 3:
        turns = [quaternion(row) for row in block.rows(len(frames))]
    else:
        base, *axes = block.rows(1 + angles)
        base = quaternion(base)
        turns = []
        for _ in frames:
            given = struct.unpack(f"<{angles}f", block.take(4 * angles))
            turn = base if angles == 0 else times(base, about(axes[-1], given[-1]))
            turns.append(turn if angles < 2 else times(about(axes[0], given[0]), turn))
    return list(zip(frames, turns, strict=True))


def _path(block: Bytes) -> dict:
    frames, form = _frames(block)
    path = {"frames": frames, "values": block.rows(len(frames)), "leaving": None, "arriving": None}
    if form & 8:
        path["leaving"], path["arriving"] = block.rows(len(frames) - 1), block.rows(len(frames) - 1)
    return path


def degrees_apart(p, q) -> float:
    """Between two quaternions."""
    w, *xyz = times((p[0], -p[1], -p[2], -p[3]), q)
    return 2 * sqrt(sum(x * x for x in xyz)) / max(abs(w), 1e-9) * 180 / pi  # for small angles
