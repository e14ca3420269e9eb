"""C3D, the format of optical motion capture, read without any other package.

Markers become a skeleton of roots: a joint per marker, positions only. A file of segments (the ROTATION group of
markerless systems) becomes a skeleton of roots that also rotate. docs/decisions/c3d.md explains why Keypose has a
reader although two packages read C3D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, freeze
from keypose.errors import Hint, format_count
from keypose.formats.base import Format, Source
from keypose.formats.c3d.contents import Contents, looks_like_c3d
from keypose.formats.c3d.data import find_layout, read_points, read_segments
from keypose.formats.orientation import find_up, frames_to_skip, unique_names
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.options import LoadOptions
from keypose.rotations import IDENTITY, from_matrix, slerp

DEFAULT_FPS = 100.0  # if the file states no rate
METRES_PER_UNIT = {
    "mm": 1e-3, "millimeters": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "meters": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
# Vicon stores computed values (angles in degrees, ...) like points and lists their labels in these parameters.
NOT_POSITIONS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
SEGMENT_SUFFIX = "_4X4"  # Theia3D and Visual3D append it to every segment's name
ROTATION_TOLERANCE = 0.01  # maximum difference of the matrix of a segment from an orthonormal one


@dataclass
class _Tracks:
    """The markers or segments of a file over time."""

    kind: str  # "marker" or "segment"
    names: list[str]
    positions: Floats  # (T, J, 3)
    rotations: Floats | None  # (T, J, 4), None for markers
    is_visible: Bools  # (T, J)

    def select(self, mask: Bools) -> None:
        """Drop all tracks that are not in ``mask`` (J,)."""
        self.names = [name for name, is_selected in zip(self.names, mask.tolist(), strict=True) if is_selected]
        self.positions, self.is_visible = self.positions[:, mask], self.is_visible[:, mask]
        self.rotations = None if self.rotations is None else self.rotations[:, mask]


def read(source: Source, options: LoadOptions) -> Motion:
    """Read a C3D file; ``options.animation`` is "points" or "rotations"."""
    contents = Contents(source)
    tracks = _read_tracks(contents, options.animation)
    _drop_invisible(source, tracks)
    _fill_gaps(source, tracks, options.gaps)
    frames, joints = tracks.is_visible.shape
    has_rotations = tracks.rotations is not None
    skeleton = Skeleton(
        names=unique_names(source, tracks.names),
        parents=np.full(joints, -1, np.int32),
        offsets=np.zeros((joints, 3)),
        channels=() if has_rotations else (POSITION_CHANNELS,) * joints,
    )
    rotations = tracks.rotations
    if rotations is None:
        rotations = np.tile(np.array(IDENTITY), (frames, joints, 1))
    skip = frames_to_skip(rotations, options.reference_pose)
    reference = Pose(tracks.positions[0], rotations[0]) if skip else None
    positions, rotations = freeze(tracks.positions)[skip:], freeze(rotations)[skip:]
    start = contents.frame_number("TRIAL:ACTUAL_START_FIELD")
    return Motion(
        name=source.name,
        skeleton=skeleton,
        fps=_read_fps(contents, has_rotations),
        translations=positions,
        rotations=rotations,
        up=_read_up(contents) or find_up(skeleton, positions, rotations, default="Z"),
        metres_per_unit=_read_metres_per_unit(contents),
        first_frame=(contents.header.first_frame if start is None else start) + skip,
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _read_tracks(contents: Contents, animation: str | int | None) -> _Tracks:
    """Read the markers; the segments if there are no markers or ``animation`` demands them."""
    source, layout = contents.source, find_layout(contents)
    segments = contents.count("ROTATION:USED")
    available = ["points"] * (layout is not None) + ["rotations"] * (segments > 0)
    if not available:
        raise source.error(
            "no markers (POINT:USED is 0) and no segments (ROTATION)", code="missing_data", expected="one or the other"
        )
    index = 0 if animation is None else available.index(animation) if animation in available else animation
    if not isinstance(index, int) or not 0 <= index < len(available):
        assert animation is not None
        raise source.unknown_animation_error(animation, available)
    if available[index] == "points" and layout is not None:
        if segments:
            source.note(f"{segments} segments are in the file too; the animation 'rotations' reads them")
        return _read_markers(contents, *read_points(contents, layout))
    return _read_segments(contents)


def _read_markers(contents: Contents, positions: Floats, is_visible: Bools) -> _Tracks:
    count = positions.shape[1]
    labels = contents.texts("POINT:LABELS")[:count]
    n_unnamed = sum(not label for label in labels) + count - len(labels)
    if n_unnamed:
        contents.source.note(f"{n_unnamed} of {count} markers have no label; they are numbered")
    names = [label or f"marker_{i:03d}" for i, label in enumerate(labels, 1)]
    names += [f"marker_{i:03d}" for i in range(len(names) + 1, count + 1)]
    tracks = _Tracks("marker", names, positions, None, is_visible)
    computed_labels = {label for group in NOT_POSITIONS for label in contents.texts(f"POINT:{group}") if label}
    is_position = np.array([name not in computed_labels for name in names])
    if not is_position.all():
        contents.source.note(
            f"{int((~is_position).sum())} of {count} points are no positions (angles, forces, ...) and are left out"
        )
        tracks.select(is_position)
    return tracks


def _read_segments(contents: Contents) -> _Tracks:
    source = contents.source
    matrices, is_visible = read_segments(contents)
    labels = contents.texts("ROTATION:LABELS")[: is_visible.shape[1]]
    names = [label.removesuffix(SEGMENT_SUFFIX) or f"segment_{i:03d}" for i, label in enumerate(labels, 1)]
    names += [f"segment_{i:03d}" for i in range(len(names) + 1, is_visible.shape[1] + 1)]
    rotation_matrices = np.where(is_visible[..., None, None], matrices[..., :3, :3], np.eye(3))
    errors = np.abs(rotation_matrices @ rotation_matrices.swapaxes(-1, -2) - np.eye(3)).max(axis=(2, 3))
    is_mirrored = np.linalg.det(rotation_matrices) < 0
    invalid = np.argwhere((errors > ROTATION_TOLERANCE) | is_mirrored)
    if len(invalid):
        frame, segment = (int(i) for i in invalid[0])
        raise source.error(
            f"frame {frame}, segment {names[segment]}: not a rotation (off by {errors[frame, segment]:g})",
            code="bad_number",
            expected="an orthonormal matrix",
        )
    return _Tracks("segment", names, matrices[..., :3, 3].copy(), from_matrix(rotation_matrices), is_visible)


def _drop_invisible(source: Source, tracks: _Tracks) -> None:
    is_ever_visible: Bools = np.any(tracks.is_visible, axis=0)
    if not is_ever_visible.any():
        raise source.error(f"no {tracks.kind} is seen in any frame", code="missing_data", expected="at least one")
    if not is_ever_visible.all():
        invisible = [tracks.names[j] for j in np.flatnonzero(~is_ever_visible).tolist()]
        listing = ", ".join(invisible[:8]) + (", ..." if len(invisible) > 8 else "")
        source.warn(
            f"{len(invisible)} of {len(is_ever_visible)} {tracks.kind}s are never visible and are left out: {listing}",
            code="never_visible",
            value=len(invisible),
        )
        tracks.select(is_ever_visible)


def _fill_gaps(source: Source, tracks: _Tracks, gaps: str) -> None:
    """Fill missing positions in place: linearly between visible frames, constant before and after them."""
    is_missing = ~tracks.is_visible
    if not is_missing.any():
        return
    has_gaps: Bools = np.any(is_missing, axis=0)
    frame, joint = (int(i) for i in np.argwhere(is_missing)[0])
    total = f"{int(is_missing.sum())} of {is_missing.size} positions, of {int(has_gaps.sum())} of {len(has_gaps)} "
    total += f"{tracks.kind}s, in {int(is_missing.any(axis=1).sum())} of {format_count(len(is_missing), 'frame')}"
    if gaps == "refuse":
        raise source.error(
            f"frame {frame}: {tracks.kind} {tracks.names[joint]} was not seen (in all {total})",
            code="missing_data",
            expected="no gaps",
            hint=Hint(python="gaps='fill' fills them", command="--gaps fill fills them"),
        )
    source.warn(f"gaps filled: {total}", code="gaps_filled", value=int(is_missing.sum()))
    for j in np.flatnonzero(has_gaps).tolist():
        visible_frames, gap_frames = np.flatnonzero(tracks.is_visible[:, j]), np.flatnonzero(is_missing[:, j])
        index = np.searchsorted(visible_frames, gap_frames)
        before = visible_frames[np.maximum(index - 1, 0)]
        after = visible_frames[np.minimum(index, len(visible_frames) - 1)]
        fraction = np.clip((gap_frames - before) / np.maximum(after - before, 1), 0.0, 1.0)[:, None]
        positions = tracks.positions[:, j]
        positions[gap_frames] = positions[before] * (1.0 - fraction) + positions[after] * fraction
        if tracks.rotations is not None:
            rotations = tracks.rotations[:, j]
            rotations[gap_frames] = slerp(rotations[before], rotations[after], fraction)


def _read_fps(contents: Contents, has_rotations: bool) -> float:
    candidates = [contents.number("ROTATION:RATE")] if has_rotations else []
    candidates += [contents.number("POINT:RATE"), contents.header.rate]
    rates = [rate for rate in candidates if rate is not None and math.isfinite(rate) and rate > 0]
    if not rates:
        contents.source.warn(f"the file has no frame rate; {DEFAULT_FPS:g} fps is assumed", code="no_frame_rate")
        return DEFAULT_FPS
    if not has_rotations and abs(rates[0] - rates[-1]) > 1e-3 * rates[0]:
        contents.source.warn(
            f"POINT:RATE is {rates[0]:g}, the header's rate {rates[-1]:g}; {rates[0]:g} is used",
            code="header_mismatch",
            value=rates[-1],
        )
    return rates[0]


def _read_up(contents: Contents) -> Up | None:
    """Return the axis of POINT:Y_SCREEN without its sign, as Qualisys writes -Z for +Z; None if not stated."""
    axis = "".join(contents.texts("POINT:Y_SCREEN")[:1]).upper().lstrip("+-")
    ups: dict[str, Up] = {"X": "X", "Y": "Y", "Z": "Z"}
    return ups.get(axis)


def _read_metres_per_unit(contents: Contents) -> float | None:
    units = contents.texts("POINT:UNITS")
    unit = units[0].lower().rstrip(".") if units else ""
    if unit and unit not in METRES_PER_UNIT:
        contents.source.note(f"POINT:UNITS is {units[0]!r}, which is not a known unit of length")
    return METRES_PER_UNIT.get(unit)


FORMAT = Format("C3D", (".c3d",), looks_like_c3d, read)
