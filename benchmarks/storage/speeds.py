"""Decoding speed of stored clips on one core, and the bytes read to decode one second."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.limits import Limits
from keypose.storage.byte_source import open_source
from keypose.storage.codec import LossyDecoder
from keypose.storage.container import read_contents

ROUNDS = 3


@dataclass(frozen=True)
class Speed:
    """Speed as a multiple of real time: ``kp.load``, and the codec alone on bytes in memory."""

    load: float
    codec: float


def measure_speeds(paths: Sequence[Path]) -> list[Speed]:
    """Measure each file, best of ROUNDS."""
    return [_measure_speed(path) for path in paths]


def _measure_speed(path: Path) -> Speed:
    with kp.open_kps(path) as stored:
        seconds = stored.duration_s
    return Speed(seconds / _min_seconds(lambda: kp.load(path)), seconds / _min_seconds(_build_decode_task(path)))


def _build_decode_task(path: Path) -> Callable[[], None]:
    """Return a function that decodes all groups of a file in memory, without checksums or building a motion."""
    data = path.read_bytes()
    contents = read_contents(open_source(data), Limits())
    clip = contents.header
    sections = []
    for g, (pose, body) in enumerate(zip(clip.pose_bytes, clip.body_bytes, strict=True)):
        start, stop = contents.group_range(g)
        split = start + pose, start + pose + body
        sections.append((data[start : split[0]], data[split[0] : split[1]], data[split[1] : stop] or None))

    def decode() -> None:
        decoder = LossyDecoder(clip.skeleton, clip.fps, clip.n_frames, contents.coding_parameters)
        for g, (pose, body, next_pose) in enumerate(sections):
            decoder.decode_group(g, pose, body, next_pose)

    return decode


def _min_seconds(task: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


@dataclass(frozen=True)
class Access:
    """Reading one second from the middle of a clip."""

    name: str
    clip_s: float
    file_bytes: int
    read_bytes: int  # including the header
    seconds: float  # to open the file and decode


def measure_access(path: Path) -> Access:
    """Measure reading one second through a counting byte-range function; check the frames against the whole file."""
    data = path.read_bytes()
    n_read = 0

    def fetch(start: int, stop: int) -> bytes:
        nonlocal n_read
        chunk = data[start:stop]
        n_read += len(chunk)
        return chunk

    with kp.open_kps(path) as stored:
        name, clip_s = stored.name, stored.duration_s
        middle = float(int(clip_s / 2))
        motion = stored.motion()
    second = kp.open_kps(fetch)[middle : middle + 1]
    n_first_read = n_read
    first = round(middle * motion.fps)
    assert np.array_equal(second.rotations, motion.rotations[first : first + second.n_frames]), "other frames than all"
    seconds = _min_seconds(lambda: kp.open_kps(fetch)[middle : middle + 1])
    return Access(name, clip_s, len(data), n_first_read, seconds)
