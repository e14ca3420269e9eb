"""Motion curves: angles or positions of joints over time, with keys and saliency."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.features import JointNames, compute_features
from keypose.methods.saliency.curves import (
    CUT_SIGMAS,
    SIGMA_S,
    build_options,
    curve_saliency,
    find_extrema,
    frame_importance,
)
from keypose.model import Features, Motion
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


def plot_curves(
    motion: Motion,
    selection: Keys = None,
    path: str | PathLike[str] | None = None,
    *,
    joints: JointNames | None = None,
    values: CurveValues = "auto",
    saliency: bool = True,
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
    whose curves vary most; ``values="auto"`` shows positions for markers, which have no rotations. ``title`` is the
    name of the motion by default; ``width_px``, ``panel_px``: the width, and the height of each panel; ``theme``:
    ``light``, ``dark``, ``page`` or ``notebook``. With ``path`` the picture is saved as well.
    """
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion, as kp.load gives it")
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width = check_width(width_px)
    panel = check_option_number(CurvePlotOptions, "panel_px", panel_px)
    name = motion.name if title is None else check_text("title", title)
    keys = key_frames(selection, motion.n_frames)
    feature_kind = _feature_kind(motion, check_choice("values", values, VALUES))
    panels = _build_panels(motion, feature_kind, joints, sigma_s, saliency=check_bool("saliency", saliency))
    layout = _Layout.build(panels, motion, name, len(keys), width, panel)
    alt_text = _describe(motion, panels, len(keys))
    body = _render(layout, panels, keys, motion.fps, colours)
    svg = document(body, width, layout.height, colours, title=layout.title or "motion curves", alt_text=alt_text)
    picture = Picture(svg, width, layout.height, alt_text)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _Panel:
    """The curves of one joint."""

    joint: str
    unit: str
    channels: tuple[str, ...]
    values: Floats  # (T, C)
    saliency: JointSaliency | None


def _feature_kind(motion: Motion, values: str) -> str:
    if values == "auto":
        return "euler" if np.ptp(motion.rotations, axis=0).any() or motion.n_frames == 1 else "world"
    return "euler" if values == "euler" else "world"


