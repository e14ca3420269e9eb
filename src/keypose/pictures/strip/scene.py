"""The scene of a strip: its poses, the camera, and where each pose goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.model import Motion
from keypose.pictures.strip.choice import Choice
from keypose.pictures.strip.floor import BEFORE, BEHIND
from keypose.pictures.strip.layouts import Layout, by_time, expanded, in_rows, row_floors
from keypose.pictures.strip.shots import Shots, path_of, shadow_boxes, shots_of
from keypose.pictures.view import ELEVATION, View, view_of

PATH_ELEVATION = 22.0  # degrees: from higher up a path can be seen
IN_PLACE_FAINTEST = 0.25  # opacity of the first of poses at one place
ON_PATHS: tuple[Layout, ...] = ("path", "expanded")


@dataclass(frozen=True, eq=False)
class Scene(Frozen):
    """Poses, the camera, and how they are laid out."""

    motion: Motion
    choice: Choice
    layout: Layout
    view: View
    shots: Shots
    shadow_boxes: Floats  # (F, 2, 2)
    way: tuple[Floats, Floats] | None  # frames, and where the figure is on the floor
    opacity: Floats  # (F,)
    rows: Ints  # (F,) in which each pose stands

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.rows.max()) + 1

    @property
    def sine(self) -> float:
        """Of the camera's elevation: how much of the floor is seen."""
        return float(np.sin(np.radians(self.view.elevation)))

    def place(self, least: float, between: float) -> Floats:
        """Offsets (F, 2) of all poses, rows ``between`` heights apart; ghosts go where the keys around them say."""
        keys: Ints = np.flatnonzero(self.choice.is_key).astype(np.int32)
        boxes, frames = self.shots.boxes[keys], self.choice.frames.astype(float)
        offsets = np.zeros((len(frames), 2))
        if self.layout in ON_PATHS:
            across = self.shots.anchors[:, 0]
            shift = expanded(boxes, across[keys]) - across[keys] if self.layout == "expanded" else np.zeros(len(keys))
            offsets[:, 0] = across + np.interp(frames, frames[keys], shift)
            offsets[:, 1] = -self.sine * self.shots.anchors[:, 1]
        elif self.layout == "time":
            offsets[:, 0] = np.interp(frames, frames[keys], by_time(boxes, frames[keys] / self.motion.fps, least))
        elif self.layout == "side":
            offsets[:, 0] = self._beside(keys, least)
            offsets[:, 1] = row_floors(*self._reach(), between)[self.rows]
        return offsets

    def _beside(self, keys: Ints, least: float) -> Floats:
        """Offsets (F,) side by side; after the last key of a row ghosts go on as if another one came."""
        boxes, frames, rows = self.shots.boxes[keys], self.choice.frames.astype(float), self.rows[keys]
        placed = in_rows(boxes, rows, least)
        offsets = np.empty(len(frames))
        for row in range(self.n_rows):
            own, inside = np.flatnonzero(rows == row), self.rows == row
            last, following = own[-1], frames[keys[own[-1] + 1 :]][:1]
            at = np.append(frames[keys[own]], following)
            to = np.append(placed[own], [placed[last] + np.ptp(boxes[last, :, 0])] * len(following))
            offsets[inside] = np.interp(frames[inside], at, to)
        return offsets

    def _reach(self) -> tuple[Floats, Floats]:
        """How far each row reaches below and above its floor (R,), shadows included."""
        low = np.minimum(self.shots.boxes[:, 0, 1], self.shadow_boxes[:, 0, 1])
        high = np.maximum(self.shots.boxes[:, 1, 1], self.shadow_boxes[:, 1, 1])
        each = [self.rows == row for row in range(self.n_rows)]
        return (np.array([min(float(low[own].min()), -BEFORE) for own in each]),
                np.array([max(float(high[own].max()), BEHIND) for own in each]))  # fmt: skip

    def row_ends(self, offsets: Floats) -> Floats:
        """Where the row of each pose ends below (F,)."""
        ends: Floats = offsets[:, 1] + self._reach()[0][self.rows]
        return ends

    def extent(self, offsets: Floats) -> Floats:
        """Least and greatest x and y (2, 2) of figures, shadows and the figure's way."""
        both = np.concatenate((self.shots.boxes, self.shadow_boxes)) + np.tile(offsets, (2, 1))[:, None]
        low, high = both[:, 0].min(axis=0), both[:, 1].max(axis=0)
        if self.layout not in ON_PATHS:
            below, above = self._reach()
            low[1], high[1] = (offsets[:, 1] + below[self.rows]).min(), (offsets[:, 1] + above[self.rows]).max()
        else:
            places = self.floor_way(offsets)[1] * (1.0, -self.sine)
            low, high = np.minimum(low, places.min(axis=0) - 0.05), np.maximum(high, places.max(axis=0) + 0.05)
        return np.stack((low, high))

    def floor_way(self, offsets: Floats) -> tuple[Floats, Floats]:
        """Frames, and where the figure's way lies once poses are pushed apart."""
        assert self.way is not None
        frames, places = self.way
        shift = np.interp(frames, self.choice.frames, offsets[:, 0] - self.shots.anchors[:, 0])
        return frames, places + np.stack((shift, np.zeros_like(shift)), axis=1)


def scene_of(
    motion: Motion, choice: Choice, layout: Layout, view: str | float, *, ranked: bool, per_row: int | None = None
) -> Scene:
    """The scene of a choice of poses; at one place, earlier ones are fainter unless they are ranked."""
    camera = view_of(motion, view, elevation=PATH_ELEVATION if layout in ON_PATHS else ELEVATION)
    shots = shots_of(motion, camera, choice.frames)
    sine = float(np.sin(np.radians(camera.elevation)))
    way = None
    if layout in ON_PATHS:
        way = path_of(motion, camera, int(choice.frames[0]), int(choice.frames[-1]))
    opacity = choice.opacity
    if layout == "in-place" and not ranked:
        keys = choice.is_key
        opacity = opacity.copy()
        opacity[keys] = np.geomspace(IN_PLACE_FAINTEST, 1.0, int(keys.sum())) if keys.sum() > 1 else 1.0
    rows = (np.cumsum(choice.is_key) - 1) // (per_row or len(choice.frames))
    return Scene(motion, choice, layout, camera, shots, shadow_boxes(shots, sine), way, opacity, rows)
