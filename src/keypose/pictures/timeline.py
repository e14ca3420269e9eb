"""Timeline of swings: a row of bars for each joint, shaded by angle, as in Figure 16 of Chia's thesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

from keypose.errors import OptionError
from keypose.features import JointNames, resolve_joints
from keypose.pictures import timeline_bars as bars
from keypose.pictures.chart.axes import TEXT_PX, Area
from keypose.pictures.chart.chart import MAX_SIZE_PX, check_size
from keypose.pictures.chart.layout import EDGE_PX, TITLE_PX
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.time_axis import TIME_PX, draw_key_lines, draw_time_axis, frame_scale
from keypose.pictures.joint_rows import BodyRegion, group_joints
from keypose.pictures.key_marks import Keys, key_frames
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.svg import document, fit_text, number, text_element, text_width
from keypose.pictures.theme import Theme, find_theme
from keypose.swings import Swings
from keypose.swings.timeline import Row, Timeline
from keypose.validation import check_number, check_text

MAX_DEFAULT_ROWS = 60  # without ``joints``; the joints that swing longest are drawn
MAX_ROWS = 400
MIN_ROW_PX, MAX_ROW_PX = 6.0, 60.0
MAX_NAME_SHARE = 0.24  # of the width of the picture
REGION_GAP_PX = 5.0
KEY_PX = 8.0  # height of the key marks above the rows


def timeline(
    swings: Swings,
    path: str | PathLike[str] | None = None,
    *,
    keys: Keys = None,
    joints: JointNames | None = None,
    title: str | None = None,
    width_px: float = 960.0,
    row_px: float = 15.0,
    legend: bool = True,
    theme: str = "light",
) -> Picture:
    """Return a picture of when each joint swings and how far: darker bars (lighter on dark paper) are larger angles.

    Rests are thin lines, spans stored as keys are hatched, and foot contacts have a row below their leg. ``keys`` (a
    Selection, a KeyedMotion or frames) are vertical lines. By default joints that are excluded from swings, such as
    fingers, and joints that hardly turn have no row; ``joints`` names the rows explicitly. With ``path`` the picture is
    saved as well.
    """
    if not isinstance(swings, Swings):
        raise OptionError(f"{type(swings).__name__}, expected Swings, as kp.swings gives them")
    target = None if path is None else picture_path(path)
    colours = find_theme(theme)
    width, _ = check_size(width_px, MAX_SIZE_PX)
    name = swings.name if title is None else check_text("title", title)
    data = swings.timeline()
    joint_indices, omission_note = _select_joints(swings, data, joints)
    regions = group_joints(swings.skeleton, joint_indices)
    height_of_row = check_number("row_px", row_px, min_value=MIN_ROW_PX, max_value=MAX_ROW_PX)
    layout = _lay_out(data, regions, name, width, height_of_row)
    key_indices = key_frames(keys, swings.n_frames)
    body = _render(data, layout, [layout.frames.at(float(frame)) for frame in key_indices.tolist()], colours)
    height = layout.area.bottom + TIME_PX + 4
    if legend:
        rows = [data.rows[j] for j in joint_indices]
        legend_svg, legend_height = bars.draw_legend(
            rows, bool(layout.feet), len(key_indices), omission_note, width, colours
        )
        body += f'<g transform="translate(0 {number(height + 4)})">{legend_svg}</g>'
        height += 4 + legend_height
    alt_text = _describe(data, joint_indices, omission_note, len(key_indices))
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


def _select_joints(swings: Swings, data: Timeline, joints: JointNames | None) -> tuple[list[int], str]:
    """Return the joints that have a row, and a note on those without."""
    if joints is not None:
        indices = resolve_joints(swings.skeleton, joints).tolist()
        if len(indices) > MAX_ROWS:
            raise OptionError(f"joints= names {len(indices):,} joints, expected at most {MAX_ROWS}")
        return indices, ""
    active = [j for j, row in enumerate(data.rows) if not row.left_out and any(b.kind != "rest" for b in row.bars)]
    n_raw = sum(row.left_out for row in data.rows)
    n_still = len(data.rows) - n_raw - len(active)
    selected = sorted(active, key=lambda j: -data.rows[j].count_frames("swing") - data.rows[j].count_frames("keys"))[
        :MAX_DEFAULT_ROWS
    ]
    texts = [
        f"{n_raw:,} kept frame by frame, as fingers and toes are" * bool(n_raw),
        f"{n_still:,} that hardly turn{'s' * (n_still == 1)}" * bool(n_still),
        f"{len(active) - len(selected):,} that swing least" * (len(active) > len(selected)),
    ]
    summary = ", ".join(filter(None, texts))
    return selected, f"Joints without a row: {summary}." if summary else ""


def _lay_out(data: Timeline, regions: Sequence[BodyRegion], title: str, width: float, row_px: float) -> _Layout:
    text_px = min(TEXT_PX, row_px - 1)
    feet_of = {f"{foot} leg": foot for foot in dict.fromkeys(contact.foot for contact in data.contacts)}
    names = [fit_text(data.rows[j].joint, MAX_NAME_SHARE * width, text_px) for region in regions for j in region.joints]
    widths = [text_width(name, text_px) for name in names] + [text_width("on the ground", text_px)]
    left = EDGE_PX + max(widths) + 16
    top = EDGE_PX + (TITLE_PX + 8 if title else 0.0) + KEY_PX
    y = top
    rows, feet, region_spans = [], [], []
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
    return _Layout(width, title, area, frames, row_px, text_px, tuple(region_spans), tuple(rows), tuple(feet))


def _render(data: Timeline, layout: _Layout, keys: list[float], theme: Theme) -> str:
    area = layout.area
    elements = []
    if layout.title:
        title = fit_text(layout.title, layout.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    elements += [_render_region(region, top, bottom, layout, theme) for region, top, bottom in layout.regions]
    elements.append(draw_time_axis(area, layout.frames, data.fps, theme))
    rows = [(data.rows[joint], y) for joint, y in layout.rows]
    elements.append(bars.draw_bars(rows, layout.frames, layout.row_px, theme))
    for row, y in rows:
        name = fit_text(row.joint, MAX_NAME_SHARE * layout.width, layout.text_px)
        elements.append(
            text_element(area.left - 12, y + 0.35 * layout.text_px, name, layout.text_px, theme["ink"], anchor="end")
        )
    for foot, y in layout.feet:
        contacts = [contact for contact in data.contacts if contact.foot == foot]
        elements.append(bars.draw_contacts(contacts, y, layout.frames, layout.row_px, theme))
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


def _describe(data: Timeline, joint_indices: Iterable[int], omission_note: str, n_keys: int) -> str:
    rows: list[Row] = [data.rows[j] for j in joint_indices]
    swings = [bar for row in rows for bar in row.bars if bar.kind == "swing"]
    widest = max((bar.angle_deg or 0.0 for bar in swings), default=0.0)
    texts = [
        f"Timeline of {data.name}: {len(swings):,} swings of {len(rows):,} joints in {data.duration_s:.2f} s",
        f"the widest turns by {widest:.0f} degrees" * bool(swings),
        f"{n_keys:,} keys" * bool(n_keys),
        f"{len(data.contacts):,} foot contacts" * bool(data.contacts),
    ]
    return f"{', '.join(filter(None, texts))}. {omission_note}".strip()
