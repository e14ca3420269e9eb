"""Edits of a keyed motion: each operation is a function that returns a ``Change``; ``Edit`` keeps the history.

``poses.py`` changes a key pose, alone or spread over the keys around it; ``rotate_joint``, ``paste``, ``mirror``,
``reach`` and ``shift`` all use it. ``move_key``, ``insert_key`` and ``delete_key`` change keys; ``keep_feet`` restores
foot contacts after an edit.
"""

from keypose.curves.edit.change import Change
from keypose.curves.edit.editor import Edit, edit
from keypose.curves.edit.feet import keep_feet
from keypose.curves.edit.keys import delete_key, insert_key, move_key
from keypose.curves.edit.mirror import mirror, mirror_pose
from keypose.curves.edit.poses import paste, rotate_joint, shift
from keypose.curves.edit.reach import reach

__all__ = [
    "Change",
    "Edit",
    "delete_key",
    "edit",
    "insert_key",
    "keep_feet",
    "mirror",
    "mirror_pose",
    "move_key",
    "paste",
    "reach",
    "rotate_joint",
    "shift",
]
