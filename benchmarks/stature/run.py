"""Statures by the lengths of bones: deviation from heights of reference and rest poses, and between takes."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA, unmeasured_figures

import keypose as kp
from keypose.arrays import Floats

SUFFIXES = (".bvh", ".amc", ".glb", ".gltf")
CMU_TAKE = re.compile(r"(\d+)_\d+")
ONE_ACTOR = "more-exporters/dataset-1_*.bvh"
POSES = ("reference_pose", "rest_pose")


def run() -> dict[str, float]:
    if not DATA.is_dir():
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("stature")
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    heights: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for path, motion in load_bodies():
        skeleton, source = motion.skeleton, motion.height_source
        take = CMU_TAKE.match(path.stem)
        heights[str(path.parent), take[1] if take else path.stem, source].append(motion.height)
        if source not in POSES:
            continue
        assert skeleton.stature is not None
        group = f"{'CMU' if take else 'others'}, {source}"
        head = skeleton.anatomy.body_parts.index("head") if "head" in skeleton.anatomy.body_parts else -1
        is_end = skeleton.end_joints == head
        has_top = bool(is_end.any()) and is_tall(skeleton)
        ratios["with the top of the head" if has_top else "without", group].append(skeleton.stature / motion.height)
        if has_top:
            bare = replace(skeleton, end_joints=skeleton.end_joints[~is_end], end_offsets=skeleton.end_offsets[~is_end])
            assert bare.stature is not None
            ratios["top of the head left out", group].append(bare.stature / skeleton.stature)
    for (head_end, group), values in sorted(ratios.items()):
        low, middle, high = np.percentile(values, (5, 50, 95))
        print(
            f"   {head_end:<26}{group:<24}{len(values):>5} files   5 % {low:.3f}   median {middle:.3f}   "
            f"95 % {high:.3f}   {min(values):.3f} to {max(values):.3f}"
        )
    spreads = [max(values) / min(values) - 1 for values in heights.values() if len(values) > 1]
    actor = [kp.load(path).height for path in sorted(DATA.glob(ONE_ACTOR))]
    print(f"   {len(spreads)} CMU subjects with several takes in a folder: heights within {100 * max(spreads):.2f} %")
    print(f"   one actor without such poses: heights {', '.join(f'{height:.1f}' for height in actor)}")
    with_top = np.concatenate([values for (head_end, _), values in ratios.items() if head_end.startswith("with the")])
    in_reference = [
        value
        for (head_end, group), values in ratios.items()
        if head_end.startswith("with the") and POSES[0] in group
        for value in values
    ]
    left_out = np.concatenate([values for (head_end, _), values in ratios.items() if head_end.startswith("top of")])
    return {
        "median_over_reference_pose": float(np.median(in_reference)),
        "largest_deviation": deviation(with_top),
        "largest_deviation_usual_head": deviation(left_out),
        "spread_of_takes": max(spreads),
        "spread_of_one_actor": max(actor) / min(actor) - 1 if actor else np.nan,
    }


def is_tall(skeleton: kp.Skeleton) -> bool:
    """Return whether the end of the head is far enough from its joint to be its top."""
    head = skeleton.anatomy.body_parts.index("head")
    bare = replace(skeleton, end_offsets=np.where((skeleton.end_joints == head)[:, None], 0.0, skeleton.end_offsets))
    return skeleton.stature != bare.stature


def deviation(ratios: Floats) -> float:
    """Return the largest deviation of ratios from 1."""
    return float(np.abs(ratios - 1.0).max())


def load_bodies() -> Iterator[tuple[Path, kp.Motion]]:
    """Yield the files of recognised bodies, without the damaged ones."""
    for path in sorted(DATA.rglob("*")):
        if not path.name.removesuffix(".gz").lower().endswith(SUFFIXES) or {"malformed", "mismatch"} & set(path.parts):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            try:
                motion = kp.load(path)
            except kp.FormatError:  # an AMC file without its skeleton
                continue
        if motion.skeleton.stature is not None:
            yield path, motion
