"""A whole clip slower or faster: every frame number of it is moved alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Ints
from keypose.errors import OptionError
from keypose.model import Curves, FootContacts
from keypose.swings.editing.clock import Clock
from keypose.swings.editing.pieces import Piece, bare_track, cut_rests, pieces_of, with_rests
from keypose.swings.noun import Swings
from keypose.swings.path import Path
from keypose.swings.track import Track


def retimed(now: Swings, clock: Clock) -> Swings:
    """Everything on another clock: swings, rests, keys, paths and contacts."""
    n_frames = clock.n_frames
    contacts = now.contacts
    if contacts is not None:
        nearest = np.floor(clock.source(np.arange(n_frames, dtype=np.float64)) + 0.5).astype(int)
        contacts = FootContacts(contacts.feet, contacts.touching[nearest])
    return replace(
        now,
        n_frames=n_frames,
        tracks=tuple(_retimed_track(track, clock) for track in now.tracks),
        paths=tuple(_retimed_path(path, clock) for path in now.paths),
        contacts=contacts,
    )


def _retimed_track(track: Track, clock: Clock) -> Track:
    row = pieces_of(track)
    ends = np.array(sorted({frame for piece in row for frame in (piece.start, piece.end)}), np.int32)
    if len(ends) > clock.n_frames:
        raise OptionError(
            f"{track.joint} has {track.n_swings} swings and {len(track.keyed)} keyed spans, which need at least "
            f"{len(ends)} frames; {clock.n_frames} are too few"
        )
    goes_to = dict(zip(ends.tolist(), _in_order(clock.moved(ends), clock.n_frames).tolist(), strict=True))
    moved = [_retimed_piece(track, piece, goes_to[piece.start], goes_to[piece.end], clock) for piece in row]
    # one that ended where the next began is to do so again
    stops = np.minimum(clock.moved(track.rest_ends + 1), clock.n_frames) - 1
    return with_rests(
        bare_track(track, moved), cut_rests(clock.moved(track.rest_starts), stops, moved), track.rest_rotations
    )


def _retimed_piece(track: Track, piece: Piece, start: int, end: int, clock: Clock) -> Piece:
    if piece.turn is not None:
        return replace(piece, frames=np.array((start, end), np.int32))
    if len(piece.frames) == piece.n_frames:  # every frame is a key, and is to be one again
        frames = np.arange(start, end + 1, dtype=np.int32)
        came = np.clip(clock.source(frames.astype(np.float64)), piece.start, piece.end)
        came[0], came[-1] = piece.start, piece.end
        return replace(piece, frames=frames, rotations=track.sample(came))
    moved = np.clip(clock.moved(piece.frames), start, end)
    moved[0], moved[-1] = start, end
    frames, kept = np.unique(moved, return_index=True)
    kept[-1] = len(moved) - 1  # of keys that fall on one another the first stays, but the ends do in any case
    return replace(piece, frames=frames, rotations=piece.rotations[kept])


def _retimed_path(path: Path, clock: Clock) -> Path:
    """Keys moved, slopes per frame scaled with their spans; a key on every frame again if there was, or must be."""
    keys = clock.moved(path.keys)
    dense = len(keys) > 1 and not path.curves.is_cubic and (np.diff(path.keys) == 1).all()
    if dense or (np.diff(keys) == 0).any():
        frames = np.arange(clock.n_frames, dtype=np.float64)
        return Path(path.joint, frames.astype(np.int32), Curves(path.sample(clock.source(frames))[:, None]))
    curves = path.curves
    if curves.arriving is None or curves.leaving is None:
        return Path(path.joint, keys, curves)
    factor = (np.diff(path.keys) / np.diff(keys))[:, None, None]
    arriving, leaving = curves.arriving.copy(), curves.leaving.copy()
    leaving[:-1] *= factor
    arriving[1:] *= factor
    return Path(path.joint, keys, Curves(curves.values, arriving, leaving))


def _in_order(frames: Ints, n_frames: int) -> Ints:
    """Frames that rounding may have put on one another, each apart from the next, the first and last in the clip."""
    steps = np.arange(len(frames))
    apart = np.maximum.accumulate(frames - steps) + steps
    return np.minimum(apart, n_frames - len(frames) + steps).astype(np.int32)
