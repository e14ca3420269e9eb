"""Reference reader of stored motions after docs/kps.md, without checks other than checksums; plain values only.

The lists of names and numbers are parsed from the page itself.
"""

from __future__ import annotations

import re
import struct
import zlib
from fractions import Fraction
from math import cos, floor, pi, sin
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "kps.md").read_text(encoding="utf-8")
SAMPLE, GUESSES, MINUS_ZEROS, EITHER_ZEROS, T_POSE_DEGREES, NAMES = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
NOTE = re.search(r'`usual note`: "(.*?)"', PAGE)[1]
UPS = ("X", "Y", "Z", "-X", "-Y", "-Z")
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
POSITION_CHANNELS = ("Xposition", "Yposition", "Zposition")
CHANNELS = (*POSITION_CHANNELS, "Xrotation", "Yrotation", "Zrotation")
EVEN, RARE = (32768, 0), (2048, 4)


def crc16(data: bytes) -> int:
    """Compute CRC-16 bit by bit."""
    rest = 0xFFFF
    for byte in data:
        rest ^= byte << 8
        for _ in range(8):
            rest = (rest << 1 ^ 0x1021 if rest & 0x8000 else rest << 1) & 0xFFFF
    return rest


def check(data: bytes) -> bytes:
    return crc16(data).to_bytes(2, "little") + zlib.crc32(data).to_bytes(4, "little")[:1]


def bounds(n_frames: int, fps: float) -> list[tuple[int, int]]:
    size = min(max(1, round(Fraction(fps))), 480)
    count = max(1, floor(Fraction(n_frames, size) + Fraction(1, 2)))
    return [(g * size, (g + 1) * size if g < count - 1 else n_frames) for g in range(count)]


class HeaderDecoder:
    """The range decoder of the header, with a bit model for each context."""

    def __init__(self, header: bytes) -> None:
        self.bytes = list(header) + [0, 0, 0, 0]
        self.range, self.code = 2**32 - 1, 0
        for _ in range(4):
            self.code = self.code * 256 + self.bytes.pop(0)
        self.models: dict[str, tuple[int, int]] = {}
        self.texts = b""
        for word in SAMPLE.split():
            before = 0
            for letter in word.encode():
                self.learn_letter(before, letter)
                before = letter_kind(letter)

    def code_interval(self, bound: int) -> int:
        if self.code < bound:
            bit, self.range = 1, bound
        else:
            bit, self.code, self.range = 0, self.code - bound, self.range - bound
        while self.range < 2**24:
            self.range, self.code = self.range * 256, self.code * 256 + self.bytes.pop(0)
        return bit

    def learn(self, name: str, bit: int, start: tuple[int, int]) -> None:
        p, n = self.models.get(name, start)
        p += floor(Fraction(65536 * bit - p, n + 2))
        self.models[name] = (min(max(p, 64), 65472), min(n + 1, 30))

    def learn_letter(self, before: int, letter: int) -> None:
        bits = f"{letter:08b}"
        for k, bit in enumerate(bits):
            self.learn(f"letter/{before}/{int('1' + bits[:k], 2)}", int(bit), EVEN)

    def code_bit(self, name: str, start: tuple[int, int] = EVEN) -> int:
        bit = self.code_interval((self.range >> 16) * self.models.get(name, start)[0])
        self.learn(name, bit, start)
        return bit

    def code_flag(self, name: str) -> int:
        return self.code_bit(name, RARE)

    def code_plain(self, count: int) -> int:
        return int("0" + "".join(str(self.code_interval(self.range >> 1)) for _ in range(count)), 2)

    def code_symbol(self, name: str, count: int) -> int:
        bits = ""
        for _ in range(count):
            bits += str(self.code_bit(f"{name}/{int('1' + bits, 2)}"))
        return int(bits, 2)

    def code_natural(self, name: str, sizes: int = 5) -> int:
        size = self.code_symbol(name, sizes)
        if size == 0:
            return 0
        second = self.code_bit(f"{name}/second/{size}")
        return int(f"1{second}" + (f"{self.code_plain(size - 1):0{size - 1}b}" if size > 1 else ""), 2) - 1

    def code_signed(self, name: str, sizes: int = 5) -> int:
        size = self.code_natural(name, sizes)
        return -size if size and self.code_bit(f"{name}/minus") else size

    def code_near_zero(self, name: str, bits: int, start: tuple[int, int] = (24576, 4)) -> int:
        high = 0
        while high < 6 and self.code_bit(f"{name}/{high}", start):
            high += 1
        size = (high + (self.code_natural(f"{name}/far") if high == 6 else 0)) * 2**bits + self.code_plain(bits)
        return -size if size and self.code_plain(1) else size

    def decimals(self) -> int:
        return self.code_symbol("decimals", 4)

    def number(self, name: str, decimals: int) -> float:
        if self.code_bit(f"{name}/zero"):
            return -0.0 if self.code_flag(f"{name}/minus zero") else 0.0
        if self.code_flag(f"{name}/as bits"):
            return self.bits(name)
        size = float(Fraction(self.code_natural(name, 6) + 1, 10**decimals))
        return -size if self.code_bit(f"{name}/minus") else size

    def bits(self, name: str) -> float:
        if self.code_bit(f"{name}/short"):
            return struct.unpack(">f", self.code_plain(32).to_bytes(4, "big"))[0]
        return struct.unpack(">d", self.code_plain(64).to_bytes(8, "big"))[0]

    def text(self) -> str:
        long, length = self.code_flag("long text"), self.code_natural("letters")
        letters = b""
        if long:
            letters, self.texts = self.texts[:length], self.texts[length:]
        while len(letters) < length:
            letters += bytes([self.code_symbol(f"letter/{letter_kind(letters[-1]) if letters else 0}", 8)])
        return letters.decode("utf-8", "surrogatepass")

    def code_common_number(self, name: str, common: tuple[float, ...]) -> float:
        code = self.code_symbol(name, 3)
        return common[code] if code < 7 else self.number(f"other/{name}", self.decimals())


