"""Keys and swings that go along with a clip into its stored file, and come out of it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.inputs import KEYS_SUFFIXES, SWINGS_SUFFIXES, ClipFile, stem
from keypose.batch.storage_facts import is_stored
from keypose.errors import FileError, OptionError
from keypose.formats import Limits, load_keyed, load_swings
from keypose.model import KeyedMotion, Motion
from keypose.storage import open_kps
from keypose.storage.detail import without_detail
from keypose.swings import Swings

SAME_RATE = 1e-3  # relative: .0083333 s and 1/120 s are one


@dataclass(frozen=True)
class Beside:
    """Where the keys or swings of a clip are; ``told`` where somebody named the file."""

    path: Path
    told: bool = False


@dataclass(frozen=True)
class Along:
    """What goes along with the frames of a clip, and what is to be said of it."""

    keyed: KeyedMotion | None = None
    swings: Swings | None = None
    notes: tuple[str, ...] = ()


def beside(file: ClipFile, told: Path | None, suffixes: Sequence[str]) -> Beside | None:
    """The file of such a suffix that belongs to a clip.

    ``told`` is that file, or a folder that holds one under the clip's name for each; None: it is looked for beside
    the clip, as ``walk.bvh.keys.json``, which ``save`` writes, or ``walk.keys.json``, which ``unbake`` does.
    """
    if told is not None and not told.is_dir():
        return Beside(told, told=True)
    place = file.path if told is None else told / file.relative
    if place.name.lower().endswith(KEYS_SUFFIXES + SWINGS_SUFFIXES):  # beside it there is only itself
        return None
    names = (place.name.removesuffix(".gz"), stem(place.name))
    there = [place.with_name(name + suffix) for name in names for suffix in suffixes]
    found = next((path for path in there if path.is_file()), None)
    if told is not None and found is None:
        raise FileError(f"{there[0]}: no such file, expected what belongs to {file.path}")
    return None if found is None else Beside(found, told=told is not None)


def held_alone(path: Path, limits: Limits) -> KeyedMotion | Swings | None:
    """The keys or swings of a file that holds nothing else."""
    name = path.name.lower()
    if name.endswith(KEYS_SUFFIXES):
        return load_keyed(path, limits=limits)
    if name.endswith(SWINGS_SUFFIXES):
        return load_swings(path, limits=limits)
    if not is_stored(path):
        return None
    with open_kps(path, limits=limits) as stored:
        keyed = None if stored.has_frames else stored.keyed()
        return stored.swings() if keyed is None and not stored.has_frames else keyed


def taken_along(motion: Motion, source: Path, keys: Beside | None, swings: Beside | None, limits: Limits) -> Along:
    """What the clip's own file holds, or what is beside it and fits; what does not stays there, and a note says so."""
    notes: list[str] = []
    held = _held(motion, source, limits) if is_stored(source) else Along()
    keyed, found = held.keyed, held.swings
    if keys is not None and (keyed is None or keys.told):
        read = load_keyed(keys.path, limits=limits)
        keyed = without_detail(read, motion) if _fits(read, motion, keys, notes) else keyed
    if swings is not None and (found is None or swings.told):
        packed = load_swings(swings.path, limits=limits)
        found = packed if _fits(packed, motion, swings, notes) else found
    return Along(keyed, found, tuple(notes))


def _held(motion: Motion, source: Path, limits: Limits) -> Along:
    """What a compressed file holds that is compressed again."""
    with open_kps(source, limits=limits) as stored:
        keyed = stored.keyed()
        return Along(None if keyed is None else without_detail(keyed, motion), stored.swings())


def _fits(what: KeyedMotion | Swings, motion: Motion, where: Beside, notes: list[str]) -> bool:
    """Whether keys or swings are of this very clip; with a note whether they go along."""
    kind = "keys" if isinstance(what, KeyedMotion) else "swings"
    unlike = _unlike(what, motion)
    if not unlike:
        if not where.told:
            notes.append(f"the {kind} in {where.path.name} beside it are taken along")
        return True
    if where.told:
        raise OptionError(f"{where.path}: {unlike}, so its {kind} are not those of {motion.name}")
    notes.append(f"the {kind} in {where.path.name} beside it stay there: {unlike}")
    return False


def _unlike(what: KeyedMotion | Swings, motion: Motion) -> str:
    """What tells them from those of the clip; empty: nothing."""
    if what.skeleton.names != motion.skeleton.names:
        return "other joints than in the clip"
    if what.n_frames != motion.n_frames:
        return f"{what.n_frames} frames, in the clip {motion.n_frames}"
    if abs(what.fps - motion.fps) > SAME_RATE * motion.fps:
        return f"{what.fps:g} fps, in the clip {motion.fps:g}"
    return ""
