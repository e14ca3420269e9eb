"""The keys of a .blend file that Keypose wrote and an artist may have edited, as they are now.

Exact where Blender's curves are cubics of time, as ours are. Where an artist moved handles, or a key away from its
neighbours' handles, a span is the cubic nearest to what Blender shows on its frames, and a note says how near. What was
not touched keeps the very numbers that were written, which Blender rounds to 32 bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import ModelError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.blend.fcurves import LINEAR, FCurve, common_keys
from keypose.formats.blend.own import Own, find_own
from keypose.formats.blend.read import asked, first_frame, rate
from keypose.formats.child import Arrays, Facts, floats
from keypose.inbetween.fitted import fitted
from keypose.model import Curves, KeyedMotion, Motion, Residual
from keypose.model.curves import Place
from keypose.rotations import AXES, ORDERS, angle_between, from_euler, normalise, rotate

SAME = 1e-5  # of radians, quaternion components and the figure's size: Blender counts in 32 bits
WORTH_SAYING_DEG = 0.05
SEEN_OF_SIZE = 1e-3  # what is farther than this from its keys is moved by something else
Indices = NDArray[np.intp]
WHOLE_TURN = 4  # numbers of a turn among a bone's seven, places behind them


def read_keyed(source: Source, options: ReadOptions) -> KeyedMotion:
    """The keys of the armature's action."""
    arrays, facts = asked(source, options, keys=True)
    own = find_own(source, arrays, facts)
    if own is None:
        raise source.error("a .blend file that Keypose did not write has no keys that it understands; "
                           "kp.load reads its frames and kp.unbake finds keys for them")  # fmt: skip
    if options.fps is not None:
        raise source.error("fps= is for files that are sampled; the keys of a .blend file stand on its own frames")
    try:
        keyed, drawn = _keyed(source, options, arrays, facts, own)
        _say_how_near(source, keyed, drawn)
        _compare_with_shown(source, arrays, drawn, own)
        return replace(keyed, notes=(*own.keyed.notes, *source.notes))
    except ModelError as error:
        raise source.error(str(error)) from None


def _keyed(source: Source, options: ReadOptions, arrays: Arrays, facts: Facts, own: Own) -> tuple[KeyedMotion, Motion]:
    """The keys, and what Blender makes of them on every frame."""
    orders = _rotation_orders(source, facts, own)
    dense = floats(source, arrays, "values", (None, len(facts["names"]), 7))[:, own.bones]
    n_frames, n_joints = dense.shape[:2]
    if n_frames == 0:
        raise source.error("no frames, expected at least one")
    source.check_size(n_frames, n_joints)
    start = first_frame(facts)
    curves = _fcurves(source, arrays, own, start, width=3 if orders is not None else WHOLE_TURN)
    keys, extremes = common_keys(list(curves.values()), n_frames)
    if not len(keys):
        raise source.error("no key on any bone, expected at least one")
    arriving, leaving = np.zeros((len(keys), n_joints, 7)), np.zeros((len(keys), n_joints, 7))
    for (joint, channel), curve in curves.items():
        arriving[:, joint, channel] = curve.slopes(keys.astype(float), before=True)
        leaving[:, joint, channel] = curve.slopes(keys.astype(float), before=False)
    straight = all((curve.interpolation == LINEAR).all() for curve in curves.values())
    turns, places = _in_our_terms(own, orders, dense, arriving, leaving)
    keyed = KeyedMotion(
        name=own.keyed.name,
        skeleton=own.keyed.skeleton,
        fps=rate(source, options, facts, own),
        n_frames=n_frames,
        keys=keys,
        translations=_nearest(places, keys, straight),
        rotations=_nearest(turns, keys, straight),
        rotation_orders=orders,
        residual=_residual(own, start, n_frames),
        extremes=extremes,
        up=own.keyed.up,
        metres_per_unit=own.keyed.metres_per_unit,
        first_frame=own.keyed.first_frame + start - own.first,
        reference_pose=own.keyed.reference_pose,
    )
    drawn = replace(keyed.sample(), translations=places[0], rotations=_quaternions(turns[0], orders))
    return keyed if own.is_dense else _with_written_numbers(keyed, own.keyed, start - own.first), drawn


def _quaternions(turns: Floats, orders: tuple[str, ...] | None) -> Floats:
    if orders is None:
        return normalise(turns)
    return np.stack([from_euler(turns[:, j], order) for j, order in enumerate(orders)], axis=1)


