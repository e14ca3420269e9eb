"""C3D, the format of optical capture: markers in space, read without any other package.

Markers become a skeleton of roots: a joint per marker, positions only. A file of segments instead (the
ROTATION group of markerless systems) becomes a skeleton of roots that also turn. Why there is a reader
here although two packages read C3D: docs/decisions/c3d.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, give_away
from keypose.errors import OptionError
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.c3d.contents import Contents, looks_like_c3d
from keypose.formats.c3d.data import find_layout, read_points, read_segments
from keypose.formats.names import unique_names
from keypose.formats.orientation import find_up
from keypose.formats.reference import frames_to_skip
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import IDENTITY, from_matrix, slerp

DEFAULT_FPS = 100.0  # where the file states no rate
METRES_PER_UNIT = {
    "mm": 1e-3, "millimeters": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "meters": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
# Vicon stores what it computed (angles in degrees, ...) as if it were points and lists the labels here.
NOT_POSITIONS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
SEGMENT_SUFFIX = "_4X4"  # Theia3D and Visual3D put it behind every segment's name
ROTATION_TOLERANCE = 0.01  # how far a segment's matrix may be from orthonormal


@dataclass
class _Tracks:
    """What the file follows through time."""

    what: str  # "marker" or "segment"
    names: list[str]
    positions: Floats  # (T, J, 3)
    rotations: Floats | None  # (T, J, 4), None for markers
    seen: Bools  # (T, J)

    def keep(self, those: Bools) -> None:
        """Leaves out the others, ``those`` being (J,)."""
        self.names = [name for name, kept in zip(self.names, those.tolist(), strict=True) if kept]
        self.positions, self.seen = self.positions[:, those], self.seen[:, those]
        self.rotations = None if self.rotations is None else self.rotations[:, those]


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from the content of a C3D file; ``options.animation`` is "points" or "rotations"."""
    contents = Contents(source)
    tracks = _read_tracks(contents, options.animation)
    _drop_unseen(source, tracks)
    _close_gaps(source, tracks, options.gaps)
    frames, joints = tracks.seen.shape
    turning = tracks.rotations is not None
    skeleton = Skeleton(
        names=unique_names(source, tracks.names),
        parents=np.full(joints, -1, np.int32),
        offsets=np.zeros((joints, 3)),
        channels=() if turning else (POSITION_CHANNELS,) * joints,
    )
    rotations = tracks.rotations
    if rotations is None:
        rotations = np.tile(np.array(IDENTITY), (frames, joints, 1))
    skip = frames_to_skip(rotations, options.reference_pose)
    reference = Pose(tracks.positions[0], rotations[0]) if skip else None
    positions, rotations = give_away(tracks.positions)[skip:], give_away(rotations)[skip:]
    start = contents.frame_number("TRIAL:ACTUAL_START_FIELD")
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=_fps(contents, turning),
        translations=positions,
        rotations=rotations,
        up=_named_up(contents) or find_up(skeleton, positions, rotations, default="Z"),
        metres_per_unit=_metres_per_unit(contents),
        first_frame=(contents.header.first_frame if start is None else start) + skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _read_tracks(contents: Contents, animation: str | int | None) -> _Tracks:
    """The markers, or the segments where there are no markers or they are asked for."""
    source, layout = contents.source, find_layout(contents)
    segments = contents.count("ROTATION:USED")
    there = ["points"] * (layout is not None) + ["rotations"] * (segments > 0)
    if not there:
        raise source.error("no markers (POINT:USED is 0) and no segments (ROTATION), expected one or the other")
    wanted = 0 if animation is None else there.index(animation) if animation in there else animation
    if not isinstance(wanted, int) or not 0 <= wanted < len(there):
        raise OptionError(f"{source.path}: animation={animation!r}, expected one of {', '.join(map(repr, there))}")
    if there[wanted] == "points" and layout is not None:
        if segments:
            source.note(f"{segments} segments are in the file too: animation='rotations' reads them instead")
        return _read_markers(contents, *read_points(contents, layout))
    return _read_segments(contents)


def _read_markers(contents: Contents, positions: Floats, seen: Bools) -> _Tracks:
    count = positions.shape[1]
    labels = contents.texts("POINT:LABELS")[:count]
    unnamed = sum(not label for label in labels) + count - len(labels)
    if unnamed:
        contents.source.note(f"{unnamed} of {count} markers have no label; they are numbered")
    names = [label or f"marker_{i:03d}" for i, label in enumerate(labels, 1)]
    names += [f"marker_{i:03d}" for i in range(len(names) + 1, count + 1)]
    tracks = _Tracks("marker", names, positions, None, seen)
    computed = {label for group in NOT_POSITIONS for label in contents.texts(f"POINT:{group}") if label}
    places = np.array([name not in computed for name in names])
    if not places.all():
        contents.source.note(f"{int((~places).sum())} of {count} points are angles, forces or the like: left out")
        tracks.keep(places)
    return tracks


