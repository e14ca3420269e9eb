"""Motion curves: angles or positions of joints over time, with keys and saliency, or with reduced curves over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike

import numpy as np

from keypose.arrays import Floats, Ints, runs
from keypose.curves.edit.directions import nearest_angles
from keypose.errors import OptionError, format_count
from keypose.features import JointNames, compute_features
from keypose.methods.saliency.curves import SIGMA_S, JointSaliency, compute_joint_saliency
from keypose.metrics import check_comparable
from keypose.model import Column, Features, KeyedMotion, Motion
from keypose.model.motion import check_motion
from keypose.options import check_option_number
from keypose.options.pictures import CurvePlotOptions, CurveValues, ThemeName
from keypose.pictures.chart.axes import (
    ROW_PX,
    TEXT_PX,
    TIME_PX,
    Area,
    draw_key_lines,
    draw_time_axis,
    draw_y,
    frame_scale,
    max_label_width,
    vertical_ticks,
)
from keypose.pictures.chart.chart import EDGE_PX, TITLE_PX, check_width
from keypose.pictures.chart.draw import SAMPLE_PX, LineStyles, draw_legend_sample, draw_line, lay_out_legend
from keypose.pictures.chart.scale import Axis, Line, Scale, build_scale, line_path
from keypose.pictures.joint_rows import Keys, key_frames
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
from keypose.validation import check_bool, check_choice, check_text

VALUES = ("auto", "euler", "positions")
DEFAULT_JOINTS = 4
MAX_JOINTS = 24
SALIENCY_SHARE = 0.2  # of the height of a panel
GAP_PX = 12.0
KEY_DOT_PX = 5.0
RING_PX, HOLE_PX = 7.0, 4.4
MAX_DOTS_PER_PX = 0.3  # with more, no dots are drawn
CANDIDATE_PX = 9.0
ORIGINAL_PX, ORIGINAL_OPACITY = 5.0, 0.35  # of a curve under its reduced one
SAMPLE_STEP_PX, MAX_SAMPLES_PER_FRAME = 2.0, 16  # of a reduced curve between frames


def plot_curves(
    motion: Motion,
    selection: Keys = None,
    path: str | PathLike[str] | None = None,
    *,
    reduced: KeyedMotion | Motion | None = None,
    joints: JointNames | None = None,
    axes: str | Iterable[str] | None = None,
    values: CurveValues = "auto",
    saliency: bool = True,
    each_axis: bool = False,
    sigma_s: float = SIGMA_S,
    title: str | None = None,
    width_px: float = 960.0,
    panel_px: float = 130.0,
    theme: ThemeName = "light",
) -> Picture:
    """Return a picture with a panel of curves for each joint: unwrapped Euler angles in file order or world positions.

    Positions are in metres if the file states its unit, otherwise in file units.

    ``selection`` (a Selection, a KeyedMotion or frames) is marked by dots on the curves and vertical lines. Below the
    curves, with ``saliency``, is the saliency by Bulut & Capin of the joint's most salient curve, relative to its mean:
    frames above the line at 1 are candidates, and the extrema among them, from which that method selects, are drawn as
    rings on their curve; ``sigma_s`` is the sigma of its finer Gaussian. ``joints`` defaults to the four body joints
    whose curves vary most, ``axes`` (such as "x" or "xz") to all three; ``values="auto"`` shows positions for
    markers, which have no rotations.

    With ``each_axis`` every axis has a panel with its own saliency over its own mean, as in the paper: candidates are
    wide and pale, rings are the extrema of its clusters. Without a ``selection`` the dots are the keys of the joint:
    the extrema of all axes shown that are left when close ones are removed.

    ``reduced``, the same motion with few keys as ``unbake`` gives it, or any motion of the same frames, is drawn over
    the curves of ``motion``, which are then wide and pale. Without a ``selection`` the dots are the keys of each joint,
    and there is no saliency.

    ``title`` is the
    name of the motion by default; ``width_px``, ``panel_px``: the width, and the height of each panel; ``theme``:
    ``light``, ``dark``, ``page`` or ``notebook``. With ``path`` the picture is saved as well.
    """
    check_motion(motion)
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width = check_width(width_px)
    panel = check_option_number(CurvePlotOptions, "panel_px", panel_px)
    name = motion.name if title is None else check_text("title", title)
    keys = key_frames(selection, motion.n_frames)
    feature_kind = _feature_kind(motion, check_choice("values", values, VALUES))
    has_saliency = check_bool("saliency", saliency) and reduced is None
    has_axes = check_bool("each_axis", each_axis)
    if has_axes and not has_saliency:
        problem = "shows the saliency of each axis"
        raise OptionError(problem, option="each_axis", value=True, expected="saliency, and no reduced curves, with it")
    panels = _build_panels(motion, feature_kind, joints, _parse_axes(axes), sigma_s, keys, saliency=has_saliency)
    if has_axes:
        panels = [axis for panel in panels for axis in _split_axes(panel, motion.fps, sigma_s, selection is None)]
    if reduced is not None:
        panels = _add_reduced_curves(panels, motion, reduced, feature_kind, width, own_keys=selection is None)
    layout = _Layout.build(panels, motion, name, width, panel)
    alt_text = _describe(motion, panels)
    body = _render(layout, panels, motion.fps, colours)
    svg = document(body, width, layout.height, colours, title=layout.title or "motion curves", alt_text=alt_text)
    picture = Picture(svg, width, layout.height, alt_text)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _ReducedCurves:
    """The curves of one joint of a reduced motion, sampled between frames too."""

    frames: Floats  # (N,)
    values: Floats  # (N, C)


@dataclass(frozen=True)
class _Panel:
    """The curves of one joint."""

    joint: str
    unit: str
    unit_scale: float
    channels: tuple[str, ...]
    columns: tuple[int, ...]  # which of the joint's curves they are
    values: Floats  # (T, C)
    keys: Ints
    saliency: JointSaliency | None
    reduced: _ReducedCurves | None = None
    is_axis: bool = False  # one axis of a joint, with its candidates

    @cached_property
    def title(self) -> str:
        """The joint and the unit; for reduced curves also the number of keys and the largest error."""
        name = f"{self.joint}, {self.unit}"
        if self.is_axis and self.saliency is not None:
            is_candidate = self.saliency.over_mean > 1
            candidates = format_count(int(is_candidate.sum()), "candidate", ",")
            clusters = format_count(len(runs(is_candidate)), "cluster", ",")
            extrema = f"{len(self.saliency.frames)} with an extremum"
            return f"{self.joint} {self.channels[0]}, {self.unit}: {candidates} in {clusters}, {extrema}"
        if self.reduced is None:
            return name
        n_frames = len(self.values)
        keys = (
            f": {format_count(len(self.keys), 'key', ',')} of {format_count(n_frames, 'frame', ',')}"
            if len(self.keys)
            else ""
        )
        at_frames = self.reduced.values[np.searchsorted(self.reduced.frames, np.arange(n_frames))]
        ranges, errors = np.ptp(self.values, axis=0), np.abs(at_frames - self.values).max(axis=0)
        is_moving = ranges > 1e-9 * max(1.0, float(np.abs(self.values).max()))
        if not is_moving.any():
            return name + keys
        c = int(np.argmax(np.where(is_moving, errors / np.where(is_moving, ranges, 1.0), -1.0)))
        return f"{name}{keys}; largest error {errors[c] / ranges[c]:.1%} of the range of {self.channels[c]}"


def _parse_axes(axes: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the axes as lower-case letters; empty: all."""
    if axes is None:
        return ()
    try:
        letters = tuple(axes.replace(",", "").replace(" ", "") if isinstance(axes, str) else axes)
    except TypeError:
        letters = ()
    if not letters or not all(isinstance(letter, str) and letter.lower() in ("x", "y", "z") for letter in letters):
        raise OptionError(option="axes", value=axes, expected="x, y or z, or several of them")
    return tuple(letter.lower() for letter in letters)


