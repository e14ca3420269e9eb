"""Data that glTF cannot represent, in the ``extras`` of a wrapper node, so that files of Keypose are read back
losslessly.

Another program may have changed the file, or the data may be forged. Therefore they are used only if they match the
nodes and the animation; else the file is read like any other, with a warning.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import FormatError, LimitError, ModelError, format_count
from keypose.formats.base import Source
from keypose.formats.gltf.animation import Animation
from keypose.formats.gltf.nodes import Nodes, RestTransforms
from keypose.formats.json_document import MAX_INTEGER, JsonObject
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.options import MAX_FPS, MIN_FPS
from keypose.rotations import IDENTITY, angle_between

KEY = "keypose"
VERSION = 1
FIGURE = "figure"  # the mesh that Keypose writes


@dataclass(frozen=True)
class KeyData:
    """The keys of a keyed motion."""

    frames: Ints  # (K,) increasing
    extremes: Bools  # (K,)
    is_cubic: bool


@dataclass(frozen=True)
class AnimationData:
    """The frames of an animation, checked against its keys."""

    fps: float
    first_frame: int
    keyed: KeyData | None  # None: a dense motion


@dataclass(frozen=True)
class KeyposeData:
    """The data in a file, checked against its nodes and its animation."""

    joints: tuple[int, ...]  # the node of each joint
    wrapper_position: Floats  # (3,) metres
    skeleton: Skeleton
    up: Up
    metres_per_unit: float  # with which the nodes were converted to metres
    is_unit_stated: bool  # else it is a guess
    has_reference_pose: bool  # the rest transforms of the nodes are the reference pose
    animation: AnimationData


def build_extras(
    motion: Motion, n_frames: int, metres_per_unit: float, joints: list[int], wrapper_position: Floats, rest: Pose
) -> dict[str, Any]:
    """Return the extras of a file of ``n_frames`` with ``motion``, which may consist only of its key poses.

    ``joints`` are node indices, ``rest`` their rest pose relative to the wrapper at ``wrapper_position`` (3,).
    """
    s = motion.skeleton
    return {
        "version": VERSION,
        **build_animation_extras(motion, n_frames),
        "up": motion.up,
        "metres_per_unit": metres_per_unit,
        "unit_stated": motion.metres_per_unit is not None,
        "joints": joints,
        "offsets": s.offsets.ravel().tolist(),
        "rotation_orders": list(s.rotation_orders),
        "channels": [" ".join(own) for own in s.channels],
        "end_joints": s.end_joints.tolist(),
        "end_offsets": s.end_offsets.ravel().tolist(),
        "rest_checksum": _rest_checksum(wrapper_position, rest.translations, motion.up, metres_per_unit),
    }


def build_animation_extras(motion: Motion, n_frames: int) -> dict[str, Any]:
    """Return the frames of an animation of ``n_frames``, of which ``motion`` may have only some."""
    return {
        "fps": float(motion.fps),  # may be a numpy scalar
        "frames": n_frames,
        "first_frame": int(motion.first_frame),
    }


def build_key_extras(keyed: KeyedMotion) -> dict[str, Any]:
    """Return the data of a keyed motion that the channels of a file do not contain."""
    return {
        "keys": keyed.keys.tolist(),
        "extremes": np.flatnonzero(keyed.extremes).tolist(),  # indices of keys
        "interpolation": "cubic" if keyed.is_cubic else "straight",
    }


def find_keypose_data(json: JsonObject, nodes: Nodes, animation: Animation) -> KeyposeData | None:
    """Return Keypose's data if the file has them and they fit; else None."""
    for wrapper, node in enumerate(json.objects("nodes")):
        extras = node.values.get("extras")
        if isinstance(extras, dict) and KEY in extras:
            try:
                notes = JsonObject(json.source, f"{node.location}.extras", extras).optional_object(KEY)
                return _parse(notes, wrapper, nodes, animation) if notes is not None else None
            except LimitError:
                raise
            except (FormatError, ModelError) as error:
                _warn_unused(json.source, error)
                return None
    return None


def find_animation_data(animation: Animation) -> AnimationData | None:
    """Return Keypose's data in the extras of an animation if it has them and they fit; else None."""
    try:
        notes = _animation_notes(animation)
        return _parse_animation(notes, animation) if notes is not None else None
    except FormatError as error:
        _warn_unused(animation.source, error)
        return None


def _animation_notes(animation: Animation) -> JsonObject | None:
    extras = animation.entry.values.get("extras") if animation.entry is not None else None
    if animation.entry is None or not isinstance(extras, dict):
        return None
    return JsonObject(animation.source, f"{animation.entry.location}.extras", extras).optional_object(KEY)


def _warn_unused(source: Source, error: FormatError | ModelError) -> None:
    problem = error.summary if isinstance(error, FormatError) else str(error)
    source.warn(f"the data of Keypose in the file are not used: {problem}", code="unused_data")


