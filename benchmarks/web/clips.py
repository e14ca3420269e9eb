"""BVH files of a given number of frames, cut from real clips at 120 fps."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

from benchmarks.measure import clip_path

LONG = "cmu120/86_01_mixed-jumps-kicks-punches.bvh"
STEP_FRAMES = 7  # between the starts of two files, so that all differ


def write_cuts(folder: Path, n_frames: int, count: int, name: str = "take") -> list[Path]:
    """Write ``count`` BVH files of ``n_frames`` each; the clip repeats from its start where it ends."""
    head, _, motion = clip_path(LONG, folder).read_text().partition("MOTION")
    _, frame_time, _, *rows = motion.strip().splitlines()  # the first row is a reference pose
    files = []
    for k in range(count):
        cut_rows = list(islice(cycle(rows), k * STEP_FRAMES, k * STEP_FRAMES + n_frames))
        path = folder / f"{name} {n_frames} {k}.bvh"
        path.write_text("\n".join((f"{head}MOTION", f"Frames: {len(cut_rows)}", frame_time, *cut_rows, "")))
        files.append(path)
    return files
