"""Errors of a motion against its original, in millimetres on a figure of 1.7 m, whatever the size and unit of the
file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from keypose import kinematics
from keypose.arrays import Bools, Floats, Frozen, Ints, freeze, freeze_floats
from keypose.curves.capture_faults import flag_flips
from keypose.curves.cubic_fit import interpolate_linear
from keypose.errors import OptionError, format_count
from keypose.model import KeyedMotion, Motion, Selection, parse_frames
from keypose.rotations import angle_between

BYTES_PER_VALUE = 4  # a float32, as most formats store
MIN_BONE_RATIO = 0.01  # of the longest bone; shorter bones are ignored when units are matched
LENGTH_TOLERANCE = 1e-3  # relative difference of equal lengths
EXPECTED_OTHER = "a Motion, a KeyedMotion, a Selection, or frames like (0, 30, 88)"
ARRAYS = ("per_frame_mm", "max_per_frame_mm", "per_joint_mm")  # fields of a score
MAX_SLIDE_RATIO = 1.5  # to the original, of feet that are named
MIN_SLIDE_MM = 1.0  # feet that slide less are not named
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
    max_outside_flips_mm: float  # of the joints that no flip of the original moves, which curves omit
    mean_deg: float | None = None
    max_deg: float | None = None
    worst_rotation_frame: int | None = None  # frame of the largest angle
    worst_rotation_joint: str | None = None  # joint of the largest angle
    max_outside_flips_deg: float | None = None  # of the joints that no flip of the original turns over
    foot_slide_mm: float | None = None  # also None if no foot is recognised or none is ever in contact
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None  # also None without inner keys, or if the original has no acceleration there
    stored_values: int | None = None
    bytes: int | None = None

    def figures(self) -> dict[str, Any]:
        """Return all fields but the arrays."""
        return {each.name: getattr(self, each.name) for each in fields(ScoreFigures)}

    @property
    def is_worst_in_flip(self) -> bool:
        """Whether the largest distance is that of a joint that a flip of the original moves."""
        return self.max_mm > self.max_outside_flips_mm

    @property
    def is_worst_rotation_flip(self) -> bool:
        """Whether the largest angle is that of a joint that a flip of the original turns over."""
        largest, other = self.max_deg, self.max_outside_flips_deg
        return largest is not None and other is not None and largest > other


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
    max_per_frame_mm: Floats | None = None  # (T,) of the joint with the largest error

    def __post_init__(self) -> None:
        for name in ARRAYS:
            if (values := getattr(self, name)) is not None:
                self._set_field(name, freeze_floats(values, (None,), name))

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays that were computed."""
        return {name: values for name in ARRAYS if (values := getattr(self, name)) is not None}

    def without_arrays(self) -> Self:
        """Return the score without its arrays, for results of many clips."""
        return replace(self, per_frame_mm=None, max_per_frame_mm=None, per_joint_mm=None)

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
        if self.stored_values is not None and self.bytes is not None:
            pieces.append(f"{format_count(self.stored_values, 'value', ',')}, {format_count(self.bytes, 'byte', ',')}")
        return f"Score({'; '.join(pieces)})"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import score_card

        return score_card(self)


