"""Scene of a strip: poses, camera and layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from keypose.api.select import ladder
from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.cache import cache_weakly
from keypose.errors import Hint, OptionError, format_count
from keypose.kinematics import heights_above
from keypose.model import Motion, Selection
from keypose.options import check_option_int
from keypose.options.pictures import MAX_POSES, Layout, StripOptions
from keypose.pictures.figure import build_body
from keypose.pictures.figure.body import Solids, build_solids
from keypose.pictures.figure.paint import SLANT, sample_motion
from keypose.pictures.joint_rows import Keys, key_frames
from keypose.pictures.strip.canvas import (
    DEPTH_BEHIND,
    DEPTH_IN_FRONT,
    ROW_LAYOUTS,
    by_time,
    expand_along_path,
    in_rows,
    row_floors,
)
from keypose.pictures.view import ELEVATION, View, build_view
from keypose.validation import check_text

PATH_ELEVATION = 22.0  # degrees; higher than in other layouts, so that the path is visible
MIN_IN_PLACE_OPACITY = 0.25  # of the first pose in layout "in-place"
PATH_LAYOUTS: tuple[Layout, ...] = ("path", "expanded")

DEFAULT_KEYS = 8  # without a selection
GHOST_OPACITY = 0.15  # below that of any key
MIN_KEY_OPACITY = 0.45  # of the least important key

FLOOR_PERCENT = 20.0  # percentage of poses below the floor, so that a low toe does not lower it
N_PATH_POINTS = 160


@dataclass(frozen=True, eq=False)
class Scene(Frozen):
    """Poses, camera and layout."""

    motion: Motion
    choice: PoseChoice
    layout: Layout
    view: View
    poses: ProjectedPoses
    shadow_boxes: Floats  # (F, 2, 2)
    path: tuple[Floats, Floats] | None  # frames, and positions on the floor
    opacity: Floats  # (F,)

    @property
    def rows(self) -> Ints:
        """The row of each pose (F,)."""
        return self.choice.rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows[-1]) + 1

    @property
    def sine(self) -> float:
        """Sine of the camera's elevation: vertical scale of the floor."""
        return float(np.sin(np.radians(self.view.elevation)))

    def place(self, min_width: float, between: float) -> Floats:
        """Return offsets (F, 2) of all poses, rows ``between`` heights apart; ghosts are interpolated between keys."""
        keys: Ints = np.flatnonzero(self.choice.is_key).astype(np.int32)
        boxes, frames = self.poses.boxes[keys], self.choice.frames.astype(float)
        offsets = np.zeros((len(frames), 2))
        if self.layout in PATH_LAYOUTS:
            across = self.poses.anchors[:, 0]
            shift = (
                expand_along_path(boxes, across[keys]) - across[keys]
                if self.layout == "expanded"
                else np.zeros(len(keys))
            )
            offsets[:, 0] = across + np.interp(frames, frames[keys], shift)
            offsets[:, 1] = -self.sine * self.poses.anchors[:, 1]
        elif self.layout == "time":
            key_offsets = by_time(boxes, frames[keys] / self.motion.fps, self.rows[keys], min_width)
            for row in range(self.n_rows):
                own, own_keys = self.rows == row, self.rows[keys] == row
                offsets[own, 0] = np.interp(frames[own], frames[keys][own_keys], key_offsets[own_keys])
        elif self.layout == "side":
            offsets[:, 0] = self._side_by_side(keys, min_width)
        if self.layout in ROW_LAYOUTS:
            offsets[:, 1] = row_floors(*self._row_reach(), between)[self.rows]
        return offsets

    def _side_by_side(self, keys: Ints, min_width: float) -> Floats:
        """Return offsets (F,) side by side; after the last key of a row, ghosts continue as if another key followed."""
        boxes, frames, rows = self.poses.boxes[keys], self.choice.frames.astype(float), self.rows[keys]
        key_offsets = in_rows(boxes, rows, min_width)
        offsets = np.empty(len(frames))
        for row in range(self.n_rows):
            own, inside = np.flatnonzero(rows == row), self.rows == row
            last, next_frame = own[-1], frames[keys[own[-1] + 1 :]][: 0 if self.choice.labels else 1]
            at = np.append(frames[keys[own]], next_frame)
            to = np.append(key_offsets[own], [key_offsets[last] + np.ptp(boxes[last, :, 0])] * len(next_frame))
            offsets[inside] = np.interp(frames[inside], at, to)
        return offsets

    def _row_reach(self) -> tuple[Floats, Floats]:
        """Return how far each row reaches below and above its floor (R,), including shadows."""
        low = np.minimum(self.poses.boxes[:, 0, 1], self.shadow_boxes[:, 0, 1])
        high = np.maximum(self.poses.boxes[:, 1, 1], self.shadow_boxes[:, 1, 1])
        row_masks = [self.rows == row for row in range(self.n_rows)]
        return (np.array([min(float(low[own].min()), -DEPTH_IN_FRONT) for own in row_masks]),
                np.array([max(float(high[own].max()), DEPTH_BEHIND) for own in row_masks]))  # fmt: skip

    def label_heights(self, offsets: Floats) -> list[float]:
        """Return the height below which the figures of each row stay, in heights above the origin."""
        above = self._row_reach()[1]
        return [float(offsets[self.rows == row, 1][0] + above[row]) for row in range(self.n_rows)]

    def row_ends(self, offsets: Floats) -> Floats:
        """Return the lower end of the row of each pose (F,)."""
        ends: Floats = offsets[:, 1] + self._row_reach()[0][self.rows]
        return ends

    def extent(self, offsets: Floats) -> Floats:
        """Return min and max x and y (2, 2) of figures, shadows and the path."""
        both = np.concatenate((self.poses.boxes, self.shadow_boxes)) + np.tile(offsets, (2, 1))[:, None]
        low, high = both[:, 0].min(axis=0), both[:, 1].max(axis=0)
        if self.layout not in PATH_LAYOUTS:
            below, above = self._row_reach()
            low[1], high[1] = (offsets[:, 1] + below[self.rows]).min(), (offsets[:, 1] + above[self.rows]).max()
        else:
            path_points = self.floor_path(offsets)[1] * (1.0, -self.sine)
            low, high = (
                np.minimum(low, path_points.min(axis=0) - 0.05),
                np.maximum(high, path_points.max(axis=0) + 0.05),
            )
        return np.stack((low, high))

    def floor_path(self, offsets: Floats) -> tuple[Floats, Floats]:
        """Return frames and positions of the path after poses are moved apart."""
        assert self.path is not None
        frames, positions = self.path
        shift = np.interp(frames, self.choice.frames, offsets[:, 0] - self.poses.anchors[:, 0])
        return frames, positions + np.stack((shift, np.zeros_like(shift)), axis=1)


