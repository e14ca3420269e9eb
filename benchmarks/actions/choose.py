"""Choose the labelled clips: ``python -m benchmarks.actions.choose`` prints their names.

Every clip shows another subject and lasts at most ``MAX_FRAMES``. For each theme, up to ``PER_THEME`` clips are drawn
at random among those whose class or description in the CMU index has one of its words; the rest are drawn among all
clips. The words serve only to have rare movements among the clips.
"""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

from benchmarks.measure import DATA
from benchmarks.search.clips import Clip, all_clips

SEED = 21
N_CLIPS = 40
PER_THEME = 2
MAX_FRAMES = 360  # 12 s
INDEX_TEXT = DATA / "text" / "cmu-mocap-index-text.txt"
LIST = Path(__file__).with_name("clips.txt")
# Rare themes first, as every subject is used once.
THEMES = (
    "climb|ladder|stairs?",
    "sit|sitting",
    "wave|direct traffic",
    "crouch(?:ed)?|squats?",
    "kick|ball_kick|spin kick",
    "reach|reach_\\w+",
    "stand(?:ing)?",
    "bend|bending|pick",
    "punching|boxing",
    "baseball_throw|golf_swing|swing",
    "turn|turns",
    "jump|jumping|hop",
    "dance|salsa",
    "run|running|jog",
    "walk|stylized_walk",
)


def choose_clips() -> tuple[Clip, ...]:
    """Return the chosen clips, by name."""
    texts = read_texts()
    clips = [clip for clip in all_clips() if count_frames(clip.path) <= MAX_FRAMES]
    random.Random(SEED).shuffle(clips)
    chosen: list[Clip] = []
    for theme in THEMES:
        pattern = re.compile(rf"\b(?:{theme})\b", re.IGNORECASE)
        matches = [clip for clip in clips if pattern.search(f"{clip.label} {texts.get(clip.name, '')}")]
        chosen += draw(matches, chosen, PER_THEME)
    chosen += draw(clips, chosen, N_CLIPS - len(chosen))
    return tuple(sorted(chosen, key=lambda clip: clip.name))


def draw(clips: list[Clip], chosen: list[Clip], count: int) -> list[Clip]:
    """Return the first ``count`` clips of subjects that are not chosen yet, one for each subject."""
    subjects = {clip.subject for clip in chosen}
    drawn: list[Clip] = []
    for clip in clips:
        if len(drawn) < count and clip.subject not in subjects:
            subjects.add(clip.subject)
            drawn.append(clip)
    return drawn


def read_texts() -> dict[str, str]:
    """Return the descriptions of the CMU index by the name of the clip."""
    text = INDEX_TEXT.read_text(encoding="utf-8", errors="replace")
    return dict(re.findall(r"^(\d+_\d+)\s+(.*)$", text, re.MULTILINE))


def count_frames(path: Path) -> int:
    """Return the number of frames that a BVH file states."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    match = re.search(rb"Frames:\s*(\d+)", content)
    if match is None:
        raise ValueError(f"{path.name}: no number of frames")
    return int(match[1])


def listed_clips() -> tuple[Clip, ...]:
    """Return the clips of ``clips.txt``."""
    clips = {clip.name: clip for clip in all_clips()}
    return tuple(clips[name] for name in LIST.read_text().split())


if __name__ == "__main__":
    for clip in choose_clips():
        print(clip.name)
