"""The motion: one skeleton, many poses, and what the file said about its world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from keypose import kinematics
from keypose.arrays import Bools, Floats, Frozen, frozen_floats, give_away
from keypose.errors import ModelError, OptionError
from keypose.kinematics import REFERENCE_HEIGHT_MM, UPS, Up
from keypose.model.skeleton import Skeleton
from keypose.rotations import at_frames, normalise, to_euler, unwrap_euler

# A ratio of frame rates this close to a whole number takes the very frames (.0083333 s is meant as 120 fps).
WHOLE_RATIO_TOLERANCE = 1e-3

LEAST_FPS, GREATEST_FPS = 1e-3, 1e6
GREATEST_FRAME = 1 << 53
MOST_POSES = 1 << 28  # frames x joints that at_fps makes: 15 GB
BLOCK_POSES = 1 << 18  # frames x points that the height looks at together
LEAST_HEIGHT = 1e-100  # file units: by smaller ones not even squares of distances in mm are finite numbers


@dataclass(frozen=True, eq=False)
class Pose(Frozen):
    """One pose of a skeleton, in the same terms as a Motion's frame."""

    translations: Floats  # (J, 3) local, file units
    rotations: Floats  # (J, 4) local, unit wxyz

    def __repr__(self) -> str:
        return f"Pose({len(self.translations)} joints)"

    def __post_init__(self) -> None:
        translations = frozen_floats(self.translations, (None, 3), "pose translations")
        self._put("translations", translations)
        self._put("rotations", _unit(self.rotations, (len(translations), 4), "pose rotations"))


@dataclass(frozen=True, eq=False)
class FootContacts(Frozen):
    """When each recognised foot stands on the ground."""

    feet: tuple[str, ...]  # "left", "right"
    touching: Bools  # (T, F)


