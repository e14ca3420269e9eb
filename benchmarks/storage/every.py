"""Every clip of the shared data, stored and read back: none may be farther off than the tolerance.

    .venv/bin/python -m benchmarks.storage.every                      # all of them within 1 mm, in two processes
    .venv/bin/python -m benchmarks.storage.every --tolerance-mm 0.1 cmu120 c3d

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
from keypose.storage import stored_bytes
from keypose.storage.error import largest_error, mm_per_unit_of

SUFFIXES = (".bvh", ".gz", ".amc", ".c3d", ".glb", ".gltf", ".usda", ".fbx")
STEPS = 20  # of progress where nobody looks on


@dataclass(frozen=True)
class Found:
    """What became of one file."""

    folder: str
    name: str
    seconds: float = 0.0  # of motion
    encode_s: float = 0.0  # of processor time
    raw_bytes: int = 0
    n_bytes: int = 0
    error: float = 0.0  # over the tolerance
    lossless: bool = False  # whether that took fewer bytes
    unread: str = ""  # why the file holds no motion
    failure: str = ""


def store(path: Path, tolerance_mm: float) -> Found:
    """Stores the clip of a file and reads it back."""
    folder, name = path.relative_to(DATA).parts[0], str(path.relative_to(DATA))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            motion = kp.load(path)
        except kp.KeyposeError as error:
            return Found(folder, name, unread=str(error))
    start = time.process_time()
    try:
        data = stored_bytes(motion, tolerance_mm=tolerance_mm)
        took = time.process_time() - start
        with kp.open_kps(data) as stored:
            back, lossless = stored.motion(), stored.lossless
    except Exception as error:  # whatever it is, the other clips are stored all the same
        return Found(folder, name, failure=f"{type(error).__name__}: {error}")
    off = largest_error(motion, back).mm / tolerance_mm
    if motion.height and mm_per_unit_of(motion) == motion.mm_per_unit:  # a second measure, for figures with height
        off = max(off, largest_error_mm(motion, back) / tolerance_mm)
    return Found(
        folder,
        name,
        motion.duration_s,
        took,
        RAW_BYTES * motion.n_joints * motion.n_frames,
        len(data),
        off,
        lossless,
        failure="" if off <= 1 else f"{off:.4f} tolerances off",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage.every")
    parser.add_argument("folders", nargs="*", help="of the shared data; all by default")
    parser.add_argument("--tolerance-mm", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    paths = _files([DATA / folder for folder in options.folders] or [DATA])
    if not paths:
        print(f"no clips in {DATA}: set KEYPOSE_TEST_DATA")
        return 1
    found: list[Found] = []
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for job in as_completed([pool.submit(store, path, options.tolerance_mm) for path in paths]):
            found.append(job.result())
            _progress(len(found), len(paths), found[-1])
    _print(found, options.tolerance_mm)
    return int(any(each.failure for each in found))


def _files(folders: Sequence[Path]) -> list[Path]:
    """The clips, largest first."""
    asked = SUFFIXES if os.environ.get("KEYPOSE_BLENDER_PYTHON") else SUFFIXES[:-1]
    paths = {path for folder in folders for path in folder.rglob("*") if path.suffix in asked}
    return sorted(paths, key=lambda path: (-path.stat().st_size * (4 if path.suffix == ".gz" else 1), path))


def _progress(done: int, total: int, last: Found) -> None:
    if last.failure:
        print(f"\r{last.name}: {last.failure}", flush=True)
    if sys.stdout.isatty():
        print(f"\r{done} of {total} files", end="\n" if done == total else "", flush=True)
    elif done * STEPS // total > (done - 1) * STEPS // total:
        print(f"{done} of {total} files", flush=True)


def _print(found: Sequence[Found], tolerance_mm: float) -> None:
    print(f"within {tolerance_mm:g} mm\n{'folder':<12}{'clips':>7}{'seconds':>9}{'ratio':>8}{'largest error':>15}"
          f"{'encoding':>10}{'lossless':>10}{'failed':>8}")  # fmt: skip
    for folder in [*sorted({each.folder for each in found}), "all"]:
        own = [each for each in found if folder in (each.folder, "all") and not each.unread]
        stored = [each for each in own if each.n_bytes]
        if not own:
            continue
        seconds = sum(each.seconds for each in stored)
        ratio = sum(each.raw_bytes for each in stored) / max(1, sum(each.n_bytes for each in stored))
        encoding = sum(each.encode_s for each in stored) / max(seconds, 1e-9)
        print(f"{folder:<12}{len(own):>7}{seconds:>9.0f}{ratio:>8.1f}{max((e.error for e in stored), default=0):>15.6f}"
              f"{encoding:>10.2f}{sum(e.lossless for e in own):>10}{sum(bool(e.failure) for e in own):>8}")  # fmt: skip
    unread = [each for each in found if each.unread]
    print(f"{len(unread)} files hold no motion that can be read")
    slow = sorted((each for each in found if each.seconds > 0.5), key=lambda each: each.encode_s / each.seconds)
    print("slowest: " + ", ".join(f"{e.name} {e.encode_s / e.seconds:.2f} s per second" for e in slow[:-4:-1]))


if __name__ == "__main__":
    sys.exit(main())
