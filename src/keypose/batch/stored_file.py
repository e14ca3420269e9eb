"""A .kps file as a whole: its figures, its damage, its keys and swings, and the comparison with its source."""

from __future__ import annotations

import gzip
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.batch.file_discovery import KEYS_SUFFIXES, SWINGS_SUFFIXES, ClipFile, stem
from keypose.errors import UNSET, FileError, FormatError, OptionError, format_count
from keypose.formats import Limits, bvh, kps, load_keyed, load_swings, open_kps
from keypose.formats.base import SNIFF_BYTES, Source, read_bytes, write_atomically
from keypose.formats.bvh.write import hierarchy_lines
from keypose.model import KeyedMotion, Motion
from keypose.storage import Damage, StoredMotion
from keypose.storage.blocks import StoredKeys, remove_detail
from keypose.storage.error import LargestError, largest_error, tolerance_mm_per_unit
from keypose.storage.group_reader import format_seconds, summarize_damage
from keypose.storage.groups import group_bounds
from keypose.storage.lossless import ChannelTable
from keypose.storage.lossless.layout import same_bits
from keypose.swings import Swings
from keypose.validation import check_regular_file

SAME_RATE = 1e-3  # relative difference of equal rates, such as .0083333 s and 1/120 s
RAW_BYTES = 40  # per joint and frame: rotation, translation and scale in float32, as engines count

HEADER_FIELDS = ("fps", "up", "metres_per_unit", "first_frame", "reference_pose", "skeleton")
IGNORED_FIELDS = ("notes",)  # as readers add notes
ROUNDING_TOLERANCE = 1e-6  # relative difference, a few times the rounding of 32-bit numbers
MAX_COMMANDS = 4  # restore commands in one message


@dataclass(frozen=True)
class CompanionFile:
    """The file with the keys or swings of a clip; ``is_explicit`` if the user named it."""

    path: Path
    is_explicit: bool = False


@dataclass(frozen=True)
class Companions:
    """Keys and swings stored with the frames of a clip, and notes about them."""

    keys: StoredKeys | None = None
    swings: Swings | None = None
    notes: tuple[str, ...] = ()


def find_companion(file: ClipFile, from_path: Path | None, suffixes: Sequence[str]) -> CompanionFile | None:
    """Return the file with one of ``suffixes`` that belongs to a clip; None if there is none.

    ``from_path`` is that file, or a folder with one file per clip, named after the clip. None searches beside the
    clip: ``walk.bvh.keys.json`` (written by ``save``), then ``walk.keys.json`` (written by ``unbake``).
    """
    if from_path is not None and not from_path.is_dir():
        return CompanionFile(from_path, is_explicit=True)
    base = file.path if from_path is None else from_path / file.relative
    if base.name.lower().endswith(KEYS_SUFFIXES + SWINGS_SUFFIXES):  # the file would be its own companion
        return None
    names = (base.name.removesuffix(".gz"), stem(base.name))
    candidates = [base.with_name(name + suffix) for name in names for suffix in suffixes]
    existing = next((path for path in candidates if path.is_file()), None)
    if from_path is not None and existing is None:
        raise FileError(
            "no such file", path=candidates[0], expected=f"what belongs to {file.path}", code="no_such_file"
        )
    return None if existing is None else CompanionFile(existing, is_explicit=from_path is not None)


def load_frameless(path: Path, limits: Limits) -> KeyedMotion | Swings | None:
    """Return the keys or swings of a file without frames; None for other files."""
    name = path.name.lower()
    if name.endswith(KEYS_SUFFIXES):
        return load_keyed(path, limits=limits)
    if name.endswith(SWINGS_SUFFIXES):
        return load_swings(path, limits=limits)
    if not is_kps_file(path):
        return None
    with open_kps(path, limits=limits) as stored:
        keyed = None if stored.has_frames else stored.keyed()
        return stored.swings() if keyed is None and not stored.has_frames else keyed


def load_companions(
    motion: Motion, source: Path, keys_file: CompanionFile | None, swings_file: CompanionFile | None, limits: Limits
) -> Companions:
    """Return the keys and swings in the clip's own file, or matching ones beside it; others are noted and ignored."""
    notes: list[str] = []
    own = _load_kps_companions(motion, source, limits) if is_kps_file(source) else Companions()
    keys, clip_swings = own.keys, own.swings
    if keys_file is not None and (keys is None or keys_file.is_explicit):
        loaded_keyed = load_keyed(keys_file.path, limits=limits)
        keys = remove_detail(loaded_keyed, motion) if _check_match(loaded_keyed, motion, keys_file, notes) else keys
    if swings_file is not None and (clip_swings is None or swings_file.is_explicit):
        loaded_swings = load_swings(swings_file.path, limits=limits)
        clip_swings = loaded_swings if _check_match(loaded_swings, motion, swings_file, notes) else clip_swings
    return Companions(keys, clip_swings, tuple(notes))


