"""Computation of descriptions of motions."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, CanonicalBody, canonical_body
from keypose.library.descriptors import covariance
from keypose.library.descriptors.clip_vector import GROUPS, clip_groups
from keypose.library.descriptors.description import Description, Windows
from keypose.library.descriptors.learned_spaces import LearnedSpaces, Space, load_shipped
from keypose.library.descriptors.posture import Posture, posture
from keypose.model import Motion


def describe(motion: Motion, *, mirrored: bool = False) -> Description | None:
    """Return the description of a motion, or of its mirror image; None without a recognisable body (markers, props).

    The same motion always gives the same numbers.
    """
    body = canonical_body(motion)
    if body is None:
        return None
    return describe_body(body.mirrored() if mirrored else body)


def describe_body(body: CanonicalBody, spaces: LearnedSpaces | None = None) -> Description:
    """Return the description of a canonical body, by the shipped spaces or others."""
    learned = load_shipped() if spaces is None else spaces
    body_posture = posture(body)
    space = learned.spaces["clip"]
    clip_windows = {"clip": space.windows(space.project(clip_features(body_posture)[None]), (0.0,), (body.duration_s,))}
    part_windows = {
        name: _covariance_windows(body_posture, kind, learned.spaces[name]) for name, kind in covariance.KINDS.items()
    }
    return Description(clip_windows, part_windows)


def clip_features(body_posture: Posture) -> Floats:
    """Return all groups of the clip vector as one row (N,)."""
    groups = clip_groups(body_posture)
    return np.concatenate([groups[name] for name in GROUPS])


def _covariance_windows(body_posture: Posture, kind: covariance.Kind, space: Space) -> Windows:
    n_frames = len(body_posture.positions)
    starts = covariance.window_starts(n_frames, kind.scale)
    ends = np.minimum(starts + kind.scale.window_frames, n_frames)
    return space.windows(space.project(covariance.covariance_windows(body_posture, kind)), starts / FPS, ends / FPS)
