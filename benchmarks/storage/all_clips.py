"""Store and read back every clip of the shared data; no error may exceed the tolerance.

    .venv/bin/python -m benchmarks.storage.all_clips                      # all of them within 1 mm, in two processes
    .venv/bin/python -m benchmarks.storage.all_clips --tolerance-mm 0.1 cmu120 c3d

FBX files are read where KEYPOSE_BLENDER_PYTHON names a Python with Blender's module.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import DATA
from benchmarks.storage.figure import largest_error_mm
from benchmarks.storage.one_clip import RAW_BYTES

import keypose as kp
from keypose.storage import encode_kps
from keypose.storage.error import largest_error, tolerance_mm_per_unit

SUFFIXES = (".bvh", ".gz", ".amc", ".c3d", ".glb", ".gltf", ".usda", ".fbx")
STEPS = 20  # of progress lines if the output is not a terminal


@dataclass(frozen=True)
class ClipResult:
    """Result of one file."""

    folder: str
    name: str
    seconds: float = 0.0  # of motion
    encode_s: float = 0.0  # of processor time
    raw_bytes: int = 0
    n_bytes: int = 0
    error: float = 0.0  # over the tolerance
    lossless: bool = False  # lossless coding was smaller
    unread: str = ""  # why the file contains no motion
    failure: str = ""


def store(path: Path, tolerance_mm: float) -> ClipResult:
    """Store the clip of a file, read it back and measure the error."""
    folder, name = path.relative_to(DATA).parts[0], str(path.relative_to(DATA))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            motion = kp.load(path)
        except kp.KeyposeError as error:
            return ClipResult(folder, name, unread=str(error))
    start = time.process_time()
    try:
        data = encode_kps(motion, tolerance_mm=tolerance_mm)
        encode_s = time.process_time() - start
        with kp.open_kps(data) as stored:
            back, lossless = stored.motion(), stored.lossless
    except Exception as error:  # any failure is reported; the other clips are still stored
        return ClipResult(folder, name, failure=f"{type(error).__name__}: {error}")
    relative_error = largest_error(motion, back).mm / tolerance_mm
    if (
        motion.height and tolerance_mm_per_unit(motion) == motion.mm_per_unit
    ):  # a second measure, for figures with height
        relative_error = max(relative_error, largest_error_mm(motion, back) / tolerance_mm)
    return ClipResult(
        folder,
        name,
        motion.duration_s,
        encode_s,
        RAW_BYTES * motion.n_joints * motion.n_frames,
        len(data),
        relative_error,
        lossless,
        failure="" if relative_error <= 1 else f"{relative_error:.4f} tolerances off",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage.all_clips")
    parser.add_argument("folders", nargs="*", help="of the shared data; all by default")
    parser.add_argument("--tolerance-mm", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    paths = find_files([DATA / folder for folder in options.folders] or [DATA])
    if not paths:
        print(f"no clips in {DATA}: set KEYPOSE_TEST_DATA")
        return 1
    results: list[ClipResult] = []
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for job in as_completed([pool.submit(store, path, options.tolerance_mm) for path in paths]):
            results.append(job.result())
            print_progress(len(results), len(paths), results[-1])
    print_table(results, options.tolerance_mm)
    return int(any(result.failure for result in results))


def find_files(folders: Sequence[Path]) -> list[Path]:
    """Return the files with motion, largest first."""
    suffixes = SUFFIXES if os.environ.get("KEYPOSE_BLENDER_PYTHON") else SUFFIXES[:-1]
    paths = {path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes}
    return sorted(paths, key=lambda path: (-path.stat().st_size * (4 if path.suffix == ".gz" else 1), path))


def print_progress(n_done: int, total: int, last: ClipResult) -> None:
    if last.failure:
        print(f"\r{last.name}: {last.failure}", flush=True)
    if sys.stdout.isatty():
        print(f"\r{n_done} of {total} files", end="\n" if n_done == total else "", flush=True)
    elif n_done * STEPS // total > (n_done - 1) * STEPS // total:
        print(f"{n_done} of {total} files", flush=True)


def print_table(results: Sequence[ClipResult], tolerance_mm: float) -> None:
    print(f"within {tolerance_mm:g} mm\n{'folder':<12}{'clips':>7}{'seconds':>9}{'ratio':>8}{'largest error':>15}"
          f"{'encoding':>10}{'lossless':>10}{'failed':>8}")  # fmt: skip
    for folder in [*sorted({each.folder for each in results}), "all"]:
        folder_results = [each for each in results if folder in (each.folder, "all") and not each.unread]
        encoded = [each for each in folder_results if each.n_bytes]
        if not folder_results:
            continue
        seconds = sum(each.seconds for each in encoded)
        ratio = sum(each.raw_bytes for each in encoded) / max(1, sum(each.n_bytes for each in encoded))
        encoding = sum(each.encode_s for each in encoded) / max(seconds, 1e-9)
        print(f"{folder:<12}{len(folder_results):>7}{seconds:>9.0f}{ratio:>8.1f}"
              f"{max((e.error for e in encoded), default=0):>15.6f}{encoding:>10.2f}"
              f"{sum(e.lossless for e in folder_results):>10}"
              f"{sum(bool(e.failure) for e in folder_results):>8}")  # fmt: skip
    unread = [each for each in results if each.unread]
    print(f"{len(unread)} files hold no motion that can be read")
    slow = sorted((each for each in results if each.seconds > 0.5), key=lambda each: each.encode_s / each.seconds)
    print("slowest: " + ", ".join(f"{e.name} {e.encode_s / e.seconds:.2f} s per second" for e in slow[:-4:-1]))


if __name__ == "__main__":
    sys.exit(main())
