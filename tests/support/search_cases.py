"""Clips of many rigs for tests of search, and a reader that needs no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import keypose as kp
from keypose.library.descriptors import Description, Windows
from keypose.library.search.part_gallery import PartTrack
from keypose.library.search.swing_overlap import SwingTable
from keypose.rotations import exp
from support.library_cases import DEMO, MIXAMO_NAMES, rotate_world, scale_motion

CLIP_FRAMES = {"stand": (0, 40), "walk": (30, 130), "turn": (130, 190), "jump": (180, 250), "kick": (240, 330)}
Z_UP_ROTATION = exp(np.array((np.pi / 2, 0.0, 0.0)))  # Y up -> Z up


def demo_clip(name: str) -> kp.Motion:
    """Return some frames of the demo."""
    start, end = CLIP_FRAMES[name]
    return replace(DEMO[start:end], name=name)


def as_mixamo(motion: kp.Motion) -> kp.Motion:
    """Return the motion with other joint names, in centimetres, Z up, at another position and heading."""
    parts = motion.skeleton.anatomy.body_parts
    names = tuple(MIXAMO_NAMES.get(part or "", f"x{k}") for k, part in enumerate(parts))
    rotated = rotate_world(motion, Z_UP_ROTATION)
    moved_motion = rotate_world(rotated, exp(np.array((0.0, 0.0, 1.1))), shift=(3.0, -2.0, 0.0))
    renamed = replace(moved_motion, skeleton=replace(moved_motion.skeleton, names=names), up="Z")
    return scale_motion(renamed, 100.0)


def mirror_motion(motion: kp.Motion) -> kp.Motion:
    """Return the mirror image, for a rig with a symmetric rest pose."""
    partners = list(motion.skeleton.anatomy.mirror_partners())
    return replace(
        motion,
        name=f"{motion.name}_mirrored",
        translations=motion.translations[:, partners] * np.array((-1.0, 1.0, 1.0)),
        rotations=motion.rotations[:, partners] * np.array((1.0, 1.0, -1.0, -1.0)),
        reference_pose=None,
    )


def marker_motion() -> kp.Motion:
    """Return points without a body."""
    names = tuple(f"m{k}" for k in range(4))
    skeleton = kp.Skeleton(names, np.full(4, -1, np.int32), np.zeros((4, 3)))
    positions = np.random.default_rng(3).normal(size=(60, 4, 3))
    rotations = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (60, 4, 4))
    return kp.Motion("markers", skeleton, 30.0, positions, rotations)


@dataclass
class StoredItems:
    """Stored data of a library in memory; records what is loaded."""

    descriptions_by: dict[int, Description] = field(default_factory=dict)
    tracks_by: dict[int, PartTrack] = field(default_factory=dict)
    poses_by: dict[int, Windows] = field(default_factory=dict)
    swing_tables_by: dict[int, SwingTable] = field(default_factory=dict)
    checksums_by: dict[int, str] = field(default_factory=dict)
    count: int = 0
    loaded_ids: list[int] = field(default_factory=list)

    def changes(self, connection: Any) -> int:
        return self.count

    def checksums(self, connection: Any) -> dict[int, str]:
        return dict(self.checksums_by)

    def _load(self, items: Mapping[int, Any], clip_ids: Sequence[int]) -> dict[int, Any]:
        self.loaded_ids.extend(clip_ids)
        return {number: items[number] for number in clip_ids if number in items}

    def descriptions(self, connection: Any, clip_ids: Sequence[int]) -> dict[int, Description]:
        return self._load(self.descriptions_by, clip_ids)

    def tracks(self, connection: Any, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        return self._load(self.tracks_by, clip_ids)

    def poses(self, connection: Any, clip_ids: Sequence[int]) -> dict[int, Windows]:
        return self._load(self.poses_by, clip_ids)

    def swing_tables(self, connection: Any, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        return self._load(self.swing_tables_by, clip_ids)

    def swing_tables_by_id(self, connection: Any, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        return self._load(self.swing_tables_by, clip_ids)
