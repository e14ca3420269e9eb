"""Build a track from a chain of swings and keys; rotations between keys that follow a found swing become swings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.rotations import conjugate, log, multiply
from keypose.swings.swing import KeyedSpan
from keypose.swings.track import Track

MIN_OVERLAP = 0.75  # share of the frames between two keys that lie in a found swing: then it is a part of that swing


def build_track(
    track: Track, swing_indices: Ints, frames: Ints, rotations: Floats, min_frames: int, min_speed: float
) -> Track:
    """Return ``track`` with only the swings ``swing_indices`` (N,) and keys at ``frames`` (K,), ``rotations`` (K, 4).

    From one key to the next the joint rotates at constant speed. If that is along a found swing, at least
    ``min_frames`` long and at least ``min_speed`` radians per frame fast, it becomes a swing, which replaces the two
    keys and plays the same. Rests are dropped where swings or keys cover their frames.
    """
    group = np.searchsorted(track.starts[swing_indices], frames).astype(
        np.int32
    )  # keys that no swing separates have the same
    rotation_vectors = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    new_swings = _find_new_swings(track, frames, rotation_vectors, group, min_frames, min_speed)
    starts = np.concatenate((track.starts[swing_indices], frames[new_swings]))
    order = np.argsort(starts)
    starts, ends = starts[order], np.concatenate((track.ends[swing_indices], frames[new_swings + 1]))[order]
    keyed = _keyed_spans(frames, rotations, group, new_swings)
    free_rests = _free_rests(track, starts, ends, keyed)
    return replace(
        track,
        starts=starts,
        ends=ends,
        start_rotations=np.concatenate((track.start_rotations[swing_indices], rotations[new_swings]))[order],
        rotation_vectors=np.concatenate((track.rotation_vectors[swing_indices], rotation_vectors[new_swings]))[order],
        rest_starts=track.rest_starts[free_rests],
        rest_ends=track.rest_ends[free_rests],
        rest_rotations=track.rest_rotations[free_rests],
        keyed=keyed,
    )


def _find_new_swings(
    track: Track, frames: Ints, rotation_vectors: Floats, group: Ints, min_frames: int, min_speed: float
) -> Ints:
    """Return the first keys of rotations that are swings; of two that share a key the wider one."""
    if len(frames) < 2 or not track.n_swings:
        return np.zeros(0, np.int32)
    first, last = frames[:-1], frames[1:]
    nearest = np.maximum(np.searchsorted(track.starts, (first + last) // 2, side="right") - 1, 0)
    overlap = np.minimum(last, track.ends[nearest]) - np.maximum(first, track.starts[nearest])
    angles = np.sqrt(np.einsum("nk,nk->n", rotation_vectors, rotation_vectors))
    fits = (
        (overlap >= MIN_OVERLAP * (last - first))
        & (last - first + 1 >= min_frames)
        & (angles >= min_speed * (last - first))
        & (group[:-1] == group[1:])
    )
    candidates = np.flatnonzero(fits)
    used_keys, chosen = set(), []
    for i in candidates[np.argsort(-angles[candidates], kind="stable")].tolist():
        if i not in used_keys and i + 1 not in used_keys:
            used_keys |= {i, i + 1}
            chosen.append(i)
    return np.array(sorted(chosen), np.int32)


def _keyed_spans(frames: Ints, rotations: Floats, group: Ints, new_swings: Ints) -> tuple[KeyedSpan, ...]:
    """Return spans of the keys that are not ends of swings, together where no swing lies between them."""
    key_indices = np.setdiff1d(np.arange(len(frames)), np.concatenate((new_swings, new_swings + 1)))
    if not len(key_indices):
        return ()
    cuts = np.flatnonzero((np.diff(key_indices) > 1) | (np.diff(group[key_indices]) > 0)) + 1
    edges = [0, *cuts.tolist(), len(key_indices)]
    return tuple(KeyedSpan(frames[key_indices[a:b]], rotations[key_indices[a:b]]) for a, b in pairwise(edges))


def _free_rests(track: Track, starts: Ints, ends: Ints, keyed: tuple[KeyedSpan, ...]) -> Bools:
    """Return flags (R,) of the rests that no swing and no keys cover."""
    firsts = np.sort(np.concatenate((starts, [span.start for span in keyed])))
    lasts = np.sort(np.concatenate((ends, [span.end for span in keyed])))
    next_item = np.searchsorted(lasts, track.rest_starts)
    return np.asarray(np.append(firsts, np.inf)[next_item] > track.rest_ends)