def _read_segments(contents: Contents) -> _Tracks:
    source = contents.source
    matrices, seen = read_segments(contents)
    labels = contents.texts("ROTATION:LABELS")[: seen.shape[1]]
    names = [label.removesuffix(SEGMENT_SUFFIX) or f"segment_{i:03d}" for i, label in enumerate(labels, 1)]
    names += [f"segment_{i:03d}" for i in range(len(names) + 1, seen.shape[1] + 1)]
    turns = np.where(seen[..., None, None], matrices[..., :3, :3], np.eye(3))
    off = np.abs(turns @ turns.swapaxes(-1, -2) - np.eye(3)).max(axis=(2, 3))
    mirrored = np.linalg.det(turns) < 0
    wrong = np.argwhere((off > ROTATION_TOLERANCE) | mirrored)
    if len(wrong):
        frame, segment = (int(i) for i in wrong[0])
        raise source.error(f"frame {frame}, segment {names[segment]}: not a rotation (off by "
                           f"{off[frame, segment]:g}), expected an orthonormal matrix")  # fmt: skip
    return _Tracks("segment", names, matrices[..., :3, 3].copy(), from_matrix(turns), seen)


def _drop_unseen(source: Source, tracks: _Tracks) -> None:
    ever: Bools = np.any(tracks.seen, axis=0)
    if not ever.any():
        raise source.error(f"no {tracks.what} is seen in any frame, expected at least one")
    if not ever.all():
        never = [name for name, kept in zip(tracks.names, ever.tolist(), strict=True) if not kept]
        shown = ", ".join(never[:8]) + (", ..." if len(never) > 8 else "")
        source.warn(f"{len(never)} of {len(ever)} {tracks.what}s are never seen and left out: {shown}")
        tracks.keep(ever)


def _close_gaps(source: Source, tracks: _Tracks, gaps: str) -> None:
    """Fills, in place, what was not seen: evenly between the frames around, else as in the nearest one."""
    lost = ~tracks.seen
    if not lost.any():
        return
    with_gaps: Bools = np.any(lost, axis=0)
    frame, joint = (int(i) for i in np.argwhere(lost)[0])
    total = f"{int(lost.sum())} of {lost.size} positions, of {int(with_gaps.sum())} of {len(with_gaps)} "
    total += f"{tracks.what}s, in {int(lost.any(axis=1).sum())} of {len(lost)} frames"
    if gaps == "refuse":
        raise source.error(
            f"frame {frame}: {tracks.what} {tracks.names[joint]} was not seen (in all {total}), "
            f"expected no gaps; gaps='fill' fills them"
        )
    source.warn(f"gaps filled: {total}")
    for j in np.flatnonzero(with_gaps).tolist():
        at, gap = np.flatnonzero(tracks.seen[:, j]), np.flatnonzero(lost[:, j])
        place = np.searchsorted(at, gap)
        before, after = at[np.maximum(place - 1, 0)], at[np.minimum(place, len(at) - 1)]
        part = np.clip((gap - before) / np.maximum(after - before, 1), 0.0, 1.0)[:, None]
        positions = tracks.positions[:, j]
        positions[gap] = positions[before] * (1.0 - part) + positions[after] * part
        if tracks.rotations is not None:
            rotations = tracks.rotations[:, j]
            rotations[gap] = slerp(rotations[before], rotations[after], part)


def _fps(contents: Contents, turning: bool) -> float:
    stated = [contents.number("ROTATION:RATE")] if turning else []
    stated += [contents.number("POINT:RATE"), contents.header.rate]
    rates = [rate for rate in stated if rate is not None and math.isfinite(rate) and rate > 0]
    if not rates:
        contents.source.warn(f"no frame rate is stated; {DEFAULT_FPS:g} fps is assumed")
        return DEFAULT_FPS
    if not turning and abs(rates[0] - rates[-1]) > 1e-3 * rates[0]:
        contents.source.warn(f"POINT:RATE is {rates[0]:g}, the header's rate {rates[-1]:g}; {rates[0]:g} is taken")
    return rates[0]


def _named_up(contents: Contents) -> Up | None:
    """The axis that POINT:Y_SCREEN puts upright, its sign left aside: Qualisys writes -Z and means +Z."""
    axis = "".join(contents.texts("POINT:Y_SCREEN")[:1]).upper().lstrip("+-")
    ups: dict[str, Up] = {"X": "X", "Y": "Y", "Z": "Z"}
    return ups.get(axis)


def _metres_per_unit(contents: Contents) -> float | None:
    units = contents.texts("POINT:UNITS")
    unit = units[0].lower().rstrip(".") if units else ""
    if unit and unit not in METRES_PER_UNIT:
        contents.source.note(f"POINT:UNITS is {units[0]!r}, which is no unit of length known here")
    return METRES_PER_UNIT.get(unit)


FORMAT = Format("C3D", (".c3d",), looks_like_c3d, read)
