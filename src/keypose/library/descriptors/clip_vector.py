"""Features of descriptions: of whole clips, and of the common movement of the joints of a body region within one
window."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.library.canonical import FPS, INDEX, PARTNERS
from keypose.library.descriptors.description import FEET, Posture

GROUPS = ("covariance", "statistics", "facts")
PERCENTILES = (5.0, 50.0, 95.0)
BEGINNINGS_WEIGHT = 0.3  # seconds: weight of one beginning per second
SIDED, WHOLE_BODY = 16, 14  # numbers of facts

VELOCITY_WEIGHT = 0.2
TRAVEL_WEIGHT = 0.3
MIN_VARIANCE = 0.01  # square metres; with less variance a window is still
BLOCK_WINDOWS = 128  # computed together: 20 MB


def clip_groups(body: Posture) -> dict[str, Floats]:
    """Return the features of each group, (N,), before projection to one vector."""
    return {
        "covariance": log_covariances(frame_features(body, WHOLE)[None])[0],
        "statistics": _statistics(body),
        "facts": _fact_features(facts(body)),
    }


@cache
def clip_mirror_permutation() -> tuple[Ints, Floats]:
    """Return for all features, groups concatenated, the source index in the mirror image and the sign, (N,) each."""
    group_mirrors = (mirror_permutation(tuple(WHOLE.tolist())), _mirror_statistics(), _mirror_facts())
    firsts = np.cumsum([0, *(len(indices) for indices, _ in group_mirrors)])
    indices = [first + each for first, (each, _) in zip(firsts, group_mirrors, strict=False)]
    return np.concatenate(indices).astype(np.int32), np.concatenate([signs for _, signs in group_mirrors])


def _mirror_statistics() -> tuple[Ints, Floats]:
    """Return indices and signs; a feature that changes sign exchanges its low and high percentiles."""
    partner = np.array([WHOLE.tolist().index(PARTNERS[joint]) for joint in WHOLE])
    n = len(partner)
    columns = np.concatenate(((3 * partner[:, None] + np.arange(3)).ravel(), 3 * n + partner, 4 * n + np.arange(5)))
    signs = np.concatenate((np.tile((-1.0, 1.0, 1.0), n), np.ones(n), (-1.0, 1.0, 1.0), (-1.0, 1.0)))
    rows = np.arange(len(PERCENTILES))[:, None]
    indices = np.where(signs < 0, rows[::-1], rows) * len(columns) + columns
    return indices.ravel().astype(np.int32), np.tile(signs, len(PERCENTILES))


def _mirror_facts() -> tuple[Ints, Floats]:
    """Return indices and signs; left and right exchange, for time shares and for beginnings."""
    n = 2 * SIDED + WHOLE_BODY
    once = np.concatenate((SIDED + np.arange(SIDED), np.arange(SIDED), np.arange(2 * SIDED, n)))
    return np.concatenate((once, n + once)).astype(np.int32), np.ones(2 * n)


def _statistics(body: Posture) -> Floats:
    """Return percentiles of positions and speeds of nine joints, and of travel, turning and height."""
    speeds = np.linalg.norm(body.velocities[:, WHOLE], axis=-1)
    positions = body.positions[:, WHOLE].reshape(len(speeds), -1)
    columns = np.column_stack((positions, 0.3 * speeds, 0.5 * body.travel, 0.3 * body.turn_rate, body.heights))
    return np.asarray(np.percentile(columns, PERCENTILES, axis=0)).ravel()


def _fact_features(is_true: Bools) -> Floats:
    """Return the share of time in which each fact (T, F) is true, and the weighted number of its beginnings per
    second."""
    begins = (is_true[1:] & ~is_true[:-1]).sum(axis=0) * FPS / len(is_true)
    return np.concatenate((is_true.mean(axis=0), BEGINNINGS_WEIGHT * begins))


def facts(body: Posture) -> Bools:
    """Return boolean facts (T, F) of each frame: left side, right side, whole body."""
    p, v, floor = body.positions, body.velocities, -body.heights
    both = [_side_facts(p, v, floor, side, other) for side, other in (("left", "right"), ("right", "left"))]
    hands, feet = p[:, [INDEX["left_hand"], INDEX["right_hand"]]], p[:, FEET, 1].min(axis=1)
    hand_distance = np.linalg.norm(hands[:, 0] - hands[:, 1], axis=-1)
    ankles = p[:, INDEX["left_foot"]] - p[:, INDEX["right_foot"]]
    trunk = p[:, INDEX["chest"]]
    whole_body = [
        feet - floor > 0.12,  # in the air
        body.heights < 0.6,  # low
        body.heights > 1.05,  # stretched or in the air
        hand_distance < 0.25,
        hand_distance > 1.0,
        np.hypot(ankles[:, 0], ankles[:, 2]) > 0.6,
        trunk[:, 2] > 0.5 * np.abs(trunk[:, 1]),  # bent forwards
        body.travel[:, 2] > 0.5,
        body.travel[:, 2] > 2.0,
        body.travel[:, 2] < -0.3,
        np.abs(body.travel[:, 0]) > 0.4,
        body.travel[:, 1] > 0.6,
        body.travel[:, 1] < -0.6,
        np.abs(body.turn_rate) > 1.5,
    ]
    return np.column_stack((*both[0], *both[1], *whole_body))


def _side_facts(p: Floats, v: Floats, floor: Floats, side: str, other: str) -> list[Bools]:
    """Return the facts about the arm and the leg of one side."""
    at = {part: p[:, INDEX[f"{side}_{part}"]] for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")}
    hand, foot = v[:, INDEX[f"{side}_hand"]], v[:, INDEX[f"{side}_foot"]]
    return [
        at["hand"][:, 1] > at["upper_arm"][:, 1],
        at["hand"][:, 1] > p[:, INDEX["head"], 1],
        at["hand"][:, 1] < at["shin"][:, 1],
        at["hand"][:, 2] > at["upper_arm"][:, 2] + 0.3,  # ahead
        at["hand"][:, 2] < at["upper_arm"][:, 2] - 0.15,  # behind
        _is_bent(at["upper_arm"], at["forearm"], at["hand"], 90.0),
        _is_bent(at["thigh"], at["shin"], at["foot"], 120.0),
        _is_bent(at["thigh"], at["shin"], at["foot"], 80.0),
        hand[:, 2] > 1.5,
        hand[:, 1] > 1.5,
        np.linalg.norm(hand, axis=-1) > 2.5,
        foot[:, 2] > 2.0,
        np.linalg.norm(foot, axis=-1) > 3.0,
        at["foot"][:, 2] > p[:, INDEX[f"{other}_foot"], 2] + 0.25,  # a step ahead of the other
        at["foot"][:, 1] - floor > 0.35,  # raised
        at["shin"][:, 1] > at["thigh"][:, 1] - 0.15,  # knee up
    ]


def _is_bent(a: Floats, middle: Floats, b: Floats, degrees: float) -> Bools:
    """Return whether the angle at a joint between its neighbours is below ``degrees``."""
    u, w = a - middle, b - middle
    lengths = np.linalg.norm(u, axis=-1) * np.linalg.norm(w, axis=-1)
    is_bent: Bools = ((u * w).sum(axis=-1) > np.cos(np.deg2rad(degrees)) * lengths) & (lengths > 0)
    return is_bent


class Scale(NamedTuple):
    """Length of windows, and distance between their starts."""

    window_frames: int
    hop_frames: int


class Kind(NamedTuple):
    """The joints and the time scale of a descriptor."""

    joints: Ints
    scale: Scale


def _both_sides(*limbs: str) -> list[int]:
    return [INDEX[f"{side}_{limb}"] for side in ("left", "right") for limb in limbs]


UPPER = np.array([INDEX["head"], *_both_sides("forearm", "hand")])
LOWER = np.array(_both_sides("shin", "foot"))
WHOLE = np.concatenate((UPPER, LOWER))
SECOND = Scale(round(1.0 * FPS), round(0.5 * FPS))
FOUR_SECONDS = Scale(round(4.0 * FPS), round(1.0 * FPS))
KINDS = {  # by descriptor
    "upper_1s": Kind(UPPER, SECOND),
    "lower_1s": Kind(LOWER, SECOND),
    "upper_4s": Kind(UPPER, FOUR_SECONDS),
    "lower_4s": Kind(LOWER, FOUR_SECONDS),
}


def window_starts(n_frames: int, scale: Scale) -> Ints:
    """Return the first frames of windows, (W,): the last one ends with the clip, a short clip is one window."""
    last = max(n_frames - scale.window_frames, 0)
    return np.unique(np.append(np.arange(0, last + 1, scale.hop_frames), last)).astype(np.int32)


def covariance_windows(body: Posture, kind: Kind) -> Floats:
    """Return (W, S): the upper triangle of the logarithm of each window's covariance."""
    frames = frame_features(body, kind.joints)
    firsts = window_starts(len(frames), kind.scale)
    length = min(kind.scale.window_frames, len(frames))
    blocks = []
    for first in range(0, len(firsts), BLOCK_WINDOWS):
        windows = frames[firsts[first : first + BLOCK_WINDOWS, None] + np.arange(length)]
        blocks.append(log_covariances(windows))
    return np.concatenate(blocks)


