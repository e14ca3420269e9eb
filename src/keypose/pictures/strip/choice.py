"""Which poses a strip shows: keys, how strongly each, and ghosts between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.errors import OptionError
from keypose.model import Motion, Selection
from keypose.options import whole
from keypose.pictures.keys_of import Keys, key_frames
from keypose.verbs.selecting import ladder

USUAL_KEYS = 8  # where nobody said which
MOST_POSES = 300
GHOST = 0.15  # opacity, less than that of any key
FAINTEST = 0.45  # opacity of the least important key


@dataclass(frozen=True, eq=False)
class Choice(Frozen):
    """Frames in order of time, keys and ghosts."""

    frames: Ints  # (F,) increasing
    is_key: Bools  # (F,)
    opacity: Floats  # (F,)

    @property
    def keys(self) -> Ints:
        """The frames of the keys."""
        keys: Ints = self.frames[self.is_key]
        return keys


def choice_of(motion: Motion, selection: Keys, *, rank: bool, ghosts: int) -> Choice:
    """The poses of ``selection``, ranked by opacity where asked, with ``ghosts`` between each two."""
    whole("ghosts", ghosts, least=0, most=MOST_POSES)
    if selection is None:
        found = ladder(motion, "farthest", max_keys=USUAL_KEYS)
        selection = found.at(int(found.counts[-1]))  # fewer where poses are all alike
    keys = key_frames(selection, motion.n_frames)
    if not len(keys):
        raise OptionError("no keys, expected at least one frame")
    strength = _strength(keys, selection) if rank else np.ones(len(keys))
    between = _between(keys[:MOST_POSES], ghosts)
    frames = np.concatenate((keys, between))
    if len(frames) > MOST_POSES:
        and_ghosts = f" and {len(between)} ghosts" * (len(keys) <= MOST_POSES and len(between) > 0)
        raise OptionError(f"{len(keys):,} keys{and_ghosts}, expected at most {MOST_POSES} poses in a strip")
    order = np.argsort(frames, kind="stable")
    opacity = np.concatenate((strength, np.full(len(between), GHOST)))
    return Choice(frames[order], (np.arange(len(frames)) < len(keys))[order], opacity[order])


def _strength(keys: Ints, selection: Keys) -> Floats:
    """Opacities (K,) by importance, the most important pose solid."""
    order = selection.order if isinstance(selection, Selection) else None
    if order is None:
        raise OptionError('rank=True, expected a selection of a method that ranks its keys, such as "farthest"')
    place = np.empty(len(keys))
    place[np.searchsorted(keys, order)] = np.arange(len(keys))
    strength: Floats = 1.0 - (1.0 - FAINTEST) * place / max(1, len(keys) - 1)
    return strength


def _between(keys: Ints, ghosts: int) -> Ints:
    """So many frames between each two keys, those that are there."""
    steps = np.arange(1, ghosts + 1) / (ghosts + 1)
    frames = np.rint(keys[:-1, None] + np.diff(keys)[:, None] * steps).astype(np.int32)
    return np.setdiff1d(frames, keys)
