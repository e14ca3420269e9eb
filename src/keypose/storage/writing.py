"""A motion, its keys or swings, to the bytes of a ``.kps`` file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion
from keypose.options import number
from keypose.storage.blocks import deflated
from keypose.storage.container import written
from keypose.storage.groups import NO_FRAMES, WITHIN_TOLERANCE, Coded, CodingError
from keypose.storage.head.clips import Clip
from keypose.swings import Swings
from keypose.swings.block.reader import shown
from keypose.swings.packed import pack

if TYPE_CHECKING:
    from keypose.storage.lossless import ChannelTable

DEFAULT_TOLERANCE_MM = 1.0
LEAST_TOLERANCE_MM, GREATEST_TOLERANCE_MM = 1e-3, 1e4
Progress = Callable[[float], None]  # told the part that is done, from 0 to 1


def stored_bytes(
    motion: Motion,
    *,
    tolerance_mm: float | None = None,
    lossless: bool = False,
    channels: ChannelTable | None = None,
    keys: bytes | None = None,
    swings: Swings | None = None,
    progress: Progress | None = None,
) -> bytes:
    """A file with every frame of ``motion``, within ``tolerance_mm`` (by default 1 mm) or ``lossless``.

    ``channels``: the numbers of the BVH file that the motion was read from, which a lossless file then keeps.
    ``keys``: the text of keys, and ``swings``: swings, that are kept beside the frames. ``progress`` is told what part
    is done.
    """
    if lossless and tolerance_mm is not None:
        raise OptionError(f"lossless=True and tolerance_mm={tolerance_mm!r}: a file keeps one or the other")
    tolerance = None if lossless else checked_tolerance(tolerance_mm)
    if tolerance is None:
        from keypose.storage.lossless import encode_lossless

        coded = encode_lossless(motion, channels)
    else:
        from keypose.storage.codec import encode

        coded = encode(motion, tolerance, progress=progress)
    kept = tolerance if coded.kind == WITHIN_TOLERANCE else None  # the codec may find that lossless takes no more
    return _file(motion, motion.n_frames, coded, kept, keys, swings)


def keys_bytes(keyed: KeyedMotion, text: bytes) -> bytes:
    """A file with keys only, of which ``text`` is the text."""
    return _file(keyed, keyed.n_frames, Coded(NO_FRAMES, b"", (), ()), None, text, None)


def swings_bytes(swings: Swings) -> bytes:
    """A file with swings only."""
    return _file(swings, swings.n_frames, Coded(NO_FRAMES, b"", (), ()), None, None, swings)


def checked_tolerance(tolerance_mm: Any) -> float:
    """The tolerance that is meant; None: the default one."""
    if tolerance_mm is None:
        return DEFAULT_TOLERANCE_MM
    return number("tolerance_mm", tolerance_mm, least=LEAST_TOLERANCE_MM, most=GREATEST_TOLERANCE_MM)


def _file(
    clip: Motion | KeyedMotion | Swings,
    n_frames: int,
    coded: Coded,
    tolerance_mm: float | None,
    keys: bytes | None,
    swings: Swings | None,
) -> bytes:
    keys_block = None if keys is None else deflated(keys)
    swings_block = None if swings is None else pack(swings)
    made = Clip(
        kind=coded.kind,
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
        coding_bytes=len(coded.clip),
        pose_bytes=tuple(map(len, coded.poses)),
        body_bytes=tuple(map(len, coded.bodies)),
        keys_bytes=None if keys_block is None else len(keys_block),
        swings_bytes=None if swings_block is None else len(swings_block),
    )
    try:
        return written(made, coded, keys_block, swings_block)
    except CodingError as error:
        raise OptionError(f"{shown(clip.name)}: {error}: more than a .kps file can hold; shorten its notes and names "
                          f"(dataclasses.replace(motion, notes=...))") from None  # fmt: skip