def build_scene(
    motion: Motion,
    choice: PoseChoice,
    layout: Layout,
    view: str | float,
    *,
    is_ranked: bool,
) -> Scene:
    """Build the scene; in layout "in-place" earlier poses are fainter unless they are ranked."""
    camera = build_view(motion, view, elevation=PATH_ELEVATION if layout in PATH_LAYOUTS else ELEVATION)
    poses = project_poses(motion, camera, choice.frames)
    sine = float(np.sin(np.radians(camera.elevation)))
    path = None
    if layout in PATH_LAYOUTS:
        path = floor_path(motion, camera, int(choice.frames[0]), int(choice.frames[-1]))
    opacity = choice.opacity
    if layout == "in-place" and not is_ranked:
        keys = choice.is_key
        opacity = opacity.copy()
        opacity[keys] = np.geomspace(MIN_IN_PLACE_OPACITY, 1.0, int(keys.sum())) if keys.sum() > 1 else 1.0
    return Scene(motion, choice, layout, camera, poses, shadow_boxes(poses, sine), path, opacity)


@dataclass(frozen=True, eq=False)
class PoseChoice(Frozen):
    """Frames of keys and ghosts, row by row in order of time."""

    frames: Ints  # (F,) increasing in each row; with labels, each row starts again
    is_key: Bools  # (F,)
    opacity: Floats  # (F,)
    rows: Ints  # (F,) from 0, not decreasing
    labels: tuple[str, ...] = ()  # of the rows, if each is a selection of its own

    @property
    def keys(self) -> Ints:
        """The frames of the keys."""
        keys: Ints = self.frames[self.is_key]
        return keys


