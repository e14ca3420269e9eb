"""FBX, read and written by Blender in a child process, as the format is not documented.

Positions are those of Blender's bone heads (or empties), in the file's own axes and units; a joint's rotation
is its node's, including pre-rotations. Blender's exporter ends each limb with a bone ``NAME_end``: such a leaf
that never rotates becomes an end site. Blender reads binary FBX of version 7.1 and later.

Written files are in centimetres and Y up, with a key on every frame, joints in their own axes and a skinned figure.
They have no bones at the ends of limbs, as game engines would treat these as joints; so end sites are lost.
"""

from __future__ import annotations

from keypose.errors import ModelError, format_count
from keypose.formats.base import BLENDER_PYTHONS, BLENDER_VARIABLE, BLENDER_VERSIONS, Extra, Format, SaveOptions, Source
from keypose.formats.blend.rig import build_rig
from keypose.formats.blend.write import START_BYTES, build_scene
from keypose.formats.local_poses import find_reference_pose, key_every_frame
from keypose.formats.orientation import metres_per_unit, prepend_pose
from keypose.formats.subprocess_readers import (
    Arrays,
    ExternalLibrary,
    Facts,
    list_animations_in_subprocess,
    normalise_rotations,
    note_animations,
    note_not_read,
    read_array,
    read_count,
    read_in_subprocess,
    read_positive,
    read_strings,
    write_in_subprocess,
)
from keypose.formats.subprocess_readers.joints import build_skeleton, compute_local_poses, read_parents
from keypose.kinematics import UPS, Up
from keypose.model import Motion, Pose
from keypose.options import LoadOptions

_EXTRA = Extra("fbx", "bpy", BLENDER_VARIABLE, BLENDER_PYTHONS)
_READER = ExternalLibrary("Blender", "fbx_reader.py", START_BYTES, "reading FBX", _EXTRA, BLENDER_VERSIONS)
_WRITER = ExternalLibrary("Blender", "blend_writer.py", START_BYTES, "writing FBX", _EXTRA, BLENDER_VERSIONS)
_BINARY_MAGIC = b"Kaydara FBX Binary"
_TEXT_MAGIC = b"; FBX"
_UNIT_M = 0.01
MIN_WRITE_SECONDS, SECONDS_PER_POSE = 120.0, 2e-3  # Blender's exporter evaluates every joint in every frame


def read(source: Source, options: LoadOptions) -> Motion:
    """Read one skeleton and one take of an FBX file."""
    if source.data.startswith(_TEXT_MAGIC):
        raise source.error(
            "an FBX file in text form", code="unsupported", line=1, expected="the binary form: save it as binary FBX"
        )
    arrays, facts = read_in_subprocess(source, _READER, ".fbx", options)
    try:
        return _build_motion(source, options, arrays, facts)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def list_animations(source: Source, options: LoadOptions) -> list[str]:
    """Return the names of the takes of an FBX file."""
    return list_animations_in_subprocess(source, _READER, ".fbx", options)


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode an FBX file with a key on every frame."""
    python = _WRITER.find_python()
    rig = build_rig(motion, metres_per_unit(motion) / _UNIT_M, along_limbs=False)
    if options.reference_pose and motion.reference_pose is not None:
        motion = prepend_pose(motion, motion.reference_pose)
    request, arrays = build_scene(key_every_frame(motion), rig, first_frame=0, blender_unit_m=_UNIT_M)
    request["format"] = "fbx"
    seconds = MIN_WRITE_SECONDS + SECONDS_PER_POSE * motion.n_frames * motion.n_joints
    return write_in_subprocess(motion.name, _WRITER, python, suffix, request, arrays, seconds)


def _build_motion(source: Source, options: LoadOptions, arrays: Arrays, facts: Facts) -> Motion:
    note_animations(source, facts)
    if read_count(facts, "layers") > 1:
        source.warn(
            f"{facts['layers']} animation layers in the take; only the first one is read",
            code="other_layers",
            value=facts["layers"],
        )
    note_not_read(source, facts)
    if facts.get("is_uneven"):
        source.warn(
            "joints have a non-uniform scale: their positions are preserved, their scale is not", code="uneven_scale"
        )
    names = read_strings(source, facts, "names")
    source.check_joints(len(names))
    n = len(names)
    parents = read_parents(source, facts, n)
    world_positions = read_array(source, arrays, "positions", (None, n, 3))
    world_rotations = normalise_rotations(
        source, read_array(source, arrays, "rotations", (len(world_positions), n, 4)), names
    )
    if n == 0 or len(world_positions) == 0:
        raise source.error(
            f"{format_count(n, 'joint')} and {format_count(len(world_positions), 'frame')}",
            code="missing_data",
            expected="at least one of each",
        )
    source.check_size(len(world_positions), n)
    rest_rotations = read_array(source, arrays, "rest_rotations", (n, 4))
    rest = Pose(
        *compute_local_poses(
            parents,
            read_array(source, arrays, "rest_positions", (n, 3)),
            normalise_rotations(source, rest_rotations[None], names)[0],
        )
    )
    translations, rotations = compute_local_poses(parents, world_positions, world_rotations)
    up: Up = facts["up"] if facts.get("up") in UPS else "Y"
    skeleton, joints = build_skeleton(names, parents, translations, rotations, rest.translations)
    translations, rotations = translations[:, joints], rotations[:, joints]
    rest = Pose(rest.translations[joints], rest.rotations[joints])
    reference, skip = find_reference_pose(source, options, skeleton, translations, rotations, rest, up)
    first = facts.get("first", 0)
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=read_positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=up,
        metres_per_unit=read_positive(source, facts.get("unit_scale"), "centimetres per unit") / 100.0,
        first_frame=skip + (round(first) if isinstance(first, int | float) and abs(first) < 1e15 else 0),
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _sniff(head: bytes) -> bool:
    return head.startswith((_BINARY_MAGIC, _TEXT_MAGIC))


FORMAT = Format(
    "FBX",
    (".fbx",),
    _sniff,
    read,
    write,
    list_animations=list_animations,
    extra=_EXTRA,
    stores_reference_pose=False,
    rounding_mm=0.02,  # 32-bit numbers
    binary_suffixes=(".fbx",),
)
