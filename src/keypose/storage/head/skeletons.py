"""A skeleton without any loss: as a usual one, or joint by joint."""

from __future__ import annotations

import numpy as np

from keypose.limits import Limits
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import ORDERS
from keypose.storage.groups import CodingError
from keypose.storage.head import cmu
from keypose.storage.head.coder import EVEN, Coder, TooMuch
from keypose.storage.head.names import joint_names
from keypose.storage.head.vectors import Vector, vectors

CHANNELS = POSITION_CHANNELS + ROTATION_CHANNELS
LISTED = 3  # the usual kinds of channels are 0 to 2; all others are listed


def skeleton(c: Coder, given: Skeleton | None, limits: Limits) -> Skeleton:
    """A skeleton with all that its file said of it; end sites count as joints."""
    numbers = None if given is None else cmu.numbers_of(given)
    if c.flag("usual skeleton", None if given is None else numbers is not None, EVEN):
        return cmu.skeleton(cmu.code_numbers(c, numbers))
    n = c.whole("joints", None if given is None else given.n_joints - 1) + 1
    if n > limits.joints:
        raise TooMuch(n, "joints")
    names, parents = joint_names(
        c, n, None if given is None else given.names, None if given is None else given.parents.tolist()
    )
    _check_depth(parents, limits.depth)
    orders, channels = _turns(c, n, parents, given)
    end_joints = _end_joints(c, parents, None if given is None else given.end_joints.tolist(), limits.joints)
    offsets = vectors(c, n + len(end_joints), None if given is None else _vectors(given))
    return Skeleton(
        tuple(names),
        np.array(parents, np.int32),
        np.array(offsets[:n]),
        tuple(orders),
        tuple(channels),
        end_joints=np.array(end_joints, np.int32),
        end_offsets=np.array(offsets[n:]).reshape(-1, 3),
    )


def _check_depth(parents: list[int], most: int) -> None:
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    if max(depths) > most:
        raise TooMuch(max(depths), "levels of joints (depth)")


def _vectors(s: Skeleton) -> list[Vector]:
    return [tuple(vector) for vector in s.offsets.tolist() + s.end_offsets.tolist()]


def _turns(c: Coder, count: int, parents: list[int], given: Skeleton | None) -> tuple[list[str], list[tuple[str, ...]]]:
    """The rotation order and the channels of each joint."""
    orders: list[str] = []
    channels: list[tuple[str, ...]] = []
    form = 0
    for j in range(count):
        order = None if given is None else given.rotation_orders[j]
        same = j > 0 and not c.flag("other order", None if order is None else order != orders[-1])
        orders.append(orders[-1] if same else _order(c, order))
        usual = _usual_channels(orders[-1])
        own = None if given is None else given.channels[j]
        kind = None if own is None else usual.index(own) if own in usual else LISTED
        form = c.choice(("channels", parents[j] < 0, form), 2, kind)
        channels.append(usual[form] if form < LISTED else _listed_channels(c, own))
    return orders, channels


def _order(c: Coder, order: str | None) -> str:
    found = c.choice("order", 3, None if order is None else ORDERS.index(order))
    if found >= len(ORDERS):
        raise CodingError(f"rotation order {found} of {len(ORDERS)}")
    return ORDERS[found]


def _usual_channels(order: str) -> tuple[tuple[str, ...], ...]:
    """All three turns; all places, then all turns; none."""
    turns = tuple(f"{axis}rotation" for axis in order)
    return turns, POSITION_CHANNELS + turns, ()


def _listed_channels(c: Coder, own: tuple[str, ...] | None) -> tuple[str, ...]:
    count = c.choice("channels", 3, None if own is None else len(own))
    found = [c.choice("channel", 3, None if own is None else CHANNELS.index(own[k])) for k in range(count)]
    if any(channel >= len(CHANNELS) for channel in found):
        raise CodingError(f"a channel beyond {len(CHANNELS)}")
    return tuple(CHANNELS[channel] for channel in found)


def _end_joints(c: Coder, parents: list[int], given: list[int] | None, most: int) -> list[int]:
    """The joints that have end sites, as often as they have some; usually each that nothing hangs on has one."""
    if c.flag("end sites in another order", None if given is None else given != sorted(given)):
        return _listed_ends(c, len(parents), given, most)
    bearing = set(parents)
    counts = None if given is None else np.bincount(np.array(given, int), minlength=len(parents)).tolist()
    found: list[int] = []
    for j in range(len(parents)):
        usual = int(j not in bearing)
        count = usual
        if c.flag(("other end sites", usual), None if counts is None else counts[j] != usual):
            count = c.whole("end sites", None if counts is None else counts[j])
        if len(parents) + len(found) + count > most:
            raise TooMuch(len(parents) + len(found) + count, "joints")
        found += [j] * count
    return found


def _listed_ends(c: Coder, joints: int, given: list[int] | None, most: int) -> list[int]:
    count = c.whole("end sites", None if given is None else len(given))
    if joints + count > most:
        raise TooMuch(joints + count, "joints")
    return [c.plain(joints.bit_length(), None if given is None else given[k]) for k in range(count)]
