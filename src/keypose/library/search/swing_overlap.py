"""Clips compared by their swings (Chia 2009, 5.2): by the overlap of two segmentations at the best shift.

The thesis compares segmentations "in a sliding windows fashion" by "the swings of each bone with the time they occur,
axis of rotation and other information", without a formula. Here the score of a shift is, over the time of the query,
the sum of the cosines between the axes at times when a body part swings in both, divided by the time in which it swings
in either. Swings about the same axis add, opposite ones subtract. The score of the same motion is 1. Without ``axes``
the cosine is replaced by 1, as the figures of segmentations in the thesis do not include axes. A clip shorter than the
query is shifted within the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose._core import overlap_swings
from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints, freeze_or_copy
from keypose.kinematics import y_up
from keypose.library.canonical import FPS as HEADING_FPS
from keypose.library.canonical import CanonicalBody, canonical_body
from keypose.model import Motion
from keypose.rotations import rotate
from keypose.swings.model import Swings
from keypose.swings.segment import find_spans
from keypose.swings.settings import Settings

MIN_COSINE = 0.5  # between axes of agreeing swings: 60 degrees
MAX_SWING_MATCHES = 32  # per hit

RATE = 15.0  # samples per second for comparison: the shortest swings last 2
LIMB_PARTS = ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
TRUNK_PARTS = ("hips", "spine", "chest", "neck", "head")
BODY_PARTS = (*TRUNK_PARTS, *(f"{side}_{limb}" for side in ("left", "right") for limb in LIMB_PARTS))
PARTNERS = np.array(
    (*range(5), *range(5 + len(LIMB_PARTS), len(BODY_PARTS)), *range(5, 5 + len(LIMB_PARTS))), np.int32
)  # left <-> right
_MIRRORED_AXIS = np.array((1.0, -1.0, -1.0))  # rotation axis in a mirror with its normal to the left


class SwingMatch(NamedTuple):
    """One swing of the query and one of the other clip that agree at the same time."""

    body_part: str  # in the other clip
    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    cosine: float  # between the axes


@dataclass(frozen=True)
class OverlapMatch:
    """The best alignment of a clip with the query, its score, and the agreeing swings, the longest first."""

    score: float  # at most 1
    start_s: float  # in the other clip
    end_s: float
    shift_s: float  # start of the query in the other clip; negative if the query is longer
    mirrored: bool
    swing_matches: tuple[SwingMatch, ...]


class SwingSpan(NamedTuple):
    """The swings between two times."""

    swing_table: SwingTable
    start_s: float
    end_s: float

    @classmethod
    def whole_clip(cls, swing_table: SwingTable) -> SwingSpan:
        """Return the span of a whole clip."""
        return cls(swing_table, 0.0, swing_table.duration_s)

    def mirror(self) -> SwingSpan:
        """Return the span with left and right exchanged."""
        return self._replace(swing_table=self.swing_table.mirror())

    def times(self, rows: Ints) -> NDArray[np.float64]:
        """Return (R, 2) start and end of some swings, clipped to the span."""
        both = np.stack((self.swing_table.starts_s[rows], self.swing_table.ends_s[rows]), axis=1)
        return np.asarray(both.clip(self.start_s, self.end_s))


def overlap(
    query: Swings | SwingTable, other: Swings | SwingTable, *, axes: bool = True, mirrored: bool = True
) -> OverlapMatch:
    """Return the best overlap of the swings of two clips; of equally good shifts the first.

    Skeletons may be different: the body parts that both have are compared. ``mirrored``: the query is also compared
    with left and right exchanged. ``axes``: overlap is weighted by the agreement of axes.
    """
    query_span, other_span = (
        SwingSpan.whole_clip(each if isinstance(each, SwingTable) else build_swing_table(each))
        for each in (query, other)
    )
    variants = (query_span, query_span.mirror()) if mirrored else (query_span,)
    alignments = [_align(variant, other_span, axes) for variant in variants]
    best = int(np.argmax([each.score for each in alignments]))
    shift_s = alignments[best].shift / RATE
    return OverlapMatch(
        alignments[best].score,
        start_s=max(shift_s, 0.0),
        end_s=min(shift_s + query_span.end_s, other_span.end_s),
        shift_s=shift_s,
        mirrored=bool(best),
        swing_matches=alignments[best].swing_matches(variants[best], other_span),
    )


def match_swings(query: SwingSpan, other: SwingSpan) -> tuple[SwingMatch, ...]:
    """Return the swings that agree longest at the best alignment of two spans, in the times of the clips."""
    return _align(query, other, axes=True).swing_matches(query, other, MAX_SWING_MATCHES)


def overlap_scores(
    query: SwingTable, others: Sequence[SwingTable], *, axes: bool = True, mirrored: bool = True
) -> Floats:
    """Return the scores of ``overlap`` for many clips (N,)."""
    query_span = SwingSpan.whole_clip(query)
    variants = (query_span, query_span.mirror()) if mirrored else (query_span,)
    scores_by_variant = [
        [_align(variant, SwingSpan.whole_clip(other), axes).score for other in others] for variant in variants
    ]
    return np.asarray(np.max(scores_by_variant, axis=0))


class _Alignment(NamedTuple):
    """Two spans at the shift, in samples, with the largest overlap."""

    score: float
    shift: int
    swing_pairs: Ints  # (A, 2) agreeing rows of both tables, the longest overlap first
    cosines: Floats  # (A, 1)

    def swing_matches(
        self, query: SwingSpan, other: SwingSpan, max_matches: int | None = None
    ) -> tuple[SwingMatch, ...]:
        query_rows, other_rows = self.swing_pairs[:max_matches].T
        names = [BODY_PARTS[part] for part in other.swing_table.body_parts[other_rows].tolist()]
        values = np.hstack(
            (query.times(query_rows), other.times(other_rows), self.cosines[:max_matches].clip(-1.0, 1.0))
        ).tolist()
        return tuple(SwingMatch(name, *row) for name, row in zip(names, values, strict=True))


def _align(query: SwingSpan, other: SwingSpan, axes: bool) -> _Alignment:
    (query_table, from_s, to_s), (other_table, start_s, end_s) = query, other
    return _Alignment(*overlap_swings(
        _columns(query_table), from_s, to_s, _columns(other_table), start_s, end_s, RATE, MIN_COSINE, axes
    ))  # fmt: skip


def _columns(swing_table: SwingTable) -> tuple[Ints, Floats, Floats, Floats, NDArray[np.bool_]]:
    return swing_table.body_parts, swing_table.starts_s, swing_table.ends_s, swing_table.axes, swing_table.present


@dataclass(frozen=True, eq=False)
class SwingTable(Frozen):
    """Swings by body part, R of them, sorted by body part and time.

    An axis is that of the rotation (right-handed) in the body's directions at the start of the swing: left, up,
    forward. So it does not depend on the axes of the rig or the heading.
    """

    duration_s: float
    present: Bools  # (P,) which of BODY_PARTS the skeleton has
    body_parts: Ints  # (R,) index of BODY_PARTS
    starts_s: Floats  # (R,)
    ends_s: Floats  # (R,) end of the last frame
    axes: Floats  # (R, 3) unit
    angles: Floats  # (R,) radians

    def __post_init__(self) -> None:
        n = len(self.body_parts)
        self._set_field("present", freeze_or_copy(np.asarray(self.present, np.bool_)))
        self._set_field("body_parts", freeze_ints(self.body_parts, (n,), "body parts of swings"))
        for name, shape in {"starts_s": (n,), "ends_s": (n,), "axes": (n, 3), "angles": (n,)}.items():
            self._set_field(name, freeze_floats(getattr(self, name), shape, f"{name} of swings"))

    def mirror(self) -> SwingTable:
        """Return the table with left and right exchanged."""
        body_parts = PARTNERS[self.body_parts]
        order = np.argsort(body_parts, kind="stable")
        return SwingTable(
            self.duration_s,
            self.present[PARTNERS],
            body_parts[order],
            self.starts_s[order],
            self.ends_s[order],
            self.axes[order] * _MIRRORED_AXIS,
            self.angles[order],
        )

    def restrict(self, is_wanted: Bools) -> SwingTable:
        """Return the table with only the body parts of ``is_wanted`` (P,); the others are absent."""
        rows = is_wanted[self.body_parts]
        return SwingTable(
            self.duration_s,
            self.present & is_wanted,
            self.body_parts[rows],
            self.starts_s[rows],
            self.ends_s[rows],
            self.axes[rows],
            self.angles[rows],
        )

    def span(self, start_s: float, end_s: float) -> SwingTable:
        """Return the swings between two times, clipped, with times counted from ``start_s``."""
        starts, ends = (np.clip(times, start_s, end_s) for times in (self.starts_s, self.ends_s))
        rows = ends > starts
        return SwingTable(
            end_s - start_s,
            self.present,
            self.body_parts[rows],
            starts[rows] - start_s,
            ends[rows] - start_s,
            self.axes[rows],
            self.angles[rows],
        )


def build_swing_table(swings: Swings) -> SwingTable:
    """Return the swings of recognised body parts; there are none if the skeleton is no body (markers, props)."""
    played = swings.play()
    body = canonical_body(played)
    present = np.zeros(len(BODY_PARTS), bool)
    rows: list[tuple[Ints, Floats, Floats, Floats, Floats]] = []
    if body is not None:
        rotations = played.world_rotations()
        for part_index, joint in _match_joints(swings.skeleton.anatomy).items():
            present[part_index] = True
            track = swings.tracks[joint]
            is_turning = track.angles > 0
            starts = track.starts[is_turning]
            angles = track.angles[is_turning]
            world = rotate(rotations[starts, joint], track.rotation_vectors[is_turning] / angles[:, None])
            at = np.minimum((starts * (HEADING_FPS / swings.fps)).astype(int), body.n_frames - 1)
            axes = _to_body_axes(y_up(world, swings.up), body.heading[at])
            ends_s = (track.ends[is_turning] + 1) / swings.fps
            rows.append((np.full(len(starts), part_index, np.int32), starts / swings.fps, ends_s, axes, angles))
    if not rows:
        empty = np.zeros(0)
        rows.append((np.zeros(0, np.int32), empty, empty, np.zeros((0, 3)), empty))
    columns = (freeze(np.concatenate(column)) for column in zip(*rows, strict=True))
    return SwingTable(swings.duration_s, present, *columns)


def build_body_swing_table(motion: Motion, body: CanonicalBody, settings: Settings | None = None) -> SwingTable:
    """Return the table of ``build_swing_table``, faster: axes are computed from the motion, not from its played swings.

    ``body`` is that of the motion; ``settings`` are those of ``swings``.
    """
    joint_of = _match_joints(motion.skeleton.anatomy)
    body_parts, joints = np.array(list(joint_of), np.int32), np.array(list(joint_of.values()), np.intp)
    rotations = np.ascontiguousarray(motion.rotations[:, joints])
    (swing_joints, starts, ends), rotation_vectors, _ = find_spans(rotations, motion.fps, settings or Settings())
    angles = np.linalg.norm(rotation_vectors, axis=1)
    swing_joints, starts, ends, rotation_vectors, angles = (
        each[angles > 0] for each in (swing_joints, starts, ends, rotation_vectors, angles)
    )
    world = rotate(motion.world_rotations()[starts, joints[swing_joints]], rotation_vectors / angles[:, None])
    at = np.minimum((starts * (HEADING_FPS / motion.fps)).astype(int), body.n_frames - 1)
    axes = _to_body_axes(y_up(world, motion.up), body.heading[at])
    present = np.isin(np.arange(len(BODY_PARTS)), body_parts)
    return SwingTable(
        motion.duration_s, present, body_parts[swing_joints], starts / motion.fps, (ends + 1) / motion.fps, axes, angles
    )


def _match_joints(anatomy: Anatomy) -> dict[int, int]:
    """Return the joint for each of BODY_PARTS that the skeleton has, in order; a spine of one joint is the chest."""
    joint_of = {part: j for j, part in enumerate(anatomy.body_parts) if part is not None}
    spine = anatomy.groups.get("spine", ())
    if spine:
        joint_of["chest"] = spine[-1]
    if len(spine) == 1:
        joint_of.pop("spine", None)
    return {k: joint_of[part] for k, part in enumerate(BODY_PARTS) if part in joint_of}


def _to_body_axes(axes: Floats, heading: Floats) -> Floats:
    """Return world axes (R, 3), Y up, as left, up and forward of a body with ``heading`` (R,)."""
    cos, sin = np.cos(heading), np.sin(heading)
    x, y, z = axes.T
    return np.stack((cos * x - sin * z, y, sin * x + cos * z), axis=-1)
