"""Motion curves: the angles of some joints against time, with keys and saliency, as the papers draw them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.features import JointNames, features_of
from keypose.methods.saliency.reading import SIGMA_S
from keypose.model import Features, Motion
from keypose.options import flag, one_of, text
from keypose.options import number as checked
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_y, ticks_upright, width_of
from keypose.pictures.chart.chart import MOST_PX, size_from
from keypose.pictures.chart.draw import Looks, draw_line, draw_sample
from keypose.pictures.chart.labels import SAMPLE_PX, in_rows
from keypose.pictures.chart.layout import EDGE_PX, TITLE_PX
from keypose.pictures.chart.nouns import Axis, Line
from keypose.pictures.chart.scale import Scale, scale_of
from keypose.pictures.chart.strokes import path_of
from keypose.pictures.chart.times import TIME_PX, draw_keys, draw_time, frame_scale
from keypose.pictures.curve_saliency import JointSaliency, joint_saliency
from keypose.pictures.keys_of import Keys, key_frames
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.svg import document, fitting, number, text_width, words
from keypose.pictures.theme import Theme, theme_of

VALUES = ("auto", "euler", "positions")
USUAL_JOINTS = 4
MOST_JOINTS = 24
LEAST_PANEL_PX, MOST_PANEL_PX = 50.0, 600.0
STRIP = 0.2  # of a panel, for saliency
GAP_PX = 12.0
KEY_DOT_PX = 5.0
RING_PX, HOLE_PX = 7.0, 4.4
CROWDED = 0.3  # dots to a px above which there are none


def plot_curves(
    motion: Motion,
    selection: Keys = None,
    path: str | PathLike[str] | None = None,
    *,
    joints: JointNames | None = None,
    values: str = "auto",
    saliency: bool = True,
    sigma_s: float = SIGMA_S,
    title: str | None = None,
    width_px: float = 960.0,
    panel_px: float = 130.0,
    theme: str = "light",
) -> Picture:
    """A panel for each joint with its curves: unwrapped Euler angles in file order, or positions in the world.

    Positions are in metres where the file states its unit, otherwise in that of the file.

    ``selection`` (a Selection, a KeyedMotion or frames) is marked by dots on the curves and upright lines. Below the
    curves stands the saliency of Bulut & Capin, of the joint's most salient curve, over its mean: where it is above
    the line at 1, frames are candidates, and the extrema among them, which that method would choose from, are rings
    on their curve. ``joints`` are by default the four of the body whose curves vary most; ``values="auto"`` shows
    positions for markers, which do not turn. With ``path`` the picture is saved too.
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives it")
    target = None if path is None else picture_path(path)
    colours = theme_of(theme)
    width, _ = size_from(width_px, MOST_PX)
    panel = checked("panel_px", panel_px, least=LEAST_PANEL_PX, most=MOST_PANEL_PX)
    name = motion.name if title is None else text("title", title)
    keys = key_frames(selection, motion.n_frames)
    recipe = _recipe(motion, one_of("values", values, VALUES))
    panels = _panels(motion, recipe, joints, sigma_s, saliency=flag("saliency", saliency))
    plan = _Plan.of(panels, motion, name, len(keys), width, panel)
    says = _says(motion, panels, len(keys))
    body = _drawn(plan, panels, keys, motion.fps, colours)
    svg = document(body, width, plan.height, colours, title=plan.title or "motion curves", says=says)
    picture = Picture(svg, width, plan.height, says)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _Panel:
    """One joint."""

    joint: str
    unit: str
    channels: tuple[str, ...]
    values: Floats  # (T, C)
    saliency: JointSaliency | None


def _recipe(motion: Motion, values: str) -> str:
    if values == "auto":
        return "euler" if np.ptp(motion.rotations, axis=0).any() or motion.n_frames == 1 else "world"
    return "euler" if values == "euler" else "world"


