"""Recall of the index: the share of the best part-search hits that are in the clips the index returns.

.venv/bin/python -m benchmarks.vectors.candidates
"""

from __future__ import annotations

import numpy as np
from benchmarks.search.clips import all_clips

from keypose.library.search.part_gallery import PartGallery, PartTrack, build_part_track
from keypose.library.search.pgvector_index import MIN_CLIPS, ROWS_PER_CLIP, sample_windows
from keypose.library.search_vectors import part_windows

N_QUERIES = 100
LENGTHS_S = (1.0, 4.0)
LIMIT = 10
SEED = 0


def candidate_recall() -> float:
    """Return the share of the best exhaustive hits that are among the candidates of the index."""
    tracks = [track for clip in all_clips() if (track := build_part_track(clip.motion())) is not None]
    gallery = PartGallery.build(tracks)
    windows = [part_windows(track) for track in tracks]
    rows, clips = np.concatenate(windows), np.repeat(np.arange(len(tracks)), [len(each) for each in windows])
    random = np.random.default_rng(SEED)
    n_hits, n_best, sizes = 0, 0, []
    for query_clip in random.choice(len(tracks), N_QUERIES, replace=False).tolist():
        query = _random_span(tracks[query_clip], random)
        others = np.arange(len(tracks)) != query_clip
        best = gallery.search(query, mirrored=query.mirror(), is_allowed=others, limit=LIMIT)
        query_windows = np.concatenate(
            [sample_windows(part_windows(orientation)) for orientation in (query, query.mirror())]
        )
        distances = (rows**2).sum(axis=1) - 2.0 * query_windows @ rows.T
        distances[:, clips == query_clip] = np.inf
        near_clips = set(clips[np.argsort(distances, axis=1)[:, : ROWS_PER_CLIP * MIN_CLIPS]].ravel().tolist())
        n_hits += sum(match.clip in near_clips for match in best)
        n_best += len(best)
        sizes.append(len(near_clips))
    print(f"   {len(tracks)} clips, {len(rows)} windows; {N_QUERIES} parts of {LENGTHS_S[0]:g} to {LENGTHS_S[1]:g} s: "
          f"of the {LIMIT} best by comparing everything {n_hits / n_best:.3f} are among the candidates, "
          f"{np.mean(sizes):.0f} clips on average")  # fmt: skip
    return n_hits / n_best


def _random_span(track: PartTrack, random: np.random.Generator) -> PartTrack:
    length_s = random.uniform(*LENGTHS_S)
    start_s = random.uniform(0.0, max(track.duration_s - length_s, 0.01))
    return track.span(start_s, start_s + length_s)


if __name__ == "__main__":
    candidate_recall()
