"""Poses of a strip: keys with opacities, and ghosts between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.api.select import ladder
from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.errors import OptionError
from keypose.model import Motion, Selection
from keypose.pictures.key_marks import Keys, key_frames
from keypose.validation import check_int

DEFAULT_KEYS = 8  # without a selection
MAX_POSES = 300
GHOST_OPACITY = 0.15  # below that of any key
MIN_KEY_OPACITY = 0.45  # of the least important key


@dataclass(frozen=True, eq=False)
class PoseChoice(Frozen):
    """Frames of keys and ghosts in order of time."""

    frames: Ints  # (F,) increasing
    is_key: Bools  # (F,)
    opacity: Floats  # (F,)

    @property
    def keys(self) -> Ints:
        """The frames of the keys."""
        keys: Ints = self.frames[self.is_key]
        return keys


def choose_poses(motion: Motion, selection: Keys, *, rank: bool, ghosts: int) -> PoseChoice:
    """Return the poses of ``selection`` with ``ghosts`` between each two, ranked by opacity if ``rank``."""
    check_int("ghosts", ghosts, min_value=0, max_value=MAX_POSES)
    if selection is None:
        farthest_ladder = ladder(motion, "farthest", max_keys=DEFAULT_KEYS)
        selection = farthest_ladder.at(int(farthest_ladder.counts[-1]))  # fewer if poses are equal
    keys = key_frames(selection, motion.n_frames)
    if not len(keys):
        raise OptionError("no keys, expected at least one frame")
    key_opacity = _rank_opacity(keys, selection) if rank else np.ones(len(keys))
    ghost_frames = _ghost_frames(keys[:MAX_POSES], ghosts)
    frames = np.concatenate((keys, ghost_frames))
    if len(frames) > MAX_POSES:
        and_ghosts = f" and {len(ghost_frames)} ghosts" * (len(keys) <= MAX_POSES and len(ghost_frames) > 0)
        raise OptionError(f"{len(keys):,} keys{and_ghosts}, expected at most {MAX_POSES} poses in a strip")
    order = np.argsort(frames, kind="stable")
    opacity = np.concatenate((key_opacity, np.full(len(ghost_frames), GHOST_OPACITY)))
    return PoseChoice(frames[order], (np.arange(len(frames)) < len(keys))[order], opacity[order])


def _rank_opacity(keys: Ints, selection: Keys) -> Floats:
    """Return opacities (K,) by importance, 1 for the most important key."""
    order = selection.order if isinstance(selection, Selection) else None
    if order is None:
        raise OptionError('rank=True, expected a selection of a method that ranks its keys, such as "farthest"')
    rank = np.empty(len(keys))
    rank[np.searchsorted(keys, order)] = np.arange(len(keys))
    opacity: Floats = 1.0 - (1.0 - MIN_KEY_OPACITY) * rank / max(1, len(keys) - 1)
    return opacity


def _ghost_frames(keys: Ints, ghosts: int) -> Ints:
    """Return up to ``ghosts`` frames between each two keys."""
    steps = np.arange(1, ghosts + 1) / (ghosts + 1)
    frames = np.rint(keys[:-1, None] + np.diff(keys)[:, None] * steps).astype(np.int32)
    return np.setdiff1d(frames, keys)