@dataclass(frozen=True, eq=False)
class Motion(Frozen):
    """Dense motion: a pose for every frame. At least one frame, all numbers finite, rotations unit.

    ``reference_pose`` is a pose that the file carried but that is not part of the movement (the T-pose
    that starts every CMU file); ``notes`` is what the reader noticed, repaired or left out.
    """

    name: str
    skeleton: Skeleton
    fps: float
    translations: Floats  # (T, J, 3) local, file units
    rotations: Floats  # (T, J, 4) local, unit wxyz
    up: Up = "Y"
    metres_per_unit: float | None = None  # None: the file does not say
    first_frame: int = 0  # the number that the source gave to our frame 0
    reference_pose: Pose | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        joints = self.skeleton.n_joints
        translations = frozen_floats(self.translations, (None, joints, 3), "motion translations")
        if len(translations) == 0:
            raise ModelError("motion: no frames, expected at least one")
        self._put("translations", translations)
        self._put("rotations", _unit(self.rotations, (len(translations), joints, 4), "motion rotations"))
        self._put("fps", _number(self.fps, "frames per second"))
        if not LEAST_FPS <= self.fps <= GREATEST_FPS:
            raise ModelError(f"motion: {self.fps:g} frames per second, expected {LEAST_FPS:g} to {GREATEST_FPS:g}")
        if self.up not in UPS:
            raise ModelError(f"motion: up axis {self.up!r}, expected one of {', '.join(UPS)}")
        if self.metres_per_unit is not None:
            self._put("metres_per_unit", _number(self.metres_per_unit, "metres per unit"))
            if not 1e-12 <= self.metres_per_unit <= 1e12:
                raise ModelError(f"motion: {self.metres_per_unit:g} metres per unit, expected 1e-12 to 1e12 or None")
        try:
            self._put("first_frame", index(self.first_frame))
        except TypeError:
            raise ModelError(f"motion: first frame {self.first_frame!r}, expected a whole number") from None
        if abs(self.first_frame) >= GREATEST_FRAME:
            raise ModelError("motion: the first frame's number is beyond all measure")
        if self.reference_pose is not None and len(self.reference_pose.translations) != joints:
            raise ModelError(f"motion: a reference pose of {len(self.reference_pose.translations)} joints, "
                             f"expected {joints}")  # fmt: skip
        self._put("notes", tuple(self.notes))

    # What it is

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.translations)

    @property
    def n_joints(self) -> int:
        """How many joints there are, end sites not counted."""
        return self.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        return (f"Motion({self.name!r}, {self.n_frames} frames at {self.fps:g} fps, "
                f"{self.n_joints} joints, {self.duration_s:.2f} s)")  # fmt: skip

    def _repr_html_(self) -> str:
        from keypose.pictures.card import motion_card

        return motion_card(self)

    # Parts of it

    @overload
    def __getitem__(self, frames: int) -> Pose: ...
    @overload
    def __getitem__(self, frames: slice) -> Motion: ...
    def __getitem__(self, frames: int | slice) -> Pose | Motion:
        """One pose ``m[100]``, or frames ``m[100:400]``, whose numbering goes on in ``first_frame``."""
        if not isinstance(frames, slice):
            return self._pose(frames)
        if frames.step not in (None, 1):
            raise OptionError("a motion is sliced by consecutive frames, m[100:400]; for another rate use m.at_fps()")
        start, stop, _ = frames.indices(self.n_frames)
        if stop <= start:
            raise OptionError(f"frames {frames.start}:{frames.stop} of {self.n_frames} hold no frame")
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
            raise OptionError(f"m[{frame!r}]: expected a frame number or a slice") from None
        if not -self.n_frames <= at < self.n_frames:
            raise OptionError(f"frame {at}, expected one of 0 to {self.n_frames - 1}")
        return Pose(self.translations[at], self.rotations[at])

    def __iter__(self) -> Iterator[Pose]:
        return (self._pose(frame) for frame in range(self.n_frames))

    def at_fps(self, fps: float) -> Motion:
        """The motion at another frame rate: the very frames where the ratio is whole, else interpolated.

        Translations go straight and rotations at constant speed between the two nearest frames.
        """
        if isinstance(fps, str) or not LEAST_FPS <= fps <= GREATEST_FPS:
            raise OptionError(f"{fps!r} frames per second, expected {LEAST_FPS:g} to {GREATEST_FPS:g}")
        frames = frames_at_rate(self.n_frames, self.n_joints, self.fps, fps)
        ratio = self.fps / fps
        whole = round(ratio)
        if whole >= 1 and abs(ratio - whole) <= WHOLE_RATIO_TOLERANCE * whole:
            return replace(self, fps=fps, translations=self.translations[::whole], rotations=self.rotations[::whole])
        return replace(self.at_frames(frames), fps=fps)

    def at_frames(self, frames: ArrayLike) -> Motion:
        """The poses at ``frames`` (N,), whole or not, one after another at the same frame rate.

        Between two frames translations go straight and rotations at constant speed.
        """
        at = frozen_floats(frames, (None,), "frames")
        if not len(at) or at.min() < 0 or at.max() > self.n_frames - 1:
            raise OptionError(f"expected frames from 0 to {self.n_frames - 1}")
        before = np.minimum(at.astype(int), max(self.n_frames - 2, 0))
        after = np.minimum(before + 1, self.n_frames - 1)
        part = (at - before)[:, None, None]
        translations = self.translations[before] * (1 - part) + self.translations[after] * part
        rotations = at_frames(self.rotations, at)
        return replace(self, translations=give_away(translations), rotations=give_away(rotations))

    def __add__(self, other: Motion) -> Motion:
        return concatenate((self, other))

    # Where things are

    @cached_property
    def _world(self) -> tuple[Floats, Floats]:
        positions, rotations = kinematics.forward(self.skeleton.parents, self.translations, self.rotations)
        return give_away(positions), give_away(rotations)

    def world_positions(self) -> Floats:
        """Joint positions (T, J, 3) in the world, file units; computed once, read-only."""
        return self._world[0]

    def world_rotations(self) -> Floats:
        """Joint rotations (T, J, 4) in the world, wxyz; computed once, read-only."""
        return self._world[1]

    def end_positions(self) -> Floats:
        """End site positions (T, E, 3) in the world, file units."""
        s = self.skeleton
        return kinematics.end_positions(*self._world, s.end_joints, s.end_offsets)

    def euler_curves(self) -> Floats:
        """Euler angles (T, J, 3) in degrees, unwrapped; column k turns about the k-th axis of the joint's own order."""
        angles = np.empty((self.n_frames, self.n_joints, 3))
        orders = np.array(self.skeleton.rotation_orders)
        for order in set(self.skeleton.rotation_orders):
            of_order = np.flatnonzero(orders == order)
            angles[:, of_order] = to_euler(self.rotations[:, of_order], order)
        return np.rad2deg(unwrap_euler(angles))

    def joint(self, name: str) -> int:
        """The index of one joint, by its own name or by its body part (``"left_hand"``)."""
        return self.skeleton.joint(name)

    def joints(self, names: str | tuple[str, ...] | list[str]) -> tuple[int, ...]:
        """The indices of joints named by their own names, body parts or groups (``"hands"``), in file order."""
        return self.skeleton.joints(names)

    # How large it is

    @cached_property
    def height(self) -> float:
        """The figure's height in file units: of the reference pose if there is one, else of the rest pose
        if that is upright, else the 95th percentile over the frames. End sites count. 0 if it is so small
        that nothing can be measured by it.
        """
        s = self.skeleton
        if self.reference_pose is not None:
            world, turns = kinematics.forward(
                s.parents, self.reference_pose.translations[None], self.reference_pose.rotations[None]
            )
            ends = kinematics.end_positions(world, turns, s.end_joints, s.end_offsets)
            extent = kinematics.vertical_extent(np.concatenate((world, ends), axis=1), self.up)[0]
        elif kinematics.is_upright(s.rest_positions, self.up):
            extent = kinematics.vertical_extent(s.rest_positions, self.up)
        else:
            extent = np.percentile(self._vertical_extents(), 95.0)
        return float(extent) if extent >= LEAST_HEIGHT else 0.0

    def _vertical_extents(self) -> Floats:
        """How tall each frame is, end sites included (T,); by blocks, since there may be many end sites."""
        s = self.skeleton
        block = max(1, BLOCK_POSES // (self.n_joints + len(s.end_joints)))
        extents = []
        for start in range(0, self.n_frames, block):
            some = slice(start, start + block)
            world, turns = kinematics.forward(s.parents, self.translations[some], self.rotations[some])
            ends = kinematics.end_positions(world, turns, s.end_joints, s.end_offsets)
            extents.append(kinematics.vertical_extent(np.concatenate((world, ends), axis=1), self.up))
        return np.concatenate(extents)

    @property
    def mm_per_unit(self) -> float:
        """Millimetres per file unit on a figure scaled to 1.7 m: the scale on which errors are stated."""
        if self.height <= 0:
            raise OptionError(f"{self.name}: the figure has no height, so nothing can be stated in mm")
        return REFERENCE_HEIGHT_MM / self.height

    def foot_contacts(self) -> FootContacts:
        """When each recognised foot stands on the ground: near the clip's floor and slow, for at least 0.1 s.

        Without recognised feet (markers, say) there are no columns.
        """
        feet = self.skeleton.anatomy.feet()
        if not feet:
            return FootContacts((), np.zeros((self.n_frames, 0), bool))
        points = max(len(joints) for joints in feet.values())
        columns = [joints + joints[-1:] * (points - len(joints)) for joints in feet.values()]
        touching = kinematics.ground_contacts(
            self.world_positions()[:, np.array(columns)], self.fps, self.up, self.mm_per_unit / 1000.0
        )
        return FootContacts(tuple(feet), give_away(touching))


def frames_at_rate(n_frames: int, n_joints: int, fps: float, rate: float) -> Floats:
    """Where frames at another ``rate`` lie among ``n_frames`` at ``fps``, (N,), from the first to about the last."""
    ratio = fps / rate
    if n_frames / ratio * n_joints > MOST_POSES:
        raise OptionError(f"{rate:g} frames per second make {n_frames / ratio:.3g} frames: too many")
    count = int(np.floor((n_frames - 1) / ratio * (1 + 1e-12))) + 1
    return np.asarray(np.minimum(np.arange(count) * ratio, n_frames - 1.0))


def source_frames(source: ArrayLike | None, before: int, after: int) -> Floats | None:
    """How a motion was retimed: which of ``before`` frames, whole or not, each of ``after`` was; None: the same one."""
    if source is None:
        if before != after:
            raise OptionError(f"{after} frames after {before}: say with source= which frame belongs to which")
        return None
    try:
        at = frozen_floats(source, (after,), "source")
    except ModelError as error:
        raise OptionError(str(error)) from None
    if at.min() < 0 or at.max() > before - 1:
        raise OptionError(f"source: frames {at.min():g} to {at.max():g}, expected some of 0 to {before - 1}")
    return at


def concatenate(motions: Sequence[Motion]) -> Motion:
    """One motion after another; joints and frame rates must agree. Name, axes and notes are the first one's."""
    if not motions:
        raise OptionError("nothing to concatenate")
    first = motions[0]
    for other in motions[1:]:
        if other.skeleton.names != first.skeleton.names or (other.skeleton.parents != first.skeleton.parents).any():
            raise OptionError(f"{first.name!r} and {other.name!r} have different skeletons")
        if abs(other.fps - first.fps) > WHOLE_RATIO_TOLERANCE * first.fps:
            raise OptionError(f"{first.name!r} has {first.fps:g} fps, {other.name!r} {other.fps:g}: use at_fps() first")
        if other.up != first.up:
            raise OptionError(f"{first.name!r} has {first.up} up, {other.name!r} {other.up}")
    return replace(
        first,
        translations=give_away(np.concatenate([m.translations for m in motions])),
        rotations=give_away(np.concatenate([m.rotations for m in motions])),
    )


def _number(value: float, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"motion: {value!r} {what}, expected a number") from None


def _unit(values: Floats, shape: tuple[int | None, ...], what: str) -> Floats:
    """Unit quaternions, read-only: as they are if they are unit, normalised if nearly so."""
    rotations = frozen_floats(values, shape, what)
    off = np.abs(np.einsum("...k,...k->...", rotations, rotations) - 1.0)
    if off.size and off.max() > 2e-3:
        where = tuple(int(i) for i in np.argwhere(off > 2e-3)[0])
        raise ModelError(f"{what}: {rotations[where]} at index {where} is not a unit quaternion (wxyz)")
    return rotations if not off.size or off.max() < 1e-12 else give_away(normalise(rotations))
