"""A stored motion taken apart as docs/kps.md says; no checks but checksums, only plain values.

The lists of names and numbers are those of the page itself.
"""

from __future__ import annotations

import re
import struct
import zlib
from fractions import Fraction
from math import cos, floor, pi, sin
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "kps.md").read_text(encoding="utf-8")
SAMPLE, GUESSES, MINUS_ZEROS, EITHER_ZEROS, TURNED, NAMES = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
NOTE = re.search(r'`usual note`: "(.*?)"', PAGE)[1]
UPS = ("X", "Y", "Z", "-X", "-Y", "-Z")
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
PLACES = ("Xposition", "Yposition", "Zposition")
CHANNELS = (*PLACES, "Xrotation", "Yrotation", "Zrotation")
EVEN, RARE = (32768, 0), (2048, 4)


def crc16(data: bytes) -> int:
    """Bit by bit."""
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


class Answers:
    """The reader of the header: a range, a code, and what is known of each question."""

    def __init__(self, header: bytes) -> None:
        self.bytes = list(header) + [0, 0, 0, 0]
        self.range, self.code = 2**32 - 1, 0
        for _ in range(4):
            self.code = self.code * 256 + self.bytes.pop(0)
        self.known: dict[str, tuple[int, int]] = {}
        self.texts = b""
        for word in SAMPLE.split():
            before = 0
            for letter in word.encode():
                self.learn_letter(before, letter)
                before = letter_kind(letter)

    def split(self, bound: int) -> int:
        if self.code < bound:
            answer, self.range = 1, bound
        else:
            answer, self.code, self.range = 0, self.code - bound, self.range - bound
        while self.range < 2**24:
            self.range, self.code = self.range * 256, self.code * 256 + self.bytes.pop(0)
        return answer

    def learn(self, name: str, answer: int, start: tuple[int, int]) -> None:
        p, n = self.known.get(name, start)
        p += floor(Fraction(65536 * answer - p, n + 2))
        self.known[name] = (min(max(p, 64), 65472), min(n + 1, 30))

    def learn_letter(self, before: int, letter: int) -> None:
        bits = f"{letter:08b}"
        for k, bit in enumerate(bits):
            self.learn(f"letter/{before}/{int('1' + bits[:k], 2)}", int(bit), EVEN)

    def answer(self, name: str, start: tuple[int, int] = EVEN) -> int:
        answer = self.split((self.range >> 16) * self.known.get(name, start)[0])
        self.learn(name, answer, start)
        return answer

    def flag(self, name: str) -> int:
        return self.answer(name, RARE)

    def plain(self, count: int) -> int:
        return int("0" + "".join(str(self.split(self.range >> 1)) for _ in range(count)), 2)

    def choice(self, name: str, count: int) -> int:
        bits = ""
        for _ in range(count):
            bits += str(self.answer(f"{name}/{int('1' + bits, 2)}"))
        return int(bits, 2)

    def whole(self, name: str, sizes: int = 5) -> int:
        size = self.choice(name, sizes)
        if size == 0:
            return 0
        second = self.answer(f"{name}/second/{size}")
        return int(f"1{second}" + (f"{self.plain(size - 1):0{size - 1}b}" if size > 1 else ""), 2) - 1

    def signed(self, name: str, sizes: int = 5) -> int:
        size = self.whole(name, sizes)
        return -size if size and self.answer(f"{name}/minus") else size

    def near(self, name: str, bits: int, start: tuple[int, int] = (24576, 4)) -> int:
        high = 0
        while high < 6 and self.answer(f"{name}/{high}", start):
            high += 1
        size = (high + (self.whole(f"{name}/far") if high == 6 else 0)) * 2**bits + self.plain(bits)
        return -size if size and self.plain(1) else size

    def decimals(self) -> int:
        return self.choice("decimals", 4)

    def number(self, name: str, decimals: int) -> float:
        if self.answer(f"{name}/zero"):
            return -0.0 if self.flag(f"{name}/minus zero") else 0.0
        if self.flag(f"{name}/as bits"):
            return self.bits(name)
        size = float(Fraction(self.whole(name, 6) + 1, 10**decimals))
        return -size if self.answer(f"{name}/minus") else size

    def bits(self, name: str) -> float:
        if self.answer(f"{name}/short"):
            return struct.unpack(">f", self.plain(32).to_bytes(4, "big"))[0]
        return struct.unpack(">d", self.plain(64).to_bytes(8, "big"))[0]

    def text(self) -> str:
        long, length = self.flag("long text"), self.whole("letters")
        letters = b""
        if long:
            letters, self.texts = self.texts[:length], self.texts[length:]
        while len(letters) < length:
            letters += bytes([self.choice(f"letter/{letter_kind(letters[-1]) if letters else 0}", 8)])
        return letters.decode("utf-8", "surrogatepass")

    def one_of(self, name: str, usual: tuple[float, ...]) -> float:
        found = self.choice(name, 3)
        return usual[found] if found < 7 else self.number(f"other/{name}", self.decimals())


