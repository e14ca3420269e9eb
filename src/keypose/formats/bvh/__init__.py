"""BVH, the format of most free motion capture, in all the dialects of its exporters.

What exporters disagree about, and what is done here: position channels hold the joint's whole local
translation and replace its OFFSET (as Blender and MotionBuilder do), a joint may have any subset of the
six channels in any order, a joint's turns are intrinsic in channel order, a file says nothing about its
up axis (it is found from where the head is above the feet) nor about its unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from keypose import _core
from keypose.arrays import GREATEST_NUMBER, Floats, Ints, give_away
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.bvh.write import write
from keypose.formats.names import unique_names
from keypose.formats.orientation import find_up
from keypose.formats.reference import frames_to_skip
from keypose.model import Motion, Pose, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.model.skeleton import DEFAULT_ORDER, POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import AXES

DEFAULT_FPS = 30.0  # where the file says Frame Time 0
ROUNDED_RATE = 5e-4  # a rate this close to a whole number may be one that was rounded; 29.97 is not
_BOM = b"\xef\xbb\xbf"
_MOTION = re.compile(rb"(?<=[\r\n])[ \t]*MOTION[ \t]*(?=[\r\n]|$)", re.IGNORECASE)
_FRAMES = re.compile(rb"\s*Frames[ \t]*:?[ \t]*([^\s]*)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*Frame[ \t]*Time[ \t]*:?[ \t]*([^\s]*)[ \t]*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_CHANNEL_NAMES = {name.lower(): name for name in POSITION_CHANNELS + ROTATION_CHANNELS}


@dataclass
class _Hierarchy:
    """The skeleton as it is being read."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[list[float]] = field(default_factory=list)
    channels: list[tuple[str, ...]] = field(default_factory=list)
    end_joints: list[int] = field(default_factory=list)
    end_offsets: list[list[float]] = field(default_factory=list)


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from the text of a BVH file."""
    hierarchy, channels, fps, _ = _read_sections(source)
    skeleton = _skeleton(source, hierarchy)
    translations, rotations = _core.poses_from_channels(channels, *_column_tables(skeleton), skeleton.offsets)
    del channels
    skip = frames_to_skip(rotations, options.reference_pose)
    reference = Pose(translations[0], rotations[0]) if skip else None
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
    translations, rotations = give_away(translations)[skip:], give_away(rotations)[skip:]
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=fps,
        translations=translations,
        rotations=rotations,
        up=find_up(skeleton, translations, rotations),
        first_frame=skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def channel_values(source: Source) -> tuple[Floats, str]:
    """Every number of the MOTION section (T, channels), and the word for the frame time, as they stand in the file."""
    _, channels, _, frame_time = _read_sections(source)
    return channels, frame_time


def _read_sections(source: Source) -> tuple[_Hierarchy, Floats, float, str]:
    """The skeleton, the channel values (T, columns), frames per second and the word for the frame time."""
    motion_at = _MOTION.search(source.data)
    if motion_at is None:
        lines = source.data.count(b"\n") + 1
        raise source.error("no MOTION section, expected one after the hierarchy", line=lines)
    header = source.data[: motion_at.start()].removeprefix(_BOM)
    hierarchy = _read_hierarchy(source, header.decode("utf-8", "surrogateescape"))
    columns = sum(map(len, hierarchy.channels))
    frames, fps, frame_time, start = _read_motion_header(source, motion_at.end())
    return hierarchy, _read_rows(source, hierarchy, start, columns, frames), fps, frame_time


def _read_hierarchy(source: Source, text: str) -> _Hierarchy:
    """The joints, by one pass over the lines; a brace may stand on a line of its own or after the name."""
    h = _Hierarchy()
    open_joints: list[int] = []  # from the root to the joint whose block is open
    in_end_site = False
    awaiting_brace: str | None = None
    line_number = 0
    for line_number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        for piece in re.split(r"([{}])", line):
            words = piece.split()
            if not words:
                continue
            keyword = words[0].upper()
            if awaiting_brace and keyword != "{":
                raise source.error(f"{words[0]!r} after {awaiting_brace}, expected '{{'", line=line_number)
            if keyword == "{":
                if not awaiting_brace:
                    raise source.error("'{' without a joint before it", line=line_number)
                awaiting_brace = None
            elif keyword == "}":
                if in_end_site:
                    in_end_site = False
                elif open_joints:
                    open_joints.pop()
                else:
                    raise source.error("'}' without a '{' before it", line=line_number)
            elif keyword == "HIERARCHY" and not h.names:
                continue
            elif keyword in ("ROOT", "JOINT"):
                if in_end_site or (keyword == "JOINT") != bool(open_joints):
                    expected = "JOINT inside another joint, ROOT outside, neither in an End Site"
                    raise source.error(f"{keyword} in the wrong place, expected {expected}", line=line_number)
                name = piece.strip()[len(words[0]) :].strip()
                if not name:
                    raise source.error(f"{keyword} without a name", line=line_number)
                h.parents.append(open_joints[-1] if open_joints else -1)
                open_joints.append(len(h.names))
                h.names.append(name)
                h.offsets.append([0.0, 0.0, 0.0])
                h.channels.append(())
                source.check_joints(len(h.names) + len(h.end_joints), line=line_number)
                source.check_depth(len(open_joints), line=line_number)
                awaiting_brace = f"{keyword} {name}"
            elif keyword == "END":
                if in_end_site or not open_joints:
                    raise source.error("End Site outside a joint", line=line_number)
                in_end_site = True
                h.end_joints.append(open_joints[-1])
                h.end_offsets.append([0.0, 0.0, 0.0])
                source.check_joints(len(h.names) + len(h.end_joints), line=line_number)
                awaiting_brace = "End Site"
            else:
                _read_properties(source, h, open_joints, in_end_site, words, line_number)
    if open_joints or in_end_site or awaiting_brace:
        where = h.names[open_joints[-1]] if open_joints else "the hierarchy"
        raise source.error(f"the hierarchy ends inside {where}, expected '}}'", line=line_number)
    if not h.names:
        raise source.error("no ROOT joint in the hierarchy", line=line_number)
    return h


def _read_properties(
    source: Source, h: _Hierarchy, open_joints: list[int], in_end_site: bool, words: list[str], line: int
) -> None:
    """OFFSET and CHANNELS, which may share a line."""
    at = 0
    while at < len(words):
        keyword = words[at].upper()
        given = words[at + 1 : at + 8]
        if keyword not in ("OFFSET", "CHANNELS"):
            raise source.error(f"{keyword!r}, expected OFFSET, CHANNELS, JOINT, End Site or a brace", line=line)
        if not open_joints:
            raise source.error(f"{keyword} outside a joint", line=line)
        if keyword == "OFFSET":
            offset = [_number(source, word, f"a coordinate of {keyword}", line) for word in given[:3]]
            if len(offset) != 3:
                raise source.error(f"OFFSET with {len(offset)} numbers, expected 3", line=line)
            target = h.end_offsets[-1] if in_end_site else h.offsets[open_joints[-1]]
            target[:] = offset
            at += 4
            continue
        count = "0123456".find(given[0]) if given and len(given[0]) == 1 else -1
        if count < 0:
            raise source.error(f"CHANNELS {given[0] if given else ''}, expected a count of 0 to 6", line=line)
        channels = tuple(_CHANNEL_NAMES.get(word.lower(), word) for word in given[1 : 1 + count])
        unknown = [c for c in channels if c not in _CHANNEL_NAMES.values()]
        if len(channels) != count or unknown or len(set(channels)) != count:
            raise source.error(f"CHANNELS {' '.join(given[: 1 + count])}, expected {count} different ones of "
                               f"{', '.join(_CHANNEL_NAMES.values())}", line=line)  # fmt: skip
        if in_end_site:
            if count:
                raise source.error("CHANNELS in an End Site, which cannot move", line=line)
        else:
            h.channels[open_joints[-1]] = channels
        at += 2 + count


def _read_motion_header(source: Source, at: int) -> tuple[int, float, str, int]:
    """The number of frames, the frame rate and the frame time that the file states, and where the numbers begin."""
    line = source.data.count(b"\n", 0, at) + 1
    frames_found = _FRAMES.match(source.data, at)
    if frames_found is None or not frames_found[1].isdigit() or len(frames_found[1]) > 12:
        found = frames_found[1].decode("latin-1") if frames_found else ""
        raise source.error(f"Frames: {found!r}, expected a whole number", line=line + 1)
    time_found = _FRAME_TIME.match(source.data, frames_found.end())
    if time_found is None:
        raise source.error("no 'Frame Time:' after 'Frames:'", line=line + 2)
    line = source.data.count(b"\n", 0, time_found.end()) + 1
    word = time_found[1].decode("latin-1")
    frame_time = _number(source, word, "Frame Time", line)
    if frame_time == 0:
        source.warn(f"Frame Time is 0; {DEFAULT_FPS:g} fps is assumed", line=line)
        return int(frames_found[1]), DEFAULT_FPS, word, time_found.end()
    if not 1.0 / GREATEST_FPS <= frame_time <= 1.0 / LEAST_FPS:
        expected = f"{1.0 / GREATEST_FPS:g} to {1.0 / LEAST_FPS:g} seconds"
        raise source.error(f"Frame Time: {frame_time:g}, expected {expected}", line=line)
    return int(frames_found[1]), _frame_rate(word, frame_time), word, time_found.end()


def _frame_rate(word: str, frame_time: float) -> float:
    """Frames per second: the whole number that is meant where the file rounds, .0083333 for 1/120."""
    rate = 1.0 / frame_time
    whole = float(round(rate))
    decimals = -int(Decimal(word).as_tuple().exponent)
    if whole >= 1 and abs(rate - whole) < ROUNDED_RATE * whole and round(1.0 / whole, decimals) == frame_time:
        return whole
    return rate


def _read_rows(source: Source, h: _Hierarchy, start: int, columns: int, stated: int) -> Floats:
    """The channel values (T, columns); the rows that are there count, the header's number is only compared."""
    if columns == 0:
        raise source.error("no joint has a channel, so there is no motion")
    values, glued, truncated, fault, line, column, byte = _core.parse_rows(
        source.data, start, columns, stated, source.limits.frames + 1
    )
    line += source.data.count(b"\n", 0, start) + 1
    if fault == "wrong count":
        raise source.error(f"frame {len(values)} has {column} numbers, expected {columns}", line=line)
    if fault:
        token = re.split(rb"[\s]", source.data[byte : byte + 40], maxsplit=1)[0].decode("latin-1")
        place = f"frame {len(values)}, {_channel_label(h, column)}"
        raise source.error(f"{place}: {token!r} is {fault}, expected a finite number", line=line)
    if len(values) and not max(values.max(), -values.min()) <= GREATEST_NUMBER:
        frame, column = (int(i) for i in np.argwhere(np.abs(values) > GREATEST_NUMBER)[0])
        place = f"frame {frame}, {_channel_label(h, column)}"
        raise source.error(f"{place}: {values[frame, column]:g}, expected at most {GREATEST_NUMBER:g}")
    source.check_size(len(values), len(h.names) + len(h.end_joints))
    if truncated:
        source.warn(f"the last row has {truncated} of {columns} numbers (a download cut short?) and is left out")
    if glued:
        source.warn(f"{glued} numbers lack the blank before their minus sign; they were read apart")
    if len(values) == 0:
        raise source.error("a skeleton but no frames, expected at least one row of numbers", line=line)
    if len(values) != stated and not (truncated and len(values) == stated - 1):
        source.warn(f"the header says {stated} frames, {len(values)} rows follow; all of them are taken")
    return values


