"""Errors of a motion against its original, in millimetres on a figure of 1.7 m, whatever the size and unit of the
file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_floats
from keypose.curves.cubic_fit import interpolate_linear
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Selection
from keypose.rotations import angle_between

BYTES_PER_VALUE = 4  # a float32, as most formats store
MIN_BONE_RATIO = 0.01  # of the longest bone; shorter bones are ignored when units are matched
LENGTH_TOLERANCE = 1e-3  # relative difference of equal lengths
ARRAYS = ("per_frame_mm", "per_joint_mm")  # fields of a score
MIN_ACCELERATION_MM = 1e-6  # per frame squared; ratios to smaller ones are undefined


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreFigures(Frozen):
    """Errors of a motion against its original, in mm on a figure of 1.7 m; None: not measured."""

    # The API takes the class as it is; its responses have every field.
    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"json_schema_serialization_defaults_required": True}

    mean_mm: float
    p95_mm: float
    max_mm: float
    worst_frame: int  # frame of the largest distance
    worst_joint: str  # joint of the largest distance
    mean_deg: float | None = None
    max_deg: float | None = None
    worst_rotation_frame: int | None = None  # frame of the largest angle
    worst_rotation_joint: str | None = None  # joint of the largest angle
    foot_slide_mm: float | None = None  # also None if no foot is recognised or none is ever in contact
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None  # also None without inner keys, or if the original has no acceleration there
    stored_values: int | None = None
    bytes: int | None = None

    def figures(self) -> dict[str, Any]:
        """Return all fields but the arrays."""
        return {each.name: getattr(self, each.name) for each in fields(ScoreFigures)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(ScoreFigures):
    """Errors of a motion against its original, without end sites, and how many numbers it stores.

    A measure is None if it is not defined for this motion or was not computed; ``score`` computes all measures.

    Distances are of joints in the world; angles are between local rotations. Foot slide is the mean horizontal distance
    of a foot from its position at the middle of each contact of the original, over the frames of contact; it is
    measured on the ankle or the toe, whichever stays in place. ``key_acceleration`` is the mean world acceleration at
    inner keys divided by that of the original at the same frames; if it is far above 1, the motion jerks at keys.
    """

    per_joint_mm: Floats | None = None  # (J,) mean over frames
    per_frame_mm: Floats | None = None  # (T,) mean over joints

    def __post_init__(self) -> None:
        for name in ARRAYS:
            if (values := getattr(self, name)) is not None:
                self._set_field(name, freeze_floats(values, (None,), name))

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays that were computed."""
        return {name: values for name in ARRAYS if (values := getattr(self, name)) is not None}

    def without_arrays(self) -> Self:
        """Return the score without its arrays, for results of many clips."""
        return replace(self, per_frame_mm=None, per_joint_mm=None)

    def __repr__(self) -> str:
        pieces = [
            f"mean {self.mean_mm:.3g} mm, 95 % within {self.p95_mm:.3g} mm, max {self.max_mm:.3g} mm",
        ]
        if self.mean_deg is not None and self.max_deg is not None:
            pieces.append(f"rotations mean {round(self.mean_deg, 6):.3g}, max {round(self.max_deg, 6):.3g} degrees")
        if self.foot_slide_mm is not None:
            pieces.append(f"feet slide {self.foot_slide_mm:.3g} mm, originally {self.original_foot_slide_mm:.3g}")
        if self.key_acceleration is not None:
            pieces.append(f"{self.key_acceleration:.3g} times the acceleration at keys")
        if self.stored_values is not None:
            pieces.append(f"{self.stored_values:,} values, {self.bytes:,} bytes")
        return f"Score({'; '.join(pieces)})"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import score_card

        return score_card(self)


