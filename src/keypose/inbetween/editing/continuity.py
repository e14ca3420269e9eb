"""Quaternion curves after an edit: signs that go on from key to key, cubics that keep away from zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.inbetween.editing.directions import first_direction, square_to
from keypose.model import Curves, Place
from keypose.rotations import multiply

# A cubic between unit quaternions is scaled to length 1 when it is sampled; where it comes nearer to zero than this,
# the turn would rush through.
LEAST_LENGTH = 0.3
LOOKS = 33  # places in a span at which its length is looked at


def continued(old: Curves, new: Curves, keys: Ints, changed: NDArray[np.intp], joints: NDArray[np.intp]) -> Curves:
    """Quaternion curves ``new``, which differ from ``old`` at keys ``changed`` (n,) of ``joints`` (m,), mended there.

    A changed key takes the sign with which turns to its neighbours go the shorter way, as far as they did so before
    the edit; a spin of more than half a turn between two keys is left to go its way. Other keys keep their signs,
    since samples beside the edit must not change. A span that would come too near to zero gets the slopes of an even
    turn.
    """
    values = new.values.copy()
    signs = np.ones((*values.shape[:2], 1))
    for k in changed.tolist():
        score = np.zeros(len(joints))
        for beside in (k - 1, k + 1):
            if 0 <= beside < len(values):
                went_short = _dots(old.values, old.values, k, beside, joints) >= 0
                now, as_before = _dots(values, values, k, beside, joints), _dots(values, old.values, k, k, joints)
                score += np.where(went_short, now, as_before)
        flipped = joints[score < 0]
        signs[k, flipped] = -1.0
        values[k, flipped] *= -1.0
    if new.arriving is None or new.leaving is None or old.arriving is None:
        return Curves(values)
    arriving, leaving = new.arriving * signs, new.leaving * signs
    spans = np.unique(np.concatenate((changed - 1, changed)))
    for a in spans[(spans >= 0) & (spans < len(values) - 1)].tolist():
        bare = Curves(values, arriving, leaving)
        length = least_length(bare, keys, a)[joints]
        short = joints[(length < LEAST_LENGTH) & (length < least_length(old, keys, a)[joints] - 1e-9)]
        if len(short):
            slopes = _even_turn(values[a, short], values[a + 1, short], leaving[a, short])
            gap = float(keys[a + 1] - keys[a])
            leaving[a, short], arriving[a + 1, short] = slopes[0] / gap, slopes[1] / gap
    return Curves(values, arriving, leaving)


def least_length(curves: Curves, keys: Ints, span: int) -> Floats:
    """(J,) how near to zero the cubics of one span come before they are scaled."""
    frames = np.linspace(float(keys[span]), float(keys[span + 1]), LOOKS)
    return np.asarray(np.linalg.norm(curves.at(Place.of(keys, frames)), axis=-1).min(axis=0))


def _dots(a: Floats, b: Floats, k: int, beside: int, joints: NDArray[np.intp]) -> Floats:
    return np.asarray(np.einsum("jc,jc->j", a[k, joints], b[beside, joints]))


def _even_turn(first: Floats, last: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """The slopes over a whole span (m, 4) of even turns from ``first`` to ``last``.

    Opposite quaternions leave open about which axis: then as ``slope`` starts, if it says anything.
    """
    cosine = np.clip(np.einsum("jc,jc->j", first, last), -1.0, 1.0)[:, None]
    about_x = multiply(first, np.broadcast_to((0.0, 1.0, 0.0, 0.0), first.shape))
    aside = first_direction(last - cosine * first, square_to(slope, first), about_x, least=1e-6)
    angle = np.arccos(cosine)
    return angle * aside, angle * (cosine * aside - np.sin(angle) * first)
