"""Recover the angles of a file from the rotations of its motion; and the table of its numbers, for files where that is
impossible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, Ints, freeze_floats
from keypose.errors import ModelError
from keypose.model import Motion, Skeleton
from keypose.model.skeleton import ROTATION_CHANNELS
from keypose.rotations import to_euler, unwrap_euler
from keypose.storage.lossless.layout import DECIMAL, Layout, channel_layout, choose_number_formats, same_bits

DECIMALS = (1, 2, 4, 6, 8, 10, 12)  # tried in this order; a quaternion determines at most 12
SAMPLE_FRAMES = 16  # tested before a joint is processed
BLOCK_FRAMES = 512  # processed at a time

# Multiples of full turns that are added to the angles of a rotation: 57 combinations of up to three turns in total,
# none first.
_TURN_COUNTS = [
    turns for total in range(4) for turns in product(range(-2, 3), repeat=3) if sum(map(abs, turns)) == total
]
_FULL_TURNS = 360.0 * np.array(_TURN_COUNTS)

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MAX_FRAME_TIME_LENGTH = 64


def recover_angles(skeleton: Skeleton, joint: int, rotations: Floats) -> Floats | None:
    """Return angles (N, channels) of the joint's rotation channels, in degrees, that give exactly ``rotations`` (N, 4).

    It is None if there are none, or if they cannot be recovered, as in gimbal lock.
    """
    search = _AngleSearch(
        skeleton.rotation_orders[joint], sum(c in ROTATION_CHANNELS for c in skeleton.channels[joint])
    )
    triples = _euler_pairs(rotations, skeleton.rotation_orders[joint])
    sample = np.unique(np.linspace(0, len(rotations) - 1, SAMPLE_FRAMES).astype(int))
    if not search.find_angles(rotations[sample], triples[:, sample], _FULL_TURNS)[1].any():
        return None
    angles, is_exact = search.find_angles(rotations, triples, _FULL_TURNS[:1])
    return angles[:, : search.channels] if is_exact.all() else _recover_continuous_angles(search, rotations, triples)


def _recover_continuous_angles(search: _AngleSearch, rotations: Floats, triples: Floats) -> Floats | None:
    """Return the angles of a file with angles beyond full turns; those of each frame are near those of the previous
    one."""
    angles = np.zeros((len(rotations), 3))
    n_done = 0
    while n_done < len(rotations):
        previous = angles[max(n_done - 1, 0)]
        block = slice(n_done, n_done + BLOCK_FRAMES)
        continued = np.deg2rad(np.concatenate((previous[None], triples[0, block])))
        near = np.rad2deg(unwrap_euler(continued[:, None])[1:, 0])
        candidates, is_exact = search.find_angles(rotations[block], near[None], _FULL_TURNS[:1])
        count = len(is_exact) if is_exact.all() else int(np.argmin(is_exact))
        if count == 0:
            full_turns = np.rint((previous - triples[:, n_done]) / 360.0) * 360.0
            for offset in (full_turns, 0.0 * full_turns):
                candidates, is_exact = search.find_angles(
                    rotations[n_done : n_done + 1], (triples[:, n_done] + offset)[:, None], _FULL_TURNS
                )
                if is_exact[0]:
                    break
            else:
                return None
            count = 1
        angles[n_done : n_done + count] = candidates[:count]
        n_done += count
    return angles[:, : search.channels]


def _euler_pairs(rotations: Floats, order: str) -> Floats:
    """Return the two triples of angles (2, N, 3) within half a turn that describe each rotation, in degrees."""
    angles = np.rad2deg(to_euler(rotations, order))
    other = np.stack((angles[:, 0] + 180.0, 180.0 - angles[:, 1], angles[:, 2] + 180.0), axis=1)
    return np.stack((angles, (other + 180.0) % 360.0 - 180.0))


class _AngleSearch:
    """Searches the angles of one joint."""

    def __init__(self, order: str, channels: int) -> None:
        rotation_channels = tuple(f"{axis}rotation" for axis in order[:channels])
        one_joint = Skeleton(("joint",), np.array([-1]), np.zeros((1, 3)), (order,), (rotation_channels,))
        self.channels = channels
        self._layout = Layout(one_joint, ((False,) * 3,), (False,))

    def find_angles(self, rotations: Floats, triples: Floats, full_turns: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return rounded angles (N, 3) and where they are exact (N,), from ``triples`` (ways, N, 3) plus full turns."""
        result = np.zeros(triples.shape[1:])
        is_exact = np.zeros(len(rotations), bool)
        for start in range(0, len(rotations), BLOCK_FRAMES):
            for decimals, angles in product(DECIMALS, triples):
                missing = start + np.flatnonzero(~is_exact[start : start + BLOCK_FRAMES])
                if not len(missing):
                    break
                candidates = np.round(angles[missing] + full_turns[:, None], decimals) + 0.0
                candidates[..., self.channels :] = 0.0
                candidate_rotations = self._layout.poses(
                    candidates[..., : self.channels].reshape(candidates[..., 0].size, self.channels)
                )[1]
                matches = same_bits(
                    candidate_rotations.reshape(*candidates.shape[:2], 4), rotations[missing][None]
                ).all(axis=-1)
                first_match = matches.argmax(axis=0)
                is_exact[missing] = matches.any(axis=0)
                result[missing] = candidates[first_match, np.arange(len(missing))]
        return result, is_exact


