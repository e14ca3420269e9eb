"""Damage to what a stored motion codes, under checksums that fit: most damage to a whole file ends in its header."""

from __future__ import annotations

import random

from tests.fuzz.mutate import damage
from tests.storage.sealing import sealed

from keypose.limits import Limits
from keypose.storage.container import contents_of
from keypose.storage.sources import ranges_of


def damaged_inside(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A sound file with damage in one group or block, or in what all groups need."""
    contents = contents_of(ranges_of(data), Limits())
    clip, coding = contents.clip, contents.coding
    ranges = [contents.group(g) for g in range(clip.n_groups)]
    ranges += [contents.keys()[:2]] if clip.keys_bytes is not None else []
    ranges += [contents.swings()[:2]] if clip.swings_bytes is not None else []
    at = data[: contents.start].rfind(coding)
    if coding and rng.random() < 0.3:
        ranges = [(at, at + len(coding))]
    start, stop = rng.choice(ranges)
    changed = damage(data[start:stop], [*others, data[start:stop]], rng)[: stop - start]
    return sealed(data[:start] + changed.ljust(stop - start, b"\0") + data[stop:])
