"""Swings: a motion as a track of swings for each joint, and its playback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from keypose.arrays import Floats, Frozen, freeze, freeze_floats, freeze_items
from keypose.errors import ModelError, OptionError, format_count
from keypose.kinematics import Up
from keypose.model import FootContacts, Motion, Pose, Skeleton
from keypose.model.motion import check_up, frames_at_rate
from keypose.options import MAX_FPS, MIN_FPS
from keypose.swings.settings import Settings
from keypose.swings.swing import Path, Swing
from keypose.swings.track import Track
from keypose.validation import check_bool, check_int, check_number

if TYPE_CHECKING:
    from keypose.swings.actions import Actions
    from keypose.swings.codec import SwingSize
    from keypose.swings.edit import SwingEdit
    from keypose.swings.timeline import Timeline

MAX_FRAMES = (1 << 31) - 1  # frame numbers are 32-bit


@dataclass(frozen=True, eq=False)
class Swings(Frozen):
    """A motion as swings. ``play`` returns the motion, ``error`` measures it, ``edit`` edits the swings.

    Every joint has a track, in the order of the skeleton. Joints with changing translations (such as the hips) have a
    path; the translations of others are constant.
    """

    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    tracks: tuple[Track, ...]  # (J,)
    translations: Floats  # (J, 3) local translations, file units, of joints without a path
    paths: tuple[Path, ...] = ()
    contacts: FootContacts | None = None  # of the motion in which the swings were found; None: unknown
    settings: Settings = field(default_factory=Settings)
    up: Up = "Y"
    metres_per_unit: float | None = None
    first_frame: int = 0
    reference_pose: Pose | None = None
    notes: tuple[str, ...] = ()
    tolerance_mm: float | None = None  # of the frames that the swings were found in; None: exact

    def __post_init__(self) -> None:
        self._check_types()
        self._set_field("n_frames", check_int("n_frames", self.n_frames, min_value=1))
        if self.n_frames > MAX_FRAMES:
            raise ModelError(format_count(self.n_frames, "frame"), subject="swings", expected=f"at most {MAX_FRAMES}")
        self._set_field("fps", check_number("fps", self.fps, min_value=MIN_FPS, max_value=MAX_FPS))
        self._set_field(
            "translations", freeze_floats(self.translations, (self.skeleton.n_joints, 3), "places of joints")
        )
        if tuple(track.joint for track in self.tracks) != self.skeleton.names:
            raise ModelError(subject="swings", expected="one track for each joint, in the skeleton's order")
        order = [self._index_of.get(path.joint, -1) for path in self.paths]
        if -1 in order or order != sorted(set(order)):
            raise ModelError("paths", subject="swings", expected="at most one for each joint, in the skeleton's order")
        self._check_left_out()
        for track in self.tracks:
            if track.last_frame >= self.n_frames:
                raise ModelError(
                    "something outside the clip", subject=track.joint, expected=f"frames 0 to {self.n_frames - 1}"
                )
        for path in self.paths:
            if path.keys[-1] >= self.n_frames:
                raise ModelError(
                    "a path outside the clip", subject=path.joint, expected=f"frames 0 to {self.n_frames - 1}"
                )
        if self.contacts is not None and self.contacts.in_contact.shape != (self.n_frames, len(self.contacts.feet)):
            raise ModelError(
                f"contacts {self.contacts.in_contact.shape}", subject="swings", expected="one row for each frame"
            )
        Motion(  # for its checks
            self.name, self.skeleton, self.fps, self.translations[None],
            np.array([[track.mean_rotation for track in self.tracks]]), self.up, self.metres_per_unit, self.first_frame,
            self.reference_pose, self.notes, self.tolerance_mm,
        )  # fmt: skip

    def _check_types(self) -> None:
        """Check the type of each field; values are checked later."""
        types = {
            "name": str,
            "skeleton": Skeleton,
            "settings": Settings,
            "contacts": FootContacts,
            "reference_pose": Pose,
        }
        for name, kind in types.items():
            value = getattr(self, name)
            if not isinstance(value, kind) and not (value is None and name in ("contacts", "reference_pose")):
                raise ModelError(f"{name} is {type(value).__name__}", subject="swings", expected=kind.__name__)
        for name, kind in {"tracks": Track, "paths": Path, "notes": str}.items():
            self._set_field(name, freeze_items(getattr(self, name), kind, f"swings: {name}"))
        check_up(self.up, "swings")

    def _check_left_out(self) -> None:
        for name in self.settings.left_out:
            if name not in self._index_of:
                raise ModelError(
                    f"left_out names {name!r}", subject="swings", expected="names of joints of the skeleton"
                )
        order = [self._index_of[name] for name in self.settings.left_out]
        if order != sorted(set(order)):
            raise ModelError("left_out", subject="swings", expected="each joint once, in the skeleton's order")

    # Properties

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def n_swings(self) -> int:
        """The number of swings of all joints."""
        return sum(track.n_swings for track in self.tracks)

    @property
    def n_keys(self) -> int:
        """The number of keys of all joints that are not left out."""
        return sum(track.n_keys for j, track in enumerate(self.tracks) if not self.is_left_out(j))

    @property
    def n_joints(self) -> int:
        """The number of joints, without end sites."""
        return self.skeleton.n_joints

    @cached_property
    def _index_of(self) -> Mapping[str, int]:
        return {name: j for j, name in enumerate(self.skeleton.names)}

    @cached_property
    def _left_out_names(self) -> frozenset[str]:
        return frozenset(self.settings.left_out)

    def is_left_out(self, joint: int) -> bool:
        """Return whether a joint was excluded when swings were found (``left_out``), and still has a key on every
        frame.

        This is false for a joint with a key on every frame because fewer keys were not accurate enough.
        """
        track = self.tracks[joint]
        return track.joint in self._left_out_names and track.is_raw(self.n_frames)

    def __len__(self) -> int:
        return self.n_swings

    def __repr__(self) -> str:
        return (
            f"Swings({self.name!r}, {format_count(self.n_swings, 'swing')} of {format_count(self.n_joints, 'joint')}, "
            f"{format_count(self.n_keys, 'key')}, {format_count(self.n_frames, 'frame')} at {self.fps:g} fps)"
        )

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import swings_card

        return swings_card(self)

    def __getitem__(self, joint: str) -> tuple[Swing, ...]:
        """Return the swings of one joint, by its name or body part."""
        return self.track(joint).swings

    def track(self, joint: str) -> Track:
        """Return the track of one joint, by its name or body part."""
        return self.tracks[self.skeleton.joint(joint)]

    def replace_tracks(self, new_tracks: Mapping[int, Track]) -> Swings:
        """Return the same swings with other tracks of some joints."""
        return replace(self, tracks=tuple(new_tracks.get(j, track) for j, track in enumerate(self.tracks)))

    # Playback

    def play(self, level: float = 1.0, *, fps: float | None = None, rests: bool = True) -> Motion:
        """Return the motion that the swings play.

        ``level`` is the level of detail: the share of swings that is played, from 0 to 1, largest angles first. In
        place of a dropped swing the joint rotates at constant speed from the item before to the one after. ``fps``:
        another frame rate. ``rests=False``: rests are not played, and the joint is interpolated from swing to swing,
        as in the thesis.
        """
        played = self if check_number("level", level, min_value=0.0, max_value=1.0) == 1 else self.simplify(level)
        rate = self.fps if fps is None else check_number("fps", fps, min_value=MIN_FPS, max_value=MAX_FPS)
        frames = frames_at_rate(self.n_frames, self.n_joints, self.fps, rate)
        translations = np.tile(self.translations, (len(frames), 1, 1))
        for path in played.paths:
            translations[:, self._index_of[path.joint]] = path.sample(frames)
        tracks = played.tracks if check_bool("rests", rests) else [track.drop_rests() for track in played.tracks]
        rotations = np.stack([track.sample(frames) for track in tracks], axis=1)
        return Motion(
            name=self.name,
            skeleton=self.skeleton,
            fps=rate,
            translations=freeze(translations),
            rotations=freeze(rotations),
            up=self.up,
            metres_per_unit=self.metres_per_unit,
            first_frame=self.first_frame,
            reference_pose=self.reference_pose,
            notes=self.notes,
            tolerance_mm=self.tolerance_mm,
        )

    def simplify(self, level: float) -> Swings:
        """Return the share ``level`` of all swings with the largest angles."""
        angles = np.concatenate([track.angles for track in self.tracks] or [np.zeros(0)])
        is_large = np.zeros(len(angles), bool)
        is_large[
            np.argsort(-angles, kind="stable")[
                : round(check_number("level", level, min_value=0.0, max_value=1.0) * len(angles))
            ]
        ] = True
        ends = np.cumsum([track.n_swings for track in self.tracks])
        flags = np.split(is_large, ends[:-1])
        dropped = {
            j: np.flatnonzero(~track_flags).tolist() for j, track_flags in enumerate(flags) if not track_flags.all()
        }
        return self.replace_tracks({j: self.tracks[j].drop_swings(some) for j, some in dropped.items()})

    # Measures, queries, edits

    def error(self, motion: Motion, *, per: Literal["frame", "angle"] = "frame", rests: bool = True) -> float:
        """Return the error of the played motion against ``motion``, in degrees of its Euler angles.

        Per ``"frame"`` as in the thesis: the length of the difference of all angles, averaged over the frames. Per
        ``"angle"``: the root mean square over all angles and frames. Left-out joints are exact. ``rests`` as in
        ``play``.
        """
        from keypose.swings.error import segmentation_error

        return segmentation_error(motion, self, per=per, rests=rests)

    def size(self) -> SwingSize:
        """Return the packed size in bytes by section, and its ratio to the raw motion."""
        from keypose.swings.codec import measure_size

        return measure_size(self)

    def timeline(self) -> Timeline:
        """Return the data of a picture: bars for the times at which each joint swings, rests or has keys."""
        from keypose.swings.timeline import build_timeline

        return build_timeline(self)

    def actions(self, capture: Motion | None = None) -> Actions:
        """Return the actions of the clip: steps, kicks, turns, jumps and others, with their times and body parts.

        Simultaneous and following swings are grouped and named by rules. With the ``capture`` in which the swings were
        found, paths of hands, feet and hips are those of the capture; without it those of the played swings. A figure
        without recognised legs or arms has fewer actions; one without both has none, and a note.
        """
        from keypose.swings.actions import find_actions

        return find_actions(self, capture)

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
        """Return the swings of some joints, body parts or groups that match all conditions, in order of time.

        ``index`` counts within each joint, from the end if negative. A swing matches ``at_s`` if it covers that time,
        and ``from_s`` and ``to_s`` if it is at least partly between them. It is longer than ``longer_s`` and shorter
        than ``shorter_s`` seconds; its angle is larger than ``wider_deg`` and smaller than ``narrower_deg`` degrees.
        """
        from keypose.swings.find import find

        return find(
            self, joints, index=index, at_s=at_s, from_s=from_s, to_s=to_s, longer_s=longer_s, shorter_s=shorter_s,
            wider_deg=wider_deg, narrower_deg=narrower_deg,
        )  # fmt: skip

    def edit(self, capture: Motion | None = None) -> SwingEdit:
        """Return an editor of these swings; they themselves do not change.

        With the ``capture`` in which the swings were found, edits are applied on top of it and its detail is preserved:
        without edits, the result is the capture. Without it, only the edited swings are played.
        """
        from keypose.swings.edit import SwingEdit

        return SwingEdit(self, capture)


def check_same_clip(motion: Motion, swings: Swings) -> None:
    """Raise an OptionError for a motion of other joints or frames than the swings."""
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="the Motion that the swings were found in")
    if motion.skeleton.names != swings.skeleton.names:
        raise OptionError(f"{motion.name!r} and the swings of {swings.name!r}", expected="the same joints")
    if motion.n_frames != swings.n_frames:
        raise OptionError(
            f"{motion.name!r} has {format_count(motion.n_frames, 'frame')}, its swings {swings.n_frames}",
            expected="the same number",
        )