def _rotation_orders(source: Source, facts: Facts, own: Own) -> tuple[str, ...] | None:
    """None where all bones turn by quaternions, else the order of each; Blender spells it the other way round."""
    modes = facts.get("modes")
    if not isinstance(modes, list) or len(modes) != len(facts["names"]):
        raise source.error("no rotation mode for each bone")
    modes = [modes[bone] for bone in own.bones]
    if all(mode == "QUATERNION" for mode in modes):
        return None
    unturned = np.abs(own.axes[:, 1:]).max() < SAME and np.abs(own.rest.rotations[:, 1:]).max() < SAME
    if unturned and all(isinstance(mode, str) and mode[::-1] in ORDERS for mode in modes):
        return tuple(mode[::-1] for mode in modes)
    raise source.error("the rotation mode of some bones was changed, expected the one that was written for all; "
                       "kp.load reads the frames and kp.unbake finds keys for them")  # fmt: skip


def _fcurves(source: Source, arrays: Arrays, own: Own, start: int, width: int) -> dict[tuple[int, int], FCurve]:
    """The curves by joint and channel, in our frames."""
    table = floats(source, arrays, "keys", (None, 10))
    table[:, 2:8:2] -= start
    joint_of = {bone: joint for joint, bone in enumerate(own.bones)}
    names, starts = np.unique(table[:, :2], axis=0, return_inverse=True)
    curves = {}
    for k, (bone, channel) in enumerate(names.astype(int).tolist()):
        if bone in joint_of and (0 <= channel < width or WHOLE_TURN <= channel < 7):
            curves[joint_of[bone], channel] = FCurve.of(table[starts.ravel() == k, 2:])
    return curves


_Terms = tuple[Floats, Floats, Floats]  # values of every frame, slopes before and after each key


def _in_our_terms(
    own: Own, orders: tuple[str, ...] | None, dense: Floats, arriving: Floats, leaving: Floats
) -> tuple[_Terms, _Terms]:
    """Turns and places of joints, of the channels of their bones."""
    turns = [part[..., :WHOLE_TURN] for part in (dense, arriving, leaving)]
    if orders is None:
        turns = [own.turns_from_channels(part) for part in turns]
    else:
        columns = np.array([[AXES.index(axis) for axis in order] for order in orders])
        turns = [np.take_along_axis(part, np.broadcast_to(columns, (*part.shape[:2], 3)), axis=2) for part in turns]
    places = [own.shifts_from_channels(part[..., WHOLE_TURN:]) for part in (dense, arriving, leaving)]
    places[0] = places[0] + own.rest.translations
    return (turns[0], turns[1], turns[2]), (places[0], places[1], places[2])


def _nearest(terms: _Terms, keys: Ints, straight: bool) -> Curves:
    """The curves through the keys: with their own slopes where those give what is seen, else with fitted ones."""
    dense, arriving, leaving = terms
    lengths = np.linalg.norm(dense, axis=2, keepdims=True) if dense.shape[2] == 4 else np.ones((1, 1, 1))
    if not (lengths > 0).all():
        raise ModelError("a bone's quaternion of length 0 among the keys")
    dense = dense / lengths
    values = dense[keys]
    if straight:
        return Curves(values)
    if dense.shape[2] == 4:  # of a quaternion that is not of length 1 the slopes are those of its direction
        at_keys = lengths[keys]
        arriving, leaving = (_turning(values, slopes / at_keys, at_keys) for slopes in (arriving, leaving))
    own, near = Curves(values, arriving, leaving), fitted(dense, keys)
    assert near.arriving is not None and near.leaving is not None
    place = Place.of(keys, np.arange(len(dense), dtype=np.float64))
    seen = own.at(place)
    if dense.shape[2] == 4:
        seen = normalise(seen)
    size = 1.0 if dense.shape[2] == 4 else max(1.0, float(np.abs(dense).max()))
    off = np.abs(seen - dense).max(axis=2)  # (T, J)
    arriving, leaving = arriving.copy(), leaving.copy()
    for k in range(len(keys) - 1):
        wrong = off[keys[k] : keys[k + 1]].max(axis=0) > SAME * size
        leaving[k, wrong], arriving[k + 1, wrong] = near.leaving[k, wrong], near.arriving[k + 1, wrong]
    return Curves(values, give_away(arriving), give_away(leaving))


