"""What every file of ours says about its clip, whatever the rest of it holds."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.as_text.skeleton import pose_document, read_pose, read_skeleton, skeleton_document
from keypose.formats.base import Source
from keypose.formats.document import MOST_WHOLE, Part, parse_json
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.swings import Swings

FIELDS = (
    "format", "version", "name", "fps", "n_frames", "first_frame", "up", "metres_per_unit", "notes", "skeleton",
    "reference_pose",
)  # fmt: skip
_MOST_FRAMES = 1e15  # beyond any limit: only keeps the count a number
_UNIT_TOLERANCE = 2e-3  # of the squared length of a quaternion, as everywhere


class Clip(TypedDict):
    """The arguments that keyed motions and swings have in common."""

    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    up: Up
    metres_per_unit: float | None
    first_frame: int
    reference_pose: Pose | None
    notes: tuple[str, ...]


def clip_document(format_name: str, version: int, clip: KeyedMotion | Swings) -> dict[str, Any]:
    """The first members of a file."""
    metres = clip.metres_per_unit
    return {
        "format": format_name,
        "version": version,
        "name": clip.name,
        "fps": clip.fps,
        "n_frames": clip.n_frames,
        "first_frame": int(clip.first_frame),
        "up": clip.up,
        "metres_per_unit": None if metres is None else float(metres),
        "notes": list(clip.notes),
        "skeleton": skeleton_document(clip.skeleton),
        "reference_pose": pose_document(clip.reference_pose),
    }


def parse(source: Source, format_name: str, version: int, fields: tuple[str, ...]) -> Part:
    """The JSON of a file of this format, no newer than ``version``, with all ``fields``."""
    json = parse_json(source, source.data, refuse_twins=True)
    if json.values.get("format") != format_name:
        raise json.wrong("format", repr(format_name))
    found = json.whole("version", least=1)
    if found > version:
        raise source.error(f"version is {found}: the file is of a newer Keypose than this one, which reads "
                           f"version {version}; update Keypose to read it")  # fmt: skip
    json.check_members(*fields)
    return json


def read_clip(json: Part) -> Clip:
    """The first members of a file, checked; the notes go on with what was noticed while reading it."""
    source, n_frames = json.source, json.whole("n_frames", least=1)
    source.check_size(n_frames, 0)
    skeleton = read_skeleton(json.object("skeleton"))
    return Clip(
        name=json.raw_text("name"),
        skeleton=skeleton,
        fps=_fps(json),
        n_frames=n_frames,
        up=_up(json),
        metres_per_unit=None if json.values["metres_per_unit"] is None else json.positive("metres_per_unit"),
        first_frame=json.whole("first_frame", least=-MOST_WHOLE),
        reference_pose=read_pose(json, "reference_pose", skeleton.n_joints),
        notes=(*json.texts("notes"), *source.notes),
    )


def check_played(source: Source, clip: KeyedMotion | Swings, fps: float | None) -> None:
    """Refuses a clip whose frames, at ``fps`` or its own rate, would be more than the limits allow."""
    ratio = (fps or clip.fps) / clip.fps
    source.check_size(int(min(clip.n_frames * ratio, _MOST_FRAMES)) + 1, clip.n_joints)


def _fps(json: Part) -> float:
    fps = json.positive("fps")
    if not LEAST_FPS <= fps <= GREATEST_FPS:
        raise json.wrong("fps", f"{LEAST_FPS:g} to {GREATEST_FPS:g}")
    return fps


def _up(json: Part) -> Up:
    up = json.text("up")
    if up not in UPS:
        raise json.wrong("up", f"one of {', '.join(UPS)}")
    return up


def key_frames(part: Part, key: str, n_frames: int) -> Ints:
    """The array ``key`` of increasing frames of the clip, at least one."""
    last = -1
    for k, frame in enumerate(part.array(key)):
        if type(frame) is not int or not last < frame < n_frames:
            raise part.source.error(
                f"{part.place(key)}[{k}] is {frame!r}, expected increasing frames from 0 to {n_frames - 1}"
            )
        last = frame
    if last < 0:
        raise part.wrong(key, "at least one frame")
    return np.array(part.array(key), np.int32)


def check_unit(part: Part, key: str, turns: Floats) -> None:
    """Refuses the member ``key`` if it has a quaternion, of ``turns`` (4,) or (K, 4), that is not of length 1."""
    rows = turns.reshape(-1, 4)
    off = np.abs(np.einsum("kc,kc->k", rows, rows) - 1) > _UNIT_TOLERANCE
    if off.any():
        k = int(np.argmax(off))
        where = part.place(key) + ("" if turns.ndim == 1 else f"[{k}]")
        raise part.source.error(f"{where} is {rows[k].tolist()}, expected a quaternion (wxyz) of length 1")