def choose_rows(
    motion: Motion, selection: Keys | Mapping[str, Keys], *, rank: bool, ghosts: int, per_row: int | None
) -> PoseChoice:
    """Return the poses of one selection, in rows of ``per_row``, or of several, in a labelled row each."""
    check_option_int(StripOptions, "ghosts", ghosts)
    if not isinstance(selection, Mapping):
        choice = choose_poses(motion, selection, rank=rank, ghosts=ghosts)
        rows = (np.cumsum(choice.is_key) - 1) // min(per_row or len(choice.frames), len(choice.frames))
        return replace(choice, rows=rows.astype(np.int32))
    if not selection:
        raise OptionError("no selections", expected="at least one, by the label of its row")
    choices = [choose_poses(motion, each, rank=rank, ghosts=ghosts) for each in selection.values()]
    n_poses = [len(choice.frames) for choice in choices]
    if sum(n_poses) > MAX_POSES:
        raise OptionError(
            f"{format_count(sum(n_poses), 'pose', ',')} in {len(choices)} rows",
            expected=f"at most {MAX_POSES} poses in a strip",
        )
    return PoseChoice(
        np.concatenate([choice.frames for choice in choices]),
        np.concatenate([choice.is_key for choice in choices]),
        np.concatenate([choice.opacity for choice in choices]),
        np.repeat(np.arange(len(choices), dtype=np.int32), n_poses),
        tuple(check_text("label", label) for label in selection),
    )


def choose_poses(motion: Motion, selection: Keys, *, rank: bool, ghosts: int) -> PoseChoice:
    """Return the poses of ``selection`` with ``ghosts`` between each two, ranked by opacity if ``rank``, in one row."""
    if selection is None:
        farthest_ladder = ladder(motion, "farthest", max_keys=DEFAULT_KEYS)
        selection = farthest_ladder.at(int(farthest_ladder.counts[-1]))  # there are fewer if poses are equal
    keys = key_frames(selection, motion.n_frames)
    if not len(keys):
        raise OptionError("no keys", expected="at least one frame")
    key_opacity = _rank_opacity(keys, selection) if rank else np.ones(len(keys))
    ghost_frames = _ghost_frames(keys[:MAX_POSES], ghosts)
    frames = np.concatenate((keys, ghost_frames))
    if len(frames) > MAX_POSES:
        and_ghosts = f" and {len(ghost_frames)} ghosts" * (len(keys) <= MAX_POSES and len(ghost_frames) > 0)
        raise OptionError(
            f"{format_count(len(keys), 'key', ',')}{and_ghosts}", expected=f"at most {MAX_POSES} poses in a strip"
        )
    order = np.argsort(frames, kind="stable")
    opacity = np.concatenate((key_opacity, np.full(len(ghost_frames), GHOST_OPACITY)))
    is_key = (np.arange(len(frames)) < len(keys))[order]
    return PoseChoice(frames[order], is_key, opacity[order], np.zeros(len(frames), np.int32))


def _rank_opacity(keys: Ints, selection: Keys) -> Floats:
    """Return opacities (K,) by importance, 1 for the most important key."""
    order = selection.order if isinstance(selection, Selection) else None
    if order is None:
        raise OptionError(
            option="rank",
            value=True,
            expected=Hint(
                'a selection of a method that ranks its keys, such as "farthest"',
                "a --method that ranks its keys, such as farthest",
            ),
        )
    rank = np.empty(len(keys))
    rank[np.searchsorted(keys, order)] = np.arange(len(keys))
    opacity: Floats = 1.0 - (1.0 - MIN_KEY_OPACITY) * rank / max(1, len(keys) - 1)
    return opacity


def _ghost_frames(keys: Ints, ghosts: int) -> Ints:
    """Return up to ``ghosts`` frames between each two keys."""
    steps = np.arange(1, ghosts + 1) / (ghosts + 1)
    frames = np.rint(keys[:-1, None] + np.diff(keys)[:, None] * steps).astype(np.int32)
    return np.setdiff1d(frames, keys)


