"""The stored motion: a ``.kps`` file of which any part is read without the rest."""

from __future__ import annotations

from math import ceil
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from keypose.arrays import give_away
from keypose.errors import FormatError, LimitError, ModelError, OptionError
from keypose.limits import MOTION_BYTES_PER_JOINT, SMALL_MOTION_BYTES, Limits
from keypose.model import KeyedMotion, Motion
from keypose.options import flag, number, whole
from keypose.storage.blocks import inflated, keys_of
from keypose.storage.container import check, contents_of
from keypose.storage.damage import Damage, seconds, spans, summary
from keypose.storage.detail import left_to_frames, with_detail
from keypose.storage.facts import Facts
from keypose.storage.groups import group_frames
from keypose.storage.lasting import with_nearness
from keypose.storage.reading import Groups
from keypose.storage.sources import ByteSource, ranges_of
from keypose.swings import Swings
from keypose.swings.block.reader import shown
from keypose.swings.packed import unpack

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable

FRAME_TOLERANCE = 1e-3  # of a frame: how far a time that means a frame may be off it
BYTES_PER_JOINT = 80  # of memory for one joint in one frame: groups go into the motion one by one
GROUP_BYTES_PER_JOINT = MOTION_BYTES_PER_JOINT  # and while its group is decoded: numbers, what they are off, poses
SMALL_GROUP_BYTES = 128 << 20  # a group may take this much however few its bytes: figures do stand still
TIGHTNESS = 10  # a stored motion may take so many times what other files may for their size


