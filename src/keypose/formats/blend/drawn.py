"""What Blender draws of an action, frame by frame, and the cubics over common keys that come nearest to it.

A curve whose handles are a third of the gap away from their keys is a cubic of time, and is taken as it is. Any other,
as where a key was moved and its handles with it, is fitted on whole frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import ModelError
from keypose.formats.blend.fcurves import FCurve
from keypose.formats.blend.own import Own
from keypose.inbetween.fitted import basis, fitted
from keypose.model import Curves, KeyedMotion, Motion
from keypose.model.curves import Place
from keypose.rotations import AXES, from_euler, normalise

SAME = 1e-5  # of radians, quaternion components and the figure's size: Blender counts in 32 bits
ROUNDS = 4  # of fitting directions
SHORTEST = 1e-3  # a quaternion shorter than this counts no more
RIDGE = 1e-9  # of the equations' size: what the frames leave open stays as it is
TURN = 4  # numbers of a turn among a bone's seven; places stand behind them


@dataclass(frozen=True)
class Drawn:
    """The channels of every frame, in terms of joints, and the curves that they come from."""

    own: Own
    rotation_orders: tuple[str, ...] | None
    curves: Mapping[tuple[int, int], FCurve]  # by joint and channel, in our frames
    turns: Floats  # (T, J, 4) quaternions of any length, or (T, J, 3) angles
    places: Floats  # (T, J, 3)

    @staticmethod
    def of(
        own: Own, rotation_orders: tuple[str, ...] | None, curves: Mapping[tuple[int, int], FCurve], dense: Floats
    ) -> Drawn:
        """Of the channels (T, J, 7) of the joints' bones."""
        turns, places = _in_our_terms(own, rotation_orders, dense)
        return Drawn(own, rotation_orders, curves, turns, places + own.rest.translations)

    def fitted(self, keys: Ints, straight: bool) -> tuple[Curves, Curves]:
        """Curves of translations and rotations through ``keys`` (K,)."""
        if straight:
            unit = self.turns if self.rotation_orders is not None else _unit(self.turns)
            return Curves(self.places[keys]), Curves(unit[keys])
        arriving, leaving = (self._slopes(keys, before=before) for before in (True, False))
        shifts = _nearest(self.places, arriving[1], leaving[1], keys)
        if self.rotation_orders is not None:
            return shifts, _nearest(self.turns, arriving[0], leaving[0], keys)
        return shifts, _nearest_turns(self.turns, arriving[0], leaving[0], keys)

    def part(self, start: int, stop: int) -> Drawn:
        """The frames from ``start`` up to ``stop``, that one too, without the curves: all is fitted there."""
        frames = slice(start, stop + 1)
        return replace(self, curves={}, turns=self.turns[frames], places=self.places[frames])

    def motion(self, like: KeyedMotion) -> Motion:
        """What is drawn on every frame, of the same figure."""
        orders = self.rotation_orders
        if orders is None:
            turns = _unit(self.turns)
        else:
            turns = np.stack([from_euler(self.turns[:, j], order) for j, order in enumerate(orders)], axis=1)
        return replace(like.sample(), translations=self.places, rotations=give_away(turns))

    def _slopes(self, keys: Ints, *, before: bool) -> tuple[Floats, Floats]:
        """Of turns and places, just before or after each key."""
        slopes = np.zeros((len(keys), self.places.shape[1], 7))
        for (joint, channel), curve in self.curves.items():
            slopes[:, joint, channel] = curve.slopes(keys.astype(float), before=before)
        return _in_our_terms(self.own, self.rotation_orders, slopes)


def _in_our_terms(own: Own, orders: tuple[str, ...] | None, channels: Floats) -> tuple[Floats, Floats]:
    """Turns and shifts of joints, or their slopes, of the channels of their bones."""
    turns, shifts = channels[..., :TURN], own.shifts_from_channels(channels[..., TURN:])
    if orders is None:
        return own.turns_from_channels(turns), shifts
    columns = np.array([[AXES.index(axis) for axis in order] for order in orders])
    return np.take_along_axis(turns, np.broadcast_to(columns, (*turns.shape[:2], 3)), axis=2), shifts


def _unit(turns: Floats) -> Floats:
    if not (np.linalg.norm(turns, axis=2) > 0).all():
        raise ModelError("a bone's quaternion of length 0 among the keys")
    return normalise(turns)


