"""How fast clips at 120 fps get into a library, and how much memory that takes; each run in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import DATA, HERE, clip

VARIANTS = 5  # of each clip, cut a little
MORE_VARIANTS = 3  # times as many for each core, so that the start of the processes hardly counts; it is counted
CUT_FRAMES = 10
ROUNDS = 3
ROUNDS_OF_ALL = 2
FEW, MANY = 200, 1000
SHORT_FRAMES = 120

CHILD = """
import json, pathlib, resource, sys, time
from keypose.library.library import Library

def peak_mb():
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

def cpu_s():
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

if __name__ == "__main__":
    folder, jobs, warm, *files = sys.argv[1:]
    with Library(f"{folder}/clips.db") as library:
        library.add([warm], jobs=1)
        start, began = time.perf_counter(), cpu_s()
        done = library.add(files, jobs=int(jobs))
        seconds, cpu = time.perf_counter() - start, cpu_s() - began
        assert len(done.clips) == len(files) and not done.failures, done.failures[:3]
    motion_s = sum(clip.duration_s for clip in done.clips)
    print(json.dumps({"motion_s": motion_s, "seconds": seconds, "cpu_s": cpu, "peak_mb": peak_mb()}))
"""


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        sources = sorted((DATA / "cmu120").glob("*.bvh")) or [clip("cmu120/07_05_walk.bvh", Path(folder))]
        whole = [one for source in sources for one in _cut(source, Path(folder), VARIANTS, None)]
        rounds = [_ingested(Path(folder), f"one_{n}", 1, whole) for n in range(ROUNDS)]
        one = min(rounds, key=lambda ran: ran["seconds"])
        cores = len(os.sched_getaffinity(0))
        many_variants = VARIANTS * MORE_VARIANTS * cores
        plenty = [one for source in sources for one in _cut(source, Path(folder), many_variants, None)]
        rounds = [_ingested(Path(folder), f"all_{n}", cores, plenty) for n in range(ROUNDS_OF_ALL)]
        all_ = min(rounds, key=lambda ran: ran["seconds"])
        short = [
            one for source in sources for one in _cut(source, Path(folder), MANY // len(sources) + 1, SHORT_FRAMES)
        ]
        few, many = (_ingested(Path(folder), f"short_{n}", 2, short[:n]) for n in (FEW, MANY))
    print(f"   {len(whole)} clips, {one['motion_s']:.0f} s of motion")
    print(f"   one process             {one['motion_s'] / one['seconds']:6.0f} s of motion per second, "
          f"{one['motion_s'] / one['cpu_s']:.0f} per second of processor time")  # fmt: skip
    print(f"   {cores} processes             {all_['motion_s'] / all_['seconds']:6.0f} s of motion per second, "
          f"{all_['motion_s'] / all_['cpu_s']:.0f} per second of processor time, their start included: "
          f"{len(plenty)} clips, {all_['motion_s']:.0f} s of motion")  # fmt: skip
    growth_kb = 1024 * (many["peak_mb"] - few["peak_mb"]) / (MANY - FEW)
    print(f"   peak of the parent      {few['peak_mb']:6.0f} MB at {FEW} clips, {many['peak_mb']:.0f} MB at {MANY}: "
          f"{growth_kb:.1f} kB for each clip more")  # fmt: skip
    return {
        "motion_s_per_s_and_core": one["motion_s"] / one["seconds"],
        "motion_s_per_s_and_core_of_all": all_["motion_s"] / all_["seconds"] / cores,
        "motion_s_per_cpu_s_of_all": all_["motion_s"] / all_["cpu_s"],
        "motion_s_per_cpu_s": one["motion_s"] / one["cpu_s"],
        "parent_peak_mb": many["peak_mb"],
        "parent_growth_kb_per_clip": growth_kb,
    }


def _cut(source: Path, folder: Path, count: int, frames: int | None) -> list[Path]:
    """Variants of a clip that start at other frames, all of it or so many ``frames``."""
    head, _, motion = source.read_text().partition("MOTION")
    _, frame_time, _, *rows = motion.strip().splitlines()  # the first row is a reference pose
    made = []
    for n in range(count):
        start = (n * CUT_FRAMES) % max(1, len(rows) - (frames or len(rows) // 2))
        some = rows[start : None if frames is None else start + frames]
        path = folder / f"{source.stem}_{frames}_{n}.bvh"
        path.write_text("\n".join((f"{head}MOTION", f"Frames: {len(some)}", frame_time, *some, "\n" * n)))
        made.append(path)
    return made


def _ingested(folder: Path, name: str, jobs: int, files: Sequence[Path]) -> dict[str, float]:
    place = folder / name
    place.mkdir()
    program = place / "ingest.py"
    program.write_text(CHILD)
    warm = place / "warm.bvh"
    warm.write_text(files[0].read_text() + "\n\n")
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(program), str(place), str(jobs), str(warm), *map(str, files)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parent, env=os.environ | threads)
    figures: dict[str, float] = json.loads(ran.stdout)
    return figures
