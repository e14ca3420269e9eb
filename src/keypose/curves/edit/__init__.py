"""Edits of a keyed motion: each operation is a function that returns a ``Change``; ``Edit`` keeps the history.

``offset.py`` changes a key pose, alone or spread over the keys around it; ``rotate_joint``, ``paste``, ``mirror``,
``reach`` and ``shift`` all use it. ``move_key``, ``insert_key`` and ``delete_key`` change keys; ``keep_feet`` restores
foot contacts after an edit.
"""

from keypose.curves.edit.change import Change
from keypose.curves.edit.delete import delete_key
from keypose.curves.edit.editor import Edit, edit
from keypose.curves.edit.feet import keep_feet
from keypose.curves.edit.insert import insert_key
from keypose.curves.edit.mirror import mirror, mirror_pose
from keypose.curves.edit.poses import paste
from keypose.curves.edit.reach import reach
from keypose.curves.edit.retime import move_key
from keypose.curves.edit.rotate import rotate_joint
from keypose.curves.edit.shift import shift

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
