"""The stored motion: a ``.kps`` file with random access to its frames."""

from __future__ import annotations

import shlex
from math import ceil
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from keypose.arrays import freeze
from keypose.curves.keyed_motion import add_residual
from keypose.errors import FormatError, Hint, LimitError, ModelError, OptionError, format_count
from keypose.kinematics import Up
from keypose.limits import MOTION_BYTES_PER_JOINT, SMALL_MOTION_BYTES, Limits, limit_hint
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.storage.blocks import ParseKeys, StoredKeys, inflate_text, unpack_swings
from keypose.storage.byte_source import ByteSource, open_source
from keypose.storage.container import DescribeContent, compute_checksum, read_contents
from keypose.storage.group_reader import Damage, GroupReader, find_intact_spans, format_seconds, summarize_damage
from keypose.storage.groups import LOSSLESS, NO_FRAMES, group_frames
from keypose.storage.header.clip_header import ClipHeader
from keypose.swings import Swings
from keypose.swings.block.byte_io import escape_message
from keypose.validation import check_bool, check_int, check_number

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable

FRAME_ROUNDING = 1e-3  # rounding error, in frames, of a time that denotes a frame
BYTES_PER_JOINT = 80  # memory per joint and frame of the result; groups are copied into it one by one
GROUP_BYTES_PER_JOINT = MOTION_BYTES_PER_JOINT  # memory while its group is decoded: numbers, residuals, poses
MIN_GROUP_LIMIT_BYTES = 128 << 20  # memory allowed for a group of any size, as a still figure is stored in few bytes
EXPANSION_FACTOR = 10  # a stored motion may expand by this factor more than other files


