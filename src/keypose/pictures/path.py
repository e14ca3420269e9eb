"""The path of a joint in space: that of a reduced motion over the original one, seen from the side and from above."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError, format_count
from keypose.features import body_root
from keypose.kinematics import distances, end_positions, up_axis
from keypose.model import KeyedMotion, Motion
from keypose.model.motion import check_motion
from keypose.options import check_option_number
from keypose.options.pictures import PathPlotOptions, ThemeName
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX
from keypose.pictures.chart.chart import EDGE_PX, TITLE_PX, check_width
from keypose.pictures.chart.draw import SAMPLE_PX, lay_out_legend
from keypose.pictures.chart.scale import round_step
from keypose.pictures.curves import KEY_DOT_PX, pale_stroke, sample_reduced, stroke_dots
from keypose.pictures.svg import (
    Picture,
    Theme,
    document,
    find_theme,
    fit_text,
    number,
    picture_path,
    text_element,
    text_width,
)
from keypose.pictures.view import View, build_view
from keypose.validation import check_bool, check_text

ABOVE = 90.0  # degrees above the horizon
GAP_PX = 28.0  # between the two views
MARGIN_PX = 14.0  # around what is drawn in each of them, for dots and labels
MIN_STEP_PX = 0.25  # points of a line that are nearer to each other are omitted
MIN_LABEL_PX = 40.0  # between the labels of start and end
BAR_SHARE = 0.3  # of the narrower view: the longest scale bar


def plot_path(
    motion: Motion,
    reduced: KeyedMotion | Motion,
    joint: str = "right_hand",
    path: str | PathLike[str] | None = None,
    *,
    view: str | float = "best",
    in_place: bool = False,
    title: str | None = None,
    width_px: float = 960.0,
    height_px: float = 420.0,
    theme: ThemeName = "light",
) -> Picture:
    """Return a picture of the path of one joint (a name or body part) in ``motion``, wide and pale, and in ``reduced``.

    ``reduced`` is the same motion with few keys, as ``unbake`` gives it, or any motion of the same frames. The path is
    seen from the direction ``view``, as in ``strip``, and from above, at the same scale, with the figure in the first
    and in the last frame. Dots are the keys of the joint that moves it, its parent. A line connects the points with the
    largest distance. ``in_place`` leaves out the way that the hips travel over the floor. ``title`` is by default the
    names of joint and motion; ``width_px``, ``height_px``: the size of the picture; ``theme``: ``light``, ``dark``,
    ``page`` or ``notebook``. With ``path`` the picture is saved as well.
    """
    check_motion(motion)
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width = check_width(width_px)
    height = check_option_number(PathPlotOptions, "height_px", height_px)
    paths = _build_paths(motion, reduced, joint, width, in_place=check_bool("in_place", in_place))
    name = f"{paths.joint} of {motion.name}" if title is None else check_text("title", title)
    views = (build_view(motion, view), build_view(motion, view, elevation=ABOVE))
    alt_text = (
        f"Path of {paths.joint} of {motion.name}, original and reduced, over {motion.duration_s:.2f} s. {paths.summary}"
    )
    body = _render(paths, views, name, width, height, colours)
    svg = document(body, width, height, colours, title=name or "path", alt_text=alt_text)
    picture = Picture(svg, width, height, alt_text)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True, eq=False)
class _Paths:
    """The path of one joint in both motions, in file units."""

    joint: str
    original: Floats  # (T, 3)
    reduced: Floats  # (N, 3)
    frames: Floats  # (N,) of ``reduced``
    keys: Ints
    keys_text: str
    figures: Floats  # (2, B, 2, 3) ends of the bones in the first and in the last frame
    worst_frame: int
    max_distance: str  # with its unit
    summary: str
    cm_per_unit: float | None  # on a figure of 1.7 m; None without a height

    def at(self, frames: Ints) -> Floats:
        """Return the points (..., 3) of the reduced path at whole frames."""
        return np.asarray(self.reduced[np.searchsorted(self.frames, frames)])


def _build_paths(
    motion: Motion, reduced: KeyedMotion | Motion, joint: str, width_px: float, *, in_place: bool
) -> _Paths:
    skeleton = motion.skeleton
    j = skeleton.joint(joint)
    frames, other = sample_reduced(motion, reduced, width_px)
    world = motion.world_positions()
    original, path = world[:, j], other.world_positions()[:, j]
    way = np.zeros((motion.n_frames, 3))
    if in_place:
        way = world[:, body_root(skeleton)] - world[0, body_root(skeleton)]
        way[:, up_axis(motion.up)[0]] = 0.0
    at_frames = path[np.searchsorted(frames, np.arange(motion.n_frames))]
    distance = distances(original, at_frames)
    worst = int(distance.argmax())
    mm_per_unit = _find_mm_per_unit(motion)
    unit = "file units" if mm_per_unit is None else "mm"
    mean_text, max_text = (
        f"{value * (mm_per_unit or 1.0):.3g} {unit}" for value in (float(distance.mean()), float(distance[worst]))
    )
    on_figure = "" if mm_per_unit is None else " on a figure of 1.7 m"
    parent = int(skeleton.parents[j])
    key_joint = skeleton.names[parent if parent >= 0 else j]
    keys, keys_text = np.zeros(0, np.int32), ""
    if isinstance(reduced, KeyedMotion):
        keys = reduced.joint_keys(key_joint)
        keys_text = format_count(len(keys), "key", ",") + (f" of {key_joint}" if reduced.is_per_joint else "")
    way_between = np.stack([np.interp(frames, np.arange(motion.n_frames), way[:, c]) for c in range(3)], axis=1)
    return _Paths(
        skeleton.names[j],
        original - way,
        path - way_between,
        frames,
        keys,
        keys_text,
        np.stack([_bones(motion, frame) - way[frame] for frame in (0, motion.n_frames - 1)]),
        worst,
        max_text,
        f"Distance{on_figure}: {mean_text} on average, {max_text} at most, in frame {worst}.",
        None if mm_per_unit is None else mm_per_unit / 10.0,
    )


def _find_mm_per_unit(motion: Motion) -> float | None:
    try:
        return motion.mm_per_unit
    except OptionError:  # a figure without height
        return None


def _bones(motion: Motion, frame: int) -> Floats:
    """Return the ends (B, 2, 3) of all bones in one frame, up to the end sites."""
    pose, skeleton = motion[frame : frame + 1], motion.skeleton
    world = pose.world_positions()
    children = np.flatnonzero(skeleton.parents >= 0)
    bones = np.stack((world[0, skeleton.parents[children]], world[0, children]), axis=1)
    ends = end_positions(world, pose.world_rotations(), skeleton.end_joints, skeleton.end_offsets)[0]
    return np.concatenate((bones, np.stack((world[0, skeleton.end_joints], ends), axis=1)))


@dataclass(frozen=True, eq=False)
class _ViewArea:
    """Where one view is drawn, in px."""

    view: View
    title: str
    left: float
    top: float
    right: float
    bottom: float
    centre: Floats  # (2,) of what is drawn, in the axes of the view
    scale: float  # px per file unit

    def px(self, points: Floats) -> Floats:
        """Return points (..., 2) of the picture."""
        offset = self.scale * (self.view.project(points)[..., :2] - self.centre)
        middle = np.array(((self.left + self.right) / 2, (self.top + self.bottom) / 2))
        return np.asarray(middle + offset * (1.0, -1.0))


def _lay_out_views(
    paths: _Paths, views: tuple[View, View], width: float, top: float, bottom: float
) -> tuple[_ViewArea, ...]:
    """Divide the width between two views such that both have the same scale, the largest that fits."""
    points = np.concatenate((paths.original, paths.reduced, paths.figures.reshape(-1, 3)))
    boxes = [(flat.min(axis=0), flat.max(axis=0)) for flat in (view.project(points)[:, :2] for view in views)]
    sizes = [np.maximum(high - low, 1e-12) for low, high in boxes]
    inner_width = max(width - 2 * EDGE_PX - GAP_PX - 4 * MARGIN_PX, 8.0)
    inner_height = max(bottom - top - 2 * MARGIN_PX, 8.0)
    scale = min(inner_width / sum(size[0] for size in sizes), inner_height / max(size[1] for size in sizes))
    share = [scale * size[0] for size in sizes]
    spare = (inner_width - sum(share)) / 2  # beside each view
    areas, left = [], EDGE_PX
    titles = (f"seen from {views[0].description}", "from above")
    for view, title, (low, high), wide in zip(views, titles, boxes, share, strict=True):
        right = left + wide + spare + 2 * MARGIN_PX
        areas.append(_ViewArea(view, title, left, top, right, bottom, (low + high) / 2, scale))
        left = right + GAP_PX
    return tuple(areas)


def _render(paths: _Paths, views: tuple[View, View], title: str, width: float, height: float, theme: Theme) -> str:
    max_width = width - 2 * EDGE_PX
    elements, top = [], EDGE_PX
    if title:
        text = fit_text(title, max_width, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, text, TITLE_PX, theme["ink"], bold=True))
        top += TITLE_PX + 8
    legend, rows = _render_legend(paths, top + 8, max_width, theme)
    top += ROW_PX * (rows + 1)
    bottom = height - EDGE_PX - 2 * ROW_PX
    areas = _lay_out_views(paths, views, width, top + ROW_PX, bottom)
    elements.append(legend)
    for area in areas:
        text = fit_text(area.title, area.right - area.left, TEXT_PX)
        elements.append(text_element(area.left, top + 8, text, TEXT_PX, theme["muted"]))
        elements.append(_render_view(paths, area, theme))
    summary = fit_text(paths.summary, max_width, TEXT_PX)
    elements.append(text_element(EDGE_PX, height - EDGE_PX, summary, TEXT_PX, theme["ink"]))
    elements.append(_render_scale_bar(paths, areas[0], bottom + ROW_PX - 4, theme))
    return "".join(elements)


def _render_view(paths: _Paths, area: _ViewArea, theme: Theme) -> str:
    figures = "".join(_line(bone) for bone in area.px(paths.figures).reshape(-1, 2, 2))
    keys = "".join(f"M{number(x)} {number(y)}h0" for x, y in area.px(paths.at(paths.keys)).tolist())
    worst = area.px(np.stack((paths.original[paths.worst_frame], paths.at(np.array([paths.worst_frame]))[0])))
    elements = [
        f'<path d="{figures}" fill="none" stroke="{theme["grid"]}" stroke-width="2" stroke-linecap="round"/>',
        pale_stroke(_line(area.px(paths.original)), theme["line0"]),
        f'<path d="{_line(area.px(paths.reduced))}" fill="none" stroke="{theme["line0"]}" stroke-width="1.5" '
        f'stroke-linejoin="round" stroke-linecap="round"/>',
        stroke_dots(keys, theme["key"], KEY_DOT_PX) if keys else "",
        f'<path d="{_line(worst)}" fill="none" stroke="{theme["line1"]}" stroke-width="2"/>',
    ]
    return "".join((*elements, _render_ends(area, area.px(paths.original[[0, -1]]), theme)))


def _render_ends(area: _ViewArea, ends: Floats, theme: Theme) -> str:
    """Render the words start and end beside the ends (2, 2) of the path; one text if they are near each other."""
    words = [("start", ends[0]), ("end", ends[1])]
    if np.abs(ends[0] - ends[1]).max() < MIN_LABEL_PX:
        words = [("start, end", ends[0])]
    halo = f' paint-order="stroke" stroke="{theme["paper"]}" stroke-width="3" stroke-linejoin="round"'
    elements = []
    for word, (x, y) in words:
        wide = text_width(word, TEXT_PX)
        left = x + 7 if x + 7 + wide <= area.right else x - 7 - wide
        elements.append(text_element(float(left), float(y) + 4, word, TEXT_PX, theme["ink"], extra=halo))
    return "".join(elements)


def _render_scale_bar(paths: _Paths, area: _ViewArea, y: float, theme: Theme) -> str:
    """Render a bar of a round length."""
    units_per_step = 1.0 if paths.cm_per_unit is None else 1.0 / paths.cm_per_unit
    step = round_step(BAR_SHARE * (area.right - area.left) / 2 / (area.scale * units_per_step))
    text = f"{step:g} {'file units' if paths.cm_per_unit is None else 'cm on a figure of 1.7 m'}"
    length = step * units_per_step * area.scale
    bar = f"M{number(area.left)} {number(y - 4)}v4h{number(length)}v-4"
    label = text_element(area.left + length + 6, y, text, TEXT_PX, theme["muted"])
    return f'<path d="{bar}" fill="none" stroke="{theme["muted"]}"/>{label}'


def _render_legend(paths: _Paths, y: float, width: float, theme: Theme) -> tuple[str, int]:
    """Return the legend and the number of its rows."""
    wide = number(SAMPLE_PX)
    entries = [
        ("original", pale_stroke(f"M3 -4h{number(SAMPLE_PX - 6)}", theme["line0"])),
        ("reduced", f'<path d="M0 -4h{wide}" stroke="{theme["line0"]}" stroke-width="1.5"/>'),
    ]
    if paths.keys_text:
        dot = f"M{number(SAMPLE_PX - 6)} -4h0"
        entries.append((paths.keys_text, stroke_dots(dot, theme["key"], KEY_DOT_PX)))
    entries.append(
        (
            f"largest distance, {paths.max_distance}",
            f'<path d="M0 -4h{wide}" stroke="{theme["line1"]}" stroke-width="2"/>',
        )
    )
    places = lay_out_legend([text for text, _ in entries], EDGE_PX, width)
    elements = []
    for (_, sign), (row, left, label) in zip(entries, places, strict=True):
        transform = f"translate({number(left)} {number(y + row * ROW_PX)})"
        elements.append(
            f'<g transform="{transform}">{sign}{text_element(SAMPLE_PX + 6, 0.0, label, TEXT_PX, theme["ink"])}</g>'
        )
    return "".join(elements), places[-1][0] + 1


def _line(points: Floats) -> str:
    """Return path data through ``points`` (N, 2), without those that are very near to the one before."""
    distinct = [points[0]]
    for point in points[1:-1]:
        if np.abs(point - distinct[-1]).max() >= MIN_STEP_PX:
            distinct.append(point)
    distinct.append(points[-1])
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in np.asarray(distinct).tolist())
