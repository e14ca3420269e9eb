"""The clips used in place of those of the papers; the demo motion replaces clips that are absent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from benchmarks.measure import DATA

import keypose as kp

WALK, RUN, CARTWHEEL = "07_05_walk", "38_03_run-circle", "49_06_cartwheel"
JUMP, DANCE, SWORD = "49_02_jump-hop", "131_04_dance-hop", "02_07_sword"
KICKS, MIXED, SHORT = "135_07_kicking", "86_01_mixed-jumps-kicks-punches", "09_01"
LONG = (WALK, RUN, CARTWHEEL, JUMP, DANCE, SWORD, KICKS, MIXED)
SWINGS = ("09_02", "09_03", "118_01", "127_03", "141_04", "16_02", "16_05", "16_09", "16_45", "35_18", "35_20", "49_04")
TAKES = (MIXED, "../cmu30/punching/13_17", "../cmu30/punching/14_02", "../cmu30/punching/14_03")  # of 1000 frames
TWENTY = (*LONG, *(f"swings/{name}" for name in SWINGS))


@cache
def load_clip(name: str) -> kp.Motion:
    """Return a clip at its own rate, mostly 120 frames a second, or the demo motion if it is absent."""
    return kp.load(DATA / "cmu120" / f"{name}.bvh") if is_real(name) else kp.demo_motion()


def is_real(*names: str) -> bool:
    """Return whether all of these clips are present."""
    return all((DATA / "cmu120" / f"{name}.bvh").exists() for name in names)


def label(name: str) -> str:
    """Return the short name of a clip: 135_07_kicking -> 135_07."""
    return "_".join(name.rpartition("/")[2].split("_")[:2])


def remark_on_data(names: Sequence[str] | str, comment: str = "") -> str:
    """Return the comment, with a note if the demo motion replaces absent clips."""
    clip_names = [names] if isinstance(names, str) else list(names)
    absent = [name for name in clip_names if not is_real(name)]
    if not absent:
        return comment
    scope = "" if len(clip_names) == 1 else f" for {len(absent)} of {len(clip_names)} clips"
    return f"{comment + '; ' if comment else ''}clip absent: the demo motion takes its place{scope}"


def nan_unless_real(names: Sequence[str], figure: float) -> float:
    """Return the figure, or NaN (not measured) if any of the clips is absent."""
    return figure if is_real(*names) else math.nan
