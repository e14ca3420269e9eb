"""Damage inside the sections of a .kps file with valid checksums, as most damage to a whole file is caught by these."""

from __future__ import annotations

import random

from tests.fuzz.mutate import damage
from tests.support.checksum_repair import update_checksums

from keypose.limits import Limits
from keypose.storage.byte_source import open_source
from keypose.storage.container import read_contents


def damage_section(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a valid file with damage in one group or block, or in the data shared by all groups."""
    contents = read_contents(open_source(data), Limits())
    clip, coding = contents.header, contents.coding_parameters
    ranges = [contents.group_range(g) for g in range(clip.n_groups)]
    ranges += [contents.keys_range()[:2]] if clip.keys_bytes is not None else []
    ranges += [contents.swings_range()[:2]] if clip.swings_bytes is not None else []
    at = data[: contents.start_byte].rfind(coding)
    if coding and rng.random() < 0.3:
        ranges = [(at, at + len(coding))]
    start, stop = rng.choice(ranges)
    section = damage(data[start:stop], [*others, data[start:stop]], rng)[: stop - start]
    return update_checksums(data[:start] + section.ljust(stop - start, b"\0") + data[stop:])
