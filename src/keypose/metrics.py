"""How far one motion is from another, on one scale for every figure and file: millimetres on a body of 1.7 m."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Frozen, Ints, frozen_floats, give_away
from keypose.errors import OptionError
from keypose.inbetween.linear import linear
from keypose.model import KeyedMotion, Motion, Selection
from keypose.rotations import angle_between

BYTES_PER_VALUE = 4  # a float32, as most formats keep them
LEAST_BONE, SAME_LENGTH = 0.01, 1e-3  # relative: bones that tell the unit of a figure, lengths that are the same
LEAST_ACCELERATION_MM = 1e-6  # per frame and frame: below it there is nothing to compare with


@dataclass(frozen=True, eq=False)
class Score(Frozen):
    """What a motion has lost against its original, and how many numbers it takes. End sites do not count.

    Distances are those of joints in the world; angles are those between local turns. A foot slides by its horizontal
    distance from its place at the middle of each contact of the original, averaged over the frames of contact: of ankle
    and toe, whichever stands. ``key_acceleration`` is the mean size of the world acceleration at inner keys, divided by
    the original's at the same frames: far above 1, the motion jerks there.
    """

    mean_mm: float
    p95_mm: float
    max_mm: float
    mean_deg: float
    max_deg: float
    foot_slide_mm: float | None  # None: no foot is recognised, or none ever stands
    original_foot_slide_mm: float | None
    worst_frame: int  # where the largest distance is,
    worst_joint: str  # and of which joint
    per_joint_mm: Floats  # (J,) mean over frames
    per_frame_mm: Floats  # (T,) mean over joints
    key_acceleration: float | None  # None: without inner keys, or the original does not accelerate at them
    stored_values: int
    bytes: int

    def __post_init__(self) -> None:
        for field in ("per_joint_mm", "per_frame_mm"):
            self._put(field, frozen_floats(getattr(self, field), (None,), field))

    def __repr__(self) -> str:
        parts = [
            f"mean {self.mean_mm:.3g} mm, 95 % within {self.p95_mm:.3g} mm, max {self.max_mm:.3g} mm",
            f"turns mean {round(self.mean_deg, 6):.3g}, max {round(self.max_deg, 6):.3g} degrees",
        ]
        if self.foot_slide_mm is not None:
            parts.append(f"feet slide {self.foot_slide_mm:.3g} mm, originally {self.original_foot_slide_mm:.3g}")
        if self.key_acceleration is not None:
            parts.append(f"{self.key_acceleration:.3g} times the acceleration at keys")
        parts.append(f"{self.stored_values:,} values, {self.bytes:,} bytes")
        return f"Score({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import score_card

        return score_card(self)


def score(original: Motion, other: Motion | KeyedMotion | Selection) -> Score:
    """``other`` against ``original``: a motion of the same joints and frames, or keys.

    A keyed motion is taken as its curves are, without residual; the keys of a selection have straight in-betweens.
    """
    if not isinstance(original, Motion):
        raise OptionError(f"{type(original).__name__}, expected a Motion as the original")
    rebuilt, keys, stored = _rebuilt(original, other)
    check_comparable(original, rebuilt)
    rebuilt = in_units_of(original, rebuilt)
    errors = position_errors_mm(original, rebuilt)
    frame, joint = np.unravel_index(int(errors.argmax()), errors.shape)
    degrees = np.rad2deg(angle_between(original.rotations, rebuilt.rotations))
    slide, original_slide = _foot_slides_mm(original, rebuilt)
    return Score(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        mean_deg=float(degrees.mean()),
        max_deg=float(degrees.max()),
        foot_slide_mm=slide,
        original_foot_slide_mm=original_slide,
        worst_frame=int(frame),
        worst_joint=original.skeleton.names[int(joint)],
        per_joint_mm=give_away(errors.mean(axis=0)),
        per_frame_mm=give_away(errors.mean(axis=1)),
        key_acceleration=None if keys is None else _acceleration_ratio(original, rebuilt, keys),
        stored_values=stored,
        bytes=BYTES_PER_VALUE * stored,
    )


def position_errors_mm(original: Motion, other: Motion) -> Floats:
    """How far each joint is off in each frame (T, J), in mm on the original's figure scaled to 1.7 m."""
    check_comparable(original, other)
    there = in_units_of(original, other).world_positions()
    return original.mm_per_unit * distances(original.world_positions(), there)


