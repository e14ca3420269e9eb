"""Generated clips for a demo library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keypose.demo import demo_motion, footwork
from keypose.library.library import Library
from keypose.model import Motion

SOURCE = "keypose.demo_motion"
LICENCE = "MIT, as Keypose"

# Name: start and end in seconds, tags.
_CUTS = {
    "Walk along a curve": (footwork.WALK_S - 0.4, footwork.TURN_S, ("walk", "locomotion")),
    "First steps": (footwork.WALK_S - 0.6, footwork.WALK_S + 4 * footwork.STEP_S, ("walk", "start")),
    "Turn around": (footwork.TURN_S - 0.2, footwork.TURN_S + 2.2, ("turn",)),
    "Jump forward": (footwork.CROUCH_S - 0.7, footwork.ABSORB_S + 0.7, ("jump",)),
    "Landing": (footwork.TOUCH_S - 0.15, footwork.ABSORB_S + 0.7, ("jump", "landing")),
    "Front kick": (footwork.BACK_S + 0.3, footwork.STAND_S + 0.3, ("kick", "fight")),
    "Step back and kick": (footwork.BACK_S - 0.2, footwork.DOWN_S + 0.4, ("kick", "fight")),
    "Whole performance": (0.0, footwork.DURATION_S, ("walk", "turn", "jump", "kick")),
}


def add_demo_clips(library: Library) -> None:
    """Add the demo clips to a library."""
    for motion, tags in demo_clips():
        library.add(motion, tags=("demo", *tags), source=SOURCE, licence=LICENCE)


def demo_clips() -> Iterator[tuple[Motion, tuple[str, ...]]]:
    """Yield sections of the demo motion with their tags, at two frame rates and with a different sway."""
    for suffix, fps, seed in (("", 120.0, 0), (", 60 fps", 60.0, 1)):
        performance = demo_motion(fps, seed)
        for name, (start_s, end_s, tags) in _CUTS.items():
            cut = performance[round(start_s * fps) : min(round(end_s * fps) + 1, performance.n_frames)]
            yield replace(cut, name=f"{name}{suffix}"), tags