def letter_kind(letter: int) -> int:
    kinds = ("", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
    return next((k for k, kind in enumerate(kinds) if chr(letter) in kind), 4)


def common_names() -> list[tuple[str, int | None]]:
    """Return the common names with the indices of their parents."""
    names: list[tuple[str, int | None]] = []
    open_parents: list[int] = []
    for token in re.findall(r"[()]|[^()\s]+", NAMES):
        if token == "(":
            open_parents.append(len(names) - 1)
        elif token == ")":
            open_parents.pop()
        else:
            names.append((token, open_parents[-1] if open_parents else None))
    return names


def read_file(data: bytes) -> dict:
    """Return all fields of a file, and the bytes of its groups and blocks."""
    assert data[:4] == b"KPS\x01"
    at, length, shift = 4, 0, 0
    while True:
        length += (data[at] % 128) * 2**shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            break
    header, at = data[at : at + length], at + length
    assert data[at : at + 4] == zlib.crc32(data[:at]).to_bytes(4, "little")
    at += 4
    a = HeaderDecoder(header)
    texts = a.code_natural("bytes of texts") if a.code_flag("texts") else 0
    a.texts = zlib.decompress(header[len(header) - texts :], -15) if texts else b""
    clip = read_header(a)
    blocks = [name for name in ("keys", "swings") if clip[name] is not None]
    checks = header[len(header) - texts - 3 * (len(clip["groups"]) + len(blocks)) : len(header) - texts]
    end = len(header) - texts - len(checks)
    clip["coding"] = header[end - clip["coding"] : end]
    sections = []
    for pose, body in clip["groups"]:
        sections.append((data[at : at + pose], data[at + pose : at + pose + body]))
        at += pose + body
    clip["groups"] = sections
    for g, (pose, body) in enumerate(sections):
        needed = pose + body + (sections[g + 1][0] if g + 1 < len(sections) else b"")
        assert check(needed) == checks[3 * g : 3 * g + 3]
    for k, name in enumerate(blocks, len(sections)):
        clip[name], at = data[at : at + clip[name]], at + clip[name]
        assert check(clip[name]) == checks[3 * k : 3 * k + 3]
    if clip["keys"] is not None:
        clip["keys"] = zlib.decompress(clip["keys"], -15)
    assert at == len(data)
    return clip


def read_header(a: HeaderDecoder) -> dict:
    clip: dict = {"kind": a.code_symbol("kind", 2), "tolerance_mm": None}
    if clip["kind"] == 1:
        clip["tolerance_mm"] = a.code_common_number("tolerance", (1, 0.1, 5, 0.5, 2, 10, 0.01))
    clip["fps"] = a.code_common_number("rate", (30, 60, 120, 24, 25, 50, 100))
    clip["n_frames"] = a.code_natural("frames") + 1
    clip["name"] = a.text()
    clip["up"] = UPS[a.code_symbol("up", 3)] if a.code_flag("not Y up") else "Y"
    unit = a.code_symbol("unit", 2)
    clip["metres_per_unit"] = a.number("other/unit", a.decimals()) if unit == 3 else (None, 1, 0.01)[unit]
    first = a.code_symbol("first frame", 2)
    clip["first_frame"] = first if first < 2 else a.code_signed("other first frame", 6)
    is_cmu = a.code_bit("usual skeleton")
    clip["skeleton"] = bones = cmu_skeleton(a) if is_cmu else skeleton(a)
    clip["reference_pose"] = reference_pose(a, bones, is_cmu) if a.code_bit("reference pose") else None
    clip["notes"] = []
    while a.code_bit("note"):
        if len(clip["notes"]) == 100 and a.code_flag("notes together"):
            clip["notes"] += a.text().split("\0")
            break
        clip["notes"].append(NOTE if a.code_bit("usual note") else a.text())
    for name in ("keys", "swings"):
        clip[name] = a.code_natural(f"{name}/bytes") if a.code_flag(name) else None
    clip["coding"] = a.code_natural("coding")
    count = len(bounds(clip["n_frames"], clip["fps"])) if clip["kind"] else 0
    clip["groups"] = list(zip(lengths(a, "pose", count, 40, 8), lengths(a, "body", count, 400, 256), strict=True))
    return clip


def lengths(a: HeaderDecoder, name: str, count: int, guess: int, deviation: int) -> list[int]:
    result: list[int] = []
    for g in range(count):
        difference = a.code_near_zero(name, max(0, len(f"{deviation // (g + 1):b}") - 1))
        result.append(guess + difference)
        guess, deviation = floor(Fraction(sum(result), len(result))), deviation + (abs(difference) if g else 0)
    return result


def skeleton(a: HeaderDecoder) -> dict:
    count = a.code_natural("joints") + 1
    prefix = a.text() if a.code_flag("prefix") else ""
    common = common_names()
    names, parents, joint_by_index = [], [], {}
    index, kind = -1, 0
    for j in range(count):
        kind, expected = a.code_symbol(f"name/{kind}", 2), j - 1
        if kind == 3:
            names.append(prefix + a.text())
        else:
            index = a.code_plain(9) if kind == 2 else index + 1 if kind == 0 else index + a.code_natural("ahead") + 2
            name, parent = common[index]
            names.append(prefix + name)
            expected = joint_by_index.get(parent, expected)
            joint_by_index[index] = j
        if a.code_flag("other parent"):
            back = a.code_natural("back to the parent")
            expected = j - back if back else -1
        parents.append(expected)
    orders, channels, kind = [], [], 0
    for j in range(count):
        orders.append(orders[-1] if j and not a.code_flag("other order") else ORDERS[a.code_symbol("order", 3)])
        rotation_channels = tuple(f"{axis}rotation" for axis in orders[-1])
        kind = a.code_symbol(f"channels/{int(parents[j] < 0)}/{kind}", 2)
        if kind == 3:
            channels.append(tuple(CHANNELS[a.code_symbol("channel", 3)] for _ in range(a.code_symbol("channels", 3))))
        else:
            channels.append((rotation_channels, POSITION_CHANNELS + rotation_channels, ())[kind])
    if a.code_flag("end sites in another order"):
        ends = [a.code_plain(count.bit_length()) for _ in range(a.code_natural("end sites"))]
    else:
        ends = []
        for j in range(count):
            default = int(j not in parents)
            ends += [j] * (a.code_natural("end sites") if a.code_flag(f"other end sites/{default}") else default)
    rows = vectors(a, count + len(ends))
    return {"names": names, "parents": parents, "orders": orders, "channels": channels, "ends": ends,
            "offsets": rows[:count], "end_offsets": rows[count:]}  # fmt: skip


def vectors(a: HeaderDecoder, count: int) -> list[list[float]]:
    decimals = a.decimals()
    rows: list[list[float]] = []
    like = back = 0
    for i in range(count):
        like = a.code_bit(f"like/{like}")
        if like and not a.code_bit("as far back"):
            back = a.code_natural("back") + 1
        row: list[float] = []
        for axis in range(3):
            relation = a.code_symbol(f"relation/{axis}", 2) if like else 2
            if relation < 2:
                row.append(rows[i - back][axis] if relation == 0 else -rows[i - back][axis])
            else:
                row.append(a.number(f"vector/{axis}/{int(row[-1] == 0) if row else 'first'}", decimals))
        rows.append(row)
    return rows


def cmu_skeleton(a: HeaderDecoder) -> dict:
    common = common_names()[:31]
    parents = [-1 if parent is None else parent for _, parent in common]
    names = [name for name, _ in common]
    ends = [j for j in range(31) if j not in parents]
    rotation_channels = ("Zrotation", "Yrotation", "Xrotation")
    integers: dict[str, int] = {}
    values: dict[str, float] = {}
    for row in GUESSES.split(","):
        number, guess, bits = row.split()
        factor, _, source = guess.partition("*")
        integers[number] = floor(Fraction(factor) * (integers[source] if source else 100_000) + Fraction(1, 2))
        integers[number] += (
            a.code_near_zero("near", int(bits)) if int(bits) else a.code_near_zero("exact", 0, (8192, 3))
        )
        values[number] = float(Fraction(integers[number], 100_000))
        if integers[number] == 0 and a.code_bit("minus zero"):
            values[number] = -0.0
    values.update(dict.fromkeys(MINUS_ZEROS.split(), -0.0))
    before = 0
    for number in EITHER_ZEROS.split():
        before = a.code_bit(f"either zero/{before}")
        values[number] = -0.0 if before else 0.0
    rows = [[values.get(f"{name}.{axis}", 0.0) for axis in "xyz"] for name in names + [f"{names[j]}_End" for j in ends]]
    return {"names": names, "parents": parents, "orders": ["ZYX"] * 31, "channels": [POSITION_CHANNELS + rotation_channels] + [rotation_channels] * 30,
            "ends": ends, "offsets": rows[:31], "end_offsets": rows[31:]}  # fmt: skip


def reference_pose(a: HeaderDecoder, bones: dict, is_cmu: int) -> dict:
    translations = [list(row) for row in bones["offsets"]]
    moved_joints = [
        j
        for j, parent in enumerate(bones["parents"])
        if a.code_bit(f"moved/{int(parent < 0)}", EVEN if parent < 0 else RARE)
    ]
    for j, row in zip(moved_joints, vectors(a, len(moved_joints)) if moved_joints else [], strict=True):
        translations[j] = row
    if is_cmu and a.code_bit("usual turns"):
        t_pose = {
            row.split()[0]: [float(angle) for angle in row.split()[1:]] for row in T_POSE_DEGREES.strip().splitlines()
        }
        rotations = [quaternion(t_pose.get(name, [0, 0, 0]), "ZYX") for name in bones["names"]]
        return {"translations": translations, "rotations": rotations}
    decimals, rotations, before = a.decimals(), [], 0
    for order in bones["orders"]:
        before = a.code_bit(f"turned/{before}")
        if before and a.code_flag("as quaternion"):
            rotations.append([a.bits("quaternion") for _ in range(4)])
        else:
            rotations.append(quaternion([a.number(f"angle/{k}", decimals) if before else 0 for k in range(3)], order))
    return {"translations": translations, "rotations": rotations}


def quaternion(angles: list[float], order: str) -> list[float]:
    q = [1.0, 0.0, 0.0, 0.0]
    for angle, axis in zip(angles, order, strict=True):
        if angle:
            factor = [cos(angle * pi / 360), 0.0, 0.0, 0.0]
            factor[1 + "XYZ".index(axis)] = sin(angle * pi / 360)
            q = multiply(q, factor)
    return q


def multiply(p: list[float], q: list[float]) -> list[float]:
    a, b, c, d = p
    e, f, g, h = q
    return [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e]  # fmt: skip
