"""One stored file back into any format: the work that ``keypose restore`` maps over its files."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.convert import make_folder
from keypose.batch.inputs import KEYS_SUFFIXES, SWINGS_SUFFIXES
from keypose.batch.keeping import format_of, keeps_keys
from keypose.batch.storage_channels import within_channels
from keypose.batch.storage_damage import told_of
from keypose.batch.storage_facts import near_before, without_nearness
from keypose.batch.storage_place import in_place_when_done, without_pose_note
from keypose.batch.storage_verbatim import save_numbers
from keypose.errors import FileError, FormatError, LimitError, OptionError
from keypose.formats import Limits, save
from keypose.model import KeyedMotion, Motion
from keypose.storage import StoredMotion, open_kps
from keypose.swings import Swings

BY_CHANNELS = "BVH"  # the format in which each joint has its own channels
POSE_AS_FRAME = ("BVH", "FBX")  # formats with no other place for a pose that is kept apart


@dataclass(frozen=True)
class Restoring:
    """What to read, which part of it, and where to write it."""

    source: Path
    target: Path
    from_s: float | None = None
    to_s: float | None = None
    beside: bool = True  # write keys and swings beside where the target has no place for them
    write_reference_pose: bool = True  # as frame 0 again, where the format has no other place for it
    overwrite: bool = False  # what stands in the place of keys and swings
    limits: Limits = field(default_factory=Limits)

    @property
    def whole(self) -> bool:
        """Whether all of it is asked for."""
        return self.from_s is None and self.to_s is None


@dataclass(frozen=True)
class Restored:
    """What was written."""

    n_frames: int
    fps: float
    first_s: float  # where the part begins in the clip
    bytes: int
    lossless: bool
    tolerance_mm: float | None
    source_tolerance_mm: float | None  # how near to the original what was stored was itself, if compressed before
    reference_pose: bool  # written as frame 0
    keys_file: str | None
    swings_file: str | None
    notes: tuple[str, ...]


def restore_clip(job: Restoring) -> Restored:
    """Reads one stored file, or a part of it, and writes it; the folders that its target needs are made."""
    with open_kps(job.source, limits=job.limits) as stored:
        try:
            what = _content(stored, job)
            along = _along(stored, what, job)
            channels = stored.channels() if job.whole and format_of(job.target).name == BY_CHANNELS else None
        except LimitError:
            raise
        except FormatError:
            if damage := stored.damage():
                raise FormatError(job.source, told_of(stored, damage, job.source, job.target)) from None
            raise
        facts = stored
    pose = _writes_pose(what, job)
    make_folder(job.target.parent)
    with ExitStack() as places:  # all of them, or none
        for beside, path in along:
            save(beside, places.enter_context(in_place_when_done(path)))
        place = places.enter_context(in_place_when_done(job.target))
        if channels is not None and isinstance(what, Motion):
            save_numbers(what, channels, place, reference_pose=pose)
        else:
            save(what, place, reference_pose=pose)
    written = {type(beside): str(path) for beside, path in along}
    return Restored(
        n_frames=what.n_frames + pose,
        fps=what.fps,
        first_s=(what.first_frame - facts.first_frame) / what.fps,
        bytes=job.target.stat().st_size,
        lossless=facts.lossless,
        tolerance_mm=facts.tolerance_mm,
        source_tolerance_mm=near_before(facts.notes),
        reference_pose=pose,
        keys_file=written.get(KeyedMotion),
        swings_file=written.get(Swings),
        notes=(*without_nearness(without_pose_note(what.notes)), *_left_out(facts, what, along, job, pose=pose)),
    )


def _content(stored: StoredMotion, job: Restoring) -> Motion | KeyedMotion | Swings:
    """What goes into the target: frames, or the very keys or swings where it has a place for them."""
    name = job.target.name.lower()
    if name.endswith(SWINGS_SUFFIXES):
        swings = stored.swings()
        if swings is None or not job.whole:
            why = "holds no swings" if swings is None else "its swings cannot be cut in time"
            raise OptionError(f"{job.source}: {why}; expected a format of motions, in which keypose swings finds some")
        return swings
    only_keys = name.endswith(KEYS_SUFFIXES)
    takes_keys = only_keys or (not stored.has_frames and keeps_keys(format_of(job.target)))
    keyed = stored.keyed() if takes_keys and job.whole else None
    if keyed is not None:
        return keyed
    if only_keys:  # every frame as a key would be a large file that nothing takes for keys
        why = "its keys cannot be cut in time" if stored.has_keys else "holds no keys"
        unbake = f"keypose unbake {shlex.quote(str(job.source))} {shlex.quote(str(job.target))}"
        raise OptionError(f"{job.source}: {why}; expected a format of motions, or to find keys: {unbake}")
    motion = stored.motion() if job.whole else stored[job.from_s : job.to_s]
    if stored.tolerance_mm is None or format_of(job.target).name != BY_CHANNELS:
        return motion
    return within_channels(motion, stored.tolerance_mm)


def _along(
    stored: StoredMotion, what: Motion | KeyedMotion | Swings, job: Restoring
) -> list[tuple[KeyedMotion | Swings, Path]]:
    """The keys and swings that the target does not hold itself, and where they go."""
    if not job.beside or not job.whole:
        return []
    keyed = None if isinstance(what, KeyedMotion) else stored.keyed()
    swings = None if isinstance(what, Swings) else stored.swings()
    name = job.target.name.removesuffix(".gz")
    found = [(keyed, job.target.with_name(name + KEYS_SUFFIXES[0])),
             (swings, job.target.with_name(name + SWINGS_SUFFIXES[0]))]  # fmt: skip
    wanted = [(beside, path) for beside, path in found if beside is not None]
    for _, path in wanted:
        if os.path.lexists(path) and not job.overwrite:
            raise FileError(f"{path}: exists already; --overwrite replaces it, --no-keys writes none")
    return wanted


def _writes_pose(what: Motion | KeyedMotion | Swings, job: Restoring) -> bool:
    """Whether the pose that was kept apart becomes frame 0 again."""
    has_place = format_of(job.target).name not in POSE_AS_FRAME
    return job.write_reference_pose and job.whole and what.reference_pose is not None and not has_place


def _left_out(
    stored: StoredMotion,
    what: Motion | KeyedMotion | Swings,
    along: list[tuple[KeyedMotion | Swings, Path]],
    job: Restoring,
    *,
    pose: bool,
) -> list[str]:
    """Notes of what is in the file and was not written."""
    written = {type(what), *(type(beside) for beside, _ in along)}
    held = ((stored.has_keys, KeyedMotion, "keys"), (stored.has_swings, Swings, "swings"))
    left = [name for is_held, kind, name in held if is_held and kind not in written]
    why = "not written, as --no-keys says" if job.whole else "of a part they are not written"
    notes = [f"the file holds {' and '.join(left)} too: {why}"] if left else []
    if what.reference_pose is not None and not pose and format_of(job.target).name in POSE_AS_FRAME:
        notes.append("the reference pose (T-pose) that was kept apart is not written")
    return notes
