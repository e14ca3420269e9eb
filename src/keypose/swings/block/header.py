"""The header of packed swings: clip, skeleton, settings, foot contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.errors import OptionError, format_count
from keypose.kinematics import UPS
from keypose.model import FootContacts, Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import ORDERS, log
from keypose.swings.block.byte_io import MAX_FRAME, Reader, Writer, decode_sign, encode_sign
from keypose.swings.model import Swings
from keypose.swings.settings import FALLBACKS, METRICS, Settings, check_setting

NUMBER_SETTINGS = (
    "threshold",
    "smoothing_s",
    "window_s",
    "min_duration_s",
    "rest_rad_per_s",
    "fallback_deg",
    "translation_mm",
)
CHANNELS = POSITION_CHANNELS + ROTATION_CHANNELS
MAX_JOINTS = 10_000
MAX_VALUES = 1000  # of a joint per frame
CUSTOM_CHANNELS = 3  # codes 0 to 2 are the common channels; others are listed
OTHER_COUNT = 1 << 5  # flag of joints whose file has another number of values than channels


def write_header(out: Writer, swings: Swings) -> None:
    """Write everything of a clip except its tracks and paths."""
    metres, pose, contacts = swings.metres_per_unit, swings.reference_pose, swings.contacts
    out.write_text(swings.name)
    out.write_doubles((swings.fps,))
    out.write_varint(swings.n_frames)
    out.write_varint(encode_sign(int(swings.first_frame)))
    out.write_byte(
        UPS.index(swings.up) | (metres is not None) << 3 | (pose is not None) << 4 | (contacts is not None) << 5
    )
    if metres is not None:
        out.write_doubles((metres,))
    out.write_texts(swings.notes)
    _write_skeleton(out, swings.skeleton)
    if pose is not None:
        out.write_changed_rows(pose.translations, swings.skeleton.offsets)
        out.write_changed_rows(log(pose.rotations), np.zeros((swings.n_joints, 3)))
    _write_settings(out, swings.settings, swings.skeleton.names)
    if contacts is not None:
        _write_contacts(out, contacts)


def read_header(block: Reader) -> dict[str, Any]:
    """Read the header; return it as arguments of ``Swings``."""
    fields: dict[str, Any] = {"name": block.read_text("the name")}
    (fields["fps"],) = block.read_doubles(1, "frames per second")
    fields["n_frames"] = n_frames = block.read_varint("the number of frames", MAX_FRAME)
    fields["first_frame"] = decode_sign(block.read_varint("the first frame"))
    flags = block.read_byte("what is known of the clip", 0x3F)
    if flags & 7 >= len(UPS):
        raise block.error(f"up axis {flags & 7}", block.at - 1, code="bad_number", expected=f"at most {len(UPS) - 1}")
    fields["up"] = UPS[flags & 7]
    fields["metres_per_unit"] = block.read_doubles(1, "metres per unit")[0] if flags & 8 else None
    fields["notes"] = block.read_texts("note")
    fields["skeleton"] = skeleton = _read_skeleton(block)
    fields["reference_pose"] = _read_pose(block, skeleton.offsets) if flags & 16 else None
    fields["settings"] = _read_settings(block, skeleton.names)
    fields["contacts"] = _read_contacts(block, n_frames) if flags & 32 else None
    return fields


def _write_skeleton(out: Writer, s: Skeleton) -> None:
    n = s.n_joints
    out.write_texts(s.names)
    # By how many joints the parent precedes the joint; 0: a root.
    out.write_varints(np.where(s.parents < 0, 0, np.arange(n) - s.parents))
    for order, channels, count in zip(s.rotation_orders, s.channels, s.channel_counts.tolist(), strict=True):
        common = _common_channels(order)
        kind = common.index(channels) if channels in common else CUSTOM_CHANNELS
        is_other = count != len(channels)
        out.write_byte(ORDERS.index(order) | kind << 3 | (OTHER_COUNT if is_other else 0))
        if is_other:
            out.write_varint(count)
        if kind == CUSTOM_CHANNELS:
            out.write_bytes(bytes((len(channels), *map(CHANNELS.index, channels))))
    out.write_floats(s.offsets)
    out.write_varint(len(s.end_joints))
    out.write_varints(s.end_joints)
    out.write_floats(s.end_offsets)


def _read_skeleton(block: Reader) -> Skeleton:
    start, names = block.at, block.read_texts("joint name")
    n = len(names)
    if n > MAX_JOINTS:
        raise block.error(format_count(n, "joint"), start, code="bad_number", expected=f"at most {MAX_JOINTS}")
    parent_distances = block.read_varints(n, "parents of joints")
    orders, channels, counts = [], [], []
    for _ in range(n):
        form = block.read_byte("the rotation order and channels of a joint", 0x3F)
        if form & 7 >= len(ORDERS):
            raise block.error(
                f"rotation order {form & 7}", block.at - 1, code="bad_number", expected=f"at most {len(ORDERS) - 1}"
            )
        orders.append(ORDERS[form & 7])
        kind, is_other = form >> 3 & 3, form & OTHER_COUNT
        count = block.read_varint("the number of values of a joint", MAX_VALUES) if is_other else None
        channels.append(_common_channels(orders[-1])[kind] if kind < CUSTOM_CHANNELS else _read_channels(block))
        counts.append(len(channels[-1]) if count is None else count)
    offsets = block.read_floats(n, 3, "offsets of joints")
    ends = block.read_count("end sites", 13)
    return Skeleton(
        names,
        np.where(parent_distances > 0, np.arange(n) - parent_distances, -1),
        offsets,
        tuple(orders),
        tuple(channels),
        end_joints=block.read_varints(ends, "joints of end sites").astype(np.int32),
        end_offsets=block.read_floats(ends, 3, "offsets of end sites"),
        channel_counts=np.array(counts, np.int32),
    )


def _common_channels(order: str) -> tuple[tuple[str, ...], ...]:
    """Return the common channels: rotations; positions, then rotations; none."""
    rotation_channels = tuple(f"{axis}rotation" for axis in order)
    return rotation_channels, POSITION_CHANNELS + rotation_channels, ()


def _read_channels(block: Reader) -> tuple[str, ...]:
    count = block.read_byte("the number of channels", len(CHANNELS))
    return tuple(CHANNELS[block.read_byte("a channel", len(CHANNELS) - 1)] for _ in range(count))


def _read_pose(block: Reader, offsets: Floats) -> Pose:
    translations = block.read_changed_rows(offsets, "places of the reference pose")
    rotation_vectors = block.read_changed_rows(np.zeros(offsets.shape), "rotations of the reference pose")
    return Pose(translations, block.decode_rotations(rotation_vectors, "reference pose"))


def _write_settings(out: Writer, settings: Settings, names: tuple[str, ...]) -> None:
    out.write_doubles(getattr(settings, name) for name in NUMBER_SETTINGS)
    out.write_byte(METRICS.index(settings.metric) | FALLBACKS.index(settings.fallback) << 1)
    left_out = frozenset(settings.left_out)
    joints = [j for j, name in enumerate(names) if name in left_out]
    out.write_varint(len(joints))
    out.write_varints(np.diff(joints, prepend=0))


def _read_settings(block: Reader, names: tuple[str, ...]) -> Settings:
    start = block.at
    numbers = block.read_doubles(len(NUMBER_SETTINGS), "settings")
    settings: dict[str, Any] = dict(zip(NUMBER_SETTINGS, numbers, strict=True))
    for n, (name, value) in enumerate(settings.items()):
        try:
            check_setting(name, value)
        except OptionError as error:
            raise block.error(str(error), start + 8 * n, code="bad_number", value=value) from None
    choices = block.read_byte("the metric and fallback", 3)
    return Settings(
        **settings, metric=METRICS[choices & 1], fallback=FALLBACKS[choices >> 1], left_out=_read_left_out(block, names)
    )


def _read_left_out(block: Reader, names: tuple[str, ...]) -> tuple[str, ...]:
    start, label = block.at, "joints that are left out"
    joints = np.cumsum(block.read_varints(block.read_count(label, 1), label))
    if len(joints) and (joints[-1] >= len(names) or (np.diff(joints) <= 0).any()):
        raise block.error(f"{label}: expected increasing ones up to {len(names) - 1}", start, code="inconsistent")
    return tuple(names[j] for j in joints.tolist())


def _write_contacts(out: Writer, contacts: FootContacts) -> None:
    """Write for each foot the lengths of its alternating spans without and with contact, from the first frame on."""
    out.write_texts(contacts.feet)
    for in_contact in contacts.in_contact.T:
        edges = np.flatnonzero(np.diff(in_contact, prepend=False))
        out.write_varint(len(edges))
        out.write_varints(np.diff(edges, prepend=0))


def _read_contacts(block: Reader, n_frames: int) -> FootContacts:
    feet = block.read_texts("foot")
    block.claim_memory(n_frames * len(feet), 2, "contacts of feet")
    in_contact = np.zeros((n_frames, len(feet)), bool)
    for f in range(len(feet)):
        start, count = block.at, block.read_count("contacts", 1)
        edges = np.cumsum(block.read_varints(count, "contacts"))
        if count and (edges[-1] >= n_frames or (np.diff(edges) <= 0).any()):
            raise block.error(
                "contacts of a foot outside the clip",
                start,
                code="inconsistent",
                expected=f"frames up to {n_frames - 1}",
            )
        in_contact[edges, f] = True
        np.logical_xor.accumulate(in_contact[:, f], out=in_contact[:, f])
    return FootContacts(feet, freeze(in_contact))
