"""Matsuda & Kondo: keys per axis, overlap, and keys after reduction, beside their tables; and errors and paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from benchmarks.papers.clips import (
    CARTWHEEL,
    DANCE,
    JUMP,
    KICKS,
    LONG,
    MIXED,
    RUN,
    SWORD,
    TAKES,
    WALK,
    label,
    load_clip,
    nan_unless_real,
    remark_on_data,
)
from benchmarks.papers.table import Row, print_table

import keypose as kp
from keypose.arrays import Floats, runs
from keypose.features import compute_features
from keypose.methods.refine.curve import RefineOptions, find_joint_keys, find_max_errors
from keypose.rotations import angle_between

SIDED_PARTS = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
SPINE = ("hips", "spine", "spine1", "spine2", "neck", "head")
BODY_PARTS = [*SPINE, *(f"{side}_{part}" for side in ("left", "right") for part in SIDED_PARTS)]  # 18, as in the paper
WINDOWS = (  # clip, first frame at 30 fps, frames
    (KICKS, 13, 51),
    (KICKS, 176, 62),
    (MIXED, 227, 62),
    (MIXED, 540, 48),
    (CARTWHEEL, 48, 51),
    (SWORD, 461, 56),
)
DEFAULT = 0.13
# Threshold: overlap %, removed %, largest error of a curve / A, its median and 90 % of them; a prototype of the same
# definition.
REFERENCE = {
    0.0: (99.7, 41.3, 0.05, 0.13),
    0.06: (83.2, 43.6, 0.06, 0.13),
    DEFAULT: (69.3, 47.6, 0.06, 0.13),
    0.2: (59.3, 51.8, 0.06, 0.14),
    0.3: (49.2, 57.1, 0.07, 0.16),
    0.5: (39.3, 63.5, 0.11, 0.22),
    0.8: (32.9, 68.0, 0.15, 0.35),
}
OTHERS, REFERENCE_OTHERS = (WALK, RUN, JUMP, DANCE), (73.0, 46.0)  # the clips of the reference are not named
SPAN = 55  # frames at 30 fps: the mean of the windows
LIMBS = ("left_hand", "right_hand", "left_foot", "right_foot")
SPANS = (50, 100, 200, 500, 1000)  # frames at 30 fps
PAPER_BODY_PARTS = {
    "hip": "hips",
    "chest": "spine2",
    "neck": "neck",
    "head": "head",
    "shoulder (R)": "right_collar",
    "upper arm (R)": "right_upper_arm",
    "fore arm (R)": "right_forearm",
    "hand (R)": "right_hand",
    "shoulder (L)": "left_collar",
    "upper arm (L)": "left_upper_arm",
    "fore arm (L)": "left_forearm",
    "hand (L)": "left_hand",
    "thigh (R)": "right_thigh",
    "calf (R)": "right_shin",
    "foot (R)": "right_foot",
    "thigh (L)": "left_thigh",
    "calf (L)": "left_shin",
    "foot (L)": "left_foot",
}


class PaperRow(NamedTuple):
    """A row of tables 1 and 2."""

    frames: int
    axes: str  # heading/pitch/bank
    overlap: int
    keys: int
    printed_percent: float  # % removed


TABLES = {
    ("1, both hands thrust", KICKS, 13, 51): """
        51 15/9/20 33 25 51.0, 51 21/18/21 41 26 49.0, 51 21/22/21 40 28 45.1, 51 19/27/21 38 29 45.1,
        51 24/13/16 35 21 58.8, 51 18/20/20 34 29 43.1, 51 23/13/29 36 25 51.0, 25 9/11/9 12 10 60.0,
        51 24/32/16 44 31 39.2, 51 20/25/22 39 28 45.1, 51 23/23/19 37 27 47.1, 25 10/12/10 14 13 48.0,
        51 32/20/13 39 28 45.1, 51 18/23/14 33 27 47.1, 51 32/20/20 41 30 41.2, 51 26/16/16 35 26 49.0,
        51 17/21/20 36 25 51.0, 51 25/19/16 37 26 49.0""",
    ("2, swing 1", MIXED, 227, 62): """
        62 13/23/24 38 27 56.5, 62 23/24/32 51 31 50.0, 62 19/32/18 42 28 54.8, 62 18/33/22 44 30 51.6,
        62 21/18/27 41 24 61.3, 62 27/24/24 46 31 50.0, 62 29/23/29 44 35 43.5, 25 9/11/9 12 10 60.0,
        62 24/30/26 48 34 45.2, 62 25/27/26 47 30 51.6, 62 15/29/13 38 30 51.6, 25 10/12/10 14 13 48.0,
        62 47/27/27 56 30 51.6, 62 25/23/27 45 35 43.5, 62 35/30/21 53 36 41.9, 62 37/21/21 51 28 54.8,
        62 26/31/32 50 30 51.6, 62 28/35/18 54 30 51.6""",
}
PAPER_MEANS = {"1": ("20.9/19.1/17.9", 34.7, 25.2, 47.6), "2": ("23.9/25.2/22.6", 43.0, 28.4, 50.9)}
PAPER_ACTIONS = (54.0, 47.5, 43.8, 46.1, 46.3, 48.5, 48.9, 43.3, 47.9,  # table 3: % removed
                 43.8, 47.5, 49.1, 52.6, 47.6, 47.3, 49.8, 46.3, 51.7)  # fmt: skip


def compare() -> dict[str, float]:
    for (title, clip, start, frames), text in TABLES.items():
        _compare_body_parts(title, clip, _window(clip, start, frames), _parse_rows(text))
    return _compare_windows() | _compare_thresholds() | _compare_readings() | _measure_paths() | _measure_lengths()


def _parse_rows(text: str) -> list[PaperRow]:
    cells = [row.split() for row in text.split(",")]
    return [
        PaperRow(int(f), axes, int(overlap), int(n_keys), float(ratio)) for f, axes, overlap, n_keys, ratio in cells
    ]


def _window(clip: str, start: int, frames: int) -> kp.Motion:
    """Return a span of a clip at 30 frames a second; ``start`` wraps around in a shorter clip."""
    motion = load_clip(clip).at_fps(30)
    first = start % (motion.n_frames - frames)
    return motion[first : first + frames]


def _compare_body_parts(title: str, clip: str, motion: kp.Motion, paper: list[PaperRow]) -> None:
    joints = _joint_names(motion, list(PAPER_BODY_PARTS.values()))
    ours = {row.joint: row for row in kp.refine_table(motion, joints=joints).rows}
    rows = []
    for name, joint, theirs in zip(PAPER_BODY_PARTS, joints, paper, strict=True):
        row = ours[joint]
        still = int(np.count_nonzero(np.ptp(compute_features(motion, "euler", [joint]).values, axis=0) < 1e-6))
        remarks = [f"{still} of its axes do not turn here"] if still else []
        removed = 100 * (theirs.frames - theirs.keys) / theirs.frames
        if abs(removed - theirs.printed_percent) > 0.06:
            remarks.append(
                f"printed as {theirs.printed_percent}%, "
                f"but of {theirs.keys} in {theirs.frames} frames it is {removed:.1f}%"
            )
        if theirs.frames != motion.n_frames:
            remarks.append(f"theirs has {theirs.frames} frames")
        axes = "/".join(map(str, row.keys_per_axis))
        rows.append(Row(name, f"{theirs.axes:>8} {theirs.overlap} {theirs.keys} {theirs.printed_percent:.1f}%",
                        f"{axes:>8} {row.overlap:2} {row.keys:2} {row.removed_ratio:.1%}",
                        "; ".join(remarks)))  # fmt: skip
    mean = _refine_body_parts(motion)
    axes, overlap, keys, removed = PAPER_MEANS[title[0]]
    own_axes = "/".join(f"{count:.1f}" for count in mean.mean_keys_per_axis)
    rows.append(Row("average of 18 parts", f"{axes} {overlap} {keys} {removed}%",
                    f"{own_axes} {mean.mean_overlap:.1f} {mean.mean_keys:.1f} {mean.mean_removed_ratio:.1%}",
                    "ours has two more joints of the spine instead of the shoulders"))  # fmt: skip
    print_table(f"Curve refinement, table {title}: keys per axis, overlap, after reduction, removed; "
         f"ours: {remark_on_data(clip, 'another action, of ' + label(clip))}", rows)  # fmt: skip


def _compare_windows() -> dict[str, float]:
    """Compare the averages of all three tables with six windows of real clips."""
    percentages = []
    rows = []
    paper = [np.mean([100 * row.overlap / row.frames for row in _parse_rows(text)]) for text in TABLES.values()]
    for window, table in zip(WINDOWS, _tables(), strict=True):
        clip, start, frames = window
        percentages.append(_summarize([table]))
        rows.append(Row(f"{label(clip)} {start}:{frames}", "", _format(percentages[-1]), remark_on_data(clip)))
    paper_text = f"{paper[0]:.0f}, {paper[1]:.0f}%; 47.6, 50.9%"
    rows.append(Row("mean", paper_text, _format(np.mean(percentages, axis=0)), "tables 1 and 2; other actions here"))
    actions = f"{min(PAPER_ACTIONS)} to {max(PAPER_ACTIONS)}%, mean {np.mean(PAPER_ACTIONS):.1f}%"
    removed = [each[1] for each in percentages]
    rows.append(
        Row("removed, table 3", actions, f"{min(removed):.1f} to {max(removed):.1f}%", "18 actions there, 6 windows")
    )
    others = [load_clip(clip).at_fps(30) for clip in OTHERS]
    spans = [motion[at : at + SPAN] for motion in others for at in range(0, motion.n_frames - SPAN, 2 * SPAN)]
    own = [_summarize([_refine_body_parts(motion) for motion in motions]) for motions in (spans, others)]
    names = ", ".join(map(label, OTHERS))
    for title, summary in zip((f"every second {SPAN} frames", "whole"), own, strict=True):
        comment = f"{title} of {names}; reference on clips that it does not name {_format(REFERENCE_OTHERS)}"
        rows.append(Row("other clips", "", _format(summary), remark_on_data(OTHERS, comment)))
    print_table("Curve refinement, tables 1 to 3: overlap and removed, mean over 18 parts", rows)
    off = np.abs(np.subtract(own, REFERENCE_OTHERS)).max(axis=0)
    return {
        "refine_other_clips_overlap_off_reference": nan_unless_real(OTHERS, float(off[0])),
        "refine_other_clips_removed_off_reference": nan_unless_real(OTHERS, float(off[1])),
    }


def _compare_thresholds() -> dict[str, float]:
    """Compare overlap, removed frames and errors at several thresholds with the reference."""
    clips = [clip for clip, *_ in WINDOWS]
    rows, off, sums, own = [], [], [], {}
    for threshold, reference in REFERENCE.items():
        tables = _tables(threshold=threshold)
        own[threshold] = (*_summarize(tables), *_error_shares(tables))
        sums.append([sum(row.keys for row in table.rows) for table in tables])
        off.append(np.abs(np.subtract(own[threshold], reference)))
        paper = "47.6, 50.9% removed" if threshold == DEFAULT else "[the user's dial]"
        comment = f"reference {_format(reference[:2])}; {_format_errors(reference[2:])}"
        text = f"{_format(own[threshold][:2])}; {_format_errors(own[threshold][2:])}"
        rows.append(Row(f"threshold {threshold:g}", paper, text, remark_on_data(clips, comment)))
    rows.append(
        Row("keys of 18 parts, 6 windows", "", " ".join(str(sum(each)) for each in sums), "at these thresholds")
    )
    print_table("Curve refinement: overlap and removed, largest error of a curve / A, median (90 %)", rows)
    max_off = np.max(off, axis=0)
    figures = {
        "refine_overlap_off_reference": float(max_off[0]),
        "refine_removed_off_reference": float(max_off[1]),
        "refine_error_median_off_reference": float(max_off[2]),
        "refine_error_p90_off_reference": float(max_off[3]),
        "refine_error_median": own[DEFAULT][2],
        "refine_error_p90": own[DEFAULT][3],
        "refine_keys_gained_by_higher_threshold": float(np.max(np.diff(sums, axis=0))),
    }
    return {name: nan_unless_real(clips, figure) for name, figure in figures.items()}


def _compare_readings() -> dict[str, float]:
    """Show what other readings of the paper give on the same windows."""
    clips = [clip for clip, *_ in WINDOWS]
    rows = []
    for title, options, comment in (
        ("as it is", {}, ""),
        ("every extremum fixed", {"prominence": 0.0}, "as the paper words it"),
        ("relative to the range between keys", {"min_range": 0.0}, "without a minimum: noise becomes keys"),
    ):
        tables = _tables(**options)
        text = f"{_format(_summarize(tables))}; {_format_errors(_error_shares(tables))}"
        rows.append(Row(title, "47.6, 50.9% removed", text, comment))
    whole_runs = {threshold: _merge_whole_runs(threshold) for threshold in (0.0, DEFAULT, 0.5)}
    for threshold, (removed, errors) in whole_runs.items():
        rows.append(
            Row(f"rule 1 on whole runs, threshold {threshold:g}", "", f"{removed:.1f}%; {_format_errors(errors)}",
                "removed: a lower threshold must not remove more" if threshold == 0 else "")
        )  # fmt: skip
    print_table("Curve refinement, other readings: overlap and removed, largest error of a curve / A", rows)
    lower, default = whole_runs[0.0], whole_runs[DEFAULT]
    return {
        "refine_whole_runs_removed_lower_minus_default": nan_unless_real(clips, lower[0] - default[0]),
        "refine_whole_runs_error_p90": nan_unless_real(clips, default[1][1]),
    }


def _merge_whole_runs(threshold: float) -> tuple[float, tuple[float, float]]:
    """Return the removed percentage, and the errors, if rule 1 makes one key of any run of keys that are not fixed."""
    options = RefineOptions(threshold, 0.25, 0.01, 5, 0.05, 0.5)
    removed, errors = [], []
    for window in WINDOWS:
        motion = _window(*window)
        features = compute_features(motion, "euler", _joint_names(motion, BODY_PARTS))
        for joint in find_joint_keys(features, options):
            keys = joint.fixed.copy()
            for start, stop in runs(joint.overlap & ~joint.fixed):
                keys[(start + stop - 1) // 2] = True
            inner = np.flatnonzero(keys[:-2] & keys[1:-1] & keys[2:] & ~joint.fixed[1:-1]) + 1
            for frame in inner.tolist():
                keys[frame] = not keys[frame - 1]
            removed.append(100 * (1 - keys.mean()))
            frames = np.flatnonzero(keys).astype(np.int32)
            errors += find_max_errors(features.values[:, list(features.joints[joint.joint])], frames, 1e-6)
    shares = [error for error in errors if error is not None]
    return float(np.mean(removed)), (float(np.median(shares)), float(np.percentile(shares, 90)))


def _measure_paths() -> dict[str, float]:
    """Measure the reduced motion against the original: all joints, and the paths of hands and feet."""
    rows, means, shares = [], [], []
    motions = [
        (f"{label(clip)} {start}:{frames}", clip, _window(clip, start, frames)) for clip, start, frames in WINDOWS
    ]
    motions += [(f"{label(clip)}, {load_clip(clip).at_fps(30).n_frames}", clip, load_clip(clip).at_fps(30))
                for clip in LONG]  # fmt: skip
    for title, clip, motion in motions:
        keyed = kp.unbake(motion, per="joint", method="refine", threshold=DEFAULT, residual=False)
        reduced = keyed.sample()
        score, limbs = kp.score(motion, reduced), _measure_limbs(motion, reduced)
        means.append(limbs.mean_mm)
        shares.append(limbs.max_share)
        own = f"{score.mean_mm:.1f}, {score.max_mm:.0f} mm; {limbs.mean_mm:.1f}, {limbs.max_mm:.0f} mm"
        hips = motion.joint("hips")
        hips_range = np.ptp(motion.euler_curves()[:, hips], axis=0).max()
        hips_error = np.rad2deg(angle_between(motion.rotations[:, hips], reduced.rotations[:, hips])).max()
        comment = (
            f"{limbs.joint} at most {limbs.max_share:.1%} of its path's extent; "
            f"hips turn by {hips_range:.0f} degrees, error {hips_error:.0f}"
        )
        rows.append(Row(title, "[nearly equal]", own, remark_on_data(clip, comment)))
    rows.append(Row("median of these", "", f"hands and feet {np.median(means):.1f} mm",
                    f"the farthest point of a path is off by {np.median(shares):.1%} of its extent"))  # fmt: skip
    print_table(
        "Curve refinement, figures 13 and 14: mean, max distance of all joints; of hands and feet, at 30 fps", rows
    )
    clips = [clip for _, clip, _ in motions]
    return {
        "refine_limb_path_mean_mm": nan_unless_real(clips, float(np.median(means))),
        "refine_limb_path_max_share": nan_unless_real(clips, float(np.median(shares))),
    }


class Limbs(NamedTuple):
    """Distances of hands and feet from the original in mm, and the largest share of the extent of a path."""

    mean_mm: float
    max_mm: float
    max_share: float  # the largest distance, over the extent of the path of that joint relative to the hips
    joint: str


def _measure_limbs(motion: kp.Motion, reduced: kp.Motion) -> Limbs:
    joints = [motion.skeleton.joint(name) for name in LIMBS]
    original, other = motion.world_positions()[:, joints], reduced.world_positions()[:, joints]
    distance = motion.mm_per_unit * np.linalg.norm(other - original, axis=-1)
    relative = motion.mm_per_unit * (original - motion.world_positions()[:, [motion.skeleton.joint("hips")]])
    shares = distance.max(axis=0) / np.linalg.norm(np.ptp(relative, axis=0), axis=-1)
    return Limbs(float(distance.mean()), float(distance.max()), float(shares.max()), LIMBS[int(shares.argmax())])


def _measure_lengths() -> dict[str, float]:
    """Measure whether longer motion is reduced better: spans of takes of more than 1000 frames, and the whole takes."""
    takes = [load_clip(clip).at_fps(30) for clip in TAKES]
    rows, removed = [], []
    for length in (*SPANS, None):
        spans = [take[at : at + n] for take in takes for n in [length or take.n_frames]
                 for at in range(0, take.n_frames - n + 1, n)]  # fmt: skip
        tables = [_refine_body_parts(span) for span in spans]
        removed.append(100 * np.mean([table.mean_removed_ratio for table in tables]))
        keyed = [kp.unbake(span, per="joint", method="refine", residual=False) for span in spans]
        errors = np.mean([kp.score(span, each).mean_mm for span, each in zip(spans, keyed, strict=True)])
        title = f"spans of {length} frames" if length else "whole, " + ", ".join(str(take.n_frames) for take in takes)
        text = f"{removed[-1]:.1f}%; {errors:.1f} mm; {_format_errors(_error_shares(tables))}"
        rows.append(Row(title, "47.6, 50.9%" if length == 50 else "[better]" if not length else "", text))
    rows[-1] = rows[-1]._replace(comment=remark_on_data(TAKES, f"{', '.join(map(label, TAKES))} at 30 fps"))
    print_table("Curve refinement, longer motion: removed, mean error in mm, largest error of a curve / A", rows)
    return {"refine_removed_long_minus_short": nan_unless_real(TAKES, float(removed[-1] - removed[0]))}


def _tables(**options: float) -> list[kp.RefineTable]:
    """Return the tables of the windows."""
    return [_refine_body_parts(_window(*window), **options) for window in WINDOWS]


def _summarize(tables: Sequence[kp.RefineTable]) -> tuple[float, float]:
    """Return the mean overlap and removed keys in percent."""
    overlap, removed = zip(*((table.mean_overlap_ratio, table.mean_removed_ratio) for table in tables), strict=True)
    return 100 * float(np.mean(overlap)), 100 * float(np.mean(removed))


def _error_shares(tables: Sequence[kp.RefineTable]) -> tuple[float, float]:
    """Return the largest error of a curve as a share of its amplitude: the median, and what 90 % are within."""
    shares = [share for table in tables for share in table.max_error_ratios]
    return float(np.median(shares)), float(np.percentile(shares, 90))


def _format(percentages: Sequence[float] | Floats) -> str:
    return "{:.1f}, {:.1f}%".format(*percentages)


def _format_errors(shares: Sequence[float]) -> str:
    return "{:.2f} ({:.2f})".format(*shares)


def _refine_body_parts(motion: kp.Motion, **options: float) -> kp.RefineTable:
    return kp.refine_table(motion, joints=_joint_names(motion, BODY_PARTS), **options)


def _joint_names(motion: kp.Motion, body_parts: Sequence[str]) -> list[str]:
    """Return the joint names of the file; "head" and "spine" as selectors would mean whole groups."""
    skeleton = motion.skeleton
    return [skeleton.names[skeleton.anatomy.body_parts.index(part)] for part in body_parts]
