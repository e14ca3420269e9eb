"""Edits of swings: each operation is a function that returns a ``SwingChange``; ``SwingEdit`` keeps the history.

A joint's track is a row of pieces (``pieces.py``). ``angle_axis.py``, ``timing.py``, ``copy_delete.py``,
``intensify.py`` and ``retime.py`` edit the selected pieces; ``overlap.py`` resolves overlaps in time, ``neighbours.py``
and ``fade.py`` adapt the other pieces without jumps. ``feet.py`` and ``balance.py`` handle the figure as a whole.
"""

from keypose.swings.edit.change import SwingChange
from keypose.swings.edit.editor import SwingEdit

__all__ = ["SwingChange", "SwingEdit"]