def _load_kps_companions(motion: Motion, source: Path, limits: Limits) -> Companions:
    """Return the keys and swings of a .kps file that is compressed again."""
    with open_kps(source, limits=limits) as stored:
        keyed = stored.keyed()
        return Companions(None if keyed is None else remove_detail(keyed, motion), stored.swings())


def _check_match(companion: KeyedMotion | Swings, motion: Motion, file: CompanionFile, notes: list[str]) -> bool:
    """Return whether keys or swings belong to this clip; add a note if they were found beside it."""
    kind = "keys" if isinstance(companion, KeyedMotion) else "swings"
    mismatch = _find_mismatch(companion, motion)
    if not mismatch:
        if not file.is_explicit:
            notes.append(f"the {kind} in {file.path.name} beside it are stored too")
        return True
    if file.is_explicit:
        raise OptionError(f"{mismatch}, so its {kind} are not those of {motion.name}", path=file.path)
    notes.append(f"the {kind} in {file.path.name} beside it are not stored: {mismatch}")
    return False


def _find_mismatch(companion: KeyedMotion | Swings, motion: Motion) -> str:
    """Return how keys or swings differ from the clip; empty if they match."""
    if companion.skeleton.names != motion.skeleton.names:
        return "other joints than in the clip"
    if companion.n_frames != motion.n_frames:
        return f"{format_count(companion.n_frames, 'frame')}, in the clip {motion.n_frames}"
    if abs(companion.fps - motion.fps) > SAME_RATE * motion.fps:
        return f"{companion.fps:g} fps, in the clip {motion.fps:g}"
    return ""


def load_channel_table(path: Path, motion: Motion, limits: Limits, *, is_kps: bool) -> ChannelTable | None:
    """Return the numbers of the BVH file from which a motion was read; None if there are none.

    ``is_kps``: ``path`` is a .kps file, which may contain the numbers of a BVH file.
    """
    if not is_kps:
        return read_channel_table(path, motion, limits=limits)
    with open_kps(path, limits=limits) as source:
        channels = source.channels()
    return channels if channels is not None and channels.matches_motion(motion) else None


def check_channel_table(stored: StoredMotion, channels: ChannelTable | None, path: Path) -> None:
    """Raise a FormatError unless the decoded numbers equal those of the original, bit for bit."""
    if channels is None:
        return
    decoded = stored.channels()
    if decoded is None or decoded.values.shape != channels.values.shape or decoded.frame_time != channels.frame_time:
        raise FormatError(
            path, "read back, it has not the numbers of the original although it is lossless", code="wrong_copy"
        )
    if not same_bits(decoded.values, channels.values).all():
        raise FormatError(
            path, "read back, some numbers of the original differ although it is lossless", code="wrong_copy"
        )


def save_channel_table(motion: Motion, channels: ChannelTable, path: Path, *, reference_pose: bool) -> None:
    """Write a BVH file with exactly these numbers, atomically."""
    data = write_verbatim(motion, channels, reference_pose=reference_pose)
    write_atomically(path, gzip.compress(data, 6, mtime=0) if path.name.lower().endswith(".gz") else data)


@dataclass(frozen=True)
class StorageInfo:
    """Figures of a .kps file besides those of its motion."""

    tolerance_mm: float | None  # None: lossless, or without frames
    source_tolerance_mm: float | None  # tolerance of the source, if it was compressed before
    lossless: bool
    has_frames: bool
    n_frames: int
    n_groups: int
    group_s: float
    keys: int | None  # number of keys; None without keys
    swings: int | None
    raw_bytes: int  # all joints and frames as plain numbers
    ratio: float | None  # raw bytes to file bytes; None if the file is damaged
    damage: tuple[Damage, ...]  # groups that cannot be read


def is_kps_file(path: Path) -> bool:
    """Return whether a file is a .kps file, by its first bytes; False if it cannot be read."""
    try:
        check_regular_file(path, "a .kps file")
        with path.open("rb") as file:
            return kps.FORMAT.sniff(file.read(SNIFF_BYTES))
    except (OSError, ValueError):
        return False


