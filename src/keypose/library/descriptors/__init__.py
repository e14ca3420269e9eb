"""Descriptors: a clip as short vectors whose distance measures likeness, whatever the skeleton, position and heading.

``posture.py`` computes the input of all; ``clip_vector.py`` and ``covariance.py`` the features, ``learned_spaces.py``
holds projections learned from other clips, ``description.py`` the result, ``gallery_ranking.py`` compares and ranks.
"""

from keypose.library.descriptors.describe import describe, describe_body
from keypose.library.descriptors.description import Description, Windows
from keypose.library.descriptors.gallery_ranking import Gallery, build_galleries, clip_distances, rank

__all__ = [
    "Description",
    "Gallery",
    "Windows",
    "build_galleries",
    "clip_distances",
    "describe",
    "describe_body",
    "rank",
]
