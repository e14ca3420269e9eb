"""Encode a motion, keys or swings as the bytes of a ``.kps`` file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion
from keypose.options import OutputOptions, check_option_number
from keypose.storage.blocks import deflate_text, pack_swings
from keypose.storage.container import build_file
from keypose.storage.groups import NO_FRAMES, WITHIN_TOLERANCE, CodedFrames, CodingError
from keypose.storage.header.clip_header import ClipHeader
from keypose.swings import Swings
from keypose.swings.block.byte_io import escape_message

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable

DEFAULT_TOLERANCE_MM = 1.0
ProgressCallback = Callable[[float], None]  # called with the completed fraction, 0 to 1


def encode_kps(
    motion: Motion,
    *,
    tolerance_mm: float | None = None,
    lossless: bool = False,
    channels: ChannelTable | None = None,
    keys: bytes | None = None,
    swings: Swings | None = None,
    progress: ProgressCallback | None = None,
) -> bytes:
    """Return a file with every frame of ``motion``, within ``tolerance_mm`` (by default 1 mm) or ``lossless``.

    ``channels``: the numbers of the BVH file that the motion was read from, to be stored in a lossless file. ``keys``
    (text) and ``swings`` are stored in addition to the frames. ``progress`` is called with the completed fraction.
    """
    if lossless and tolerance_mm is not None:
        raise OptionError(
            "cannot be combined with lossless: a file has one or the other",
            option="tolerance_mm",
            value=tolerance_mm,
        )
    checked_tolerance_mm = None if lossless else check_tolerance_mm(tolerance_mm)
    if checked_tolerance_mm is None:
        from keypose.storage.lossless import encode_lossless

        coded_frames = encode_lossless(motion, channels)
    else:
        from keypose.storage.codec import encode

        coded_frames = encode(motion, checked_tolerance_mm, progress=progress)
    stored_tolerance_mm = (
        checked_tolerance_mm if coded_frames.kind == WITHIN_TOLERANCE else None
    )  # the codec may choose lossless coding if it needs no more bytes
    return _encode_file(motion, motion.n_frames, coded_frames, stored_tolerance_mm, keys, swings)


def encode_kps_keys(keyed: KeyedMotion, text: bytes) -> bytes:
    """Return a file with keys only; ``text`` is their JSON text."""
    return _encode_file(keyed, keyed.n_frames, CodedFrames(NO_FRAMES, b"", (), ()), None, text, None)


def encode_kps_swings(swings: Swings) -> bytes:
    """Return a file with swings only."""
    return _encode_file(swings, swings.n_frames, CodedFrames(NO_FRAMES, b"", (), ()), None, None, swings)


def check_tolerance_mm(tolerance_mm: Any) -> float:
    """Return the checked tolerance; None: the default."""
    if tolerance_mm is None:
        return DEFAULT_TOLERANCE_MM
    return check_option_number(OutputOptions, "tolerance_mm", tolerance_mm)


def _encode_file(
    clip: Motion | KeyedMotion | Swings,
    n_frames: int,
    coded_frames: CodedFrames,
    tolerance_mm: float | None,
    keys: bytes | None,
    swings: Swings | None,
) -> bytes:
    keys_block = None if keys is None else deflate_text(keys)
    swings_block = None if swings is None else pack_swings(swings)
    header = ClipHeader(
        kind=coded_frames.kind,
        tolerance_mm=tolerance_mm,
        name=clip.name,
        skeleton=clip.skeleton,
        fps=clip.fps,
        n_frames=n_frames,
        up=clip.up,
        metres_per_unit=clip.metres_per_unit,
        first_frame=clip.first_frame,
        reference_pose=clip.reference_pose,
        notes=clip.notes,
        source_tolerance_mm=clip.tolerance_mm,
        parameters_bytes=len(coded_frames.parameters),
        pose_bytes=tuple(map(len, coded_frames.poses)),
        body_bytes=tuple(map(len, coded_frames.bodies)),
        keys_bytes=None if keys_block is None else len(keys_block),
        swings_bytes=None if swings_block is None else len(swings_block),
    )
    try:
        return build_file(header, coded_frames, keys_block, swings_block)
    except CodingError as error:
        raise OptionError(
            f"{error}: more than a .kps file can hold",
            subject=escape_message(clip.name),
            hint="shorten its notes and names (dataclasses.replace(motion, notes=...))",
        ) from None
