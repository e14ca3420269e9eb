"""Text to swings. Each field is checked before it is believed; errors name it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.formats.as_text import clip
from keypose.formats.as_text.packed import shape_of, unpacked
from keypose.formats.base import ReadOptions, Source
from keypose.formats.document import Part, Parts
from keypose.formats.reference import with_pose_apart
from keypose.formats.swings_json.write import FORMAT_NAME, VERSION
from keypose.model import Curves, FootContacts, Motion
from keypose.swings import KeyedSpan, Path, Settings, Swings, Track
from keypose.swings.parts import GREATEST_ANGLE
from keypose.swings.settings import FALLBACKS, METRICS, setting

FIELDS = (*clip.FIELDS, "settings", "joints", "paths", "contacts")
SETTINGS = tuple(field.name for field in fields(Settings))
_WORDS = {"metric": METRICS, "fallback": FALLBACKS}


def read(source: Source, options: ReadOptions) -> Motion:
    """The motion that the swings play."""
    swings = _swings(source)
    clip.check_played(source, swings, options.fps)
    return with_pose_apart(swings.play(fps=options.fps), options.reference_pose)


def read_swings(source: Source, options: ReadOptions) -> Swings:
    """The swings themselves."""
    return _swings(source)


def _swings(source: Source) -> Swings:
    json = clip.parse(source, FORMAT_NAME, VERSION, FIELDS)
    head = clip.read_clip(json)
    names, joints = head["skeleton"].names, json.parts("joints")
    if len(joints) != len(names):
        raise json.wrong("joints", f"an array of {len(names)} objects, one for each joint")
    room = _Room(source, head["n_frames"])
    return Swings(
        **head,
        settings=_settings(json.object("settings"), frozenset(names)),
        tracks=tuple(_track(part, name, room) for part, name in zip(joints, names, strict=True)),
        places=np.array([part.row("place", 3) for part in joints]),
        paths=tuple(_path(part, frozenset(names), room) for part in json.parts("paths")),
        contacts=_contacts(json, room),
    )


@dataclass
class _Room:
    """How many keys there are so far: packed, they take next to nothing, so they are allowed before they are made."""

    source: Source
    n_frames: int
    keys: int = 0

    def check(self, keys: int) -> None:
        self.keys += keys
        self.source.check_keys(self.keys, self.n_frames, 1)


def _settings(part: Part, names: frozenset[str]) -> Settings:
    part.check_members(*SETTINGS)
    values: dict[str, Any] = {name: part.values[name] for name in SETTINGS}
    for name, value in values.items():
        if name in _WORDS:
            if not isinstance(value, str | None) or value not in _WORDS[name]:
                known = " or ".join("null" if word is None else repr(word) for word in _WORDS[name])
                raise part.wrong(name, known)
        elif name == "left_out":
            values[name] = _left_out(part, names)
        else:
            values[name] = part.not_negative(name)
            try:
                setting(name, values[name])
            except OptionError as error:
                raise part.wrong(name, str(error).partition(", expected ")[2]) from None
    return Settings(**values)


def _left_out(part: Part, names: frozenset[str]) -> tuple[str, ...]:
    found = part.texts("left_out")
    for k, name in enumerate(found):
        if name not in names:
            raise part.source.error(f"{part.place('left_out')}[{k}] is {name[:80]!r}, expected the name of a joint")
    return found


def _track(part: Part, joint: str, room: _Room) -> Track:
    if part.values.get("joint") != joint:
        raise part.wrong("joint", f"{joint!r}, as the joints are in the order of the skeleton")
    part.check_members("joint", "place", "mean_rotation", "swings", "rests", "keys")
    swings, rests = part.parts("swings"), part.parts("rests")
    starts, ends = _spans(swings, room.n_frames, ("rotation", "turn"), least=1)
    rest_starts, rest_ends = _spans(rests, room.n_frames, ("rotation",), least=0)
    return Track(
        joint,
        _rotation(part, "mean_rotation"),
        starts,
        ends,
        np.array([_rotation(swing, "rotation") for swing in swings]).reshape(-1, 4),
        np.array([_turn(swing) for swing in swings]).reshape(-1, 3),
        rest_starts,
        rest_ends,
        np.array([_rotation(rest, "rotation") for rest in rests]).reshape(-1, 4),
        tuple(_keyed_span(span, room) for span in part.parts("keys")),
    )


def _spans(parts: Parts, n_frames: int, members: tuple[str, ...], *, least: int) -> tuple[Ints, Ints]:
    """The first and last frames of swings or rests, which are at least so many frames apart."""
    spans = []
    for part in parts:
        part.check_members("start", "end", *members)
        spans.append(_span(part, n_frames, least=least))
    table = np.array(spans, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _span(part: Part, n_frames: int, *, least: int) -> tuple[int, int]:
    start, end = part.whole("start"), part.whole("end")
    if start >= n_frames - least:
        raise part.wrong("start", f"a frame before {n_frames - least}")
    if not start + least <= end < n_frames:
        raise part.wrong("end", f"a frame from {start + least} to {n_frames - 1}")
    return start, end


def _rotation(part: Part, key: str) -> Floats:
    rotation = part.row(key, 4)
    clip.check_unit(part, key, rotation)
    return rotation


def _turn(part: Part) -> Floats:
    turn = part.row("turn", 3)
    if np.abs(turn).max() > GREATEST_ANGLE:
        raise part.wrong("turn", f"an axis times an angle of at most {GREATEST_ANGLE:g} radians")
    return turn


def _keyed_span(part: Part, room: _Room) -> KeyedSpan:
    frames, rotations = _keys(part, "rotations", 4, room)
    clip.check_unit(part, "rotations", rotations)
    return KeyedSpan(frames, rotations)


def _path(part: Part, names: frozenset[str], room: _Room) -> Path:
    joint = part.values.get("joint")
    if not isinstance(joint, str) or joint not in names:
        raise part.wrong("joint", "the name of a joint")
    if "arriving" not in part and "leaving" not in part:
        frames, values = _keys(part, "values", 3, room, "joint")
        return Path(joint, frames, Curves(values[:, None]))
    slopes = ("values", "arriving", "leaving")
    part.check_members("joint", "frames", *slopes)
    room.check(len(part.array("frames")))
    frames = clip.key_frames(part, "frames", room.n_frames)
    return Path(joint, frames, Curves(*(part.rows(member, len(frames), 3)[:, None] for member in slopes)))


def _keys(part: Part, member: str, width: int, room: _Room, *others: str) -> tuple[Ints, Floats]:
    """Frames, and the rows of ``member`` at them; those on every frame of a span are packed."""
    if "start" not in part:
        part.check_members(*others, "frames", member)
        room.check(len(part.array("frames")))
        frames = clip.key_frames(part, "frames", room.n_frames)
        return frames, part.rows(member, len(frames), width)
    part.check_members(*others, "start", "end", member)
    start, end = _span(part, room.n_frames, least=0)
    rows = part.object(member)
    rows.check_members("shape", "crc32", "data")
    shape = shape_of(rows, width)
    if shape[0] != end - start + 1:
        raise rows.wrong("shape", f"[{end - start + 1}, {width}], one row for each frame from {start} to {end}")
    room.check(shape[0])
    return np.arange(start, end + 1, dtype=np.int32), unpacked(rows, shape)


def _contacts(json: Part, room: _Room) -> FootContacts | None:
    if json.values["contacts"] is None:
        return None
    feet = json.parts("contacts")
    room.source.check_size(room.n_frames, len(feet))
    touching = np.zeros((room.n_frames, len(feet)), bool)
    for f, foot in enumerate(feet):
        foot.check_members("foot", "touching")
        after = 0
        for k, span in enumerate(foot.array("touching")):
            frames = span if isinstance(span, list) and all(type(frame) is int for frame in span) else ()
            if len(frames) != 2 or not after <= frames[0] <= frames[1] < room.n_frames:
                raise foot.source.error(f"{foot.place('touching')}[{k}] is {str(span)[:80]}, expected the first and "
                                        f"the last frame of a span, from {after} to {room.n_frames - 1}")  # fmt: skip
            touching[frames[0] : frames[1] + 1, f] = True
            after = frames[1] + 2  # spans that touch were one
    return FootContacts(tuple(foot.raw_text("foot") for foot in feet), give_away(touching))
