"""glTF in as keys: the curves of a file as those of a keyed motion, which has the same keys for all joints.

The keys are those of all channels together; each channel is cut where it has none (``tracks``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.formats.base import ReadOptions, Source
from keypose.formats.gltf.axes import in_own_unit, moved
from keypose.formats.gltf.read import motion_of
from keypose.formats.gltf.scale import LocalPoses, even_factors, scale_evenly
from keypose.formats.gltf.scene import MOVES_UNITS, Scene, bases_above, open_scene
from keypose.formats.gltf.tracks import TrackCurve, read_curve
from keypose.model import Curves, KeyedMotion, Pose

SAY_MM, WARN_MM = 0.01, 0.5  # on a figure of 1.7 m


@dataclass(frozen=True)
class _Keys:
    """The keys that all channels have in common."""

    frames: Ints  # (K,)
    extremes: Bools  # (K,)
    is_cubic: bool


@dataclass(frozen=True)
class _Local:
    """What the joints' nodes say: at rest in row 0 and then at the keys, with the slopes there (0 at rest)."""

    values: LocalPoses
    arriving: LocalPoses
    leaving: LocalPoses


def read_keyed(source: Source, options: ReadOptions) -> KeyedMotion:
    """The keys of a GLB or glTF file."""
    scene = open_scene(source, options)
    number, fps = scene.numbers, scene.timing.fps
    tracks = [track for track in scene.animation.tracks if track.node in number]
    if not scene.rate_known and any(len(scene.animation.key_times[track.times]) > 1 for track in tracks):
        raise source.error("its keys stand on no common frame rate; fps= states one at which each has a frame, "
                           "kp.load samples the file at any rate")  # fmt: skip
    n_ends = len(scene.own.skeleton.end_joints) if scene.own else 0
    source.check_size(scene.timing.n_frames + 1, len(scene.joints) + n_ends)
    curves = [read_curve(scene.animation, track, fps) for track in tracks]
    keys = _common_keys(scene, [curve for curve in curves if len(curve.frames) > 1 and curve.track.path != "scale"])
    source.check_keys(len(keys.frames) + 1, scene.timing.n_frames, len(scene.joints))
    local = _local(scene, curves, keys)
    scene.nodes.warn_sheared()
    keyed = _keyed(scene, keys, local)
    if not all(curve.is_exact_on(keys.frames, cubic=keys.is_cubic) for curve in curves):
        _say_how_far(scene, options, keyed)
    return replace(keyed, notes=tuple(source.notes))


def _common_keys(scene: Scene, moving: list[TrackCurve]) -> _Keys:
    """The keys of all channels together, or those that our notes state where the channels have no others."""
    frames = np.unique(np.concatenate([curve.frames for curve in moving])) if moving else np.zeros(1, np.int32)
    is_cubic = any(curve.slopes is not None for curve in moving)
    own = scene.own.keyed if scene.own else None
    if scene.own and own:
        noted = np.round(own.frames * (scene.timing.fps / scene.own.fps)).astype(np.int32)
        if all(_holds_outside(curve, noted) for curve in moving):
            return _Keys(noted, own.extremes, own.is_cubic or is_cubic)
        scene.source.note("its keys were changed since Keypose wrote it")
    return _Keys(frames, np.ones(len(frames), bool), is_cubic)


def _holds_outside(curve: TrackCurve, keys: Ints) -> bool:
    """Whether a curve has no keys but ``keys``, and such as hold its pose before the first or after the last one."""
    others = curve.frames[~np.isin(curve.frames, keys)]
    if ((others > keys[0]) & (others < keys[-1])).any():
        return False
    before, after = curve.frames <= keys[0], curve.frames >= keys[-1]
    return all(
        edge in curve.frames and _is_still(curve, some)
        for edge, some, there in ((keys[0], before, others < keys[0]), (keys[-1], after, others > keys[-1]))
        if there.any()
    )


def _is_still(curve: TrackCurve, some: Bools) -> bool:
    values = curve.values[some]
    arriving, leaving = curve.slopes or (np.zeros_like(curve.values),) * 2
    return bool((values == values[0]).all() and not arriving[some][1:].any() and not leaving[some][:-1].any())