def score(original: Motion, other: Motion | KeyedMotion | Selection | Sequence[int]) -> Score:
    """Return the errors of ``other`` against ``original``: a motion of the same joints and frames, or keys.

    A keyed motion is sampled without its residual; the keys of a selection, or plain frames, are interpolated linearly.
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
    flips = flag_flips(original)
    return replace(
        score_distances(position_errors_mm(original, rebuilt), original.skeleton.names, is_moved=flips.is_moved),
        mean_deg=float(degrees.mean()),
        max_deg=float(degrees.max()),
        worst_rotation_frame=int(frame),
        worst_rotation_joint=original.skeleton.names[int(joint)],
        max_outside_flips_deg=float(degrees.max(where=~flips.is_turned, initial=0.0)),
        foot_slide_mm=slide,
        original_foot_slide_mm=original_slide,
        key_acceleration=None if keys is None else _acceleration_ratio(original, rebuilt, keys),
        stored_values=n_values,
        bytes=BYTES_PER_VALUE * n_values,
    )


def count_stored_values(original: Motion, other: Motion | KeyedMotion | Selection | Sequence[int]) -> int:
    """Return how many numbers ``other`` stores, as ``Score.stored_values``."""
    return _rebuild(original, other)[2]


def score_positions(original: Motion, other: Motion) -> Score:
    """Return the errors of the positions of joints alone, which are quicker to compute than all measures."""
    errors_mm, flips = position_errors_mm(original, other), flag_flips(original)
    return score_distances(errors_mm, original.skeleton.names, is_moved=flips.is_moved)


def score_distances(distances_mm: Floats, joints: Sequence[str], first_frame: int = 0, *, is_moved: Bools) -> Score:
    """Return the score of distances (T, J), mm, whose rows are the frames from ``first_frame`` on.

    ``is_moved`` (T, J): joints that flips of the original move.
    """
    frame, joint = np.unravel_index(int(distances_mm.argmax()), distances_mm.shape)
    return Score(
        mean_mm=float(distances_mm.mean()),
        p95_mm=float(np.percentile(distances_mm, 95.0)),
        max_mm=float(distances_mm.max()),
        worst_frame=first_frame + int(frame),
        worst_joint=joints[int(joint)],
        max_outside_flips_mm=float(distances_mm.max(where=~is_moved, initial=0.0)),
        per_joint_mm=freeze(distances_mm.mean(axis=0)),
        per_frame_mm=freeze(distances_mm.mean(axis=1)),
        max_per_frame_mm=freeze(distances_mm.max(axis=1)),
    )


def position_errors_mm(original: Motion, other: Motion) -> Floats:
    """Return the distance of each joint from the original in each frame, (T, J), in mm on a figure of 1.7 m."""
    check_comparable(original, other)
    positions = match_units(original, other).world_positions()
    return original.mm_per_unit * kinematics.distances(original.world_positions(), positions)


def check_comparable(original: Motion, other: Motion) -> None:
    """Raise OptionError if the joints, numbers of frames or up axes of two motions differ."""
    if other.skeleton.names != original.skeleton.names:
        raise OptionError(f"{original.name!r} and {other.name!r} have different joints", code="different_motions")
    if other.n_frames != original.n_frames:
        raise OptionError(
            f"{original.name!r} has {format_count(original.n_frames, 'frame')}, {other.name!r} {other.n_frames}",
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


def _rebuild(
    original: Motion, other: Motion | KeyedMotion | Selection | Sequence[int]
) -> tuple[Motion, Ints | None, int]:
    """Return ``other`` as a dense motion, its keys or None, and how many numbers it stores."""
    if isinstance(other, KeyedMotion):
        return other.sample(), other.keys, _count_curve_values(other)
    if isinstance(other, Motion):
        n_moving, n_still = _count_pose_values(other.translations, other.rotations)
        return other, None, other.n_frames * n_moving + n_still
    frames = parse_frames(other, original.n_frames, "other", EXPECTED_OTHER)
    n_moving, n_still = _count_pose_values(original.translations[frames], original.rotations[frames])
    return interpolate_linear(original, frames), frames, len(frames) * (1 + n_moving) + n_still


def _count_curve_values(keyed: KeyedMotion) -> int:
    """Return how many numbers the curves store: the frame of each key, once for all joints or for each joint that has
    keys of its own; values and tangents at the keys; what never changes once."""
    per_key = 3 if keyed.is_cubic else 1  # value, in-tangent and out-tangent
    n_frames = 0 if keyed.is_per_joint else keyed.n_keys
    n_values = 0
    for curves in (keyed.translations, keyed.rotations):
        still = curves.still_joints()
        n_values += curves.n_channels * (int(still.sum()) + per_key * int(curves.n_keys_per_joint[~still].sum()))
        if keyed.is_per_joint:
            n_frames += int(curves.n_keys_per_joint[~still].sum())
    return n_frames + n_values


def _count_pose_values(translations: Floats, rotations: Floats) -> tuple[int, int]:
    """Return how many numbers of poses (N, J, 3), (N, J, 4) change, and how many are constant and stored once."""
    return _count_values(
        (translations == translations[0]).all(axis=(0, 2)), (rotations == rotations[0]).all(axis=(0, 2)), channels=4
    )


def _count_values(still_translations: np.ndarray, still_rotations: np.ndarray, channels: int) -> tuple[int, int]:
    """Return the same from flags (J,) of constant translations (3 numbers) and rotations (``channels`` numbers)."""
    n_still = 3 * int(still_translations.sum()) + channels * int(still_rotations.sum())
    return (3 + channels) * len(still_rotations) - n_still, n_still


class FootSlide(NamedTuple):
    """How far a standing foot slides, in mm on a figure of 1.7 m, and how far it slides in the original."""

    foot: str
    slide_mm: float
    original_mm: float


def find_sliding_feet(original: Motion, other: Motion) -> tuple[FootSlide, ...]:
    """Return the feet that slide over ``MAX_SLIDE_RATIO`` times as far as in the original and over ``MIN_SLIDE_MM``."""
    slides = []
    for number, foot in enumerate(original.skeleton.anatomy.feet()):
        slide, original_slide = _foot_slides_mm(original, other, number)
        if slide is None or original_slide is None:
            continue
        if slide > max(MAX_SLIDE_RATIO * original_slide, MIN_SLIDE_MM):
            slides.append(FootSlide(f"{foot} foot", slide, original_slide))
    return tuple(slides)


def _foot_slides_mm(original: Motion, rebuilt: Motion, number: int | None = None) -> tuple[float | None, float | None]:
    """Return the foot slide of ``rebuilt`` and of ``original``, of both feet or of one by its number."""
    feet = tuple(map(list, original.skeleton.anatomy.feet().values()))
    contacts = original.foot_contacts()
    first, second = ([motion.world_positions()[:, foot] for foot in feet] for motion in (original, rebuilt))
    stances = kinematics.find_stances(first, contacts.in_contact, original.up)
    measured = [stance for stance in stances if number is None or stance.foot == number]
    slides = (kinematics.foot_slide(positions, measured, original.up) for positions in (second, first))
    slide, original_slide = (None if each is None else original.mm_per_unit * each for each in slides)
    return slide, original_slide


def _acceleration_ratio(original: Motion, rebuilt: Motion, keys: Ints) -> float | None:
    """Return the ratio of the mean second differences of world positions at inner ``keys``; None if undefined."""
    inner = keys[(keys > 0) & (keys < original.n_frames - 1)]
    if not len(inner):
        return None
    sizes = []
    for motion in (rebuilt, original):
        bends = kinematics.accelerations(motion.world_positions(), inner)
        sizes.append(float(np.linalg.norm(bends, axis=-1).mean()))
    return sizes[0] / sizes[1] if original.mm_per_unit * sizes[1] > MIN_ACCELERATION_MM else None
