"""The angles that a file's rotations came from, found again in the motion alone."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.model import Skeleton
from keypose.model.skeleton import ROTATION_CHANNELS
from keypose.rotations import to_euler, unwrap_euler
from keypose.storage.lossless.layout import Layout
from keypose.storage.lossless.spelling import same_bits

DECIMALS = (1, 2, 4, 6, 8, 10, 12)  # to which angles are rounded, in this order; 12 is all that a quaternion tells
SAMPLE_FRAMES = 16  # that show whether there is any hope for a joint
BLOCK_FRAMES = 512  # looked at together

# Full turns more or less that angles of the same turn may have, none first: up to three together, 57 ways.
_TURNS = [turns for turns in product(range(-2, 3), repeat=3) if sum(map(abs, turns)) <= 3]
_FULL_TURNS = 360.0 * np.array(sorted(_TURNS, key=lambda turns: sum(map(abs, turns))))


def recovered_angles(skeleton: Skeleton, joint: int, rotations: Floats) -> Floats | None:
    """Angles (N, channels) of the joint's rotation channels, in degrees, that give the bits of ``rotations`` (N, 4).

    None: there are none, or they cannot be found, as in gimbal lock.
    """
    search = _Search(skeleton.rotation_orders[joint], sum(c in ROTATION_CHANNELS for c in skeleton.channels[joint]))
    triples = _triples(rotations, skeleton.rotation_orders[joint])
    sample = np.unique(np.linspace(0, len(rotations) - 1, SAMPLE_FRAMES).astype(int))
    if not search.found(rotations[sample], triples[:, sample], _FULL_TURNS)[1].any():
        return None
    angles, known = search.found(rotations, triples, _FULL_TURNS[:1])
    return angles[:, : search.channels] if known.all() else _followed(search, rotations, triples)


def _followed(search: _Search, rotations: Floats, triples: Floats) -> Floats | None:
    """The angles of a file that lets them run on beyond full turns: each frame's are near those of the one before."""
    angles = np.zeros((len(rotations), 3))
    done = 0
    while done < len(rotations):
        before = angles[max(done - 1, 0)]
        some = slice(done, done + BLOCK_FRAMES)
        going_on = np.deg2rad(np.concatenate((before[None], triples[0, some])))
        near = np.rad2deg(unwrap_euler(going_on[:, None])[1:, 0])
        made, known = search.found(rotations[some], near[None], _FULL_TURNS[:1])
        count = len(known) if known.all() else int(np.argmin(known))
        if count == 0:
            turns = np.rint((before - triples[:, done]) / 360.0) * 360.0
            for more in (turns, 0.0 * turns):
                made, known = search.found(rotations[done : done + 1], (triples[:, done] + more)[:, None], _FULL_TURNS)
                if known[0]:
                    break
            else:
                return None
            count = 1
        angles[done : done + count] = made[:count]
        done += count
    return angles[:, : search.channels]


def _triples(rotations: Floats, order: str) -> Floats:
    """The two triples of angles (2, N, 3) within half a turn that describe each rotation, in degrees."""
    angles = np.rad2deg(to_euler(rotations, order))
    mirrored = np.stack((angles[:, 0] + 180.0, 180.0 - angles[:, 1], angles[:, 2] + 180.0), axis=1)
    return np.stack((angles, (mirrored + 180.0) % 360.0 - 180.0))


class _Search:
    """Looks for the angles of one joint."""

    def __init__(self, order: str, channels: int) -> None:
        own = tuple(f"{axis}rotation" for axis in order[:channels])
        one_joint = Skeleton(("joint",), np.array([-1]), np.zeros((1, 3)), (order,), (own,))
        self.channels = channels
        self._layout = Layout(one_joint, ((False,) * 3,), (False,))

    def found(self, rotations: Floats, triples: Floats, full_turns: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Rounded angles (N, 3) and where they are right, out of ``triples`` (ways, N, 3) and some full turns more."""
        found = np.zeros(triples.shape[1:])
        known = np.zeros(len(rotations), bool)
        for start in range(0, len(rotations), BLOCK_FRAMES):
            for decimals, angles in product(DECIMALS, triples):
                missing = start + np.flatnonzero(~known[start : start + BLOCK_FRAMES])
                if not len(missing):
                    break
                some = np.round(angles[missing] + full_turns[:, None], decimals) + 0.0
                some[..., self.channels :] = 0.0
                made = self._layout.poses(some[..., : self.channels].reshape(some[..., 0].size, self.channels))[1]
                right = same_bits(made.reshape(*some.shape[:2], 4), rotations[missing][None]).all(axis=-1)
                way = right.argmax(axis=0)
                known[missing] = right.any(axis=0)
                found[missing] = some[way, np.arange(len(missing))]
        return found, known