def _turning(unit: Floats, slopes: Floats, lengths: Floats) -> Floats:
    """Slopes of quaternions without what only makes them longer, where they are not of length 1."""
    longer = np.sum(unit * slopes, axis=2, keepdims=True) * unit
    return np.where(np.abs(lengths - 1) > SAME, slopes - longer, slopes)


def _residual(own: Own, start: int, n_frames: int) -> Residual | None:
    """The detail that was written; where the scene begins elsewhere, from there."""
    residual, shift = own.keyed.residual, float(start - own.first)
    if residual is None or (shift == 0 and n_frames == own.keyed.n_frames):
        return residual
    if n_frames == 1:
        return residual.retimed(np.array([shift]), np.zeros(1))
    return residual.retimed(np.array([shift, shift + n_frames - 1]), np.array([0.0, n_frames - 1.0]))


def _say_how_near(source: Source, keyed: KeyedMotion, drawn: Motion) -> None:
    """A note where a keyed motion is not what Blender draws on whole frames."""
    off = np.rad2deg(angle_between(keyed.sample().rotations, drawn.rotations)).max(axis=0)
    joints, most = int((off > WORTH_SAYING_DEG).sum()), float(off.max())
    if joints and keyed.is_cubic:
        source.note(f"{joints} joints have spans that are no cubics of time (handles not a third of the gap away): "
                    f"the nearest cubics are up to {most:.2g} degrees off")  # fmt: skip
    elif joints:
        source.note(f"straight spans turn evenly here, but not in Blender: up to {most:.2g} degrees apart")


def _with_written_numbers(keyed: KeyedMotion, written: KeyedMotion, shift: int) -> KeyedMotion:
    """The numbers that were written in place of those that Blender rounded, where both are the same key."""
    if keyed.rotation_orders != written.rotation_orders or keyed.is_cubic != written.is_cubic:
        return keyed
    _, ours, theirs = np.intersect1d(keyed.keys + shift, written.keys, return_indices=True)
    size = max(1.0, float(np.abs(written.translations.values).max()))
    return replace(
        keyed,
        translations=_restored(keyed, keyed.translations, written.translations, ours, theirs, size),
        rotations=_restored(keyed, keyed.rotations, written.rotations, ours, theirs, 1.0),
    )


def _restored(
    keyed: KeyedMotion, found: Curves, written: Curves, ours: Indices, theirs: Indices, size: float
) -> Curves:
    before, after = np.diff(keyed.keys, prepend=-1).clip(1), np.diff(keyed.keys, append=keyed.n_frames).clip(1)
    # Handles stand at frames that Blender rounds too: a slope is off by so much of itself times the gap.
    rounding = 6.0 * float(np.spacing(np.float32(keyed.n_frames)))
    parts = {}
    for name, gaps in (("values", None), ("arriving", before), ("leaving", after)):
        numbers, own = getattr(found, name), getattr(written, name)
        if numbers is not None:
            numbers, own = numbers.copy(), own[theirs]
            reach = np.ones((len(ours), 1, 1)) if gaps is None else gaps[ours, None, None]
            allowed = SAME * size / reach + (0.0 if gaps is None else rounding / reach * np.abs(own))
            same = (np.abs(numbers[ours] - own) <= allowed).all(axis=2, keepdims=True)
            numbers[ours] = np.where(same, own, numbers[ours])
            parts[name] = numbers
    return Curves(**parts)


def _compare_with_shown(source: Source, arrays: Arrays, drawn: Motion, own: Own) -> None:
    """A warning where something else than keys moves the figure: constraints, other layers, the armature itself."""
    frames = floats(source, arrays, "seen_frames", (None,))
    if not len(frames) or frames.min() < 0 or frames.max() >= drawn.n_frames:
        raise source.error("seen_frames: not the frames that were expected")
    shown = floats(source, arrays, "seen", (len(frames), None, 3))
    if shown.shape[1] <= max(own.bones):
        raise source.error("seen: not the bones that were expected")
    expected = rotate(own.upright, drawn.world_positions()[frames.astype(int)]) * own.scale
    off = np.linalg.norm(expected - shown[:, own.bones], axis=2).max(axis=0)
    moved = [drawn.skeleton.names[j] for j in np.flatnonzero(off > SEEN_OF_SIZE * drawn.height * own.scale)]
    if moved:
        source.warn(f"something else than their keys moves {len(moved)} joints ({', '.join(moved[:5])}) by up to "
                    f"{off.max():.3g} m: constraints or other layers, which only kp.load reads")  # fmt: skip
