"""Motion: a skeleton with a pose per frame, its frame rate, units and up axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from typing import Literal, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from keypose import kinematics
from keypose.arrays import MAX_MAGNITUDE, Bools, Floats, Frozen, freeze, freeze_floats, freeze_items
from keypose.errors import ModelError, OptionError, format_count, format_value
from keypose.kinematics import REFERENCE_HEIGHT_MM, UPS, Up
from keypose.model.skeleton import Skeleton
from keypose.options import MAX_FPS, MIN_FPS
from keypose.rotations import at_frames, normalise, to_euler, unwrap_euler
from keypose.validation import check_number

# If the ratio of two frame rates is this close to a whole number, existing frames are used without interpolation (a
# frame time of .0083333 s means 120 fps).
WHOLE_RATIO_TOLERANCE = 1e-3

HeightSource = Literal["reference_pose", "rest_pose", "bones", "frames"]

MAX_FRAME = 1 << 53
MAX_POSES = 1 << 28  # frames x joints that at_fps makes: 15 GB
BLOCK_POSES = 1 << 18  # frames x points per block when measuring the height
MIN_HEIGHT = 1e-100  # file units: for smaller ones squared distances in mm would overflow


@dataclass(frozen=True, eq=False)
class Pose(Frozen):
    """One pose of a skeleton, with the same arrays as one frame of a Motion."""

    translations: Floats  # (J, 3) local, file units
    rotations: Floats  # (J, 4) local, unit wxyz

    def __repr__(self) -> str:
        return f"Pose({format_count(len(self.translations), 'joint')})"

    def __post_init__(self) -> None:
        translations = freeze_floats(self.translations, (None, 3), "pose translations")
        self._set_field("translations", translations)
        self._set_field("rotations", _check_unit_quaternions(self.rotations, (len(translations), 4), "pose rotations"))


@dataclass(frozen=True, eq=False)
class FootContacts(Frozen):
    """The frames in which each recognised foot is in contact with the ground."""

    feet: tuple[str, ...]  # "left", "right"
    in_contact: Bools  # (T, F)


@dataclass(frozen=True, eq=False)
class Motion(Frozen):
    """Dense motion: a pose for every frame. At least one frame, all numbers finite, unit rotations.

    ``reference_pose`` is a pose of the file that is not part of the movement (the T-pose that starts every CMU file);
    ``notes`` lists what the reader of the file noticed, repaired or ignored. ``tolerance_mm`` is the maximum error of
    frames from a lossy file, in mm on a figure of 1.7 m; tolerances of repeated storage add up.
    """

    name: str
    skeleton: Skeleton
    fps: float
    translations: Floats  # (T, J, 3) local, file units
    rotations: Floats  # (T, J, 4) local, unit wxyz
    up: Up = "Y"
    metres_per_unit: float | None = None  # None: unknown
    first_frame: int = 0  # number of frame 0 in the source
    reference_pose: Pose | None = None
    notes: tuple[str, ...] = ()
    tolerance_mm: float | None = None  # None: exact

    def __post_init__(self) -> None:
        self._check_types()
        joints = self.skeleton.n_joints
        translations = freeze_floats(self.translations, (None, joints, 3), "motion translations")
        if len(translations) == 0:
            raise ModelError("no frames", subject="motion", expected="at least one")
        self._set_field("translations", translations)
        self._set_field(
            "rotations", _check_unit_quaternions(self.rotations, (len(translations), joints, 4), "motion rotations")
        )
        self._set_field("fps", _check_float(self.fps, "frames per second"))
        if not MIN_FPS <= self.fps <= MAX_FPS:
            raise ModelError(
                f"{self.fps:g} frames per second", subject="motion", expected=f"{MIN_FPS:g} to {MAX_FPS:g}"
            )
        check_up(self.up, "motion")
        if self.metres_per_unit is not None:
            self._set_field("metres_per_unit", _check_float(self.metres_per_unit, "metres per unit"))
            if not 1e-12 <= self.metres_per_unit <= 1e12:
                raise ModelError(
                    f"{self.metres_per_unit:g} metres per unit", subject="motion", expected="1e-12 to 1e12 or None"
                )
        try:
            self._set_field("first_frame", index(self.first_frame))
        except TypeError:
            raise ModelError(
                f"first frame {format_value(self.first_frame)}", subject="motion", expected="a whole number"
            ) from None
        if abs(self.first_frame) >= MAX_FRAME:
            raise ModelError("the first frame's number is beyond all measure", subject="motion")
        if self.reference_pose is not None and len(self.reference_pose.translations) != joints:
            raise ModelError(
                f"a reference pose of {format_count(len(self.reference_pose.translations), 'joint')}",
                subject="motion",
                expected=f"{joints}",
            )
        self._set_field("notes", freeze_items(self.notes, str, "motion: notes"))
        if self.tolerance_mm is not None:
            self._set_field("tolerance_mm", _check_float(self.tolerance_mm, "tolerance in mm"))
            if not 0 <= self.tolerance_mm <= MAX_MAGNITUDE:
                raise ModelError(
                    f"a tolerance of {self.tolerance_mm:g} mm",
                    subject="motion",
                    expected=f"0 to {MAX_MAGNITUDE:g}, or None",
                )

    def _check_types(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"name {format_value(self.name)}", subject="motion", expected="a text")
        if not isinstance(self.skeleton, Skeleton):
            raise ModelError(f"skeleton is a {type(self.skeleton).__name__}", subject="motion", expected="Skeleton")
        if not isinstance(self.reference_pose, Pose | None):
            raise ModelError(
                f"reference pose is a {type(self.reference_pose).__name__}", subject="motion", expected="Pose or None"
            )

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.translations)

    @property
    def n_joints(self) -> int:
        """The number of joints, without end sites."""
        return self.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        return (f"Motion({self.name!r}, {format_count(self.n_frames, 'frame')} at {self.fps:g} fps, "
                f"{format_count(self.n_joints, 'joint')}, {self.duration_s:.2f} s)")  # fmt: skip

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import motion_card

        return motion_card(self)

    @overload
    def __getitem__(self, frames: int) -> Pose: ...
    @overload
    def __getitem__(self, frames: slice) -> Motion: ...
    def __getitem__(self, frames: int | slice) -> Pose | Motion:
        """Return one pose ``m[100]``, or frames ``m[100:400]`` with ``first_frame`` adjusted."""
        if not isinstance(frames, slice):
            return self._pose(frames)
        if frames.step not in (None, 1):
            raise OptionError(
                "a motion is sliced by consecutive frames, m[100:400]", hint="for another rate use m.at_fps()"
            )
        start, stop, _ = frames.indices(self.n_frames)
        if stop <= start:
            raise OptionError(
                f"frames {frames.start}:{frames.stop} hold no frame", expected=f"some of 0 to {self.n_frames - 1}"
            )
        return replace(
            self,
            translations=self.translations[start:stop],
            rotations=self.rotations[start:stop],
            first_frame=self.first_frame + start,
        )

    def _pose(self, frame: int) -> Pose:
        try:
            at = index(frame)
        except TypeError:
            raise OptionError(f"m[{format_value(frame)}]", expected="a frame number or a slice") from None
        if not -self.n_frames <= at < self.n_frames:
            raise OptionError(f"frame {at}", expected=f"one of 0 to {self.n_frames - 1}")
        return Pose(self.translations[at], self.rotations[at])

    def __iter__(self) -> Iterator[Pose]:
        return (self._pose(frame) for frame in range(self.n_frames))

    def at_fps(self, fps: float) -> Motion:
        """Return the motion at another frame rate: existing frames if the ratio is whole, else interpolated.

        Between two frames translations are linear and rotations have constant speed.
        """
        rate = check_number("fps", fps, min_value=MIN_FPS, max_value=MAX_FPS)
        if rate == self.fps:
            return self  # with its cached positions
        frames = frames_at_rate(self.n_frames, self.n_joints, self.fps, rate)
        ratio = self.fps / rate
        step = round(ratio)
        if step >= 1 and abs(ratio - step) <= WHOLE_RATIO_TOLERANCE * step:
            return replace(self, fps=rate, translations=self.translations[::step], rotations=self.rotations[::step])
        return replace(self.at_frames(frames), fps=rate)

    def at_frames(self, frames: ArrayLike) -> Motion:
        """Return the poses at ``frames`` (N,), which may be fractional, at the same frame rate.

        Between two frames translations are linear and rotations have constant speed.
        """
        at = freeze_floats(frames, (None,), "frames")
        if not len(at) or at.min() < 0 or at.max() > self.n_frames - 1:
            raise OptionError(expected=f"frames from 0 to {self.n_frames - 1}")
        before = np.minimum(at.astype(int), max(self.n_frames - 2, 0))
        after = np.minimum(before + 1, self.n_frames - 1)
        fraction = (at - before)[:, None, None]
        translations = self.translations[before] * (1 - fraction) + self.translations[after] * fraction
        rotations = at_frames(self.rotations, at)
        return replace(self, translations=freeze(translations), rotations=freeze(rotations))

    def __add__(self, other: Motion) -> Motion:
        return concatenate((self, other))

    @cached_property
    def _world(self) -> tuple[Floats, Floats]:
        positions, rotations = kinematics.forward(self.skeleton.parents, self.translations, self.rotations)
        return freeze(positions), freeze(rotations)

    def world_positions(self) -> Floats:
        """Return joint positions (T, J, 3) in the world, file units; cached, read-only."""
        return self._world[0]

    def world_rotations(self) -> Floats:
        """Return joint rotations (T, J, 4) in the world, wxyz; cached, read-only."""
        return self._world[1]

    def end_positions(self) -> Floats:
        """Return end site positions (T, E, 3) in the world, file units."""
        s = self.skeleton
        return kinematics.end_positions(*self._world, s.end_joints, s.end_offsets)

    def euler_curves(self, rotation_orders: tuple[str, ...] | None = None) -> Floats:
        """Return unwrapped Euler angles (T, J, 3) in degrees; column k is about the k-th axis of the joint's order.

        ``rotation_orders`` (J,) are by default those of the skeleton.
        """
        angles = np.empty((self.n_frames, self.n_joints, 3))
        orders = np.array(self.skeleton.rotation_orders if rotation_orders is None else rotation_orders)
        for order in set(orders.tolist()):
            of_order = np.flatnonzero(orders == order)
            angles[:, of_order] = to_euler(self.rotations[:, of_order], order)
        return np.rad2deg(unwrap_euler(angles))

    def joint(self, name: str) -> int:
        """Return the index of one joint, by its name or its body part (``"left_hand"``)."""
        return self.skeleton.joint(name)

    def joints(self, names: str | tuple[str, ...] | list[str]) -> tuple[int, ...]:
        """Return the indices of joints by names, body parts or groups (``"hands"``), in file order."""
        return self.skeleton.joints(names)

    @property
    def height(self) -> float:
        """The height of the figure in file units, found as ``height_source`` says. 0 if it is below ``MIN_HEIGHT``."""
        return self._height[0]

    @property
    def height_source(self) -> HeightSource:
        """How the height was found.

        ``"reference_pose"``: its vertical extent, with end sites. Without one, ``"rest_pose"``: that of the rest pose,
        if it is upright. Otherwise ``"bones"``: the stature of a recognised body by the lengths of its bones, whatever
        its poses; and for anything else ``"frames"``: the 95th percentile of the vertical extents of the frames.
        """
        return self._height[1]

    @cached_property
    def _height(self) -> tuple[float, HeightSource]:
        s = self.skeleton
        source: HeightSource
        if self.reference_pose is not None:
            world, rotations = kinematics.forward(
                s.parents, self.reference_pose.translations[None], self.reference_pose.rotations[None]
            )
            ends = kinematics.end_positions(world, rotations, s.end_joints, s.end_offsets)
            extent = kinematics.vertical_extent(np.concatenate((world, ends), axis=1), self.up)[0]
            source = "reference_pose"
        elif s.is_upright(self.up):
            extent, source = kinematics.vertical_extent(s.rest_positions, self.up), "rest_pose"
        elif s.stature:
            extent, source = np.float64(s.stature), "bones"
        else:
            extent, source = np.percentile(self._vertical_extents(), 95.0), "frames"
        return (float(extent) if extent >= MIN_HEIGHT else 0.0), source

    def _vertical_extents(self) -> Floats:
        """Return the height of each frame (T,), with end sites; computed in blocks, as there may be many end sites."""
        s = self.skeleton
        block = max(1, BLOCK_POSES // (self.n_joints + len(s.end_joints)))
        extents = []
        for start in range(0, self.n_frames, block):
            frames = slice(start, start + block)
            world, rotations = kinematics.forward(s.parents, self.translations[frames], self.rotations[frames])
            ends = kinematics.end_positions(world, rotations, s.end_joints, s.end_offsets)
            extents.append(kinematics.vertical_extent(np.concatenate((world, ends), axis=1), self.up))
        return np.concatenate(extents)

    @property
    def mm_per_unit(self) -> float:
        """Millimetres per file unit on the figure scaled to 1.7 m; all errors are stated at this scale."""
        if self.height <= 0:
            raise OptionError(
                "the figure has no height, so nothing can be stated in mm", code="no_height", subject=self.name
            )
        return REFERENCE_HEIGHT_MM / self.height

    def foot_contacts(self) -> FootContacts:
        """Return when each recognised foot is in contact with the ground: near the floor of the clip and slow for at
        least 0.1 s.

        There are no columns if no foot is recognised, as for markers.
        """
        feet = self.skeleton.anatomy.feet()
        if not feet:
            return FootContacts((), np.zeros((self.n_frames, 0), bool))
        points = max(len(joints) for joints in feet.values())
        columns = [joints + joints[-1:] * (points - len(joints)) for joints in feet.values()]
        in_contact = kinematics.find_ground_contacts(
            self.world_positions()[:, np.array(columns)], self.fps, self.up, self.mm_per_unit / 1000.0
        )
        return FootContacts(tuple(feet), freeze(in_contact))


def frames_at_rate(n_frames: int, n_joints: int, fps: float, rate: float) -> Floats:
    """Return the positions (N,), in frames at ``fps``, of the frames at ``rate``, from the first to about the last of
    ``n_frames``."""
    ratio = fps / rate
    if n_frames / ratio * n_joints > MAX_POSES:
        raise OptionError(f"would make {n_frames / ratio:.3g} frames: too many", option="fps", value=rate)
    count = int(np.floor((n_frames - 1) / ratio * (1 + 1e-12))) + 1
    return np.asarray(np.minimum(np.arange(count) * ratio, n_frames - 1.0))


def check_source_frames(source: ArrayLike | None, before: int, after: int) -> Floats | None:
    """Return the checked ``source``: for each of ``after`` frames the corresponding one of ``before`` frames; None: the
    same one."""
    if source is None:
        if before != after:
            raise OptionError(
                f"{format_count(after, 'frame')} after {before}",
                option="source",
                expected="the frame that each of them was before",
            )
        return None
    try:
        at = freeze_floats(source, (after,), "source")
    except ModelError as error:
        raise OptionError.from_error(error) from None
    if at.min() < 0 or at.max() > before - 1:
        raise OptionError(
            f"frames {at.min():g} to {at.max():g}", option="source", expected=f"some of 0 to {before - 1}"
        )
    return at


def concatenate(motions: Sequence[Motion]) -> Motion:
    """Return all motions concatenated; joints and frame rates must agree.

    Name, axes and notes are those of the first motion, the tolerance is the largest.
    """
    if not isinstance(motions, Sequence) or not all(isinstance(each, Motion) for each in motions):
        raise OptionError(option="motions", value=motions, expected="a list of Motions")
    if not motions:
        raise OptionError("no motion", expected="at least one")
    first = motions[0]
    for other in motions[1:]:
        if other.skeleton.names != first.skeleton.names or (other.skeleton.parents != first.skeleton.parents).any():
            raise OptionError(f"{first.name!r} and {other.name!r}", expected="the same skeleton")
        if abs(other.fps - first.fps) > WHOLE_RATIO_TOLERANCE * first.fps:
            raise OptionError(
                f"{first.name!r} has {first.fps:g} fps, {other.name!r} {other.fps:g}",
                expected="the same",
                hint="use at_fps()",
            )
        if other.up != first.up:
            raise OptionError(f"{first.name!r} has {first.up} up, {other.name!r} {other.up}", expected="the same axis")
    return replace(
        first,
        translations=freeze(np.concatenate([m.translations for m in motions])),
        rotations=freeze(np.concatenate([m.rotations for m in motions])),
        tolerance_mm=max((m.tolerance_mm for m in motions if m.tolerance_mm is not None), default=None),
    )


class Note(str):
    """A note with a ``code`` for programs, one of ``errors.CODES``; other notes are plain texts."""

    code: str

    def __new__(cls, text: str, code: str) -> Note:
        """Return a note with this text and code."""
        note = super().__new__(cls, text)
        note.code = code
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # of pickle
        return str(self), self.code


REFERENCE_POSE_NOTE = Note("frame 0 is a reference pose (T-pose), kept apart from the movement", code="reference_pose")
FIRST_FRAME_NOTE = Note(  # of AMC, which counts from 1
    "the first frame is a reference pose (T-pose), kept apart from the movement", code="reference_pose"
)
POSE_NOTE_CODE = REFERENCE_POSE_NOTE.code  # motions and results have a field for the pose
_COMMON_NOTES = {str(note): note for note in (REFERENCE_POSE_NOTE, FIRST_FRAME_NOTE)}


def note_code(note: str) -> str | None:
    """Return the code of a note; None for a plain text."""
    return note.code if isinstance(note, Note) else None


def parse_notes(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the notes in a file, which stores them as texts; those about a reference pose with their code."""
    return tuple(_COMMON_NOTES.get(text, text) for text in texts)


