"""Quaternion curves after an edit: continuous signs, cubics that stay away from zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.curves.edit.directions import first_nonzero_direction, orthogonal_part
from keypose.model import Curves, SpanPosition
from keypose.rotations import multiply

# A cubic between unit quaternions is normalised when it is sampled; where it is shorter than this, the rotation would
# be too fast.
MIN_LENGTH = 0.3
SAMPLES_PER_SPAN = 33  # at which its length is measured


def make_continuous(
    old: Curves, new: Curves, keys: Ints, changed_keys: NDArray[np.intp], joints: NDArray[np.intp]
) -> Curves:
    """Return quaternion curves ``new``, made continuous at ``changed_keys`` (n,) of ``joints`` (m,).

    Elsewhere they equal ``old``. A changed key takes the sign with which rotations to its neighbours go the shorter
    way, if they did so before the edit; a spin of more than half a turn between two keys is preserved. Other keys keep
    their signs, since samples beside the edit must not change. A span that would come too near to zero gets the
    tangents of a rotation at constant speed.
    """
    values = new.values.copy()
    signs = np.ones((*values.shape[:2], 1))
    for k in changed_keys.tolist():
        score = np.zeros(len(joints))
        for neighbour in (k - 1, k + 1):
            if 0 <= neighbour < len(values):
                was_short = _dot_products(old.values, old.values, k, neighbour, joints) >= 0
                new_dots, same_sign = (
                    _dot_products(values, values, k, neighbour, joints),
                    _dot_products(values, old.values, k, k, joints),
                )
                score += np.where(was_short, new_dots, same_sign)
        flipped_joints = joints[score < 0]
        signs[k, flipped_joints] = -1.0
        values[k, flipped_joints] *= -1.0
    if new.in_tangents is None or new.out_tangents is None or old.in_tangents is None:
        return Curves(values)
    in_tangents, out_tangents = new.in_tangents * signs, new.out_tangents * signs
    spans = np.unique(np.concatenate((changed_keys - 1, changed_keys)))
    for a in spans[(spans >= 0) & (spans < len(values) - 1)].tolist():
        candidate = Curves(values, in_tangents, out_tangents)
        length = min_length(candidate, keys, a)[joints]
        short_joints = joints[(length < MIN_LENGTH) & (length < min_length(old, keys, a)[joints] - 1e-9)]
        if len(short_joints):
            tangents = _even_rotation_tangents(
                values[a, short_joints], values[a + 1, short_joints], out_tangents[a, short_joints]
            )
            gap = float(keys[a + 1] - keys[a])
            out_tangents[a, short_joints], in_tangents[a + 1, short_joints] = tangents[0] / gap, tangents[1] / gap
    return Curves(values, in_tangents, out_tangents)


def min_length(curves: Curves, keys: Ints, span: int) -> Floats:
    """Return the smallest length (J,) of the cubics of one span before normalisation."""
    frames = np.linspace(float(keys[span]), float(keys[span + 1]), SAMPLES_PER_SPAN)
    return np.asarray(np.linalg.norm(curves.at(SpanPosition.locate(keys, frames)), axis=-1).min(axis=0))


def _dot_products(a: Floats, b: Floats, k: int, other_key: int, joints: NDArray[np.intp]) -> Floats:
    return np.asarray(np.einsum("jc,jc->j", a[k, joints], b[other_key, joints]))


def _even_rotation_tangents(first: Floats, last: Floats, tangent: Floats) -> tuple[Floats, Floats]:
    """Return the start and end tangents over a whole span (m, 4) of even rotations from ``first`` to ``last``.

    Opposite quaternions do not determine the axis: then the direction of ``tangent`` is used, if it is not zero.
    """
    cosine = np.clip(np.einsum("jc,jc->j", first, last), -1.0, 1.0)[:, None]
    about_x = multiply(first, np.broadcast_to((0.0, 1.0, 0.0, 0.0), first.shape))
    perpendicular = first_nonzero_direction(
        last - cosine * first, orthogonal_part(tangent, first), about_x, min_length=1e-6
    )
    angle = np.arccos(cosine)
    return angle * perpendicular, angle * (cosine * perpendicular - np.sin(angle) * first)
