"""One-frame spikes of the capture: how many are found in real clips, and how many of those that are added to them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from benchmarks.measure import alternate, unmeasured_figures
from benchmarks.papers.clips import LONG, SHORT, is_real, load_clip
from benchmarks.search.clips import is_data_present, more

import keypose as kp
from keypose.curves.capture_faults import find_spikes, warn_of_spikes
from keypose.rotations import exp, multiply

STEP, HELD_OUT = 8, 5  # one clip in so many, from this one on; limits were tuned on those from number 0 on
LEAF_WORDS = ("Finger", "Thumb", "Toe", "Foot")
JOINTS = ("hips", "spine", "left_upper_arm", "right_forearm", "left_thigh", "right_shin", "head")
SIZES_MM = (20, 40, 80, 160)
PER_CLIP = 3  # spikes of each size that are added to a clip, each alone


def run() -> dict[str, float]:
    if not is_data_present() or not is_real(*LONG):
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("spikes")
    warnings.simplefilter("ignore", kp.FormatWarning)
    cmu120 = [load_clip(name) for name in (*LONG, SHORT)]
    held_out = [clip.motion() for clip in more()[HELD_OUT::STEP]]
    rates = {}
    for title, motions in (("120 fps, tuned", cmu120), ("30 fps, held out", held_out)):
        found = [(motion, fault) for motion in motions for fault in find_spikes(motion)]
        n_frames = sum(motion.n_frames for motion in motions)
        at_ends = [fault for _, fault in found if any(word in fault.joint for word in LEAF_WORDS)]
        rates[title] = (len(found) - len(at_ends)) / n_frames * 1000
        print(
            f"   {title}: {len(motions)} clips, {n_frames} frames, {len(found)} spikes, "
            f"{len(at_ends)} of them in fingers, thumbs, toes and feet"
        )
        for motion, fault in found:
            if fault not in at_ends:
                print(f"      {motion.name} {fault.first_frame}: {fault.joint} {fault.size_mm:.0f} mm")
    share = measure_check(cmu120[0][:300])
    print(f"   naming the spikes at 30 keys of 300 frames takes {share:.2%} of the time of kp.unbake")
    recalls = measure_recall(held_out)
    print("\n   share of added spikes that are found, held out clips")
    for size, (n_found, n_all) in recalls.items():
        print(f"   {size:>4} mm {n_found / n_all:6.2f} of {n_all}")
    return {
        "in_1000_frames_at_120_fps": rates["120 fps, tuned"],
        "in_1000_frames_held_out": rates["30 fps, held out"],
        "share_of_unbake": share,
        **{f"found_of_{size}_mm": n_found / n_all for size, (n_found, n_all) in recalls.items()},
    }


def measure_check(motion: kp.Motion) -> float:
    """Return the time of the check of 30 keys for spikes, relative to that of ``kp.unbake``, which contains it."""
    keys = kp.unbake(motion, keys=30).keys
    seconds = alternate(
        {"check": lambda: warn_of_spikes(motion, keys), "unbake": lambda: kp.unbake(motion, keys=30)}, rounds=20
    )
    return seconds["check"] / seconds["unbake"]


def measure_recall(motions: Sequence[kp.Motion]) -> dict[int, tuple[int, int]]:
    """Return how many of the spikes that are added to the motions are found in their frame, by size."""
    random = np.random.default_rng(0)
    n_found, n_all = Counter[int](), Counter[int]()
    for motion in motions:
        if motion.n_frames < 20:
            continue
        for size in SIZES_MM:
            for _ in range(PER_CLIP):
                frame = int(random.integers(5, motion.n_frames - 5))
                faulty = add_spike(motion, frame, str(random.choice(JOINTS)), size, random)
                n_all[size] += 1
                n_found[size] += any(fault.first_frame == frame for fault in find_spikes(faulty))
    return {size: (n_found[size], n_all[size]) for size in SIZES_MM}


def add_spike(motion: kp.Motion, frame: int, joint: str, size_mm: float, random: np.random.Generator) -> kp.Motion:
    """Return the motion with a joint turned in one frame so that it moves something by ``size_mm``; every second time
    the hips are shifted by as much, if it is their turn."""
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    j = motion.joint(joint)
    if joint == "hips" and random.random() < 0.5:
        translations = motion.translations.copy()
        translations[frame, j] += axis * size_mm / motion.mm_per_unit
        return replace(motion, translations=translations)
    low, high = 0.0, np.pi / 2
    for _ in range(30):  # the angle that moves the farthest point by the size
        angle = (low + high) / 2
        rotations = motion.rotations[frame : frame + 1].copy()
        rotations[0, j] = multiply(rotations[0, j], exp(angle * axis))
        turned = replace(motion[frame : frame + 1], rotations=rotations)
        moved = np.linalg.norm(turned.world_positions() - motion[frame : frame + 1].world_positions(), axis=-1).max()
        low, high = (angle, high) if moved * motion.mm_per_unit < size_mm else (low, angle)
    whole = motion.rotations.copy()
    whole[frame] = rotations[0]
    return replace(motion, rotations=whole)
