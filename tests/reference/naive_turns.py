"""Rotations from numbers, one product at a time, as in docs/kps-coding.md; decoders must return the same bits."""

from __future__ import annotations

from math import factorial, isqrt, sqrt

TWO_OVER_PI, HIGH, LOW = 0.6366197723675814, 1.5707963267341256, 6.077100506506192e-11


def power_of_eighths(eighths: int) -> float:
    """Return 2^(eighths / 8): the nearest double to the eighth root, times a power of two."""
    whole, rest = divmod(eighths, 8)
    return isqrt(isqrt(isqrt(2 ** (rest + 8 * 100)))) / 2**100 * 2.0**whole


def sine_cosine(angle: float) -> tuple[float, float]:
    quarters = round(angle * TWO_OVER_PI)  # of two equally near ones, the even one
    x = (angle - quarters * HIGH) - quarters * LOW
    y = x * x
    sine = cosine = 0.0
    for n in (15, 13, 11, 9, 7, 5, 3, 1):
        sine = sine * y + (-1) ** (n // 2) / factorial(n)
    for n in (16, 14, 12, 10, 8, 6, 4, 2, 0):
        cosine = cosine * y + (-1) ** (n // 2) / factorial(n)
    sine = sine * x
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quarters % 4]


def exp(vector: list[float]) -> list[float]:
    x, y, z = vector
    angle = sqrt(x * x + y * y + z * z)
    sine, cosine = sine_cosine(0.5 * angle)
    factor = sine / angle if angle > 1e-9 else 0.5
    return [cosine, factor * x, factor * y, factor * z]


def quaternion_product(a: list[float], b: list[float]) -> list[float]:
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def normalise(q: list[float]) -> list[float]:
    w, x, y, z = q
    scale = 1 / sqrt(w * w + x * x + y * y + z * z)
    return [scale * w, scale * x, scale * y, scale * z]


def scale_vector(number: float, vector: list[float]) -> list[float]:
    return [number * v for v in vector]


def add_vectors(a: list[float], b: list[float]) -> list[float]:
    return [p + q for p, q in zip(a, b, strict=True)]


def bone_axes(skeleton, joint: int) -> list[list[float]]:
    """Return three axes: along the longest bone, across it, and at right angles to both."""
    offsets = [o for o, parent in zip(skeleton.offsets.tolist(), skeleton.parents, strict=True) if parent == joint]
    offsets += [o for o, at in zip(skeleton.end_offsets.tolist(), skeleton.end_joints, strict=True) if at == joint]
    lengths = [x * x + y * y + z * z for x, y, z in offsets]
    candidates = [i for i, square in enumerate(lengths) if 1e-200 < square < 1e200]
    if not candidates:
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    main = max(candidates, key=lambda i: lengths[i])  # the first of equal ones
    bone = [v / sqrt(lengths[main]) for v in offsets[main]]
    smallest = min(range(3), key=lambda i: abs(bone[i]))
    x, y, z = bone
    across = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]][smallest]
    length = sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2])
    a, b, c = (v / length for v in across)
    return [bone, [a, b, c], [y * c - z * b, z * a - x * c, x * b - y * a]]
