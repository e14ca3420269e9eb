"""The clips that stand for those of the papers; where they are absent the demo motion takes their place."""

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
TWENTY = (*LONG, *(f"swings/{name}" for name in SWINGS))


@cache
def take(name: str) -> kp.Motion:
    """A clip at its own 120 frames a second."""
    return kp.load(DATA / "cmu120" / f"{name}.bvh") if is_real(name) else kp.demo_motion()


def is_real(*names: str) -> bool:
    """Whether all of these clips are here."""
    return all((DATA / "cmu120" / f"{name}.bvh").exists() for name in names)


def label(name: str) -> str:
    """135_07_kicking -> 135_07."""
    return "_".join(name.removeprefix("swings/").split("_")[:2])


def remark(names: Sequence[str] | str, comment: str = "") -> str:
    """The comment, which also says where the demo motion stands for a clip."""
    asked = [names] if isinstance(names, str) else list(names)
    absent = [name for name in asked if not is_real(name)]
    if not absent:
        return comment
    of = "" if len(asked) == 1 else f" for {len(absent)} of {len(asked)} clips"
    return f"{comment + '; ' if comment else ''}clip absent: the demo motion takes its place{of}"


def only_if_real(names: Sequence[str], figure: float) -> float:
    """A figure that means nothing on other clips: not a number, so that its promise is not judged."""
    return figure if is_real(*names) else math.nan
