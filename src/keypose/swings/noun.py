"""Swings: a motion as what each of its joints does, and the motion that this plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from keypose.arrays import Floats, Frozen, frozen_floats, give_away
from keypose.errors import ModelError
from keypose.kinematics import UPS, Up
from keypose.model import FootContacts, Motion, Pose, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS, frames_at_rate
from keypose.options import number, whole
from keypose.swings.parts import Swing, several
from keypose.swings.path import Path
from keypose.swings.settings import USUAL, Settings
from keypose.swings.track import Track

if TYPE_CHECKING:
    from keypose.swings.editing import SwingEdit
    from keypose.swings.size import Size
    from keypose.swings.timeline import Timeline

MOST_FRAMES = (1 << 31) - 1  # what tracks can count


@dataclass(frozen=True, eq=False)
class Swings(Frozen):
    """A motion as swings. ``play`` makes the motion again, ``error`` says how far that is off, ``edit`` changes swings.

    Every joint has a track, in the skeleton's order. Joints that move about (the hips) have a path; others keep their
    place.
    """

    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    tracks: tuple[Track, ...]  # (J,)
    places: Floats  # (J, 3) local translations, file units, of joints without a path
    paths: tuple[Path, ...] = ()
    contacts: FootContacts | None = None  # of the motion they were found in; None: not known
    settings: Settings = USUAL
    up: Up = "Y"
    metres_per_unit: float | None = None
    first_frame: int = 0
    reference_pose: Pose | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_kinds()
        self._put("n_frames", whole("n_frames", self.n_frames, least=1))
        if self.n_frames > MOST_FRAMES:
            raise ModelError(f"swings: {self.n_frames} frames, expected at most {MOST_FRAMES}")
        self._put("fps", number("fps", self.fps, least=LEAST_FPS, most=GREATEST_FPS))
        self._put("places", frozen_floats(self.places, (self.skeleton.n_joints, 3), "places of joints"))
        if tuple(track.joint for track in self.tracks) != self.skeleton.names:
            raise ModelError("swings: expected one track for each joint, in the skeleton's order")
        order = [self._index_of.get(path.joint, -1) for path in self.paths]
        if -1 in order or order != sorted(set(order)):
            raise ModelError("swings: paths, expected at most one for each joint, in the skeleton's order")
        self._check_left_out()
        for track in self.tracks:
            if track.last_frame >= self.n_frames:
                raise ModelError(f"{track.joint}: something outside the clip, expected frames 0 to {self.n_frames - 1}")
        for path in self.paths:
            if path.keys[-1] >= self.n_frames:
                raise ModelError(f"{path.joint}: a path outside the clip, expected frames 0 to {self.n_frames - 1}")
        if self.contacts is not None and self.contacts.touching.shape != (self.n_frames, len(self.contacts.feet)):
            raise ModelError(f"swings: contacts {self.contacts.touching.shape}, expected one row for each frame")
        Motion(  # what a motion of these would refuse, this refuses too
            self.name, self.skeleton, self.fps, self.places[None],
            np.array([[track.mean_rotation for track in self.tracks]]), self.up, self.metres_per_unit, self.first_frame,
            self.reference_pose, self.notes,
        )  # fmt: skip

    def _check_kinds(self) -> None:
        """That each field is of its kind at all; what it holds is looked at later."""
        one = {
            "name": str,
            "skeleton": Skeleton,
            "settings": Settings,
            "contacts": FootContacts,
            "reference_pose": Pose,
        }
        for field, kind in one.items():
            given = getattr(self, field)
            if not isinstance(given, kind) and not (given is None and field in ("contacts", "reference_pose")):
                raise ModelError(f"swings: {field} is {type(given).__name__}, expected {kind.__name__}")
        for field, kind in {"tracks": Track, "paths": Path, "notes": str}.items():
            self._put(field, several(getattr(self, field), kind, f"swings: {field}"))
        if not isinstance(self.up, str) or self.up not in UPS:
            raise ModelError(f"swings: up axis {self.up!r}, expected one of {', '.join(UPS)}")

    def _check_left_out(self) -> None:
        for name in self.settings.left_out:
            if name not in self._index_of:
                raise ModelError(f"swings: left_out names {name!r}, expected names of joints of the skeleton")
        order = [self._index_of[name] for name in self.settings.left_out]
        if order != sorted(set(order)):
            raise ModelError("swings: left_out, expected each joint once, in the skeleton's order")

    # What it is

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def n_swings(self) -> int:
        """How many swings there are in all."""
        return sum(track.n_swings for track in self.tracks)

    @property
    def n_keys(self) -> int:
        """How many keys there are in all, those of left-out joints not counted."""
        return sum(track.n_keys for j, track in enumerate(self.tracks) if not self.is_left_out(j))

    @property
    def n_joints(self) -> int:
        """How many joints there are, end sites not counted."""
        return self.skeleton.n_joints

    @cached_property
    def _index_of(self) -> Mapping[str, int]:
        return {name: j for j, name in enumerate(self.skeleton.names)}

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return frozenset(self.settings.left_out)

    def is_left_out(self, joint: int) -> bool:
        """Whether a joint was left out when swings were found, and is still kept frame by frame.

        One that merely has a key on every frame, since nothing less was near enough, was not left out.
        """
        track = self.tracks[joint]
        return track.joint in self._left_out and track.is_raw(self.n_frames)

    def __len__(self) -> int:
        return self.n_swings

    def __repr__(self) -> str:
        return (f"Swings({self.name!r}, {self.n_swings} swings of {self.n_joints} joints, {self.n_keys} keys, "
                f"{self.n_frames} frames at {self.fps:g} fps)")  # fmt: skip

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import swings_card

        return swings_card(self)

    def __getitem__(self, joint: str) -> tuple[Swing, ...]:
        """The swings of one joint, by its own name or by its body part."""
        return self.track(joint).swings

    def track(self, joint: str) -> Track:
        """What one joint does."""
        return self.tracks[self.skeleton.joint(joint)]

    def with_tracks(self, changed: Mapping[int, Track]) -> Swings:
        """The same with other tracks of some joints; all others are the very ones."""
        return replace(self, tracks=tuple(changed.get(j, track) for j, track in enumerate(self.tracks)))

    # What it plays

    def play(self, level: float = 1.0, *, fps: float | None = None) -> Motion:
        """The motion that the swings play.

        ``level`` is the level of detail: the share of swings that is played, largest angles first, from 0 to 1; where
        one is left out, the joint turns evenly from the swing before to the one after. ``fps``: at another frame rate.
        """
        shown = self if number("level", level, least=0.0, most=1.0) == 1 else self.coarser(level)
        rate = self.fps if fps is None else number("fps", fps, least=LEAST_FPS, most=GREATEST_FPS)
        frames = frames_at_rate(self.n_frames, self.n_joints, self.fps, rate)
        translations = np.tile(self.places, (len(frames), 1, 1))
        for path in shown.paths:
            translations[:, self._index_of[path.joint]] = path.sample(frames)
        rotations = np.stack([track.sample(frames) for track in shown.tracks], axis=1)
        return Motion(
            name=self.name,
            skeleton=self.skeleton,
            fps=rate,
            translations=give_away(translations),
            rotations=give_away(rotations),
            up=self.up,
            metres_per_unit=self.metres_per_unit,
            first_frame=self.first_frame,
            reference_pose=self.reference_pose,
            notes=self.notes,
        )

    def coarser(self, level: float) -> Swings:
        """The share ``level`` of all swings with the largest angles, without the others."""
        angles = np.concatenate([track.angles for track in self.tracks] or [np.zeros(0)])
        kept = np.zeros(len(angles), bool)
        kept[np.argsort(-angles, kind="stable")[: round(number("level", level, least=0.0, most=1.0) * len(angles))]] = (
            True
        )
        ends = np.cumsum([track.n_swings for track in self.tracks])
        parts = np.split(kept, ends[:-1])
        dropped = {j: np.flatnonzero(~part).tolist() for j, part in enumerate(parts) if not part.all()}
        return self.with_tracks({j: self.tracks[j].without(some) for j, some in dropped.items()})

    # What others make of it

    def error(self, motion: Motion, *, per: Literal["frame", "angle"] = "frame") -> float:
        """How far the played motion is off ``motion``, in degrees of its Euler angles.

        Per ``"frame"`` as in the thesis: the length of the difference of all angles, averaged over the frames. Per
        ``"angle"``: the root mean square over all angles and frames. Left-out joints add nothing.
        """
        from keypose.swings.error import segmentation_error

        return segmentation_error(motion, self, per=per)

    def size(self) -> Size:
        """How many bytes they take when they are packed, what for, and which part that is of the raw motion."""
        from keypose.swings.size import size_of

        return size_of(self)

    def timeline(self) -> Timeline:
        """Bars for a picture: when each joint swings, rests or is keyed."""
        from keypose.swings.timeline import timeline

        return timeline(self)

    def find(
        self,
        joints: str | tuple[str, ...] | list[str] = "all",
        *,
        index: int | None = None,
        at_s: float | None = None,
        from_s: float | None = None,
        to_s: float | None = None,
        longer_s: float | None = None,
        shorter_s: float | None = None,
        wider_deg: float | None = None,
        narrower_deg: float | None = None,
    ) -> tuple[Swing, ...]:
        """The swings of some joints, body parts or groups that fit all that is said of them, in order of time.

        ``index`` counts within each joint, from the end if negative. A swing fits ``at_s`` if it goes on at that time,
        and ``from_s`` and ``to_s`` if any of it lies between them.
        """
        from keypose.swings.find import find

        return find(
            self, joints, index=index, at_s=at_s, from_s=from_s, to_s=to_s, longer_s=longer_s, shorter_s=shorter_s,
            wider_deg=wider_deg, narrower_deg=narrower_deg,
        )  # fmt: skip

    def edit(self, capture: Motion | None = None) -> SwingEdit:
        """Start to edit these swings, which themselves stay as they are.

        With the ``capture`` that they were found in, edits are put on top of it, and what swings leave out of it stays:
        without any edit it plays as it was. Without it, the edited swings are played and nothing else.
        """
        from keypose.swings.editing import SwingEdit

        return SwingEdit(self, capture)
