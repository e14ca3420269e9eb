"""``.kps``: compressed motions, within a maximum error or lossless; docs/kps.md describes the file.

``keypose.storage`` is the codec; this module defines its ``Format`` and the JSON text of its keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from keypose.errors import FormatError, ModelError, OptionError, format_count
from keypose.formats.base import RATE_HINT, SWINGS_HINT, UNBAKE_HINT, Format, SaveOptions, Source
from keypose.formats.json_common import check_sampled_size, format_document
from keypose.formats.keys_json import build_document
from keypose.formats.keys_json import read_keyed as read_keys_json
from keypose.formats.orientation import split_reference_pose
from keypose.limits import Limits
from keypose.model import KeyedMotion, Motion
from keypose.options import LoadOptions
from keypose.storage import StoredMotion, encode_kps, encode_kps_keys, encode_kps_swings
from keypose.storage.blocks import StoredKeys, remove_detail
from keypose.storage.byte_source import ByteReader, ByteSource
from keypose.storage.container import MAGIC, DescribeContent
from keypose.storage.header.notes import pack_keys_notes, pack_notes, unpack_keys_notes, unpack_notes
from keypose.swings import Swings
from keypose.validation import check_bool

FIRST_PRINTABLE_BYTE = 0x20  # the version byte is less; a text file may also start with the magic number
# The keys section of version 1 is the text of .keys.json, except for the names of three members, and for the tolerance
# and the place of the detail, which are stored with the notes.
_CURVE_MEMBERS = {"in_tangents": "arriving", "out_tangents": "leaving"}
_RESIDUAL_MEMBERS = {"rotations": "turns"}


def read(source: Source, options: LoadOptions) -> Motion:
    """Return the frames of a file; if it stores none, those sampled from its keys or played from its swings."""
    stored = _open_stored(source)
    if stored.has_frames:
        return split_reference_pose(_append_notes(stored.motion(), source), options.reference_pose)
    keyed = stored.keyed()
    clip = stored.swings() if keyed is None else keyed
    if clip is None:
        raise source.error("holds neither frames nor keys nor swings", code="missing_data")
    check_sampled_size(source, clip, options.fps)
    motion = clip.sample(fps=options.fps) if isinstance(clip, KeyedMotion) else clip.play(fps=options.fps)
    return split_reference_pose(_append_notes(motion, source), options.reference_pose)


def read_keyed(source: Source, options: LoadOptions) -> KeyedMotion:
    """Return the keyed motion that is stored in a file."""
    keyed = _open_stored(source).keyed()
    if keyed is None:
        raise source.error("holds no keys", code="missing_data", hint=UNBAKE_HINT)
    if options.fps is not None and options.fps != keyed.fps:
        raise OptionError(
            path=source.path,
            option="fps",
            option_class=LoadOptions,
            value=options.fps,
            expected=f"{keyed.fps:g}, which the file states",
            hint=RATE_HINT,
        )
    return keyed


def read_swings(source: Source, options: LoadOptions) -> Swings:
    """Return the swings that are stored in a file."""
    swings = _open_stored(source).swings()
    if swings is None:
        raise source.error("holds no swings", code="missing_data", hint=SWINGS_HINT)
    return swings


def _open_stored(source: Source) -> StoredMotion:
    data = source.data
    return open_stored(ByteReader(str(source.path), len(data), lambda start, stop: data[start:stop]), source.limits)


def open_stored(
    source: ByteSource, limits: Limits, describe_content: DescribeContent = lambda start: None
) -> StoredMotion:
    """Open a stored motion; ``describe_content`` names the format of a file that is none, for the error."""
    return StoredMotion(source, limits, _parse_keys, describe_content)


def _append_notes(motion: Motion, source: Source) -> Motion:
    """Return the motion with the notes of the reader appended to its own."""
    return replace(motion, notes=(*motion.notes, *source.notes)) if source.notes else motion


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode every frame. The reference pose is stored separately, so it never becomes a frame."""
    for option, expected_type, extra in (("keyed", KeyedMotion, options.keyed), ("swings", Swings, options.swings)):
        if extra is not None:
            _check_matches(motion, option, expected_type, extra)
    keys = None if options.keyed is None else format_keys(remove_detail(options.keyed, motion))
    return encode_kps(
        motion,
        tolerance_mm=options.tolerance_mm,
        lossless=check_bool("lossless", options.lossless),
        keys=keys,
        swings=options.swings,
    )