def _nearest(values: Floats, arriving: Floats, leaving: Floats, keys: Ints) -> Curves:
    """The curves through the keys: with their own slopes where those give what is seen, else with fitted ones."""
    return _chosen(Curves(values[keys], arriving, leaving), fitted(values, keys), keys, values, is_turn=False)


def _nearest_turns(turns: Floats, arriving: Floats, leaving: Floats, keys: Ints) -> Curves:
    """The same for quaternions, which are of length 1 at our keys, but in Blender of any length anywhere.

    Only directions are seen, so a curve may be made longer or shorter: evenly between two keys, by what each needs.
    Lengths of 1 at the keys then leave a cubic the very same.
    """
    unit = _unit(turns)
    factors = 1.0 / np.linalg.norm(turns[keys], axis=2, keepdims=True)  # (K, J, 1)
    factors[np.abs(factors - 1) <= SAME] = 1.0
    place = Place.of(keys, np.arange(len(turns), dtype=np.float64))
    scaled = turns * Curves(factors).at(place)
    scaled[keys] = unit[keys]
    growth = np.diff(factors, axis=0) / np.diff(keys)[:, None, None]  # (K - 1, J, 1)
    none = np.zeros((1, *factors.shape[1:]))
    arriving = factors * arriving + np.concatenate((none, growth)) * turns[keys]
    leaving = factors * leaving + np.concatenate((growth, none)) * turns[keys]
    near = _nearer(fitted(scaled, keys), unit, keys)
    return _chosen(Curves(unit[keys], arriving, leaving), near, keys, unit, is_turn=True)


def _nearer(curves: Curves, unit: Floats, keys: Ints) -> Curves:
    """Quaternion curves whose directions come nearest to ``unit`` (T, J, 4), whatever their lengths.

    Gauss and Newton: what a curve lacks across the wanted direction, by its length, is as good as the angle.
    """
    assert curves.arriving is not None and curves.leaving is not None
    values, arriving, leaving = curves.values, curves.arriving.copy(), curves.leaving.copy()
    for k, gap in enumerate(np.diff(keys).tolist()):
        if gap < 3:  # one frame between determines no slopes; the fit goes through it
            continue
        climb, a, b = (part[:, None, None] for part in basis(gap))
        wanted = unit[keys[k] + 1 : keys[k + 1]]
        across = np.eye(4) - wanted[..., None] * wanted[..., None, :]  # (gap - 1, J, 4, 4)
        slopes = np.stack((a, b))[..., 0, 0]
        for _ in range(ROUNDS):
            found = values[k] + climb * (values[k + 1] - values[k]) + a * leaving[k] + b * arriving[k + 1]
            weights = 1.0 / np.maximum(np.sum(found * found, axis=2), SHORTEST**2)
            weighted = across * weights[..., None, None]
            left = np.einsum("pt,tjcd,tjd->jpc", slopes, weighted, found).reshape(-1, 8)
            normal = np.einsum("pt,qt,tjcd->jpcqd", slopes, slopes, weighted).reshape(-1, 8, 8)
            normal += RIDGE * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(8)
            better = np.linalg.solve(normal, -left[..., None]).reshape(-1, 2, 4)
            leaving[k] += better[:, 0]
            arriving[k + 1] += better[:, 1]
    return Curves(values, give_away(arriving), give_away(leaving))


def _chosen(own: Curves, near: Curves, keys: Ints, seen: Floats, *, is_turn: bool) -> Curves:
    """``own`` curves, with the slopes of ``near`` ones in spans where their own do not give what is seen."""
    assert own.arriving is not None and own.leaving is not None
    assert near.arriving is not None and near.leaving is not None
    given = own.at(Place.of(keys, np.arange(len(seen), dtype=np.float64)))
    if is_turn:
        given = normalise(given)
    size = 1.0 if is_turn else max(1.0, float(np.abs(seen).max()))
    off = np.abs(given - seen).max(axis=2)  # (T, J)
    arriving, leaving = own.arriving.copy(), own.leaving.copy()
    for k in range(len(keys) - 1):
        wrong = off[keys[k] : keys[k + 1]].max(axis=0) > SAME * size
        leaving[k, wrong], arriving[k + 1, wrong] = near.leaving[k, wrong], near.arriving[k + 1, wrong]
    return Curves(own.values, give_away(arriving), give_away(leaving))
