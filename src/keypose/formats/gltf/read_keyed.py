"""Read the curves of a glTF file as a keyed motion, which has the same keys for all joints.

The keys are those of all channels together; a channel without a key at such a frame is split there
(``TrackCurve.resample``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.errors import Hint
from keypose.formats.base import UNBAKE_HINT, Source
from keypose.formats.gltf.animation import FLOAT32_STEP, ON_FRAME, Animation, Track
from keypose.formats.gltf.curves import convert_to_own_unit, move_roots
from keypose.formats.gltf.nodes import LocalPoses, apply_uniform_scale, uniform_scale_factors
from keypose.formats.gltf.read import (
    MIN_MOVEMENT_UNITS,
    Scene,
    build_motion,
    note_not_read,
    open_scene,
    root_bases,
    sample_poses,
)
from keypose.model import Curves, KeyedMotion, Pose
from keypose.model.keyed_motion import SpanPosition
from keypose.options import LoadOptions
from keypose.rotations import align_signs, normalise, slerp

NOTE_MM, WARN_MM = 0.01, 0.5  # on a figure of 1.7 m


@dataclass(frozen=True)
class _Keys:
    """The common keys of all channels."""

    frames: Ints  # (K,)
    extremes: Bools  # (K,)
    is_cubic: bool

    def find_joint_keys(self, curves: Iterable[TrackCurve], joint_indices: Mapping[int, int]) -> dict[str, Bools]:
        """Return which joints have each key of their rotation and translation, (K, J) by path.

        A joint that does not change has the first and the last key, unless all that change have every key.
        """
        flags = {path: np.zeros((len(self.frames), len(joint_indices)), bool) for path in ("rotation", "translation")}
        is_changing = {path: np.zeros(len(joint_indices), bool) for path in flags}
        for curve in curves:
            path, j = curve.track.path, joint_indices[curve.track.node]
            if path in flags and not _is_still(curve, np.ones(len(curve.frames), bool)):
                has_own_keys = curve.has_own_keys(cubic=self.is_cubic)
                flags[path][:, j] = np.isin(self.frames, curve.frames) if has_own_keys else True
                is_changing[path][j] = True
        is_shared = all(flags[path][:, is_changing[path]].all() for path in flags)
        for path in flags:
            flags[path][(slice(None) if is_shared else [0, -1],)] |= ~is_changing[path]
        unused = ~(flags["rotation"] | flags["translation"]).any(axis=1)  # keys of scales and of still curves alone
        flags["rotation"][unused] |= ~is_changing["rotation"]
        flags["rotation"][unused] |= is_changing["rotation"].all()
        return flags


@dataclass(frozen=True)
class _Local:
    """Transforms of the joints' nodes: at rest in row 0, then at the keys; with tangents (0 at rest)."""

    values: LocalPoses
    in_tangents: LocalPoses
    out_tangents: LocalPoses


def read_keyed(source: Source, options: LoadOptions) -> KeyedMotion:
    """Read the keys of a GLB or glTF file."""
    scene = open_scene(source, options)
    joint_indices, fps = scene.joint_indices, scene.timing.fps
    tracks = [track for track in scene.animation.tracks if track.node in joint_indices]
    if not scene.is_rate_known and any(len(scene.animation.key_times[track.times]) > 1 for track in tracks):
        hint = Hint(
            python="fps= states one at which each has a frame, kp.load samples the file at any rate",
            command="--read-fps states one at which each has a frame",
        )
        raise source.error("its keys stand on no common frame rate", code="inconsistent", hint=hint)
    n_ends = len(scene.keypose_data.skeleton.end_joints) if scene.keypose_data else 0
    source.check_size(scene.timing.n_frames + 1, len(scene.joints) + n_ends)
    curves = [read_curve(scene.animation, track, fps) for track in tracks]
    keys = _common_keys(scene, [curve for curve in curves if len(curve.frames) > 1 and curve.track.path != "scale"])
    source.check_keys(len(keys.frames) + 1, scene.timing.n_frames, len(scene.joints))
    local = _build_local(scene, curves, keys)
    scene.nodes.warn_sheared()
    note_not_read(scene, local.values.scales)
    keyed = _build_keyed(scene, keys, local, keys.find_joint_keys(curves, joint_indices))
    if not all(curve.is_exact_at(keys.frames, cubic=keys.is_cubic) for curve in curves):
        _report_deviation(scene, options, keyed)
    return replace(keyed, notes=tuple(source.notes))


