"""How fast stored clips come back on one core, and how little of a file one second takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.limits import Limits
from keypose.storage.codec import LossyDecoder
from keypose.storage.container import contents_of
from keypose.storage.sources import ranges_of

ROUNDS = 3


@dataclass(frozen=True)
class Speed:
    """Times real time: the whole of ``kp.load``, and the codec alone on bytes that are there."""

    load: float
    codec: float


def speeds(paths: Sequence[Path]) -> list[Speed]:
    """One after another, best of some rounds each."""
    return [_speed(path) for path in paths]


def _speed(path: Path) -> Speed:
    with kp.open_kps(path) as stored:
        seconds = stored.duration_s
    return Speed(seconds / _best(lambda: kp.load(path)), seconds / _best(_decoder(path)))


def _decoder(path: Path) -> Callable[[], None]:
    """Decodes all groups of a file whose bytes are in memory, without checksums and without making a motion."""
    data = path.read_bytes()
    contents = contents_of(ranges_of(data), Limits())
    clip = contents.clip
    sections = []
    for g, (pose, body) in enumerate(zip(clip.pose_bytes, clip.body_bytes, strict=True)):
        start, stop = contents.group(g)
        split = start + pose, start + pose + body
        sections.append((data[start : split[0]], data[split[0] : split[1]], data[split[1] : stop] or None))

    def decode() -> None:
        decoder = LossyDecoder(clip.skeleton, clip.fps, clip.n_frames, contents.coding)
        for g, (pose, body, next_pose) in enumerate(sections):
            decoder.group(g, pose, body, next_pose)

    return decode


def _best(task: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        task()
        taken.append(time.perf_counter() - start)
    return min(taken)


@dataclass(frozen=True)
class Access:
    """One second out of the middle of a clip."""

    name: str
    clip_s: float
    file_bytes: int
    read_bytes: int  # the header too
    seconds: float  # to open the file and decode


def access(path: Path) -> Access:
    """Through a function of byte ranges, which counts; the frames must be those of the whole file."""
    data = path.read_bytes()
    read = 0

    def fetch(start: int, stop: int) -> bytes:
        nonlocal read
        part = data[start:stop]
        read += len(part)
        return part

    with kp.open_kps(path) as stored:
        name, clip_s = stored.name, stored.duration_s
        middle = float(int(clip_s / 2))
        whole = stored.motion()
    second = kp.open_kps(fetch)[middle : middle + 1]
    counted = read
    first = round(middle * whole.fps)
    assert np.array_equal(second.rotations, whole.rotations[first : first + second.n_frames]), "other frames than all"
    taken = _best(lambda: kp.open_kps(fetch)[middle : middle + 1])
    return Access(name, clip_s, len(data), counted, taken)
