"""Reading a BVH file: speed against other packages and np.loadtxt, and peak memory."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import alternate, clip_path

CLIP = "cmu120/86_01_mixed-jumps-kicks-punches.bvh"

# Prints the increase of the peak memory when a file is loaded; the high-water mark of the kernel is reset first.
PEAK = """
import pathlib, sys
import keypose as kp

def status_bytes(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024

kp.load(sys.argv[1]).world_positions()
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = status_bytes("VmRSS")
m = kp.load(sys.argv[2])
print(status_bytes("VmHWM") - before, m.translations.nbytes + m.rotations.nbytes)
"""


def run() -> dict[str, float]:
    import bvh as bvh_package
    import bvhio
    from pymotion.io.bvh import BVH as PymotionBVH

    import keypose as kp
    from keypose import _core

    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        path = clip_path(CLIP, Path(folder))
        raw = path.read_bytes()
        start = raw.index(b"\n", raw.index(b"Frame Time:")) + 1
        lines = raw[start:].decode().splitlines()
        columns = len(lines[0].split())

        def pymotion() -> None:
            PymotionBVH().load(str(path))

        seconds = alternate(
            {
                "kp.load": lambda: kp.load(path),
                "pymotion": pymotion,
                "bvh": lambda: bvh_package.Bvh(path.read_text()),
                "np.loadtxt": lambda: np.loadtxt(lines),
                "parse_rows": lambda: _core.parse_rows(raw, start, columns, len(lines), 10**7),
            }
        )
        seconds |= alternate({"bvhio": lambda: bvhio.readAsBvh(str(path))}, rounds=1)
        tiny = Path(folder) / "tiny.bvh"
        kp.save(kp.load(path)[:2], tiny)
        process = subprocess.run([sys.executable, "-c", PEAK, tiny, path], capture_output=True, text=True, check=True)
        peak, result = map(int, process.stdout.split())
    megabytes = len(raw) / 1e6
    for name, value in seconds.items():
        print(f"   {name:<12} {1e3 * value:9.1f} ms {megabytes / value:8.1f} MB/s")
    print(f"   peak memory {peak / 1e6:.1f} MB for a file of {megabytes:.1f} MB and a result of {result / 1e6:.1f} MB")
    rivals = {name: seconds[name] for name in ("pymotion", "bvhio", "bvh")}
    return {
        "load_against_fastest_package": min(rivals.values()) / seconds["kp.load"],
        "load_against_loadtxt": seconds["np.loadtxt"] / seconds["kp.load"],
        "numbers_against_loadtxt": seconds["np.loadtxt"] / seconds["parse_rows"],
        "peak_beyond_result_in_files": (peak - result) / len(raw),
    }
