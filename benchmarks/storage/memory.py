"""Peak memory of playing a long clip second by second, in a separate process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import keypose as kp

NUMBER_BYTES = 8
LONG_S, SHORT_S, TINY_S = 600.0, 60.0, 1 / 15  # the last are two frames

CHILD = """
import sys
from pathlib import Path
import numpy as np
import keypose as kp

def status_kb(key):
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if key in line)

kp.open_kps(sys.argv[2]).motion()  # two frames: loads modules and caches
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
before = status_kb("VmRSS")
with kp.open_kps(sys.argv[1]) as stored:
    step = float(sys.argv[3])
    t, far = 0.0, 0.0
    while t < stored.duration_s:
        some = stored[t : t + step]
        far = max(far, float(np.abs(some.translations).max()))
        t += step
    print(status_kb("VmHWM") - before)
"""


@dataclass(frozen=True)
class Peak:
    """Memory in bytes beyond that after playing a clip of two frames."""

    seconds: float
    file_bytes: int
    clip_bytes: int  # all frames as numbers
    group_bytes: int  # those of one second
    peak_bytes: int  # second by second
    at_once_bytes: int  # all frames together


def build_long_clip(paths: list[Path], seconds: float = LONG_S) -> kp.Motion:
    """Concatenate clips, repeating from the first, up to ``seconds``."""
    motions, total = [], 0.0
    for path in cycle(paths):
        motions.append(kp.load(path))
        total += motions[-1].duration_s
        if total >= seconds:
            joined = kp.concatenate(motions)
            return joined[: round(seconds * joined.fps)]
    raise AssertionError("no clips")


def measure_peak(path: Path, tiny: Path) -> Peak | None:
    """Measure playing ``path`` after ``tiny``; None on systems without /proc/self/clear_refs."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    with kp.open_kps(path) as stored:
        seconds, frame_bytes = stored.duration_s, 7 * NUMBER_BYTES * stored.n_joints
        clip_bytes, group_bytes = frame_bytes * stored.n_frames, round(frame_bytes * stored.fps)
    by_second, at_once = (_peak_bytes(path, tiny, step) for step in (1.0, seconds))
    return Peak(seconds, path.stat().st_size, clip_bytes, group_bytes, by_second, at_once)


def _peak_bytes(path: Path, tiny: Path, step_s: float) -> int:
    command = [sys.executable, "-c", CHILD, path, tiny, str(step_s)]
    return 1024 * int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
