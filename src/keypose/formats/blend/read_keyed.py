"""The keys of a .blend file that Keypose wrote and an artist may have edited, as they are now.

Exact where Blender's curves are cubics of time, as ours are. Where an artist moved handles, or a key away from its
neighbours' handles, a span is the cubic nearest to what Blender shows on its frames, with breakdowns where that is not
near enough, and a note says how near. What was not touched keeps the very numbers that were written, which Blender
rounds to 32 bits. The scene's range is what plays, so it is what is read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keypose.errors import ModelError
from keypose.formats.base import ReadOptions, Source
from keypose.formats.blend.breakdowns import MOST_DEG, MOST_MM, with_breakdowns
from keypose.formats.blend.detail import detail_of
from keypose.formats.blend.drawn import SAME, TURN, Drawn
from keypose.formats.blend.fcurves import LINEAR, FCurve, common_keys, key_frames
from keypose.formats.blend.own import Own, find_own
from keypose.formats.blend.read import asked, first_frame, rate
from keypose.formats.child import Arrays, Facts, floats
from keypose.model import Curves, KeyedMotion, Motion
from keypose.rotations import ORDERS, rotate

WORTH_SAYING_MM, WORTH_SAYING_DEG = 0.1, 0.05
FRAMES_SHOWN = 8
SEEN_OF_SIZE = 1e-3  # what is farther than this from its keys is moved by something else
Indices = NDArray[np.intp]


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
    curves = _fcurves(source, arrays, own, start, width=3 if orders is not None else TURN)
    keys, extremes = common_keys(list(curves.values()), n_frames)
    if not len(keys):
        raise source.error("no key on any bone, expected at least one")
    there = key_frames(list(curves.values()))
    _say_what_is_not_played(source, there, n_frames, start)
    straight = all((curve.interpolation == LINEAR).all() for curve in curves.values())
    drawn = Drawn.of(own, orders, curves, dense)
    translations, rotations = drawn.fitted(keys, straight)
    keyed = KeyedMotion(
        name=own.keyed.name,
        skeleton=own.keyed.skeleton,
        fps=rate(source, options, facts, own),
        n_frames=n_frames,
        keys=keys,
        translations=translations,
        rotations=rotations,
        rotation_orders=orders,
        extremes=extremes,
        up=own.keyed.up,
        metres_per_unit=own.keyed.metres_per_unit,
        first_frame=own.keyed.first_frame + start - own.first,
        reference_pose=own.keyed.reference_pose,
    )
    shown = drawn.motion(keyed)
    keyed = replace(keyed, residual=detail_of(source, own.keyed, own.first - start, there, shown))
    keyed = _near_enough(source, keyed, drawn, shown)
    return keyed if own.is_dense else _with_written_numbers(keyed, own.keyed, start - own.first), shown


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
        if bone in joint_of and (0 <= channel < width or TURN <= channel < 7):
            curves[joint_of[bone], channel] = FCurve.of(table[starts.ravel() == k, 2:])
    return curves


def _say_what_is_not_played(source: Source, there: NDArray[np.int64], n_frames: int, start: int) -> None:
    """A warning where keys lie outside the scene's range: what plays is what is read."""
    outside = there[(there < 0) | (there >= n_frames)] + start
    if len(outside):
        first, last = start, start + n_frames - 1
        source.warn(f"{len(outside)} of {len(there)} keys are left out: they lie outside frames {first} to {last}, "
                    f"which the scene plays; for all of them set its range to {min(first, outside[0])} to "
                    f"{max(last, outside[-1])}")  # fmt: skip


def _near_enough(source: Source, keyed: KeyedMotion, drawn: Drawn, shown: Motion) -> KeyedMotion:
    """``keyed``, with breakdowns where it needs them, and notes of where it is not quite what Blender draws."""
    closer, off = with_breakdowns(keyed, drawn, shown)
    if closer is not keyed:
        added = np.setdiff1d(closer.keys, keyed.keys).tolist()
        some = ", ".join(map(str, added[:FRAMES_SHOWN])) + (", ..." if len(added) > FRAMES_SHOWN else "")
        source.note(f"{len(added)} breakdown{'s' * (len(added) > 1)} added (at {some}): no cubic of time comes within "
                    f"{MOST_MM:g} mm and {MOST_DEG:g} degrees of Blender's curves there")  # fmt: skip
    mm, degrees = float(off.mm.max()), float(off.degrees.max())
    if mm > WORTH_SAYING_MM or degrees > WORTH_SAYING_DEG:
        what = ("spans that are no cubics of time in Blender (handles not a third of the gap away) are the nearest ones"
                if keyed.is_cubic else "straight spans turn evenly here, but not in Blender")  # fmt: skip
        source.note(f"{what}: up to {mm:.2g} mm (on a figure of 1.7 m) and {degrees:.2g} degrees off")
    return closer


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
