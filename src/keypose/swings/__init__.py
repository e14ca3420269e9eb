"""Joint swings: motion as rotations of each joint about nearly one axis (Chia 2009), to play, store and edit.

``segment.py`` finds swings and ``fallback.py`` adds keys where they are inaccurate; ``settings.py`` defines the
options, ``model.py`` the result and its playback, ``track.py`` the track of one joint; ``error.py`` measures the error;
``actions.py`` groups swings into actions, by the rules of ``action_rules.py``.
"""

from keypose.swings.actions import Action, Actions
from keypose.swings.model import Swings
from keypose.swings.segment import swings
from keypose.swings.settings import Settings
from keypose.swings.swing import KeyedSpan, Path, Rest, Swing
from keypose.swings.track import Track

__all__ = ["Action", "Actions", "KeyedSpan", "Path", "Rest", "Settings", "Swing", "Swings", "Track", "swings"]
