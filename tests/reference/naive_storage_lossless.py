"""Reference decoder of lossless groups after docs/kps-lossless.md; no checks, only plain values."""

from __future__ import annotations

import struct
from fractions import Fraction
from math import cos, pi, sin

AXES = "XYZ"


class BitModel:
    def __init__(self) -> None:
        self.probability, self.count = 32768, 0

    def learn(self, bit: int) -> None:
        divisor = Fraction(4 + self.count, 2) if self.count < 4 else Fraction(self.count)
        difference = (65504 if bit else 32) - self.probability
        step = abs(difference) * round(65536 / divisor) // 65536
        self.probability += step if difference >= 0 else -step
        self.count = min(self.count + 1, 28)


class RangeDecoder:
    def __init__(self, data: bytes) -> None:
        self.data = iter(data)
        self.low, self.high, self.value = 0, 2**32 - 1, 0
        for _ in range(4):
            self.value = self.value * 256 + next(self.data, 0)

    def read_bit(self, probability: int = 32768) -> int:
        middle = self.low + (self.high - self.low) * probability // 65536
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

    def read_adaptive_bit(self, model: dict, name: tuple) -> int:
        bit_model = model.setdefault(name, BitModel())
        bit = self.read_bit(bit_model.probability)
        bit_model.learn(bit)
        return bit

    def read_number(self, model: dict, low: int, before: int) -> int:
        length = 0
        while length + low < 64 and self.read_adaptive_bit(model, ("longer", min(length, 15))):
            length += 1
        digits = [1] if length else []
        if length > 1:
            digits.append(self.read_adaptive_bit(model, ("second", min(length, 7))))
        if length > 2:
            digits.append(self.read_adaptive_bit(model, ("third", min(length, 7), digits[-1])))
        digits += [self.read_bit() for _ in range(max(length - 3, 0) + low)]
        size = int("".join(map(str, digits)) or "0", 2)
        side = 0 if before == 0 else 1 if before > 0 else 2
        return wrap_int64(-size) if size and self.read_adaptive_bit(model, ("negative", side)) else wrap_int64(size)


def wrap_int64(number: int) -> int:
    """Wrap a number to 64 bits, signed."""
    return (number + 2**63) % 2**64 - 2**63


class IntegerReader:
    """Reads the integers of the parameters, each kind with its own model."""

    def __init__(self, data: bytes) -> None:
        self.coder, self.models, self.before = RangeDecoder(data), {}, {}

    def read(self, kind: str) -> int:
        model = self.models.setdefault(kind, {})
        self.before[kind] = self.coder.read_number(model, 0, self.before.get(kind, 0))
        return self.before[kind]


