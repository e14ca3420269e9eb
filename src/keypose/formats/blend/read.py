"""Read a .blend file as a motion: positions of the joints on every frame of the scene's range.

A file that Keypose wrote is read with its own skeleton, axes and unit. In any other file the bones are the joints, and
Z is up.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.errors import ModelError, format_count
from keypose.formats.base import BLENDER_VERSIONS, Source
from keypose.formats.blend.keypose_data import MAX_FRAME, KeyposeData, find_keypose_data
from keypose.formats.blend.write import EXTRA, START_BYTES
from keypose.formats.local_poses import find_reference_pose
from keypose.formats.orientation import frames_to_skip, unique_names
from keypose.formats.subprocess_readers import (
    Arrays,
    ExternalLibrary,
    Facts,
    normalise_rotations,
    note_not_read,
    read_array,
    read_in_subprocess,
    read_positive,
    read_strings,
)
from keypose.formats.subprocess_readers.joints import build_skeleton, compute_local_poses, read_parents
from keypose.model import Motion, Pose
from keypose.options import LoadOptions

BLENDER = ExternalLibrary("Blender", "blend_reader.py", START_BYTES, "reading .blend", EXTRA, BLENDER_VERSIONS)
SAME_POSITION_OF_SIZE = 1e-5  # a joint nearer to its rest position is at rest, as Blender uses 32-bit floats


def read(source: Source, options: LoadOptions) -> Motion:
    """Read the evaluated motion of one armature."""
    arrays, facts = read_scene(source, options, keys=False)
    n = len(read_strings(source, facts, "names"))
    world_positions = read_array(source, arrays, "positions", (None, n, 3))
    if n == 0 or len(world_positions) == 0:
        raise source.error(
            f"{format_count(n, 'bone')} and {format_count(len(world_positions), 'frame')}",
            code="missing_data",
            expected="at least one of each",
        )
    source.check_size(len(world_positions), n)
    world_rotations = normalise_rotations(
        source, read_array(source, arrays, "rotations", (len(world_positions), n, 4)), facts["names"]
    )
    keypose_data = find_keypose_data(source, arrays, facts)
    try:
        if keypose_data is not None:
            return _build_keypose_motion(source, options, facts, keypose_data, world_positions, world_rotations)
        return _build_foreign_motion(source, options, arrays, facts, world_positions, world_rotations)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def read_scene(source: Source, options: LoadOptions, *, keys: bool) -> tuple[Arrays, Facts]:
    """Run the reader script and return its arrays and facts; add notes about what is not read."""
    arrays, facts = read_in_subprocess(source, BLENDER, ".blend", options, keys=keys)
    names = read_strings(source, facts, "names")
    source.check_joints(len(names))
    read_parents(source, facts, len(names))
    if options.animation is not None:
        source.note("the option animation has no effect: a .blend file is read as its scene plays it")
    note_not_read(source, facts)
    if facts.get("is_uneven"):
        source.warn(
            "bones have a non-uniform scale: their positions are preserved, their scale is not", code="uneven_scale"
        )
    return arrays, facts


def first_frame(facts: Facts) -> int:
    """Return the first frame of the scene's range."""
    first = facts.get("first")
    return first if type(first) is int and abs(first) <= MAX_FRAME else 0


def frame_rate(source: Source, options: LoadOptions, facts: Facts, keypose_data: KeyposeData) -> float:
    """Return the rate of the scene, or the saved one if that of the scene is only rounded."""
    scene_rate = read_positive(source, facts.get("rate"), "frames per second")
    return (
        keypose_data.keyed.fps
        if options.fps is None and abs(scene_rate / keypose_data.keyed.fps - 1) < 1e-5
        else scene_rate
    )


def _build_keypose_motion(
    source: Source,
    options: LoadOptions,
    facts: Facts,
    keypose_data: KeyposeData,
    world_positions: Floats,
    world_rotations: Floats,
) -> Motion:
    keyed = keypose_data.keyed
    skeleton = keyed.skeleton
    translations, rotations = compute_local_poses(
        skeleton.parents,
        keypose_data.positions_from_world(world_positions[:, keypose_data.bones]),
        keypose_data.rotations_from_world(world_rotations[:, keypose_data.bones]),
    )
    size = float(np.ptp(skeleton.rest_positions, axis=0).max())
    for rest in (keypose_data.rest.translations, skeleton.offsets):
        still = np.abs(translations - rest).max(axis=(0, 2)) <= SAME_POSITION_OF_SIZE * size
        translations[:, still] = rest[still]
    reference, skip = keyed.reference_pose, 0
    if reference is None or options.reference_pose != "auto":
        skip = frames_to_skip(rotations, options.reference_pose)
        reference = Pose(translations[0], rotations[0]) if skip else reference
    return Motion(
        name=keyed.name,
        skeleton=skeleton,
        fps=frame_rate(source, options, facts, keypose_data),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=keyed.up,
        metres_per_unit=keyed.metres_per_unit,
        first_frame=keyed.first_frame + first_frame(facts) - keypose_data.first_frame + skip,
        reference_pose=reference,
        notes=(*keyed.notes, *source.notes),
    )


def _build_foreign_motion(
    source: Source, options: LoadOptions, arrays: Arrays, facts: Facts, world_positions: Floats, world_rotations: Floats
) -> Motion:
    n = world_positions.shape[1]
    names = list(unique_names(source, read_strings(source, facts, "names")))
    parents = read_parents(source, facts, n)
    rest_rotations = normalise_rotations(source, read_array(source, arrays, "rest_rotations", (n, 4))[None], names)[0]
    rest = Pose(*compute_local_poses(parents, read_array(source, arrays, "rest_positions", (n, 3)), rest_rotations))
    translations, rotations = compute_local_poses(parents, world_positions, world_rotations)
    skeleton, joints = build_skeleton(names, parents, translations, rotations, rest.translations)
    translations, rotations = translations[:, joints], rotations[:, joints]
    rest = Pose(rest.translations[joints], rest.rotations[joints])
    reference, skip = find_reference_pose(source, options, skeleton, translations, rotations, rest, "Z")
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=read_positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up="Z",
        metres_per_unit=read_positive(source, facts.get("metres"), "metres per unit"),
        first_frame=first_frame(facts) + skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )
