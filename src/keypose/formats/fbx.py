"""FBX, read and written through Blender in a child process: its parts that matter here are not documented, but Blender
knows them.

Positions are those of Blender's bone heads (or empties), in the file's own axes and units; a joint's rotation
is its node's, pre-rotations included. Blender's exporter ends each limb with a bone ``NAME_end``: such a leaf
that never turns becomes an end site. Blender reads binary FBX of version 7.1 and later.

Written files are in centimetres and Y up, with a key on every frame, joints in their own axes and a skinned figure.
They have no bones at the ends of limbs, which game engines would take for joints, so end sites are lost.
"""

from __future__ import annotations

from keypose.errors import ModelError
from keypose.formats.base import Format, ReadOptions, Source, WriteOptions
from keypose.formats.blend.rig import make_rig
from keypose.formats.blend.write import START_BYTES, scene_of
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
    write_in_child,
)
from keypose.formats.child.blender import interpreter, missing
from keypose.formats.child.joints import checked_parents, local_poses, with_end_sites
from keypose.formats.figure.size import metres_per_unit
from keypose.formats.jointspace import reference_of
from keypose.formats.keyed import every_frame_a_key
from keypose.formats.reference import with_first_pose
from keypose.kinematics import UPS, Up
from keypose.model import Motion, Pose

_READER = Library("Blender", "fbx_reader.py", START_BYTES, missing("reading FBX", "fbx"))
_WRITER = Library("Blender", "blend_writer.py", START_BYTES, missing("writing FBX", "fbx"))
_BINARY_MAGIC = b"Kaydara FBX Binary"
_TEXT_MAGIC = b"; FBX"
_UNIT_M = 0.01
LEAST_WRITING_SECONDS, SECONDS_PER_POSE = 120.0, 2e-3  # Blender's exporter goes through every joint of every frame


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from one skeleton and one take of an FBX file."""
    if source.data.startswith(_TEXT_MAGIC):
        raise source.error("an FBX file in text form, expected the binary form: save it as binary FBX", line=1)
    arrays, facts = read_in_child(source, _READER, interpreter(_READER.missing), ".fbx", options)
    try:
        return _motion(source, options, arrays, facts)
    except ModelError as error:
        raise source.error(str(error)) from None


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """An FBX file with a key on every frame."""
    python = interpreter(_WRITER.missing)
    rig = make_rig(motion, metres_per_unit(motion) / _UNIT_M, along_limbs=False)
    if options.reference_pose and motion.reference_pose is not None:
        motion = with_first_pose(motion, motion.reference_pose)
    request, given = scene_of(every_frame_a_key(motion), rig, first=0, metres=_UNIT_M)
    request["format"] = "fbx"
    seconds = LEAST_WRITING_SECONDS + SECONDS_PER_POSE * motion.n_frames * motion.n_joints
    return write_in_child(motion.name, _WRITER, python, suffix, request, given, seconds)


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
    parents = checked_parents(source, facts, n)
    world = floats(source, arrays, "positions", (None, n, 3))
    turns = unit_rotations(source, floats(source, arrays, "rotations", (len(world), n, 4)), names)
    if n == 0 or len(world) == 0:
        raise source.error(f"{n} joints and {len(world)} frames, expected at least one of each")
    source.check_size(len(world), n)
    rest_turns = floats(source, arrays, "rest_rotations", (n, 4))
    rest = Pose(
        *local_poses(
            parents,
            floats(source, arrays, "rest_positions", (n, 3)),
            unit_rotations(source, rest_turns[None], names)[0],
        )
    )
    translations, rotations = local_poses(parents, world, turns)
    up: Up = facts["up"] if facts.get("up") in UPS else "Y"
    skeleton, kept = with_end_sites(names, parents, translations, rotations, rest.translations)
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


def _sniff(head: bytes) -> bool:
    return head.startswith((_BINARY_MAGIC, _TEXT_MAGIC))


FORMAT = Format("FBX", (".fbx",), _sniff, read, write)
