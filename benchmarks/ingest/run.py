"""Speed and peak memory of adding clips at 120 fps to a library; each run is a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import DATA, HERE, clip_path

VARIANTS = 5  # variants of each clip, each cut at another frame
# Factor per core for the parallel run, so that the time of process starts, which is included, is small.
MORE_VARIANTS = 3
CUT_FRAMES = 10
ROUNDS = 3
PARALLEL_ROUNDS = 2
FEW_CLIPS, MANY_CLIPS = 200, 1000
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
        report = library.add(files, jobs=int(jobs))
        seconds, cpu = time.perf_counter() - start, cpu_s() - began
        assert len(report.added) == len(files) and not report.failures, report.failures[:3]
    motion_s = sum(clip.duration_s for clip in report.added)
    print(json.dumps({"motion_s": motion_s, "seconds": seconds, "cpu_s": cpu, "peak_mb": peak_mb()}))
"""


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        sources = sorted((DATA / "cmu120").glob("*.bvh")) or [clip_path("cmu120/07_05_walk.bvh", Path(folder))]
        files = [path for source in sources for path in _write_variants(source, Path(folder), VARIANTS, None)]
        rounds = [_run_ingest(Path(folder), f"one_{n}", 1, files) for n in range(ROUNDS)]
        serial = min(rounds, key=lambda figures: figures["seconds"])
        cores = len(os.sched_getaffinity(0))
        many_variants = VARIANTS * MORE_VARIANTS * cores
        many_files = [path for source in sources for path in _write_variants(source, Path(folder), many_variants, None)]
        rounds = [_run_ingest(Path(folder), f"all_{n}", cores, many_files) for n in range(PARALLEL_ROUNDS)]
        parallel = min(rounds, key=lambda figures: figures["seconds"])
        short_files = [
            path
            for source in sources
            for path in _write_variants(source, Path(folder), MANY_CLIPS // len(sources) + 1, SHORT_FRAMES)
        ]
        few, many = (_run_ingest(Path(folder), f"short_{n}", 2, short_files[:n]) for n in (FEW_CLIPS, MANY_CLIPS))
    print(f"   {len(files)} clips, {serial['motion_s']:.0f} s of motion")
    print(f"   one process             {serial['motion_s'] / serial['seconds']:6.0f} s of motion per second, "
          f"{serial['motion_s'] / serial['cpu_s']:.0f} per second of processor time")  # fmt: skip
    print(f"   {cores} processes             {parallel['motion_s'] / parallel['seconds']:6.0f} s of motion per second, "
          f"{parallel['motion_s'] / parallel['cpu_s']:.0f} per second of processor time, their start included: "
          f"{len(many_files)} clips, {parallel['motion_s']:.0f} s of motion")  # fmt: skip
    growth_kb = 1024 * (many["peak_mb"] - few["peak_mb"]) / (MANY_CLIPS - FEW_CLIPS)
    print(f"   peak of the parent      {few['peak_mb']:6.0f} MB at {FEW_CLIPS} clips, {many['peak_mb']:.0f} MB "
          f"at {MANY_CLIPS}: {growth_kb:.1f} kB for each clip more")  # fmt: skip
    return {
        "motion_s_per_s_and_core": serial["motion_s"] / serial["seconds"],
        "motion_s_per_s_and_core_parallel": parallel["motion_s"] / parallel["seconds"] / cores,
        "motion_s_per_cpu_s_parallel": parallel["motion_s"] / parallel["cpu_s"],
        "motion_s_per_cpu_s": serial["motion_s"] / serial["cpu_s"],
        "parent_peak_mb": many["peak_mb"],
        "parent_growth_kb_per_clip": growth_kb,
    }


def _write_variants(source: Path, folder: Path, count: int, frames: int | None) -> list[Path]:
    """Write ``count`` variants of a clip that start at different frames; ``frames`` limits their length."""
    head, _, motion = source.read_text().partition("MOTION")
    _, frame_time, _, *rows = motion.strip().splitlines()  # the first row is a reference pose
    paths = []
    for n in range(count):
        start = (n * CUT_FRAMES) % max(1, len(rows) - (frames or len(rows) // 2))
        selected_rows = rows[start : None if frames is None else start + frames]
        path = folder / f"{source.stem}_{frames}_{n}.bvh"
        path.write_text(
            "\n".join((f"{head}MOTION", f"Frames: {len(selected_rows)}", frame_time, *selected_rows, "\n" * n))
        )
        paths.append(path)
    return paths


def _run_ingest(folder: Path, name: str, jobs: int, files: Sequence[Path]) -> dict[str, float]:
    run_folder = folder / name
    run_folder.mkdir()
    program = run_folder / "ingest.py"
    program.write_text(CHILD)
    warm = run_folder / "warm.bvh"
    warm.write_text(files[0].read_text() + "\n\n")
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(program), str(run_folder), str(jobs), str(warm), *map(str, files)]
    process = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=HERE.parent, env=os.environ | threads
    )
    figures: dict[str, float] = json.loads(process.stdout)
    return figures
