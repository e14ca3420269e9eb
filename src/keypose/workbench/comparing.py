"""Methods side by side on one clip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keypose.options import whole
from keypose.workbench.curves import Bench, Unbaked
from keypose.workbench.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Compared:
    """Keys of one method, and curves through them."""

    method: str
    frames: tuple[int, ...]
    unbaked: Unbaked


def compare(bench: Bench, methods: Iterable[str], keys: int) -> tuple[Compared, ...]:
    """For each method the selection with most keys up to ``keys``, or its fewest, with curves as they leave."""
    whole("keys", keys, least=2)
    found = []
    for method in methods:
        ladder = bench.rungs(Recipe(method=method)).ladder
        counts = [count for count in ladder.counts.tolist() if count <= keys] or ladder.counts.tolist()[:1]
        frames = tuple(ladder.at(counts[-1]).frames.tolist())
        found.append(Compared(method, frames, bench.unbaked(frames)))
    return tuple(found)