def _common_keys(scene: Scene, curves: list[TrackCurve]) -> _Keys:
    """Return the keys of all channels together, or those of Keypose's data if the channels have no others."""
    frames = np.unique(np.concatenate([curve.frames for curve in curves])) if curves else np.zeros(1, np.int32)
    is_cubic = any(curve.tangents is not None for curve in curves)
    key_data = scene.animation_data.keyed if scene.animation_data else None
    if scene.animation_data and key_data:
        frames_from_notes = np.round(key_data.frames * (scene.timing.fps / scene.animation_data.fps)).astype(np.int32)
        if all(_only_holds_outside(curve, frames_from_notes) for curve in curves):
            return _Keys(frames_from_notes, key_data.extremes, key_data.is_cubic or is_cubic)
        scene.source.note("its keys were changed since Keypose wrote it")
    return _Keys(frames, np.ones(len(frames), bool), is_cubic)


def _only_holds_outside(curve: TrackCurve, keys: Ints) -> bool:
    """Return whether all keys of a curve are in ``keys``, or before the first or after the last one without changing
    its value."""
    others = curve.frames[~np.isin(curve.frames, keys)]
    if ((others > keys[0]) & (others < keys[-1])).any():
        return False
    before, after = curve.frames <= keys[0], curve.frames >= keys[-1]
    return all(
        edge in curve.frames and _is_still(curve, some)
        for edge, some, has_keys in ((keys[0], before, others < keys[0]), (keys[-1], after, others > keys[-1]))
        if has_keys.any()
    )


def _is_still(curve: TrackCurve, mask: Bools) -> bool:
    values = curve.values[mask]
    in_tangents, out_tangents = curve.tangents or (np.zeros_like(curve.values),) * 2
    return bool((values == values[0]).all() and not in_tangents[mask][1:].any() and not out_tangents[mask][:-1].any())


def _build_local(scene: Scene, curves: list[TrackCurve], keys: _Keys) -> _Local:
    rows, n = len(keys.frames) + 1, len(scene.joints)
    rests, bases = scene.nodes.rest_transforms(scene.joints), root_bases(scene.nodes, scene.joints)
    poses = LocalPoses(
        parents=scene.parents,
        bases=bases,
        translations=np.repeat(rests.translations[None], rows, axis=0),
        rotations=np.repeat(rests.rotations[None], rows, axis=0),
        scales=list(rests.scales[:, None]),
    )
    untranslated_bases = {j: np.block([[base[:3, :3], np.zeros((3, 1))], [np.eye(4)[3:]]]) for j, base in bases.items()}
    in_tangents, out_tangents = (
        replace(poses, bases=untranslated_bases, translations=np.zeros((rows, n, 3)), rotations=np.zeros((rows, n, 4)))
        for _ in range(2)
    )
    joint_indices = scene.joint_indices
    for curve in curves:
        j = joint_indices[curve.track.node]
        if curve.track.path == "scale":
            poses.scales[j] = np.concatenate((rests.scales[j][None], curve.hull()))
            continue
        inner_frames = curve.frames[np.isin(curve.frames, keys.frames)]
        has_own_keys = len(inner_frames) > 1 and curve.has_own_keys(cubic=keys.is_cubic)
        for frames in (keys.frames, inner_frames) if has_own_keys else (keys.frames,):  # own keys exactly as they are
            key_values = curve.resample(frames, cubic=keys.is_cubic).held_outside(keys.frames[[0, -1]], frames)
            at = 1 + np.searchsorted(keys.frames, frames)
            for side, values in (
                (poses, key_values.values),
                (in_tangents, key_values.in_tangents),
                (out_tangents, key_values.out_tangents),
            ):
                (side.rotations if curve.is_rotation else side.translations)[at, j] = values
    local = _Local(poses, in_tangents, out_tangents)
    if not scene.keypose_data:
        _make_rigid(scene.source, local)
    return local