def frame_features(body: Posture, joints: Ints) -> Floats:
    """Return (T, N): weighted positions and velocities of ``joints`` and the travel of each frame."""
    t = len(body.positions)
    positions, velocities = body.positions[:, joints].reshape(t, -1), body.velocities[:, joints].reshape(t, -1)
    travel = np.column_stack((body.travel, body.turn_rate))
    return np.concatenate((positions, VELOCITY_WEIGHT * velocities, TRAVEL_WEIGHT * travel), axis=1)


def log_covariances(windows: Floats) -> Floats:
    """Return (W, S) for windows (W, T, N): the logarithm of each covariance as a vector of the same norm."""
    offsets = windows - windows.mean(axis=1, keepdims=True)
    n = windows.shape[2]
    values, axes = np.linalg.eigh(offsets.transpose(0, 2, 1) @ offsets / windows.shape[1] + MIN_VARIANCE * np.eye(n))
    matrices = (axes * np.log(np.maximum(values, MIN_VARIANCE))[:, None, :]) @ axes.transpose(0, 2, 1)
    rows, columns = np.triu_indices(n)
    vectors: Floats = matrices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    return vectors


def mirror_vectors(vectors: Floats, joints: Ints) -> Floats:
    """Return the vectors (..., S) of the mirrored windows; ``joints`` must contain both sides."""
    indices, signs = mirror_permutation(tuple(joints.tolist()))
    return vectors[..., indices] * signs


@cache
def mirror_permutation(joints: tuple[int, ...]) -> tuple[Ints, Floats]:
    """Return the source index and the sign of each number of a vector in the mirror image."""
    partner = np.array([joints.index(PARTNERS[joint]) for joint in joints])
    indices = (3 * partner[:, None] + np.arange(3)).ravel()
    frame_indices = np.concatenate((indices, len(indices) + indices, 2 * len(indices) + np.arange(4)))
    signs = np.concatenate((np.tile((-1.0, 1.0, 1.0), 2 * len(joints) + 1), (-1.0,)))
    rows, columns = np.triu_indices(len(signs))
    index_of = np.zeros((len(signs), len(signs)), np.int32)
    index_of[rows, columns] = index_of[columns, rows] = np.arange(len(rows))
    return index_of[frame_indices[rows], frame_indices[columns]], signs[rows] * signs[columns]