def _parse(notes: JsonObject, wrapper: int, nodes: Nodes, animation: Animation) -> KeyposeData:
    if notes.integer("version") != VERSION:
        raise notes.member_error("version", f"{VERSION}")
    joints = notes.indices("joints", len(nodes.parents))
    if not joints or len(set(joints)) != len(joints):
        raise notes.member_error("joints", "different nodes, at least one")
    notes.source.check_joints(len(joints) + len(notes.array("end_joints")))
    rests = nodes.rest_transforms(joints)
    skeleton = _build_skeleton(notes, joints, wrapper, nodes, rests)
    up = notes.text("up")
    if up not in UPS:
        raise notes.member_error("up", f"one of {', '.join(UPS)}")
    metres_per_unit = notes.positive("metres_per_unit")
    is_unit_stated = notes.values.get("unit_stated")
    if not isinstance(is_unit_stated, bool):
        raise notes.member_error("unit_stated", "true or false")
    wrapper_rest = nodes.rest_transforms([wrapper])
    wrapper_position = wrapper_rest.translations[0]
    if notes.integer("rest_checksum") != _rest_checksum(wrapper_position, rests.translations, up, metres_per_unit):
        raise notes.source.error(
            "the nodes, or how to turn and scale them back, were changed since they were written", code="inconsistent"
        )
    _check_wrapper(notes, nodes.parents[wrapper], wrapper_rest)
    joint_nodes = set(joints)
    if any(track.node not in joint_nodes or track.path == "scale" for track in animation.tracks):
        raise notes.source.error("the animation moves more than the joints", code="inconsistent")
    if abs(animation.start_s) > 1e-9:
        raise notes.source.error(f"the animation starts at {animation.start_s:g} s, not at 0", code="inconsistent")
    has_reference_pose = notes.values.get("reference_pose") is True
    return KeyposeData(
        tuple(joints), wrapper_position, skeleton, up, metres_per_unit, is_unit_stated,
        has_reference_pose, _parse_animation(_animation_notes(animation) or notes, animation),
    )  # fmt: skip


def _parse_animation(notes: JsonObject, animation: Animation) -> AnimationData:
    fps = notes.positive("fps")
    if not MIN_FPS <= fps <= MAX_FPS:
        raise notes.member_error("fps", f"{MIN_FPS:g} to {MAX_FPS:g}")
    frames = notes.integer("frames", minimum=1)
    if abs((animation.end_s - animation.start_s) * fps - (frames - 1)) > 0.5:
        raise notes.source.error(
            f"the animation lasts from {animation.start_s:g} to {animation.end_s:g} s, "
            f"not {format_count(frames, 'frame')} at {fps:g} fps",
            code="inconsistent",
        )
    return AnimationData(fps, notes.integer("first_frame", minimum=-MAX_INTEGER), _parse_keys(notes))


def _parse_keys(notes: JsonObject) -> KeyData | None:
    entry = notes.optional_object("keyed")
    if entry is None:
        return None
    frames = entry.indices("keys", notes.integer("frames", minimum=1))
    if not frames or any(a >= b for a, b in pairwise(frames)):
        raise entry.member_error("keys", "increasing frames, at least one")
    extremes = np.zeros(len(frames), bool)
    extremes[entry.indices("extremes", len(frames))] = True
    interpolation = entry.text("interpolation")
    if interpolation not in ("cubic", "straight"):
        raise entry.member_error("interpolation", "'cubic' or 'straight'")
    return KeyData(np.array(frames, np.int32), extremes, interpolation == "cubic")


def _build_skeleton(
    notes: JsonObject, joints: list[int], wrapper: int, nodes: Nodes, rests: RestTransforms
) -> Skeleton:
    joint_index = {node: j for j, node in enumerate(joints)} | {wrapper: -1}
    parents = [joint_index.get(nodes.parents[node], len(joints)) for node in joints]
    names = [nodes.names[node] for node in joints]
    if any(name is None for name in names):
        raise notes.source.error("a joint's node has no name", code="missing_data")
    if (rests.scales != 1.0).any():
        raise notes.source.error("a joint's node is scaled", code="inconsistent")
    n_ends = len(notes.array("end_joints"))
    return Skeleton(
        names=cast(tuple[str, ...], tuple(names)),
        parents=np.array(parents, np.int32),
        offsets=notes.floats("offsets", (0.0,) * (3 * len(joints))).reshape(-1, 3),
        rotation_orders=_read_strings(notes, "rotation_orders", len(joints)),
        channels=tuple(tuple(own.split()) for own in _read_strings(notes, "channels", len(joints))),
        end_joints=np.array(notes.indices("end_joints", len(joints)), np.int32),
        end_offsets=notes.floats("end_offsets", (0.0,) * (3 * n_ends)).reshape(-1, 3),
    )


def _read_strings(notes: JsonObject, key: str, count: int) -> tuple[str, ...]:
    values = notes.array(key)
    if len(values) != count or not all(isinstance(value, str) for value in values):
        raise notes.member_error(key, f"{count} strings")
    return tuple(values)


def _check_wrapper(notes: JsonObject, parent: int, rests: RestTransforms) -> None:
    """Raise FormatError if the wrapper node rotates or scales, or has a parent."""
    is_rotated = float(angle_between(rests.rotations[0], np.array(IDENTITY))) > 1e-5
    is_scaled = not np.allclose(rests.scales[0], 1.0, rtol=1e-5, atol=0.0)
    if parent >= 0 or is_rotated or is_scaled:
        raise notes.source.error(
            "the wrapper node turns or scales the joints, or hangs on another", code="inconsistent"
        )


def _rest_checksum(wrapper_position: Floats, translations: Floats, up: Up, metres_per_unit: float) -> int:
    """Return the checksum of the float32 rest positions of wrapper and joints, the up axis and the unit.

    It changes if another program rotates the axes of the joints, as Blender does; then the data no longer match.
    """
    with np.errstate(over="ignore"):
        float32_positions = np.vstack((wrapper_position, translations)).astype("<f4") + np.float32(0.0)  # -0 becomes 0
    return zlib.crc32(f"{up} {metres_per_unit!r}".encode(), zlib.crc32(float32_positions.astype("<f4").tobytes()))
