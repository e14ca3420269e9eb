"""Delete a key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at
from keypose.inbetween.editing.change import Change, reach_of_keys
from keypose.inbetween.editing.continuity import LEAST_LENGTH, least_length
from keypose.inbetween.editing.detail import with_detail_of
from keypose.inbetween.editing.pointing import pointing
from keypose.inbetween.fitted import fitted
from keypose.model import Curves, KeyedMotion, Place
from keypose.rotations import normalise

LONG_ENOUGH = 0.6  # of a cubic quaternion that is fitted by its direction


def delete_key(keyed: KeyedMotion, frame: Any) -> Change:
    """``keyed`` without the key at ``frame``; one span takes the place of two, fitted to what they did.

    Without the first or the last key the next one holds instead. The residual takes in what the new span leaves out,
    so that with all of it nothing changes.
    """
    key = key_at(keyed, frame)
    if keyed.n_keys == 1:
        raise OptionError(f"the key at frame {keyed.keys[key]} is the only one, and a keyed motion needs one")
    first, last = reach_of_keys(keyed, key, key)
    fewer = replace(
        keyed,
        keys=np.delete(keyed.keys, key),
        translations=_without(keyed.translations, keyed, key, quaternions=False),
        rotations=_without(keyed.rotations, keyed, key, quaternions=keyed.rotation_orders is None),
        extremes=np.delete(keyed.extremes, key),
    )
    if fewer.is_cubic and fewer.rotation_orders is None and 0 < key < fewer.n_keys:
        length = least_length(fewer.rotations, fewer.keys, key - 1)
        if length.min() < LEAST_LENGTH:
            joint = keyed.skeleton.names[int(length.argmin())]
            raise OptionError(f"without the key at frame {keyed.keys[key]} {joint} would turn too far in one span")
    return Change(with_detail_of(fewer, keyed, first, last), first, last)


def _without(curves: Curves, keyed: KeyedMotion, key: int, *, quaternions: bool) -> Curves:
    """Curves without one key, the slopes at its neighbours fitted to what the two spans did at every frame."""
    values = give_away(np.delete(curves.values, key, axis=0))
    if curves.arriving is None or curves.leaving is None:
        return Curves(values)
    arriving, leaving = np.delete(curves.arriving, key, axis=0), np.delete(curves.leaving, key, axis=0)
    if 0 < key < len(curves) - 1:
        start, stop = keyed.keys[key - 1], keyed.keys[key + 1]
        did = curves.at(Place.of(keyed.keys, np.arange(start, stop + 1, dtype=np.float64)))
        slopes = _merged(normalise(did) if quaternions else did, quaternions=quaternions)
        leaving[key - 1], arriving[key] = slopes
    return Curves(values, give_away(arriving), give_away(leaving))


def _merged(did: Floats, *, quaternions: bool) -> Floats:
    """The slopes (2, J, C) at both ends of one span that does what frames ``did`` (N, J, C) do.

    Of quaternions only the direction counts, so that a key that was inserted can be deleted again without a trace. But
    where that makes a cubic short, which turns in a rush between frames, its numbers are fitted instead.
    """
    gap = len(did) - 1
    keys = np.array([0, gap], np.int32)
    plain = fitted(did, keys)
    assert plain.arriving is not None and plain.leaving is not None
    slopes = np.stack((plain.leaving[0], plain.arriving[1]))
    if not quaternions:
        return slopes
    pointed = pointing(did[1:-1], did[[0, -1]], slopes, np.arange(1, gap) / gap, float(gap))
    length = least_length(Curves(plain.values, pointed, pointed), keys, 0)
    is_long = length >= np.minimum(LONG_ENOUGH, least_length(plain, keys, 0))
    return np.where(is_long[:, None], pointed, slopes)
