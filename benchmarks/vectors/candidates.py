"""Whether the clips that the index finds near hold what comparing everything finds best.

.venv/bin/python -m benchmarks.vectors.candidates
"""

from __future__ import annotations

import numpy as np
from benchmarks.search.clips import everything

from keypose.library.near import part_windows
from keypose.library.parts import PartGallery, PartTrack, describe_parts
from keypose.library.searching.pg_shelf import FEWEST_CLIPS, ROWS_EACH, some_windows

N_QUERIES = 100
LENGTHS_S = (1.0, 4.0)
LIMIT = 10
SEED = 0


def held() -> float:
    """The share of the best hits that are among the candidates."""
    tracks = [track for clip in everything() if (track := describe_parts(clip.motion())) is not None]
    gallery = PartGallery.of(tracks)
    windows = [part_windows(track) for track in tracks]
    rows, clips = np.concatenate(windows), np.repeat(np.arange(len(tracks)), [len(each) for each in windows])
    random = np.random.default_rng(SEED)
    found, wanted, sizes = 0, 0, []
    for own in random.choice(len(tracks), N_QUERIES, replace=False).tolist():
        query = _part(tracks[own], random)
        others = np.arange(len(tracks)) != own
        best = gallery.search(query, mirrored=query.mirrored(), among=others, limit=LIMIT)
        asked = np.concatenate([some_windows(part_windows(way)) for way in (query, query.mirrored())])
        away = (rows**2).sum(axis=1) - 2.0 * asked @ rows.T
        away[:, clips == own] = np.inf
        near = set(clips[np.argsort(away, axis=1)[:, : ROWS_EACH * FEWEST_CLIPS]].ravel().tolist())
        found += sum(match.clip in near for match in best)
        wanted += len(best)
        sizes.append(len(near))
    print(f"   {len(tracks)} clips, {len(rows)} windows; {N_QUERIES} parts of {LENGTHS_S[0]:g} to {LENGTHS_S[1]:g} s: "
          f"of the {LIMIT} best by comparing everything {found / wanted:.3f} are among the candidates, "
          f"{np.mean(sizes):.0f} clips on average")  # fmt: skip
    return found / wanted


def _part(track: PartTrack, random: np.random.Generator) -> PartTrack:
    length_s = random.uniform(*LENGTHS_S)
    start_s = random.uniform(0.0, max(track.duration_s - length_s, 0.01))
    return track.part(start_s, start_s + length_s)


if __name__ == "__main__":
    held()
