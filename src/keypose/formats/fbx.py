"""FBX, read through Blender in a child process: its parts that matter here are not documented, but Blender knows them.

Positions are those of Blender's bone heads (or empties), in the file's own axes and units; a joint's rotation
is its node's, pre-rotations included. Blender's exporter ends each limb with a bone ``NAME_end``: such a leaf
that never turns becomes an end site. Blender reads binary FBX of version 7.1 and later.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import MissingExtra, ModelError
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.child import (
    Arrays,
    Facts,
    Library,
    count,
    floats,
    positive,
    read_in_child,
    say_which_animation,
    texts,
    unit_rotations,
)
from keypose.formats.jointspace import reference_of
from keypose.kinematics import UPS, Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import angle_between, conjugate, multiply, normalise, rotate

INTERPRETER = "KEYPOSE_BLENDER_PYTHON"
MISSING = f"reading FBX needs: pip install 'keypose[fbx]' (Python 3.11) or {INTERPRETER}=a Python that can import bpy"
_BLENDER = Library("Blender", "fbx_reader.py", start_bytes=4 << 30, missing=MISSING)
_BINARY_MAGIC = b"Kaydara FBX Binary"
_TEXT_MAGIC = b"; FBX"
_END = "_end"
_STILL_RAD = 1e-3


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from one skeleton and one take of an FBX file."""
    if source.data.startswith(_TEXT_MAGIC):
        raise source.error("an FBX file in text form, expected the binary form: save it as binary FBX", line=1)
    arrays, facts = read_in_child(source, _BLENDER, _interpreter(), ".fbx", options)
    try:
        return _motion(source, options, arrays, facts)
    except ModelError as error:
        raise source.error(str(error)) from None


def _interpreter() -> str:
    """A Python that has Blender's module: this one, or the one named in the environment."""
    if importlib.util.find_spec("bpy") is not None:
        return sys.executable
    if given := os.environ.get(INTERPRETER):
        return given
    raise MissingExtra(MISSING)


def _motion(source: Source, options: ReadOptions, arrays: Arrays, facts: Facts) -> Motion:
    say_which_animation(source, facts)
    if count(facts, "layers") > 1:
        source.warn(f"{facts['layers']} animation layers in the take; only the first one is read")
    if "others" in facts:
        source.note(f"other skeletons in the file are left out: {', '.join(texts(source, facts, 'others'))}")
    if facts.get("uneven"):
        source.warn("joints are scaled unevenly: their places are kept, their size is not")
    names = texts(source, facts, "names")
    source.check_joints(len(names))
    n = len(names)
    parents = _parents(source, facts, n)
    world = floats(source, arrays, "positions", (None, n, 3))
    turns = unit_rotations(source, floats(source, arrays, "rotations", (len(world), n, 4)), names)
    if n == 0 or len(world) == 0:
        raise source.error(f"{n} joints and {len(world)} frames, expected at least one of each")
    source.check_size(len(world), n)
    rest_turns = floats(source, arrays, "rest_rotations", (n, 4))
    rest = Pose(
        *_local(
            parents,
            floats(source, arrays, "rest_positions", (n, 3)),
            unit_rotations(source, rest_turns[None], names)[0],
        )
    )
    translations, rotations = _local(parents, world, turns)
    up: Up = facts["up"] if facts.get("up") in UPS else "Y"
    skeleton, kept = _with_end_sites(names, parents, translations, rotations, rest.translations)
    translations, rotations = translations[:, kept], rotations[:, kept]
    rest = Pose(rest.translations[kept], rest.rotations[kept])
    reference, skip = reference_of(source, options, skeleton, translations, rotations, rest, up)
    first = facts.get("first", 0)
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=up,
        metres_per_unit=positive(source, facts.get("unit_scale"), "centimetres per unit") / 100.0,
        first_frame=skip + (round(first) if isinstance(first, int | float) and abs(first) < 1e15 else 0),
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _parents(source: Source, facts: Facts, joints: int) -> Ints:
    parents = facts.get("parents")
    if not isinstance(parents, list) or len(parents) != joints:
        raise source.error("not one parent for each joint")
    if not all(type(p) is int and -1 <= p < j for j, p in enumerate(parents)):
        raise source.error("a joint comes before its parent, expected parents first")
    return np.array(parents, np.int32)


def _local(parents: Ints, world: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Local translations and rotations of world positions (..., J, 3) and rotations (..., J, 4)."""
    child = np.flatnonzero(parents >= 0)
    above = parents[child]
    back = conjugate(turns[..., above, :])
    translations, rotations = world.copy(), turns.copy()
    translations[..., child, :] = rotate(back, world[..., child, :] - world[..., above, :])
    rotations[..., child, :] = normalise(multiply(back, turns[..., child, :]))
    return translations, rotations


def _with_end_sites(
    names: list[str], parents: Ints, translations: Floats, rotations: Floats, offsets: Floats
) -> tuple[Skeleton, Ints]:
    """The skeleton with leaves that only mark the end of a limb as end sites, and the joints that are left."""
    inner = set(parents.tolist())
    size = float(np.abs(offsets).max())
    moves = np.ptp(translations, axis=0).max(axis=1) > 1e-4 * size
    turning = angle_between(rotations, np.broadcast_to(rotations[:1], rotations.shape)).max(axis=0) > _STILL_RAD
    is_end: Bools = np.array(
        [
            parent >= 0 and name == names[parent] + _END and j not in inner and not moves[j] and not turning[j]
            for j, (name, parent) in enumerate(zip(names, parents.tolist(), strict=True))
        ]
    )
    kept, ends = np.flatnonzero(~is_end).astype(np.int32), np.flatnonzero(is_end)
    place = np.full(len(names), -1)
    place[kept] = np.arange(len(kept))
    above = parents[kept]
    skeleton = Skeleton(
        names=tuple(names[j] for j in kept.tolist()),
        parents=np.where(above >= 0, place[np.maximum(above, 0)], -1).astype(np.int32),
        offsets=offsets[kept],
        end_offsets=offsets[ends].reshape(-1, 3),
        end_joints=place[parents[ends]].astype(np.int32),
    )
    return skeleton, kept


def _sniff(head: bytes) -> bool:
    return head.startswith((_BINARY_MAGIC, _TEXT_MAGIC))


FORMAT = Format("FBX", (".fbx",), _sniff, read)
