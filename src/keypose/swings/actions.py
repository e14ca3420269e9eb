"""Actions: simultaneous and following swings as movements of limbs and of the whole body, with a name.

Swings of the joints of one limb that overlap or follow each other form groups. Where the end joint of the limb stops or
turns back, a group is divided into limb actions: the leg of a walk swings without a pause, and every step is one
action. Limb actions of several limbs at the same time form a body action, led by the limb that starts first; so do the
swings during a change of the whole body, such as a turn. The rules that name them are in ``action_rules.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import conjugate, log, multiply
from keypose.swings.action_rules import (
    LIMITS,
    ActionKind,
    ActionSpan,
    find_body_actions,
    find_flights,
    find_limb_actions,
    find_strokes,
)
from keypose.swings.body_motion import RATE, BodyMotion, Direction, Limb, build_body_motion, speeds
from keypose.swings.model import Swings, check_same_clip
from keypose.swings.swing import Swing

NO_BODY = "no actions: no arm or leg is recognised, or the figure has no height"
MIN_FOLLOW_DEG = 10.0  # limbs whose swings turn less do not follow
_TRUNK = {"hips": "hips", "spine": "torso", "head": "head"}  # groups of the anatomy
# What a group of limb actions is called after; arms that swing beside a step have no name of their own.
_PRIORITY: tuple[ActionKind, ...] = ("kick", "punch", "wave", "reach", "raise", "lower", "step", "swing")
_VERBS: dict[ActionKind, str] = {
    "step": "steps", "kick": "kicks", "swing": "swings", "raise": "raises", "lower": "lowers", "reach": "reaches",
    "punch": "punches", "wave": "waves", "turn left": "turns left", "turn right": "turns right", "jump": "jumps",
    "crouch": "crouches", "stand up": "stands up", "sit": "sits down", "bend": "bends", "climb up": "climbs up",
    "climb down": "climbs down",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Action(Frozen):
    """A movement of one limb, of several limbs at the same time, or of the whole body.

    Lengths are metres on a figure of 1.7 m. Directions are those of the body: ``"left"`` is its own left.
    """

    kind: ActionKind
    limbs: tuple[str, ...]  # ("right leg",); those that do it, empty for the whole body
    start: int  # frame
    end: int  # the last frame
    start_s: float
    end_s: float
    lead: str  # the limb, of a limb action the body part, that swings first; "" if none swings
    follow: tuple[str, ...]  # the others that swing, in order of time
    turn_deg: float  # all swings of a limb together; of a turn or bend the angle of the body
    reach_m: (
        float  # largest horizontal distance of the end joint from the hips; of the whole body, how far the hips move
    )
    height_m: float  # change of height of the end joint, relative to the hips for arms; of the whole body, of the hips
    speed_m_per_s: float  # maximum, of the end joint or of the hips
    direction: Direction | None  # of the movement
    is_mirrored: (
        bool  # whether the left side does it or the body turns left: the mirror image is an action of the right
    )
    swings: tuple[Swing, ...]  # in order of time
    members: tuple[Action, ...] = ()  # the limb actions of a body action

    @property
    def duration_s(self) -> float:
        """Seconds from the first to the last frame."""
        return self.end_s - self.start_s

    @property
    def is_body_action(self) -> bool:
        """Whether it is a movement of several limbs or of the whole body."""
        return len(self.limbs) != 1 or bool(self.members)

    @property
    def components(self) -> tuple[Action, ...]:
        """The actions that a person would name: of a group its members, without arms that swing beside others."""
        if not self.members or not self.limbs:
            return (self,)
        components = tuple(member for member in self.members if member.kind != "swing")
        return components or self.members

    @property
    def phrase(self) -> str:
        """What happens, without numbers of a limb: ``"right leg kicks forward"``, ``"turns left 120 degrees"``."""
        if self.limbs:
            return " and ".join(_limb_phrases(self.components))
        verb = _VERBS[self.kind]
        if self.kind in ("turn left", "turn right"):
            return f"{verb} {self.turn_deg:.0f} degrees"
        if self.kind in ("climb up", "climb down", "jump"):
            return f"{verb} {abs(self.height_m):.1f} m{' high' * (self.kind == 'jump')}"
        return f"{verb} {self.direction}" if self.kind == "bend" else verb

    @property
    def description(self) -> str:
        """The phrase with duration and, for limbs, their turn: ``"right leg kicks forward, 0.8 s, 95 degrees"``."""
        turn = f", {self.turn_deg:.0f} degrees" if self.limbs else ""
        return f"{self.phrase}, {self.duration_s:.1f} s{turn}"

    def __repr__(self) -> str:
        return f"Action({self.description!r}, frames {self.start} to {self.end})"


@dataclass(frozen=True, eq=False)
class Actions(Frozen):
    """The actions of a clip in order of time; iterates over body actions and over limb actions that are in none."""

    name: str
    fps: float
    n_frames: int
    limb_actions: tuple[Action, ...] = ()
    body_actions: tuple[Action, ...] = ()
    notes: tuple[str, ...] = ()  # why there are none

    @property
    def all(self) -> tuple[Action, ...]:
        """Body actions, and limb actions that are part of none, in order of time."""
        members = {id(member) for action in self.body_actions for member in action.members}
        single = (action for action in self.limb_actions if id(action) not in members)
        return tuple(sorted((*self.body_actions, *single), key=lambda action: (action.start, action.end)))

    @property
    def components(self) -> tuple[Action, ...]:
        """The actions that a person would name, each limb action by itself, in order of time."""
        components = (part for action in self.all for part in action.components)
        return tuple(sorted(components, key=lambda action: (action.start, action.end)))

    @property
    def kinds(self) -> dict[ActionKind, int]:
        """How many actions of each kind are named."""
        counts: dict[ActionKind, int] = {}
        for action in self.components:
            counts[action.kind] = counts.get(action.kind, 0) + 1
        return counts

    def __iter__(self) -> Iterator[Action]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __repr__(self) -> str:
        return f"Actions({self.name!r}, {len(self.limb_actions)} of limbs, {len(self.body_actions)} of the body)"


def find_actions(swings: Swings, capture: Motion | None = None) -> Actions:
    """Return the actions of a clip; see ``Swings.actions``."""
    if capture is not None:
        check_same_clip(capture, swings)
        if capture.fps != swings.fps:
            raise OptionError(f"{capture.name!r} has {capture.fps:g} fps", expected=f"{swings.fps:g}, as the swings")
    body = build_body_motion(swings.play() if capture is None else capture, swings.contacts)
    if body is None:
        return Actions(swings.name, swings.fps, swings.n_frames, notes=(NO_BODY,))
    builder = _ActionBuilder(swings, body)
    limb_actions = sorted(builder.build_limb_actions(), key=_time)
    body_actions = [
        *builder.group(limb_actions),
        *map(builder.build_body_action, find_body_actions(body, builder.flights)),
    ]
    return Actions(
        swings.name, swings.fps, swings.n_frames, tuple(limb_actions), tuple(sorted(body_actions, key=_time))
    )


def count_actions(motion: Motion, joints: Ints, starts: Ints, ends: Ints, angles_deg: Floats) -> dict[ActionKind, int]:
    """Return how many actions of each kind a motion has, as ``Actions.kinds``, but without ``"swing"``.

    The swings are given by their joints, first frames, last frames and angles, all (N,).
    """
    body = build_body_motion(motion, motion.foot_contacts()) if motion.height > 0 else None
    if body is None:
        return {}
    order = np.lexsort((ends, starts))
    all_moves = _Moves(joints[order], starts[order], ends[order], angles_deg[order], (None,) * len(order))
    flights = find_flights(body)
    kinds = [action_span.kind for action_span in find_body_actions(body, flights)]
    for limb in body.limbs:
        moves = all_moves.of_joints(limb.joints)
        named = _find_limb_actions(body, limb, moves, flights, motion.fps, motion.n_frames)
        kinds += [action_span.kind for action_span, _, _ in named if action_span.kind != "swing"]
    return dict(Counter(kinds))


def _time(action: Action) -> tuple[int, int]:
    return action.start, action.end


def _find_limb_actions(
    body: BodyMotion, limb: Limb, moves: _Moves, flights: Sequence[tuple[int, int]], fps: float, n_frames: int
) -> Iterator[tuple[ActionSpan, int, int]]:
    """Yield the actions of a limb with their first and last frames in the clip, in which the swings turn far enough."""
    for action_span in find_limb_actions(body, limb, _divide_strokes(body, limb, moves, fps), flights):
        start, end = (_clip_frame(sample, fps, n_frames) for sample in (action_span.start, action_span.end))
        if end > start and moves.turns_deg(start, end).sum() >= LIMITS.min_turn_deg:
            yield action_span, start, end


def _divide_strokes(body: BodyMotion, limb: Limb, moves: _Moves, fps: float) -> list[tuple[int, int]]:
    """Return the strokes of a limb that overlap with a group of its swings, divided between two groups."""
    spans = [(start * RATE / fps, end * RATE / fps) for start, end in moves.groups(LIMITS.max_gap_s * fps)]
    strokes = []
    for start, end in find_strokes(body, limb):
        inside = [span for span in spans if span[0] < end and span[1] > start]
        gaps = [round((a[1] + b[0]) / 2) for a, b in pairwise(inside)]
        edges = [start, *(gap for gap in gaps if start < gap < end), end]
        strokes += list(pairwise(edges)) if inside else []
    return strokes


def _clip_frame(sample: int, fps: float, n_frames: int) -> int:
    """Return the frame of the clip at a frame of the rules."""
    return min(round(sample * fps / RATE), n_frames - 1)


@dataclass(frozen=True, eq=False)
class _Moves(Frozen):
    """The swings of some joints, and what they turn from key to key, in order of time."""

    joints: Ints  # (N,)
    starts: Ints  # (N,)
    ends: Ints  # (N,) last frames
    angles_deg: Floats  # (N,)
    swings: tuple[Swing | None, ...]  # (N,) None: from key to key

    @classmethod
    def collect(cls, swings: Swings, joints: Sequence[int]) -> _Moves:
        rows: list[tuple[int, int, float, int, Swing | None]] = []
        for joint in joints:
            track = swings.tracks[joint]
            rows += [(swing.start, swing.end, swing.angle_deg, joint, swing) for swing in track.swings]
            for span in track.keyed:
                turns = log(multiply(conjugate(span.rotations[:-1]), span.rotations[1:]))
                angles = np.rad2deg(np.linalg.norm(turns, axis=1)).tolist()
                frames = span.frames.tolist()
                rows += [(a, b, turn, joint, None) for a, b, turn in zip(frames, frames[1:], angles, strict=False)]
        rows.sort(key=lambda row: row[:2])
        starts, ends, angles, indices, items = zip(*rows, strict=True) if rows else ((), (), (), (), ())
        return cls(
            np.array(indices, np.intp), np.array(starts, np.intp), np.array(ends, np.intp), np.array(angles, float),
            tuple(items),
        )  # fmt: skip

    def of_joints(self, joints: Sequence[int]) -> _Moves:
        """Return the moves of some joints."""
        rows = np.flatnonzero((self.joints[:, None] == np.array(joints)).any(axis=1))
        swings = tuple(self.swings[row] for row in rows.tolist())
        return _Moves(self.joints[rows], self.starts[rows], self.ends[rows], self.angles_deg[rows], swings)

    def groups(self, max_gap: float) -> list[tuple[int, int]]:
        """Return first and last frames of the groups of moves that overlap or follow within ``max_gap`` frames."""
        groups: list[tuple[int, int]] = []
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            if groups and start - groups[-1][1] <= max_gap:
                groups[-1] = (groups[-1][0], max(groups[-1][1], end))
            else:
                groups.append((start, end))
        return groups

    def turns_deg(self, start: int, end: int) -> Floats:
        """Return how far each move turns (N,) between two frames."""
        common = np.minimum(self.ends, end) - np.maximum(self.starts, start)
        shares = np.maximum(common, 0) / np.maximum(self.ends - self.starts, 1)
        return np.asarray(self.angles_deg * shares)

    def swings_within(self, start: int, end: int) -> tuple[Swing, ...]:
        """Return the swings that overlap with a span by more than ``min_overlap`` of the shorter of the two."""
        common = np.minimum(self.ends, end) - np.maximum(self.starts, start)
        shorter = np.minimum(self.ends - self.starts, end - start)
        indices = np.flatnonzero(common > LIMITS.min_overlap * shorter).tolist()
        return tuple(swing for n in indices if (swing := self.swings[n]) is not None)


class _ActionBuilder:
    """Builds the actions of one clip."""

    def __init__(self, swings: Swings, body: BodyMotion) -> None:
        self.swings = swings
        self.body = body
        self.flights = find_flights(body)
        self.moves = {limb.name: _Moves.collect(swings, limb.joints) for limb in body.limbs}
        self.paths = {limb.name: limb.end if limb.is_leg else body.hand_paths[limb.name][0] for limb in body.limbs}
        self.speeds = {name: speeds(path) for name, path in self.paths.items()}
        self.root_speed = speeds(body.root)
        groups = swings.skeleton.anatomy.groups
        self.moves |= {part: _Moves.collect(swings, groups[group]) for group, part in _TRUNK.items() if group in groups}

    def build_limb_actions(self) -> Iterator[Action]:
        """Yield the actions of all limbs."""
        for limb in self.body.limbs:
            moves = self.moves[limb.name]
            fps, n_frames = self.swings.fps, self.swings.n_frames
            for found in _find_limb_actions(self.body, limb, moves, self.flights, fps, n_frames):
                yield self.build_limb_action(limb, *found)

    def build_limb_action(self, limb: Limb, action_span: ActionSpan, start: int, end: int) -> Action:
        """Return the action of one limb."""
        moves = self.moves[limb.name]
        turns = moves.turns_deg(start, end)
        parts = {
            joint: (int(moves.starts[(moves.joints == joint) & (turns > 0)].min()), joint)
            for joint in limb.joints
            if turns[moves.joints == joint].sum() >= MIN_FOLLOW_DEG
        }
        names = [self.part_name(joint) for joint in sorted(parts, key=lambda joint: parts[joint])]
        span = slice(action_span.start, action_span.end + 1)
        return Action(
            kind=action_span.kind,
            limbs=(limb.name,),
            start=start,
            end=end,
            start_s=start / self.swings.fps,
            end_s=end / self.swings.fps,
            lead=names[0] if names else "",
            follow=tuple(names[1:]),
            turn_deg=float(turns.sum()),
            reach_m=_farthest(limb.end[span] - self.body.root[span]),
            height_m=_largest_change(self.paths[limb.name][span, 1]),
            speed_m_per_s=float(self.speeds[limb.name][span].max()),
            direction=action_span.direction,
            is_mirrored=limb.name.startswith("left"),
            swings=moves.swings_within(start, end),
        )

    def part_name(self, joint: int) -> str:
        """Return the body part of a joint in words, or its own name."""
        part = self.swings.skeleton.anatomy.body_parts[joint]
        return self.swings.skeleton.names[joint] if part is None else part.replace("_", " ")

    def build_body_action(self, action_span: ActionSpan) -> Action:
        """Return an action of the whole body, led by the part whose swings start first; of several that turns most."""
        start, end = (
            _clip_frame(sample, self.swings.fps, self.swings.n_frames)
            for sample in (action_span.start, action_span.end)
        )
        starts: dict[str, tuple[int, float]] = {}
        for part, moves in self.moves.items():
            turns = moves.turns_deg(start, end)
            if turns.sum() >= MIN_FOLLOW_DEG:
                starts[part] = (int(moves.starts[turns > 0].min()), -float(turns.sum()))
        parts = sorted(starts, key=lambda part: starts[part])
        span = slice(action_span.start, action_span.end + 1)
        root = self.body.root[span]
        return Action(
            kind=action_span.kind,
            limbs=(),
            start=start,
            end=end,
            start_s=start / self.swings.fps,
            end_s=end / self.swings.fps,
            lead=parts[0] if parts else "",
            follow=tuple(parts[1:]),
            turn_deg=action_span.turn_deg,
            reach_m=_farthest(root - root[0]),
            height_m=_largest_change(root[:, 1]),
            speed_m_per_s=float(self.root_speed[span].max()),
            direction=action_span.direction,
            is_mirrored=action_span.kind == "turn left",
            swings=_in_order(swing for part in parts for swing in self.moves[part].swings_within(start, end)),
        )

    def group(self, limb_actions: Sequence[Action]) -> Iterator[Action]:
        """Yield the body actions of limb actions, in order of time, that overlap with the first of them by more than
        ``min_overlap`` of the longer one."""
        is_free = [True] * len(limb_actions)
        for n, first in enumerate(limb_actions):
            if not is_free[n]:
                continue
            indices = [n]
            limbs = set(first.limbs)
            for k in range(n + 1, len(limb_actions)):
                other = limb_actions[k]
                if other.start >= first.end:
                    break
                longer = max(first.end - first.start, other.end - other.start)
                common = min(first.end, other.end) - other.start
                if is_free[k] and limbs.isdisjoint(other.limbs) and common > LIMITS.min_overlap * longer:
                    indices.append(k)
                    limbs |= set(other.limbs)
            if len(indices) > 1:
                for k in indices:
                    is_free[k] = False
                yield self.build_group([limb_actions[k] for k in indices])

    def build_group(self, members: Sequence[Action]) -> Action:
        """Return the body action of limb actions in order of time; the first leads."""
        kind = min((member.kind for member in members), key=_PRIORITY.index)
        of_kind = [member for member in members if member.kind == kind]
        strongest = max(of_kind, key=lambda member: member.speed_m_per_s)
        start, end = members[0].start, max(member.end for member in members)
        limbs = tuple(sorted(limb for member in of_kind for limb in member.limbs))
        return Action(
            kind=kind,
            limbs=limbs,
            start=start,
            end=end,
            start_s=start / self.swings.fps,
            end_s=end / self.swings.fps,
            lead=members[0].limbs[0],
            follow=tuple(member.limbs[0] for member in members[1:]),
            turn_deg=sum(member.turn_deg for member in members),
            reach_m=max(member.reach_m for member in of_kind),
            height_m=max((member.height_m for member in of_kind), key=abs),
            speed_m_per_s=strongest.speed_m_per_s,
            direction=strongest.direction,
            is_mirrored=all(limb.startswith("left") for limb in limbs),
            swings=_in_order(swing for member in members for swing in member.swings),
            members=tuple(members),
        )


def _in_order(swings: Iterable[Swing]) -> tuple[Swing, ...]:
    return tuple(sorted(swings, key=lambda swing: swing.start))


def _farthest(offsets: Floats) -> float:
    """Return the largest horizontal length of offsets (T, 3)."""
    return float(np.hypot(offsets[:, 0], offsets[:, 2]).max())


def _largest_change(values: Floats) -> float:
    """Return the largest change of ``values`` (T,) since the first one, with its sign."""
    changes = values - values[0]
    return float(changes[np.abs(changes).argmax()])


def _limb_phrases(actions: Sequence[Action]) -> Iterator[str]:
    """Yield a phrase for each kind of limb actions: ``"raises both arms"``, ``"right leg steps forward"``."""
    for kind in dict.fromkeys(action.kind for action in actions):
        same = [action for action in actions if action.kind == kind]
        for limb in ("arm", "leg"):
            some = [action for action in same if action.limbs[0].endswith(limb)]
            if not some:
                continue
            name, verb = some[0].limbs[0], _VERBS[kind]
            if len(some) > 1:
                name, verb = f"both {limb}s", verb if kind in ("raise", "lower") else kind
            if kind in ("raise", "lower"):
                yield f"{verb} {name}"
                continue
            directions = {action.direction for action in some}
            direction = directions.pop() if len(directions) == 1 else None
            yield f"{name} {verb}" + (f" {direction}" if direction else "")
