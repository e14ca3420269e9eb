"""Measure the balance of a motion, and detect whether an edit tips a figure over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.anatomy.body_parts import SIDES
from keypose.arrays import Bools, Floats, Frozen, Ints, freeze, runs
from keypose.balance.body import centre_of_mass, check_body, ground_axes, margins, segment_ends, support_hulls
from keypose.errors import OptionError, format_count
from keypose.kinematics import Up, heights_above, up_axis
from keypose.model import FootContacts, Motion
from keypose.model.motion import check_source_frames
from keypose.options import TipOptions, check_option_number
from keypose.validation import check_int

GRAVITY_M_PER_S2 = 9.81
VELOCITY_S = 0.05  # window on both sides of a frame; faster changes, such as a sudden swing of an arm, are no falls

AROUND_S = 0.5  # window on both sides: about one step of a walk, which is a fall that the next foot stops


def balance(motion: Motion, *, contacts: FootContacts | None = None) -> Balance:
    """Return the centre of mass of a figure in every frame, and its margin to the support of the feet.

    The masses are those of a person (``body.py``), so arms and legs must be recognised. ``contacts``: the intended
    contacts of the feet; None: those detected in the motion.
    """
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion, as kp.load gives it")
    check_body(motion)
    contacts = motion.foot_contacts() if contacts is None else _check_contacts(motion, contacts)
    centre = centre_of_mass(motion)
    centre_velocity = velocity(centre, motion.fps)
    metres = motion.mm_per_unit / 1000.0
    extrapolated = centre + centre_velocity / np.sqrt(GRAVITY_M_PER_S2 / (leg_length(motion) * metres))
    level = ground_axes(motion)
    hulls, corners = support_hulls(motion, contacts)
    feet = [j for joints in motion.skeleton.anatomy.feet().values() for j in joints]
    lowest = heights_above(motion.world_positions()[:, feet], motion.up).min(axis=1)
    return Balance(
        name=motion.name,
        fps=motion.fps,
        up=motion.up,
        centre_of_mass=centre,
        velocity=centre_velocity,
        extrapolated_centre_of_mass=extrapolated,
        margin_mm=margins(centre[:, level], hulls, corners) * motion.mm_per_unit,
        extrapolated_margin_mm=margins(extrapolated[:, level], hulls, corners) * motion.mm_per_unit,
        supported=corners > 0,
        hulls=hulls,
        n_corners=corners,
        ground_axes=(level[0], level[1]),
        floor=float(np.percentile(lowest, 5.0)),
    )


def velocity(positions: Floats, fps: float) -> Floats:
    """Return the velocity (T, 3) per second, over up to ``VELOCITY_S`` on both sides of each frame."""
    reach = max(1, round(VELOCITY_S * fps))
    frames = np.arange(len(positions))
    since, until = np.maximum(frames - reach, 0), np.minimum(frames + reach, len(positions) - 1)
    durations_s = np.maximum(until - since, 1)[:, None] / fps
    return np.asarray((positions[until] - positions[since]) / durations_s)


def leg_length(motion: Motion) -> float:
    """Return the length of a stretched leg from hip to ankle, file units: the median over sides and frames."""
    ends = segment_ends(motion)
    bones = [
        [np.linalg.norm(np.subtract(*ends[f"{side}_{part}"]), axis=-1) for part in ("thigh", "shin")] for side in SIDES
    ]
    return float(np.median(np.sum(bones, axis=1)))


def _check_contacts(motion: Motion, contacts: FootContacts) -> FootContacts:
    if not isinstance(contacts, FootContacts):
        raise OptionError(
            type(contacts).__name__, option="contacts", expected="FootContacts, as motion.foot_contacts() gives them"
        )
    known_feet = tuple(motion.skeleton.anatomy.feet())
    unknown_feet = [foot for foot in contacts.feet if foot not in known_feet]
    if unknown_feet or contacts.in_contact.shape != (motion.n_frames, len(contacts.feet)):
        raise OptionError(
            f"contacts of {', '.join(contacts.feet) or 'no foot'}, {contacts.in_contact.shape}",
            expected=f"{format_count(motion.n_frames, 'frame')} of {', '.join(known_feet)}",
        )
    return contacts


@dataclass(frozen=True, eq=False)
class Balance(Frozen):
    """The centre of mass and the support of the feet, per frame. Millimetres are on a figure of 1.7 m.

    Margins are distances on the ground to the border of the support: positive inside, negative outside, NaN in flight.
    The extrapolated centre of mass (Hof 2005) is the centre of mass plus its velocity divided by sqrt(g / leg length):
    a moving figure can stop while that point is over its feet.
    """

    name: str
    fps: float
    up: Up
    centre_of_mass: Floats  # (T, 3) in the world, file units
    velocity: Floats  # (T, 3) of it, file units per second
    extrapolated_centre_of_mass: Floats  # (T, 3)
    margin_mm: Floats  # (T,) of the centre of mass
    extrapolated_margin_mm: Floats  # (T,)
    supported: Bools  # (T,) whether any foot is in contact
    hulls: Floats  # (T, N, 2) corners of the support on the ground axes; ``support`` returns them in the world
    n_corners: Ints  # (T,) number of valid corners of each hull
    ground_axes: tuple[int, int]  # indices of the two horizontal axes
    floor: float  # height of the ground, file units

    def __post_init__(self) -> None:
        for name in ("centre_of_mass", "velocity", "extrapolated_centre_of_mass", "margin_mm",
                     "extrapolated_margin_mm", "supported", "hulls", "n_corners"):  # fmt: skip
            self._set_field(name, freeze(getattr(self, name)))

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.centre_of_mass)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        n_inside = np.count_nonzero(self.margin_mm[self.supported] >= 0)
        return (
            f"Balance({self.name!r}, {format_count(self.n_frames, 'frame')}, "
            f"{np.count_nonzero(self.supported)} supported, {n_inside} with the centre of mass over the feet)"
        )

    def support(self, frame: int) -> Floats:
        """Return the corners (K, 3) of the support polygon in one frame, in the world; K is 0 in flight."""
        at = check_int("frame", frame, min_value=0)
        if at >= self.n_frames:
            raise OptionError(option="frame", value=at, expected=f"0 to {self.n_frames - 1}")
        count = int(self.n_corners[at])
        polygon = np.empty((count, 3))
        polygon[:, list(self.ground_axes)] = self.hulls[at, :count]
        axis, sign = up_axis(self.up)
        polygon[:, axis] = sign * self.floor
        return freeze(polygon)


@dataclass(frozen=True)
class Tip:
    """A span of frames in which an edited figure falls over. Frames are those of the edited motion."""

    start: int  # the first frame
    end: int  # the last one
    worst: int  # the frame in which the centre of mass is farthest outside
    before_mm: float  # its margin in that frame before the edit: positive inside the support, negative outside
    after_mm: float  # its margin in that frame after the edit
    fps: float

    def __str__(self) -> str:
        return (f"tips over from {self.start / self.fps:.2f} to {self.end / self.fps:.2f} s: the centre of mass is "
                f"{_format_margin(self.after_mm)} the feet, {_format_margin(self.before_mm)} before")  # fmt: skip


def tips_over(
    before: Balance,
    after: Balance,
    *,
    source: ArrayLike | None = None,
    min_duration_s: float = TipOptions.min_duration_s,
    worse_mm: float = TipOptions.worse_mm,
) -> tuple[Tip, ...]:
    """Return the spans of at least ``min_duration_s`` in which the edited figure tips over, but not the unedited one.

    The figure tips if a foot is in contact, its centre of mass and the extrapolated one are both outside the support,
    and the nearer of the two is more than ``worse_mm`` farther outside than at any time within ``AROUND_S`` in the
    unedited motion: in walking, running and jumping they are often outside. ``source``: for a retimed clip, the frame
    of ``before`` (may be fractional) of each frame of ``after``. Frames that were in flight before the edit are
    ignored.
    """
    for value in (before, after):
        if not isinstance(value, Balance):
            raise OptionError(type(value).__name__, expected="a Balance, as kp.balance gives it")
    min_duration_s, worse_mm = (
        check_option_number(TipOptions, "min_duration_s", min_duration_s),
        check_option_number(TipOptions, "worse_mm", worse_mm),
    )
    at = check_source_frames(source, before.n_frames, after.n_frames)
    rows = np.arange(after.n_frames) if at is None else np.floor(at + 0.5).astype(int)
    normal_margin = _min_around(_best_margin(before), max(1, round(AROUND_S * before.fps)))[rows]
    best = _best_margin(after)
    with np.errstate(invalid="ignore"):
        is_tipping: Bools = after.supported & before.supported[rows] & (best < 0) & (best < normal_margin - worse_mm)
    spans = []
    for start, stop in runs(is_tipping):
        if (stop - start) / after.fps >= min_duration_s * (1 - 1e-9):
            worst = start + int(np.argmin(after.margin_mm[start:stop]))
            margins = float(before.margin_mm[rows[worst]]), float(after.margin_mm[worst])
            spans.append(Tip(start, stop - 1, worst, *margins, after.fps))
    return tuple(spans)


def _best_margin(balance: Balance) -> Floats:
    """Return the larger margin (T,) of the centre of mass and the extrapolated one; NaN in flight."""
    return np.maximum(balance.margin_mm, balance.extrapolated_margin_mm)


def _min_around(margins: Floats, reach: int) -> Floats:
    """Return the minimum of ``margins`` (T,) within ``reach`` frames, (T,), ignoring NaN."""
    filled = np.where(np.isnan(margins), np.inf, margins)
    padded = np.pad(filled, reach, constant_values=np.inf)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1))


def _format_margin(margin_mm: float) -> str:
    return f"{abs(margin_mm):.0f} mm {'inside' if margin_mm >= 0 else 'outside'}"
