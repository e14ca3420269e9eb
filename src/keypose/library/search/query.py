"""The query of a search: a motion, or a clip of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats, freeze_floats
from keypose.errors import Hint, ModelError, OptionError
from keypose.library.analysis import MIN_FPS, compute_swing_table, empty_swing_table
from keypose.library.analysis_rows import IS_SEARCHABLE
from keypose.library.canonical import FPS, INDEX, JOINTS, LIMBS, REQUIRED_JOINTS, CanonicalBody, canonical_body
from keypose.library.descriptors import Description, describe_body
from keypose.library.descriptors.description import Singles, posture
from keypose.library.extra import sa
from keypose.library.records import Clip, rebuild_hint
from keypose.library.rows import find_clip, is_in_trash, load_clips_by_id
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.part_gallery import PartTrack, build_part_track
from keypose.library.search.swing_overlap import BODY_PARTS, SwingTable
from keypose.library.store import Store
from keypose.library.tables import analyses
from keypose.model import Motion
from keypose.validation import check_int, check_items

_WORDS_HINT = Hint(
    python="search by words instead: library.clips('walk')",
    command="search by words instead: keypose library list walk",
)
MAX_NAMED_JOINTS = 4
POSE_SIZE = 3 * len(JOINTS) + 1

_CANONICAL = Anatomy(JOINTS, tuple("spine" if joint == "chest" else joint for joint in JOINTS))
_SWING_PARTS = Anatomy(BODY_PARTS, tuple("spine1" if part == "chest" else part for part in BODY_PARTS))


@dataclass(frozen=True, eq=False)
class Query:
    """A query. For a clip of the library stored data are used; its bytes are only read if necessary."""

    store: Store
    given_motion: Motion | None
    clip_id: int | None = None  # id if the query is a clip of the library
    clip: Clip | None = None
    is_stored: bool = True  # whether its stored data can be compared
    pose_vector: Singles | None = None  # of the pose, if already known

    @property
    def duration_s(self) -> float:
        """Duration in seconds."""
        return self.clip.duration_s if self.clip is not None else self.motion.duration_s

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return self.clip.n_frames if self.clip is not None else self.motion.n_frames

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.clip.fps if self.clip is not None else self.motion.fps

    @cached_property
    def motion(self) -> Motion:
        """The frames."""
        if self.given_motion is not None:
            return self.given_motion
        assert self.clip is not None
        return replace(self.store.load_motion(self.clip), name=self.clip.name)

    @property
    def is_too_slow(self) -> bool:
        """Whether the frame rate is too low to compare motion; a single frame is a posed figure."""
        return self.fps < MIN_FPS and self.n_frames > 1

    @cached_property
    def body(self) -> CanonicalBody:
        """The canonical body; OptionError, with what is missing, if there is none."""
        if self.is_too_slow:
            raise self.no_body_error()
        body = canonical_body(self.motion)
        if body is None:
            raise self.no_body_error()
        return body

    def load_descriptions(
        self, connection: sa.Connection, source: CandidateSource, *, mirrored: bool
    ) -> list[Description]:
        """Return the description of the query and, if ``mirrored``, of its mirror image."""
        if self.clip_id is None:
            description = describe_body(self.body)
        else:
            stored = source.descriptions(connection, [self.clip_id]) if self.is_stored else {}
            if self.clip_id not in stored:
                raise self.no_body_error()
            description = stored[self.clip_id]
        return [description, description.mirror()] if mirrored else [description]

    def load_track(self, connection: sa.Connection, source: CandidateSource) -> PartTrack:
        """Return the track for part search."""
        if self.clip_id is None:
            return build_part_track(self.body)
        stored = source.tracks(connection, [self.clip_id]) if self.is_stored else {}
        if self.clip_id not in stored:
            raise self.no_body_error()
        return stored[self.clip_id]

    def compute_pose_vector(self, frame: int) -> Singles:
        """Return the pose of a frame as it is stored: joints relative to the hips, then height above the floor."""
        if self.pose_vector is not None:
            return self.pose_vector
        body_posture = posture(self.body)
        at = min(round(frame * FPS / self.motion.fps), len(body_posture.heights) - 1)
        return np.append(body_posture.positions[at].ravel(), body_posture.heights[at]).astype(np.float32)

    def load_swing_table(self, connection: sa.Connection, source: CandidateSource) -> SwingTable:
        """Return the swings of the query."""
        if self.clip_id is not None and self.is_stored:
            stored = source.swing_tables_by_id(connection, [self.clip_id])
            if self.clip_id in stored:
                return stored[self.clip_id]
        if self.clip_id is not None and not load_clips_by_id(connection, [self.clip_id]):
            return empty_swing_table(self.duration_s)  # the clip was deleted in the meantime
        return self._computed_swing_table

    @cached_property
    def _computed_swing_table(self) -> SwingTable:
        return compute_swing_table(self.motion)

    def no_body_error(self) -> OptionError:
        """Return the error for a query that cannot be compared: it has no body, or was not analysed by this version."""
        if self.is_too_slow:
            name = self.clip.name if self.clip is not None else self.motion.name or "the query"
            problem, expected = f"{self.fps:g} frames in a second", f"at least {MIN_FPS:g} to compare it by"
            return OptionError(problem, code="too_slow", subject=name, expected=expected)
        if canonical_body(self.motion) is None or self.clip is None:
            return _no_body_error(self.motion)
        return OptionError(
            f"clip {self.clip.name!r} was not analysed by this version",
            code="needs_rebuild",
            expected="one that was",
            hint=rebuild_hint("analyses it"),
        )


def parse_query(store: Store, query: Motion | str) -> Query:
    """Return the query; a text is the name or the hash of a clip of the library.

    A clip in the trash is treated like a motion that is not in the library.
    """
    if isinstance(query, Motion):
        return Query(store, query)
    if not isinstance(query, str):
        raise OptionError(option="query", value=query, expected="a Motion or the name of a clip of the library")
    with store.database.begin_read() as connection:
        clip_id, clip = find_clip(connection, query)
        is_stored, is_trashed = is_searchable(connection, clip_id), is_in_trash(connection, clip_id)
    if is_trashed:
        return Query(store, replace(store.load_motion(clip), name=clip.name))
    return Query(store, None, clip_id, clip, is_stored)


def parse_pose_vector(values: Sequence[float]) -> Singles:
    """Return the checked vector of a pose."""
    try:
        return freeze_floats(values, (POSE_SIZE,), "pose_vector").astype(np.float32)
    except ModelError:
        expected = f"{POSE_SIZE} numbers, as pose_vector() gives them"
        raise OptionError(option="pose_vector", value=values, expected=expected) from None


def parse_frame_range(start: int, end: int, n_frames: int) -> tuple[int, int]:
    """Return the checked half-open range of frames of a query."""
    first, stop = check_int("start", start, min_value=0), check_int("end", end)
    if not first < stop <= n_frames:
        expected = f"more than start={first} and at most {n_frames}"
        raise OptionError(option="end", value=stop, expected=expected)
    return first, stop


def _no_body_error(motion: Motion) -> OptionError:
    existing_parts = set(motion.skeleton.anatomy.body_parts)
    missing: Sequence[str] = [part for part in (*REQUIRED_JOINTS, *JOINTS) if part not in existing_parts]
    problem = f"no {', '.join(dict.fromkeys(missing[:MAX_NAMED_JOINTS]))}" if missing else "its bones have no length"
    return OptionError(
        f"no body that can be compared ({problem})",
        code="no_body",
        subject=motion.name or "the query",
        expected="a figure with both knees",
        hint=_WORDS_HINT,
    )


def parse_joint_names(joints: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the checked names: groups (``arms``), parts (``left_forearm``), joints (``left_elbow``); None: all."""
    if joints is None:
        return None
    expected = "names of body parts such as 'left_arm' or 'legs'"
    names = (joints,) if isinstance(joints, str) else check_items("joints", joints, expected)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(option="joints", value=joints, expected=expected)
    for name in names:
        _CANONICAL.joints(name)  # raises UnknownJoint
    return names


