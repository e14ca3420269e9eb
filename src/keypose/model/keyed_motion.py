"""KeyedMotion: key poses with curves between them, and the residual, the difference of the capture from the curves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints, freeze_items, freeze_or_copy
from keypose.errors import ModelError, OptionError, format_count, format_value
from keypose.kinematics import Up
from keypose.model.motion import Motion, Pose, check_up, frames_at_rate
from keypose.model.skeleton import Skeleton
from keypose.options import MAX_FPS, MIN_FPS
from keypose.rotations import ORDERS, exp, from_euler, multiply, normalise, rotate, slerp
from keypose.validation import check_int, check_number


@dataclass(frozen=True, eq=False)
class KeyedMotion(Frozen):
    """Sparse motion: poses at keys, curves between them, and the residual. Can be sampled at any frame or rate.

    All joints share the keys, or each has some of them (``is_key`` of the curves, ``joint_keys``); ``keys`` are then
    those of any joint, and a joint without a key there is on its own curve.

    Rotations are quaternions with continuous signs, or Euler angles in the order of each joint. A quaternion curve is a
    cubic in its four components, scaled to length 1, as in glTF and Blender; without tangents rotations have constant
    speed along the shorter way. Before the first and after the last key the pose is constant.
    """

    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    keys: Ints  # (K,) increasing frames from 0 to n_frames - 1
    translations: Curves  # (K, J, 3) local, file units
    rotations: Curves  # (K, J, 4) local, unit wxyz; or (K, J, 3) Euler angles in radians
    rotation_orders: tuple[str, ...] | None = None  # (J,) of Euler angles, intrinsic; None: quaternions
    residual: Residual | None = None
    extremes: Bools = field(default_factory=lambda: np.zeros(0, bool))  # (K,) else breakdowns; default: all
    up: Up = "Y"
    metres_per_unit: float | None = None
    first_frame: int = 0
    reference_pose: Pose | None = None
    notes: tuple[str, ...] = ()
    tolerance_mm: float | None = None  # of the frames that the keys were made from; None: exact

    def __post_init__(self) -> None:
        self._check_types()
        self._check_keys()
        self._check_curves()
        self._set_field("fps", check_number("fps", self.fps, min_value=MIN_FPS, max_value=MAX_FPS))
        check_up(self.up, "keyed motion")
        joints = self.skeleton.n_joints
        if self.residual is not None and self.residual.rotations.shape[1] != joints:
            raise ModelError(
                f"a residual of {format_count(self.residual.rotations.shape[1], 'joint')}",
                subject="keyed motion",
                expected=f"{joints}",
            )
        try:
            extremes = np.asarray(self.extremes, bool)
        except ValueError as error:
            raise ModelError(f"not flags ({error})", option="extremes", subject="keyed motion") from None
        if extremes.shape == (0,):
            extremes = np.ones(self.n_keys, bool)
        if extremes.shape != (self.n_keys,):
            raise ModelError(
                f"{extremes.shape} extremes",
                subject="keyed motion",
                expected=f"one flag for each of {format_count(self.n_keys, 'key')}",
            )
        self._set_field("extremes", freeze_or_copy(extremes))
        self._set_field("notes", freeze_items(self.notes, str, "keyed motion: notes"))
        Motion(  # for its checks
            self.name, self.skeleton, self.fps, self.translations.values, self._quaternions(), self.up,
            self.metres_per_unit, self.first_frame, self.reference_pose, (), self.tolerance_mm,
        )  # fmt: skip

    def _check_types(self) -> None:
        for name, kind in (("skeleton", Skeleton), ("translations", Curves), ("rotations", Curves), ("name", str)):
            if not isinstance(getattr(self, name), kind):
                type_name = type(getattr(self, name)).__name__
                raise ModelError(f"{name} is a {type_name}", subject="keyed motion", expected=kind.__name__)
        if not isinstance(self.residual, Residual | None) or not isinstance(self.reference_pose, Pose | None):
            raise ModelError(
                subject="keyed motion", expected="a Residual or None, and a Pose or None as reference pose"
            )

    def _check_keys(self) -> None:
        try:
            self._set_field("n_frames", index(self.n_frames))
        except TypeError:
            raise ModelError(
                f"{format_value(self.n_frames)} frames", subject="keyed motion", expected="a whole number"
            ) from None
        keys = freeze_ints(self.keys, (None,), "keys")
        if not len(keys) or keys[0] < 0 or keys[-1] >= self.n_frames or (np.diff(keys) <= 0).any():
            raise ModelError(
                f"keys {keys.tolist()[:12]}",
                subject="keyed motion",
                expected=f"increasing frames from 0 to {self.n_frames - 1}",
            )
        self._set_field("keys", keys)

    def _check_curves(self) -> None:
        shape = (self.n_keys, self.skeleton.n_joints)
        channels = 4 if self.rotation_orders is None else 3
        for curves, label, width in ((self.translations, "translation", 3), (self.rotations, "rotation", channels)):
            if curves.values.shape != (*shape, width):
                raise ModelError(
                    f"{label} curves {curves.values.shape}", subject="keyed motion", expected=f"{(*shape, width)}"
                )
        if self.translations.is_cubic != self.rotations.is_cubic:
            raise ModelError(
                "tangents for translations or rotations only", subject="keyed motion", expected="both or none"
            )
        if self.is_per_joint:
            is_used = (self.translations.key_flags() | self.rotations.key_flags()).any(axis=1)
            if not is_used.all():
                raise ModelError(
                    f"no joint has a key at frame {self.keys[~is_used][0]}",
                    subject="keyed motion",
                    expected="one of at least one joint at each of the keys",
                )
        if self.rotation_orders is not None:
            self._set_field("rotation_orders", tuple(self.rotation_orders))
            if len(self.rotation_orders) != shape[1] or not set(self.rotation_orders) <= set(ORDERS):
                raise ModelError(
                    subject="keyed motion", expected=f"a rotation order of {', '.join(ORDERS)} for each joint"
                )
        else:
            squares = np.einsum("kjc,kjc->kj", self.rotations.values, self.rotations.values)
            norm_error = np.abs(squares - 1).max(where=self.rotations.key_flags(), initial=0.0)
            if norm_error > 2e-3:
                raise ModelError("a rotation that is no unit quaternion (wxyz)", subject="keyed motion")
            if norm_error > 1e-12:
                unit_values = np.where(self.rotations.key_flags()[..., None], normalise(self.rotations.values), 0.0)
                self._set_field("rotations", self.rotations.with_values(freeze(unit_values)))
        self._set_field("translations", self.translations.fill_between_keys(self.keys))
        self._set_field("rotations", self.rotations.fill_between_keys(self.keys, quaternions=channels == 4))

    @property
    def n_keys(self) -> int:
        """The number of keys."""
        return len(self.keys)

    @property
    def n_joints(self) -> int:
        """The number of joints, without end sites."""
        return self.skeleton.n_joints

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / self.fps

    @property
    def is_cubic(self) -> bool:
        """Whether spans between keys are cubic; else they are straight."""
        return self.rotations.is_cubic

    @property
    def is_per_joint(self) -> bool:
        """Whether joints have keys of their own; else all joints have all keys."""
        return self.rotations.is_key is not None or self.translations.is_key is not None

    def joint_keys(self, joint: str) -> Ints:
        """Return the frames of the keys of one joint, by name or body part: those of its rotation and its translation.

        A translation that never changes has no keys of its own.
        """
        j = self.skeleton.joint(joint)
        has_key = self.rotations.key_flags()[:, j].copy()
        if not self.translations.still_joints()[j]:
            has_key |= self.translations.key_flags()[:, j]
        return freeze(self.keys[has_key])

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        kind = ("cubic" if self.is_cubic else "straight") + (" Euler" if self.rotation_orders else "")
        if self.is_per_joint:
            kind += ", keys per joint"
        residual_text = "" if self.residual is None else ", with residual"
        return (
            f"KeyedMotion({self.name!r}, {format_count(self.n_keys, 'key')} of {format_count(self.n_frames, 'frame')} "
            f"at {self.fps:g} fps, {format_count(self.n_joints, 'joint')}, {kind}{residual_text})"
        )

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import keyed_card

        return keyed_card(self)

    # Poses

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """The key poses."""
        rotations = self._quaternions()
        return tuple(Pose(self.translations.values[k], rotations[k]) for k in range(self.n_keys))

    def pose(self, frame: float, residual: float = 0.0) -> Pose:
        """Return the pose at one frame, which may be fractional."""
        return self.sample(residual, frames=[frame])[0]

    def key_index(self, frame: int) -> int:
        """Return the index of the key at ``frame``. Raise OptionError if there is none."""
        frame = check_int("frame", frame)
        position = int(np.searchsorted(self.keys, frame))
        if position < self.n_keys and self.keys[position] == frame:
            return position
        nearest = self.keys[max(0, position - 2) : position + 2].tolist()
        raise OptionError(
            f"no key at frame {frame}", value=frame, hint=f"the nearest are at {', '.join(map(str, nearest))}"
        )

    def sample(self, residual: float = 0.0, *, fps: float | None = None, frames: ArrayLike | None = None) -> Motion:
        """Return the dense motion with a share of the residual: ``residual=0`` is none, 1 restores the original.

        It is sampled at all frames by default, at another rate with ``fps``, or at ``frames`` (N,), which may be
        fractional.
        """
        if fps is not None and frames is not None:
            raise OptionError(expected="fps= or frames=, not both")
        share = check_number("residual", residual)
        if share and self.residual is None:
            raise OptionError(
                "no residual is stored, so only residual=0 can be sampled", code="no_residual", subject=self.name
            )
        rate = self.fps if fps is None else check_number("fps", fps, min_value=MIN_FPS, max_value=MAX_FPS)
        at = (
            frames_at_rate(self.n_frames, self.n_joints, self.fps, rate)
            if frames is None
            else self._check_frames(frames)
        )
        position = SpanPosition.locate(self.keys, at)
        translations, rotations = self.translations.at(position), self._rotations_at(position)
        if share and self.residual is not None:
            translations, rotations = self.residual.apply(translations, rotations, at, share)
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

    def _check_frames(self, frames: ArrayLike) -> Floats:
        at = freeze_floats(frames, (None,), "frames")
        if not len(at) or at.min() < 0 or at.max() > self.n_frames - 1:
            raise OptionError(expected=f"frames from 0 to {self.n_frames - 1}")
        return at

    def _rotations_at(self, position: SpanPosition) -> Floats:
        """Return unit quaternions (N, J, 4), exactly the stored ones at keys."""
        if self.rotation_orders is not None:
            return self._from_euler_angles(self.rotations.at(position))
        rotations = self._quaternions()[position.before]
        off_key = np.flatnonzero(position.fraction > 0)
        between = SpanPosition(
            position.before[off_key], position.after[off_key], position.fraction[off_key], position.gap[off_key]
        )
        if self.is_cubic:
            rotations[off_key] = normalise(self.rotations.at(between))
        else:
            a, b = self.rotations.values[between.before], self.rotations.values[between.after]
            rotations[off_key] = normalise(slerp(a, b, between.fraction[:, None, None]))
        return rotations

    def _quaternions(self) -> Floats:
        """Return the rotations at the keys as unit quaternions (K, J, 4)."""
        values = self.rotations.values
        if self.rotation_orders is not None:
            return self._from_euler_angles(values)
        if self.rotations.is_key is None:
            return values
        return np.where(self.rotations.is_key[..., None], values, normalise(values))

    def _from_euler_angles(self, angles: Floats) -> Floats:
        rotations = np.empty((*angles.shape[:2], 4))
        orders = np.array(self.rotation_orders)
        for order in set(self.rotation_orders or ()):
            of_order = np.flatnonzero(orders == order)
            rotations[:, of_order] = from_euler(angles[:, of_order], order)
        return rotations


@dataclass(frozen=True, eq=False)
class Residual(Frozen):
    """The detail of every frame: a rotation and a shift in the frame of each joint, so that both follow edits of the
    keys.

    A pose ``q`` with a share ``w`` of it is ``q exp(w rotation)``, translated by ``w shift`` rotated by ``q``.
    ``frames`` and ``sources`` map frames of the motion to frames of the detail, linear in between: moving a key in time
    changes this mapping.
    """

    rotations: Floats  # (R, J, 3) rotation vectors in radians
    shifts: Floats  # (R, J, 3) file units
    frames: Floats | None = None  # (A,) increasing frames of the motion; None: the same as those of the detail
    sources: Floats | None = None  # (A,) frames of the detail, never decreasing

    def __post_init__(self) -> None:
        rotations = freeze_floats(self.rotations, (None, None, 3), "residual rotations")
        self._set_field("rotations", rotations)
        self._set_field("shifts", freeze_floats(self.shifts, rotations.shape, "residual shifts"))
        if not len(rotations):
            raise ModelError("no frames", subject="residual", expected="at least one")
        if (self.frames is None) != (self.sources is None):
            raise ModelError("frames and sources belong together", subject="residual")
        if self.frames is not None and self.sources is not None:
            frames = freeze_floats(self.frames, (None,), "residual frames")
            sources = freeze_floats(self.sources, frames.shape, "residual sources")
            if not len(frames) or (np.diff(frames) <= 0).any() or (np.diff(sources) < 0).any():
                raise ModelError(subject="residual", expected="increasing frames with sources that do not decrease")
            self._set_field("frames", frames)
            self._set_field("sources", sources)

    def __len__(self) -> int:
        return len(self.rotations)

    def __repr__(self) -> str:
        timing = "" if self.frames is None else ", retimed"
        return f"Residual({format_count(len(self), 'frame')}, {format_count(self.rotations.shape[1], 'joint')}{timing})"

    def source_frames(self, frames: Floats) -> Floats:
        """Return the frames of the detail for ``frames`` (N,) of the motion."""
        if self.frames is None or self.sources is None:
            return np.clip(frames, 0.0, len(self) - 1.0)
        return np.clip(np.interp(frames, self.frames, self.sources), 0.0, len(self) - 1.0)

    def retime(self, before: Floats, after: Floats) -> Residual:
        """Return the residual of a motion in which frames ``before`` (A,) have become increasing frames ``after``
        (A,)."""
        return replace(self, frames=freeze(np.array(after, np.float64)), sources=freeze(self.source_frames(before)))

    def apply(self, translations: Floats, rotations: Floats, frames: Floats, share: float) -> tuple[Floats, Floats]:
        """Return local poses (N, J, 3), (N, J, 4) of ``frames`` (N,) with a ``share`` of the detail added."""
        source = self.source_frames(frames)
        before = np.floor(source).astype(np.intp)
        fraction = (source - before)[:, None, None]
        after = np.minimum(before + 1, len(self) - 1)
        detail_rotations = self.rotations[before] + fraction * (self.rotations[after] - self.rotations[before])
        detail_shifts = self.shifts[before] + fraction * (self.shifts[after] - self.shifts[before])
        shifted = translations + rotate(rotations, share * detail_shifts)
        return shifted, normalise(multiply(rotations, exp(share * detail_rotations)))


@dataclass(frozen=True, eq=False)
class Curves(Frozen):
    """Many curves over the same keys. Each span is straight or, with tangents, a cubic: a Bezier curve with its handles
    at a third of the span from the keys.
    """

    values: Floats  # (K, J, C)
    in_tangents: Floats | None = None  # (K, J, C) slope per frame just before each key
    out_tangents: Floats | None = None  # (K, J, C) slope per frame just after each key
    # (K, J) which joints have each key; None: all. The others are on their curves there.
    is_key: Bools | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        values = freeze_floats(self.values, (None, None, None), "curve values")
        self._set_field("values", values)
        if self.is_key is not None:
            is_key = np.asarray(self.is_key)
            if is_key.dtype != bool or is_key.shape != values.shape[:2] or not is_key.any(axis=0).all():
                raise ModelError(
                    f"{format_value(is_key.shape)} flags of keys",
                    subject="curves",
                    expected=f"{values.shape[:2]} of true and false, with at least one key for each joint",
                )
            self._set_field("is_key", None if is_key.all() else freeze_or_copy(is_key))
        if (self.in_tangents is None) != (self.out_tangents is None):
            raise ModelError("tangents on one side of the keys only", subject="curves", expected="both or none")
        for name in ("in_tangents", "out_tangents"):
            if getattr(self, name) is not None:
                self._set_field(name, freeze_floats(getattr(self, name), values.shape, name))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        keys, joints, channels = self.values.shape
        return (
            f"Curves({format_count(keys, 'key')}, {format_count(joints, 'joint')} x "
            f"{channels}, {'cubic' if self.is_cubic else 'straight'})"
        )

    @property
    def is_cubic(self) -> bool:
        """Whether there are tangents."""
        return self.in_tangents is not None

    @property
    def n_channels(self) -> int:
        """Numbers per joint and key."""
        return int(self.values.shape[2])

    def key_flags(self) -> Bools:
        """Return which joints have each key, (K, J)."""
        return np.ones(self.values.shape[:2], bool) if self.is_key is None else self.is_key

    @property
    def n_keys_per_joint(self) -> Ints:
        """The number of keys (J,) of each joint."""
        return np.asarray(self.key_flags().sum(axis=0, dtype=np.int32))

    def still_joints(self) -> NDArray[np.bool_]:
        """Return flags (J,) of the joints that never change."""
        still = (self.values == self.values[:1]).all(axis=(0, 2))
        for tangents in (self.in_tangents, self.out_tangents):
            if tangents is not None:
                still &= (tangents == 0).all(axis=(0, 2))
        return np.asarray(still)

    def with_values(self, values: Floats) -> Curves:
        """Return curves with the same tangents and other values."""
        return replace(self, values=values)

    def fill_between_keys(self, keys: Ints, *, quaternions: bool = False) -> Curves:
        """Return the same curves with the values and tangents of each joint at the ``keys`` (K,) that it does not have.

        They are on its curve, which does not change by them. Before its first and after its last key a joint is still.
        The components of a cubic of quaternions are not of length 1 there.
        """
        if self.is_key is None:
            return self
        n = len(keys)
        index = np.arange(n)[:, None]
        before = np.maximum.accumulate(np.where(self.is_key, index, -1))
        after = np.minimum.accumulate(np.where(self.is_key, index, n)[::-1])[::-1]
        before, after = np.where(before < 0, after, before), np.where(after == n, before, after)
        gap = np.maximum(1, keys[after] - keys[before]).astype(np.float64)[..., None]
        s = ((keys[:, None] - keys[before])[..., None] / gap).clip(0.0, 1.0) * (after > before)[..., None]
        first, last = (np.take_along_axis(self.values, at[..., None], axis=0) for at in (before, after))
        is_key = self.is_key[..., None]
        rise = last - first
        if self.in_tangents is None or self.out_tangents is None:
            straight = normalise(slerp(first, last, s)) if quaternions else first + s * rise
            return replace(self, values=freeze(np.where(is_key, self.values, straight)))
        start_tangents = np.take_along_axis(self.out_tangents, before[..., None], axis=0)
        end_tangents = np.take_along_axis(self.in_tangents, after[..., None], axis=0)
        is_between = (after > before)[..., None]
        values = first + s * s * (3 - 2 * s) * rise + s * (1 - s) * gap * ((1 - s) * start_tangents - s * end_tangents)
        slopes = 6 * s * (1 - s) * rise / gap + (1 - s) * (1 - 3 * s) * start_tangents + s * (3 * s - 2) * end_tangents
        slopes = np.where(is_between, slopes, 0.0)
        in_tangents = np.where(is_key, self.in_tangents, slopes)
        out_tangents = np.where(is_key, self.out_tangents, slopes)
        # still before the first and after the last key
        in_tangents[1:] *= np.maximum.accumulate(self.is_key)[:-1, :, None]
        out_tangents[:-1] *= np.maximum.accumulate(self.is_key[::-1])[::-1][1:, :, None]
        values = np.where(is_key, self.values, values)
        return replace(self, values=freeze(values), in_tangents=freeze(in_tangents), out_tangents=freeze(out_tangents))

    def at(self, position: SpanPosition) -> Floats:
        """Return the values (N, J, C) at positions between the keys; exactly the stored values at a key."""
        first = self.values[position.before]
        s = position.fraction[:, None, None]
        rise = self.values[position.after] - first
        if self.in_tangents is None or self.out_tangents is None:
            return np.asarray(first + s * rise)
        gap = position.gap[:, None, None]
        tangents = (
            s
            * (1 - s)
            * ((1 - s) * gap * self.out_tangents[position.before] - s * gap * self.in_tangents[position.after])
        )
        return np.asarray(first + s * s * (3 - 2 * s) * rise + tangents)


@dataclass(frozen=True)
class SpanPosition:
    """Positions of frames between keys. A frame before the first or after the last key has the position of that key."""

    before: NDArray[np.intp]  # (N,) index of the key at or before each frame
    after: NDArray[np.intp]  # (N,) index of the next key
    fraction: Floats  # (N,) 0 to 1 from the first to the second, 0 at a key
    gap: Floats  # (N,) frames between the two

    @staticmethod
    def locate(keys: Ints, frames: Floats) -> SpanPosition:
        """Return the positions of ``frames`` (N,), which may be fractional, between increasing ``keys`` (K,)."""
        inside = np.clip(frames, keys[0], keys[-1])
        before = np.searchsorted(keys, inside, side="right") - 1
        after = np.minimum(before + 1, len(keys) - 1)
        gap = np.maximum(1, keys[after] - keys[before]).astype(np.float64)
        return SpanPosition(before, after, (inside - keys[before]) / gap, gap)
