"""Groups of a file: their bytes, whether these are sound, and their frames."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from keypose.arrays import Floats
from keypose.errors import FormatError
from keypose.storage.container import Contents, check
from keypose.storage.damage import Damage
from keypose.storage.groups import WITHIN_TOLERANCE, group_bounds
from keypose.storage.sources import Ranges
from keypose.swings.block.reader import shown

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable, LosslessDecoder

READ_TOGETHER = 1 << 20  # bytes of neighbouring groups that are asked for at once


class Decoder(Protocol):
    """What a codec has for reading."""

    def group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Translations (n, J, 3) and rotations (n, J, 4) of a group's frames."""


class Groups:
    """The groups of one file."""

    def __init__(self, source: Ranges, contents: Contents) -> None:
        self.source = source
        self.contents = contents
        self.bounds = group_bounds(contents.clip.n_frames, contents.clip.fps) if contents.clip.n_groups else []

    def read(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The bytes of groups ``first`` to ``last`` as they are there, neighbours in one go."""
        while first <= last:
            start, together = self.contents.group(first)[0], first
            while together < last and self.contents.group(together + 1)[1] - start <= READ_TOGETHER:
                together += 1
            data = self.source.read(start, self.contents.group(together)[1])
            for g in range(first, together + 1):
                begin, end = self.contents.group(g)
                yield g, data[begin - start : end - start]
            first = together + 1

    def damage(self, g: int, data: bytes) -> Damage | None:
        """What is wrong with the bytes of a group, if anything."""
        begin, end = self.contents.group(g)
        if len(data) == end - begin and check(data) == self.contents.checks[g]:
            return None
        first, after = self.bounds[g]
        fps = self.contents.clip.fps
        return Damage(g, first / fps, after / fps, self._what(g, len(data)))

    def _what(self, g: int, n_bytes: int) -> str:
        pose, body = self.contents.clip.pose_bytes[g], self.contents.clip.body_bytes[g]
        begin, end = self.contents.group(g)
        if n_bytes == end - begin:
            others = "" if g == len(self.bounds) - 1 else f", or those of the pose of group {g + 1} that it needs,"
            return f"its bytes{others} are damaged"
        if n_bytes >= pose + body:
            return f"the pose of group {g + 1} that it needs is missing"
        return "missing" if n_bytes == 0 else f"only {n_bytes} of its {pose + body} bytes are there"

    def frames(self, g: int, data: bytes) -> tuple[Floats, Floats]:
        """Translations (n, J, 3) and rotations (n, J, 4) of a group, of bytes that are sound."""
        clip = self.contents.clip
        pose, body = clip.pose_bytes[g], clip.body_bytes[g]
        next_pose = data[pose + body :] if g + 1 < clip.n_groups else None
        first, after = self.bounds[g]
        try:
            translations, rotations = self._decoder.group(g, data[:pose], data[pose : pose + body], next_pose)
        except ValueError as error:
            raise FormatError(
                self.source.name, f"group {g} is not what an encoder writes: {shown(str(error))}"
            ) from None
        shape = (after - first, clip.skeleton.n_joints)
        if translations.shape != (*shape, 3) or rotations.shape != (*shape, 4):
            raise FormatError(self.source.name, f"group {g} has {len(rotations)} frames, expected {shape[0]}")
        return translations, rotations

    def channels(self) -> ChannelTable | None:
        """The numbers of the BVH file that a lossless motion was read from."""
        bodies = []
        for g, data in self.read(0, len(self.bounds) - 1):
            if (damage := self.damage(g, data)) is not None:
                raise FormatError(self.source.name, f"the numbers of the original need all groups; {damage}")
            pose = self.contents.clip.pose_bytes[g]
            bodies.append(data[pose : pose + self.contents.clip.body_bytes[g]])
        try:
            return self._lossless.channels(tuple(bodies))
        except ValueError as error:
            raise self._not_written("some group", error) from None

    @cached_property
    def _decoder(self) -> Decoder:
        """The decoder of this kind of file. Codecs are imported when frames are read: a header needs none."""
        clip = self.contents.clip
        if clip.kind != WITHIN_TOLERANCE:
            return self._lossless
        from keypose.storage.codec import LossyDecoder

        try:
            return LossyDecoder(clip.skeleton, clip.fps, clip.n_frames, self.contents.coding)
        except ValueError as error:
            raise self._not_written("what all groups need", error) from None

    @cached_property
    def _lossless(self) -> LosslessDecoder:
        from keypose.storage.lossless import LosslessDecoder

        clip = self.contents.clip
        try:
            return LosslessDecoder(clip.skeleton, clip.fps, clip.n_frames, self.contents.coding)
        except ValueError as error:
            raise self._not_written("what all groups need", error) from None

    def _not_written(self, what: str, error: ValueError) -> FormatError:
        """Coded bytes with a checksum that fits, but that no encoder wrote."""
        return FormatError(self.source.name, f"{what} is not what an encoder writes: {shown(str(error))}")
