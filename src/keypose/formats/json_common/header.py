"""The header fields that ``.keys.json`` and ``.swings.json`` have in common."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.base import Source
from keypose.formats.json_common.skeleton import pose_json, read_pose, read_skeleton, skeleton_json
from keypose.formats.json_document import MAX_INTEGER, JsonObject, parse_json
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.model.motion import MAX_FPS, MIN_FPS
from keypose.swings import Swings

FIELDS = (
    "format", "version", "name", "fps", "n_frames", "first_frame", "up", "metres_per_unit", "notes", "skeleton",
    "reference_pose",
)  # fmt: skip
_MAX_FRAMES = 1e15  # above any limit: keeps the count finite
_UNIT_TOLERANCE = 2e-3  # of the squared length of a quaternion, as in the model


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
        raise source.error(f"version is {file_version}: the file is of a newer Keypose than this one, which reads "
                           f"version {version}; update Keypose to read it")  # fmt: skip
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
        notes=(*json.texts("notes"), *source.notes),
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
            raise entry.source.error(
                f"{entry.member_location(key)}[{k}] is {frame!r}, expected increasing frames from 0 to {n_frames - 1}"
            )
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
        raise entry.source.error(f"{where} is {rows[k].tolist()}, expected a quaternion (wxyz) of length 1")