def _panels(motion: Motion, recipe: str, joints: JointNames | None, sigma_s: float, *, saliency: bool) -> list[_Panel]:
    features = features_of(motion, recipe, "body" if joints is None else joints)
    names = list(features.joints)
    if joints is None:
        varying = {
            name: float(features.values[:, list(own)].std(axis=0).max()) for name, own in features.joints.items()
        }
        liveliest = sorted(names, key=lambda name: -varying[name])[:USUAL_JOINTS]
        names = [name for name in names if name in liveliest]
    elif len(names) > MOST_JOINTS:
        raise OptionError(f"joints= names {len(names):,} joints, expected at most {MOST_JOINTS}")
    unit, size = ("degrees", 1.0) if recipe == "euler" else ("metres", motion.metres_per_unit)
    if size is None:
        unit, size = "file units", 1.0
    found = []
    for name in names:
        columns = list(features.joints[name])
        own = Features(features.values[:, columns], features.fps, tuple(features.columns[c] for c in columns))
        channels = tuple(column.channel.removesuffix("rotation") for column in own.columns)
        found.append(
            _Panel(name, unit, channels, size * own.values, joint_saliency(own, sigma_s) if saliency else None)
        )
    return found


@dataclass(frozen=True)
class _Plan:
    """Places in px."""

    width: float
    height: float
    title: str
    legend: list[tuple[int, float, str]]  # row, left and text of each sign
    legend_y: float  # base line of its first row
    frames: Scale
    panels: tuple[
        tuple[Area, Scale, Area | None, Scale | None], ...
    ]  # curves and saliency, each with its upright scale
    whole: Area  # from the first panel to the last

    @staticmethod
    def of(panels: list[_Panel], motion: Motion, title: str, n_keys: int, width: float, panel_px: float) -> _Plan:
        """Panels one below the other, over one time; above them what their signs mean."""
        legend = in_rows(_legend_texts(panels[0], n_keys), EDGE_PX, width - 2 * EDGE_PX)
        head = EDGE_PX + (TITLE_PX + 8 if title else 0.0)
        top = head + ROW_PX * (legend[-1][0] + 2) + 4
        heights = [top + n * (panel_px + ROW_PX + GAP_PX) for n in range(len(panels))]
        scales = [scale_of(Axis(), [panel.values], 0.0, panel_px, room=0.06) for panel in panels]
        texts = [width_of(ticks_upright(Axis(), scale)) for scale in scales]
        left = min(EDGE_PX + max(*texts, text_width("seconds", TEXT_PX) + 6, 0.0) + 10, 0.4 * width)
        right = width - EDGE_PX - 8
        placed = []
        for panel, y, scale in zip(panels, heights, scales, strict=True):
            foot = y + panel_px * (1 - STRIP if panel.saliency is not None else 1)
            area = Area(left, y, right, foot)
            strip = high = None
            if panel.saliency is not None:
                strip = Area(left, foot + 4, right, y + panel_px)
                high = scale_of(Axis(low=0.0), [panel.saliency.over_mean, [1.5]], strip.bottom, strip.top)
            placed.append((area, Scale(scale.low, scale.high, foot, y), strip, high))
        bottom = heights[-1] + panel_px
        frames = frame_scale(motion.n_frames, left, right)
        whole = Area(left, top, right, bottom)
        return _Plan(width, bottom + TIME_PX + 6, title, legend, head + 8, frames, tuple(placed), whole)


