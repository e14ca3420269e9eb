"""Edits of a keyed motion: each operation is a function of its own, ``Edit`` puts them in a history.

``nudging.py`` changes a key pose, alone or spread over the keys around it, and is what ``rotate``, ``poses`` (paste),
``mirror``, ``reach`` and ``shift`` come down to; ``retime``, ``insert`` and ``delete`` change keys; ``feet`` puts
feet back afterwards.
"""

from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.editor import Edit, edit

__all__ = ["Change", "Edit", "edit"]
