"""Small C3D files for tests: any processor, integers or floats, gaps, contradictions in header and parameters."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from keypose.formats.base import Source
from keypose.formats.c3d import FORMAT
from keypose.model import Motion
from keypose.options import LoadOptions
from keypose.rotations import from_euler, to_matrix

INTEL, DEC, MIPS = 84, 85, 86
SCALE = 0.05


@dataclass
class C3D:
    """A small C3D writer; the defaults give a valid file."""

    positions: np.ndarray  # (T, P, 3)
    lost: Sequence[tuple[int, int]] = ()  # (frame, marker) with a negative residual
    processor: int = INTEL
    integers: bool = False
    labels: Sequence[str] | None = None  # None: L0, L1, ...; empty: no such parameter
    parameters: dict[str, object] = field(default_factory=dict)  # "GROUP:NAME" added, replaced, or None: removed
    header: dict[int, bytes] = field(default_factory=dict)  # byte -> content in its place
    analog_words: int = 0
    first_frame: int = 1
    segments: np.ndarray | None = None  # (T, S, 17)

    @property
    def order(self) -> str:
        return ">" if self.processor == MIPS else "<"

    def shorts(self, *values: int) -> bytes:
        return struct.pack(f"{self.order}{len(values)}H", *(v & 0xFFFF for v in values))

    def floats(self, values: object) -> bytes:
        numbers = np.asarray(values, f"{self.order}f4")
        if self.processor != DEC:
            return numbers.tobytes()
        halves = (numbers * np.float32(4)).astype("<f4").view("<u2").reshape(-1, 2)
        return halves[:, ::-1].tobytes()

    def _record(self, group: int, name: str, value: object) -> bytes:
        if isinstance(value, bytes):  # kind, dimensions and values are not changed
            body = value
        elif isinstance(value, str):
            body = struct.pack("bBB", -1, 1, len(value)) + value.encode()
        elif isinstance(value, list):
            width = max(map(len, value), default=0)
            body = struct.pack("bBBB", -1, 2, width, len(value)) + "".join(v.ljust(width) for v in value).encode()
        elif isinstance(value, tuple):
            body = struct.pack("bBB", 2, 1, len(value)) + self.shorts(*value)
        elif isinstance(value, float):
            body = struct.pack("bB", 4, 0) + self.floats([value])
        else:
            body = struct.pack("bB", 2, 0) + self.shorts(int(value))  # type: ignore[call-overload]
        body += b"\0"  # no description
        return struct.pack("bb", len(name), group) + name.encode() + self.shorts(len(body) + 2) + body

    def data(self) -> bytes:
        frames, points = self.positions.shape[:2]
        labels = [f"L{i}" for i in range(points)] if self.labels is None else list(self.labels)
        scale = SCALE if self.integers else -SCALE
        values: dict[str, object] = {
            "POINT:USED": points, "POINT:SCALE": scale, "POINT:RATE": 100.0, "POINT:DATA_START": 0,
            "POINT:FRAMES": min(frames, 65535), "POINT:UNITS": "mm", "POINT:Y_SCREEN": "+Z",
            "POINT:LABELS": labels or None, "ANALOG:USED": self.analog_words, "ANALOG:RATE": 100.0,
        }  # fmt: skip
        if self.segments is not None:
            values |= {"ROTATION:USED": self.segments.shape[1], "ROTATION:DATA_START": 0}
        values |= self.parameters
        groups = {name: i for i, name in enumerate(dict.fromkeys(k.split(":")[0] for k in values), 1)}

        def section() -> bytes:
            out = b"".join(
                struct.pack("bb", len(g), -i) + g.encode() + self.shorts(3) + b"\0" for g, i in groups.items()
            )
            for key, value in values.items():
                group, name = key.split(":")
                out += self._record(groups[group], name, value) if value is not None else b""
            return out

        blocks = -(-(len(section()) + 6) // 512)
        start = 2 + blocks
        rows = np.zeros((frames, points * 4 + self.analog_words))
        four = rows[:, : points * 4].reshape(frames, points, 4)
        four[..., :3] = np.round(self.positions / SCALE) if self.integers else self.positions
        four[..., 3] = 1
        for frame, marker in self.lost:
            four[frame, marker] = (0, 0, 0, -1)
        rows[:, : points * 4] = four.reshape(frames, -1)
        body = rows.astype(f"{self.order}i2").tobytes() if self.integers else self.floats(rows)
        body += bytes(-len(body) % 512)
        if "POINT:DATA_START" not in self.parameters:
            values["POINT:DATA_START"] = start
        if self.segments is not None and "ROTATION:DATA_START" not in self.parameters:
            values["ROTATION:DATA_START"] = start + len(body) // 512
            body += self.floats(self.segments)
            body += bytes(-len(body) % 512)
        last = min(self.first_frame + frames - 1, 65535)
        head = bytearray(bytes([2, 0x50]) + self.shorts(points, self.analog_words, self.first_frame, last, 0))
        head += self.floats([scale]) + self.shorts(start, 1 if self.analog_words else 0) + self.floats([100.0])
        head = head.ljust(512, b"\0")
        for at, replacement in self.header.items():
            head[at : at + len(replacement)] = replacement
        parameters = bytes([1, 0x50, blocks, self.processor]) + section()
        return bytes(head) + parameters.ljust(blocks * 512, b"\0") + body


def walk(frames: int = 20, markers: int = 3) -> np.ndarray:
    """Return positions (T, P, 3) that float32 and steps of SCALE represent well enough."""
    rng = np.random.default_rng(5)
    return np.round(np.cumsum(rng.normal(0, 4, (frames, markers, 3)), axis=0) + 800, 1).astype(np.float32).astype(float)


def read(file: C3D | bytes, **options: object) -> Motion:
    data = file if isinstance(file, bytes) else file.data()
    return FORMAT.read(Source(Path("clip.c3d"), data), LoadOptions(**options))  # type: ignore[arg-type]


def rotating_segments(frames: int, segments: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the 17 floats of segments that rotate about Z, with their quaternions and positions."""
    angles = np.zeros((frames, segments, 3))
    angles[..., 0] = 0.1 * np.arange(frames)[:, None] + np.arange(segments)
    quaternions, positions = from_euler(angles, "ZXY"), walk(frames, segments)
    matrices = np.tile(np.eye(4), (frames, segments, 1, 1))
    matrices[..., :3, :3], matrices[..., :3, 3] = to_matrix(quaternions), positions
    by_columns = matrices.swapaxes(2, 3).reshape(frames, segments, 16)
    return np.concatenate((by_columns, np.zeros((frames, segments, 1))), axis=2), quaternions, positions
