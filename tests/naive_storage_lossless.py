"""Lossless groups read number by number, as docs/kps-lossless.md says; no checks, only plain values."""

from __future__ import annotations

import struct
from fractions import Fraction
from math import cos, pi, sin

AXES = "XYZ"


class Bit:
    def __init__(self) -> None:
        self.one, self.seen = 32768, 0

    def learn(self, bit: int) -> None:
        waiting = Fraction(4 + self.seen, 2) if self.seen < 4 else Fraction(self.seen)
        way = (65504 if bit else 32) - self.one
        step = abs(way) * round(65536 / waiting) // 65536
        self.one += step if way >= 0 else -step
        self.seen = min(self.seen + 1, 28)


class Coder:
    def __init__(self, data: bytes) -> None:
        self.data = iter(data)
        self.low, self.high, self.value = 0, 2**32 - 1, 0
        for _ in range(4):
            self.value = self.value * 256 + next(self.data, 0)

    def bit(self, one: int = 32768) -> int:
        middle = self.low + (self.high - self.low) * one // 65536
        bit = int(self.value <= middle)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while self.low >> 24 == self.high >> 24:
            self.low = self.low % 2**24 * 256
            self.high = self.high % 2**24 * 256 + 255
            self.value = self.value % 2**24 * 256 + next(self.data, 0)
        return bit

    def learnt(self, model: dict, name: tuple) -> int:
        learning = model.setdefault(name, Bit())
        bit = self.bit(learning.one)
        learning.learn(bit)
        return bit

    def number(self, model: dict, low: int, before: int) -> int:
        length = 0
        while length + low < 64 and self.learnt(model, ("longer", min(length, 15))):
            length += 1
        digits = [1] if length else []
        if length > 1:
            digits.append(self.learnt(model, ("second", min(length, 7))))
        if length > 2:
            digits.append(self.learnt(model, ("third", min(length, 7), digits[-1])))
        digits += [self.bit() for _ in range(max(length - 3, 0) + low)]
        size = int("".join(map(str, digits)) or "0", 2)
        side = 0 if before == 0 else 1 if before > 0 else 2
        return signed(-size) if size and self.learnt(model, ("negative", side)) else signed(size)


def signed(number: int) -> int:
    """Wrapped around at 2^64."""
    return (number + 2**63) % 2**64 - 2**63


class Numbers:
    """The numbers of the coding, kind by kind."""

    def __init__(self, data: bytes) -> None:
        self.coder, self.models, self.before = Coder(data), {}, {}

    def take(self, kind: str) -> int:
        model = self.models.setdefault(kind, {})
        self.before[kind] = self.coder.number(model, 0, self.before.get(kind, 0))
        return self.before[kind]


