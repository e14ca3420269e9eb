"""The clips that a worker has on its bench."""

from __future__ import annotations

from keypose.server.work.desk import Desk
from keypose.workbench import Bench


def bench_of(desk: Desk, digest: str) -> Bench:
    """The bench of a clip, with what was made there lately."""
    motion = desk.motion(digest)
    bench: Bench = desk.kept.of(digest, lambda: Bench(motion))
    if bench.motion is not motion:
        bench = desk.kept[digest] = Bench(motion)
    return bench
