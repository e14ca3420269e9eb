"""Joint swings: motion as turns of each joint about nearly one axis (Chia 2009), to play, store and edit.

``segment.py`` finds swings, ``fallback.py`` keys what they describe badly, ``path.py`` keeps where the hips are;
``settings.py`` says how they are found, ``noun.py`` holds the result and plays it, ``error.py`` measures it.
"""

from keypose.swings.noun import Swings
from keypose.swings.parts import KeyedSpan, Rest, Swing
from keypose.swings.path import Path
from keypose.swings.segment import swings
from keypose.swings.settings import Settings
from keypose.swings.track import Track

__all__ = ["KeyedSpan", "Path", "Rest", "Settings", "Swing", "Swings", "Track", "swings"]