def build_storage_info(stored: StoredMotion, path: Path) -> StorageInfo:
    """Return the figures from the header of a file, and its damaged groups."""
    damage = stored.damage()
    are_companions_intact = all(each.group is not None or each.is_harmless for each in damage)
    keyed, swings = (stored.keyed(read_frames=False), stored.swings()) if are_companions_intact else (None, None)
    raw_bytes = RAW_BYTES * stored.skeleton.n_joints * stored.n_frames
    return StorageInfo(
        tolerance_mm=stored.tolerance_mm,
        source_tolerance_mm=stored.source_tolerance_mm,
        lossless=stored.lossless,
        has_frames=stored.has_frames,
        n_frames=stored.n_frames,
        n_groups=stored.n_groups,
        group_s=stored.group_s,
        keys=None if keyed is None else keyed.n_keys,
        swings=None if swings is None else swings.n_swings,
        raw_bytes=raw_bytes,
        ratio=None if damage else raw_bytes / path.stat().st_size,
        damage=damage,
    )


def load_storage_info(path: Path, limits: Limits) -> StorageInfo:
    """Open a file and return its figures."""
    with open_kps(path, limits=limits) as stored:
        return build_storage_info(stored, path)


def load_longest_intact_span(path: Path, limits: Limits) -> Motion:
    """Return the longest readable span of a damaged file."""
    with open_kps(path, limits=limits) as stored:
        spans = stored.intact_spans()
        if not spans:
            raise FormatError(path, "damaged throughout: nothing of it can be read", code="damaged")
        start, end = max(spans, key=lambda span: span[1] - span[0])
        return replace(stored[start:end], first_frame=stored.first_frame)


def check_motion(stored: StoredMotion, original: Motion, path: Path) -> LargestError | None:
    """Decode and compare every group; return the largest error, or None if the file is lossless.

    Raises a FormatError if the error exceeds the tolerance or anything else differs. One group at a time is in memory.
    """
    for name in HEADER_FIELDS:
        if not is_same(getattr(stored, name), getattr(original, name)):
            raise FormatError(
                path, f"read back, {name.replace('_', ' ')} differs from that of {original.name}", code="wrong_copy"
            )
    if stored.n_frames != original.n_frames:
        raise FormatError(
            path,
            f"read back, {format_count(stored.n_frames, 'frame')}, of {original.name} {original.n_frames}",
            code="wrong_copy",
        )
    if stored.lossless:
        _check_bits(stored, original, path)
        return None
    return _check_tolerance(stored, original, path)


def _check_tolerance(stored: StoredMotion, original: Motion, path: Path) -> LargestError:
    error = compute_largest_error(stored, original)
    if stored.tolerance_mm is not None and not error.mm <= stored.tolerance_mm:
        raise FormatError(
            path, f"read back, it is off by {error}, more than {stored.tolerance_mm:g} mm", code="wrong_copy"
        )
    return error


def compute_largest_error(stored: StoredMotion, original: Motion) -> LargestError:
    """Return the largest error over all groups."""
    scale = tolerance_mm_per_unit(original)
    worst: LargestError | None = None
    for start, stop in group_bounds(original.n_frames, original.fps):
        error = largest_error(original[start:stop], stored.frames(start, stop), mm_per_unit=scale)
        if worst is None or error.mm > worst.mm:
            worst = LargestError(error.mm, start + error.frame, error.joint, error.point)
    assert worst is not None
    return worst


def _check_bits(stored: StoredMotion, original: Motion, path: Path) -> None:
    for start, stop in group_bounds(original.n_frames, original.fps):
        decoded = stored.frames(start, stop)
        for name in ("translations", "rotations"):
            original_values, decoded_values = getattr(original, name)[start:stop], getattr(decoded, name)
            differs = _bits_of(original_values) != _bits_of(decoded_values)
            if differs.any():
                frame, joint = (int(i) for i in np.argwhere(differs)[0][:2])
                where = f"{original.skeleton.names[joint]} in frame {start + frame}"
                raise FormatError(path, f"read back, {name} differ although it is lossless: {where}", code="wrong_copy")


def _bits_of(values: Floats) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.ascontiguousarray(values, np.float64).view(np.int64)


def check_companions(stored: StoredMotion, keys: StoredKeys | None, swings: Swings | None, path: Path) -> None:
    """Raise a FormatError unless keys are unchanged, and swings equal within the rounding to 32 bits."""
    for companion, kind, decoded, is_rounded in (
        (keys, "keys", stored.stored_keys(), False),
        (swings, "swings", stored.swings(), True),
    ):
        if not is_same(companion, decoded, is_rounded=is_rounded):
            raise FormatError(path, f"read back, its {kind} differ from those that were stored", code="wrong_copy")