class LosslessClip:
    """The parameters shared by all groups."""

    def __init__(self, skeleton, data: bytes) -> None:
        read = IntegerReader(data).read
        self.skeleton = skeleton
        self.frame_time = "".join(iter(lambda: chr(read("letter")), "\0"))
        self.n_reference_rows = read("apart")
        self.joints = [(read("moving"), read("free")) for _ in skeleton.names]
        self.rotation_axes = [[c[0] for c in own if c.endswith("rotation")] for own in skeleton.channels]
        sets = []
        for (moving, free), axes in zip(self.joints, self.rotation_axes, strict=True):
            sets += [f"{moving:b}".count("1"), 4 if free else len(axes)]
        self.order: list[int] = []  # of coding
        self.columns: list[dict] = []
        for count in sets:
            remaining = [len(self.order) + i for i in range(count)]
            while remaining:
                self.order.append(remaining.pop(read("order") if len(remaining) > 1 else 0))
                self.columns.append(self._column(read))

    def _column(self, read) -> dict:
        c: dict = {"spelling": read("spelling"), "decimals": 0, "scale": 1.0, "zeros": 0}
        if c["spelling"] == 0:
            c["decimals"] = read("decimals")
        if c["spelling"] == 3:
            c["scale"] = to_float({"spelling": 2}, read("scale"))
        if c["spelling"] in (0, 3):
            c["zeros"] = read("zeros")
        c["constant"] = read("value") if read("constant") else None
        if c["constant"] is None:
            c["first size"], c["size"], c["extent"] = read("first size"), read("size"), read("extent")
            c["middle"] = read("middle") * 2 ** max(0, c["extent"] - 3)
            c["wrap"] = 360 * 10 ** c["decimals"] * read("wraps")
            c["digits"], inputs = read("digits"), read("inputs")
            degree = read("degree") if inputs else 0
            c["inputs"], c["degree"] = [read("input") for _ in range(inputs)], degree
            terms = [0, degree + 1, (degree + 1) * (degree + 2) // 2][inputs]
            coefficient_shift = read("grain") if inputs else 0
            c["chart"] = [read("coefficient") * 2**coefficient_shift for _ in range(terms)]
            c["lags"] = read("lags")
            c["weights"] = [read("later weight" if k else "weight") for k in range(max(0, c["lags"] - 1))]
            c["helpers"] = [(read("helper"), read("help")) for _ in range(read("helpers"))]
            c["shift"] = read("shift") if c["weights"] or c["helpers"] else 0
        c["row apart"] = [read("apart value") for _ in range(self.n_reference_rows)]
        return c

    def group(self, body: bytes, frames: int) -> tuple[list, list]:
        """Return the translations and rotations of a group's frames."""
        coded_columns = iter(decode_columns([c for c in self.columns if c["constant"] is None], body, frames))
        constants = {i: [c["constant"]] * frames for i, c in enumerate(self.columns) if c["constant"] is not None}
        return self._poses([constants.get(i) or next(coded_columns) for i in range(len(self.columns))], frames)

    def reference(self) -> tuple[list, list]:
        return self._poses([c["row apart"] for c in self.columns], 1)

    def _poses(self, numbers: list[list[int]], rows: int) -> tuple[list, list]:
        columns: dict[int, list[float]] = {}
        for at, c, integers in zip(self.order, self.columns, numbers, strict=True):
            columns[at] = [to_float(c, number) for number in integers]
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
                rotations.append(rotation_product([(axis, next(values)) for axis in self.rotation_axes[j]]))
        return translations, rotations


def rotation_product(rotations: list[tuple[str, float]]) -> list[float]:
    """Return the product of rotations about axes, as in the BVH reader."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for axis, degrees in rotations:
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


def to_float(column: dict, k: int) -> float:
    """Return the float of an integer."""
    if column["spelling"] in (1, 2):
        integer_format, float_format, top = ("<I", "<f", 2**31) if column["spelling"] == 1 else ("<Q", "<d", 2**63)
        return struct.unpack(float_format, struct.pack(integer_format, k if k >= 0 else -1 - k + top))[0]
    if column["zeros"] and k == -1:
        return -0.0
    k += column["zeros"] and k < 0
    return k * column["scale"] if column["spelling"] == 3 else float(Fraction(k, 10 ** column["decimals"]))


def decode_columns(columns: list[dict], body: bytes, frames: int) -> list[list[int]]:
    """Decode the integers of each coded column."""
    coder, models = RangeDecoder(body), {}
    decoded: list[list[int]] = []
    errors: list[list[int]] = []
    for c, column in enumerate(columns):
        x, y, column_errors, before = [], [], [], 0
        mean = (4 + column["size"] % 4) * 2 ** (column["size"] // 4) // 4
        for t in range(frames):
            polynomial = evaluate_polynomial(column, columns, decoded, c, t)
            sum_ = 2 ** column["shift"] // 2
            for k, weight in enumerate(column["weights"], 1):
                if k < t:
                    sum_ += weight * wrap_int64(y[t - k] - y[t - k - 1])
            for back, weight in column["helpers"]:
                sum_ += weight * errors[c - back][t] if t else 0
            level = 0 if column["inputs"] else column["middle"]
            prediction = y[t - 1] if t and column["lags"] else level
            prediction = wrap_int64(prediction + wrap_int64(sum_) // 2 ** column["shift"] + polynomial)
            size = column["first size"]
            if t:
                size = min(255, quarter_log2(mean + 1) + (4 if t == 1 and column["lags"] > 1 else 0))
            low = max(0, size // 4 - 5)
            error = coder.read_number(models.setdefault(size - 4 * low, {}), low, before)
            base = 10 ** column["digits"] if column["digits"] else 0
            x.append(number_of_rank(wrap_int64(decimal_rank(prediction, base) + error), base))
            y.append(wrap_int64(x[-1] - polynomial))
            column_errors.append(wrap_int64(x[-1] - prediction))
            before = error
            if t:
                mean = min(mean, 2**59)
                mean += 5 * (16 * min(abs(error), 2**55) - mean) // 16
        decoded.append(x)
        errors.append(column_errors)
    for column, x in zip(columns, decoded, strict=True):
        if column["wrap"]:
            half = column["wrap"] // 2
            x[:] = [(number + half) % column["wrap"] - half for number in x]
    return decoded


def evaluate_polynomial(column: dict, columns: list[dict], decoded: list[list[int]], c: int, t: int) -> int:
    """Return the polynomial of the inputs in the same frame."""
    if not column["inputs"]:
        return 0
    inputs = []
    for back in column["inputs"]:
        extent = columns[c - back]["extent"]
        off = wrap_int64(decoded[c - back][t] - columns[c - back]["middle"])
        inputs.append(max(-(2**extent), min(2**extent, off)) * 2**24 // 2**extent)
    powers = []
    for value in inputs:
        powers.append([2**24])
        for _ in range(column["degree"]):
            powers[-1].append(powers[-1][-1] * value // 2**24)
    if len(inputs) == 1:
        terms = powers[0]
    else:
        a, b = powers
        terms = [a[n - k] * b[k] // 2**24 for n in range(column["degree"] + 1) for k in range(n + 1)]
    return (sum(w * term for w, term in zip(column["chart"], terms, strict=True)) + 2**27) // 2**28


def quarter_log2(number: int) -> int:
    digits = f"{number:b}00"
    return 4 * (number.bit_length() - 1) + int(digits[1:3], 2)


def decimal_rank(number: int, base: int) -> int:
    """Return the rank of a number among those with few significant digits."""
    if not base:
        return number
    size, rank, step, low = min(abs(number), 2**56), 0, 1, 0
    while size >= base * step:
        rank += (base * step - low) // step
        low, step = base * step, step * 10
    rank += (size - low) // step
    return rank if number >= 0 else -rank


def number_of_rank(rank: int, base: int) -> int:
    if not base:
        return rank
    size, low, step = abs(rank), 0, 1
    while size >= (base * step - low) // step:
        size -= (base * step - low) // step
        low, step = base * step, step * 10
    return (low + size * step) * (1 if rank >= 0 else -1)
