"""A .blend file as a motion: where Blender shows the joints on every frame that the scene plays.

A file that Keypose wrote comes back with its own skeleton, axes and unit. Of any other the bones are the joints, Z up.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.errors import ModelError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.blend.own import MOST_FRAME, Own, find_own
from keypose.formats.blend.write import START_BYTES
from keypose.formats.child import Arrays, Facts, Library, floats, positive, read_in_child, texts, unit_rotations
from keypose.formats.child.blender import interpreter, missing
from keypose.formats.child.joints import checked_parents, local_poses, with_end_sites
from keypose.formats.jointspace import reference_of
from keypose.formats.names import unique_names
from keypose.formats.reference import frames_to_skip
from keypose.model import Motion, Pose

BLENDER = Library("Blender", "blend_reader.py", START_BYTES, missing("reading .blend", "blender"))
SAME_PLACE_OF_SIZE = 1e-5  # a joint this near to where it rests is meant to be there: Blender counts in 32 bits


def read(source: Source, options: ReadOptions) -> Motion:
    """What Blender shows of one armature."""
    arrays, facts = asked(source, options, keys=False)
    n = len(texts(source, facts, "names"))
    world = floats(source, arrays, "positions", (None, n, 3))
    if n == 0 or len(world) == 0:
        raise source.error(f"{n} bones and {len(world)} frames, expected at least one of each")
    source.check_size(len(world), n)
    turns = unit_rotations(source, floats(source, arrays, "rotations", (len(world), n, 4)), facts["names"])
    own = find_own(source, arrays, facts)
    try:
        if own is not None:
            return _own_motion(source, options, facts, own, world, turns)
        return _any_motion(source, options, arrays, facts, world, turns)
    except ModelError as error:
        raise source.error(str(error)) from None


def asked(source: Source, options: ReadOptions, *, keys: bool) -> tuple[Arrays, Facts]:
    """Blender's answer, with what it says about the rest of the file noted."""
    arrays, facts = read_in_child(source, BLENDER, interpreter(BLENDER.missing), ".blend", options, keys=keys)
    names = texts(source, facts, "names")
    source.check_joints(len(names))
    checked_parents(source, facts, len(names))
    if options.animation is not None:
        source.note("animation= is not used: a .blend file shows what its scene plays")
    if "others" in facts:
        source.note(f"other armatures in the file are left out: {', '.join(texts(source, facts, 'others'))}")
    if facts.get("uneven"):
        source.warn("bones are scaled unevenly: their places are kept, their size is not")
    return arrays, facts


def first_frame(facts: Facts) -> int:
    """The first frame that the scene plays."""
    first = facts.get("first")
    return first if type(first) is int and abs(first) <= MOST_FRAME else 0


def rate(source: Source, options: ReadOptions, facts: Facts, own: Own) -> float:
    """The rate of the scene; our own where Blender only rounded it."""
    found = positive(source, facts.get("rate"), "frames per second")
    return own.keyed.fps if options.fps is None and abs(found / own.keyed.fps - 1) < 1e-5 else found


def _own_motion(source: Source, options: ReadOptions, facts: Facts, own: Own, world: Floats, turns: Floats) -> Motion:
    keyed = own.keyed
    skeleton = keyed.skeleton
    translations, rotations = local_poses(
        skeleton.parents, own.places_from_world(world[:, own.bones]), own.turns_from_world(turns[:, own.bones])
    )
    size = float(np.ptp(skeleton.rest_positions, axis=0).max())
    for rest in (own.rest.translations, skeleton.offsets):
        still = np.abs(translations - rest).max(axis=(0, 2)) <= SAME_PLACE_OF_SIZE * size
        translations[:, still] = rest[still]
    reference, skip = keyed.reference_pose, 0
    if reference is None or options.reference_pose != "auto":
        skip = frames_to_skip(rotations, options.reference_pose)
        reference = Pose(translations[0], rotations[0]) if skip else reference
    return Motion(
        name=keyed.name,
        skeleton=skeleton,
        fps=rate(source, options, facts, own),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=keyed.up,
        metres_per_unit=keyed.metres_per_unit,
        first_frame=keyed.first_frame + first_frame(facts) - own.first + skip,
        reference_pose=reference,
        notes=(*keyed.notes, *source.notes),
    )


def _any_motion(
    source: Source, options: ReadOptions, arrays: Arrays, facts: Facts, world: Floats, turns: Floats
) -> Motion:
    n = world.shape[1]
    names = list(unique_names(source, texts(source, facts, "names")))
    parents = checked_parents(source, facts, n)
    rest_turns = unit_rotations(source, floats(source, arrays, "rest_rotations", (n, 4))[None], names)[0]
    rest = Pose(*local_poses(parents, floats(source, arrays, "rest_positions", (n, 3)), rest_turns))
    translations, rotations = local_poses(parents, world, turns)
    skeleton, kept = with_end_sites(names, parents, translations, rotations, rest.translations)
    translations, rotations = translations[:, kept], rotations[:, kept]
    rest = Pose(rest.translations[kept], rest.rotations[kept])
    reference, skip = reference_of(source, options, skeleton, translations, rotations, rest, "Z")
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up="Z",
        metres_per_unit=positive(source, facts.get("metres"), "metres per unit"),
        first_frame=first_frame(facts) + skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )
