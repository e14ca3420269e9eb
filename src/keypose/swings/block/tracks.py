"""What each joint does, and where those are that move about."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import Curves
from keypose.rotations import log
from keypose.swings.block import turns
from keypose.swings.block.reader import Reader
from keypose.swings.block.writer import Writer
from keypose.swings.parts import KeyedSpan
from keypose.swings.path import Path
from keypose.swings.track import Track

SWINGS, RESTS, RESTS_ARE_MEAN, KEYS = 1, 2, 4, 8  # what a track has
EVERY_FRAME, CUBIC = 4, 8  # beside the number of angles of keys
KEY_BYTES = 64  # of memory that one key takes when it is read


def write_track(out: Writer, track: Track, *, left_out: bool) -> None:
    """All but the mean rotation, which is in a table of all joints; keys of one that is left out count as that."""
    rests_are_mean = bool((np.float32(log(track.rest_rotations)) == np.float32(log(track.mean_rotation))).all())
    has = SWINGS * bool(track.n_swings) | RESTS * bool(len(track.rest_starts)) | KEYS * bool(track.keyed)
    out.byte(has | RESTS_ARE_MEAN * (rests_are_mean and bool(has & RESTS)))
    if has & SWINGS:
        with out.counted_as("swings"):
            _write_spans(out, track.starts, track.ends)
            out.floats(np.concatenate((log(track.start_rotations), track.turns), axis=1))
    if has & RESTS:
        with out.counted_as("rests"):
            _write_spans(out, track.rest_starts, track.rest_ends)
            if not rests_are_mean:
                out.floats(log(track.rest_rotations))
    if has & KEYS:
        with out.counted_as("left_out" if left_out else "keys"):
            out.whole(len(track.keyed))
            for span in track.keyed:
                angles, numbers = turns.folded(span.rotations)
                _write_keys(out, span.frames, angles)
                out.floats(numbers)


def read_track(block: Reader, joint: str, mean_rotation: Floats, n_frames: int) -> Track:
    """The same back."""
    has = block.byte(f"what {joint} does", SWINGS | RESTS | RESTS_ARE_MEAN | KEYS)
    starts, ends = _read_spans(block, joint, n_frames, 26) if has & SWINGS else _NO_SPANS
    numbers = block.floats(len(starts), 6, f"swings of {joint}")
    still = 2 if has & RESTS_ARE_MEAN else 14
    rest_starts, rest_ends = _read_spans(block, joint, n_frames, still) if has & RESTS else _NO_SPANS
    if has & RESTS_ARE_MEAN:
        block.claim(len(rest_starts), KEY_BYTES, "rests")
        rests = np.tile(mean_rotation, (len(rest_starts), 1))
    else:
        rests = block.rotations(len(rest_starts), f"rests of {joint}")
    spans = block.count(f"keyed spans of {joint}", 15) if has & KEYS else 0
    return Track(
        joint,
        mean_rotation,
        starts,
        ends,
        block.as_rotations(numbers[:, :3], f"swings of {joint}"),
        numbers[:, 3:],
        rest_starts,
        rest_ends,
        rests,
        tuple(_read_keyed_span(block, joint, n_frames) for _ in range(spans)),
    )


_NO_SPANS: tuple[Ints, Ints] = (np.zeros(0, np.int32), np.zeros(0, np.int32))


def _write_spans(out: Writer, starts: Ints, ends: Ints) -> None:
    """How many, and from frame 0 on how far each start and end is from what was before."""
    out.whole(len(starts))
    out.wholes(np.diff(np.stack((starts, ends), axis=1).ravel(), prepend=0))


def _read_spans(block: Reader, joint: str, n_frames: int, least_bytes: int) -> tuple[Ints, Ints]:
    at = block.at
    steps = block.wholes(2 * block.count(f"spans of {joint}", least_bytes), f"spans of {joint}")
    edges = np.cumsum(steps)
    if edges[-1:].sum() >= n_frames:
        raise block.error(f"{joint}: something outside the clip, expected frames 0 to {n_frames - 1}", at)
    frames = edges.astype(np.int32)
    return frames[::2], frames[1::2]


def _read_keyed_span(block: Reader, joint: str, n_frames: int) -> KeyedSpan:
    frames, form = _read_keys(block, joint, n_frames, EVERY_FRAME | turns.FREE)
    what, angles = f"keys of {joint}", form & 3
    if angles == turns.FREE:
        return KeyedSpan(frames, block.rotations(len(frames), what))
    numbers = block.floats(1, turns.n_numbers(angles, len(frames)), what)[0]
    block.as_rotations(numbers[None, :3], what)
    return KeyedSpan(frames, turns.unfolded(angles, numbers, len(frames)))


def write_path(out: Writer, path: Path) -> None:
    """The keys of a path; only slopes that some span has, for before the first and after the last key nothing turns."""
    curves = path.curves
    _write_keys(out, path.keys, CUBIC * curves.is_cubic)
    out.floats(curves.values)
    if curves.arriving is not None and curves.leaving is not None:
        out.floats(curves.leaving[:-1])
        out.floats(curves.arriving[1:])


def read_path(block: Reader, joint: str, n_frames: int) -> Path:
    """The same back."""
    frames, form = _read_keys(block, joint, n_frames, EVERY_FRAME | CUBIC)
    keys = len(frames)
    values = block.floats(keys, 3, f"path of {joint}")[:, None]
    if not form & CUBIC:
        return Path(joint, frames, Curves(values))
    leaving, arriving = np.zeros((2, keys, 1, 3))
    leaving[:-1, 0] = block.floats(keys - 1, 3, f"slopes of {joint}")
    arriving[1:, 0] = block.floats(keys - 1, 3, f"slopes of {joint}")
    return Path(joint, frames, Curves(values, arriving, leaving))


def _write_keys(out: Writer, frames: Ints, form: int) -> None:
    """Frames of keys; where there is one on every frame, the first and how many."""
    every = len(frames) > 1 and int(frames[-1] - frames[0]) == len(frames) - 1
    out.byte(form | EVERY_FRAME * every)
    out.whole(len(frames))
    out.wholes(frames[:1] if every else np.diff(frames, prepend=0))


def _read_keys(block: Reader, joint: str, n_frames: int, known: int) -> tuple[Ints, int]:
    at, form = block.at, block.byte(f"the form of keys of {joint}")
    if form & ~known:
        raise block.error(f"the form of keys of {joint} is {form}, expected bits of {known}", at)
    keys = block.whole(f"the number of keys of {joint}", n_frames)
    if not keys:
        raise block.error(f"no keys of {joint}, expected at least one", at)
    if not form & EVERY_FRAME and keys > block.left:
        raise block.error(f"{keys} keys of {joint}, but {block.left} bytes are left", at)
    block.claim(keys, KEY_BYTES, f"keys of {joint}")
    if form & EVERY_FRAME:
        frames = block.wholes(1, f"keys of {joint}") + np.arange(keys)
    else:
        frames = np.cumsum(block.wholes(keys, f"keys of {joint}"))
    if frames[-1] >= n_frames:
        raise block.error(f"{joint}: a key outside the clip, expected frames 0 to {n_frames - 1}", at)
    return frames.astype(np.int32), form