@dataclass(frozen=True, eq=False)
class ProjectedPoses(Frozen):
    """Poses at ``frames``, each above its own origin: right, up, towards the viewer, in heights.

    ``anchors`` are their positions on the floor, right and towards the viewer, from where the motion begins.
    """

    solids: Solids  # in heights
    frames: Ints  # (F,)
    projected: Floats  # (F, P, 3)
    flat: Floats  # (F, P, 2) on the floor: right, towards
    heights: Floats  # (F, P) above the floor
    boxes: Floats  # (F, 2, 2) min and max x, y of the figures
    anchors: Floats  # (F, 2)


def project_poses(motion: Motion, view: View, frames: Ints) -> ProjectedPoses:
    """Project the poses at ``frames``."""
    body, floor = build_body(motion), floor_height(motion)
    points = body.points_at(motion, frames)
    upward, level_towards = _level_axes(view)
    solids = build_solids(body)
    anchors = _anchors(points, motion)
    centred = (points - anchors[:, None]) / body.size
    flat = np.stack((centred @ view.right, centred @ level_towards), axis=-1)
    heights = (points @ upward - floor) / body.size
    tilt = np.array((level_towards @ view.towards, upward @ view.towards))  # cosine and sine of the elevation
    y = heights * tilt[0] - flat[..., 1] * tilt[1]
    near = heights * tilt[1] + flat[..., 1] * tilt[0]
    projected = np.stack((flat[..., 0], y, near), axis=-1)
    ground = _on_floor(anchors - _origin(motion), view) / body.size
    return ProjectedPoses(solids, frames, projected, flat, heights, solids.boxes(projected), ground)


@cache_weakly
def floor_height(motion: Motion) -> float:
    """Return the floor height in file units: that of the low poses of a body or of markers, else of the lowest pose."""
    skeleton = motion.skeleton
    percent = FLOOR_PERCENT if skeleton.anatomy.feet() or (skeleton.parents < 0).all() else 0.0
    body, sample = build_body(motion), sample_motion(motion)
    heights = heights_above(body.add_carried_points(sample.world, sample.rotations), motion.up) / body.size
    return body.size * float(np.percentile(build_solids(body).lowest(heights), percent))


def floor_path(motion: Motion, view: View, first: int, last: int) -> tuple[Floats, Floats]:
    """Return frames (N,) from ``first`` to ``last`` and positions of the figure on the floor (N, 2), in heights."""
    body = build_body(motion)
    frames = np.unique(np.linspace(first, last, N_PATH_POINTS).round().astype(int))
    anchors = _anchors(body.points_at(motion, frames), motion)
    return frames.astype(float), _on_floor(anchors - _origin(motion), view) / body.size


def shadow_boxes(poses: ProjectedPoses, sine: float) -> Floats:
    """Return min and max x, y (F, 2, 2) of the shadows, y up, for an elevation of ``sine``."""
    on_floor = np.stack((poses.flat[..., 0] + SLANT * poses.heights, -poses.flat[..., 1]), axis=-1)
    return poses.solids.boxes(on_floor) * (1.0, sine)


def _level_axes(view: View) -> tuple[Floats, Floats]:
    """Return the up direction and the level direction towards the viewer."""
    tilt = np.radians(view.elevation)
    return (np.cos(tilt) * view.up + np.sin(tilt) * view.towards, np.cos(tilt) * view.towards - np.sin(tilt) * view.up)


def _on_floor(points: Floats, view: View) -> Floats:
    """Return points (N, 3) as right and towards the viewer (N, 2)."""
    return np.stack((points @ view.right, points @ _level_axes(view)[1]), axis=-1)


def _origin(motion: Motion) -> Floats:
    """Return a point (3,) of the motion as origin, as a motion may be far from that of the file."""
    first: Floats = sample_motion(motion).world[0].mean(axis=0)
    return first


def _anchors(points: Floats, motion: Motion) -> Floats:
    """Return the position of each pose (F, 3): its hips, else the mean of its points."""
    body_parts = motion.skeleton.anatomy.body_parts
    return points[:, body_parts.index("hips")] if "hips" in body_parts else points.mean(axis=1)
