"""Swings as bars over time, for pictures: one row per joint, and foot contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keypose.arrays import runs
from keypose.model import FootContacts
from keypose.swings.model import Swings
from keypose.swings.track import Track

Kind = Literal["swing", "rest", "keys"]


@dataclass(frozen=True)
class Bar:
    """One swing, rest or keyed span. Its seconds are those of its first and last frame."""

    kind: Kind
    start: int  # frame
    end: int  # the last frame
    start_s: float
    end_s: float
    angle_deg: float | None = None  # of a swing
    axis: tuple[float, float, float] | None = None  # of a swing, unit, in the joint's own frame

    @property
    def n_frames(self) -> int:
        """The number of frames, first and last included."""
        return self.end - self.start + 1

    @property
    def deg_per_s(self) -> float | None:
        """The speed of a swing; None for others."""
        return None if self.angle_deg is None else self.angle_deg / (self.end_s - self.start_s)


@dataclass(frozen=True)
class Row:
    """The row of one joint: bars in order of time without overlaps; between them the joint is interpolated."""

    joint: str
    body_part: str | None  # None: not recognised
    left_out: bool  # whether it is stored frame by frame, as fingers and toes
    bars: tuple[Bar, ...]

    def count_frames(self, kind: Kind) -> int:
        """Return the number of frames that bars of one kind cover."""
        return sum(bar.n_frames for bar in self.bars if bar.kind == kind)


@dataclass(frozen=True)
class ContactBar:
    """One foot contact. Its seconds are those of its first and last frame."""

    foot: str  # "left", "right"
    start: int  # frame
    end: int  # the last frame
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Timeline:
    """The data of a picture of swings."""

    name: str
    fps: float
    n_frames: int
    duration_s: float  # from the first frame to the end of the last one
    rows: tuple[Row, ...]  # (J,) in the skeleton's order
    contacts: tuple[ContactBar, ...]  # in order of time

    def row(self, joint: str) -> Row:
        """Return the row of a joint, by its own name."""
        return next(row for row in self.rows if row.joint == joint)


def build_timeline(swings: Swings) -> Timeline:
    """Return the bars of all joints, and the foot contacts of the motion in which the swings were found."""
    rows = []
    for j, (track, part) in enumerate(zip(swings.tracks, swings.skeleton.anatomy.body_parts, strict=True)):
        rows.append(Row(track.joint, part, swings.is_left_out(j), _bars(track, swings.fps)))
    contacts = () if swings.contacts is None else _contact_bars(swings.contacts, swings.fps)
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


def _contact_bars(contacts: FootContacts, fps: float) -> tuple[ContactBar, ...]:
    bars = []
    for f, foot in enumerate(contacts.feet):
        for start, stop in runs(contacts.in_contact[:, f]):
            bars.append(ContactBar(foot, start, stop - 1, start / fps, (stop - 1) / fps))
    return tuple(sorted(bars, key=lambda span: (span.start, span.foot)))