def score(original: Motion, other: Motion | KeyedMotion | Selection) -> Score:
    """Return the errors of ``other`` against ``original``: a motion of the same joints and frames, or keys.

    A keyed motion is sampled without its residual; the keys of a selection are interpolated linearly.
    """
    if not isinstance(original, Motion):
        raise OptionError(type(original).__name__, expected="a Motion as the original")
    rebuilt, keys, n_values = _rebuild(original, other)
    check_comparable(original, rebuilt)
    rebuilt = match_units(original, rebuilt)
    radians = angle_between(original.rotations, rebuilt.rotations)
    degrees = np.rad2deg(radians)
    frame, joint = np.unravel_index(int(radians.argmax()), radians.shape)
    slide, original_slide = _foot_slides_mm(original, rebuilt)
    return replace(
        score_positions(original, rebuilt),
        mean_deg=float(degrees.mean()),
        max_deg=float(degrees.max()),
        worst_rotation_frame=int(frame),
        worst_rotation_joint=original.skeleton.names[int(joint)],
        foot_slide_mm=slide,
        original_foot_slide_mm=original_slide,
        key_acceleration=None if keys is None else _acceleration_ratio(original, rebuilt, keys),
        stored_values=n_values,
        bytes=BYTES_PER_VALUE * n_values,
    )


def count_stored_values(original: Motion, other: Motion | KeyedMotion | Selection) -> int:
    """Return how many numbers ``other`` stores, as ``Score.stored_values``."""
    return _rebuild(original, other)[2]


def score_positions(original: Motion, other: Motion) -> Score:
    """Return the errors of the positions of joints alone, which are quicker to compute than all measures."""
    return score_distances(position_errors_mm(original, other), original.skeleton.names)


def score_distances(distances_mm: Floats, joints: Sequence[str], first_frame: int = 0) -> Score:
    """Return the score of distances (T, J), mm, whose rows are the frames from ``first_frame`` on."""
    frame, joint = np.unravel_index(int(distances_mm.argmax()), distances_mm.shape)
    return Score(
        mean_mm=float(distances_mm.mean()),
        p95_mm=float(np.percentile(distances_mm, 95.0)),
        max_mm=float(distances_mm.max()),
        worst_frame=first_frame + int(frame),
        worst_joint=joints[int(joint)],
        per_joint_mm=freeze(distances_mm.mean(axis=0)),
        per_frame_mm=freeze(distances_mm.mean(axis=1)),
    )


def position_errors_mm(original: Motion, other: Motion) -> Floats:
    """Return the distance of each joint from the original in each frame, (T, J), in mm on a figure of 1.7 m."""
    check_comparable(original, other)
    positions = match_units(original, other).world_positions()
    return original.mm_per_unit * distances(original.world_positions(), positions)


def check_comparable(original: Motion, other: Motion) -> None:
    """Raise OptionError if the joints, numbers of frames or up axes of two motions differ."""
    if other.skeleton.names != original.skeleton.names:
        raise OptionError(f"{original.name!r} and {other.name!r} have different joints", code="different_motions")
    if other.n_frames != original.n_frames:
        raise OptionError(
            f"{original.name!r} has {original.n_frames} frames, {other.name!r} {other.n_frames}",
            code="different_motions",
            value=other.n_frames,
            expected="the same number",
        )
    if other.up != original.up:
        raise OptionError(
            f"{original.name!r} has {original.up} up, {other.name!r} {other.up}: not the same world",
            code="different_motions",
            value=other.up,
        )


def match_units(original: Motion, other: Motion) -> Motion:
    """Return ``other`` scaled to the unit of ``original`` if all its bones differ in length by one factor."""
    lengths, other_lengths = (np.linalg.norm(motion.skeleton.offsets[1:], axis=1) for motion in (original, other))
    is_bone = lengths > MIN_BONE_RATIO * lengths.max(initial=0.0)
    ratios = other_lengths[is_bone] / lengths[is_bone]
    if not len(ratios) or not ratios.min() > 0 or np.ptp(ratios) > LENGTH_TOLERANCE * ratios.mean():
        return other
    factor = float(ratios.mean())
    if abs(factor - 1) <= LENGTH_TOLERANCE:
        return other
    rig = other.skeleton
    skeleton = replace(rig, offsets=rig.offsets / factor, end_offsets=rig.end_offsets / factor)
    return replace(other, skeleton=skeleton, translations=freeze(other.translations / factor), reference_pose=None)


