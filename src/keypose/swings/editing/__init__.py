"""Edits of swings: each operation is a function that makes a ``SwingChange``, ``SwingEdit`` puts them in a history.

A joint's track is a row of pieces (``pieces.py``). ``turning.py``, ``timing.py``, ``copying.py``, ``intensify.py`` and
``retime.py`` say what becomes of the pieces meant; ``room.py`` finds them room in time, ``adapting.py`` and
``fading.py`` let the others follow without jumps. ``feet.py`` and ``balancing.py`` look at the figure as a whole.
"""

from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.editor import SwingEdit

__all__ = ["SwingChange", "SwingEdit"]
