"""All of a clip but its frames: what it is called, how fast it goes, its skeleton, and where its groups are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from keypose.kinematics import UPS, Up
from keypose.limits import Limits
from keypose.model import Pose, Skeleton
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.storage.groups import LOSSLESS, NO_FRAMES, WITHIN_TOLERANCE, CodingError, group_count
from keypose.storage.head.coder import EVEN, Coder, TooMuch
from keypose.storage.head.numbers import decimals, number
from keypose.storage.head.poses import pose
from keypose.storage.head.skeletons import skeleton
from keypose.storage.head.texts import text, usual_letters

TOLERANCES = (1.0, 0.1, 5.0, 0.5, 2.0, 10.0, 0.01)  # usual ones, mm
RATES = (30.0, 60.0, 120.0, 24.0, 25.0, 50.0, 100.0)  # usual frames per second
UNITS = (None, 1.0, 0.01)  # usual metres per unit
FIRST_LENGTHS = {"pose": (40, 8), "body": (400, 256)}  # bytes: a guess, and how far it may be off
FEW_NOTES = 100  # one by one; those behind them are kept together
MOST_NOTES = 1_000_000
BETWEEN_NOTES = "\0"
USUAL_NOTES = ("frame 0 is a reference pose (T-pose), kept apart from the movement",)


@dataclass(frozen=True, eq=False)
class Clip:
    """What the header says."""

    kind: int
    tolerance_mm: float | None  # of kind 1
    name: str
    skeleton: Skeleton
    fps: float
    n_frames: int
    up: Up
    metres_per_unit: float | None
    first_frame: int
    reference_pose: Pose | None
    notes: tuple[str, ...]
    coding_bytes: int  # what all groups need: how many bytes
    pose_bytes: tuple[int, ...]  # of each group
    body_bytes: tuple[int, ...]
    keys_bytes: int | None  # None: there are no keys
    swings_bytes: int | None

    @property
    def n_groups(self) -> int:
        """How many groups there are; none if the frames are played from keys or swings."""
        return len(self.pose_bytes)


def clip(c: Coder, given: Clip | None, limits: Limits, most_groups: int) -> Clip:
    """A header on its way in or out; no more groups than ``most_groups`` can be there."""
    c.learn(usual_letters())
    kind = _kind(c, None if given is None else given.kind)
    wanted_mm = None if given is None else given.tolerance_mm
    tolerance_mm = _one_of(c, "tolerance", TOLERANCES, wanted_mm) if kind == WITHIN_TOLERANCE else None
    fps = _one_of(c, "rate", RATES, None if given is None else given.fps)
    if not LEAST_FPS <= fps <= GREATEST_FPS:
        raise CodingError(f"{fps:g} frames per second")
    n_frames = c.whole("frames", None if given is None else given.n_frames - 1) + 1
    if n_frames > limits.frames:
        raise TooMuch(n_frames, "frames")
    n_groups = 0 if kind == NO_FRAMES else group_count(n_frames, fps)
    if n_groups > most_groups:
        raise CodingError(f"{n_groups} groups of frames, but there is room for {most_groups}")
    name = text(c, None if given is None else given.name)
    up = _up(c, None if given is None else given.up)
    unit = _unit(c, given)
    first_frame = _first_frame(c, None if given is None else given.first_frame)
    bones = skeleton(c, None if given is None else given.skeleton, limits)
    posed = c.flag("reference pose", None if given is None else given.reference_pose is not None, EVEN)
    reference = pose(c, bones, None if given is None else given.reference_pose) if posed else None
    notes = _notes(c, None if given is None else given.notes)
    keys = _block(c, "keys", given, None if given is None else given.keys_bytes)
    swings = _block(c, "swings", given, None if given is None else given.swings_bytes)
    coding = c.whole("coding", None if given is None else given.coding_bytes)
    poses = _lengths(c, "pose", n_groups, None if given is None else given.pose_bytes)
    bodies = _lengths(c, "body", n_groups, None if given is None else given.body_bytes)
    return Clip(
        kind, tolerance_mm, name, bones, fps, n_frames, up, unit, first_frame, reference, notes, coding, poses, bodies,
        keys, swings,
    )  # fmt: skip


def _kind(c: Coder, kind: int | None) -> int:
    found = c.choice("kind", 2, kind)
    if found > LOSSLESS:
        raise CodingError(f"frames of kind {found}")
    return found


def _one_of(c: Coder, what: str, usual: tuple[float, ...], value: float | None) -> float:
    """A number that is mostly one of the usual seven."""
    found = c.choice(what, 3, None if value is None else usual.index(value) if value in usual else len(usual))
    return usual[found] if found < len(usual) else _number(c, ("other", what), value)


def _number(c: Coder, context: Hashable, value: float | None) -> float:
    return number(c, context, value, decimals(c, None if value is None else [value]))


def _up(c: Coder, up: Up | None) -> Up:
    if not c.flag("not Y up", None if up is None else up != "Y"):
        return "Y"
    found = c.choice("up", 3, None if up is None else UPS.index(up))
    if found >= len(UPS):
        raise CodingError(f"up axis {found} of {len(UPS)}")
    return UPS[found]


def _unit(c: Coder, given: Clip | None) -> float | None:
    own = None if given is None else given.metres_per_unit
    usual = c.choice("unit", 2, None if given is None else UNITS.index(own) if own in UNITS else len(UNITS))
    return UNITS[usual] if usual < len(UNITS) else _number(c, ("other", "unit"), own)


def _first_frame(c: Coder, first: int | None) -> int:
    usual = c.choice("first frame", 2, None if first is None else first if first in (0, 1) else 2)
    return usual if usual < 2 else c.signed("other first frame", first, 6)


def _notes(c: Coder, notes: tuple[str, ...] | None) -> tuple[str, ...]:
    if notes is not None and len(notes) > MOST_NOTES:
        raise CodingError(f"{len(notes)} notes, more than {MOST_NOTES}")
    found: list[str] = []
    while c.flag("note", None if notes is None else len(found) < len(notes), EVEN):
        if len(found) == FEW_NOTES and (rest := _rest(c, None if notes is None else notes[FEW_NOTES:])) is not None:
            return (*found, *rest)
        own = None if notes is None else notes[len(found)]
        if c.flag("usual note", None if own is None else own in USUAL_NOTES, EVEN):
            found.append(USUAL_NOTES[0])
        else:
            found.append(text(c, own))
    return tuple(found)


def _rest(c: Coder, notes: tuple[str, ...] | None) -> list[str] | None:
    """All further notes in one text; None: they go on one by one, as one of them has the character between them."""
    together = None if notes is None else BETWEEN_NOTES.join(notes)
    fits = None if notes is None or together is None else together.count(BETWEEN_NOTES) == len(notes) - 1
    if not c.flag("notes together", fits):
        return None
    found = text(c, together, spell=False)
    if (count := found.count(BETWEEN_NOTES) + 1) > MOST_NOTES - FEW_NOTES:
        raise CodingError(f"{FEW_NOTES + count} notes, more than {MOST_NOTES}")
    return found.split(BETWEEN_NOTES)


def _block(c: Coder, what: str, given: Clip | None, length: int | None) -> int | None:
    if not c.flag(what, None if given is None else length is not None):
        return None
    return c.whole((what, "bytes"), length)


def _lengths(c: Coder, what: str, count: int, given: tuple[int, ...] | None) -> tuple[int, ...]:
    """How many bytes each section has: the mean of those before, and what it is off that."""
    guess, off = FIRST_LENGTHS[what]
    found: list[int] = []
    total = 0
    for g in range(count):
        more = c.near(what, max(0, (off // (g + 1)).bit_length() - 1), None if given is None else given[g] - guess)
        found.append(guess + more)
        if found[-1] < 0:
            raise CodingError(f"a {what} of {found[-1]} bytes")
        total += found[-1]
        off += abs(more) if g else 0
        guess = total // (g + 1)
    return tuple(found)
