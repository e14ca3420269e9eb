"""A small library of many rigs for tests of search, and shelves that need no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import keypose as kp
from keypose.library.descriptors import Description, Windows
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.rotations import exp
from library_cases import DEMO, MIXAMO_NAMES, moved, scaled

PIECES = {"stand": (0, 40), "walk": (30, 130), "turn": (130, 190), "jump": (180, 250), "kick": (240, 330)}
LIE_BACK = exp(np.array((np.pi / 2, 0.0, 0.0)))  # Y up -> Z up


def piece(name: str) -> kp.Motion:
    """Some frames of the demo."""
    start, end = PIECES[name]
    return replace(DEMO[start:end], name=name)


def as_mixamo(motion: kp.Motion) -> kp.Motion:
    """Other joint names, centimetres, Z up, elsewhere, facing another way."""
    parts = motion.skeleton.anatomy.parts
    names = tuple(MIXAMO_NAMES.get(part or "", f"x{k}") for k, part in enumerate(parts))
    lying = moved(motion, LIE_BACK)
    turned = moved(lying, exp(np.array((0.0, 0.0, 1.1))), by=(3.0, -2.0, 0.0))
    named = replace(turned, skeleton=replace(turned.skeleton, names=names), up="Z")
    return scaled(named, 100.0)


def in_a_mirror(motion: kp.Motion) -> kp.Motion:
    """Left is right: for a rig whose rest pose is the same in the mirror."""
    partners = list(motion.skeleton.anatomy.mirrored())
    return replace(
        motion,
        name=f"{motion.name}_mirrored",
        translations=motion.translations[:, partners] * np.array((-1.0, 1.0, 1.0)),
        rotations=motion.rotations[:, partners] * np.array((1.0, 1.0, -1.0, -1.0)),
        reference_pose=None,
    )


def markers() -> kp.Motion:
    """Points without a body."""
    names = tuple(f"m{k}" for k in range(4))
    skeleton = kp.Skeleton(names, np.full(4, -1, np.int32), np.zeros((4, 3)))
    places = np.random.default_rng(3).normal(size=(60, 4, 3))
    turns = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (60, 4, 4))
    return kp.Motion("markers", skeleton, 30.0, places, turns)


@dataclass
class Held:
    """What a library would have stored, in memory; counts what is read."""

    descriptions_by: dict[int, Description] = field(default_factory=dict)
    tracks_by: dict[int, PartTrack] = field(default_factory=dict)
    poses_by: dict[int, Windows] = field(default_factory=dict)
    sheets_by: dict[int, Sheet] = field(default_factory=dict)
    seals_by: dict[int, str] = field(default_factory=dict)
    count: int = 0
    read: list[int] = field(default_factory=list)

    def changes(self, connection: Any) -> int:
        return self.count

    def seals(self, connection: Any) -> dict[int, str]:
        return dict(self.seals_by)

    def _read(self, of: Mapping[int, Any], ids: Sequence[int]) -> dict[int, Any]:
        self.read.extend(ids)
        return {number: of[number] for number in ids if number in of}

    def descriptions(self, connection: Any, ids: Sequence[int]) -> dict[int, Description]:
        return self._read(self.descriptions_by, ids)

    def tracks(self, connection: Any, ids: Sequence[int]) -> dict[int, PartTrack]:
        return self._read(self.tracks_by, ids)

    def poses(self, connection: Any, ids: Sequence[int]) -> dict[int, Windows]:
        return self._read(self.poses_by, ids)

    def sheets(self, connection: Any, ids: Sequence[int]) -> dict[int, Sheet]:
        return self._read(self.sheets_by, ids)

    def some_sheets(self, connection: Any, ids: Sequence[int]) -> dict[int, Sheet]:
        return self._read(self.sheets_by, ids)