def _local(scene: Scene, curves: list[TrackCurve], keys: _Keys) -> _Local:
    rows, n = len(keys.frames) + 1, len(scene.joints)
    rests, bases = scene.nodes.rests(scene.joints), bases_above(scene.nodes, scene.joints)
    poses = LocalPoses(
        parents=scene.parents,
        bases=bases,
        translations=np.repeat(rests.translations[None], rows, axis=0),
        rotations=np.repeat(rests.rotations[None], rows, axis=0),
        scales=list(rests.scales[:, None]),
    )
    unmoved = {j: np.block([[base[:3, :3], np.zeros((3, 1))], [np.eye(4)[3:]]]) for j, base in bases.items()}
    arriving, leaving = (
        replace(poses, bases=unmoved, translations=np.zeros((rows, n, 3)), rotations=np.zeros((rows, n, 4)))
        for _ in range(2)
    )
    number = scene.numbers
    for curve in curves:
        j = number[curve.track.node]
        if curve.track.path == "scale":
            poses.scales[j] = np.concatenate((rests.scales[j][None], curve.hull()))
            continue
        pieces = curve.on(keys.frames, cubic=keys.is_cubic)
        for side, values in ((poses, pieces.values), (arriving, pieces.arriving), (leaving, pieces.leaving)):
            (side.rotations if curve.turns else side.translations)[1:, j] = values
    local = _Local(poses, arriving, leaving)
    if not scene.own:
        _make_rigid(scene.source, local)
    return local


def _make_rigid(source: Source, local: _Local) -> None:
    """Takes scale and bases out, as ``scale.make_rigid`` does, of slopes too."""
    with np.errstate(over="ignore", invalid="ignore"):  # what grows too large, the curves refuse
        factors = even_factors(local.values)
        if factors is None:
            raise source.error("its joints are scaled unevenly, mirrored or in time, for which a keyed motion has no "
                               "place; kp.load samples the file, kp.unbake finds keys for it")  # fmt: skip
        for side in (local.values, local.arriving, local.leaving):
            scale_evenly(side, factors)


def _keyed(scene: Scene, keys: _Keys, local: _Local) -> KeyedMotion:
    own, sides = scene.own, (local.values, local.arriving, local.leaving)
    translations, rotations = [side.translations for side in sides], [side.rotations for side in sides]
    if own:
        translations[0] = moved(translations[0], own.skeleton.roots, own.stand)
        in_own = [in_own_unit(*side, own.up, own.metres_per_unit) for side in zip(translations, rotations, strict=True)]
        translations, rotations = (list(arrays) for arrays in zip(*in_own, strict=True))
    rest = Pose(translations[0][0], rotations[0][0])
    return KeyedMotion(
        name=scene.name,
        skeleton=own.skeleton if own else scene.skeleton(rest.translations, _moves(keys, translations)),
        fps=scene.timing.fps,
        n_frames=scene.timing.n_frames,
        keys=keys.frames,
        translations=_curves(translations, keys),
        rotations=_curves(rotations, keys),
        extremes=keys.extremes,
        up=own.up if own else "Y",
        metres_per_unit=(own.metres_per_unit if own.unit_stated else None) if own else 1.0,
        first_frame=scene.timing.first_frame,
        reference_pose=rest if own is None or own.has_reference_pose else None,
    )


def _curves(sides: list[Floats], keys: _Keys) -> Curves:
    values, arriving, leaving = (give_away(side[1:].copy()) for side in sides)
    return Curves(values, arriving, leaving) if keys.is_cubic else Curves(values)


def _moves(keys: _Keys, translations: list[Floats]) -> Bools:
    """(J,) the joints that do not keep to where they rest."""
    values, arriving, leaving = translations
    longest = np.diff(keys.frames).max(initial=0)
    moves = np.ptp(values, axis=0).max(axis=1) > MOVES_UNITS
    for slopes in (arriving, leaving):
        moves |= longest * np.abs(slopes).max(axis=(0, 2)) > MOVES_UNITS
    return np.asarray(moves)


def _say_how_far(scene: Scene, options: ReadOptions, keyed: KeyedMotion) -> None:
    """How much is lost where channels with keys of their own were put on common ones."""
    dense = motion_of(scene, replace(options, reference_pose="keep"))
    if dense.height <= 0:
        return
    away = np.linalg.norm(keyed.sample().world_positions() - dense.world_positions(), axis=-1)
    most_mm = float(away.max()) * dense.mm_per_unit
    if most_mm > SAY_MM:
        say = scene.source.warn if most_mm > WARN_MM else scene.source.note
        say(f"its channels have keys of their own; on common keys the figure is within {most_mm:.2g} mm of them, "
            f"if 1.7 m tall")  # fmt: skip
