"""The clip, its skeleton, what the swings were found with, and when feet stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.errors import OptionError
from keypose.kinematics import UPS
from keypose.model import FootContacts, Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import ORDERS, log
from keypose.swings.block.numbers import folded_sign, unfolded_sign
from keypose.swings.block.reader import GREATEST_FRAME, Reader
from keypose.swings.block.writer import Writer
from keypose.swings.noun import Swings
from keypose.swings.settings import FALLBACKS, METRICS, Settings, setting

NUMBERS = ("threshold", "smoothing_s", "window_s", "least_s", "rest_rad_per_s", "fallback_deg", "translation_mm")
CHANNELS = POSITION_CHANNELS + ROTATION_CHANNELS
MOST_JOINTS = 10_000
LISTED = 3  # the usual kinds of channels are 0 to 2; all others are listed


def write_head(out: Writer, swings: Swings) -> None:
    """All of a clip but its tracks and paths."""
    metres, pose, contacts = swings.metres_per_unit, swings.reference_pose, swings.contacts
    out.text(swings.name)
    out.doubles((swings.fps,))
    out.whole(swings.n_frames)
    out.whole(folded_sign(int(swings.first_frame)))
    out.byte(UPS.index(swings.up) | (metres is not None) << 3 | (pose is not None) << 4 | (contacts is not None) << 5)
    if metres is not None:
        out.doubles((metres,))
    out.texts(swings.notes)
    _write_skeleton(out, swings.skeleton)
    if pose is not None:
        out.rows_unlike(pose.translations, swings.skeleton.offsets)
        out.rows_unlike(log(pose.rotations), np.zeros((swings.n_joints, 3)))
    _write_settings(out, swings.settings, swings.skeleton.names)
    if contacts is not None:
        _write_contacts(out, contacts)


def read_head(block: Reader) -> dict[str, Any]:
    """The same back, as arguments of ``Swings``."""
    head: dict[str, Any] = {"name": block.text("the name")}
    (head["fps"],) = block.doubles(1, "frames per second")
    head["n_frames"] = n_frames = block.whole("the number of frames", GREATEST_FRAME)
    head["first_frame"] = unfolded_sign(block.whole("the first frame"))
    known = block.byte("what is known of the clip", 0x3F)
    if known & 7 >= len(UPS):
        raise block.error(f"up axis {known & 7}, expected at most {len(UPS) - 1}", block.at - 1)
    head["up"] = UPS[known & 7]
    head["metres_per_unit"] = block.doubles(1, "metres per unit")[0] if known & 8 else None
    head["notes"] = block.texts("note")
    head["skeleton"] = skeleton = _read_skeleton(block)
    head["reference_pose"] = _read_pose(block, skeleton.offsets) if known & 16 else None
    head["settings"] = _read_settings(block, skeleton.names)
    head["contacts"] = _read_contacts(block, n_frames) if known & 32 else None
    return head


def _write_skeleton(out: Writer, s: Skeleton) -> None:
    n = s.n_joints
    out.texts(s.names)
    out.wholes(np.where(s.parents < 0, 0, np.arange(n) - s.parents))  # how far before the joint; 0: a root
    for order, channels in zip(s.rotation_orders, s.channels, strict=True):
        usual = _usual_channels(order)
        kind = usual.index(channels) if channels in usual else LISTED
        out.byte(ORDERS.index(order) | kind << 3)
        if kind == LISTED:
            out.put(bytes((len(channels), *map(CHANNELS.index, channels))))
    out.floats(s.offsets)
    out.whole(len(s.end_joints))
    out.wholes(s.end_joints)
    out.floats(s.end_offsets)


def _read_skeleton(block: Reader) -> Skeleton:
    start, names = block.at, block.texts("joint name")
    n = len(names)
    if n > MOST_JOINTS:
        raise block.error(f"{n} joints, expected at most {MOST_JOINTS}", start)
    back = block.wholes(n, "parents of joints")
    orders, channels = [], []
    for _ in range(n):
        form = block.byte("the rotation order and channels of a joint", 0x1F)
        if form & 7 >= len(ORDERS):
            raise block.error(f"rotation order {form & 7}, expected at most {len(ORDERS) - 1}", block.at - 1)
        orders.append(ORDERS[form & 7])
        channels.append(_usual_channels(orders[-1])[form >> 3] if form >> 3 < LISTED else _read_channels(block))
    offsets = block.floats(n, 3, "offsets of joints")
    ends = block.count("end sites", 13)
    return Skeleton(
        names,
        np.where(back > 0, np.arange(n) - back, -1),
        offsets,
        tuple(orders),
        tuple(channels),
        end_joints=block.wholes(ends, "joints of end sites").astype(np.int32),
        end_offsets=block.floats(ends, 3, "offsets of end sites"),
    )


def _usual_channels(order: str) -> tuple[tuple[str, ...], ...]:
    """All three turns; all places, then all turns; none."""
    turns = tuple(f"{axis}rotation" for axis in order)
    return turns, POSITION_CHANNELS + turns, ()


def _read_channels(block: Reader) -> tuple[str, ...]:
    count = block.byte("the number of channels", len(CHANNELS))
    return tuple(CHANNELS[block.byte("a channel", len(CHANNELS) - 1)] for _ in range(count))


def _read_pose(block: Reader, offsets: Floats) -> Pose:
    translations = block.rows_unlike(offsets, "places of the reference pose")
    turns = block.rows_unlike(np.zeros(offsets.shape), "rotations of the reference pose")
    return Pose(translations, block.as_rotations(turns, "reference pose"))


def _write_settings(out: Writer, settings: Settings, names: tuple[str, ...]) -> None:
    out.doubles(getattr(settings, name) for name in NUMBERS)
    out.byte(METRICS.index(settings.metric) | FALLBACKS.index(settings.fallback) << 1)
    left_out = frozenset(settings.left_out)
    joints = [j for j, name in enumerate(names) if name in left_out]
    out.whole(len(joints))
    out.wholes(np.diff(joints, prepend=0))


def _read_settings(block: Reader, names: tuple[str, ...]) -> Settings:
    start = block.at
    numbers = block.doubles(len(NUMBERS), "settings")
    kept: dict[str, Any] = dict(zip(NUMBERS, numbers, strict=True))
    for n, (name, value) in enumerate(kept.items()):
        try:
            setting(name, value)
        except OptionError as error:
            raise block.error(str(error), start + 8 * n) from None
    words = block.byte("the metric and fallback", 3)
    return Settings(
        **kept, metric=METRICS[words & 1], fallback=FALLBACKS[words >> 1], left_out=_read_left_out(block, names)
    )


def _read_left_out(block: Reader, names: tuple[str, ...]) -> tuple[str, ...]:
    start, what = block.at, "joints that are left out"
    joints = np.cumsum(block.wholes(block.count(what, 1), what))
    if len(joints) and (joints[-1] >= len(names) or (np.diff(joints) <= 0).any()):
        raise block.error(f"{what}: expected increasing ones up to {len(names) - 1}", start)
    return tuple(names[j] for j in joints.tolist())


def _write_contacts(out: Writer, contacts: FootContacts) -> None:
    """For each foot how long it is up, stands, is up, ..., from the first frame on."""
    out.texts(contacts.feet)
    for touching in contacts.touching.T:
        edges = np.flatnonzero(np.diff(touching, prepend=False))
        out.whole(len(edges))
        out.wholes(np.diff(edges, prepend=0))


def _read_contacts(block: Reader, n_frames: int) -> FootContacts:
    feet = block.texts("foot")
    block.claim(n_frames * len(feet), 2, "contacts of feet")
    touching = np.zeros((n_frames, len(feet)), bool)
    for f in range(len(feet)):
        start, count = block.at, block.count("contacts", 1)
        edges = np.cumsum(block.wholes(count, "contacts"))
        if count and (edges[-1] >= n_frames or (np.diff(edges) <= 0).any()):
            raise block.error(f"contacts of a foot outside the clip, expected frames up to {n_frames - 1}", start)
        touching[edges, f] = True
        np.logical_xor.accumulate(touching[:, f], out=touching[:, f])
    return FootContacts(feet, give_away(touching))