def _feature_kind(motion: Motion, values: str) -> str:
    if values == "auto":
        return "euler" if np.ptp(motion.rotations, axis=0).any() or motion.n_frames == 1 else "world"
    return "euler" if values == "euler" else "world"


def _build_panels(
    motion: Motion,
    feature_kind: str,
    joints: JointNames | None,
    axes: tuple[str, ...],
    sigma_s: float,
    keys: Ints,
    *,
    saliency: bool,
) -> list[_Panel]:
    features = compute_features(motion, feature_kind, "body" if joints is None else joints)
    names = list(features.joints)
    if joints is None:
        spreads = {
            name: float(features.values[:, list(own)].std(axis=0).max()) for name, own in features.joints.items()
        }
        top_names = sorted(names, key=lambda name: -spreads[name])[:DEFAULT_JOINTS]
        names = [name for name in names if name in top_names]
    elif len(names) > MAX_JOINTS:
        raise OptionError(format_count(len(names), "joint", ","), option="joints", expected=f"at most {MAX_JOINTS}")
    unit, unit_scale = ("degrees", 1.0) if feature_kind == "euler" else ("metres", motion.metres_per_unit)
    if unit_scale is None:
        unit, unit_scale = "file units", 1.0
    panels = []
    for name in names:
        all_columns = features.joints[name]
        places = [k for k, c in enumerate(all_columns) if not axes or features.columns[c].channel[0].lower() in axes]
        columns = [all_columns[k] for k in places]
        own = Features(features.values[:, columns], features.fps, tuple(features.columns[c] for c in columns))
        channels = tuple(column.channel.removesuffix("rotation") for column in own.columns)
        panels.append(
            _Panel(
                name,
                unit,
                unit_scale,
                channels,
                tuple(places),
                unit_scale * own.values,
                keys,
                compute_joint_saliency(own, sigma_s) if saliency else None,
            )
        )
    return panels


