"""Edits of a keyed motion: each operation is a function that makes a ``Change``, ``Edit`` puts them in a history.

``nudging.py`` changes a key pose, alone or spread over the keys around it, and is what ``rotate_joint``, ``paste``,
``mirror``, ``reach`` and ``shift`` come down to; ``move_key``, ``insert_key`` and ``delete_key`` change keys;
``keep_feet`` puts feet back afterwards.
"""

from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.delete import delete_key
from keypose.inbetween.editing.editor import Edit, edit
from keypose.inbetween.editing.feet import keep_feet
from keypose.inbetween.editing.insert import insert_key
from keypose.inbetween.editing.mirror import mirror, mirrored
from keypose.inbetween.editing.poses import paste
from keypose.inbetween.editing.reach import reach
from keypose.inbetween.editing.retime import move_key
from keypose.inbetween.editing.rotate import rotate_joint
from keypose.inbetween.editing.shift import shift

__all__ = [
    "Change",
    "Edit",
    "delete_key",
    "edit",
    "insert_key",
    "keep_feet",
    "mirror",
    "mirrored",
    "move_key",
    "paste",
    "reach",
    "rotate_joint",
    "shift",
]