def letter_kind(letter: int) -> int:
    kinds = ("", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
    return next((k for k, kind in enumerate(kinds) if chr(letter) in kind), 4)


def usual_names() -> list[tuple[str, int | None]]:
    """Names with the places of their parents."""
    found: list[tuple[str, int | None]] = []
    above: list[int] = []
    for token in re.findall(r"[()]|[^()\s]+", NAMES):
        if token == "(":
            above.append(len(found) - 1)
        elif token == ")":
            above.pop()
        else:
            found.append((token, above[-1] if above else None))
    return found


def read(data: bytes) -> dict:
    """All that a file says, and the bytes of its groups and blocks."""
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
    a = Answers(header)
    texts = a.whole("bytes of texts") if a.flag("texts") else 0
    a.texts = zlib.decompress(header[len(header) - texts :], -15) if texts else b""
    clip = read_clip(a)
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


def read_clip(a: Answers) -> dict:
    clip: dict = {"kind": a.choice("kind", 2), "tolerance_mm": None}
    if clip["kind"] == 1:
        clip["tolerance_mm"] = a.one_of("tolerance", (1, 0.1, 5, 0.5, 2, 10, 0.01))
    clip["fps"] = a.one_of("rate", (30, 60, 120, 24, 25, 50, 100))
    clip["n_frames"] = a.whole("frames") + 1
    clip["name"] = a.text()
    clip["up"] = UPS[a.choice("up", 3)] if a.flag("not Y up") else "Y"
    unit = a.choice("unit", 2)
    clip["metres_per_unit"] = a.number("other/unit", a.decimals()) if unit == 3 else (None, 1, 0.01)[unit]
    first = a.choice("first frame", 2)
    clip["first_frame"] = first if first < 2 else a.signed("other first frame", 6)
    is_cmu = a.answer("usual skeleton")
    clip["skeleton"] = bones = cmu_skeleton(a) if is_cmu else skeleton(a)
    clip["reference_pose"] = reference_pose(a, bones, is_cmu) if a.answer("reference pose") else None
    clip["notes"] = []
    while a.answer("note"):
        if len(clip["notes"]) == 100 and a.flag("notes together"):
            clip["notes"] += a.text().split("\0")
            break
        clip["notes"].append(NOTE if a.answer("usual note") else a.text())
    for name in ("keys", "swings"):
        clip[name] = a.whole(f"{name}/bytes") if a.flag(name) else None
    clip["coding"] = a.whole("coding")
    count = len(bounds(clip["n_frames"], clip["fps"])) if clip["kind"] else 0
    clip["groups"] = list(zip(lengths(a, "pose", count, 40, 8), lengths(a, "body", count, 400, 256), strict=True))
    return clip


def lengths(a: Answers, name: str, count: int, guess: int, d: int) -> list[int]:
    found: list[int] = []
    for g in range(count):
        more = a.near(name, max(0, len(f"{d // (g + 1):b}") - 1))
        found.append(guess + more)
        guess, d = floor(Fraction(sum(found), len(found))), d + (abs(more) if g else 0)
    return found


def skeleton(a: Answers) -> dict:
    count = a.whole("joints") + 1
    prefix = a.text() if a.flag("prefix") else ""
    listed = usual_names()
    names, parents, holders = [], [], {}
    place, kind = -1, 0
    for j in range(count):
        kind, expected = a.choice(f"name/{kind}", 2), j - 1
        if kind == 3:
            names.append(prefix + a.text())
        else:
            place = a.plain(9) if kind == 2 else place + 1 if kind == 0 else place + a.whole("ahead") + 2
            name, parent = listed[place]
            names.append(prefix + name)
            expected = holders.get(parent, expected)
            holders[place] = j
        if a.flag("other parent"):
            back = a.whole("back to the parent")
            expected = j - back if back else -1
        parents.append(expected)
    orders, channels, kind = [], [], 0
    for j in range(count):
        orders.append(orders[-1] if j and not a.flag("other order") else ORDERS[a.choice("order", 3)])
        turns = tuple(f"{axis}rotation" for axis in orders[-1])
        kind = a.choice(f"channels/{int(parents[j] < 0)}/{kind}", 2)
        if kind == 3:
            channels.append(tuple(CHANNELS[a.choice("channel", 3)] for _ in range(a.choice("channels", 3))))
        else:
            channels.append((turns, PLACES + turns, ())[kind])
    if a.flag("end sites in another order"):
        ends = [a.plain(count.bit_length()) for _ in range(a.whole("end sites"))]
    else:
        ends = []
        for j in range(count):
            usual = int(j not in parents)
            ends += [j] * (a.whole("end sites") if a.flag(f"other end sites/{usual}") else usual)
    rows = vectors(a, count + len(ends))
    return {"names": names, "parents": parents, "orders": orders, "channels": channels, "ends": ends,
            "offsets": rows[:count], "end_offsets": rows[count:]}  # fmt: skip


def vectors(a: Answers, count: int) -> list[list[float]]:
    decimals = a.decimals()
    rows: list[list[float]] = []
    like = back = 0
    for i in range(count):
        like = a.answer(f"like/{like}")
        if like and not a.answer("as far back"):
            back = a.whole("back") + 1
        row: list[float] = []
        for axis in range(3):
            relation = a.choice(f"relation/{axis}", 2) if like else 2
            if relation < 2:
                row.append(rows[i - back][axis] if relation == 0 else -rows[i - back][axis])
            else:
                row.append(a.number(f"vector/{axis}/{int(row[-1] == 0) if row else 'first'}", decimals))
        rows.append(row)
    return rows


def cmu_skeleton(a: Answers) -> dict:
    listed = usual_names()[:31]
    parents = [-1 if parent is None else parent for _, parent in listed]
    names = [name for name, _ in listed]
    ends = [j for j in range(31) if j not in parents]
    turns = ("Zrotation", "Yrotation", "Xrotation")
    wholes: dict[str, int] = {}
    found: dict[str, float] = {}
    for row in GUESSES.split(","):
        number, guess, bits = row.split()
        factor, _, source = guess.partition("*")
        wholes[number] = floor(Fraction(factor) * (wholes[source] if source else 100_000) + Fraction(1, 2))
        wholes[number] += a.near("near", int(bits)) if int(bits) else a.near("exact", 0, (8192, 3))
        found[number] = float(Fraction(wholes[number], 100_000))
        if wholes[number] == 0 and a.answer("minus zero"):
            found[number] = -0.0
    found.update(dict.fromkeys(MINUS_ZEROS.split(), -0.0))
    before = 0
    for number in EITHER_ZEROS.split():
        before = a.answer(f"either zero/{before}")
        found[number] = -0.0 if before else 0.0
    rows = [[found.get(f"{name}.{axis}", 0.0) for axis in "xyz"] for name in names + [f"{names[j]}_End" for j in ends]]
    return {"names": names, "parents": parents, "orders": ["ZYX"] * 31, "channels": [PLACES + turns] + [turns] * 30,
            "ends": ends, "offsets": rows[:31], "end_offsets": rows[31:]}  # fmt: skip


def reference_pose(a: Answers, bones: dict, is_cmu: int) -> dict:
    places = [list(row) for row in bones["offsets"]]
    moved = [
        j
        for j, parent in enumerate(bones["parents"])
        if a.answer(f"moved/{int(parent < 0)}", EVEN if parent < 0 else RARE)
    ]
    for j, row in zip(moved, vectors(a, len(moved)) if moved else [], strict=True):
        places[j] = row
    if is_cmu and a.answer("usual turns"):
        turned = {row.split()[0]: [float(angle) for angle in row.split()[1:]] for row in TURNED.strip().splitlines()}
        turns = [quaternion(turned.get(name, [0, 0, 0]), "ZYX") for name in bones["names"]]
        return {"translations": places, "rotations": turns}
    decimals, turns, before = a.decimals(), [], 0
    for order in bones["orders"]:
        before = a.answer(f"turned/{before}")
        if before and a.flag("as quaternion"):
            turns.append([a.bits("quaternion") for _ in range(4)])
        else:
            turns.append(quaternion([a.number(f"angle/{k}", decimals) if before else 0 for k in range(3)], order))
    return {"translations": places, "rotations": turns}


def quaternion(angles: list[float], order: str) -> list[float]:
    q = [1.0, 0.0, 0.0, 0.0]
    for angle, axis in zip(angles, order, strict=True):
        if angle:
            turn = [cos(angle * pi / 360), 0.0, 0.0, 0.0]
            turn[1 + "XYZ".index(axis)] = sin(angle * pi / 360)
            q = times(q, turn)
    return q


def times(p: list[float], q: list[float]) -> list[float]:
    a, b, c, d = p
    e, f, g, h = q
    return [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e]  # fmt: skip
