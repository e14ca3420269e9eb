"""The tables of four papers beside ours."""

from __future__ import annotations

from benchmarks.papers import curve_saliency, isd, keyposes, salient_poses


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    for paper in (keyposes, salient_poses, curve_saliency, isd):
        figures |= paper.compare()
    print()
    return figures
