"""What Keypose wrote into a .blend file beside the figure, and how its bones stand to the joints.

An artist may have changed the file since, or a stranger may have written the notes: they are used only where they fit
the bones, else the file is read like any other, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats
from keypose.errors import FormatError, LimitError, ModelError
from keypose.formats import keys_json
from keypose.formats.base import ReadOptions, Source
from keypose.formats.blend.rig import upright
from keypose.formats.blend.write import VERSION
from keypose.formats.child import Arrays, Facts, floats, unit_rotations
from keypose.formats.document import parse_json
from keypose.formats.figure.bind import placed
from keypose.model import KeyedMotion, Pose
from keypose.rotations import conjugate, multiply, rotate

MOST_FRAME = 1 << 24  # Blender counts frames to a million


@dataclass(frozen=True)
class Own:
    """The keyed motion that a file was made of, and the change from its bones back to joints."""

    keyed: KeyedMotion
    scale: float  # metres per file unit
    first: int  # Blender's frame of our frame 0
    is_dense: bool  # made of a plain motion: the keyed one holds no movement
    bones: list[int]  # the number of each joint's bone
    upright: Floats  # (4,)
    axes: Floats  # (J, 4) of the bones in those of the joints
    rest: Pose

    def turns_from_world(self, rotations: Floats) -> Floats:
        """World rotations of joints (T, J, 4) in the file's axes, of those of their bones in Blender's."""
        back = np.broadcast_to(conjugate(self.upright), rotations.shape)
        return multiply(multiply(back, rotations), np.broadcast_to(conjugate(self.axes), rotations.shape))

    def places_from_world(self, positions: Floats) -> Floats:
        """World positions (T, J, 3) in the file's axes and unit."""
        return rotate(conjugate(self.upright), positions) / self.scale

    def turns_from_channels(self, q: Floats) -> Floats:
        """Local rotations of joints, or their slopes (K, J, 4), of the quaternion channels of their bones."""
        return multiply(multiply(multiply(self.rest.rotations, self.axes), q), conjugate(self.axes))

    def shifts_from_channels(self, v: Floats) -> Floats:
        """Slopes of local translations (K, J, 3) of those of the location channels of their bones."""
        return rotate(multiply(self.rest.rotations, self.axes), v) / self.scale


def find_own(source: Source, arrays: Arrays, facts: Facts) -> Own | None:
    """What is known of a file that we made; None of any other."""
    if "notes" not in facts:
        return None
    try:
        return _checked(source, arrays, facts)
    except LimitError:
        raise
    except (FormatError, ModelError) as error:
        problem = error.problem if isinstance(error, FormatError) else str(error)
        source.warn(f"Keypose's own notes in the file are not used: {problem}")
        return None


def _checked(source: Source, arrays: Arrays, facts: Facts) -> Own:
    notes, text = facts.get("notes"), facts.get("text")
    if not isinstance(notes, str) or not isinstance(text, str):
        raise source.error("the text that they name is gone")
    json = parse_json(source, notes.encode("utf-8", "replace"))
    if json.whole("version") != VERSION:
        raise json.wrong("version", f"{VERSION}")
    assert keys_json.FORMAT.read_keyed is not None
    inside = Source(source.path, text.encode("utf-8", "replace"), source.limits)
    keyed = replace(keys_json.FORMAT.read_keyed(inside, ReadOptions()), name=source.name)
    n = keyed.n_joints
    rest = Pose(json.rows("rest_translations", n, 3), json.rows("rest_rotations", n, 4))
    bones = _bones(source, facts, keyed)
    turn = upright(keyed.up)
    _, world_turns, _ = placed(keyed.skeleton, rest)
    found = floats(source, arrays, "bone_rotations", (None, 4))[bones]
    found = unit_rotations(source, found[None], keyed.skeleton.names)[0]
    return Own(
        keyed=keyed,
        scale=json.positive("metres_per_unit"),
        first=json.whole("first"),
        is_dense=json.flag("is_dense"),
        bones=bones,
        upright=turn,
        axes=multiply(conjugate(multiply(turn, world_turns)), found),
        rest=rest,
    )


def _bones(source: Source, facts: Facts, keyed: KeyedMotion) -> list[int]:
    """The number of the bone of each joint; bones that an artist added are nobody's."""
    joints, parents = facts.get("joints"), facts.get("parents")
    if not isinstance(joints, list) or not isinstance(parents, list) or len(joints) != len(parents):
        raise source.error("no numbers of joints on the bones")
    bone_of = {joint: bone for bone, joint in enumerate(joints) if type(joint) is int}
    if sorted(bone_of) != list(range(keyed.n_joints)) or sum(type(j) is int for j in joints) != keyed.n_joints:
        raise source.error("bones are gone or doubled")
    for joint, bone in bone_of.items():
        above = parents[bone]
        while above >= 0 and joints[above] is None:
            above = parents[above]
        if (joints[above] if above >= 0 else -1) != keyed.skeleton.parents[joint]:
            raise source.error(f"{keyed.skeleton.names[joint]} hangs on another bone")
    if len(bone_of) < len(joints):
        source.note(f"{len(joints) - len(bone_of)} bones that were added are left out")
    return [bone_of[joint] for joint in range(keyed.n_joints)]
