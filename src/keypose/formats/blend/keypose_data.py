"""The data that Keypose adds to a .blend file, and the conversion from its bones to joints.

The file may have been edited or the data forged: the data are used only if they match the bones; else the file is read
like any other, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats
from keypose.errors import FormatError, LimitError, ModelError, format_count
from keypose.formats import keys_json
from keypose.formats.base import Source
from keypose.formats.blend.rig import rotation_to_z_up
from keypose.formats.blend.write import VERSION
from keypose.formats.figure import world_pose
from keypose.formats.json_document import parse_json
from keypose.formats.subprocess_readers import Arrays, Facts, normalise_rotations, read_array
from keypose.model import KeyedMotion, Pose
from keypose.options import LoadOptions
from keypose.rotations import conjugate, multiply, rotate

MAX_FRAME = 1 << 24  # frames in Blender end at about a million


@dataclass(frozen=True)
class KeyposeData:
    """The keyed motion that was written to a file, and the conversion from its bones back to joints."""

    keyed: KeyedMotion
    scale: float  # metres per file unit
    first_frame: int  # Blender's frame number of frame 0
    is_dense: bool  # written from a Motion; ``keyed`` then has no movement
    bones: list[int]  # of each joint: the index of its bone
    rotation_to_z_up: Floats  # (4,)
    axes: Floats  # (J, 4) of the bones in those of the joints
    rest: Pose

    def rotations_from_world(self, rotations: Floats) -> Floats:
        """Return world rotations of joints (T, J, 4) in the file's axes from those of their bones in Blender's."""
        inverse = np.broadcast_to(conjugate(self.rotation_to_z_up), rotations.shape)
        return multiply(multiply(inverse, rotations), np.broadcast_to(conjugate(self.axes), rotations.shape))

    def positions_from_world(self, positions: Floats) -> Floats:
        """Return world positions (T, J, 3) in the file's axes and unit from those in Blender's."""
        return rotate(conjugate(self.rotation_to_z_up), positions) / self.scale

    def rotations_from_channels(self, q: Floats) -> Floats:
        """Return local rotations of joints or their tangents (K, J, 4) from quaternion channels of their bones."""
        return multiply(multiply(multiply(self.rest.rotations, self.axes), q), conjugate(self.axes))

    def translations_from_channels(self, v: Floats) -> Floats:
        """Return local translations relative to rest, or their tangents (K, J, 3), from location channels of bones."""
        return rotate(multiply(self.rest.rotations, self.axes), v) / self.scale


def find_keypose_data(source: Source, arrays: Arrays, facts: Facts) -> KeyposeData | None:
    """Return the data of a file that Keypose wrote; None for any other."""
    if "notes" not in facts:
        return None
    try:
        return _parse(source, arrays, facts)
    except LimitError:
        raise
    except (FormatError, ModelError) as error:
        problem = error.summary if isinstance(error, FormatError) else str(error)
        source.warn(f"the data of Keypose in the file are not used: {problem}", code="unused_data")
        return None


def _parse(source: Source, arrays: Arrays, facts: Facts) -> KeyposeData:
    notes, text = facts.get("notes"), facts.get("text")
    if not isinstance(notes, str) or not isinstance(text, str):
        raise source.error("the text that they name is gone", code="missing_data")
    json = parse_json(source, notes.encode("utf-8", "replace"))
    if json.integer("version") != VERSION:
        raise json.member_error("version", f"{VERSION}")
    assert keys_json.FORMAT.read_keyed is not None
    keys_source = Source(source.path, text.encode("utf-8", "replace"), source.limits)
    keyed = replace(keys_json.FORMAT.read_keyed(keys_source, LoadOptions()), name=source.name)
    n = keyed.n_joints
    rest = Pose(json.rows("rest_translations", n, 3), json.rows("rest_rotations", n, 4))
    bones = _match_bones(source, facts, keyed)
    z_up = rotation_to_z_up(keyed.up)
    _, world_rotations, _ = world_pose(keyed.skeleton, rest)
    bone_rotations = read_array(source, arrays, "bone_rotations", (None, 4))[bones]
    bone_rotations = normalise_rotations(source, bone_rotations[None], keyed.skeleton.names)[0]
    return KeyposeData(
        keyed=keyed,
        scale=json.positive("metres_per_unit"),
        first_frame=json.integer("first_frame"),
        is_dense=json.flag("is_dense"),
        bones=bones,
        rotation_to_z_up=z_up,
        axes=multiply(conjugate(multiply(z_up, world_rotations)), bone_rotations),
        rest=rest,
    )


def _match_bones(source: Source, facts: Facts, keyed: KeyedMotion) -> list[int]:
    """Return the bone index of each joint; bones that an artist added are ignored with a note."""
    joints, parents = facts.get("joints"), facts.get("parents")
    if not isinstance(joints, list) or not isinstance(parents, list) or len(joints) != len(parents):
        raise source.error("no numbers of joints on the bones", code="missing_data")
    bone_of = {joint: bone for bone, joint in enumerate(joints) if type(joint) is int}
    if sorted(bone_of) != list(range(keyed.n_joints)) or sum(type(j) is int for j in joints) != keyed.n_joints:
        raise source.error("bones are gone or doubled", code="missing_data")
    for joint, bone in bone_of.items():
        parent = parents[bone]
        while parent >= 0 and joints[parent] is None:
            parent = parents[parent]
        if (joints[parent] if parent >= 0 else -1) != keyed.skeleton.parents[joint]:
            raise source.error(f"{keyed.skeleton.names[joint]} hangs on another bone", code="inconsistent")
    if len(bone_of) < len(joints):
        source.note(f"{format_count(len(joints) - len(bone_of), 'added bone')} left out")
    return [bone_of[joint] for joint in range(keyed.n_joints)]
