"""Retime a whole clip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Ints
from keypose.errors import OptionError
from keypose.model import Curves, FootContacts
from keypose.swings.edit.pieces import Piece, add_rests, build_track_without_rests, cut_rests, split_track
from keypose.swings.edit.time_map import TimeMap
from keypose.swings.model import Swings
from keypose.swings.path import Path
from keypose.swings.track import Track


def retime_swings(swings: Swings, time_map: TimeMap) -> Swings:
    """Return swings with all frames mapped: swings, rests, keys, paths and contacts."""
    n_frames = time_map.n_frames
    contacts = swings.contacts
    if contacts is not None:
        nearest = np.floor(time_map.source_times(np.arange(n_frames, dtype=np.float64)) + 0.5).astype(int)
        contacts = FootContacts(contacts.feet, contacts.in_contact[nearest])
    return replace(
        swings,
        n_frames=n_frames,
        tracks=tuple(_retime_track(track, time_map) for track in swings.tracks),
        paths=tuple(_retime_path(path, time_map) for path in swings.paths),
        contacts=contacts,
    )


def _retime_track(track: Track, time_map: TimeMap) -> Track:
    row = split_track(track)
    ends = np.array(sorted({frame for piece in row for frame in (piece.start, piece.end)}), np.int32)
    if len(ends) > time_map.n_frames:
        raise OptionError(
            f"{track.joint} has {track.n_swings} swings and {len(track.keyed)} keyed spans, which need at least "
            f"{len(ends)} frames; {time_map.n_frames} are too few"
        )
    new_frames = dict(
        zip(ends.tolist(), _separate_frames(time_map.map_frames(ends), time_map.n_frames).tolist(), strict=True)
    )
    new_row = [_retime_piece(track, piece, new_frames[piece.start], new_frames[piece.end], time_map) for piece in row]
    # adjacent rests stay adjacent
    rest_ends = np.minimum(time_map.map_frames(track.rest_ends + 1), time_map.n_frames) - 1
    return add_rests(
        build_track_without_rests(track, new_row),
        cut_rests(time_map.map_frames(track.rest_starts), rest_ends, new_row),
        track.rest_rotations,
    )


def _retime_piece(track: Track, piece: Piece, start: int, end: int, time_map: TimeMap) -> Piece:
    if piece.rotation_vector is not None:
        return replace(piece, frames=np.array((start, end), np.int32))
    if len(piece.frames) == piece.n_frames:  # a key on every frame stays one on every frame
        frames = np.arange(start, end + 1, dtype=np.int32)
        source_times = np.clip(time_map.source_times(frames.astype(np.float64)), piece.start, piece.end)
        source_times[0], source_times[-1] = piece.start, piece.end
        return replace(piece, frames=frames, rotations=track.sample(source_times))
    new_frames = np.clip(time_map.map_frames(piece.frames), start, end)
    new_frames[0], new_frames[-1] = start, end
    frames, key_indices = np.unique(new_frames, return_index=True)
    key_indices[-1] = len(new_frames) - 1  # of keys on the same frame the first remains, but the ends always do
    return replace(piece, frames=frames, rotations=piece.rotations[key_indices])


def _retime_path(path: Path, time_map: TimeMap) -> Path:
    """Return a path with keys moved and tangents scaled; with a key on every frame if it had one or keys collide."""
    keys = time_map.map_frames(path.keys)
    is_dense = len(keys) > 1 and not path.curves.is_cubic and (np.diff(path.keys) == 1).all()
    if is_dense or (np.diff(keys) == 0).any():
        frames = np.arange(time_map.n_frames, dtype=np.float64)
        return Path(path.joint, frames.astype(np.int32), Curves(path.sample(time_map.source_times(frames))[:, None]))
    curves = path.curves
    if curves.in_tangents is None or curves.out_tangents is None:
        return Path(path.joint, keys, curves)
    factor = (np.diff(path.keys) / np.diff(keys))[:, None, None]
    in_tangents, out_tangents = curves.in_tangents.copy(), curves.out_tangents.copy()
    out_tangents[:-1] *= factor
    in_tangents[1:] *= factor
    return Path(path.joint, keys, Curves(curves.values, in_tangents, out_tangents))


def _separate_frames(frames: Ints, n_frames: int) -> Ints:
    """Return frames made distinct after rounding, within the clip."""
    steps = np.arange(len(frames))
    separated = np.maximum.accumulate(frames - steps) + steps
    return np.minimum(separated, n_frames - len(frames) + steps).astype(np.int32)
