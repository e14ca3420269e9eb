"""What glTF cannot hold, kept in the ``extras`` of our wrapper node: so our own files come back as they went.

Another program may have changed the file since, or a stranger may have written the notes. They are used
only where they fit the nodes and the animation; else the file is read like any other, with a warning.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import FormatError, LimitError, ModelError
from keypose.formats.document import MOST_WHOLE, Part
from keypose.formats.gltf.animation import Animation
from keypose.formats.gltf.nodes import Nodes, Rests
from keypose.kinematics import UPS, Up
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.rotations import IDENTITY, angle_between

KEY = "keypose"
VERSION = 1


@dataclass(frozen=True)
class KeyNotes:
    """What our notes say about the keys of a keyed motion."""

    frames: Ints  # (K,) increasing, of the motion
    extremes: Bools  # (K,)
    is_cubic: bool


@dataclass(frozen=True)
class Notes:
    """Our notes in a file, checked against its nodes and its animation."""

    joints: tuple[int, ...]  # the node of each joint
    stand: Floats  # (3,) where the wrapper is, metres
    skeleton: Skeleton
    fps: float
    first_frame: int
    up: Up
    metres_per_unit: float  # by which the nodes were brought to metres
    unit_stated: bool  # else it is our guess
    has_reference_pose: bool  # the nodes' own places are the reference pose
    keyed: KeyNotes | None  # None: a dense motion


def describe(
    motion: Motion, n_frames: int, metres_per_unit: float, joints: list[int], stand: Floats, rest: Pose
) -> dict[str, Any]:
    """The notes to a file that shows ``motion``, of which some of the ``n_frames`` may be all we have: its ``joints``
    (nodes) ``rest`` under a wrapper that stands at ``stand`` (3,).
    """
    s = motion.skeleton
    return {
        "version": VERSION,
        "fps": float(motion.fps),  # numpy's numbers are none of JSON's
        "frames": n_frames,
        "first_frame": int(motion.first_frame),
        "up": motion.up,
        "metres_per_unit": metres_per_unit,
        "unit_stated": motion.metres_per_unit is not None,
        "joints": joints,
        "offsets": s.offsets.ravel().tolist(),
        "rotation_orders": list(s.rotation_orders),
        "channels": [" ".join(own) for own in s.channels],
        "end_joints": s.end_joints.tolist(),
        "end_offsets": s.end_offsets.ravel().tolist(),
        "rest_checksum": _checksum(stand, rest.translations, motion.up, metres_per_unit),
    }


def describe_keys(keyed: KeyedMotion) -> dict[str, Any]:
    """What the channels of a file do not say about a keyed motion."""
    return {
        "keys": keyed.keys.tolist(),
        "extremes": np.flatnonzero(keyed.extremes).tolist(),  # which keys, counted from 0
        "interpolation": "cubic" if keyed.is_cubic else "straight",
    }


def find(json: Part, nodes: Nodes, animation: Animation) -> Notes | None:
    """Our notes, if the file has them and they fit."""
    for wrapper, part in enumerate(json.parts("nodes")):
        extras = part.values.get("extras")
        if isinstance(extras, dict) and KEY in extras:
            try:
                notes = Part(json.source, f"{part.where}.extras", extras).part(KEY)
                return _checked(notes, wrapper, nodes, animation) if notes is not None else None
            except LimitError:
                raise
            except (FormatError, ModelError) as error:
                problem = error.problem if isinstance(error, FormatError) else str(error)
                json.source.warn(f"Keypose's own notes in the file are not used: {problem}")
                return None
    return None


def _checked(notes: Part, wrapper: int, nodes: Nodes, animation: Animation) -> Notes:
    if notes.whole("version") != VERSION:
        raise notes.wrong("version", f"{VERSION}")
    joints = notes.indices("joints", len(nodes.parents))
    if not joints or len(set(joints)) != len(joints):
        raise notes.wrong("joints", "different nodes, at least one")
    notes.source.check_joints(len(joints) + len(notes.array("end_joints")))
    rests = nodes.rests(joints)
    skeleton = _skeleton(notes, joints, wrapper, nodes, rests)
    up = notes.text("up")
    if up not in UPS:
        raise notes.wrong("up", f"one of {', '.join(UPS)}")
    metres_per_unit = notes.positive("metres_per_unit")
    unit_stated = notes.values.get("unit_stated")
    if not isinstance(unit_stated, bool):
        raise notes.wrong("unit_stated", "true or false")
    at_wrapper = nodes.rests([wrapper])
    stand = at_wrapper.translations[0]
    if notes.whole("rest_checksum") != _checksum(stand, rests.translations, up, metres_per_unit):
        raise notes.source.error("the nodes, or how to turn and scale them back, were changed since they were written")
    _check_wrapper(notes, nodes.parents[wrapper], at_wrapper)
    fps = notes.positive("fps")
    if not LEAST_FPS <= fps <= GREATEST_FPS:
        raise notes.wrong("fps", f"{LEAST_FPS:g} to {GREATEST_FPS:g}")
    _check_animation(notes, joints, animation, fps)
    first_frame = notes.whole("first_frame", least=-MOST_WHOLE)
    has_reference_pose = notes.values.get("reference_pose") is True
    return Notes(
        tuple(joints), stand, skeleton, fps, first_frame, up, metres_per_unit, unit_stated, has_reference_pose,
        _keyed(notes),
    )  # fmt: skip


def _keyed(notes: Part) -> KeyNotes | None:
    part = notes.part("keyed")
    if part is None:
        return None
    frames = part.indices("keys", notes.whole("frames", least=1))
    if not frames or any(a >= b for a, b in pairwise(frames)):
        raise part.wrong("keys", "increasing frames, at least one")
    extremes = np.zeros(len(frames), bool)
    extremes[part.indices("extremes", len(frames))] = True
    interpolation = part.text("interpolation")
    if interpolation not in ("cubic", "straight"):
        raise part.wrong("interpolation", "'cubic' or 'straight'")
    return KeyNotes(np.array(frames, np.int32), extremes, interpolation == "cubic")


def _skeleton(notes: Part, joints: list[int], wrapper: int, nodes: Nodes, rests: Rests) -> Skeleton:
    number = {node: j for j, node in enumerate(joints)} | {wrapper: -1}
    parents = [number.get(nodes.parents[node], len(joints)) for node in joints]
    names = [nodes.names[node] for node in joints]
    if any(name is None for name in names):
        raise notes.source.error("a joint's node has no name")
    if (rests.scales != 1.0).any():
        raise notes.source.error("a joint's node is scaled")
    n_ends = len(notes.array("end_joints"))
    return Skeleton(
        names=cast(tuple[str, ...], tuple(names)),
        parents=np.array(parents, np.int32),
        offsets=notes.floats("offsets", (0.0,) * (3 * len(joints))).reshape(-1, 3),
        rotation_orders=_texts(notes, "rotation_orders", len(joints)),
        channels=tuple(tuple(own.split()) for own in _texts(notes, "channels", len(joints))),
        end_joints=np.array(notes.indices("end_joints", len(joints)), np.int32),
        end_offsets=notes.floats("end_offsets", (0.0,) * (3 * n_ends)).reshape(-1, 3),
    )


def _texts(notes: Part, key: str, count: int) -> tuple[str, ...]:
    values = notes.array(key)
    if len(values) != count or not all(isinstance(value, str) for value in values):
        raise notes.wrong(key, f"{count} strings")
    return tuple(values)


def _check_wrapper(notes: Part, parent: int, rests: Rests) -> None:
    """The wrapper node may neither turn nor scale."""
    turned = float(angle_between(rests.rotations[0], np.array(IDENTITY))) > 1e-5
    scaled = not np.allclose(rests.scales[0], 1.0, rtol=1e-5, atol=0.0)
    if parent >= 0 or turned or scaled:
        raise notes.source.error("the wrapper node turns or scales the joints, or hangs on another")


def _check_animation(notes: Part, joints: list[int], animation: Animation, fps: float) -> None:
    own = set(joints)
    if any(track.node not in own or track.path == "scale" for track in animation.tracks):
        raise notes.source.error("the animation moves more than the joints")
    frames = notes.whole("frames", least=1)
    if abs(animation.start_s) > 1e-9 or abs(animation.end_s * fps - (frames - 1)) > 0.5:
        raise notes.source.error(f"the animation lasts from {animation.start_s:g} to {animation.end_s:g} s, "
                                 f"not {frames} frames at {fps:g} fps")  # fmt: skip


def _checksum(stand: Floats, translations: Floats, up: Up, metres_per_unit: float) -> int:
    """Of the places where the wrapper and the joints rest, as glTF holds them, and of how they were brought there.

    It changes when another program turns the joints' axes, as Blender does: then our numbers no longer fit.
    """
    with np.errstate(over="ignore"):
        narrow = np.vstack((stand, translations)).astype("<f4") + np.float32(0.0)  # -0 is 0, also what is rounded to it
    return zlib.crc32(f"{up} {metres_per_unit!r}".encode(), zlib.crc32(narrow.astype("<f4").tobytes()))