class HeaderFields:
    """The fields of a file's header."""

    def __init__(self, header: ClipHeader, n_bytes: int) -> None:
        self._header = header
        self._n_bytes = n_bytes

    @property
    def name(self) -> str:
        """Return the name of the clip."""
        return self._header.name

    @property
    def skeleton(self) -> Skeleton:
        """Return the skeleton of the original file."""
        return self._header.skeleton

    @property
    def fps(self) -> float:
        """Return the frames per second."""
        return self._header.fps

    @property
    def n_frames(self) -> int:
        """Return the number of frames."""
        return self._header.n_frames

    @property
    def n_joints(self) -> int:
        """Return the number of joints, without end sites."""
        return self._header.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Return the seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def up(self) -> Up:
        """Return the up axis."""
        return self._header.up

    @property
    def metres_per_unit(self) -> float | None:
        """Return the metres per file unit; None: unknown."""
        return self._header.metres_per_unit

    @property
    def first_frame(self) -> int:
        """Return the number of frame 0 in the source."""
        return self._header.first_frame

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the reader of the original."""
        return self._header.notes

    @property
    def reference_pose(self) -> Pose | None:
        """Return the reference pose, which is not part of the movement; None: there is none."""
        return self._header.reference_pose

    @property
    def tolerance_mm(self) -> float | None:
        """Return the error bound in mm on a figure of 1.7 m; None: lossless, or no stored frames."""
        return self._header.tolerance_mm

    @property
    def source_tolerance_mm(self) -> float | None:
        """Return the error bound of the motion that was stored, if it came from a lossy file; None: exact."""
        return self._header.source_tolerance_mm

    @property
    def lossless(self) -> bool:
        """Return whether every number is restored exactly."""
        return self._header.kind == LOSSLESS

    @property
    def has_frames(self) -> bool:
        """Return whether frames are stored; if not, they are played from the stored keys or swings."""
        return self._header.kind != NO_FRAMES

    @property
    def has_keys(self) -> bool:
        """Return whether the file has keys."""
        return self._header.keys_bytes is not None

    @property
    def has_swings(self) -> bool:
        """Return whether the file has swings."""
        return self._header.swings_bytes is not None

    @property
    def n_groups(self) -> int:
        """Return the number of groups of frames, which are decoded separately."""
        return self._header.n_groups

    @property
    def group_s(self) -> float:
        """Return the seconds per group; the last one has 0.5 to 1.5 times as many."""
        return group_frames(self.fps) / self.fps

    @property
    def n_bytes(self) -> int:
        """Return the size of the complete file in bytes."""
        return self._n_bytes


class StoredMotion(HeaderFields):
    """A motion in a file; initially only the header is read.

    ``stored[2.0:3.5]`` reads only the bytes of these seconds, ``frames`` a range of frames, ``motion`` all frames. Use
    it in a ``with`` statement, or call ``close``.
    """

    def __init__(
        self, source: ByteSource, limits: Limits, parse_keys: ParseKeys, describe_content: DescribeContent
    ) -> None:
        self._source = open_source(source)
        self._limits = limits
        # Parses the text of keys, which is a format of ``keypose.formats``, a package above this one.
        self._parse_keys = parse_keys
        try:
            self._contents = read_contents(self._source, limits, describe_content)
        except BaseException:
            self._source.close()
            raise
        super().__init__(self._contents.header, self._contents.n_bytes)
        self._group_reader = GroupReader(self._source, self._contents)

    def __repr__(self) -> str:
        precision = (
            "lossless" if self.lossless else f"within {self.tolerance_mm:g} mm" if self.has_frames else "no frames"
        )
        return (
            f"StoredMotion({self.name!r}, {format_count(self.n_frames, 'frame')} at {self.fps:g} fps, "
            f"{format_count(self.n_joints, 'joint')}, {self.duration_s:.2f} s, {precision}, "
            f"{format_count(self.n_bytes, 'byte')})"
        )

    def close(self) -> None:
        """Close the file, if it was opened by this object."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Frames

    def __getitem__(self, times_s: slice) -> Motion:
        """Return the frames from one time up to another, in seconds: ``stored[2.0:3.5]``."""
        if not isinstance(times_s, slice) or times_s.step is not None:
            raise OptionError(
                "a stored motion is sliced by seconds, stored[2.0:3.5]", hint=".frames(start, stop) takes frames"
            )
        start_s, stop_s = (
            None if time is None else check_number(f"{bound_name} of the seconds", time, min_value=0.0)
            for bound_name, time in (("start", times_s.start), ("stop", times_s.stop))
        )
        start = 0 if start_s is None else self._frame_at(start_s)
        stop = self.n_frames if stop_s is None else self._frame_at(stop_s)
        if start >= stop:
            if start >= self.n_frames:
                raise OptionError(
                    f"second {start_s:g} is behind the end: the motion has {format_seconds(self.duration_s)} s"
                )
            raise OptionError(
                f"seconds {start_s or 0.0:g} to {stop_s:g} of {format_seconds(self.duration_s)} hold no frame"
            )
        return self.frames(start, stop)

    def _frame_at(self, time_s: float) -> int:
        """Return the first frame at or after that time; at most the number of frames."""
        return ceil(min(time_s * self.fps - FRAME_ROUNDING, self.n_frames))

    def frames(self, start: int = 0, stop: int | None = None) -> Motion:
        """Return frames ``start`` up to ``stop``; only their groups are read. ``first_frame`` continues the numbering.

        ``tolerance_mm`` of the result is that of the file and of its source together.
        """
        start = check_int("start", start, min_value=0)
        stop = self.n_frames if stop is None else min(check_int("stop", stop, min_value=0), self.n_frames)
        if start >= self.n_frames:
            raise OptionError(
                "is behind the end", option="start", value=start, expected=f"a frame before {self.n_frames}"
            )
        if start >= stop:
            raise OptionError(f"frames {start} to {stop} hold no frame", option="stop", expected=f"one after {start}")
        if not self.has_frames:
            return self._play_frames()[start:stop]
        size = group_frames(self.fps)
        first, last = (min(frame // size, self.n_groups - 1) for frame in (start, stop - 1))
        self._check_groups_memory(first, last, stop - start)
        translations = np.empty((stop - start, self.n_joints, 3))
        rotations = np.empty((stop - start, self.n_joints, 4))
        for g, data in self._group_reader.read(first, last):
            if (damage := self._group_reader.find_damage(g, data)) is not None:
                raise self._damage_error(damage)
            begin, end = self._group_reader.bounds[g]
            low, high = max(begin, start), min(end, stop)
            for array, decoded in zip(
                (translations, rotations), self._group_reader.decode_frames(g, data), strict=True
            ):
                array[low - start : high - start] = decoded[low - begin : high - begin]
        tolerances_mm = [mm for mm in (self.source_tolerance_mm, self.tolerance_mm) if mm is not None]
        try:
            return Motion(
                self.name, self.skeleton, self.fps, freeze(translations), freeze(rotations), self.up,
                self.metres_per_unit, self.first_frame + start, self.reference_pose, self.notes,
                sum(tolerances_mm) if tolerances_mm else None,
            )  # fmt: skip
        except ModelError as error:
            raise FormatError(self._source.name, escape_message(str(error)), code="inconsistent") from None

    def motion(self) -> Motion:
        """Return all frames."""
        return self.frames()

    def _check_groups_memory(self, first: int, last: int, n_frames: int) -> None:
        """Raise ``LimitError`` if ``n_frames`` frames of these groups, or one group, need more memory than allowed."""
        header_bytes, group_range = self._contents.start_byte, self._contents.group_range
        lengths = [
            after - begin for begin, after in self._group_reader.bounds[first : last + 1]
        ]  # whole groups are decoded
        decode_bytes = max(lengths) * self.n_joints * GROUP_BYTES_PER_JOINT
        if decode_bytes > MIN_GROUP_LIMIT_BYTES:
            for g, length in enumerate(lengths, first):
                needed_bytes = length * self.n_joints * GROUP_BYTES_PER_JOINT
                self._check_memory(
                    length, needed_bytes, MIN_GROUP_LIMIT_BYTES, header_bytes + group_range(g)[1] - group_range(g)[0]
                )
        needed_bytes = n_frames * self.n_joints * BYTES_PER_JOINT + decode_bytes
        self._check_memory(
            n_frames, needed_bytes, SMALL_MOTION_BYTES, header_bytes + group_range(last)[1] - group_range(first)[0]
        )

    def _check_memory(self, n_frames: int, needed_bytes: int, free_bytes: int, n_bytes: int) -> None:
        """Raise ``LimitError`` if ``needed_bytes`` exceeds ``free_bytes`` and the limit for ``n_bytes`` of the file."""
        max_ratio = EXPANSION_FACTOR * self._limits.expansion
        if needed_bytes > max(free_bytes, max_ratio * n_bytes):
            raise LimitError(
                self._source.name,
                f"{format_count(n_frames, 'frame')} x {self.n_joints} joints need {needed_bytes >> 20} MB, "
                f"more than {max_ratio} times the bytes that hold them",
                value=needed_bytes,
                hint=limit_hint("expansion"),
            )

    def _play_frames(self) -> Motion:
        """Return the motion of a file without frames, played from its keys or swings."""
        keyed = self.keyed()
        clip = self.swings() if keyed is None else keyed
        if clip is None or clip.n_frames != self.n_frames:
            raise FormatError(
                self._source.name, "holds neither its frames nor keys or swings of as many", code="missing_data"
            )
        needed_bytes = self.n_frames * self.n_joints * BYTES_PER_JOINT
        self._check_memory(self.n_frames, needed_bytes, SMALL_MOTION_BYTES, self.n_bytes)
        return clip.sample() if isinstance(clip, KeyedMotion) else clip.play()

    # Keys, swings and channels

    def keyed(self, *, read_frames: bool = True) -> KeyedMotion | None:
        """Return the keys and curves of the file; None: it has none.

        If the file also has frames, the captured detail of the keys is recomputed from all frames, so that
        ``sample(1.0)`` reproduces them. Without ``read_frames`` only the keys are read, without their detail.
        """
        keys = self.stored_keys()
        if keys is None:
            return None
        needs_frames = check_bool("read_frames", read_frames) and self.has_frames and keys.is_detail_in_frames
        return self._restore_detail(keys.keyed) if needs_frames else keys.keyed

    def stored_keys(self) -> StoredKeys | None:
        """Return the keys as they are stored, and whether their detail is in the frames; None: the file has none."""
        if not self.has_keys:
            return None
        source_name = self._source.name
        return self._parse_keys(inflate_text(self._read_block("keys"), source_name), source_name, self._limits)

    def _restore_detail(self, keyed: KeyedMotion) -> KeyedMotion:
        """Return the keys with their detail recomputed from the frames."""
        if (keyed.n_frames, keyed.n_joints) != (self.n_frames, self.n_joints):
            raise FormatError(
                self._source.name,
                f"keys of {format_count(keyed.n_frames, 'frame')} and {format_count(keyed.n_joints, 'joint')}",
                code="inconsistent",
                expected=f"{self.n_frames} and {self.n_joints}, as beside them",
            )
        try:
            return add_residual(keyed, self.motion())
        except LimitError:
            raise
        except FormatError as error:
            instead = Hint(
                python="the keys without the captured detail, which is in the frames: .keyed(read_frames=False)",
                command=f"keypose verify {shlex.quote(self._source.name)} says what can be restored",
            )
            raise error.with_fields(hint=instead) from None
        except ModelError as error:
            raise FormatError(self._source.name, escape_message(str(error)), code="inconsistent") from None

    def swings(self) -> Swings | None:
        """Return the swings of the file, rounded to 32 bits; None: it has none."""
        return unpack_swings(self._read_block("swings"), self._source.name) if self.has_swings else None

    def channels(self) -> ChannelTable | None:
        """Return the numbers of the BVH file that the motion was read from; None: not stored."""
        if not self.lossless:
            return None
        self._check_groups_memory(0, self.n_groups - 1, self.n_frames)
        return self._group_reader.channels()

    def _read_block(self, block_name: str) -> bytes:
        start, stop, checksum = self._contents.keys_range() if block_name == "keys" else self._contents.swings_range()
        data = self._source.read(start, stop)
        if len(data) < stop - start:
            raise FormatError(
                self._source.name,
                f"the {block_name} are missing: the file ends after {start + len(data)} "
                f"of {format_count(self.n_bytes, 'byte')}",
                code="truncated",
                value=start + len(data),
            )
        if compute_checksum(data) != checksum:
            raise FormatError(
                self._source.name, f"the {block_name} are damaged (bytes {start} to {stop} of the file)", code="damaged"
            )
        return data

    # Damage

    def damage(self) -> tuple[Damage, ...]:
        """Return all damage, groups first, and extra bytes after the end; reads the complete file."""
        items = [self._group_reader.find_damage(g, data) for g, data in self._group_reader.read(0, self.n_groups - 1)]
        for block_name, is_present in (("keys", self.has_keys), ("swings", self.has_swings)):
            if is_present:
                try:
                    self._read_block(block_name)
                except FormatError as error:
                    items.append(Damage(None, 0.0, self.duration_s, error.summary))
        if self._source.size is not None and (extra_bytes := self._source.size - self.n_bytes) > 0:
            problem = (
                f"{extra_bytes} byte{'s' * (extra_bytes > 1)} too many behind its end, which is at byte {self.n_bytes}"
            )
            items.append(Damage(None, self.duration_s, self.duration_s, problem))
        return tuple(damage for damage in items if damage is not None)

    def intact_spans(self) -> tuple[tuple[float, float], ...]:
        """Return the spans (start, end) in seconds that can be read; reads the complete file."""
        if not self.has_frames:
            has_loss = any(not damage.is_harmless for damage in self.damage())
            return () if has_loss else ((0.0, self.duration_s),)
        damaged_groups = {damage.group for damage in self.damage() if damage.group is not None}
        return find_intact_spans(
            ((first / self.fps, after / self.fps) for first, after in self._group_reader.bounds), damaged_groups
        )

    def _damage_error(self, damage: Damage) -> FormatError:
        """Return the error for frames that cannot be read, with a hint how to read the others."""
        name = self._source.name
        if self._source.size is None:  # a remote source is not read completely just for a message
            return FormatError(name, str(damage), code="damaged", hint="what .intact_spans() names can still be read")
        group_damage = [item for item in self.damage() if item.group is not None]
        problem = (
            f"{len(group_damage)} of {format_count(self.n_groups, 'group')} cannot "
            f"be read: {summarize_damage(group_damage)}"
        )
        intact = self.intact_spans()
        if not intact:
            return FormatError(name, problem, code="damaged", value=len(group_damage))
        start, end = max(intact, key=lambda span: span[1] - span[0])
        start_s, end_s = format_seconds(start), format_seconds(end)
        python = f"the rest is sound: kp.open_kps({name!r})[{start_s}:{end_s}] reads it"
        command = (
            f"the rest is sound: keypose restore {shlex.quote(name)} OUT --from-s {start_s} --to-s {end_s} gets it"
        )
        if len(intact) > 1:
            python += f", and so do the other spans that .intact_spans() names, {len(intact)} in all"
            command += f", and keypose verify {shlex.quote(name)} names all {len(intact)} parts"
        return FormatError(name, problem, code="damaged", value=len(group_damage), hint=Hint(python, command))