def check_comparable(original: Motion, other: Motion) -> None:
    """Refuses motions whose joints, frames or up axes differ."""
    if other.skeleton.names != original.skeleton.names:
        raise OptionError(f"{original.name!r} and {other.name!r} have different joints")
    if other.n_frames != original.n_frames:
        raise OptionError(f"{original.name!r} has {original.n_frames} frames, {other.name!r} {other.n_frames}")
    if other.up != original.up:
        raise OptionError(f"{original.name!r} has {original.up} up, {other.name!r} {other.up}: not the same world")


def in_units_of(original: Motion, other: Motion) -> Motion:
    """``other`` scaled where all its bones are longer or shorter by one factor: it is in another unit."""
    ours, theirs = (np.linalg.norm(motion.skeleton.offsets[1:], axis=1) for motion in (original, other))
    bones = ours > LEAST_BONE * ours.max(initial=0.0)
    ratios = theirs[bones] / ours[bones]
    if not len(ratios) or not ratios.min() > 0 or np.ptp(ratios) > SAME_LENGTH * ratios.mean():
        return other
    factor = float(ratios.mean())
    if abs(factor - 1) <= SAME_LENGTH:
        return other
    bones_of = other.skeleton
    skeleton = replace(bones_of, offsets=bones_of.offsets / factor, end_offsets=bones_of.end_offsets / factor)
    return replace(other, skeleton=skeleton, translations=give_away(other.translations / factor), reference_pose=None)


def distances(points: Floats, others: Floats) -> Floats:
    """The distance of each point (..., 3) from its partner."""
    off = others - points
    lengths: Floats = np.sqrt(np.einsum("...k,...k->...", off, off))
    return lengths


def _rebuilt(original: Motion, other: Motion | KeyedMotion | Selection) -> tuple[Motion, Ints | None, int]:
    """Every frame of ``other``, its keys if it has any, and how many numbers it stores."""
    if isinstance(other, KeyedMotion):
        per_key = 3 if other.is_cubic else 1  # with the slopes on both sides
        moving, still = _tracks(other.translations.still(), other.rotations.still(), other.rotations.n_channels)
        return other.sample(), other.keys, other.n_keys * (1 + per_key * moving) + still
    if isinstance(other, Selection):
        rebuilt = linear(original, other.frames)
        moving, still = _moving(original.translations[other.frames], original.rotations[other.frames])
        return rebuilt, other.frames, len(other.frames) * (1 + moving) + still
    if not isinstance(other, Motion):
        raise OptionError(f"{type(other).__name__}, expected a Motion, a KeyedMotion or a Selection to compare "
                          f"{original.name!r} with")  # fmt: skip
    moving, still = _moving(other.translations, other.rotations)
    return other, None, other.n_frames * moving + still


def _moving(translations: Floats, rotations: Floats) -> tuple[int, int]:
    """Of poses (N, J, 3), (N, J, 4): how many numbers change, and how many do not and are needed once."""
    return _tracks(
        (translations == translations[0]).all(axis=(0, 2)), (rotations == rotations[0]).all(axis=(0, 2)), channels=4
    )


def _tracks(still_places: np.ndarray, still_turns: np.ndarray, channels: int) -> tuple[int, int]:
    """The same of joints (J,) whose place or turn never changes: a place is 3 numbers, a turn ``channels``."""
    still = 3 * int(still_places.sum()) + channels * int(still_turns.sum())
    return (3 + channels) * len(still_turns) - still, still


def _foot_slides_mm(original: Motion, rebuilt: Motion) -> tuple[float | None, float | None]:
    """The foot slide of the second and of the first."""
    feet = tuple(map(list, original.skeleton.anatomy.feet().values()))
    contacts = original.foot_contacts()
    first, second = ([motion.world_positions()[:, foot] for foot in feet] for motion in (original, rebuilt))
    standing = kinematics.stances(first, contacts.touching, original.up)
    slides = (kinematics.foot_slide(each, standing, original.up) for each in (second, first))
    slide, original_slide = (None if each is None else original.mm_per_unit * each for each in slides)
    return slide, original_slide


def _acceleration_ratio(original: Motion, rebuilt: Motion, keys: Ints) -> float | None:
    """Mean size of the second differences of world positions at ``keys`` that have a frame on both sides."""
    inner = keys[(keys > 0) & (keys < original.n_frames - 1)]
    if not len(inner):
        return None
    sizes = []
    for motion in (rebuilt, original):
        world = motion.world_positions()
        bends = world[inner - 1] - 2 * world[inner] + world[inner + 1]
        sizes.append(float(np.linalg.norm(bends, axis=-1).mean()))
    return sizes[0] / sizes[1] if original.mm_per_unit * sizes[1] > LEAST_ACCELERATION_MM else None
