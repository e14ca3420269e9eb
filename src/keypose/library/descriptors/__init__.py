"""Descriptors: a clip as short vectors of which near ones are alike, whatever the skeleton, the place and the heading.

``posture.py`` is what all see of a body; ``clip.py`` and ``covariance.py`` measure, ``learnt.py`` holds what was learnt
of other clips, ``noun.py`` the result, ``matching.py`` compares two of them.
"""

from keypose.library.descriptors.describe import describe, describe_body
from keypose.library.descriptors.matching import Gallery, gallery, rank, unlikeness
from keypose.library.descriptors.noun import Description, Windows

__all__ = ["Description", "Gallery", "Windows", "describe", "describe_body", "gallery", "rank", "unlikeness"]