@dataclass(frozen=True, eq=False)
class ChannelTable(Frozen):
    """Every number of the MOTION section of a BVH file, in file order.

    Angles may be beyond 180 degrees or in gimbal lock; then the quaternions of a motion do not determine them. The
    first row is the reference pose if the reader has separated one from the movement.
    """

    values: Floats  # (R, channels of all joints)
    frame_time: str  # the text after "Frame Time:", such as ".0083333"
    n_reference_rows: int = 0  # 0 or 1

    def __post_init__(self) -> None:
        self._set_field("values", freeze_floats(self.values, (None, None), "channel values"))
        if len(self.frame_time) > MAX_FRAME_TIME_LENGTH or not _NUMBER.fullmatch(self.frame_time):
            raise ModelError(
                f"frame time {self.frame_time[:MAX_FRAME_TIME_LENGTH]!r}",
                subject="channel table",
                expected="a decimal number",
            )
        if self.n_reference_rows not in (0, 1) or len(self.values) <= self.n_reference_rows:
            raise ModelError(
                f"{self.n_reference_rows} of {len(self.values)} rows kept apart",
                subject="channel table",
                expected="0 or 1 of more",
            )

    def __repr__(self) -> str:
        rows, channels = self.values.shape
        return f"ChannelTable({rows} rows of {channels} channels)"

    def decimals(self) -> Ints:
        """Return the number of decimals of each channel; -1: not decimal, such as numbers with an exponent."""
        number_formats = choose_number_formats(np.ascontiguousarray(self.values.T))
        return np.array([s.decimals if s.kind == DECIMAL else -1 for s in number_formats], np.int32)

    def matches_motion(self, motion: Motion) -> bool:
        """Return whether ``motion`` is exactly the motion that the reader returns for these numbers."""
        layout = channel_layout(motion.skeleton)
        pose = motion.reference_pose
        rows = motion.n_frames + self.n_reference_rows
        if self.values.shape != (rows, len(layout.channel_columns)) or self.n_reference_rows != (pose is not None):
            return False
        columns = np.empty_like(self.values)
        columns[:, layout.channel_columns] = self.values
        translations, rotations = layout.poses(columns)
        pairs = [
            (translations[self.n_reference_rows :], motion.translations),
            (rotations[self.n_reference_rows :], motion.rotations),
        ]
        if pose is not None:
            pairs += [(translations[0], pose.translations), (rotations[0], pose.rotations)]
        return all(same_bits(a, b).all() for a, b in pairs)
