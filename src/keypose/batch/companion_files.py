"""Keys and swings that are stored in the .kps file of a clip, and restored from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.file_discovery import KEYS_SUFFIXES, SWINGS_SUFFIXES, ClipFile, stem
from keypose.batch.storage_info import is_kps_file
from keypose.errors import FileError, OptionError
from keypose.formats import Limits, load_keyed, load_swings
from keypose.model import KeyedMotion, Motion
from keypose.storage import open_kps
from keypose.storage.detail import remove_detail
from keypose.swings import Swings

SAME_RATE = 1e-3  # relative: .0083333 s and 1/120 s count as equal


@dataclass(frozen=True)
class CompanionFile:
    """The file with the keys or swings of a clip; ``is_explicit`` if the user named it."""

    path: Path
    is_explicit: bool = False


@dataclass(frozen=True)
class Companions:
    """Keys and swings stored with the frames of a clip, and notes about them."""

    keyed: KeyedMotion | None = None
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
    if base.name.lower().endswith(KEYS_SUFFIXES + SWINGS_SUFFIXES):  # it would be its own companion
        return None
    names = (base.name.removesuffix(".gz"), stem(base.name))
    candidates = [base.with_name(name + suffix) for name in names for suffix in suffixes]
    existing = next((path for path in candidates if path.is_file()), None)
    if from_path is not None and existing is None:
        raise FileError(f"{candidates[0]}: no such file, expected what belongs to {file.path}")
    return None if existing is None else CompanionFile(existing, is_explicit=from_path is not None)


def load_frameless(path: Path, limits: Limits) -> KeyedMotion | Swings | None:
    """Return the keys or swings of a file that holds no frames; None for other files."""
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
    keyed, clip_swings = own.keyed, own.swings
    if keys_file is not None and (keyed is None or keys_file.is_explicit):
        loaded_keyed = load_keyed(keys_file.path, limits=limits)
        keyed = remove_detail(loaded_keyed, motion) if _check_match(loaded_keyed, motion, keys_file, notes) else keyed
    if swings_file is not None and (clip_swings is None or swings_file.is_explicit):
        loaded_swings = load_swings(swings_file.path, limits=limits)
        clip_swings = loaded_swings if _check_match(loaded_swings, motion, swings_file, notes) else clip_swings
    return Companions(keyed, clip_swings, tuple(notes))


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
            notes.append(f"the {kind} in {file.path.name} beside it are taken along")
        return True
    if file.is_explicit:
        raise OptionError(f"{file.path}: {mismatch}, so its {kind} are not those of {motion.name}")
    notes.append(f"the {kind} in {file.path.name} beside it stay there: {mismatch}")
    return False


def _find_mismatch(companion: KeyedMotion | Swings, motion: Motion) -> str:
    """Return how keys or swings differ from the clip; empty if they match."""
    if companion.skeleton.names != motion.skeleton.names:
        return "other joints than in the clip"
    if companion.n_frames != motion.n_frames:
        return f"{companion.n_frames} frames, in the clip {motion.n_frames}"
    if abs(companion.fps - motion.fps) > SAME_RATE * motion.fps:
        return f"{companion.fps:g} fps, in the clip {motion.fps:g}"
    return ""
