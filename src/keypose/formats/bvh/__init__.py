"""BVH, the format of most free motion capture, in all the dialects of its exporters.

Exporters differ; this reader interprets files as follows: position channels are the whole local translation of the
joint and replace its OFFSET (as in Blender and MotionBuilder); a joint may have any subset of the six channels in any
order; rotations are intrinsic in channel order. A file states neither its unit nor its up axis, which is estimated from
the position of the head over the feet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate

import numpy as np

from keypose import _core
from keypose.arrays import MAX_MAGNITUDE, Floats, Ints, freeze
from keypose.errors import format_count
from keypose.formats.base import Format, Source
from keypose.formats.bvh.write import write
from keypose.formats.orientation import find_up, frames_to_skip, unique_names
from keypose.model import REFERENCE_POSE_NOTE, Motion, Pose, Skeleton
from keypose.model.skeleton import DEFAULT_ORDER, POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.options import MAX_FPS, MIN_FPS, LoadOptions
from keypose.rotations import AXES

DEFAULT_FPS = 30.0  # for Frame Time 0
RATE_TOLERANCE = 5e-4  # a rate this close to a whole number may be a rounded one; 29.97 is not
_BOM = b"\xef\xbb\xbf"
_MOTION = re.compile(rb"(?<=[\r\n])[ \t]*MOTION[ \t]*(?=[\r\n]|$)", re.IGNORECASE)
_FRAMES = re.compile(rb"\s*Frames[ \t]*:?[ \t]*([^\s]*)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*Frame[ \t]*Time[ \t]*:?[ \t]*([^\s]*)[ \t]*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMBER_OF_ROW = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")  # rows may have glued numbers
_LINE_ENDS_TO_BLANKS = bytes.maketrans(b"\r\n", b"  ")
_CHANNEL_NAMES = {name.lower(): name for name in POSITION_CHANNELS + ROTATION_CHANNELS}


@dataclass
class _Hierarchy:
    """The HIERARCHY section while it is read."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[list[float]] = field(default_factory=list)
    channels: list[tuple[str, ...]] = field(default_factory=list)
    end_joints: list[int] = field(default_factory=list)
    end_offsets: list[list[float]] = field(default_factory=list)


def read(source: Source, options: LoadOptions) -> Motion:
    """Read the motion of a BVH file."""
    hierarchy, channels, fps, _ = _read_sections(source)
    skeleton = _build_skeleton(source, hierarchy)
    translations, rotations = poses_from_rows(channels, skeleton)
    del channels
    skip = frames_to_skip(rotations, options.reference_pose)
    reference = Pose(translations[0], rotations[0]) if skip else None
    if skip:
        source.note(REFERENCE_POSE_NOTE)
    translations, rotations = freeze(translations)[skip:], freeze(rotations)[skip:]
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


def read_header(source: Source) -> tuple[Skeleton, float]:
    """Return the skeleton and the frames per second of a file that ends after "Frame Time", or has rows after it."""
    hierarchy, start = _read_first_section(source)
    _, fps, _, _ = _read_motion_header(source, start)
    if not any(hierarchy.channels):
        raise source.error("no joint has a channel, so there is no motion", code="missing_data")
    return _build_skeleton(source, hierarchy), fps