def distances(points: Floats, others: Floats) -> Floats:
    """Return the distance of each point (..., 3) from its counterpart."""
    offsets = others - points
    lengths: Floats = np.sqrt(np.einsum("...k,...k->...", offsets, offsets))
    return lengths


def _rebuild(original: Motion, other: Motion | KeyedMotion | Selection) -> tuple[Motion, Ints | None, int]:
    """Return ``other`` as a dense motion, its keys or None, and how many numbers it stores."""
    if isinstance(other, KeyedMotion):
        per_key = 3 if other.is_cubic else 1  # value, in-tangent and out-tangent
        n_moving, n_still = _count_values(
            other.translations.still_joints(), other.rotations.still_joints(), other.rotations.n_channels
        )
        return other.sample(), other.keys, other.n_keys * (1 + per_key * n_moving) + n_still
    if isinstance(other, Selection):
        rebuilt = interpolate_linear(original, other.frames)
        n_moving, n_still = _count_pose_values(original.translations[other.frames], original.rotations[other.frames])
        return rebuilt, other.frames, len(other.frames) * (1 + n_moving) + n_still
    if not isinstance(other, Motion):
        raise OptionError(
            type(other).__name__, expected=f"a Motion, a KeyedMotion or a Selection to compare {original.name!r} with"
        )
    n_moving, n_still = _count_pose_values(other.translations, other.rotations)
    return other, None, other.n_frames * n_moving + n_still


def _count_pose_values(translations: Floats, rotations: Floats) -> tuple[int, int]:
    """Return how many numbers of poses (N, J, 3), (N, J, 4) change, and how many are constant and stored once."""
    return _count_values(
        (translations == translations[0]).all(axis=(0, 2)), (rotations == rotations[0]).all(axis=(0, 2)), channels=4
    )


def _count_values(still_translations: np.ndarray, still_rotations: np.ndarray, channels: int) -> tuple[int, int]:
    """Return the same from flags (J,) of constant translations (3 numbers) and rotations (``channels`` numbers)."""
    n_still = 3 * int(still_translations.sum()) + channels * int(still_rotations.sum())
    return (3 + channels) * len(still_rotations) - n_still, n_still


def _foot_slides_mm(original: Motion, rebuilt: Motion) -> tuple[float | None, float | None]:
    """Return the foot slide of ``rebuilt`` and of ``original``."""
    feet = tuple(map(list, original.skeleton.anatomy.feet().values()))
    contacts = original.foot_contacts()
    first, second = ([motion.world_positions()[:, foot] for foot in feet] for motion in (original, rebuilt))
    stances = kinematics.find_stances(first, contacts.in_contact, original.up)
    slides = (kinematics.foot_slide(positions, stances, original.up) for positions in (second, first))
    slide, original_slide = (None if each is None else original.mm_per_unit * each for each in slides)
    return slide, original_slide


def _acceleration_ratio(original: Motion, rebuilt: Motion, keys: Ints) -> float | None:
    """Return the ratio of the mean second differences of world positions at inner ``keys``; None if undefined."""
    inner = keys[(keys > 0) & (keys < original.n_frames - 1)]
    if not len(inner):
        return None
    sizes = []
    for motion in (rebuilt, original):
        world = motion.world_positions()
        bends = world[inner - 1] - 2 * world[inner] + world[inner + 1]
        sizes.append(float(np.linalg.norm(bends, axis=-1).mean()))
    return sizes[0] / sizes[1] if original.mm_per_unit * sizes[1] > MIN_ACCELERATION_MM else None
