"""Elements that ``.keys.json`` and ``.swings.json`` have in common: header, skeleton, encoded arrays, readable
layout."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from typing import Any, TypedDict

import numpy as np

from keypose.arrays import MAX_MAGNITUDE, Floats, Ints, freeze
from keypose.formats.base import Source
from keypose.formats.json_document import MAX_INTEGER, JsonObject, parse_json
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Pose, Skeleton, parse_notes
from keypose.options import MAX_FPS, MIN_FPS
from keypose.swings import Swings

FIELDS = (
    "format", "version", "name", "fps", "n_frames", "first_frame", "up", "metres_per_unit", "notes", "tolerance_mm",
    "skeleton",
    "reference_pose",
)  # fmt: skip
MAX_CHANNEL_COUNT = 1000  # numbers of one joint per frame
_MAX_FRAMES = 1e15  # above any limit, so that the count is finite
_UNIT_TOLERANCE = 2e-3  # of the squared length of a quaternion, as in the model

MAX_LINE_CHARS = 118  # shorter values are written on one line
_MAX_NESTED = 24  # a value with more nested values is written on several lines


def has_format_name(head: bytes, name: str) -> bool:
    """Return whether ``head``, the first bytes of a file, is a JSON object with this ``format``."""
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return starts and re.search(rb'"format"\s*:\s*"' + name.encode() + b'"', head) is not None


class ClipHeader(TypedDict):
    """The constructor arguments that KeyedMotion and Swings have in common."""

    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    up: Up
    metres_per_unit: float | None
    first_frame: int
    reference_pose: Pose | None
    notes: tuple[str, ...]
    tolerance_mm: float | None


def build_header(format_name: str, version: int, clip: KeyedMotion | Swings) -> dict[str, Any]:
    """Return the header members of a file."""
    metres_per_unit = clip.metres_per_unit
    return {
        "format": format_name,
        "version": version,
        "name": clip.name,
        "fps": clip.fps,
        "n_frames": clip.n_frames,
        "first_frame": int(clip.first_frame),
        "up": clip.up,
        "metres_per_unit": None if metres_per_unit is None else float(metres_per_unit),
        "notes": list(clip.notes),
        "tolerance_mm": clip.tolerance_mm,
        "skeleton": skeleton_json(clip.skeleton),
        "reference_pose": pose_json(clip.reference_pose),
    }


def parse_document(source: Source, format_name: str, version: int, fields: tuple[str, ...]) -> JsonObject:
    """Parse the JSON of a file; check its format, that it is not newer than ``version``, and that it has ``fields``."""
    json = parse_json(source, source.data, refuse_duplicates=True)
    if json.values.get("format") != format_name:
        raise json.member_error("format", repr(format_name))
    file_version = json.integer("version", minimum=1)
    if file_version > version:
        raise source.error(
            f"version is {file_version}: the file is of a newer Keypose than this one, which reads version {version}",
            hint="update Keypose to read it",
            code="unsupported",
        )
    json.check_members(*fields)
    return json


def read_header(json: JsonObject) -> ClipHeader:
    """Read the header members; the notes of the reader are appended to those of the file."""
    source, n_frames = json.source, json.integer("n_frames", minimum=1)
    source.check_size(n_frames, 0)
    skeleton = read_skeleton(json.required_object("skeleton"))
    return ClipHeader(
        name=json.raw_text("name"),
        skeleton=skeleton,
        fps=_read_fps(json),
        n_frames=n_frames,
        up=_read_up(json),
        metres_per_unit=None if json.values["metres_per_unit"] is None else json.positive("metres_per_unit"),
        first_frame=json.integer("first_frame", minimum=-MAX_INTEGER),
        reference_pose=read_pose(json, "reference_pose", skeleton.n_joints),
        notes=(*parse_notes(json.texts("notes")), *source.notes),
        tolerance_mm=None if json.values["tolerance_mm"] is None else json.non_negative("tolerance_mm"),
    )


def check_sampled_size(source: Source, clip: KeyedMotion | Swings, fps: float | None) -> None:
    """Raise LimitError if the frames of the clip at ``fps`` (None: its own rate) exceed the limits."""
    ratio = (fps or clip.fps) / clip.fps
    source.check_size(int(min(clip.n_frames * ratio, _MAX_FRAMES)) + 1, clip.n_joints)


def _read_fps(json: JsonObject) -> float:
    fps = json.positive("fps")
    if not MIN_FPS <= fps <= MAX_FPS:
        raise json.member_error("fps", f"{MIN_FPS:g} to {MAX_FPS:g}")
    return fps


def _read_up(json: JsonObject) -> Up:
    up = json.text("up")
    if up not in UPS:
        raise json.member_error("up", f"one of {', '.join(UPS)}")
    return up


def read_key_frames(entry: JsonObject, key: str, n_frames: int) -> Ints:
    """Read the array ``key`` of increasing frames of the clip, at least one."""
    last = -1
    for k, frame in enumerate(entry.array(key)):
        if type(frame) is not int or not last < frame < n_frames:
            raise entry.element_error(key, k, frame, f"increasing frames from 0 to {n_frames - 1}")
        last = frame
    if last < 0:
        raise entry.member_error(key, "at least one frame")
    return np.array(entry.array(key), np.int32)


def check_unit_quaternions(entry: JsonObject, key: str, quaternions: Floats) -> None:
    """Raise FormatError for the member ``key`` if one of ``quaternions`` (4,) or (K, 4) is not of length 1."""
    rows = quaternions.reshape(-1, 4)
    is_wrong = np.abs(np.einsum("kc,kc->k", rows, rows) - 1) > _UNIT_TOLERANCE
    if is_wrong.any():
        k = int(np.argmax(is_wrong))
        where = entry.member_location(key) + ("" if quaternions.ndim == 1 else f"[{k}]")
        raise entry.source.error(
            f"{rows[k].tolist()}", code="bad_number", subject=where, expected="a quaternion (wxyz) of length 1"
        )


def skeleton_json(s: Skeleton) -> dict[str, Any]:
    """Return the JSON of a skeleton."""
    return {
        "joints": [
            {
                "name": name,
                "parent": s.names[parent] if parent >= 0 else None,
                "offset": s.offsets[j].tolist(),
                "rotation_order": s.rotation_orders[j],
                "channels": list(s.channels[j]),
                "channel_count": int(s.channel_counts[j]),
            }
            for j, (name, parent) in enumerate(zip(s.names, s.parents.tolist(), strict=True))
        ],
        "end_sites": [
            {"joint": s.names[joint], "offset": offset}
            for joint, offset in zip(s.end_joints.tolist(), s.end_offsets.tolist(), strict=True)
        ],
    }


def read_skeleton(entry: JsonObject) -> Skeleton:
    """Read a skeleton within the limits."""
    entry.check_members("joints", "end_sites")
    joints, ends = entry.objects("joints"), entry.objects("end_sites")
    entry.source.check_joints(len(joints) + len(ends))
    if not joints:
        raise entry.member_error("joints", "at least one")
    indices: dict[str | None, int] = {None: -1}
    parents: list[int] = []
    depths: list[int] = []
    for joint in joints:
        joint.check_members("name", "parent", "offset", "rotation_order", "channels", "channel_count")
        parent = joint.values["parent"]
        if not isinstance(parent, str | None) or parent not in indices:
            raise joint.member_error("parent", "null or the name of an earlier joint")
        parents.append(indices[parent])
        depths.append(depths[parents[-1]] + 1 if parents[-1] >= 0 else 1)
        if indices.setdefault(joint.raw_text("name"), len(parents) - 1) != len(parents) - 1:
            raise joint.member_error("name", "one that no earlier joint has")
    entry.source.check_depth(max(depths))
    end_joints = []
    for end in ends:
        end.check_members("joint", "offset")
        if indices.get(end.raw_text("joint")) is None:
            raise end.member_error("joint", "the name of a joint")
        end_joints.append(indices[end.raw_text("joint")])
    return Skeleton(
        names=tuple(joint.raw_text("name") for joint in joints),
        parents=np.array(parents, np.int32),
        offsets=np.array([joint.row("offset", 3) for joint in joints]),
        rotation_orders=tuple(joint.raw_text("rotation_order") for joint in joints),
        channels=tuple(joint.texts("channels") for joint in joints),
        end_offsets=np.array([end.row("offset", 3) for end in ends]).reshape(-1, 3),
        end_joints=np.array(end_joints, np.int32),
        channel_counts=np.array([joint.index("channel_count", MAX_CHANNEL_COUNT + 1) for joint in joints], np.int32),
    )


def pose_json(pose: Pose | None) -> dict[str, Any] | None:
    """Return the JSON of a pose; None if there is none."""
    if pose is None:
        return None
    return {"translations": pose.translations.tolist(), "rotations": pose.rotations.tolist()}


def read_pose(json: JsonObject, key: str, joints: int) -> Pose | None:
    """Read the pose ``key`` of so many joints; None if it is null."""
    if json.values[key] is None:
        return None
    entry = json.required_object(key)
    entry.check_members("translations", "rotations")
    return Pose(entry.rows("translations", joints, 3), entry.rows("rotations", joints, 4))


def encode_array(values: Floats) -> dict[str, Any]:
    """Return the JSON object that stores an array exactly."""
    raw = values.astype("<f8").tobytes()
    return {
        "shape": list(values.shape),
        "crc32": zlib.crc32(raw),
        "data": base64.b64encode(zlib.compress(raw, 6)).decode(),
    }


def read_shape(entry: JsonObject, *inner: int) -> tuple[int, ...]:
    """Read the shape (any, *inner) of an encoded array, before its data are decoded."""
    shape = entry.array("shape")
    is_valid = len(shape) == 1 + len(inner) and all(type(n) is int for n in shape)
    if not is_valid or shape[0] < 1 or shape[1:] != list(inner):
        raise entry.member_error("shape", f"[{', '.join(('frames', *map(str, inner)))}]")
    return tuple(shape)


def decode_array(entry: JsonObject, shape: tuple[int, ...]) -> Floats:
    """Decode an array of this shape, which the caller has checked against the limits; not more than its size is
    decompressed."""
    size = 8 * math.prod(shape)
    try:
        compressed = base64.b64decode(entry.text("data"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise entry.source.error(
            f"damaged base64 ({error})", subject=entry.member_location("data"), code="damaged"
        ) from None
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(compressed, size + 1)
    except zlib.error as error:
        raise entry.source.error(
            f"damaged zlib data ({error})", subject=entry.member_location("data"), code="damaged"
        ) from None
    if len(raw) != size or not stream.eof or stream.unused_data:
        more = "more than" if len(raw) > size or stream.unused_data else "not" if stream.eof else "cut short of"
        raise entry.source.error(
            f"{more} the {size} bytes of its shape", subject=entry.member_location("data"), code="inconsistent"
        )
    if zlib.crc32(raw) != entry.integer("crc32"):
        raise entry.source.error(
            f"the checksum of its bytes is {zlib.crc32(raw)}, not crc32",
            subject=entry.member_location("data"),
            code="damaged",
        )
    values = np.frombuffer(raw, "<f8").astype(np.float64)
    if not (values.min() >= -MAX_MAGNITUDE and values.max() <= MAX_MAGNITUDE):  # also false for NaN
        raise entry.source.error(
            f"not all of its numbers are finite and up to {MAX_MAGNITUDE:g}",
            subject=entry.member_location("data"),
            code="bad_number",
        )
    return freeze(values.reshape(shape))


def format_document(document: dict[str, Any]) -> bytes:
    """Return the text of a file."""
    # Names in other encodings contain lone surrogates, which UTF-8 cannot encode, but JSON can escape.
    return (_format_value(document, 0) + "\n").encode("utf-8", "backslashreplace")


def _format_value(value: Any, depth: int) -> str:
    """Format a value: on one line if it fits or is a list of plain values, else one member per line."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    nested = [member for member in members if isinstance(member, dict | list)]
    if not nested and not isinstance(value, dict):
        return _format_flat(value)
    if len(nested) < _MAX_NESTED and len(flat := _format_flat(value)) + depth <= MAX_LINE_CHARS:
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{_format_flat(key)}: {_format_value(member, depth + 1)}" for key, member in value.items()]
        return "{\n" + pad + f",\n{pad}".join(lines) + "\n" + " " * depth + "}"
    return (
        "[\n" + pad + f",\n{pad}".join(_format_value(member, depth + 1) for member in value) + "\n" + " " * depth + "]"
    )


def _format_flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
