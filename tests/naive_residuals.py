"""Residuals of a section read one by one, with all that is learnt on the way, as docs/kps-coding.md says."""

from __future__ import annotations

from functools import cache
from math import floor, sqrt

from naive_range_coder import Model, Reader


class Section:
    """The residuals of a pose or of a body, and all that is learnt on the way."""

    def __init__(self, clip, data: bytes) -> None:
        self.clip, self.reader = clip, Reader(data)
        self.sizes = {c: [Model(one, 20, 32) for one in starts(c)] for c in range(128)}
        self.signs = [Model(seen=20, limit=32) for _ in range(3)]
        self.averages = {}
        for level, prior in enumerate(clip.level_priors):
            for k, track in enumerate(clip.tracks):
                half, odd = divmod(max(-16, min(40, track["prior"] + prior)), 2)
                base = 362 if odd else 256
                self.averages[level, k] = max(1, base << half if half >= 0 else base >> -half)
        self.learnt = [0] * 11  # frames of each level
        self.before: dict[tuple[int, int], list[list[int]]] = {}  # residuals of each level and stride, frame by frame

    def frame(self, level: int, stride: int) -> list[int]:
        residuals: list[int] = []
        averages: list[int] = []  # before they learn from this frame
        earlier = self.before.setdefault((level, stride), [])
        for k in range(len(self.clip.tracks)):
            average = self.averages[level, k]
            found, expected = 128, 128
            for other, own in self._beside(k):
                found += size_of(residuals[other])
                expected += averages[other] if own else self.averages[level, other]
            found = min(found, 8 * expected)
            parts = [(2, average), (6, average * found // expected)]
            parts += [(2, size_of(earlier[-1][k]))] if len(earlier) >= 1 else []
            parts += [(1, size_of(earlier[-2][k]))] if len(earlier) >= 2 else []
            size = sum(w * part for w, part in parts) // sum(w for w, _ in parts)
            residual = self._residual(size, earlier[-1][k] if earlier else 0)
            residuals.append(residual)
            averages.append(average)
            way = size_of(residual) - average
            step = abs(way) // (min(self.learnt[level], 16) + 6)
            self.averages[level, k] += step if way > 0 else -step
        earlier.append(residuals)
        self.learnt[level] += 1
        return residuals

    def _beside(self, track: int) -> list[tuple[int, bool]]:
        """The tracks that tell how large this one is, and whether they are of the same joint."""
        joint_of = [t["joint"] for t in self.clip.tracks]
        joint = joint_of[track]
        above = self.clip.skeleton.parents[joint]
        while above >= 0 and above not in joint_of:
            above = self.clip.skeleton.parents[above]
        return [(k, joint_of[k] == joint) for k in range(track) if joint_of[k] in (above, joint)]

    def _residual(self, expected: int, before: int) -> int:
        models = self.sizes[class_of(expected)]
        bit = self.reader.bit
        chosen = 0
        while chosen < 59 and bit(models[chosen]):
            chosen += 1
        size = begin(chosen)
        for digit in reversed(range(width(chosen).bit_length() - 1)):
            size += bit() << digit
        sign = self.signs[0 if before == 0 else 1 if before > 0 else 2]
        return -size if size and bit(sign) else size


def size_of(residual: int) -> int:
    return 256 * min(abs(residual), 2**20)


def class_of(expected: int) -> int:
    expected = max(4, min(expected, 2**34 - 1))
    digits = expected.bit_length()
    return 4 * (digits - 3) + (expected >> digits - 3) % 4


def begin(chosen: int) -> int:
    return chosen if chosen < 2 else 2 + chosen % 2 << chosen // 2 - 1


def width(chosen: int) -> int:
    return 1 if chosen < 2 else 1 << chosen // 2 - 1


@cache
def starts(class_: int) -> tuple[int, ...]:
    """How likely each bin is passed at first."""
    middle = (4 + class_ % 4 + 0.5) * 2.0 ** (class_ // 4) / 256
    factor = (sqrt(1 + middle * middle) - 1) / middle
    passed = []
    for chosen in range(60):
        likely = factor
        if chosen == 0:
            likely = 2 * factor / (1 + factor)
        for _ in range(width(chosen).bit_length() - 1):
            likely *= likely
        passed.append(max(96, min(65440, floor(likely * 65536 + 0.5))))
    return tuple(passed)