def _split_axes(panel: _Panel, fps: float, sigma_s: float, own_keys: bool) -> Iterator[_Panel]:
    """Yield a panel for each axis, with its own saliency, and the keys of the joint with ``own_keys``."""
    keys = panel.saliency.keys if own_keys and panel.saliency is not None else panel.keys
    for k, channel in enumerate(panel.channels):
        values = panel.values[:, [k]]
        features = Features(values / panel.unit_scale, fps, (Column(panel.joint, channel),))
        saliency = compute_joint_saliency(features, sigma_s)
        yield replace(
            panel, channels=(channel,), columns=(panel.columns[k],), values=values, saliency=saliency, keys=keys,
            is_axis=True,
        )  # fmt: skip


def sample_reduced(motion: Motion, reduced: KeyedMotion | Motion, width_px: float) -> tuple[Floats, Motion]:
    """Return frames (N,), with keys also some between frames for a smooth line, and ``reduced`` at these frames.

    ``reduced`` must have the joints and frames of ``motion``.
    """
    if isinstance(reduced, Motion):
        check_comparable(motion, reduced)
        return np.arange(motion.n_frames, dtype=np.float64), reduced
    if not isinstance(reduced, KeyedMotion):
        raise OptionError(type(reduced).__name__, option="reduced", expected="a KeyedMotion or a Motion")
    check_comparable(motion, reduced.sample())
    steps = round(width_px / SAMPLE_STEP_PX / max(1, motion.n_frames - 1))
    steps = min(max(1, steps), MAX_SAMPLES_PER_FRAME)
    frames = np.arange((motion.n_frames - 1) * steps + 1) / steps
    return frames, reduced.sample(frames=frames)