class StoredMotion(Facts):
    """A motion in a file, of which nothing but the header was read.

    ``stored[2.0:3.5]`` reads these seconds and only their bytes; ``frames`` the same by number, ``motion`` all of it.
    Use it in a ``with`` statement, or ``close`` it.
    """

    def __init__(self, source: ByteSource, limits: Limits) -> None:
        self._source = ranges_of(source)
        self._limits = limits
        try:
            self._contents = contents_of(self._source, limits)
        except BaseException:
            self._source.close()
            raise
        super().__init__(self._contents.clip, self._contents.size)
        self._groups = Groups(self._source, self._contents)

    def __repr__(self) -> str:
        kept = "lossless" if self.lossless else f"within {self.tolerance_mm:g} mm" if self.has_frames else "no frames"
        return (f"StoredMotion({self.name!r}, {self.n_frames} frames at {self.fps:g} fps, {self.n_joints} joints, "
                f"{self.duration_s:.2f} s, {kept}, {self.n_bytes} bytes)")  # fmt: skip

    def close(self) -> None:
        """Closes the file, if it was opened here."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Its frames

    def __getitem__(self, times_s: slice) -> Motion:
        """The frames from one time up to another, in seconds: ``stored[2.0:3.5]``."""
        if not isinstance(times_s, slice) or times_s.step is not None:
            raise OptionError(
                "a stored motion is sliced by seconds, stored[2.0:3.5]; .frames(start, stop) takes frames"
            )
        start_s, stop_s = (
            None if time is None else number(f"{which} of the seconds", time, least=0.0)
            for which, time in (("start", times_s.start), ("stop", times_s.stop))
        )
        start = 0 if start_s is None else self._frame_at(start_s)
        stop = self.n_frames if stop_s is None else self._frame_at(stop_s)
        if start >= stop:
            if start >= self.n_frames:
                raise OptionError(f"second {start_s:g} is behind the end: the motion has {seconds(self.duration_s)} s")
            raise OptionError(f"seconds {start_s or 0.0:g} to {stop_s:g} of {seconds(self.duration_s)} hold no frame")
        return self.frames(start, stop)

    def _frame_at(self, time_s: float) -> int:
        """The first frame that is not before that time; behind the end: the number of frames."""
        return ceil(min(time_s * self.fps - FRAME_TOLERANCE, self.n_frames))

    def frames(self, start: int = 0, stop: int | None = None) -> Motion:
        """Frames ``start`` up to ``stop``; only their groups are read. Their numbering goes on in ``first_frame``.

        Of a file within a tolerance they have a note that says how far they may be off the original.
        """
        start = whole("start", start, least=0)
        stop = self.n_frames if stop is None else min(whole("stop", stop, least=0), self.n_frames)
        if start >= self.n_frames:
            raise OptionError(f"frame {start} is behind the end: the motion has {self.n_frames} frames")
        if start >= stop:
            raise OptionError(f"frames {start} to {stop} of {self.n_frames} hold no frame")
        if not self.has_frames:
            return self._played()[start:stop]
        size = group_frames(self.fps)
        first, last = (min(frame // size, self.n_groups - 1) for frame in (start, stop - 1))
        self._check_groups(first, last, stop - start)
        translations = np.empty((stop - start, self.n_joints, 3))
        rotations = np.empty((stop - start, self.n_joints, 4))
        for g, data in self._groups.read(first, last):
            if (damage := self._groups.damage(g, data)) is not None:
                raise FormatError(self._source.name, self._refusal(damage))
            begin, end = self._groups.bounds[g]
            low, high = max(begin, start), min(end, stop)
            for into, found in zip((translations, rotations), self._groups.frames(g, data), strict=True):
                into[low - start : high - start] = found[low - begin : high - begin]
        off_mm = self.tolerance_mm
        notes = self.notes if off_mm is None else with_nearness(self.notes, off_mm, self.name)
        try:
            return Motion(
                self.name, self.skeleton, self.fps, give_away(translations), give_away(rotations), self.up,
                self.metres_per_unit, self.first_frame + start, self.reference_pose, notes,
            )  # fmt: skip
        except ModelError as error:
            raise FormatError(self._source.name, shown(str(error))) from None

    def motion(self) -> Motion:
        """All frames."""
        return self.frames()

    def _check_groups(self, first: int, last: int, n_frames: int) -> None:
        """That ``n_frames`` frames of these groups, and each group by itself, take no more than their bytes allow."""
        head, where = self._contents.start, self._contents.group
        lengths = [after - begin for begin, after in self._groups.bounds[first : last + 1]]  # whole groups are decoded
        decoding = max(lengths) * self.n_joints * GROUP_BYTES_PER_JOINT
        if decoding > SMALL_GROUP_BYTES:
            for g, length in enumerate(lengths, first):
                needed = length * self.n_joints * GROUP_BYTES_PER_JOINT
                self._check_memory(length, needed, SMALL_GROUP_BYTES, head + where(g)[1] - where(g)[0])
        needed = n_frames * self.n_joints * BYTES_PER_JOINT + decoding
        self._check_memory(n_frames, needed, SMALL_MOTION_BYTES, head + where(last)[1] - where(first)[0])

    def _check_memory(self, n_frames: int, needed: int, free: int, n_bytes: int) -> None:
        """That ``needed`` bytes of memory are no more than ``free`` ones, or than ``n_bytes`` of the file allow."""
        times = TIGHTNESS * self._limits.expansion
        if needed > max(free, times * n_bytes):
            raise LimitError(
                self._source.name,
                f"{n_frames} frames x {self.n_joints} joints need {needed >> 20} MB, more than {times} times the bytes "
                f"that hold them; if the file is sound, raise it: limits=Limits(expansion=...)",
            )

    def _played(self) -> Motion:
        """The motion of a file without frames: that of its keys or swings."""
        keyed = self.keyed()
        clip = self.swings() if keyed is None else keyed
        if clip is None or clip.n_frames != self.n_frames:
            raise FormatError(self._source.name, "holds neither its frames nor keys or swings of as many")
        needed = self.n_frames * self.n_joints * BYTES_PER_JOINT
        self._check_memory(self.n_frames, needed, SMALL_MOTION_BYTES, self.n_bytes)
        return clip.sample() if isinstance(clip, KeyedMotion) else clip.play()

    # What is kept beside them

    def keyed(self, *, read_frames: bool = True) -> KeyedMotion | None:
        """The keys and curves that are kept in the file, as they were; None: it has none.

        The captured detail of keys beside frames is what the curves leave out of these: all of them are read for it,
        and with it ``sample(1.0)`` plays them. Without ``read_frames`` only the keys are read, and it stays left out.
        """
        if not self.has_keys:
            return None
        where = self._source.name
        keyed = keys_of(inflated(self._block("keys"), where), where, self._limits)
        made_of_frames = flag("read_frames", read_frames) and self.has_frames and left_to_frames(keyed)
        return self._with_detail(keyed) if made_of_frames else keyed

    def _with_detail(self, keyed: KeyedMotion) -> KeyedMotion:
        """The keys with the detail that was left to the frames."""
        if (keyed.n_frames, keyed.n_joints) != (self.n_frames, self.n_joints):
            raise FormatError(self._source.name, f"keys of {keyed.n_frames} frames and {keyed.n_joints} joints beside "
                                                 f"{self.n_frames} and {self.n_joints}")  # fmt: skip
        try:
            return with_detail(keyed, self.motion())
        except LimitError:
            raise
        except FormatError as error:
            instead = "the keys without the captured detail, which is in the frames: .keyed(read_frames=False)"
            raise FormatError(self._source.name, f"{error.problem}; {instead}") from None
        except ModelError as error:
            raise FormatError(self._source.name, shown(str(error))) from None

    def swings(self) -> Swings | None:
        """The swings that are kept in the file, within rounding to 32 bits; None: it has none."""
        return unpack(self._block("swings"), where=self._source.name) if self.has_swings else None

    def channels(self) -> ChannelTable | None:
        """The numbers of the BVH file that the motion was read from, as it wrote them; None: they are not kept."""
        if not self.lossless:
            return None
        self._check_groups(0, self.n_groups - 1, self.n_frames)
        return self._groups.channels()

    def _block(self, what: str) -> bytes:
        start, stop, stated = self._contents.keys() if what == "keys" else self._contents.swings()
        data = self._source.read(start, stop)
        if len(data) < stop - start:
            raise FormatError(self._source.name, f"the {what} are missing: the file ends after {start + len(data)} of "
                                                 f"{self.n_bytes} bytes")  # fmt: skip
        if check(data) != stated:
            raise FormatError(self._source.name, f"the {what} are damaged (bytes {start} to {stop} of the file)")
        return data

    # What is wrong with it

    def damage(self) -> tuple[Damage, ...]:
        """All that cannot be read, groups first, and bytes that are too many; reads the whole file."""
        found = [self._groups.damage(g, data) for g, data in self._groups.read(0, self.n_groups - 1)]
        for what, there in (("keys", self.has_keys), ("swings", self.has_swings)):
            if there:
                try:
                    self._block(what)
                except FormatError as error:
                    found.append(Damage(None, 0.0, self.duration_s, error.problem))
        if self._source.size is not None and (more := self._source.size - self.n_bytes) > 0:
            told = f"{more} byte{'s' * (more > 1)} too many behind its end, which is at byte {self.n_bytes}"
            found.append(Damage(None, self.duration_s, self.duration_s, told))
        return tuple(damage for damage in found if damage is not None)

    def sound(self) -> tuple[tuple[float, float], ...]:
        """The spans of seconds (start, end) that can be read; reads the whole file."""
        if not self.has_frames:
            lost = any(not damage.loses_nothing for damage in self.damage())
            return () if lost else ((0.0, self.duration_s),)
        bad = {damage.group for damage in self.damage() if damage.group is not None}
        return spans(((first / self.fps, after / self.fps) for first, after in self._groups.bounds), bad)

    def _refusal(self, damage: Damage) -> str:
        """Why frames cannot be read, and what to type for others."""
        if self._source.size is None:  # nobody asked for all of what may come from far away
            return f"{damage}; what .sound() names can still be read"
        found = [each for each in self.damage() if each.group is not None]
        problem = f"{len(found)} of {self.n_groups} groups cannot be read: {summary(found)}"
        sound = self.sound()
        if not sound:
            return problem
        start_s, end_s = max(sound, key=lambda span: span[1] - span[0])
        others = "" if len(sound) == 1 else f", and so do the other spans that .sound() names, {len(sound)} in all"
        times = f"{seconds(start_s)}:{seconds(end_s)}"
        return f"{problem}. The rest is sound: kp.open_kps({self._source.name!r})[{times}] reads it{others}"


def open_kps(source: ByteSource, *, limits: Limits | None = None) -> StoredMotion:
    """Opens a stored motion (``.kps``), of which any part is read without the rest; now only its header is.

    ``source``: a path, a binary file object, or a function (start, stop) that gives these bytes of the file. Its
    ``OSError`` becomes a ``FileError``; any other exception of the function passes as it is.
    ``limits``: how much it may ask for.
    """
    return StoredMotion(source, limits or Limits())
