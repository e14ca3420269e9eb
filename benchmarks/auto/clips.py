"""Every clip of the shared data with a recognised body, unbaked with the automatic number of keys.

.venv/bin/python -m benchmarks.auto.clips            # all of them; prints one row for each, and writes table.md
.venv/bin/python -m benchmarks.auto.clips cmu120     # some folders; prints only
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import DATA, HERE

import keypose as kp
from keypose.curves.capture_faults import flag_flips, list_flips
from keypose.library.canonical import canonical_body
from keypose.metrics import position_errors_mm

SUFFIXES = (".bvh", ".gz", ".amc", ".c3d", ".glb", ".gltf", ".usda", ".fbx")
MANY_ANIMATIONS = (".glb", ".gltf")  # formats whose files have several
MIN_FRAMES = 10
TOLERANCE_MM = 17.0  # 1 % of 1.7 m
TABLE = HERE / "auto" / "table.md"


@dataclass(frozen=True)
class ClipResult:
    """Keys and errors of one clip; errors in mm on a figure of 1.7 m."""

    name: str
    n_frames: int
    fps: float
    n_keys: int
    max_mm: float  # of joints that no flip of the capture moves
    flip_mm: float  # of joints that a flip moves; 0 if there are none
    flips: int  # frames of flips
    joints: str  # that flip
    seconds: float  # of processor time

    @property
    def folder(self) -> str:
        return self.name.split("/", 1)[0]


def unbake_file(path: Path) -> tuple[ClipResult, ...]:
    """Return the results of the clips of a file; a file that cannot be read, and other clips, have none."""
    return tuple(
        unbake_clip(str(path.relative_to(DATA)), motion) for motion in _load_motions(path) if _is_judged(motion)
    )


def _load_motions(path: Path) -> Iterator[kp.Motion]:
    options = [{"animation": index} for index in range(1000)] if path.suffix in MANY_ANIMATIONS else [{}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        for each in options:
            try:
                yield kp.load(path, **each)
            except kp.KeyposeError:  # no such animation, or no motion at all
                return


def _is_judged(motion: kp.Motion) -> bool:
    return motion.n_frames >= MIN_FRAMES and motion.height > 0 and canonical_body(motion[:1]) is not None


def unbake_clip(name: str, motion: kp.Motion) -> ClipResult:
    """Return the result of one motion."""
    start = time.process_time()
    keyed = kp.unbake(motion, threads=1, residual=False)
    seconds = time.process_time() - start
    flags = flag_flips(motion)
    errors = position_errors_mm(motion, keyed.sample())
    return ClipResult(
        name=name if motion.name in name else f"{name} {motion.name}",
        n_frames=motion.n_frames,
        fps=motion.fps,
        n_keys=keyed.n_keys,
        max_mm=float(errors.max(where=~flags.is_moved, initial=0.0)),
        flip_mm=float(errors.max(where=flags.is_moved, initial=0.0)),
        flips=int(flags.is_turned.any(axis=1).sum()),
        joints=", ".join(list_flips(motion)),
        seconds=seconds,
    )


def measure(folders: Sequence[str] = ()) -> list[ClipResult]:
    """Return the results of all clips, or of those in some folders, by name."""
    paths = sorted(path for path in DATA.rglob("*") if path.suffix in SUFFIXES)
    chosen = [path for path in paths if not folders or path.relative_to(DATA).parts[0] in folders]
    with ProcessPoolExecutor(2) as pool:
        return [result for results in pool.map(unbake_file, chosen, chunksize=4) for result in results]


def format_rows(results: Sequence[ClipResult]) -> list[str]:
    """Return a table of all clips in Markdown."""
    lines = [
        "| clip | frames | fps | keys | removed | largest mm | frames of flips | mm in flips | joints that flip |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for each in results:
        removed = 100 * (1 - each.n_keys / each.n_frames)
        cells = [each.name, each.n_frames, f"{each.fps:.4g}", each.n_keys, f"{removed:.1f} %", f"{each.max_mm:.1f}"]
        moved = f"{each.flip_mm:.1f}" if each.flip_mm else ""
        cells += [each.flips, moved, each.joints] if each.flips else ["", "", ""]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def main() -> None:
    results = measure(sys.argv[1:])
    lines = format_rows(results)
    print("\n".join(lines))
    if not sys.argv[1:]:
        TABLE.write_text("\n".join(["# The automatic number of keys of every clip", "", *lines, ""]))


if __name__ == "__main__":
    main()
