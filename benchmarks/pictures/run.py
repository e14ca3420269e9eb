"""Time to draw a strip of eight poses as SVG and as PNG."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import alternate, clip_path

import keypose as kp
from keypose.pictures.strip import LAYOUTS, strip

ROUNDS = 25


def run() -> dict[str, float]:
    with TemporaryDirectory() as folder:
        motion = kp.load(clip_path("cmu120/86_01_mixed-jumps-kicks-punches.bvh", Path(folder)))
    keys = kp.select(motion, "farthest", keys=8)
    picture = strip(motion, keys)
    seconds = alternate(
        {
            "svg": lambda: strip(motion, keys),
            "svg, first of a motion": lambda: strip(replace(motion), keys),
            "svg and png": lambda: strip(motion, keys).png(),
            "svg, 320 x 90 px": lambda: strip(motion, keys, size_px=(320, 90)),
        }
        | {f"svg, {layout}": lambda layout=layout: strip(motion, keys, layout=layout) for layout in LAYOUTS},  # type: ignore[misc]
        rounds=ROUNDS,
    )
    for name, value in seconds.items():
        print(f"   {name:<24} {1e3 * value:8.2f} ms")
    return {
        "strip_svg_ms": 1e3 * seconds["svg"],
        "strip_png_ms": 1e3 * seconds["svg and png"],
        "strip_svg_kilobytes": len(picture.svg) / 1000,
    }