def canonical_joints(names: Sequence[str]) -> tuple[int, ...]:
    """Return the canonical joints of these names, ascending."""
    return tuple(sorted({joint for name in names for joint in _CANONICAL.joints(name)}))


def select_swing_parts(names: Sequence[str]) -> Bools:
    """Return flags (P,) of the body parts of swing tables that these names mean."""
    is_selected = np.zeros(len(BODY_PARTS), bool)
    swing_names = {*_SWING_PARTS.groups, *BODY_PARTS}
    for name in names:
        indices = (
            _SWING_PARTS.joints(name)
            if name in swing_names
            else [BODY_PARTS.index(JOINTS[j]) for j in _CANONICAL.joints(name)]
        )
        is_selected[list(indices)] = True
    return is_selected


def track_groups(names: Sequence[str]) -> tuple[str, ...]:
    """Return the groups of tracks: a whole arm for a hand, the trunk for hips, chest or head."""
    return tuple(dict.fromkeys(_track_group(JOINTS[joint]) for joint in canonical_joints(names)))


def _track_group(joint: str) -> str:
    side, _, limb = joint.partition("_")
    if limb not in LIMBS:
        return "trunk"
    return f"{side}_{'arm' if limb in LIMBS[:3] else 'leg'}"


def pose_scales(names: Sequence[str] | None) -> Floats:
    """Return (17 x 3 + 1,): 1 for each number of a stored pose that is compared, else 0.

    The height above the floor is compared if hips or feet are.
    """
    if names is None:
        return np.ones(3 * len(JOINTS) + 1)
    joints = canonical_joints(names)
    scales = np.zeros(3 * len(JOINTS) + 1)
    scales[[3 * joint + axis for joint in joints for axis in range(3)]] = 1.0
    grounded = {INDEX["hips"], *(INDEX[f"{side}_{end}"] for side in ("left", "right") for end in ("foot", "toes"))}
    scales[-1] = float(not grounded.isdisjoint(joints))
    return scales


def is_searchable(connection: sa.Connection, clip_id: int) -> bool:
    """Return whether searches include a clip."""
    return (
        connection.execute(sa.select(analyses.c.clip_id).where(analyses.c.clip_id == clip_id, *IS_SEARCHABLE)).first()
        is not None
    )