def _make_rigid(source: Source, local: _Local) -> None:
    """Remove scales and bases as ``nodes.make_rigid`` does, also from tangents."""
    with np.errstate(over="ignore", invalid="ignore"):  # Curves refuses numbers that are too large
        factors = uniform_scale_factors(local.values)
        if factors is None:
            raise source.error(
                "its joints are scaled unevenly, mirrored or in time, for which a keyed motion has no place",
                code="unsupported",
                hint=UNBAKE_HINT,
            )
        for side in (local.values, local.in_tangents, local.out_tangents):
            apply_uniform_scale(side, factors)


def _build_keyed(scene: Scene, keys: _Keys, local: _Local, joint_keys: Mapping[str, Bools]) -> KeyedMotion:
    keypose_data, sides = scene.keypose_data, (local.values, local.in_tangents, local.out_tangents)
    translations, rotations = [side.translations for side in sides], [side.rotations for side in sides]
    if keypose_data:
        translations[0] = move_roots(translations[0], keypose_data.skeleton.roots, keypose_data.wrapper_position)
        converted = [
            convert_to_own_unit(*side, keypose_data.up, keypose_data.metres_per_unit)
            for side in zip(translations, rotations, strict=True)
        ]
        translations, rotations = (list(arrays) for arrays in zip(*converted, strict=True))
    rest = Pose(translations[0][0], rotations[0][0])
    return KeyedMotion(
        name=scene.name,
        skeleton=keypose_data.skeleton
        if keypose_data
        else scene.skeleton(rest.translations, _moving_joints(keys, translations)),
        fps=scene.timing.fps,
        n_frames=scene.timing.n_frames,
        keys=keys.frames,
        translations=_build_curves(translations, keys, joint_keys["translation"]),
        rotations=_build_curves(rotations, keys, joint_keys["rotation"]),
        extremes=keys.extremes,
        up=keypose_data.up if keypose_data else "Y",
        metres_per_unit=(keypose_data.metres_per_unit if keypose_data.is_unit_stated else None)
        if keypose_data
        else 1.0,
        first_frame=scene.timing.first_frame,
        reference_pose=rest if keypose_data is None or keypose_data.has_reference_pose else None,
    )


def _build_curves(sides: list[Floats], keys: _Keys, is_key: Bools) -> Curves:
    values, *tangents = (freeze(side[1:].copy()) for side in sides)
    return Curves(values, *(tangents if keys.is_cubic else (None, None)), is_key=is_key)


def _moving_joints(keys: _Keys, translations: list[Floats]) -> Bools:
    """Return a mask (J,) of the joints with a changing translation."""
    values, in_tangents, out_tangents = translations
    max_gap = np.diff(keys.frames).max(initial=0)
    moves = np.ptp(values, axis=0).max(axis=1) > MIN_MOVEMENT_UNITS
    for tangents in (in_tangents, out_tangents):
        moves |= max_gap * np.abs(tangents).max(axis=(0, 2)) > MIN_MOVEMENT_UNITS
    return np.asarray(moves)


def _report_deviation(scene: Scene, options: LoadOptions, keyed: KeyedMotion) -> None:
    """Add a note or warning about the error of channels that were resampled at common keys."""
    dense = build_motion(scene, replace(options, reference_pose="keep"), sample_poses(scene))
    if dense.height <= 0:
        return
    distances = np.linalg.norm(keyed.sample().world_positions() - dense.world_positions(), axis=-1)
    max_mm = float(distances.max()) * dense.mm_per_unit
    if max_mm > NOTE_MM:
        text = (
            f"its channels have keys of their own; on common keys the figure is within {max_mm:.2g} mm of them, "
            "if 1.7 m tall"
        )
        if max_mm > WARN_MM:
            scene.source.warn(text, code="separate_keys", value=max_mm)
        else:
            scene.source.note(text)


