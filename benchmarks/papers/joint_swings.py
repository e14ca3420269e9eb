"""Chia, joint swings: error, threshold, stored size, search and edits, beside the figures of the thesis.

The 50, 100 and 160 motions of the thesis are of the CMU archive, as ours are, but it names none of them.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from benchmarks.measure import DATA
from benchmarks.papers.clips import JUMP, KICKS, MIXED, SWINGS, load_clip, nan_unless_real, remark_on_data
from benchmarks.papers.table import Row, print_table
from benchmarks.search.clips import is_data_present, labelled_clips
from benchmarks.search.protocol import rank_queries
from benchmarks.swings.run import AMC, FPS, NUMBER_BYTES, THRESHOLD, count_numbers_per_frame

import keypose as kp
from keypose.library.search.swing_overlap import build_swing_table, overlap_scores

CLIPS = tuple(f"swings/{name}" for name in SWINGS)
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.35, THRESHOLD, 0.5, 1.0, 2.0)
PAPER_ERROR = (25.50, 20.23, 40.65)  # degrees: mean, smallest and largest of about 50 motions
N_ANGLES = 62
PAPER_SIZE = 0.25
FIRST_MATCHES = (6, 12)  # of figures 26 and 27


def compare() -> dict[str, float]:
    return _compare_errors() | _compare_lengths() | _compare_sizes() | _compare_search() | _compare_edits()


def _compare_errors() -> dict[str, float]:
    """Compare the segmentation error with section 4.3, and its sweep over thresholds with figure 18.

    The thesis interpolates from swing to swing; with rests, the default, is a row of its own.
    """
    motions = [load_clip(name).at_fps(FPS) for name in CLIPS]
    errors = np.array(
        [[kp.swings(motion, value).error(motion, rests=False) for value in THRESHOLDS] for motion in motions]
    )
    default = errors[:, THRESHOLDS.index(THRESHOLD)]
    segmented = [(kp.swings(motion, THRESHOLD), motion) for motion in motions]
    per_angle = np.mean([swings.error(motion, per="angle", rests=False) for swings, motion in segmented])
    with_rests = np.mean([swings.error(motion) for swings, motion in segmented])
    mean, min_error, max_error = PAPER_ERROR
    rows = [
        Row(f"mean error at {THRESHOLD:g}", f"{mean:.2f} deg", f"{default.mean():.1f} deg",
            remark_on_data(CLIPS, f"{len(CLIPS)} clips at {FPS:g} fps here, about 50 motions there")),
        Row("smallest, largest error", f"{min_error}, {max_error}", f"{default.min():.1f}, {default.max():.1f}"),
        Row("error of one angle", f"{mean / N_ANGLES:.3f} deg", f"{per_angle:.2f} deg",
            "theirs is the length of a vector divided by its 62 angles; ours is the root mean square"),
        Row("mean error with rests, the default", "", f"{with_rests:.1f} deg",
            "the thesis stores rests and does not play them"),
    ]  # fmt: skip
    means = errors.mean(axis=0)
    best = THRESHOLDS[int(means.argmin())]
    remarks = {0.0: "hardly any swings; theirs is high, too", best: "the least"}
    rows += [
        Row(f"threshold {threshold:g}", f"{mean:.2f}, the least" if threshold == THRESHOLD else "[plot]",
            f"{value:.1f} deg", remarks.get(threshold, ""))
        for threshold, value in zip(THRESHOLDS, means.tolist(), strict=True)
    ]  # fmt: skip
    print_table("Joint swings, section 4.3 and figure 18: segmentation error", rows)
    return {
        "swings_mean_error_deg": nan_unless_real(CLIPS, float(default.mean())),
        "swings_mean_error_with_rests_deg": nan_unless_real(CLIPS, float(with_rests)),
        "swings_threshold_of_min_error": nan_unless_real(CLIPS, best),
    }


def _compare_lengths() -> dict[str, float]:
    """Compare the lengths of swings with section 4.2."""
    lengths = [
        swing.end - swing.start for name in CLIPS for track in kp.swings(load_clip(name).at_fps(FPS)).tracks
        for swing in track.swings
    ]  # fmt: skip
    share = float(np.mean([15 <= length <= 25 for length in lengths]))
    low, middle, high = np.percentile(lengths, (25, 50, 75))
    rows = [
        Row("median length of a swing", "15 to 25 frames", f"{middle:.0f} frames", remark_on_data(CLIPS)),
        Row("middle half", "", f"{low:.0f} to {high:.0f}"),
        Row("of 15 to 25 frames", "[most]", f"{share:.0%}",
            "the thesis names neither its rate nor a count; wrists and neck count here, too"),
    ]  # fmt: skip
    print_table(f"Joint swings, section 4.2: {len(lengths)} swings at {FPS:g} fps", rows)
    return {"swings_median_frames": nan_unless_real(CLIPS, float(middle))}


def _compare_sizes() -> dict[str, float]:
    """Compare the size of stored swings with section 5.1."""
    paths = [DATA / "asf-amc" / f"{name}.amc" for name in AMC]
    if not all(path.exists() for path in paths):
        print_table("Joint swings, section 5.1: size", [Row("packed over raw", f"{PAPER_SIZE}", "", "clips absent")])
        return {"swings_packed_over_raw": math.nan}
    all_swings = [kp.swings(kp.load(path).at_fps(FPS), THRESHOLD) for path in paths]
    raw = [NUMBER_BYTES * count_numbers_per_frame(path) * swings.n_frames
           for path, swings in zip(paths, all_swings, strict=True)]  # fmt: skip
    sizes = [swings.size() for swings in all_swings]
    ratios = [size.total / raw_bytes for size, raw_bytes in zip(sizes, raw, strict=True)]
    total, without = sum(size.total for size in sizes) / sum(raw), sum(s.total - s.left_out for s in sizes) / sum(raw)
    rows = [
        Row("packed over raw, all clips", f"about {PAPER_SIZE}", f"{total:.3f}",
            f"{len(AMC)} AMC clips; raw: 4 bytes for each number of the file; about 100 motions there"),
        Row("of single clips", f"[always about {PAPER_SIZE}]", f"{min(ratios):.2f} to {max(ratios):.2f}"),
        Row("without fingers and toes", "", f"{without:.3f}", "which are stored frame by frame"),
    ]  # fmt: skip
    print_table("Joint swings, section 5.1: size of the stored swings", rows)
    return {"swings_packed_over_raw": total}


def _compare_search() -> dict[str, float]:
    """Compare the first matches with figures 26 and 27, by the same eight kinds of motion as the thesis."""
    if not is_data_present():
        print_table("Joint swings, section 5.2: search", [Row("first matches", "[all alike]", "", "clips absent")])
        return {f"swings_precision_{n}": math.nan for n in FIRST_MATCHES}
    clips = labelled_clips()
    tables = [build_swing_table(kp.swings(clip.motion())) for clip in clips]

    @cache
    def scores(query: int) -> np.ndarray:
        return overlap_scores(tables[query], tables, axes=True)

    ranked = rank_queries(lambda query, gallery: scores(query)[gallery], clips, "clip")
    runs = [each for each in ranked if clips[each.query].label == "running"]
    rows, figures = [], {}
    for n in FIRST_MATCHES:
        figures[f"swings_precision_{n}"] = float(np.mean([each.is_relevant[:n].mean() for each in ranked]))
        of_runs = float(np.mean([each.is_relevant[:n].mean() for each in runs]))
        ours = f"{figures[f'swings_precision_{n}']:.0%}; running {of_runs:.0%}"
        comment = "one run there; each clip is a query here, and its kind has 7 to 9 others" if n == 6 else (
            "also walks that lean to one side; here fewer clips are of the kind than are counted")  # fmt: skip
        rows.append(Row(f"of the first {n}, of the query's kind", "[all]" if n == 6 else "[most]", ours, comment))
    print_table(f"Joint swings, section 5.2: search among {len(clips)} clips of the 8 kinds; 160 motions there", rows)
    return figures


def _compare_edits() -> dict[str, float]:
    """Compare edits with figures 29 to 32: a longer swing, a lower kick, lower arms."""
    rows = []
    kicks, jump, mixed = (load_clip(name).at_fps(FPS) for name in (KICKS, JUMP, MIXED))

    def find_widest(edit: kp.SwingEdit, joint: str) -> kp.Swing:
        return max(edit.find(joint), key=lambda swing: swing.angle)

    edit = kp.swings(jump).edit(jump)
    before = find_widest(edit, "right_thigh")
    edit.lengthen(before, factor=1.3)
    after = find_widest(edit, "right_thigh")
    lengths = (before.end - before.start, after.end - after.start)
    rows.append(Row("29: a swing of the right thigh, longer", "[longer]", f"{lengths[0]} to {lengths[1]} frames",
                    remark_on_data(JUMP, "by 1.3")))  # fmt: skip

    edit = kp.swings(kicks).edit(kicks)
    swing = find_widest(edit, "right_thigh")
    edit.scale(swing, 0.7)
    span = slice(swing.start, swing.end)
    heights = [_top_mm(motion, "right_foot", span) for motion in (kicks, edit.play())]
    rows.append(Row("31: a kick of smaller angle, top of the foot's way", "[lower]",
                    f"{heights[0]:.0f} to {heights[1]:.0f} mm",
                    remark_on_data(KICKS, "angle 0.7 of that")))  # fmt: skip

    edit = kp.swings(mixed).edit(mixed)
    swings = edit.find(["left_upper_arm", "right_upper_arm"], wider_deg=40)
    edit.scale(swings, 0.6)
    played = edit.play()
    tops = [
        np.mean(
            [_top_mm(motion, swing.joint.replace("Arm", "Hand"), slice(swing.start, swing.end)) for swing in swings]
        )
        for motion in (mixed, played)
    ]
    rows.append(Row(f"32: {len(swings)} swings of both arms, top of the hands' way", "[lower]",
                    f"{tops[0]:.0f} to {tops[1]:.0f} mm",
                    remark_on_data(MIXED, "angles 0.6 of those, mean")))  # fmt: skip
    print_table("Joint swings, section 5.3: edits of swings, played over the capture", rows)
    return {
        "swings_longer_swing_over_before": nan_unless_real([JUMP], lengths[1] / lengths[0]),
        "swings_kick_lowered_mm": nan_unless_real([KICKS], heights[0] - heights[1]),
        "swings_arms_lowered_mm": nan_unless_real([MIXED], float(tops[0] - tops[1])),
    }


def _top_mm(motion: kp.Motion, joint: str, span: slice) -> float:
    """Return the greatest height of a joint above the lowest point of the motion, in mm on a figure of 1.7 m."""
    heights = motion.world_positions()[..., 1] * motion.mm_per_unit
    return float(heights[span, motion.joint(joint)].max() - heights.min())
