"""Scene of a strip: poses, camera and layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.model import Motion
from keypose.pictures.strip.choice import PoseChoice
from keypose.pictures.strip.floor import DEPTH_BEHIND, DEPTH_IN_FRONT
from keypose.pictures.strip.layouts import Layout, by_time, expand_along_path, in_rows, row_floors
from keypose.pictures.strip.projection import ProjectedPoses, floor_path, project_poses, shadow_boxes
from keypose.pictures.view import ELEVATION, View, build_view

PATH_ELEVATION = 22.0  # degrees; higher, so that the path is visible
MIN_IN_PLACE_OPACITY = 0.25  # of the first pose in layout "in-place"
PATH_LAYOUTS: tuple[Layout, ...] = ("path", "expanded")


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
    rows: Ints  # (F,) row of each pose

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.max()) + 1

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
            offsets[:, 0] = np.interp(frames, frames[keys], by_time(boxes, frames[keys] / self.motion.fps, min_width))
        elif self.layout == "side":
            offsets[:, 0] = self._side_by_side(keys, min_width)
            offsets[:, 1] = row_floors(*self._row_reach(), between)[self.rows]
        return offsets

    def _side_by_side(self, keys: Ints, min_width: float) -> Floats:
        """Return offsets (F,) side by side; after the last key of a row, ghosts continue as if another key followed."""
        boxes, frames, rows = self.poses.boxes[keys], self.choice.frames.astype(float), self.rows[keys]
        key_offsets = in_rows(boxes, rows, min_width)
        offsets = np.empty(len(frames))
        for row in range(self.n_rows):
            own, inside = np.flatnonzero(rows == row), self.rows == row
            last, next_frame = own[-1], frames[keys[own[-1] + 1 :]][:1]
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
    per_row: int | None = None,
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
    rows = (np.cumsum(choice.is_key) - 1) // (per_row or len(choice.frames))
    return Scene(motion, choice, layout, camera, poses, shadow_boxes(poses, sine), path, opacity, rows)
