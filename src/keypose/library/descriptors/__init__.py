"""Descriptors: a clip as short vectors. Their distance measures similarity, whatever the skeleton, position and
heading.

``description.py`` defines their input, the result, and projections learned from other clips; ``clip_vector.py``
computes features, ``gallery_ranking.py`` compares and ranks.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, CanonicalBody, canonical_body
from keypose.library.descriptors import clip_vector
from keypose.library.descriptors.clip_vector import GROUPS, clip_groups
from keypose.library.descriptors.description import (
    Description,
    LearnedSpaces,
    Posture,
    Space,
    Windows,
    load_shipped,
    posture,
)
from keypose.library.descriptors.gallery_ranking import Gallery, build_galleries, clip_distances, rank
from keypose.model import Motion

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


def describe(motion: Motion, *, mirrored: bool = False) -> Description | None:
    """Return the description of a motion, or of its mirror image; None without a recognisable body (markers, props).

    The numbers are always the same for the same motion.
    """
    body = canonical_body(motion)
    if body is None:
        return None
    return describe_body(body.mirror() if mirrored else body)


def describe_body(body: CanonicalBody, spaces: LearnedSpaces | None = None) -> Description:
    """Return the description of a canonical body, by the shipped spaces or others."""
    learned = load_shipped() if spaces is None else spaces
    body_posture = posture(body)
    space = learned.spaces["clip"]
    clip_windows = {"clip": space.windows(space.project(clip_features(body_posture)[None]), (0.0,), (body.duration_s,))}
    part_windows = {
        name: _covariance_windows(body_posture, kind, learned.spaces[name]) for name, kind in clip_vector.KINDS.items()
    }
    return Description(clip_windows, part_windows)


def clip_features(body_posture: Posture) -> Floats:
    """Return all groups of the clip vector as one row (N,)."""
    groups = clip_groups(body_posture)
    return np.concatenate([groups[name] for name in GROUPS])


def _covariance_windows(body_posture: Posture, kind: clip_vector.Kind, space: Space) -> Windows:
    n_frames = len(body_posture.positions)
    starts = clip_vector.window_starts(n_frames, kind.scale)
    ends = np.minimum(starts + kind.scale.window_frames, n_frames)
    return space.windows(space.project(clip_vector.covariance_windows(body_posture, kind)), starts / FPS, ends / FPS)