def _channel_label(h: _Hierarchy, column: int) -> str:
    labels = [f"{channel} of {name}" for name, own in zip(h.names, h.channels, strict=True) for channel in own]
    return labels[column] if column < len(labels) else f"number {column + 1}"


def _skeleton(source: Source, h: _Hierarchy) -> Skeleton:
    names = unique_names(source, h.names)
    orders = []
    for channels in h.channels:
        turns = "".join(c[0] for c in channels if c in ROTATION_CHANNELS)
        orders.append(turns + "".join(a for a in (DEFAULT_ORDER if not turns else AXES) if a not in turns))
    return Skeleton(
        names=names,
        parents=np.array(h.parents, np.int32),
        offsets=np.array(h.offsets),
        rotation_orders=tuple(orders),
        channels=tuple(h.channels),
        end_offsets=np.array(h.end_offsets).reshape(-1, 3),
        end_joints=np.array(h.end_joints, np.int32),
    )


def _column_tables(skeleton: Skeleton) -> tuple[Ints, Ints, Ints]:
    """For the kernel: the column of each position, the column and the axis of each turn, -1 where absent."""
    positions, turns, axes = np.full((3, skeleton.n_joints, 3), -1, np.int32)
    column = 0
    for j, channels in enumerate(skeleton.channels):
        k = 0
        for channel in channels:
            axis = AXES.index(channel[0])
            if channel in POSITION_CHANNELS:
                positions[j, axis] = column
            else:
                turns[j, k], axes[j, k] = column, axis
                k += 1
            column += 1
    return positions, turns, axes


def _number(source: Source, word: str, what: str, line: int) -> float:
    value = float(word) if _NUMBER.fullmatch(word) else np.inf
    if not abs(value) <= GREATEST_NUMBER:
        raise source.error(f"{word!r} as {what}, expected a finite number", line=line)
    return value


def _sniff(head: bytes) -> bool:
    return head.removeprefix(_BOM).lstrip()[:9].upper() == b"HIERARCHY"


FORMAT = Format("BVH", (".bvh",), _sniff, read, write, keys_beside=True, gzip=True)
