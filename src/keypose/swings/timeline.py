"""Swings as bars against time, for pictures: a row for each joint, and when feet stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keypose.arrays import runs
from keypose.model import FootContacts
from keypose.swings.noun import Swings
from keypose.swings.track import Track

Kind = Literal["swing", "rest", "keys"]


@dataclass(frozen=True)
class Bar:
    """One thing that a joint does. Its seconds are those of its first and last frame."""

    kind: Kind
    start: int  # frame
    end: int  # the last frame
    start_s: float
    end_s: float
    angle_deg: float | None = None  # of a swing,
    axis: tuple[float, float, float] | None = None  # and about what it turns, unit, in the joint's own frame

    @property
    def n_frames(self) -> int:
        """How many frames it covers, first and last included."""
        return self.end - self.start + 1

    @property
    def deg_per_s(self) -> float | None:
        """How fast a swing turns."""
        return None if self.angle_deg is None else self.angle_deg / (self.end_s - self.start_s)


@dataclass(frozen=True)
class Row:
    """What one joint does: bars in order of time, none over another; between them the joint is bridged."""

    joint: str
    part: str | None  # the body part, where it is recognised
    left_out: bool  # kept frame by frame from the start, as fingers and toes are
    bars: tuple[Bar, ...]

    def frames(self, kind: Kind) -> int:
        """How many frames its bars of one kind cover."""
        return sum(bar.n_frames for bar in self.bars if bar.kind == kind)


@dataclass(frozen=True)
class Standing:
    """One foot on the ground. Its seconds are those of its first and last frame."""

    foot: str  # "left", "right"
    start: int  # frame
    end: int  # the last frame
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Timeline:
    """All that a picture of swings shows."""

    name: str
    fps: float
    n_frames: int
    duration_s: float  # from the first frame to the end of the last one
    rows: tuple[Row, ...]  # (J,) in the skeleton's order
    contacts: tuple[Standing, ...]  # in order of time

    def row(self, joint: str) -> Row:
        """The row of a joint, by its own name."""
        return next(row for row in self.rows if row.joint == joint)


def timeline(swings: Swings) -> Timeline:
    """The bars of all joints, and the feet's contacts in the motion that the swings were found in."""
    rows = []
    for j, (track, part) in enumerate(zip(swings.tracks, swings.skeleton.anatomy.parts, strict=True)):
        rows.append(Row(track.joint, part, swings.is_left_out(j), _bars(track, swings.fps)))
    contacts = () if swings.contacts is None else _standings(swings.contacts, swings.fps)
    return Timeline(swings.name, swings.fps, swings.n_frames, swings.duration_s, tuple(rows), contacts)


def _bars(track: Track, fps: float) -> tuple[Bar, ...]:
    bars = [Bar("keys", span.start, span.end, span.start / fps, span.end / fps) for span in track.keyed]
    for start, end in zip(track.rest_starts.tolist(), track.rest_ends.tolist(), strict=True):
        bars.append(Bar("rest", start, end, start / fps, end / fps))
    for swing in track.swings:
        x, y, z = swing.axis.tolist()
        bars.append(
            Bar("swing", swing.start, swing.end, swing.start / fps, swing.end / fps, swing.angle_deg, (x, y, z))
        )
    return tuple(sorted(bars, key=lambda bar: bar.start))


def _standings(contacts: FootContacts, fps: float) -> tuple[Standing, ...]:
    found = []
    for f, foot in enumerate(contacts.feet):
        for start, stop in runs(contacts.touching[:, f]):
            found.append(Standing(foot, start, stop - 1, start / fps, (stop - 1) / fps))
    return tuple(sorted(found, key=lambda span: (span.start, span.foot)))
