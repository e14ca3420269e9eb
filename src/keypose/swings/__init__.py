"""Joint swings: motion as rotations of each joint about nearly one axis (Chia 2009), to play, store and edit.

``segment.py`` finds swings, ``fallback.py`` adds keys where they are inaccurate, ``path.py`` holds the positions of the
hips; ``settings.py`` holds the options, ``model.py`` the result and its playback, ``error.py`` measures it.
"""

from keypose.swings.model import Swings
from keypose.swings.path import Path
from keypose.swings.segment import swings
from keypose.swings.settings import Settings
from keypose.swings.swing import KeyedSpan, Rest, Swing
from keypose.swings.track import Track

__all__ = ["KeyedSpan", "Path", "Rest", "Settings", "Swing", "Swings", "Track", "swings"]
