"""The header of a clip: name, frame rate, skeleton, and the lengths of its groups."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from keypose.kinematics import UPS, Up
from keypose.limits import Limits
from keypose.model import Pose, Skeleton
from keypose.options import MAX_FPS, MIN_FPS
from keypose.storage.groups import LOSSLESS, NO_FRAMES, WITHIN_TOLERANCE, CodingError, group_count
from keypose.storage.header.coder import EVEN_START, Coder, LimitExceeded
from keypose.storage.header.names import code_text, initial_letter_models
from keypose.storage.header.notes import pack_notes, unpack_notes
from keypose.storage.header.numbers import code_decimals, code_number
from keypose.storage.header.skeletons import code_pose, code_skeleton

COMMON_TOLERANCES_MM = (1.0, 0.1, 5.0, 0.5, 2.0, 10.0, 0.01)  # most frequent first
COMMON_FPS = (30.0, 60.0, 120.0, 24.0, 25.0, 50.0, 100.0)
COMMON_METRES_PER_UNIT = (None, 1.0, 0.01)
INITIAL_LENGTHS = {"pose": (40, 8), "body": (400, 256)}  # bytes: initial prediction and deviation
MAX_SEPARATE_NOTES = 100  # number of notes that are coded one by one; the others are joined into one text
MAX_NOTES = 1_000_000
NOTE_SEPARATOR = "\0"
COMMON_NOTES = ("frame 0 is a reference pose (T-pose), kept apart from the movement",)  # as files have it


@dataclass(frozen=True, eq=False)
class ClipHeader:
    """The contents of the header."""

    kind: int
    tolerance_mm: float | None  # if kind is WITHIN_TOLERANCE
    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    up: Up
    metres_per_unit: float | None
    first_frame: int
    reference_pose: Pose | None
    notes: tuple[str, ...]
    parameters_bytes: int  # length of the parameters that all groups share
    pose_bytes: tuple[int, ...]  # of each group
    body_bytes: tuple[int, ...]
    keys_bytes: int | None  # None: there are no keys
    swings_bytes: int | None
    source_tolerance_mm: float | None = None  # of the motion that was stored, if it came from a lossy file

    @property
    def n_groups(self) -> int:
        """Return the number of groups; 0 if the frames are played from keys or swings."""
        return len(self.pose_bytes)


def code_header(c: Coder, header: ClipHeader | None, limits: Limits, max_groups: int) -> ClipHeader:
    """Code a header: encode ``header``, or decode it if None; at most ``max_groups`` groups are accepted."""
    c.set_models(initial_letter_models())
    kind = _code_kind(c, None if header is None else header.kind)
    tolerance_or_none = None if header is None else header.tolerance_mm
    tolerance_mm = (
        _code_common_number(c, "tolerance", COMMON_TOLERANCES_MM, tolerance_or_none)
        if kind == WITHIN_TOLERANCE
        else None
    )
    fps = _code_common_number(c, "rate", COMMON_FPS, None if header is None else header.fps)
    if not MIN_FPS <= fps <= MAX_FPS:
        raise CodingError(f"{fps:g} frames per second")
    n_frames = c.code_natural("frames", None if header is None else header.n_frames - 1) + 1
    if n_frames > limits.frames:
        raise LimitExceeded(n_frames, "frames")
    n_groups = 0 if kind == NO_FRAMES else group_count(n_frames, fps)
    if n_groups > max_groups:
        raise CodingError(f"{n_groups} groups of frames, but there is room for {max_groups}")
    name = code_text(c, None if header is None else header.name)
    up = _code_up(c, None if header is None else header.up)
    metres_per_unit = _code_unit(c, header)
    first_frame = _code_first_frame(c, None if header is None else header.first_frame)
    skeleton = code_skeleton(c, None if header is None else header.skeleton, limits)
    has_reference_pose = c.code_flag(
        "reference pose", None if header is None else header.reference_pose is not None, EVEN_START
    )
    reference_pose = (
        code_pose(c, skeleton, None if header is None else header.reference_pose) if has_reference_pose else None
    )
    texts = _code_notes(
        c, None if header is None else pack_notes(header.notes, header.source_tolerance_mm, header.name)
    )
    notes, source_tolerance_mm = unpack_notes(texts)
    keys_bytes = _code_block_length(c, "keys", header, None if header is None else header.keys_bytes)
    swings_bytes = _code_block_length(c, "swings", header, None if header is None else header.swings_bytes)
    parameters_bytes = c.code_natural("coding", None if header is None else header.parameters_bytes)
    pose_bytes = _code_lengths(c, "pose", n_groups, None if header is None else header.pose_bytes)
    body_bytes = _code_lengths(c, "body", n_groups, None if header is None else header.body_bytes)
    return ClipHeader(
        kind, tolerance_mm, name, skeleton, fps, n_frames, up, metres_per_unit, first_frame, reference_pose, notes,
        parameters_bytes, pose_bytes, body_bytes, keys_bytes, swings_bytes, source_tolerance_mm,
    )  # fmt: skip


def _code_kind(c: Coder, kind: int | None) -> int:
    code = c.code_symbol("kind", 2, kind)
    if code > LOSSLESS:
        raise CodingError(f"frames of kind {code}")
    return code


def _code_common_number(c: Coder, context: str, common: tuple[float, ...], value: float | None) -> float:
    """Code a number that is often one of seven common ones."""
    code = c.code_symbol(context, 3, None if value is None else common.index(value) if value in common else len(common))
    return common[code] if code < len(common) else _code_number(c, ("other", context), value)


def _code_number(c: Coder, context: Hashable, value: float | None) -> float:
    return code_number(c, context, value, code_decimals(c, None if value is None else [value]))


def _code_up(c: Coder, up: Up | None) -> Up:
    if not c.code_flag("not Y up", None if up is None else up != "Y"):
        return "Y"
    code = c.code_symbol("up", 3, None if up is None else UPS.index(up))
    if code >= len(UPS):
        raise CodingError(f"up axis {code} of {len(UPS)}")
    return UPS[code]


def _code_unit(c: Coder, header: ClipHeader | None) -> float | None:
    value = None if header is None else header.metres_per_unit
    code = c.code_symbol(
        "unit",
        2,
        None
        if header is None
        else COMMON_METRES_PER_UNIT.index(value)
        if value in COMMON_METRES_PER_UNIT
        else len(COMMON_METRES_PER_UNIT),
    )
    return (
        COMMON_METRES_PER_UNIT[code]
        if code < len(COMMON_METRES_PER_UNIT)
        else _code_number(c, ("other", "unit"), value)
    )


def _code_first_frame(c: Coder, first: int | None) -> int:
    code = c.code_symbol("first frame", 2, None if first is None else first if first in (0, 1) else 2)
    return code if code < 2 else c.code_signed("other first frame", first, 6)


def _code_notes(c: Coder, notes: tuple[str, ...] | None) -> tuple[str, ...]:
    if notes is not None and len(notes) > MAX_NOTES:
        raise CodingError(f"{len(notes)} notes, more than {MAX_NOTES}")
    result: list[str] = []
    while c.code_flag("note", None if notes is None else len(result) < len(notes), EVEN_START):
        if (
            len(result) == MAX_SEPARATE_NOTES
            and (rest := _code_joined_notes(c, None if notes is None else notes[MAX_SEPARATE_NOTES:])) is not None
        ):
            return (*result, *rest)
        note = None if notes is None else notes[len(result)]
        if c.code_flag("usual note", None if note is None else note in COMMON_NOTES, EVEN_START):
            result.append(COMMON_NOTES[0])
        else:
            result.append(code_text(c, note))
    return tuple(result)


def _code_joined_notes(c: Coder, notes: tuple[str, ...] | None) -> list[str] | None:
    """Code all further notes in one text, or None if one of them contains the separator, so that they must be coded one
    by one."""
    joined = None if notes is None else NOTE_SEPARATOR.join(notes)
    can_join = None if notes is None or joined is None else joined.count(NOTE_SEPARATOR) == len(notes) - 1
    if not c.code_flag("notes together", can_join):
        return None
    joined_text = code_text(c, joined, by_letters=False)
    if (count := joined_text.count(NOTE_SEPARATOR) + 1) > MAX_NOTES - MAX_SEPARATE_NOTES:
        raise CodingError(f"{MAX_SEPARATE_NOTES + count} notes, more than {MAX_NOTES}")
    return joined_text.split(NOTE_SEPARATOR)


def _code_block_length(c: Coder, name: str, header: ClipHeader | None, length: int | None) -> int | None:
    if not c.code_flag(name, None if header is None else length is not None):
        return None
    return c.code_natural((name, "bytes"), length)


def _code_lengths(c: Coder, name: str, count: int, lengths: tuple[int, ...] | None) -> tuple[int, ...]:
    """Code the length of each section as its difference from the mean of those before."""
    guess, deviation = INITIAL_LENGTHS[name]
    result: list[int] = []
    total = 0
    for g in range(count):
        difference = c.code_near_zero(
            name, max(0, (deviation // (g + 1)).bit_length() - 1), None if lengths is None else lengths[g] - guess
        )
        result.append(guess + difference)
        if result[-1] < 0:
            raise CodingError(f"a {name} of {result[-1]} bytes")
        total += result[-1]
        deviation += abs(difference) if g else 0
        guess = total // (g + 1)
    return tuple(result)
