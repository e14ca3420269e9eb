"""Read the groups of a file, check their bytes, and decode their frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Protocol

from keypose.arrays import Floats
from keypose.errors import FormatError, format_count
from keypose.storage.byte_source import ByteReader
from keypose.storage.container import FileContents, compute_checksum
from keypose.storage.groups import WITHIN_TOLERANCE, group_bounds
from keypose.swings.block.byte_io import escape_message

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable, LosslessDecoder


MAX_READ_BYTES = 1 << 20  # maximum size of neighbouring groups in one read
MAX_LISTED = 5  # damaged runs in a message


class GroupDecoder(Protocol):
    """The decoder of a codec."""

    def decode_group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Return the translations (n, J, 3) and rotations (n, J, 4) of a group's frames."""


class GroupReader:
    """Reads the groups of one file."""

    def __init__(self, source: ByteReader, contents: FileContents) -> None:
        self.source = source
        self.contents = contents
        self.bounds = group_bounds(contents.header.n_frames, contents.header.fps) if contents.header.n_groups else []

    def read(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Yield the index and the stored bytes of groups ``first`` to ``last``; neighbours are read together."""
        while first <= last:
            start, last_in_read = self.contents.group_range(first)[0], first
            while last_in_read < last and self.contents.group_range(last_in_read + 1)[1] - start <= MAX_READ_BYTES:
                last_in_read += 1
            data = self.source.read(start, self.contents.group_range(last_in_read)[1])
            for g in range(first, last_in_read + 1):
                begin, end = self.contents.group_range(g)
                yield g, data[begin - start : end - start]
            first = last_in_read + 1

    def find_damage(self, g: int, data: bytes) -> Damage | None:
        """Return the damage of a group's bytes, or None."""
        begin, end = self.contents.group_range(g)
        if len(data) == end - begin and compute_checksum(data) == self.contents.checksums[g]:
            return None
        first, after = self.bounds[g]
        fps = self.contents.header.fps
        return Damage(g, first / fps, after / fps, self._describe_damage(g, len(data)))

    def _describe_damage(self, g: int, n_bytes: int) -> str:
        pose, body = self.contents.header.pose_bytes[g], self.contents.header.body_bytes[g]
        begin, end = self.contents.group_range(g)
        if n_bytes == end - begin:
            others = "" if g == len(self.bounds) - 1 else f", or those of the pose of group {g + 1} that it needs,"
            return f"its bytes{others} are damaged"
        if n_bytes >= pose + body:
            return f"the pose of group {g + 1} that it needs is missing"
        return "missing" if n_bytes == 0 else f"only {n_bytes} of its {pose + body} bytes are there"

    def decode_frames(self, g: int, data: bytes) -> tuple[Floats, Floats]:
        """Decode the translations (n, J, 3) and rotations (n, J, 4) of a group from intact bytes."""
        clip = self.contents.header
        pose, body = clip.pose_bytes[g], clip.body_bytes[g]
        next_pose = data[pose + body :] if g + 1 < clip.n_groups else None
        first, after = self.bounds[g]
        try:
            translations, rotations = self._decoder.decode_group(g, data[:pose], data[pose : pose + body], next_pose)
        except ValueError as error:
            raise FormatError(
                self.source.name,
                f"group {g} is not what an encoder writes: {escape_message(str(error))}",
                code="damaged",
            ) from None
        shape = (after - first, clip.skeleton.n_joints)
        if translations.shape != (*shape, 3) or rotations.shape != (*shape, 4):
            raise FormatError(
                self.source.name,
                f"group {g} has {format_count(len(rotations), 'frame')}",
                code="inconsistent",
                expected=f"{shape[0]}",
            )
        return translations, rotations

    def channels(self) -> ChannelTable | None:
        """Return the numbers of the BVH file from which a lossless motion was read; None: not stored."""
        bodies = []
        for g, data in self.read(0, len(self.bounds) - 1):
            if (damage := self.find_damage(g, data)) is not None:
                raise FormatError(
                    self.source.name, "the numbers of the original need all groups", code="damaged", hint=str(damage)
                )
            pose = self.contents.header.pose_bytes[g]
            bodies.append(data[pose : pose + self.contents.header.body_bytes[g]])
        try:
            return self._lossless.channels(tuple(bodies))
        except ValueError as error:
            raise self._format_error("some group", error) from None

    @cached_property
    def _decoder(self) -> GroupDecoder:
        """Return the decoder of this kind of file; codecs are imported only when frames are read."""
        clip = self.contents.header
        if clip.kind != WITHIN_TOLERANCE:
            return self._lossless
        from keypose.storage.codec import LossyDecoder

        try:
            return LossyDecoder(clip.skeleton, clip.fps, clip.n_frames, self.contents.coding_parameters)
        except ValueError as error:
            raise self._format_error("what all groups need", error) from None

    @cached_property
    def _lossless(self) -> LosslessDecoder:
        from keypose.storage.lossless import LosslessDecoder

        clip = self.contents.header
        try:
            return LosslessDecoder(clip.skeleton, clip.fps, clip.n_frames, self.contents.coding_parameters)
        except ValueError as error:
            raise self._format_error("what all groups need", error) from None

    def _format_error(self, subject: str, error: ValueError) -> FormatError:
        """Return the error for invalid coded bytes with a valid checksum."""
        return FormatError(
            self.source.name, f"{subject} is not what an encoder writes: {escape_message(str(error))}", code="damaged"
        )


@dataclass(frozen=True)
class Damage:
    """A section of a file that cannot be read, or extra bytes after its end."""

    group: int | None  # from 0; None: keys or swings, or bytes after the end
    start_s: float
    end_s: float
    problem: str  # "its bytes are damaged"

    @property
    def is_harmless(self) -> bool:
        """Return whether the complete motion can still be read, as with extra bytes after the end."""
        return self.group is None and self.start_s == self.end_s

    def __str__(self) -> str:
        if self.group is None:
            return self.problem
        return f"group {self.group} ({format_seconds(self.start_s)} to {format_seconds(self.end_s)} s): {self.problem}"


def format_seconds(time_s: float) -> str:
    """Format a time, rounded down so that it denotes the same frame."""
    return f"{floor(time_s * 1e4 + 1e-6) / 1e4:.10g}"


def summarize_damage(damage: Sequence[Damage]) -> str:
    """Describe damaged groups in one sentence; neighbours with the same problem are combined."""
    runs: list[list[Damage]] = []
    for item in damage:
        last = runs[-1][-1] if runs else None
        if last is not None and (last.problem, (last.group or 0) + 1) == (item.problem, item.group):
            runs[-1].append(item)
        else:
            runs.append([item])
    descriptions = [str(run[0]) if len(run) == 1 else _describe_run(run) for run in runs[:MAX_LISTED]]
    return "; ".join(descriptions) + (f"; and {len(runs) - MAX_LISTED} more" if len(runs) > MAX_LISTED else "")


def _describe_run(run: list[Damage]) -> str:
    first, last = run[0], run[-1]
    times = f"{format_seconds(first.start_s)} to {format_seconds(last.end_s)} s"
    return f"groups {first.group} to {last.group} ({times}): {first.problem}"


def find_intact_spans(
    bounds_s: Iterable[tuple[float, float]], damaged_groups: set[int]
) -> tuple[tuple[float, float], ...]:
    """Return the maximal spans (start, end) in seconds without damaged groups."""
    intact: list[tuple[float, float]] = []
    previous_is_intact = False
    for g, (start_s, end_s) in enumerate(bounds_s):
        if g not in damaged_groups:
            start_s = intact.pop()[0] if previous_is_intact else start_s
            intact.append((start_s, end_s))
        previous_is_intact = g not in damaged_groups
    return tuple(intact)
