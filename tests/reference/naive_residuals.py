"""Reference decoder of the residuals of a section after docs/kps-coding.md."""

from __future__ import annotations

from functools import cache
from math import floor, sqrt

from reference.naive_range_coder import BitModel, RangeDecoder


class ResidualReader:
    """Reads the residuals of a pose or a body, with adaptive models and averages."""

    def __init__(self, clip, data: bytes) -> None:
        self.clip, self.reader = clip, RangeDecoder(data)
        self.sizes = {c: [BitModel(one, 20, 32) for one in initial_probabilities(c)] for c in range(128)}
        self.signs = [BitModel(count=20, limit=32) for _ in range(3)]
        self.averages = {}
        for level, prior in enumerate(clip.level_priors):
            for k, track in enumerate(clip.tracks):
                half, odd = divmod(max(-16, min(40, track["prior"] + prior)), 2)
                base = 362 if odd else 256
                self.averages[level, k] = max(1, base << half if half >= 0 else base >> -half)
        self.frame_counts = [0] * 11  # frames of each level
        self.previous: dict[tuple[int, int], list[list[int]]] = {}  # residuals of each level and stride, frame by frame

    def read_frame(self, level: int, stride: int) -> list[int]:
        residuals: list[int] = []
        averages: list[int] = []  # the averages before this frame
        earlier = self.previous.setdefault((level, stride), [])
        for k in range(len(self.clip.tracks)):
            average = self.averages[level, k]
            size_sum, expected_sum = 128, 128
            for other, own in self._related_tracks(k):
                size_sum += size_of(residuals[other])
                expected_sum += averages[other] if own else self.averages[level, other]
            size_sum = min(size_sum, 8 * expected_sum)
            terms = [(2, average), (6, average * size_sum // expected_sum)]
            terms += [(2, size_of(earlier[-1][k]))] if len(earlier) >= 1 else []
            terms += [(1, size_of(earlier[-2][k]))] if len(earlier) >= 2 else []
            size = sum(w * part for w, part in terms) // sum(w for w, _ in terms)
            residual = self._read_residual(size, earlier[-1][k] if earlier else 0)
            residuals.append(residual)
            averages.append(average)
            difference = size_of(residual) - average
            step = abs(difference) // (min(self.frame_counts[level], 16) + 6)
            self.averages[level, k] += step if difference > 0 else -step
        earlier.append(residuals)
        self.frame_counts[level] += 1
        return residuals

    def _related_tracks(self, track: int) -> list[tuple[int, bool]]:
        """Return the tracks that are the context of this one, and whether they are of the same joint."""
        joint_of = [t["joint"] for t in self.clip.tracks]
        joint = joint_of[track]
        above = self.clip.skeleton.parents[joint]
        while above >= 0 and above not in joint_of:
            above = self.clip.skeleton.parents[above]
        return [(k, joint_of[k] == joint) for k in range(track) if joint_of[k] in (above, joint)]

    def _read_residual(self, expected: int, before: int) -> int:
        models = self.sizes[class_of(expected)]
        read_bit = self.reader.read_bit
        bin_index = 0
        while bin_index < 59 and read_bit(models[bin_index]):
            bin_index += 1
        size = bin_start(bin_index)
        for digit in reversed(range(bin_width(bin_index).bit_length() - 1)):
            size += read_bit() << digit
        sign = self.signs[0 if before == 0 else 1 if before > 0 else 2]
        return -size if size and read_bit(sign) else size


def size_of(residual: int) -> int:
    return 256 * min(abs(residual), 2**20)


def class_of(expected: int) -> int:
    expected = max(4, min(expected, 2**34 - 1))
    digits = expected.bit_length()
    return 4 * (digits - 3) + (expected >> digits - 3) % 4


def bin_start(bin_index: int) -> int:
    return bin_index if bin_index < 2 else 2 + bin_index % 2 << bin_index // 2 - 1


def bin_width(bin_index: int) -> int:
    return 1 if bin_index < 2 else 1 << bin_index // 2 - 1


@cache
def initial_probabilities(size_class: int) -> tuple[int, ...]:
    """Return the initial probability of exceeding each bin."""
    middle = (4 + size_class % 4 + 0.5) * 2.0 ** (size_class // 4) / 256
    factor = (sqrt(1 + middle * middle) - 1) / middle
    probabilities = []
    for bin_index in range(60):
        probability = factor
        if bin_index == 0:
            probability = 2 * factor / (1 + factor)
        for _ in range(bin_width(bin_index).bit_length() - 1):
            probability *= probability
        probabilities.append(max(96, min(65440, floor(probability * 65536 + 0.5))))
    return tuple(probabilities)