def _add_reduced_curves(
    panels: list[_Panel],
    motion: Motion,
    reduced: KeyedMotion | Motion,
    feature_kind: str,
    width: float,
    *,
    own_keys: bool,
) -> list[_Panel]:
    """Return the panels with the curves of ``reduced``, and its keys with ``own_keys``."""
    frames, other = sample_reduced(motion, reduced, width)
    angles = np.deg2rad(motion.euler_curves())
    with_curves = []
    for panel in panels:
        j = motion.skeleton.names.index(panel.joint)
        if feature_kind == "euler":
            near = np.stack([np.interp(frames, np.arange(motion.n_frames), angles[:, j, c]) for c in range(3)], axis=1)
            order = motion.skeleton.rotation_orders[j]
            values = np.rad2deg(nearest_angles(other.rotations[:, j], order, near))
        else:
            values = panel.unit_scale * other.world_positions()[:, j]
        curves = _ReducedCurves(frames, values[:, list(panel.columns)])
        keys = reduced.joint_keys(panel.joint) if own_keys and isinstance(reduced, KeyedMotion) else panel.keys
        with_curves.append(replace(panel, reduced=curves, keys=keys))
    return with_curves


@dataclass(frozen=True)
class _Layout:
    """Positions in px."""

    width: float
    height: float
    title: str
    legend: list[tuple[int, float, str]]  # row, left and text of each entry
    legend_y: float  # base line of its first row
    frames: Scale
    panels: tuple[
        tuple[Area, Scale, Area | None, Scale | None], ...
    ]  # area and vertical scale of the curves, then of the saliency
    full_area: Area  # from the first panel to the last

    @staticmethod
    def build(panels: list[_Panel], motion: Motion, title: str, width: float, panel_px: float) -> _Layout:
        """Lay out the panels below each other with a common time axis, and the legend above them."""
        legend = lay_out_legend(_legend_texts(panels), EDGE_PX, width - 2 * EDGE_PX)
        head = EDGE_PX + (TITLE_PX + 8 if title else 0.0)
        top = head + ROW_PX * (legend[-1][0] + 2) + 4
        heights = [top + n * (panel_px + ROW_PX + GAP_PX) for n in range(len(panels))]
        scales = [build_scale(Axis(), _panel_values(panel), 0.0, panel_px, margin_share=0.06) for panel in panels]
        texts = [max_label_width(vertical_ticks(Axis(), scale)) for scale in scales]
        left = min(EDGE_PX + max(*texts, text_width("seconds", TEXT_PX) + 6, 0.0) + 10, 0.4 * width)
        right = width - EDGE_PX - 8
        panel_layouts = []
        for panel, y, scale in zip(panels, heights, scales, strict=True):
            curves_bottom = y + panel_px * (1 - SALIENCY_SHARE if panel.saliency is not None else 1)
            area = Area(left, y, right, curves_bottom)
            saliency_area = saliency_scale = None
            if panel.saliency is not None:
                saliency_area = Area(left, curves_bottom + 4, right, y + panel_px)
                saliency_scale = build_scale(
                    Axis(low=0.0), [panel.saliency.over_mean, [1.5]], saliency_area.bottom, saliency_area.top
                )
            panel_layouts.append((area, Scale(scale.low, scale.high, curves_bottom, y), saliency_area, saliency_scale))
        bottom = heights[-1] + panel_px
        frames = frame_scale(motion.n_frames, left, right)
        full_area = Area(left, top, right, bottom)
        return _Layout(width, bottom + TIME_PX + 6, title, legend, head + 8, frames, tuple(panel_layouts), full_area)


def _panel_values(panel: _Panel) -> list[Floats]:
    return [panel.values] if panel.reduced is None else [panel.values, panel.reduced.values]