def is_same(first: Any, second: Any, *, is_rounded: bool = False) -> bool:
    """Return whether two values, dataclasses or arrays are equal; if ``is_rounded``, within 32-bit rounding."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return bool(first == second) or (
            is_rounded and bool(np.isclose(first, second, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE))
        )
    if type(first) is not type(second):
        return False
    if is_dataclass(first):
        names = [field.name for field in fields(first) if field.name not in IGNORED_FIELDS]
        return all(is_same(getattr(first, name), getattr(second, name), is_rounded=is_rounded) for name in names)
    if isinstance(first, np.ndarray):
        exact = not is_rounded or first.dtype.kind != "f"
        return first.shape == second.shape and bool(
            np.array_equal(first, second)
            if exact
            else np.allclose(first, second, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)
        )
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(
            is_same(a, b, is_rounded=is_rounded) for a, b in zip(first, second, strict=True)
        )
    return bool(first == second)


def describe_damage(stored: StoredMotion, damage: Sequence[Damage], source: Path, target: Path | None = None) -> str:
    """Return which groups are damaged and how, and the commands that restore the others."""
    damaged_groups = [each for each in damage if each.group is not None]
    other_damage = [each for each in damage if each.group is None]
    if not damaged_groups:
        if all(each.is_harmless for each in other_damage):
            return "; ".join(map(str, other_damage)) + "; all of the motion can be read"
        hint = f"; the frames are sound: {_restore_command(source, target or _default_target(source))} --no-keys"
        return "; ".join(map(str, other_damage)) + (hint if stored.has_frames else "")
    problems = [
        f"{len(damaged_groups)} of {format_count(stored.n_groups, 'group')} cannot "
        f"be read: {summarize_damage(damaged_groups)}",
        *map(str, other_damage),
    ]
    spans = stored.intact_spans()
    if not spans:
        return "; ".join(problems)
    base_target = target or _default_target(source)
    suffix = base_target.name[len(stem(base_target.name)) :]
    span_targets = [base_target.with_name(f"{stem(base_target.name)}_{n}{suffix}") for n in range(1, len(spans) + 1)]
    commands = [
        _restore_command(source, base_target if len(spans) == 1 else part) + _span_options(span, stored.duration_s)
        for part, span in zip(span_targets, spans[:MAX_COMMANDS], strict=False)
    ]
    more = f"; and {len(spans) - MAX_COMMANDS} more parts" if len(spans) > MAX_COMMANDS else ""
    return f"{'; '.join(problems)}; the rest can be restored: {'; '.join(commands)}{more}"


def _default_target(source: Path) -> Path:
    return source.with_name(f"{stem(source.name)}.bvh")


def _restore_command(source: Path, target: Path) -> str:
    return f"keypose restore {shlex.quote(str(source))} {shlex.quote(str(target))}"


def _span_options(span: tuple[float, float], duration_s: float) -> str:
    """Return the options that restore only this span, given in seconds."""
    start, end = span
    return (f" --from-s {format_seconds(start)}" if start > 0 else "") + (
        f" --to-s {format_seconds(end)}" if end < duration_s else ""
    )


def read_channel_table(
    path: str | PathLike[str], motion: Motion, *, limits: Limits | None = None
) -> ChannelTable | None:
    """Return the exact channel values of the BVH file from which ``motion`` was read; None if it is no BVH file.

    With them (``keypose.storage.encode_kps(motion, lossless=True, channels=...)``) angles beyond 180 degrees and in
    gimbal lock are stored, too.
    """
    limits = limits or Limits()
    source = _SilentSource(Path(path), read_bytes(Path(path), limits), limits)
    if not bvh.FORMAT.sniff(source.data[:SNIFF_BYTES]):
        return None
    values, frame_time = bvh.channel_values(source)
    table = ChannelTable(values, frame_time, int(motion.reference_pose is not None))
    if not table.matches_motion(motion):
        raise OptionError(
            f"{motion.name} is not what this file holds", path=path, hint="read it again or leave out channels="
        )
    return table


@dataclass
class _SilentSource(Source):
    """A file that was read before, so its notes and warnings are not repeated."""

    def note(self, text: str, *, code: str | None = None) -> None:
        """Do nothing."""

    def warn(self, problem: str, *, code: str, line: int | None = None, value: Any = UNSET) -> None:
        """Do nothing."""


def write_verbatim(motion: Motion, channels: ChannelTable, *, reference_pose: bool) -> bytes:
    """Return the text of a BVH file with ``channels`` as its numbers and the skeleton of ``motion``.

    With ``reference_pose`` the row of the reference pose is the first frame.
    """
    if not channels.matches_motion(motion):
        raise OptionError("not the numbers of this motion", subject=motion.name, option="channels")
    rows = channels.values if reference_pose else channels.values[channels.n_reference_rows :]
    lines = ["HIERARCHY", *hierarchy_lines(motion, list(motion.skeleton.channels), exact=True), "MOTION"]
    lines += [f"Frames: {len(rows)}", f"Frame Time: {channels.frame_time}", ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape") + _core.format_columns(rows, channels.decimals())
