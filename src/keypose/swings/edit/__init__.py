"""Edits of swings: each operation is a function that returns a ``SwingChange``; ``SwingEdit`` keeps the history.

The track of a joint is edited as a row of pieces (``pieces.py``). ``angle_axis.py``, ``timing.py``, ``copy_delete.py``
and ``retime.py`` edit the selected pieces; ``apply_edit.py`` resolves overlaps in time, ``neighbours.py`` adapts the
other pieces without jumps and returns to the old motion. ``feet.py`` restores foot contacts.
"""

from keypose.swings.edit.change import Displacement, SwingChange
from keypose.swings.edit.editor import SwingEdit

__all__ = ["Displacement", "SwingChange", "SwingEdit"]