@dataclass(frozen=True)
class KeyValues:
    """Values at common keys, with tangents per frame."""

    values: Floats  # (K, 3), or (K, 4) unit wxyz
    in_tangents: Floats
    out_tangents: Floats

    def held_outside(self, ends: Ints, frames: Ints) -> KeyValues:
        """Return the values at ``frames`` (K,), constant from the first of the ``ends`` (2,) and to the last one."""
        in_tangents, out_tangents = self.in_tangents.copy(), self.out_tangents.copy()
        in_tangents[0] *= frames[0] <= ends[0]
        out_tangents[-1] *= frames[-1] >= ends[1]
        return replace(self, in_tangents=in_tangents, out_tangents=out_tangents)


@dataclass(frozen=True)
class TrackCurve:
    """The keys of a track with frame numbers; a STEP value is constant until the frame before the next key."""

    animation: Animation
    track: Track
    frames: Ints  # (N,) increasing
    values: Floats  # (N, 3), or (N, 4) wxyz
    tangents: tuple[Floats, Floats] | None  # in, out per frame; None: linear

    @property
    def is_rotation(self) -> bool:
        """Whether it is a rotation."""
        return self.track.path == "rotation"

    def hull(self) -> Floats:
        """Return the keys and handles (N or 3 N, 3 or 4) of the curve; their convex hull contains it."""
        if self.tangents is None or len(self.frames) == 1:
            return self.values
        third = np.diff(self.frames).max() / 3
        in_tangents, out_tangents = self.tangents
        return np.concatenate((self.values, self.values - third * in_tangents, self.values + third * out_tangents))

    def has_own_keys(self, *, cubic: bool) -> bool:
        """Return whether the curve needs no other keys than its own, also as a cubic: a linear rotation does."""
        return not (cubic and self.is_rotation and self.tangents is None)

    def is_exact_at(self, keys: Ints, *, cubic: bool) -> bool:
        """Return whether resampling at these keys is exact."""
        if self.has_own_keys(cubic=cubic) or not np.ptp(self.hull(), axis=0).any():
            return True
        inner_keys = keys[(keys >= self.frames[0]) & (keys <= self.frames[-1])]
        return bool((np.diff(inner_keys) == 1).all())

    def resample(self, keys: Ints, *, cubic: bool) -> KeyValues:
        """Return the same curve with keys at all of ``keys`` (K,), which include its own."""
        if self.tangents is None:
            return self._resample_linear(keys, cubic=cubic)
        position = SpanPosition.locate(self.frames, keys.astype(np.float64))
        in_tangents, out_tangents = self.tangents
        values = Curves(self.values[:, None], in_tangents[:, None], out_tangents[:, None]).at(position)[:, 0]
        s, gap = position.fraction[:, None], position.gap[:, None]
        delta = self.values[position.after] - self.values[position.before]
        tangent = (
            6 * s * (1 - s) * delta / gap
            + (1 - 4 * s + 3 * s * s) * out_tangents[position.before]
            - (2 * s - 3 * s * s) * in_tangents[position.after]
        )
        is_inside = ((keys > self.frames[0]) & (keys < self.frames[-1]))[:, None]
        is_own_key = np.isin(keys, self.frames)[:, None]
        new_in_tangents, new_out_tangents = (
            np.where(is_own_key, side[position.before], np.where(is_inside, tangent, 0.0))
            for side in (in_tangents, out_tangents)
        )
        new_in_tangents[1:][keys[1:] <= self.frames[0]] = 0.0  # the curve is constant before and after its keys
        new_out_tangents[:-1][keys[:-1] >= self.frames[-1]] = 0.0
        key_values = KeyValues(values, new_in_tangents, new_out_tangents)
        return self._normalise(keys, key_values) if self.is_rotation else key_values

    def _resample_linear(self, keys: Ints, *, cubic: bool) -> KeyValues:
        position = SpanPosition.locate(self.frames, keys.astype(np.float64))
        first, last, fraction = self.values[position.before], self.values[position.after], position.fraction[:, None]
        values = normalise(slerp(first, last, fraction)) if self.is_rotation else first + fraction * (last - first)
        values[position.fraction == 0] = first[position.fraction == 0]
        if self.is_rotation:
            values = align_signs(values)
        in_tangents, out_tangents = np.zeros(values.shape), np.zeros(values.shape)
        if cubic and len(keys) > 1:
            gaps = np.diff(keys)[:, None]
            a, b = values[:-1], values[1:]
            if self.is_rotation:  # the great circle, at constant speed
                dot = np.clip(np.sum(a * b, axis=1, keepdims=True), -1.0, 1.0)
                speed = 1 / np.maximum(np.sinc(np.arccos(dot) / np.pi), 1e-9) / gaps
                out_tangents[:-1], in_tangents[1:] = speed * (b - dot * a), speed * (dot * b - a)
            else:
                out_tangents[:-1] = in_tangents[1:] = (b - a) / gaps
        return KeyValues(values, in_tangents, out_tangents)

    def _normalise(self, keys: Ints, key_values: KeyValues) -> KeyValues:
        self.animation.check_quaternions(key_values.values, f"{self.track.location}, key")
        factors = 1 / np.linalg.norm(key_values.values, axis=1, keepdims=True)
        growth = np.diff(factors, axis=0) / np.diff(keys)[:, None]
        in_tangents, out_tangents = key_values.in_tangents * factors, key_values.out_tangents * factors
        out_tangents[:-1] += key_values.values[:-1] * growth
        in_tangents[1:] += key_values.values[1:] * growth
        return KeyValues(key_values.values * factors, in_tangents, out_tangents)


