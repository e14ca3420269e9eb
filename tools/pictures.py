"""Draw the pictures of the documentation from the demo motion: ``python tools/pictures.py``, into docs/pictures/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import keypose as kp

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def pictures() -> dict[str, Callable[[], kp.Picture]]:
    """Return the function that draws each picture, by file name."""
    m = kp.demo_motion(fps=60)
    twelve, keyed = kp.select(m, keys=12), kp.unbake(m, keys=40)
    return {
        "demo-strip.svg": lambda: kp.strip(m, twelve),
        "demo-expanded.svg": lambda: kp.strip(m, twelve, layout="expanded"),
        "demo-time.svg": lambda: kp.strip(m, twelve, layout="time"),
        "demo-in-place.svg": lambda: kp.strip(m[560:680], kp.select(m[560:680], "farthest", keys=5), layout="in-place"),
        "demo-swings.svg": lambda: kp.timeline(kp.swings(m), keys=keyed),
        "demo-curves.svg": lambda: kp.plot_curves(m, kp.select(m, "saliency", joints="left_leg"), joints="left_leg"),
        "demo-errors.svg": lambda: kp.plot_errors(kp.ladder(m, max_keys=80)),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in pictures().items():
        draw().save(FOLDER / name)
