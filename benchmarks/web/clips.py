"""Files of any number of frames, cut from real clips at 120 fps."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

from benchmarks.measure import clip

LONG = "cmu120/86_01_mixed-jumps-kicks-punches.bvh"
STEP_FRAMES = 7  # between the starts of two files, so that no two are the same


def cuts(folder: Path, n_frames: int, count: int, name: str = "take") -> list[Path]:
    """So many BVH files of ``n_frames`` each; where the clip ends it starts again."""
    head, _, motion = clip(LONG, folder).read_text().partition("MOTION")
    _, frame_time, _, *rows = motion.strip().splitlines()  # the first row is a reference pose
    files = []
    for k in range(count):
        some = list(islice(cycle(rows), k * STEP_FRAMES, k * STEP_FRAMES + n_frames))
        path = folder / f"{name} {n_frames} {k}.bvh"
        path.write_text("\n".join((f"{head}MOTION", f"Frames: {len(some)}", frame_time, *some, "")))
        files.append(path)
    return files