def read_curve(animation: Animation, track: Track, fps: float) -> TrackCurve:
    """Read a track with frame numbers of its keys; raise FormatError for a key that is on no frame."""
    times = animation.key_times[track.times]
    exact_frames = (times - animation.start_s) * fps
    frames = np.round(exact_frames)
    is_off_frame = np.abs(exact_frames - frames) > ON_FRAME + FLOAT32_STEP * np.abs(times) * fps
    if len(times) > 1 and (is_off_frame.any() or (np.diff(frames) <= 0).any()):
        k = int(np.argmax(is_off_frame)) if is_off_frame.any() else 1 + int(np.argmin(np.diff(frames)))
        raise animation.source.error(
            f"the key at {times[k]:.6g} s has no frame of its own at {fps:g} frames per second",
            subject=track.location,
            code="inconsistent",
            hint=Hint(
                python="fps= states another rate, kp.load samples the file at any rate",
                command="--read-fps states another rate",
            ),
        )
    values = animation.values(track)
    if track.interpolation == "CUBICSPLINE":
        in_tangents, values, out_tangents = np.moveaxis(values.reshape(len(times), 3, -1), 1, 0)
        return TrackCurve(animation, track, frames.astype(np.int32), values, (in_tangents / fps, out_tangents / fps))
    key_frames = frames.astype(np.int32)
    if track.interpolation == "STEP":
        key_frames, values = _add_hold_keys(key_frames, values)
    return TrackCurve(animation, track, key_frames, values, None)


def _add_hold_keys(frames: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return frames and values with an extra key on the frame before each key with another value."""
    hold_frames = frames[1:] - 1
    needs_hold = (hold_frames > frames[:-1]) & (values[1:] != values[:-1]).any(axis=1)
    all_frames = np.concatenate((frames, hold_frames[needs_hold]))
    order = np.argsort(all_frames)
    return all_frames[order], np.concatenate((values, values[:-1][needs_hold]))[order]