def _drawn(plan: _Plan, panels: list[_Panel], keys: Ints, fps: float, theme: Theme) -> str:
    drawn = []
    if plan.title:
        title = fitting(plan.title, plan.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        drawn.append(words(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    drawn.append(draw_time(plan.whole, plan.frames, fps, theme))
    drawn.append(_legend(panels[0], len(keys), plan, theme))
    at = plan.frames.px(keys)
    for n, (panel, (area, scale, strip, high)) in enumerate(zip(panels, plan.panels, strict=True)):
        drawn.append(_ground(area, panel, theme))
        drawn.append(draw_y(area, ticks_upright(Axis(), scale), theme))
        if strip is not None and high is not None and panel.saliency is not None:
            drawn.append(_strip(strip, plan.frames, high, panel.saliency, theme))
        over = Area(area.left, area.top, area.right, (strip or area).bottom)
        drawn.append(draw_keys(over, at.tolist(), theme, heads=n == 0))
        drawn.append(_curves(panel, plan.frames, scale, area, keys, theme))
    return "".join(drawn)


def _ground(area: Area, panel: _Panel, theme: Theme) -> str:
    name = fitting(f"{panel.joint}, {panel.unit}", area.width, TEXT_PX, bold=True)
    return words(area.left, area.top - 10, name, TEXT_PX, theme["ink"], bold=True)


def _curves(panel: _Panel, frames: Scale, scale: Scale, area: Area, keys: Ints, theme: Theme) -> str:
    lines = _lines(panel)
    looks = Looks(lines)
    drawn = [draw_line(line, frames, scale, area.bottom, looks, theme) for line in lines]
    for c, line in enumerate(lines):
        if panel.saliency is not None:
            rings = panel.saliency.frames[panel.saliency.columns == c]
            path = _dots(frames.px(rings), scale.px(panel.values[rings, c]), area)
            drawn.append(
                _round(path, theme[line.colour], RING_PX) + _round(path, theme["paper"], HOLE_PX) if path else ""
            )
        path = _dots(frames.px(keys), scale.px(panel.values[keys, c]), area)
        drawn.append(_round(path, theme["key"], KEY_DOT_PX) if path else "")
    return "".join(drawn)


def _lines(panel: _Panel) -> list[Line]:
    at = np.arange(len(panel.values))
    few = len(at) < 2
    return [
        Line(channel, at, panel.values[:, c], f"line{c}", width_px=1.5, dots=few)
        for c, channel in enumerate(panel.channels)
    ]


def _dots(xs: Floats, ys: Floats, area: Area) -> str:
    """Points of no length, which a round stroke makes into dots; none where they would cover everything."""
    if len(xs) > CROWDED * area.width:
        return ""
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def _round(path: str, colour: str, size: float) -> str:
    return f'<path d="{path}" stroke="{colour}" stroke-width="{number(size)}" stroke-linecap="round" fill="none"/>'


def _strip(strip: Area, frames: Scale, high: Scale, saliency: JointSaliency, theme: Theme) -> str:
    """Saliency as an area, and the line at its mean above which frames are candidates."""
    xs, ys = frames.px(np.arange(len(saliency.over_mean))), high.px(saliency.over_mean)
    path = path_of(xs, ys, floor=strip.bottom)
    mean = f"M{number(strip.left)} {number(high.at(1.0))}H{number(strip.right)}"
    name = words(strip.left - 6, strip.bottom, "saliency", TEXT_PX - 1, theme["muted"], anchor="end")
    return _salience(path, mean, theme) + name


def _salience(path: str, mean: str, theme: Theme) -> str:
    return (f'<path d="{path}" fill="{theme["line3"]}" fill-opacity="0.45"/>'
            f'<path d="{mean}" stroke="{theme["line3"]}" stroke-dasharray="2 2" fill="none"/>')  # fmt: skip


def _legend_texts(panel: _Panel, n_keys: int) -> list[str]:
    keys = [f"{n_keys:,} key{'s' * (n_keys != 1)}"] if n_keys else []
    return [*panel.channels, *keys, *(["salient extremum", "saliency, dotted at 1"] if panel.saliency else [])]


def _legend(panel: _Panel, n_keys: int, plan: _Plan, theme: Theme) -> str:
    """Above the panels, in as many rows as it takes."""
    lines = _lines(panel)
    looks = Looks(lines)
    signs = [draw_sample(line, 0.0, -4.0, looks, theme) for line in lines]
    dot, wide = f"M{number(SAMPLE_PX - 6)} -4h0", number(SAMPLE_PX)
    signs += [_round(dot, theme["key"], KEY_DOT_PX)] if n_keys else []
    if panel.saliency is not None:
        signs.append(_round(dot, theme["ink"], RING_PX) + _round(dot, theme["paper"], HOLE_PX))
        signs.append(_salience(f"M0 0l{wide} -8V0z", f"M0 -4h{wide}", theme))
    drawn = []
    for sign, (row, left, meaning) in zip(signs, plan.legend, strict=True):
        place = f"translate({number(left)} {number(plan.legend_y + row * ROW_PX)})"
        drawn.append(f'<g transform="{place}">{sign}{words(SAMPLE_PX + 6, 0.0, meaning, TEXT_PX, theme["ink"])}</g>')
    return "".join(drawn)


def _says(motion: Motion, panels: list[_Panel], n_keys: int) -> str:
    names = ", ".join(panel.joint for panel in panels)
    keys = f", {n_keys:,} keys marked" if n_keys else ""
    ranges = "; ".join(
        f"{p.joint} {p.values.min():.4g} to {p.values.max():.4g} {p.unit}" for p in panels[:USUAL_JOINTS]
    )
    return f"Motion curves of {motion.name}: {names} over {motion.duration_s:.2f} s{keys}. {ranges}."
