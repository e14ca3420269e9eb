"""Part search: in which clips, and where, a given span of motion occurs.

``body_features.py`` measures the body, ``basis.py`` holds learned axes, ``track.py`` the stored track of a clip.
``query.py`` builds the variants of a query, ``cross_correlation.py`` compares them with all clips, ``peaks.py`` selects
the best spans, and ``gallery.py`` is the entry point.
"""

from keypose.library.part_search.body_features import GROUPS, RATE
from keypose.library.part_search.gallery import PartGallery, PartMatch
from keypose.library.part_search.query import GROUP_NAMES
from keypose.library.part_search.track import PartTrack, build_part_track

__all__ = ["GROUPS", "GROUP_NAMES", "RATE", "PartGallery", "PartMatch", "PartTrack", "build_part_track"]
