"""Features of part search, as ten short vectors per second, and the variants of a query.

They are positions, velocities and heights by body group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import overload

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, freeze, freeze_or_copy
from keypose.errors import ModelError, OptionError
from keypose.library.canonical import FPS, INDEX, LIMBS, CanonicalBody, canonical_body
from keypose.library.descriptors.description import Posture, Singles, posture
from keypose.model import Motion
from keypose.validation import check_number

Halves = NDArray[np.float16]

RATE = 10.0  # samples per second, each the mean of its frames
FRAMES = round(FPS / RATE)  # per sample
SPACES = {"left_arm": "arm", "right_arm": "arm", "left_leg": "leg", "right_leg": "leg", "trunk": "trunk"}  # by group
GROUPS = tuple(SPACES)

# Weights with which features in other units are about as important as positions in metres.
VELOCITY_WEIGHT = 0.1  # seconds
TRAVEL_WEIGHT = 0.3
TURN_RATE_WEIGHT = 0.2
HEIGHT_WEIGHT = 1.5  # of limbs above the floor

_JOINTS_OF = {"arm": LIMBS[:3], "leg": LIMBS[3:]}
_TRUNK = (INDEX["chest"], INDEX["head"])
_OUTWARD_SIGNS = {"left": np.array((1.0, 1.0, 1.0)), "right": np.array((-1.0, 1.0, 1.0))}
IS_ODD = np.array((*((1, 0, 0) * (2 * len(_TRUNK) + 1)), 1, *((0,) * (len(_TRUNK) + 1))), bool)  # features of the trunk

SPEEDS = (1.0, 0.7, 1.4)  # of the span relative to the query
GROUP_NAMES = {
    **{group: (group,) for group in GROUPS},
    "arms": ("left_arm", "right_arm"),
    "legs": ("left_leg", "right_leg"),
}
_MIRRORED_GROUPS = {"left_arm": "right_arm", "right_arm": "left_arm", "left_leg": "right_leg", "right_leg": "left_leg"}

AXES = 8  # per group
EVEN_AXES = 5  # axes of the trunk that do not change in the mirror image, the first ones; the others change sign
SIZE = AXES * len(GROUPS)  # of a sample
MAX_VALUE = 16.0  # limit of features, which limits the effect of jumps in the capture


@dataclass(frozen=True, eq=False)
class PartTrack(Frozen):
    """The samples of a clip, or of a span of one; 800 bytes per second."""

    vectors: Halves  # (S, SIZE) at RATE; 0 is the mean body
    duration_s: float
    # Of a span: start of the span relative to the start of its first sample; at most half a sample.
    start_offset_s: float = 0.0

    def __post_init__(self) -> None:
        n, size = self.vectors.shape if self.vectors.ndim == 2 else (0, 0)
        if n < 1 or size != SIZE or self.vectors.dtype != np.float16:
            actual = f"{self.vectors.dtype} numbers of shape {self.vectors.shape}"
            raise ModelError(f"vectors: {actual}", expected=f"float16 of shape (at least 1, {SIZE})")
        if not (self.vectors.min() >= -MAX_VALUE and self.vectors.max() <= MAX_VALUE):  # nor NaN
            raise ModelError(f"vectors: numbers beyond {MAX_VALUE:g}", expected="none")
        if not (0.0 < self.duration_s <= (n + 1) / RATE and abs(self.start_offset_s) <= 1 / RATE):
            raise ModelError(f"duration_s={self.duration_s:g}", expected=f"about {n / RATE:g}, as long as the samples")
        self._set_field("vectors", freeze_or_copy(self.vectors))

    def __len__(self) -> int:
        return len(self.vectors)

    def span(self, start_s: float, end_s: float) -> PartTrack:
        """Return the span between two times, at least one sample; clipped at the end of the clip."""
        start = check_number("start", start_s, min_value=0.0)
        end = min(check_number("end", end_s, above=start), self.duration_s)
        if start >= end:
            raise OptionError(
                option="start", value=start, expected=f"a time before the clip ends, at {self.duration_s:g} s"
            )
        first = min(round((start + self.start_offset_s) * RATE), len(self) - 1)
        n = max(round((end - start) * RATE), 1)
        after = start + self.start_offset_s - first / RATE
        return PartTrack(self.vectors[first : first + n], end - start, after)

    def mirror(self) -> PartTrack:
        """Return the track with left and right exchanged."""
        indices, signs = mirror_permutation()
        return replace(self, vectors=freeze((self.vectors[:, indices] * signs).astype(np.float16)))


@overload
def build_part_track(clip: CanonicalBody, basis: Basis | None = None) -> PartTrack: ...


@overload
def build_part_track(clip: Motion, basis: Basis | None = None) -> PartTrack | None: ...


def build_part_track(clip: Motion | CanonicalBody, basis: Basis | None = None) -> PartTrack | None:
    """Return the track of a whole clip; None without a recognisable body (markers, props).

    A query should be cut from the track of its whole clip, so that the floor and the velocities at its ends are those
    of the clip. The numbers are always the same for the same motion. ``basis``: other axes than the shipped ones;
    tracks of different bases cannot be compared.
    """
    body = clip if isinstance(clip, CanonicalBody) else canonical_body(clip)
    if body is None:
        return None
    vectors = (load_shipped() if basis is None else basis).project(group_features(posture(body)))
    return PartTrack(freeze(vectors.astype(np.float16)), body.duration_s)


def group_features(body: Posture) -> dict[str, Floats]:
    """Return the features (S, N) of each group at ``RATE``.

    Both arms, and both legs, are measured outwards from the body: in the mirror image each has the features of the
    other. Features of the trunk with ``IS_ODD`` change sign in the mirror image, the others do not change.
    """
    features = {
        f"{side}_{limb}": _limb_features(body, [INDEX[f"{side}_{joint}"] for joint in joints], _OUTWARD_SIGNS[side])
        for limb, joints in _JOINTS_OF.items()
        for side in ("left", "right")
    }
    features["trunk"] = _trunk_features(body)
    return {group: average_samples(features[group]) for group in GROUPS}


def average_samples(frames: Floats) -> Floats:
    """Return means (S, N) of each few frames (T, N); the last sample is the mean of the remaining ones."""
    starts = np.arange(0, len(frames), FRAMES)
    counts = np.minimum(FRAMES, len(frames) - starts)
    return np.asarray(np.add.reduceat(frames, starts, axis=0) / counts[:, None])


def _limb_features(body: Posture, joints: list[int], outward_signs: Floats) -> Floats:
    t = len(body.heights)
    positions, velocities = body.positions[:, joints], body.velocities[:, joints]
    return np.concatenate(
        (
            (positions * outward_signs).reshape(t, -1),
            (VELOCITY_WEIGHT * velocities * outward_signs).reshape(t, -1),
            HEIGHT_WEIGHT * (positions[:, :, 1] + body.heights[:, None]),
        ),
        axis=1,
    )


def _trunk_features(body: Posture) -> Floats:
    t = len(body.heights)
    positions, velocities = body.positions[:, _TRUNK], body.velocities[:, _TRUNK]
    return np.column_stack(
        (
            positions.reshape(t, -1),
            VELOCITY_WEIGHT * velocities.reshape(t, -1),
            TRAVEL_WEIGHT * body.travel,
            TURN_RATE_WEIGHT * body.turn_rate,
            positions[:, :, 1] + body.heights[:, None],
            body.heights,
        )
    )


@dataclass(frozen=True, eq=False)
class QueryVariant(Frozen):
    """One form in which the query is searched for."""

    vectors: Singles  # (n, SIZE); 0 for groups that are not compared
    groups: Bools  # (len(GROUPS),) which groups are compared
    mirrored: bool
    speed: float

    @cached_property
    def square_sum(self) -> float:
        """The sum of all squares."""
        return float(np.square(self.vectors, dtype=np.float64).sum())


def build_variants(query: PartTrack, mirrored: PartTrack | None, joints: Sequence[str] | None) -> list[QueryVariant]:
    """Return all variants, the unchanged query first."""
    groups = parse_groups(joints)
    variants = _build_at_speeds(query, groups, mirrored=False)
    if mirrored is not None:
        variants += _build_at_speeds(mirrored, {_MIRRORED_GROUPS.get(group, group) for group in groups}, mirrored=True)
    return variants


def parse_groups(joints: Sequence[str] | None) -> set[str]:
    """Return the groups of these names; None: all."""
    if joints is None:
        return set(GROUPS)
    if isinstance(joints, str) or not joints or any(name not in GROUP_NAMES for name in joints):
        raise OptionError(option="joints", value=joints, expected=f"some of {', '.join(GROUP_NAMES)}")
    return {group for name in joints for group in GROUP_NAMES[name]}


def _build_at_speeds(track: PartTrack, group_names: set[str], *, mirrored: bool) -> list[QueryVariant]:
    groups = np.array([group in group_names for group in GROUPS])
    vectors = track.vectors.astype(np.float32) * np.repeat(groups, AXES)
    by_length: dict[int, float] = {}  # several speeds of a short query have the same length
    for speed in SPEEDS:
        by_length.setdefault(max(round(len(vectors) / speed), 1), speed)
    return [QueryVariant(_resample(vectors, n), groups, mirrored, speed) for n, speed in by_length.items()]


def _resample(vectors: Singles, n: int) -> Singles:
    """Return ``vectors`` (m, D) linearly resampled to n samples."""
    if n == len(vectors):
        return vectors
    at: Floats = np.clip((np.arange(n) + 0.5) * len(vectors) / n - 0.5, 0.0, len(vectors) - 1)
    before = at.astype(int)
    after = np.minimum(before + 1, len(vectors) - 1)
    share = (at - before)[:, None].astype(np.float32)
    resampled: Singles = (1 - share) * vectors[before] + share * vectors[after]
    return resampled


@dataclass(frozen=True, eq=False)
class Axes(Frozen):
    """The mean, and the principal directions in which bodies differ, the strongest first."""

    mean: Singles  # (N,) of the features
    axes: Singles  # (N, AXES)


@dataclass(frozen=True, eq=False)
class Basis(Frozen):
    """Axes for arms, legs and the trunk; those of left and right limbs are the same."""

    spaces: Mapping[str, Axes]  # arm, leg, trunk

    def project(self, features: Mapping[str, Floats]) -> Floats:
        """Return vectors (S, SIZE) of the features of all groups: 0 is the mean body."""
        columns = [
            (features[group] - self.spaces[space].mean) @ self.spaces[space].axes for group, space in SPACES.items()
        ]
        return np.clip(np.concatenate(columns, axis=1), -MAX_VALUE, MAX_VALUE)


@cache
def load_shipped() -> Basis:
    """Return the basis that comes with the package."""
    with files("keypose.library.search").joinpath("part_basis.npz").open("rb") as file, np.load(file) as arrays:
        return unpack_basis(dict(arrays))


def pack_basis(basis: Basis) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a file."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, space in basis.spaces.items():
        arrays |= {f"{name}/mean": space.mean, f"{name}/axes": space.axes}
    return arrays


def unpack_basis(arrays: Mapping[str, NDArray[np.generic]]) -> Basis:
    """Return the basis of ``pack_basis``."""
    spaces = {
        name: Axes(arrays[f"{name}/mean"].astype(np.float32), arrays[f"{name}/axes"].astype(np.float32))
        for name in dict.fromkeys(SPACES.values())
    }
    return Basis(spaces)


def mirror_permutation() -> tuple[NDArray[np.intp], Singles]:
    """Return the source index and the sign of each number of a vector in the mirror image, for any basis."""
    partner = {group: group.replace("left", "*").replace("right", "left").replace("*", "right") for group in GROUPS}
    indices = np.concatenate([AXES * GROUPS.index(partner[group]) + np.arange(AXES) for group in GROUPS])
    signs = np.ones(SIZE, np.float32)
    signs[AXES * GROUPS.index("trunk") + EVEN_AXES :] = -1.0
    return indices, signs
