"""The tables of five papers beside ours."""

from __future__ import annotations

from benchmarks.papers import curve_saliency, isd, joint_swings, keyposes, salient_poses, streaming


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    for paper in (keyposes, salient_poses, curve_saliency, streaming, isd, joint_swings):
        figures |= paper.compare()
    print()
    return figures
