"""Read packed swings byte by byte, as in docs/swings-packed.md; no checks, only plain values."""

from __future__ import annotations

import struct
from itertools import accumulate
from math import cos, pi, sin, sqrt

UPS = ("X", "Y", "Z", "-X", "-Y", "-Z")
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")


def encode_varint(number: int) -> bytes:
    """Return the varint of a number."""
    low, high = number % 128, number // 128
    return bytes([low]) if high == 0 else bytes([low + 128]) + encode_varint(high)


def quaternion(vector) -> tuple[float, ...]:
    """Return wxyz of a rotation vector."""
    angle = sqrt(sum(t * t for t in vector))
    share = sin(angle / 2) / angle if angle > 0 else 0.5
    return (cos(angle / 2), *(share * t for t in vector))


def quaternion_product(p, q) -> tuple[float, ...]:
    """Return the product of two quaternions."""
    a, b, c, d = p
    e, f, g, h = q
    return (a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e)  # fmt: skip


def axis_quaternion(axis, angle) -> tuple[float, ...]:
    """Return the quaternion of a rotation about an axis."""
    length = sqrt(sum(a * a for a in axis))
    return quaternion([angle * a / length for a in axis])


class Bytes:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read_bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def read_byte(self) -> int:
        return self.read_bytes(1)[0]

    def read_varint(self) -> int:
        digit = self.read_byte()
        return digit if digit < 128 else digit - 128 + 128 * self.read_varint()

    def read_varints(self) -> list[int]:
        return [self.read_varint() for _ in range(self.read_varint())]

    def read_steps(self, count: int) -> list[int]:
        return list(accumulate(self.read_varint() for _ in range(count)))

    def read_double(self) -> float:
        return struct.unpack("<d", self.read_bytes(8))[0]

    def read_rows(self, count: int) -> list[tuple[float, ...]]:
        return [struct.unpack("<3f", self.read_bytes(12)) for _ in range(count)]

    def read_text(self) -> str:
        return self.read_bytes(self.read_varint()).decode("utf-8", "surrogatepass")

    def read_texts(self) -> list[str]:
        return [self.read_text() for _ in range(self.read_varint())]

    def read_changed_rows(self, defaults) -> list[tuple[float, ...]]:
        joints = self.read_steps(self.read_varint())
        changed = dict(zip(joints, self.read_rows(len(joints)), strict=True))
        return [changed.get(j, row) for j, row in enumerate(defaults)]


def unpack(data: bytes) -> dict:
    """Return all values of a block."""
    block = Bytes(data)
    assert block.read_bytes(5) == b"KPsw\x01"
    clip = {"name": block.read_text(), "fps": block.read_double(), "n_frames": block.read_varint()}
    first = block.read_varint()
    clip["first_frame"] = first // 2 if first % 2 == 0 else -(first + 1) // 2
    flags = block.read_byte()
    clip["up"] = UPS[flags % 8]
    clip["metres_per_unit"] = block.read_double() if flags & 8 else None
    clip["notes"] = block.read_texts()
    names = clip["names"] = block.read_texts()
    clip["parents"] = [j - back if back else -1 for j, back in ((j, block.read_varint()) for j in range(len(names)))]
    clip["rotation_orders"], clip["channels"] = [], []
    for _ in names:
        form = block.read_byte()
        order = ORDERS[form % 8]
        rotation_channels = [f"{axis}rotation" for axis in order]
        custom_channels = [CHANNELS[block.read_byte()] for _ in range(block.read_byte())] if form // 8 == 3 else []
        clip["rotation_orders"].append(order)
        clip["channels"].append(
            [rotation_channels, [*CHANNELS[:3], *rotation_channels], [], custom_channels][form // 8]
        )
    offsets = clip["offsets"] = block.read_rows(len(names))
    clip["end_joints"] = block.read_varints()
    clip["end_offsets"] = block.read_rows(len(clip["end_joints"]))
    zeros = [(0.0, 0.0, 0.0)] * len(names)
    clip["pose"] = (block.read_changed_rows(offsets), block.read_changed_rows(zeros)) if flags & 16 else None
    clip["settings"] = [block.read_double() for _ in range(7)]
    choices = block.read_byte()
    clip["metric"], clip["fallback"] = ("angle", "cosine")[choices % 2], (None, "keys")[choices // 2]
    clip["left_out"] = [names[j] for j in block.read_steps(block.read_varint())]
    clip["contacts"] = None
    if flags & 32:
        feet = block.read_texts()
        clip["contacts"] = {foot: block.read_steps(block.read_varint()) for foot in feet}
    clip["means"] = block.read_changed_rows(zeros)
    clip["tracks"] = [_read_track(block, mean) for mean in clip["means"]]
    clip["translations"] = block.read_changed_rows(offsets)
    moving_joints = block.read_steps(block.read_varint())
    clip["paths"] = {names[j]: _read_path(block) for j in moving_joints}
    assert block.at == len(data) - 4
    return clip


def _read_track(block: Bytes, mean) -> dict:
    flags = block.read_byte()
    track: dict = {"swings": [], "rests": [], "keyed": []}
    if flags & 1:
        edges = block.read_steps(2 * block.read_varint())
        numbers = block.read_rows(len(edges))
        track["swings"] = list(zip(edges[::2], edges[1::2], numbers[::2], numbers[1::2], strict=True))
    if flags & 2:
        edges = block.read_steps(2 * block.read_varint())
        means = [mean] * (len(edges) // 2) if flags & 4 else block.read_rows(len(edges) // 2)
        track["rests"] = list(zip(edges[::2], edges[1::2], means, strict=True))
    if flags & 8:
        track["keyed"] = [_read_span(block) for _ in range(block.read_varint())]
    return track


def _read_frames(block: Bytes) -> tuple[list[int], int]:
    form, count = block.read_byte(), block.read_varint()
    if form & 4:
        first = block.read_varint()
        return list(range(first, first + count)), form
    return block.read_steps(count), form


def _read_span(block: Bytes) -> list[tuple[int, tuple[float, ...]]]:
    """Frames with their quaternions."""
    frames, form = _read_frames(block)
    angles = form % 4
    if angles == 3:
        rotations = [quaternion(row) for row in block.read_rows(len(frames))]
    else:
        base, *axes = block.read_rows(1 + angles)
        base = quaternion(base)
        rotations = []
        for _ in frames:
            angle_values = struct.unpack(f"<{angles}f", block.read_bytes(4 * angles))
            rotation = base if angles == 0 else quaternion_product(base, axis_quaternion(axes[-1], angle_values[-1]))
            rotations.append(
                rotation if angles < 2 else quaternion_product(axis_quaternion(axes[0], angle_values[0]), rotation)
            )
    return list(zip(frames, rotations, strict=True))


def _read_path(block: Bytes) -> dict:
    frames, form = _read_frames(block)
    path = {"frames": frames, "values": block.read_rows(len(frames)), "out_tangents": None, "in_tangents": None}
    if form & 8:
        path["out_tangents"], path["in_tangents"] = block.read_rows(len(frames) - 1), block.read_rows(len(frames) - 1)
    return path


def degrees_apart(p, q) -> float:
    """Between two quaternions."""
    w, *xyz = quaternion_product((p[0], -p[1], -p[2], -p[3]), q)
    return 2 * sqrt(sum(x * x for x in xyz)) / max(abs(w), 1e-9) * 180 / pi  # for small angles