def _check_matches(motion: Motion, option: str, expected_type: type, extra: KeyedMotion | Swings) -> None:
    if not isinstance(extra, expected_type):
        raise OptionError(f"{option}={type(extra).__name__}", expected=expected_type.__name__)
    if extra.skeleton.names != motion.skeleton.names or extra.n_frames != motion.n_frames:
        raise OptionError(
            f"of {format_count(extra.n_frames, 'frame')} and {format_count(extra.n_joints, 'joint')}",
            option=option,
            expected=f"one of this motion, which has {motion.n_frames} and {motion.n_joints}",
        )


def write_keyed(keyed: KeyedMotion, suffix: str, options: SaveOptions) -> bytes:
    """Encode keys and curves, without frames."""
    _reject_frame_options(keyed, "keyed.sample(), path, keyed=keyed", options)
    return encode_kps_keys(keyed, format_keys(StoredKeys(keyed)))


def write_swings(swings: Swings, suffix: str, options: SaveOptions) -> bytes:
    """Encode swings, without frames."""
    _reject_frame_options(swings, "swings.play(), path, swings=swings", options)
    return encode_kps_swings(swings)


def format_keys(keys: StoredKeys) -> bytes:
    """Return the JSON text of the keys section."""
    keyed = keys.keyed
    notes = pack_keys_notes(keyed.notes, is_detail_in_frames=keys.is_detail_in_frames)
    document = build_document(keyed)
    del document["tolerance_mm"]
    document["notes"] = list(pack_notes(notes, keyed.tolerance_mm, keyed.name))
    for channel in ("translations", "rotations"):
        document[channel] = [_rename_members(entry, _CURVE_MEMBERS) for entry in document[channel]]
    if document["residual"] is not None:
        document["residual"] = _rename_members(document["residual"], _RESIDUAL_MEMBERS)
    return format_document(document)


def _rename_members(entry: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in entry.items()}


def _reject_frame_options(clip: KeyedMotion | Swings, arguments: str, options: SaveOptions) -> None:
    if names := options.kps_only:
        raise OptionError(
            f"{', '.join(names)} for {type(clip).__name__}",
            expected="a Motion, as these are for frames",
            hint=f"to keep both: kp.save({arguments}, tolerance_mm=1.0)",
        )


def _parse_keys(text: bytes, path: str, limits: Limits) -> StoredKeys:
    """Parse the keyed motion of the JSON text in a ``.kps`` file; ``path`` is for messages."""
    for name, stored_name in (_CURVE_MEMBERS | _RESIDUAL_MEMBERS).items():
        # A quote inside a JSON string is escaped, so these bytes only occur as the name of a member.
        text = text.replace(f'"{stored_name}":'.encode(), f'"{name}":'.encode())
    text = text.replace(b'"notes":', b'"tolerance_mm":null,"notes":', 1)
    try:
        keyed = read_keys_json(Source(Path(path), text, limits), LoadOptions())
    except ModelError as error:
        raise FormatError(path, str(error), code="inconsistent") from None
    notes, tolerance_mm = unpack_notes(keyed.notes)
    is_detail_in_frames = False
    if keyed.residual is None:
        notes, is_detail_in_frames = unpack_keys_notes(notes)
    return StoredKeys(replace(keyed, notes=notes, tolerance_mm=tolerance_mm), is_detail_in_frames)


def _sniff(head: bytes) -> bool:
    return head.startswith(MAGIC) and len(head) > len(MAGIC) and head[len(MAGIC)] < FIRST_PRINTABLE_BYTE


FORMAT = Format(
    "Keypose storage",
    (".kps",),
    _sniff,
    read,
    write,
    read_keyed,
    write_keyed,
    read_swings=read_swings,
    write_swings=write_swings,
    has_tolerance=True,
    binary_suffixes=(".kps",),
    purpose="Keypose's own compact format.",
)