def _render(layout: _Layout, panels: list[_Panel], fps: float, theme: Theme) -> str:
    elements = []
    if layout.title:
        title = fit_text(layout.title, layout.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    elements.append(draw_time_axis(layout.full_area, layout.frames, fps, theme))
    elements.append(_render_legend(panels, layout, theme))
    for n, (panel, (area, scale, saliency_area, saliency_scale)) in enumerate(zip(panels, layout.panels, strict=True)):
        elements.append(_render_panel_title(area, panel, theme))
        elements.append(draw_y(area, vertical_ticks(Axis(), scale), theme))
        if saliency_area is not None and saliency_scale is not None and panel.saliency is not None:
            elements.append(_render_saliency(saliency_area, layout.frames, saliency_scale, panel.saliency, theme))
        key_area = Area(area.left, area.top, area.right, (saliency_area or area).bottom)
        has_heads = n == 0 or not np.array_equal(panel.keys, panels[n - 1].keys)
        if panel.reduced is not None:  # the dots are enough, and joints with their own keys have many
            key_area = replace(key_area, bottom=key_area.top)
        elements.append(draw_key_lines(key_area, layout.frames.px(panel.keys).tolist(), theme, heads=has_heads))
        elements.append(_render_curves(panel, layout.frames, scale, area, theme))
    return "".join(elements)


def _render_panel_title(area: Area, panel: _Panel, theme: Theme) -> str:
    name = fit_text(panel.title, area.width, TEXT_PX, bold=True)
    return text_element(area.left, area.top - 10, name, TEXT_PX, theme["ink"], bold=True)


def _render_curves(panel: _Panel, frames: Scale, scale: Scale, area: Area, theme: Theme) -> str:
    lines = _panel_lines(panel)
    styles = LineStyles(lines)
    elements = [_render_original(panel, c, line, frames, scale, theme) for c, line in enumerate(lines) if panel.reduced]
    if panel.is_axis and panel.saliency is not None:
        candidates = np.where(panel.saliency.over_mean > 1, panel.values[:, 0], np.nan)
        path = line_path(frames.px(np.arange(len(candidates))), scale.px(candidates))
        elements.append(pale_stroke(path, theme[lines[0].colour], CANDIDATE_PX))
    elements += [draw_line(line, frames, scale, area.bottom, styles, theme) for line in lines]
    for c, line in enumerate(lines):
        if panel.saliency is not None:
            rings = panel.saliency.frames[panel.saliency.columns == c]
            path = _dots_path(frames.px(rings), scale.px(panel.values[rings, c]), area)
            elements.append(
                stroke_dots(path, theme[line.colour], RING_PX) + stroke_dots(path, theme["paper"], HOLE_PX)
                if path
                else ""
            )
        heights = np.interp(panel.keys, np.asarray(line.x), np.asarray(line.y))
        path = _dots_path(frames.px(panel.keys), scale.px(heights), area)
        elements.append(stroke_dots(path, theme["key"], KEY_DOT_PX) if path else "")
    return "".join(elements)


def _render_original(panel: _Panel, c: int, line: Line, frames: Scale, scale: Scale, theme: Theme) -> str:
    """Render the original of a reduced curve: wide and pale."""
    path = line_path(frames.px(np.arange(len(panel.values))), scale.px(panel.values[:, c]))
    return pale_stroke(path, theme[line.colour])


def pale_stroke(path: str, colour: str, size: float = ORIGINAL_PX) -> str:
    """Return the wide and pale stroke of an original under its reduced line, or of candidates."""
    return (f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{number(size)}" '
            f'stroke-opacity="{ORIGINAL_OPACITY}" stroke-linejoin="round" stroke-linecap="round"/>')  # fmt: skip


def _panel_lines(panel: _Panel) -> list[Line]:
    """Return the curves, or the reduced ones if there are any."""
    at, values = np.arange(len(panel.values), dtype=np.float64), panel.values
    if panel.reduced is not None:
        at, values = panel.reduced.frames, panel.reduced.values
    few = len(at) < 2
    return [
        Line(channel, at, values[:, c], f"line{place}", width_px=1.5, dots=few)
        for c, (channel, place) in enumerate(zip(panel.channels, panel.columns, strict=True))
    ]


def _dots_path(xs: Floats, ys: Floats, area: Area) -> str:
    """Return path data of segments of length zero, which a round stroke draws as dots; empty if there are too many."""
    if len(xs) > MAX_DOTS_PER_PX * area.width:
        return ""
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def stroke_dots(path: str, colour: str, size: float) -> str:
    """Return dots at the points of a path of segments of length zero."""
    return f'<path d="{path}" stroke="{colour}" stroke-width="{number(size)}" stroke-linecap="round" fill="none"/>'


def _render_saliency(area: Area, frames: Scale, scale: Scale, saliency: JointSaliency, theme: Theme) -> str:
    """Render saliency as an area, with a line at its mean: frames above it are candidates."""
    xs, ys = frames.px(np.arange(len(saliency.over_mean))), scale.px(saliency.over_mean)
    path = line_path(xs, ys, floor=area.bottom)
    mean = f"M{number(area.left)} {number(scale.at(1.0))}H{number(area.right)}"
    name = text_element(area.left - 6, area.bottom, "saliency", TEXT_PX - 1, theme["muted"], anchor="end")
    return _saliency_paths(path, mean, theme) + name


def _saliency_paths(path: str, mean: str, theme: Theme) -> str:
    return (f'<path d="{path}" fill="{theme["line3"]}" fill-opacity="0.45"/>'
            f'<path d="{mean}" stroke="{theme["line3"]}" stroke-dasharray="2 2" fill="none"/>')  # fmt: skip


def _legend_texts(panels: list[_Panel]) -> list[str]:
    if panels[0].is_axis:  # their titles name the axes
        return [*_keys_texts(panels), "candidates", "salient extremum", "saliency, dotted at 1"]
    texts = [*panels[0].channels, *_keys_texts(panels)]
    if panels[0].reduced is not None:
        texts += ["original", "reduced"]
    return [*texts, *(["salient extremum", "saliency, dotted at 1"] if panels[0].saliency else [])]


def _keys_texts(panels: list[_Panel]) -> list[str]:
    """Return the number of keys, if there are any; it differs between the panels if joints have their own."""
    if not any(len(panel.keys) for panel in panels):
        return []
    is_shared = all(np.array_equal(panel.keys, panels[0].keys) for panel in panels)
    return [format_count(len(panels[0].keys), "key", ",") if is_shared else "keys of each joint"]


def _render_legend(panels: list[_Panel], layout: _Layout, theme: Theme) -> str:
    """Render the legend above the panels, in as many rows as needed."""
    panel = panels[0]
    lines = _panel_lines(panel)
    styles = LineStyles(lines)
    signs = [] if panel.is_axis else [draw_legend_sample(line, 0.0, -4.0, styles, theme) for line in lines]
    dot, wide = f"M{number(SAMPLE_PX - 6)} -4h0", number(SAMPLE_PX)
    signs += [stroke_dots(dot, theme["key"], KEY_DOT_PX)] if _keys_texts(panels) else []
    if panel.is_axis:
        signs.append(pale_stroke(f"M5 -4h{number(SAMPLE_PX - 10)}", theme["ink"], CANDIDATE_PX))
    if panel.reduced is not None:
        thin = f'<path d="M0 -4h{wide}" fill="none" stroke="{theme["ink"]}" stroke-width="1.5"/>'
        signs += [pale_stroke(f"M3 -4h{number(SAMPLE_PX - 6)}", theme["ink"]), thin]
    if panel.saliency is not None:
        signs.append(stroke_dots(dot, theme["ink"], RING_PX) + stroke_dots(dot, theme["paper"], HOLE_PX))
        signs.append(_saliency_paths(f"M0 0l{wide} -8V0z", f"M0 -4h{wide}", theme))
    elements = []
    for sign, (row, left, label) in zip(signs, layout.legend, strict=True):
        transform = f"translate({number(left)} {number(layout.legend_y + row * ROW_PX)})"
        elements.append(
            f'<g transform="{transform}">{sign}{text_element(SAMPLE_PX + 6, 0.0, label, TEXT_PX, theme["ink"])}</g>'
        )
    return "".join(elements)


def _describe(motion: Motion, panels: list[_Panel]) -> str:
    names = ", ".join(f"{p.joint} {p.channels[0]}" if p.is_axis else p.joint for p in panels)
    keys = "".join(f", {text}{'' if text.endswith('joint') else ' marked'}" for text in _keys_texts(panels))
    curves = "Motion curves" if panels[0].reduced is None else "Motion curves, original and reduced,"
    ranges = "; ".join(
        f"{p.joint} {p.values.min():.4g} to {p.values.max():.4g} {p.unit}" for p in panels[:DEFAULT_JOINTS]
    )
    return f"{curves} of {motion.name}: {names} over {motion.duration_s:.2f} s{keys}. {ranges}."
