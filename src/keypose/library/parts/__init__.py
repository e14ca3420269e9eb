"""Part search: where in which clips does this happen.

``measure.py`` says what is seen of a body, ``basis.py`` holds learnt axes of it, ``track.py`` the clip that a library
keeps. ``asked.py`` is what is looked for, ``sliding.py`` compares it with everything, ``places.py`` picks the best, and
``gallery.py`` is what callers use.
"""

from keypose.library.parts.asked import NAMES
from keypose.library.parts.gallery import PartGallery, PartMatch
from keypose.library.parts.measure import GROUPS, RATE
from keypose.library.parts.track import PartTrack, describe_parts

__all__ = ["GROUPS", "NAMES", "RATE", "PartGallery", "PartMatch", "PartTrack", "describe_parts"]
