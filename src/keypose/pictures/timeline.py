"""Timeline of swings: a row of bars for each joint, shaded by angle, as in Figure 16 of Chia's thesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from keypose.arrays import runs
from keypose.errors import OptionError, format_count
from keypose.features import JointNames, resolve_joints
from keypose.options import check_option_number
from keypose.options.pictures import ThemeName, TimelineOptions
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, TIME_PX, Area, draw_key_lines, draw_time_axis, frame_scale
from keypose.pictures.chart.chart import EDGE_PX, TITLE_PX, check_width
from keypose.pictures.chart.scale import Scale
from keypose.pictures.joint_rows import BodyRegion, Keys, group_joints, key_frames
from keypose.pictures.svg import (
    STEPS,
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
from keypose.swings import Action, Actions, Swings
from keypose.swings.timeline import Bar, ContactBar, Row, Timeline
from keypose.validation import check_bool, check_text

MAX_DEFAULT_ROWS = 60  # without ``joints``; the joints that swing longest are drawn
MAX_ROWS = 400
MAX_NAME_SHARE = 0.24  # of the width of the picture
REGION_GAP_PX = 5.0
KEY_PX = 8.0  # height of the key marks above the rows

ANGLES = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)  # degrees at which each shade starts
SWING_SHARE = 0.72  # heights of bars as shares of a row
REST_SHARE = 0.12
CONTACT_SHARE = 0.36
ACTION_SHARE = 0.86
MIN_BAR_PX = 1.0  # minimum width of a bar
SWING_GAP_PX = 0.7  # removed from the end of each swing, to separate it from the next one
MAX_BARS_PER_PX = 0.5  # with more, only the largest swing of each px is drawn
BOX_PX = 26.0  # width of each shade in the legend
ACTION_ROWS = ("body", "left arm", "right arm", "left leg", "right leg")
ANGLE_TEXT = "angle of a swing"
GAP_TEXT = "blank: interpolated"


def timeline(
    swings: Swings,
    path: str | PathLike[str] | None = None,
    *,
    keys: Keys = None,
    joints: JointNames | None = None,
    actions: bool | Actions = False,
    title: str | None = None,
    width_px: float = 960.0,
    row_px: float = 15.0,
    legend: bool = True,
    theme: ThemeName = "light",
) -> Picture:
    """Return a picture of the times and angles of the swings of each joint: darker bars (lighter on dark paper) are
    larger angles.

    Rests are thin lines, spans stored as keys are hatched, and foot contacts have a row below their leg. ``keys`` (a
    Selection, a KeyedMotion or frames) are vertical lines. By default joints that are excluded from swings, such as
    fingers, and joints that hardly rotate have no row; ``joints`` names the rows explicitly. ``actions`` adds rows with
    the actions of each limb and of the body; those of ``swings.actions(capture)`` may be passed instead of True.
    ``legend`` explains the signs, ``title`` is the name of the motion by default, ``width_px`` and ``row_px`` are the
    width and the height of a row, and ``theme`` is ``light``, ``dark``, ``page`` or ``notebook``. With ``path`` the
    picture is saved as well.
    """
    if not isinstance(swings, Swings):
        raise OptionError(type(swings).__name__, expected="Swings, as kp.swings gives them")
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width, has_legend = check_width(width_px), check_bool("legend", legend)
    name = swings.name if title is None else check_text("title", title)
    data = swings.timeline()
    joint_indices, omission_note = _select_joints(swings, data, joints)
    visible_actions = _resolve_actions(swings, actions)
    if visible_actions is not None and not len(visible_actions):
        reason = visible_actions.notes[0] if visible_actions.notes else "no actions"
        omission_note = f"{reason[0].upper()}{reason[1:]}. {omission_note}".strip()
    regions = group_joints(swings.skeleton, joint_indices)
    height_of_row = check_option_number(TimelineOptions, "row_px", row_px)
    layout = _lay_out(data, regions, visible_actions, name, width, height_of_row)
    key_indices = key_frames(keys, swings.n_frames)
    body = _render(data, layout, [layout.frames.at(float(frame)) for frame in key_indices.tolist()], colours)
    height = layout.area.bottom + TIME_PX + 4
    if has_legend:
        rows = [data.rows[j] for j in joint_indices]
        legend_svg, legend_height = draw_legend(
            rows, bool(layout.feet), len(key_indices), omission_note, width, colours
        )
        body += f'<g transform="translate(0 {number(height + 4)})">{legend_svg}</g>'
        height += 4 + legend_height
    alt_text = _describe(data, joint_indices, visible_actions, omission_note, len(key_indices))
    svg = document(body, width, height, colours, title=layout.title or "swings", alt_text=alt_text)
    picture = Picture(svg, width, height, alt_text)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _Layout:
    """Positions in px."""

    width: float
    title: str
    area: Area  # of all bars
    frames: Scale
    row_px: float
    text_px: float
    regions: tuple[tuple[BodyRegion, float, float], ...]  # region, top and bottom
    rows: tuple[tuple[int, float], ...]  # joint and y of the middle of its row
    feet: tuple[tuple[str, float], ...]  # foot and y of the middle of its contact row
    actions: tuple[ActionRow, ...]


@dataclass(frozen=True)
class ActionRow:
    """The actions of one limb or of the body, in lanes so that no two of a lane overlap; positions in px."""

    limb: str  # "right leg"; "body"
    top: float
    lanes: tuple[tuple[Action, ...], ...]


def _select_joints(swings: Swings, data: Timeline, joints: JointNames | None) -> tuple[list[int], str]:
    """Return the joints that have a row, and a note on those without."""
    if joints is not None:
        indices = resolve_joints(swings.skeleton, joints).tolist()
        if len(indices) > MAX_ROWS:
            raise OptionError(format_count(len(indices), "joint", ","), option="joints", expected=f"at most {MAX_ROWS}")
        return indices, ""
    active = [j for j, row in enumerate(data.rows) if not row.left_out and any(b.kind != "rest" for b in row.bars)]
    n_raw = sum(row.left_out for row in data.rows)
    n_still = len(data.rows) - n_raw - len(active)
    selected = sorted(active, key=lambda j: -data.rows[j].count_frames("swing") - data.rows[j].count_frames("keys"))[
        :MAX_DEFAULT_ROWS
    ]
    texts = [
        f"{n_raw:,} stored frame by frame (such as fingers and toes)" * bool(n_raw),
        f"{n_still:,} that hardly turn{'s' * (n_still == 1)}" * bool(n_still),
        f"{len(active) - len(selected):,} that swing least" * (len(active) > len(selected)),
    ]
    summary = ", ".join(filter(None, texts))
    return selected, f"Joints without a row: {summary}." if summary else ""


def _resolve_actions(swings: Swings, actions: bool | Actions) -> Actions | None:
    """Return the actions to show; None for none."""
    if isinstance(actions, Actions):
        if (actions.n_frames, actions.fps) != (swings.n_frames, swings.fps):
            raise OptionError(
                f"actions of {format_count(actions.n_frames, 'frame')} at {actions.fps:g} fps",
                expected=f"those of the {swings.n_frames} at {swings.fps:g} that are shown",
            )
        return actions
    return swings.actions() if check_bool("actions", actions) else None


def group_actions(actions: Actions) -> dict[str, list[list[Action]]]:
    """Return the actions of the body and of each limb that has any, in lanes without overlaps."""
    rows: dict[str, list[list[Action]]] = {name: [] for name in ACTION_ROWS}
    whole_body = [action for action in actions.body_actions if not action.limbs]
    for action in sorted((*whole_body, *actions.limb_actions), key=lambda action: (action.start, action.end)):
        lanes = rows[action.limbs[0] if action.limbs else "body"]
        free_lane = next((lane for lane in lanes if lane[-1].end <= action.start), None)
        if free_lane is None:
            lanes.append([action])
        else:
            free_lane.append(action)
    return {name: lanes for name, lanes in rows.items() if lanes}


def _lay_out(
    data: Timeline,
    regions: Sequence[BodyRegion],
    actions: Actions | None,
    title: str,
    width: float,
    row_px: float,
) -> _Layout:
    text_px = min(TEXT_PX, row_px - 1)
    feet_of = {f"{foot} leg": foot for foot in dict.fromkeys(contact.foot for contact in data.contacts)}
    names = [fit_text(data.rows[j].joint, MAX_NAME_SHARE * width, text_px) for region in regions for j in region.joints]
    groups = {} if actions is None else group_actions(actions)
    widths = [text_width(name, text_px) for name in (*names, "on the ground", *groups)]
    left = EDGE_PX + max(widths) + 16
    top = EDGE_PX + (TITLE_PX + 8 if title else 0.0) + KEY_PX
    y = top
    rows, feet, region_spans, action_rows = [], [], [], []
    for name, lanes in groups.items():
        action_rows.append(ActionRow(name, y, tuple(map(tuple, lanes))))
        y += row_px * len(lanes)
    y += REGION_GAP_PX * bool(groups)
    for limb in regions:
        start = y
        for joint in limb.joints:
            rows.append((joint, y + row_px / 2))
            y += row_px
        if limb.name in feet_of:
            feet.append((feet_of[limb.name], y + row_px / 2))
            y += row_px
        region_spans.append((limb, start, y))
        y += REGION_GAP_PX
    bottom = max(y - REGION_GAP_PX, top + row_px)
    area = Area(left, top, width - EDGE_PX - 8, bottom)
    frames = frame_scale(data.n_frames, area.left, area.right)
    return _Layout(
        width, title, area, frames, row_px, text_px, tuple(region_spans), tuple(rows), tuple(feet), tuple(action_rows)
    )


def _render(data: Timeline, layout: _Layout, keys: list[float], theme: Theme) -> str:
    area = layout.area
    elements = []
    if layout.title:
        title = fit_text(layout.title, layout.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    elements += [_render_region(region, top, bottom, layout, theme) for region, top, bottom in layout.regions]
    elements += [_render_action_panel(row, layout, theme) for row in layout.actions]
    elements.append(draw_time_axis(area, layout.frames, data.fps, theme))
    rows = [(data.rows[joint], y) for joint, y in layout.rows]
    elements.append(draw_bars(rows, layout.frames, layout.row_px, theme))
    elements += [_render_actions(row, layout, theme) for row in layout.actions]
    for row, y in rows:
        name = fit_text(row.joint, MAX_NAME_SHARE * layout.width, layout.text_px)
        elements.append(
            text_element(area.left - 12, y + 0.35 * layout.text_px, name, layout.text_px, theme["ink"], anchor="end")
        )
    for foot, y in layout.feet:
        contacts = [contact for contact in data.contacts if contact.foot == foot]
        elements.append(draw_contacts(contacts, y, layout.frames, layout.row_px, theme))
        text_y = y + 0.35 * layout.text_px
        elements.append(
            text_element(area.left - 12, text_y, "on the ground", layout.text_px, theme["muted"], anchor="end")
        )
    if not rows:
        middle = (area.top + area.bottom) / 2 + 0.35 * TEXT_PX
        elements.append(text_element(area.left + 6, middle, "No joint swings.", TEXT_PX, theme["muted"]))
    elements.append(draw_key_lines(area, keys, theme))
    return "".join(elements)


def _render_region(region: BodyRegion, top: float, bottom: float, layout: _Layout, theme: Theme) -> str:
    """Render the background of a body region and a stripe for its side, dashed on the right."""
    area, x = layout.area, layout.area.left - 6
    background = (f'<rect x="{number(area.left)}" y="{number(top)}" width="{number(area.width)}" '
              f'height="{number(bottom - top)}" fill="{theme["panel"]}"/>')  # fmt: skip
    dash = ' stroke-dasharray="3 2"' if region.side == "right" else ""
    return background + (f'<path d="M{number(x)} {number(top)}V{number(bottom)}" stroke="{theme[f"{region.side}4"]}" '
                     f'stroke-width="4"{dash}><title>{region.name}</title></path>')  # fmt: skip


def _render_action_panel(row: ActionRow, layout: _Layout, theme: Theme) -> str:
    """Render the background of a row of actions, its name and a stripe for its side."""
    area, bottom = layout.area, row.top + layout.row_px * len(row.lanes)
    panel = (f'<rect x="{number(area.left)}" y="{number(row.top)}" width="{number(area.width)}" '
             f'height="{number(bottom - row.top)}" fill="{theme["panel"]}"/>')  # fmt: skip
    side, x = _side_of(row.limb), layout.area.left - 6
    dash = ' stroke-dasharray="3 2"' if side == "right" else ""
    stripe = (f'<path d="M{number(x)} {number(row.top)}V{number(bottom)}" stroke="{theme[f"{side}4"]}" '
              f'stroke-width="4"{dash}/>')  # fmt: skip
    y = row.top + layout.row_px / 2 + 0.35 * layout.text_px
    name = text_element(area.left - 12, y, row.limb, layout.text_px, theme["ink"], anchor="end")
    return panel + stripe + name


def _render_actions(row: ActionRow, layout: _Layout, theme: Theme) -> str:
    """Render the bars of a row of actions, with what happens where there is space up to the next one."""
    elements = []
    for n, lane in enumerate(row.lanes):
        y = row.top + layout.row_px * (n + 0.5)
        path = ""
        limits = [*layout.frames.px([action.start for action in lane[1:]]).tolist(), layout.area.right]
        for action, limit in zip(lane, limits, strict=True):
            start, end = layout.frames.px((action.start, action.end)).tolist()
            path += f"M{number(start)} {number(y)}h{number(max(end - start - SWING_GAP_PX, MIN_BAR_PX))}"
            texts = (action.phrase, action.kind) if row.limb == "body" else (action.kind,)
            label = next((text for text in texts if text_width(text, layout.text_px) <= limit - start - 2), "")
            if label:
                elements.append(text_element(start + 2, y + 0.35 * layout.text_px, label, layout.text_px, theme["ink"]))
        bars = (f'<path data-bars="action" d="{path}" stroke="{theme[f"{_side_of(row.limb)}4"]}" stroke-opacity="0.4" '
                f'stroke-width="{number(ACTION_SHARE * layout.row_px)}" fill="none"/>')  # fmt: skip
        elements.insert(0, bars)
    return "".join(elements)


def _side_of(limb: str) -> str:
    return limb.split()[0] if " " in limb else "middle"


def _describe(
    data: Timeline, joint_indices: Iterable[int], actions: Actions | None, omission_note: str, n_keys: int
) -> str:
    rows: list[Row] = [data.rows[j] for j in joint_indices]
    swings = [bar for row in rows for bar in row.bars if bar.kind == "swing"]
    widest = max((bar.angle_deg or 0.0 for bar in swings), default=0.0)
    texts = [
        f"Timeline of {data.name}: {format_count(len(swings), 'swing', ',')} of "
        f"{format_count(len(rows), 'joint', ',')} in {data.duration_s:.2f} s",
        f"the widest turns by {widest:.0f} degrees" * bool(swings),
        format_count(n_keys, "key", ",") * bool(n_keys),
        f"{len(data.contacts):,} foot contacts" * bool(data.contacts),
        "" if actions is None else f"{format_count(len(actions), 'action', ',')}",
    ]
    return f"{', '.join(filter(None, texts))}. {omission_note}".strip()


def find_shade(angle_deg: float) -> int:
    """Return the index of the shade of a swing by ``angle_deg``."""
    return int(np.searchsorted(ANGLES, angle_deg, side="right")) - 1


def draw_bars(rows: Sequence[tuple[Row, float]], frames: Scale, row_px: float, theme: Theme) -> str:
    """Return all bars as SVG, one path for each shade and kind, since there may be many bars."""
    paths: dict[str, list[str]] = {}
    for row, y in rows:
        for kind, start, width in _bar_spans(row, frames):
            paths.setdefault(kind, []).append(f"M{number(start)} {number(y)}h{number(width)}")
    styles = {f"heat{step}": (theme[f"heat{step}"], SWING_SHARE, "") for step in range(STEPS)}
    styles["rest"] = (theme["muted"], REST_SHARE, "")
    styles["keys"] = (theme["muted"], SWING_SHARE, ' stroke-dasharray="1 2"')
    return "".join(
        f'<path data-bars="{kind}" d="{"".join(paths[kind])}" stroke="{colour}" '
        f'stroke-width="{number(max(share * row_px, 1.0))}" fill="none"{dash}/>'
        for kind, (colour, share, dash) in styles.items()
        if kind in paths
    )


def _bar_spans(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Return kind or shade, start and width in px of each bar."""
    length = frames.end_px - frames.start_px
    if len(row.bars) > MAX_BARS_PER_PX * length:
        return _bar_spans_by_px(row, frames)
    spans = []
    for bar in row.bars:
        start, end = frames.px((bar.start, bar.end)).tolist()
        width = end - start - (SWING_GAP_PX if bar.kind == "swing" else 0.0)
        spans.append((_kind(bar), start, max(width, MIN_BAR_PX)))
    return spans