class HasNotes(Protocol):
    """A motion, its keys or its swings."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader noticed."""

    @property
    def tolerance_mm(self) -> float | None:
        """The maximum error of the frames."""


def list_notes(clip: HasNotes) -> tuple[str, ...]:
    """Return the notes for a person to read; one states the tolerance."""
    if clip.tolerance_mm is None:
        return clip.notes
    return (*clip.notes, f"within {clip.tolerance_mm:g} mm of the original")


def check_up(up: Up, subject: str) -> None:
    """Raise ModelError if ``up`` is no axis."""
    if not isinstance(up, str) or up not in UPS:
        raise ModelError(f"up axis {format_value(up)}", subject=subject, expected=f"one of {', '.join(UPS)}")


def _check_float(value: float, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{format_value(value)} {name}", subject="motion", expected="a number") from None


def _check_unit_quaternions(values: Floats, shape: tuple[int | None, ...], name: str) -> Floats:
    """Return read-only unit quaternions: unchanged if unit, normalised if nearly so. Raise ModelError otherwise."""
    rotations = freeze_floats(values, shape, name)
    norm_error = np.abs(np.einsum("...k,...k->...", rotations, rotations) - 1.0)
    if norm_error.size and norm_error.max() > 2e-3:
        at = tuple(int(i) for i in np.argwhere(norm_error > 2e-3)[0])
        raise ModelError(f"{rotations[at]} at index {at} is not a unit quaternion (wxyz)", option=name)
    return rotations if not norm_error.size or norm_error.max() < 1e-12 else freeze(normalise(rotations))


def check_motion(value: object) -> None:
    """Raise OptionError unless ``value`` is a Motion."""
    if not isinstance(value, Motion):
        raise OptionError(type(value).__name__, expected="a Motion, as kp.load gives it")
