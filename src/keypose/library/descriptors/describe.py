"""From a motion to its description."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, Canonical, canonical
from keypose.library.descriptors import covariance
from keypose.library.descriptors.clip import GROUPS, clip_groups
from keypose.library.descriptors.learnt import Learnt, Space, shipped
from keypose.library.descriptors.noun import Description, Windows
from keypose.library.descriptors.posture import Posture, posture
from keypose.model import Motion


def describe(motion: Motion, *, mirrored: bool = False) -> Description | None:
    """What search knows of a motion, or of its mirror image; None if it has no recognisable body (markers, props).

    The same motion always gives the same numbers.
    """
    body = canonical(motion)
    if body is None:
        return None
    return describe_body(body.mirrored() if mirrored else body)


def describe_body(body: Canonical, learnt: Learnt | None = None) -> Description:
    """The description of a canonical body, by the shipped numbers or by others that were ``learnt``."""
    known = shipped() if learnt is None else learnt
    seen = posture(body)
    space = known.spaces["clip"]
    whole = {"clip": space.windows(space.project(clip_numbers(seen)[None]), (0.0,), (body.duration_s,))}
    parts = {name: _covariance(seen, kind, known.spaces[name]) for name, kind in covariance.KINDS.items()}
    return Description(whole, parts)


def clip_numbers(seen: Posture) -> Floats:
    """All groups of the clip vector as one row (N,)."""
    groups = clip_groups(seen)
    return np.concatenate([groups[name] for name in GROUPS])


def _covariance(seen: Posture, kind: covariance.Kind, space: Space) -> Windows:
    n_frames = len(seen.positions)
    starts = covariance.starts(n_frames, kind.scale)
    ends = np.minimum(starts + kind.scale.window_frames, n_frames)
    return space.windows(space.project(covariance.covariance_windows(seen, kind)), starts / FPS, ends / FPS)