def _build_panels(
    motion: Motion, feature_kind: str, joints: JointNames | None, sigma_s: float, *, saliency: bool
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
        raise OptionError(f"{len(names):,} joints", option="joints", expected=f"at most {MAX_JOINTS}")
    unit, unit_scale = ("degrees", 1.0) if feature_kind == "euler" else ("metres", motion.metres_per_unit)
    if unit_scale is None:
        unit, unit_scale = "file units", 1.0
    panels = []
    for name in names:
        columns = list(features.joints[name])
        own = Features(features.values[:, columns], features.fps, tuple(features.columns[c] for c in columns))
        channels = tuple(column.channel.removesuffix("rotation") for column in own.columns)
        panels.append(
            _Panel(
                name,
                unit,
                channels,
                unit_scale * own.values,
                compute_joint_saliency(own, sigma_s) if saliency else None,
            )
        )
    return panels


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
    def build(panels: list[_Panel], motion: Motion, title: str, n_keys: int, width: float, panel_px: float) -> _Layout:
        """Lay out the panels below each other with a common time axis, and the legend above them."""
        legend = lay_out_legend(_legend_texts(panels[0], n_keys), EDGE_PX, width - 2 * EDGE_PX)
        head = EDGE_PX + (TITLE_PX + 8 if title else 0.0)
        top = head + ROW_PX * (legend[-1][0] + 2) + 4
        heights = [top + n * (panel_px + ROW_PX + GAP_PX) for n in range(len(panels))]
        scales = [build_scale(Axis(), [panel.values], 0.0, panel_px, margin_share=0.06) for panel in panels]
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


def _render(layout: _Layout, panels: list[_Panel], keys: Ints, fps: float, theme: Theme) -> str:
    elements = []
    if layout.title:
        title = fit_text(layout.title, layout.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    elements.append(draw_time_axis(layout.full_area, layout.frames, fps, theme))
    elements.append(_render_legend(panels[0], len(keys), layout, theme))
    key_xs = layout.frames.px(keys)
    for n, (panel, (area, scale, saliency_area, saliency_scale)) in enumerate(zip(panels, layout.panels, strict=True)):
        elements.append(_render_panel_title(area, panel, theme))
        elements.append(draw_y(area, vertical_ticks(Axis(), scale), theme))
        if saliency_area is not None and saliency_scale is not None and panel.saliency is not None:
            elements.append(_render_saliency(saliency_area, layout.frames, saliency_scale, panel.saliency, theme))
        key_area = Area(area.left, area.top, area.right, (saliency_area or area).bottom)
        elements.append(draw_key_lines(key_area, key_xs.tolist(), theme, heads=n == 0))
        elements.append(_render_curves(panel, layout.frames, scale, area, keys, theme))
    return "".join(elements)


def _render_panel_title(area: Area, panel: _Panel, theme: Theme) -> str:
    name = fit_text(f"{panel.joint}, {panel.unit}", area.width, TEXT_PX, bold=True)
    return text_element(area.left, area.top - 10, name, TEXT_PX, theme["ink"], bold=True)


def _render_curves(panel: _Panel, frames: Scale, scale: Scale, area: Area, keys: Ints, theme: Theme) -> str:
    lines = _panel_lines(panel)
    styles = LineStyles(lines)
    elements = [draw_line(line, frames, scale, area.bottom, styles, theme) for line in lines]
    for c, line in enumerate(lines):
        if panel.saliency is not None:
            rings = panel.saliency.frames[panel.saliency.columns == c]
            path = _dots_path(frames.px(rings), scale.px(panel.values[rings, c]), area)
            elements.append(
                _stroke_dots(path, theme[line.colour], RING_PX) + _stroke_dots(path, theme["paper"], HOLE_PX)
                if path
                else ""
            )
        path = _dots_path(frames.px(keys), scale.px(panel.values[keys, c]), area)
        elements.append(_stroke_dots(path, theme["key"], KEY_DOT_PX) if path else "")
    return "".join(elements)


def _panel_lines(panel: _Panel) -> list[Line]:
    at = np.arange(len(panel.values))
    few = len(at) < 2
    return [
        Line(channel, at, panel.values[:, c], f"line{c}", width_px=1.5, dots=few)
        for c, channel in enumerate(panel.channels)
    ]


def _dots_path(xs: Floats, ys: Floats, area: Area) -> str:
    """Return path data of segments of length zero, which a round stroke draws as dots; empty if there are too many."""
    if len(xs) > MAX_DOTS_PER_PX * area.width:
        return ""
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def _stroke_dots(path: str, colour: str, size: float) -> str:
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


def _legend_texts(panel: _Panel, n_keys: int) -> list[str]:
    keys = [f"{n_keys:,} key{'s' * (n_keys != 1)}"] if n_keys else []
    return [*panel.channels, *keys, *(["salient extremum", "saliency, dotted at 1"] if panel.saliency else [])]


def _render_legend(panel: _Panel, n_keys: int, layout: _Layout, theme: Theme) -> str:
    """Render the legend above the panels, in as many rows as needed."""
    lines = _panel_lines(panel)
    styles = LineStyles(lines)
    signs = [draw_legend_sample(line, 0.0, -4.0, styles, theme) for line in lines]
    dot, wide = f"M{number(SAMPLE_PX - 6)} -4h0", number(SAMPLE_PX)
    signs += [_stroke_dots(dot, theme["key"], KEY_DOT_PX)] if n_keys else []
    if panel.saliency is not None:
        signs.append(_stroke_dots(dot, theme["ink"], RING_PX) + _stroke_dots(dot, theme["paper"], HOLE_PX))
        signs.append(_saliency_paths(f"M0 0l{wide} -8V0z", f"M0 -4h{wide}", theme))
    elements = []
    for sign, (row, left, label) in zip(signs, layout.legend, strict=True):
        transform = f"translate({number(left)} {number(layout.legend_y + row * ROW_PX)})"
        elements.append(
            f'<g transform="{transform}">{sign}{text_element(SAMPLE_PX + 6, 0.0, label, TEXT_PX, theme["ink"])}</g>'
        )
    return "".join(elements)


def _describe(motion: Motion, panels: list[_Panel], n_keys: int) -> str:
    names = ", ".join(panel.joint for panel in panels)
    keys = f", {n_keys:,} keys marked" if n_keys else ""
    ranges = "; ".join(
        f"{p.joint} {p.values.min():.4g} to {p.values.max():.4g} {p.unit}" for p in panels[:DEFAULT_JOINTS]
    )
    return f"Motion curves of {motion.name}: {names} over {motion.duration_s:.2f} s{keys}. {ranges}."


@dataclass(frozen=True)
class JointSaliency:
    """Saliency of one joint, the input of the method of Bulut & Capin."""

    over_mean: Floats  # (T,) maximum of S / mean(S) over the curves; frames above 1 are candidates
    frames: Ints  # (N,) extrema among the candidates, the most salient of each cluster
    columns: Ints  # (N,) index of the curve of each extremum


def compute_joint_saliency(features: Features, sigma_s: float) -> JointSaliency:
    """Return the saliency of the curves (T, D) of one joint."""
    options = build_options(features.fps, 1, sigma_s, CUT_SIGMAS, None, "joint", "one", "flat")
    salience = curve_saliency(features.values, options)
    mean = salience.mean(axis=0)
    over_mean = frame_importance(salience, mean, options)
    extrema, _ = find_extrema(features.values, salience, mean, over_mean, options)
    chosen = extrema.select(options)
    return JointSaliency(over_mean, chosen.frames.astype("int32"), chosen.columns.astype("int32"))