def poses_from_rows(rows: Floats, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Return local translations (T, J, 3) and rotations (T, J, 4) of rows of channel values (T, channels)."""
    return _core.poses_from_channels(rows, *_column_tables(skeleton), skeleton.offsets)


def channel_values(source: Source) -> tuple[Floats, str]:
    """Return the numbers of the MOTION section (T, channels) and the text of the frame time, unchanged."""
    _, channels, _, frame_time = _read_sections(source)
    return channels, frame_time


def _read_sections(source: Source) -> tuple[_Hierarchy, Floats, float, str]:
    """Read the hierarchy, the channel values (T, columns), frames per second and the text of the frame time."""
    hierarchy, motion_end = _read_first_section(source)
    columns = sum(map(len, hierarchy.channels))
    frames, fps, frame_time, start = _read_motion_header(source, motion_end)
    return hierarchy, _read_rows(source, hierarchy, start, columns, frames), fps, frame_time


def _read_first_section(source: Source) -> tuple[_Hierarchy, int]:
    """Read the hierarchy; also return the byte after the word MOTION."""
    motion_match = _MOTION.search(source.data)
    if motion_match is None:
        lines = source.data.count(b"\n") + 1
        raise source.error("no MOTION section", code="missing_data", line=lines, expected="one after the hierarchy")
    header = source.data[: motion_match.start()].removeprefix(_BOM)
    return _read_hierarchy(source, header.decode("utf-8", "surrogateescape")), motion_match.end()


def _read_hierarchy(source: Source, text: str) -> _Hierarchy:
    """Read the joints in one pass over the lines; a brace may be on its own line or after the name."""
    h = _Hierarchy()
    open_joints: list[int] = []  # from the root to the joint of the block being read
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
                raise source.error(
                    f"{words[0]!r} after {awaiting_brace}",
                    code="syntax",
                    line=line_number,
                    value=words[0],
                    expected="'{'",
                )
            if keyword == "{":
                if not awaiting_brace:
                    raise source.error("'{' without a joint before it", code="syntax", line=line_number)
                awaiting_brace = None
            elif keyword == "}":
                if in_end_site:
                    in_end_site = False
                elif open_joints:
                    open_joints.pop()
                else:
                    raise source.error("'}' without a '{' before it", code="syntax", line=line_number)
            elif keyword == "HIERARCHY" and not h.names:
                continue
            elif keyword in ("ROOT", "JOINT"):
                if in_end_site or (keyword == "JOINT") != bool(open_joints):
                    expected = "JOINT inside another joint, ROOT outside, neither in an End Site"
                    raise source.error(
                        f"{keyword} in the wrong place", code="syntax", line=line_number, expected=expected
                    )
                name = piece.strip()[len(words[0]) :].strip()
                if not name:
                    raise source.error(f"{keyword} without a name", code="missing_data", line=line_number)
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
                    raise source.error("End Site outside a joint", code="syntax", line=line_number)
                in_end_site = True
                h.end_joints.append(open_joints[-1])
                h.end_offsets.append([0.0, 0.0, 0.0])
                source.check_joints(len(h.names) + len(h.end_joints), line=line_number)
                awaiting_brace = "End Site"
            else:
                _read_properties(source, h, open_joints, in_end_site, words, line_number)
    if open_joints or in_end_site or awaiting_brace:
        where = h.names[open_joints[-1]] if open_joints else "the hierarchy"
        raise source.error(f"the hierarchy ends inside {where}", code="truncated", line=line_number, expected="'}'")
    if not h.names:
        raise source.error("no ROOT joint in the hierarchy", code="missing_data", line=line_number)
    return h


def _read_properties(
    source: Source, h: _Hierarchy, open_joints: list[int], in_end_site: bool, words: list[str], line: int
) -> None:
    """Read OFFSET and CHANNELS, which may be on one line."""
    at = 0
    while at < len(words):
        keyword = words[at].upper()
        words_after = words[at + 1 : at + 8]
        if keyword not in ("OFFSET", "CHANNELS"):
            raise source.error(
                f"{keyword!r}",
                code="syntax",
                line=line,
                value=keyword,
                expected="OFFSET, CHANNELS, JOINT, End Site or a brace",
            )
        if not open_joints:
            raise source.error(f"{keyword} outside a joint", code="syntax", line=line)
        if keyword == "OFFSET":
            offset = [_parse_number(source, word, f"a coordinate of {keyword}", line) for word in words_after[:3]]
            if len(offset) != 3:
                raise source.error(
                    f"OFFSET with {len(offset)} numbers",
                    code="inconsistent",
                    line=line,
                    value=len(offset),
                    expected="3",
                )
            target = h.end_offsets[-1] if in_end_site else h.offsets[open_joints[-1]]
            target[:] = offset
            at += 4
            continue
        count = "0123456".find(words_after[0]) if words_after and len(words_after[0]) == 1 else -1
        if count < 0:
            raise source.error(
                f"CHANNELS {(words_after[0] if words_after else '')}",
                code="syntax",
                line=line,
                expected="a count of 0 to 6",
            )
        channels = tuple(_CHANNEL_NAMES.get(word.lower(), word) for word in words_after[1 : 1 + count])
        unknown = [c for c in channels if c not in _CHANNEL_NAMES.values()]
        if len(channels) != count or unknown or len(set(channels)) != count:
            raise source.error(
                f"CHANNELS {' '.join(words_after[: 1 + count])}",
                code="syntax",
                line=line,
                expected=f"{count} different ones of {', '.join(_CHANNEL_NAMES.values())}",
            )
        if in_end_site:
            if count:
                raise source.error("CHANNELS in an End Site, which cannot move", code="syntax", line=line)
        else:
            h.channels[open_joints[-1]] = channels
        at += 2 + count


def _read_motion_header(source: Source, at: int) -> tuple[int, float, str, int]:
    """Return the stated number of frames, the frame rate, the text of the frame time, and the byte after it."""
    line = source.data.count(b"\n", 0, at) + 1
    frames_match = _FRAMES.match(source.data, at)
    if frames_match is None or not frames_match[1].isdigit() or len(frames_match[1]) > 12:
        text = frames_match[1].decode("latin-1") if frames_match else ""
        raise source.error(f"Frames: {text!r}", code="bad_number", line=line + 1, value=text, expected="a whole number")
    time_match = _FRAME_TIME.match(source.data, frames_match.end())
    if time_match is None:
        raise source.error("no 'Frame Time:' after 'Frames:'", code="missing_data", line=line + 2)
    line = source.data.count(b"\n", 0, time_match.end()) + 1
    word = time_match[1].decode("latin-1")
    frame_time = _parse_number(source, word, "Frame Time", line)
    if frame_time == 0:
        source.warn(f"Frame Time is 0; {DEFAULT_FPS:g} fps is assumed", code="no_frame_rate", line=line)
        return int(frames_match[1]), DEFAULT_FPS, word, time_match.end()
    if not 1.0 / MAX_FPS <= frame_time <= 1.0 / MIN_FPS:
        expected = f"{1.0 / MAX_FPS:g} to {1.0 / MIN_FPS:g} seconds"
        raise source.error(f"Frame Time: {frame_time:g}", code="bad_number", line=line, value=word, expected=expected)
    return int(frames_match[1]), _frame_rate(word, frame_time), word, time_match.end()


def _frame_rate(word: str, frame_time: float) -> float:
    """Return frames per second; a whole number if the frame time is a rounded one, such as .0083333 for 1/120."""
    rate = 1.0 / frame_time
    whole_rate = float(round(rate))
    decimals = -int(Decimal(word).as_tuple().exponent)
    if (
        whole_rate >= 1
        and abs(rate - whole_rate) < RATE_TOLERANCE * whole_rate
        and round(1.0 / whole_rate, decimals) == frame_time
    ):
        return whole_rate
    return rate


def _read_rows(source: Source, h: _Hierarchy, start: int, columns: int, n_stated: int) -> Floats:
    """Read the channel values (T, columns) of all rows; warn if the header states another number of rows."""
    if columns == 0:
        raise source.error("no joint has a channel, so there is no motion", code="missing_data")
    values, n_glued, n_truncated, fault, line, column, byte = _core.parse_rows(
        source.data, start, columns, n_stated, source.limits.frames + 1
    )
    line += source.data.count(b"\n", 0, start) + 1
    frame = len(values)
    if fault == "wrong count" and (wrapped := _parse_wrapped(source, start, columns, n_stated)) is not None:
        values, n_glued, fault, column, byte = wrapped
        line = source.data.count(b"\n", 0, byte) + 1
        frame, column = divmod(column, columns)
    if fault == "wrong count":
        raise source.error(
            f"frame {frame} has {column} numbers",
            code="inconsistent",
            line=line,
            value=column,
            expected=f"{columns}",
        )
    if fault:
        token = re.split(rb"[\s]", source.data[byte : byte + 40], maxsplit=1)[0].decode("latin-1")
        raise source.error(
            f"{token!r} is {fault}",
            code="bad_number",
            line=line,
            subject=f"frame {frame}, {_channel_label(h, column)}",
            value=token,
            expected="a finite number",
        )
    if len(values) and not max(values.max(), -values.min()) <= MAX_MAGNITUDE:
        frame, column = (int(i) for i in np.argwhere(np.abs(values) > MAX_MAGNITUDE)[0])
        raise source.error(
            f"{values[frame, column]:g}",
            code="bad_number",
            subject=f"frame {frame}, {_channel_label(h, column)}",
            value=float(values[frame, column]),
            expected=f"at most {MAX_MAGNITUDE:g}",
        )
    source.check_size(len(values), len(h.names) + len(h.end_joints))
    if n_truncated:
        source.warn(
            f"the last row has {n_truncated} of {columns} numbers (truncated file?) and is left out",
            code="incomplete_frame",
            value=n_truncated,
        )
    if n_glued:
        source.warn(
            f"{n_glued} numbers have no space before their minus sign; they were read as separate numbers",
            code="missing_space",
            value=n_glued,
        )
    if len(values) == 0:
        raise source.error(
            "a skeleton but no frames", code="missing_data", line=line, expected="at least one row of numbers"
        )
    if len(values) != n_stated and not (n_truncated and len(values) == n_stated - 1):
        source.warn(
            f"the header declares {format_count(n_stated, 'frame')}, but {len(values)} rows follow; all rows were read",
            code="frame_count",
            value=n_stated,
        )
    return values


def _parse_wrapped(source: Source, start: int, columns: int, n_stated: int) -> tuple[Floats, int, str, int, int] | None:
    """Return the channel values (T, columns) of rows that are wrapped over several lines, by their number alone.

    Also return the number of glued numbers and the fault with its number and byte. None if a line is just too long or
    too short: if there are not exactly as many numbers as the header states, or if some frame starts within a line
    while lines differ in length.
    """
    count = n_stated * columns
    if not 0 < 2 * count <= len(source.data) - start + 1 or n_stated > source.limits.frames:
        return None
    text = source.data[start:].translate(_LINE_ENDS_TO_BLANKS)
    values, n_glued, n_missing, fault, _, column, byte = _core.parse_rows(text, 0, count, 1, 2)
    if fault == "wrong count" or n_missing or not (fault or _is_wrapped(source.data[start:], columns, count)):
        return None
    if not fault:
        source.note("the numbers of a frame are wrapped over several lines", code="wrapped_lines")
    return values.reshape(-1, columns), n_glued, fault, column, start + byte


def _is_wrapped(data: bytes, columns: int, count: int) -> bool:
    """Return whether every frame of ``columns`` numbers starts on a new line, or all lines but the last are equally
    long."""
    lengths = [len(_NUMBER_OF_ROW.findall(line)) for line in re.split(rb"\r\n|\n|\r", data)]
    lengths = [length for length in lengths if length]
    line_ends = set(accumulate(lengths))
    is_by_frame = line_ends.issuperset(range(columns, count + 1, columns))
    return count in line_ends and (is_by_frame or (len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]))


def _channel_label(h: _Hierarchy, column: int) -> str:
    labels = [f"{channel} of {name}" for name, own in zip(h.names, h.channels, strict=True) for channel in own]
    return labels[column] if column < len(labels) else f"number {column + 1}"


def _build_skeleton(source: Source, h: _Hierarchy) -> Skeleton:
    names = unique_names(source, h.names)
    orders = []
    for channels in h.channels:
        rotation_axes = "".join(c[0] for c in channels if c in ROTATION_CHANNELS)
        orders.append(
            rotation_axes + "".join(a for a in (DEFAULT_ORDER if not rotation_axes else AXES) if a not in rotation_axes)
        )
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
    """Return tables for the kernel: columns of positions, columns and axes of rotations; -1 if absent."""
    positions, rotations, axes = np.full((3, skeleton.n_joints, 3), -1, np.int32)
    column = 0
    for j, channels in enumerate(skeleton.channels):
        k = 0
        for channel in channels:
            axis = AXES.index(channel[0])
            if channel in POSITION_CHANNELS:
                positions[j, axis] = column
            else:
                rotations[j, k], axes[j, k] = column, axis
                k += 1
            column += 1
    return positions, rotations, axes


def _parse_number(source: Source, word: str, label: str, line: int) -> float:
    value = float(word) if _NUMBER.fullmatch(word) else np.inf
    if not abs(value) <= MAX_MAGNITUDE:
        raise source.error(f"{word!r} as {label}", code="bad_number", line=line, value=word, expected="a finite number")
    return value


def _sniff(head: bytes) -> bool:
    return head.removeprefix(_BOM).lstrip()[:9].upper() == b"HIERARCHY"


FORMAT = Format(
    "BVH",
    (".bvh",),
    _sniff,
    read,
    write,
    has_keys_sidecar=True,
    gzip=True,
    stores_reference_pose=False,
    has_channels=True,
    rounding_mm=0.001,  # six decimals
    purpose="Nearly all animation software reads it.",
)