def _bar_spans_by_px(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Return the bars of a crowded row: per px the largest swing, else keys, else rest; neighbours merged."""
    kinds = ["rest", "keys", *(f"heat{step}" for step in range(STEPS))]
    columns = np.full(int(frames.end_px - frames.start_px) + 1, -1)
    ends = np.floor(frames.px([(bar.start, bar.end) for bar in row.bars]) - frames.start_px).astype(int)
    for bar, (first, last) in zip(row.bars, ends.tolist(), strict=True):
        columns[first : last + 1] = np.maximum(columns[first : last + 1], kinds.index(_kind(bar)))
    spans = []
    for n, kind in enumerate(kinds):
        spans += [(kind, frames.start_px + start, float(stop - start)) for start, stop in runs(columns == n)]
    return spans


def _kind(bar: Bar) -> str:
    return bar.kind if bar.angle_deg is None else f"heat{find_shade(bar.angle_deg)}"


def draw_contacts(contacts: Sequence[ContactBar], y: float, frames: Scale, row_px: float, theme: Theme) -> str:
    """Return the contacts of one foot as SVG."""
    if not contacts:
        return ""
    ends = [frames.px((contact.start, contact.end)).tolist() for contact in contacts]
    path = "".join(f"M{number(a)} {number(y)}h{number(max(b - a, MIN_BAR_PX))}" for a, b in ends)
    return (f'<path data-bars="contact" d="{path}" stroke="{theme["contact"]}" '
            f'stroke-width="{number(CONTACT_SHARE * row_px)}" fill="none"/>')  # fmt: skip


def draw_legend(
    rows: Sequence[Row], feet: bool, n_keys: int, omission_note: str, width: float, theme: Theme
) -> tuple[str, float]:
    """Return a legend of the shades and signs in the picture, with ``omission_note`` below, and its height in px.

    It is drawn from y = 0 downwards.
    """
    kinds = {bar.kind for row in rows for bar in row.bars}
    elements, x, y = [], EDGE_PX, 10.0
    if "swing" in kinds:
        box = min(BOX_PX, (width - 2 * EDGE_PX) / STEPS)
        elements.append(_draw_shades(x, y, box, theme))
        x += STEPS * box + 6
        if x + text_width(ANGLE_TEXT, TEXT_PX) > width:
            x, y = EDGE_PX, y + 28.0
        elements.append(text_element(x, y, ANGLE_TEXT, TEXT_PX, theme["ink"]))
        x += text_width(ANGLE_TEXT, TEXT_PX) + 14
    hatch = ' stroke-dasharray="1 2"'
    key = format_count(n_keys, "key", ",")
    signs = (
        ("rest", "rest" in kinds, _draw_line(theme["muted"], 2.0)),
        ("stored as keys", "keys" in kinds, _draw_line(theme["muted"], 10.0, hatch)),
        ("foot on the ground", feet, _draw_line(theme["contact"], 5.0)),
        (key, n_keys > 0, f'<path d="M7.5 -9h7l-3.5 6zm3.5 6v6" fill="{theme["key"]}" stroke="{theme["key"]}"/>'),
    )
    row_px = 28.0 if "swing" in kinds else 18.0
    for text, occurs, sign in signs:
        if not occurs:
            continue
        if x + 28 + text_width(text, TEXT_PX) > width and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        elements.append(f'<g transform="translate({number(x)} {number(y)})">{sign}</g>')
        elements.append(text_element(x + 28, y, text, TEXT_PX, theme["ink"]))
        x += 28 + text_width(text, TEXT_PX) + 14
    if "swing" in kinds:
        if x + text_width(GAP_TEXT, TEXT_PX) > width - EDGE_PX and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        elements.append(text_element(x, y, fit_text(GAP_TEXT, width - x, TEXT_PX), TEXT_PX, theme["muted"]))
    y += row_px
    for line in _wrap_text(omission_note, width - 2 * EDGE_PX):
        elements.append(text_element(EDGE_PX, y, line, TEXT_PX, theme["muted"]))
        y += ROW_PX
    return "".join(elements), y


def _wrap_text(text: str, width: float) -> list[str]:
    """Split ``text`` into lines of at most ``width`` px."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, TEXT_PX) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_shades(left: float, y: float, box: float, theme: Theme) -> str:
    """Draw a box for each shade with the angle at which it starts below it, if there is space."""
    elements, next_free_x = [], left
    for step, angle in enumerate(ANGLES):
        x, text = left + step * box, f"{angle:g}°" + "+" * (step == STEPS - 1)
        elements.append(f'<rect x="{number(x)}" y="{number(y - 9)}" width="{number(box)}" height="10" '
                     f'fill="{theme[f"heat{step}"]}"/>')  # fmt: skip
        wide = text_width(text, TEXT_PX - 1)
        if x >= next_free_x and x + wide <= left + STEPS * box + EDGE_PX:
            elements.append(text_element(x, y + 13, text, TEXT_PX - 1, theme["muted"]))
            next_free_x = x + wide
    return "".join(elements)


def _draw_line(colour: str, thick: float, dash: str = "") -> str:
    return f'<path d="M0 -4h22" stroke="{colour}" stroke-width="{thick:g}"{dash}/>'