class Clip:
    """What all groups share."""

    def __init__(self, skeleton, data: bytes) -> None:
        take = Numbers(data).take
        self.skeleton = skeleton
        self.frame_time = "".join(iter(lambda: chr(take("letter")), "\0"))
        self.apart = take("apart")
        self.joints = [(take("moving"), take("free")) for _ in skeleton.names]
        self.turns = [[c[0] for c in own if c.endswith("rotation")] for own in skeleton.channels]
        sets = []
        for (moving, free), turns in zip(self.joints, self.turns, strict=True):
            sets += [f"{moving:b}".count("1"), 4 if free else len(turns)]
        self.order: list[int] = []  # of coding
        self.columns: list[dict] = []
        for count in sets:
            waiting = [len(self.order) + i for i in range(count)]
            while waiting:
                self.order.append(waiting.pop(take("order") if len(waiting) > 1 else 0))
                self.columns.append(self._column(take))

    def _column(self, take) -> dict:
        c: dict = {"spelling": take("spelling"), "decimals": 0, "scale": 1.0, "zeros": 0}
        if c["spelling"] == 0:
            c["decimals"] = take("decimals")
        if c["spelling"] == 3:
            c["scale"] = spelt({"spelling": 2}, take("scale"))
        if c["spelling"] in (0, 3):
            c["zeros"] = take("zeros")
        c["constant"] = take("value") if take("constant") else None
        if c["constant"] is None:
            c["first size"], c["size"], c["extent"] = take("first size"), take("size"), take("extent")
            c["middle"] = take("middle") * 2 ** max(0, c["extent"] - 3)
            c["wrap"] = 360 * 10 ** c["decimals"] * take("wraps")
            c["digits"], inputs = take("digits"), take("inputs")
            degree = take("degree") if inputs else 0
            c["inputs"], c["degree"] = [take("input") for _ in range(inputs)], degree
            terms = [0, degree + 1, (degree + 1) * (degree + 2) // 2][inputs]
            grain = take("grain") if inputs else 0
            c["chart"] = [take("coefficient") * 2**grain for _ in range(terms)]
            c["lags"] = take("lags")
            c["weights"] = [take("later weight" if k else "weight") for k in range(max(0, c["lags"] - 1))]
            c["helpers"] = [(take("helper"), take("help")) for _ in range(take("helpers"))]
            c["shift"] = take("shift") if c["weights"] or c["helpers"] else 0
        c["row apart"] = [take("apart value") for _ in range(self.apart)]
        return c

    def group(self, body: bytes, frames: int) -> tuple[list, list]:
        """Translations and rotations of a group's frames."""
        coded = iter(wholes([c for c in self.columns if c["constant"] is None], body, frames))
        constants = {i: [c["constant"]] * frames for i, c in enumerate(self.columns) if c["constant"] is not None}
        return self._poses([constants.get(i) or next(coded) for i in range(len(self.columns))], frames)

    def reference(self) -> tuple[list, list]:
        return self._poses([c["row apart"] for c in self.columns], 1)

    def _poses(self, numbers: list[list[int]], rows: int) -> tuple[list, list]:
        columns: dict[int, list[float]] = {}
        for at, c, own in zip(self.order, self.columns, numbers, strict=True):
            columns[at] = [spelt(c, number) for number in own]
        poses = [self._pose([columns[at][row] for at in sorted(columns)]) for row in range(rows)]
        return [translations for translations, _ in poses], [rotations for _, rotations in poses]

    def _pose(self, row: list[float]) -> tuple[list, list]:
        values = iter(row)
        translations, rotations = [], []
        for j, (moving, free) in enumerate(self.joints):
            offset = self.skeleton.offsets[j].tolist()
            translations.append([next(values) if moving >> axis & 1 else offset[axis] for axis in range(3)])
            if free:
                rotations.append([next(values) for _ in range(4)])
            else:
                rotations.append(turned([(axis, next(values)) for axis in self.turns[j]]))
        return translations, rotations


def turned(turns: list[tuple[str, float]]) -> list[float]:
    """The product of turns about axes, as the BVH reader has it."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for axis, degrees in turns:
        if degrees != 0:
            half = degrees * (pi / 360.0)
            c, s = cos(half), sin(half)
            if axis == "X":
                w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
            elif axis == "Y":
                w, x, y, z = w * c - y * s, x * c - z * s, y * c + w * s, z * c + x * s
            else:
                w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
    return [w, x, y, z]


def spelt(column: dict, k: int) -> float:
    """The number of a whole number."""
    if column["spelling"] in (1, 2):
        whole, real, top = ("<I", "<f", 2**31) if column["spelling"] == 1 else ("<Q", "<d", 2**63)
        return struct.unpack(real, struct.pack(whole, k if k >= 0 else -1 - k + top))[0]
    if column["zeros"] and k == -1:
        return -0.0
    k += column["zeros"] and k < 0
    return k * column["scale"] if column["spelling"] == 3 else float(Fraction(k, 10 ** column["decimals"]))


def wholes(columns: list[dict], body: bytes, frames: int) -> list[list[int]]:
    """The whole numbers of each coded column."""
    coder, models = Coder(body), {}
    made: list[list[int]] = []
    missed: list[list[int]] = []
    for c, column in enumerate(columns):
        x, y, misses, before = [], [], [], 0
        mean = (4 + column["size"] % 4) * 2 ** (column["size"] // 4) // 4
        for t in range(frames):
            charted = chart(column, columns, made, c, t)
            sum_ = 2 ** column["shift"] // 2
            for k, weight in enumerate(column["weights"], 1):
                if k < t:
                    sum_ += weight * signed(y[t - k] - y[t - k - 1])
            for back, weight in column["helpers"]:
                sum_ += weight * missed[c - back][t] if t else 0
            level = 0 if column["inputs"] else column["middle"]
            foretold = y[t - 1] if t and column["lags"] else level
            foretold = signed(foretold + signed(sum_) // 2 ** column["shift"] + charted)
            size = column["first size"]
            if t:
                size = min(255, quarters(mean + 1) + (4 if t == 1 and column["lags"] > 1 else 0))
            low = max(0, size // 4 - 5)
            miss = coder.number(models.setdefault(size - 4 * low, {}), low, before)
            base = 10 ** column["digits"] if column["digits"] else 0
            x.append(of_rung(signed(rung(foretold, base) + miss), base))
            y.append(signed(x[-1] - charted))
            misses.append(signed(x[-1] - foretold))
            before = miss
            if t:
                mean = min(mean, 2**59)
                mean += 5 * (16 * min(abs(miss), 2**55) - mean) // 16
        made.append(x)
        missed.append(misses)
    for column, x in zip(columns, made, strict=True):
        if column["wrap"]:
            half = column["wrap"] // 2
            x[:] = [(number + half) % column["wrap"] - half for number in x]
    return made


def chart(column: dict, columns: list[dict], made: list[list[int]], c: int, t: int) -> int:
    """The polynomial of the inputs in the same frame."""
    if not column["inputs"]:
        return 0
    units = []
    for back in column["inputs"]:
        extent = columns[c - back]["extent"]
        off = signed(made[c - back][t] - columns[c - back]["middle"])
        units.append(max(-(2**extent), min(2**extent, off)) * 2**24 // 2**extent)
    powers = []
    for unit in units:
        powers.append([2**24])
        for _ in range(column["degree"]):
            powers[-1].append(powers[-1][-1] * unit // 2**24)
    if len(units) == 1:
        terms = powers[0]
    else:
        a, b = powers
        terms = [a[n - k] * b[k] // 2**24 for n in range(column["degree"] + 1) for k in range(n + 1)]
    return (sum(w * term for w, term in zip(column["chart"], terms, strict=True)) + 2**27) // 2**28


def quarters(number: int) -> int:
    digits = f"{number:b}00"
    return 4 * (number.bit_length() - 1) + int(digits[1:3], 2)


def rung(number: int, base: int) -> int:
    """How many numbers of few digits lie between 0 and this one."""
    if not base:
        return number
    size, counted, step, low = min(abs(number), 2**56), 0, 1, 0
    while size >= base * step:
        counted += (base * step - low) // step
        low, step = base * step, step * 10
    counted += (size - low) // step
    return counted if number >= 0 else -counted


def of_rung(counted: int, base: int) -> int:
    if not base:
        return counted
    size, low, step = abs(counted), 0, 1
    while size >= (base * step - low) // step:
        size -= (base * step - low) // step
        low, step = base * step, step * 10
    return (low + size * step) * (1 if counted >= 0 else -1)
