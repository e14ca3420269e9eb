"""Draw the pictures of the documentation from the demo motion: ``python tools/pictures.py``, into docs/pictures/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.pictures.chart import Axis, Line, Mark, chart

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def pictures() -> dict[str, Callable[[], kp.Picture]]:
    """Return the function that draws each picture, by file name."""
    m = kp.demo_motion(fps=60)
    twelve, keyed = kp.select(m, keys=12), kp.unbake(m, keys=40)
    kick = m.at_fps(30)[280:340]
    reduced = kp.unbake(kick, per="joint", method="refine", threshold=0.13)
    return {
        "demo-strip.svg": lambda: kp.strip(m, twelve),
        "demo-expanded.svg": lambda: kp.strip(m, twelve, layout="expanded"),
        "demo-time.svg": lambda: kp.strip(m, twelve, layout="time"),
        "demo-in-place.svg": lambda: kp.strip(m[560:680], kp.select(m[560:680], "farthest", keys=5), layout="in-place"),
        "demo-swings.svg": lambda: kp.timeline(kp.swings(m), keys=keyed),
        "demo-actions.svg": lambda: kp.timeline(kp.swings(m), actions=kp.swings(m).actions(m), joints=["arms", "legs"]),
        "demo-curves.svg": lambda: kp.plot_curves(m, kp.select(m, "saliency", joints="left_leg"), joints="left_leg"),
        "demo-reduced-curve.svg": lambda: draw_reduced_curve(m[200:440]),
        "demo-reduced-joints.svg": lambda: kp.plot_curves(
            kick, reduced=reduced, joints=["right_shin", "right_foot"], axes="xz"
        ),
        "demo-path.svg": lambda: kp.plot_path(kick, reduced, "right_foot"),
        "demo-errors.svg": lambda: kp.plot_errors(kp.ladder(m, max_keys=80)),
    }


def draw_reduced_curve(motion: kp.Motion) -> kp.Picture:
    """Draw the height of a hand: its samples, and the curve through a few keys."""
    times = np.arange(motion.n_frames) / motion.fps
    height = motion.world_positions()[:, motion.joint("left_hand"), 1] * motion.mm_per_unit
    curve = kp.reduce_curves(times, {"height": height}, tolerance=10.0)["height"]
    between = np.linspace(times[0], times[-1], 600)
    return chart(
        [Line("samples", times, height, "muted", width_px=4), Line("curve", between, curve.sample(between), "line0")],
        Axis("time", unit="s"),
        Axis("height of the left hand", unit="mm"),
        marks=[Mark(time, y=value, colour="line0") for time, value in zip(curve.times, curve.values, strict=True)],
        title=f"{len(curve)} keys for {len(times)} samples, error up to {curve.max_error:.1f} mm",
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in pictures().items():
        draw().save(FOLDER / name)
