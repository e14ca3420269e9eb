"""The clips that a worker has on its bench."""

from __future__ import annotations

from keypose.server.work.desk import Desk
from keypose.workbench import Bench
from keypose.workbench.lately import Lately

MOST = 4  # clips whose curves and edits stay at hand


def bench_of(desk: Desk, digest: str) -> Bench:
    """The bench of a clip, with what was made there lately."""
    motion = desk.motion(digest)
    benches: Lately = desk.kept.of(("benches",), lambda: Lately(MOST))
    bench: Bench | None = benches.get(digest)
    if bench is None or bench.motion is not motion:
        bench = benches[digest] = Bench(motion)
    return bench
