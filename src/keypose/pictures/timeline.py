"""The timeline of swings: a row of bars for each joint, as in Figure 16 of Chia's thesis, shaded by their angle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

from keypose.errors import OptionError
from keypose.features import JointNames, chosen_joints
from keypose.options import number as checked
from keypose.options import text
from keypose.pictures import timeline_bars as bars
from keypose.pictures.chart.axes import TEXT_PX, Area
from keypose.pictures.chart.chart import MOST_PX, size_from
from keypose.pictures.chart.layout import EDGE_PX, TITLE_PX
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.times import TIME_PX, draw_keys, draw_time, frame_scale
from keypose.pictures.joint_rows import Limb, limbs_of
from keypose.pictures.keys_of import Keys, key_frames
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.svg import document, fitting, number, text_width, words
from keypose.pictures.theme import Theme, theme_of
from keypose.swings import Swings
from keypose.swings.timeline import Row, Timeline

MOST_ROWS = 60  # of joints that nobody named; those that swing longest are shown
MOST_NAMED_ROWS = 400
LEAST_ROW_PX, MOST_ROW_PX = 6.0, 60.0
LONGEST_NAME = 0.24  # of the width
LIMB_GAP_PX = 5.0
KEY_PX = 8.0  # height of the marks above the rows


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
    """When each joint swings, and how far: darker (on dark paper lighter) bars turn by a larger angle.

    Rests are thin lines, spans that are kept by keys are hatched, and feet on the ground have a row of their own
    below their leg. ``keys`` (a Selection, a KeyedMotion or frames) are upright lines. By default joints that were left
    out, as fingers are, and joints that hardly turn have no row; ``joints`` shows those that it names. With ``path``
    the picture is saved too.
    """
    if not isinstance(swings, Swings):
        raise OptionError(f"{type(swings).__name__}, expected Swings, as kp.swings gives them")
    target = None if path is None else picture_path(path)
    colours = theme_of(theme)
    width, _ = size_from(width_px, MOST_PX)
    name = swings.name if title is None else text("title", title)
    told = swings.timeline()
    shown, left_out = _shown(swings, told, joints)
    limbs = limbs_of(swings.skeleton, shown)
    height_of_row = checked("row_px", row_px, least=LEAST_ROW_PX, most=MOST_ROW_PX)
    plan = _lay_out(told, limbs, name, width, height_of_row)
    at = key_frames(keys, swings.n_frames)
    body = _drawn(told, plan, [plan.frames.at(float(frame)) for frame in at.tolist()], colours)
    height = plan.area.bottom + TIME_PX + 4
    if legend:
        rows = [told.rows[j] for j in shown]
        key, high = bars.legend(rows, bool(plan.feet), len(at), left_out, width, colours)
        body += f'<g transform="translate(0 {number(height + 4)})">{key}</g>'
        height += 4 + high
    says = _says(told, shown, left_out, len(at))
    svg = document(body, width, height, colours, title=plan.title or "swings", says=says)
    picture = Picture(svg, width, height, says)
    if target is not None:
        picture.save(target)
    return picture


@dataclass(frozen=True)
class _Plan:
    """Places in px."""

    width: float
    title: str
    area: Area  # of all bars
    frames: Scale
    row_px: float
    text_px: float
    limbs: tuple[tuple[Limb, float, float], ...]  # each with its top and bottom
    rows: tuple[tuple[int, float], ...]  # joints and the middles of their rows
    feet: tuple[tuple[str, float], ...]  # and those of feet on the ground


def _shown(swings: Swings, told: Timeline, joints: JointNames | None) -> tuple[list[int], str]:
    """Which joints have a row, and in words which have none."""
    if joints is not None:
        named = chosen_joints(swings.skeleton, joints).tolist()
        if len(named) > MOST_NAMED_ROWS:
            raise OptionError(f"joints= names {len(named):,} joints, expected at most {MOST_NAMED_ROWS}")
        return named, ""
    moving = [j for j, row in enumerate(told.rows) if not row.left_out and any(b.kind != "rest" for b in row.bars)]
    raw = sum(row.left_out for row in told.rows)
    still = len(told.rows) - raw - len(moving)
    longest = sorted(moving, key=lambda j: -told.rows[j].frames("swing") - told.rows[j].frames("keys"))[:MOST_ROWS]
    parts = [
        f"{raw:,} kept frame by frame, as fingers and toes are" * bool(raw),
        f"{still:,} that hardly turn{'s' * (still == 1)}" * bool(still),
        f"{len(moving) - len(longest):,} that swing least" * (len(moving) > len(longest)),
    ]
    said = ", ".join(filter(None, parts))
    return longest, f"Joints without a row: {said}." if said else ""


def _lay_out(told: Timeline, limbs: Sequence[Limb], title: str, width: float, row_px: float) -> _Plan:
    text_px = min(TEXT_PX, row_px - 1)
    feet_of = {f"{foot} leg": foot for foot in dict.fromkeys(standing.foot for standing in told.contacts)}
    names = [fitting(told.rows[j].joint, LONGEST_NAME * width, text_px) for limb in limbs for j in limb.joints]
    widths = [text_width(name, text_px) for name in names] + [text_width("on the ground", text_px)]
    left = EDGE_PX + max(widths) + 16
    top = EDGE_PX + (TITLE_PX + 8 if title else 0.0) + KEY_PX
    y = top
    rows, feet, placed = [], [], []
    for limb in limbs:
        start = y
        for joint in limb.joints:
            rows.append((joint, y + row_px / 2))
            y += row_px
        if limb.name in feet_of:
            feet.append((feet_of[limb.name], y + row_px / 2))
            y += row_px
        placed.append((limb, start, y))
        y += LIMB_GAP_PX
    bottom = max(y - LIMB_GAP_PX, top + row_px)
    area = Area(left, top, width - EDGE_PX - 8, bottom)
    frames = frame_scale(told.n_frames, area.left, area.right)
    return _Plan(width, title, area, frames, row_px, text_px, tuple(placed), tuple(rows), tuple(feet))


def _drawn(told: Timeline, plan: _Plan, keys: list[float], theme: Theme) -> str:
    area = plan.area
    drawn = []
    if plan.title:
        title = fitting(plan.title, plan.width - 2 * EDGE_PX, TITLE_PX, bold=True)
        drawn.append(words(EDGE_PX, EDGE_PX + TITLE_PX - 2, title, TITLE_PX, theme["ink"], bold=True))
    drawn += [_limb(limb, top, bottom, plan, theme) for limb, top, bottom in plan.limbs]
    drawn.append(draw_time(area, plan.frames, told.fps, theme))
    rows = [(told.rows[joint], y) for joint, y in plan.rows]
    drawn.append(bars.draw_bars(rows, plan.frames, plan.row_px, theme))
    for row, y in rows:
        name = fitting(row.joint, LONGEST_NAME * plan.width, plan.text_px)
        drawn.append(words(area.left - 12, y + 0.35 * plan.text_px, name, plan.text_px, theme["ink"], anchor="end"))
    for foot, y in plan.feet:
        standings = [standing for standing in told.contacts if standing.foot == foot]
        drawn.append(bars.draw_standings(standings, y, plan.frames, plan.row_px, theme))
        text_y = y + 0.35 * plan.text_px
        drawn.append(words(area.left - 12, text_y, "on the ground", plan.text_px, theme["muted"], anchor="end"))
    if not rows:
        middle = (area.top + area.bottom) / 2 + 0.35 * TEXT_PX
        drawn.append(words(area.left + 6, middle, "No joint swings.", TEXT_PX, theme["muted"]))
    drawn.append(draw_keys(area, keys, theme))
    return "".join(drawn)


def _limb(limb: Limb, top: float, bottom: float, plan: _Plan, theme: Theme) -> str:
    """The ground of a limb, and a stripe for its side: left in one piece, right dashed."""
    area, x = plan.area, plan.area.left - 6
    ground = (f'<rect x="{number(area.left)}" y="{number(top)}" width="{number(area.width)}" '
              f'height="{number(bottom - top)}" fill="{theme["panel"]}"/>')  # fmt: skip
    dash = ' stroke-dasharray="3 2"' if limb.side == "right" else ""
    return ground + (f'<path d="M{number(x)} {number(top)}V{number(bottom)}" stroke="{theme[f"{limb.side}4"]}" '
                     f'stroke-width="4"{dash}><title>{limb.name}</title></path>')  # fmt: skip


def _says(told: Timeline, shown: Iterable[int], left_out: str, n_keys: int) -> str:
    rows: list[Row] = [told.rows[j] for j in shown]
    swings = [bar for row in rows for bar in row.bars if bar.kind == "swing"]
    widest = max((bar.angle_deg or 0.0 for bar in swings), default=0.0)
    parts = [
        f"Timeline of {told.name}: {len(swings):,} swings of {len(rows):,} joints in {told.duration_s:.2f} s",
        f"the widest turns by {widest:.0f} degrees" * bool(swings),
        f"{n_keys:,} keys" * bool(n_keys),
        f"{len(told.contacts):,} foot contacts" * bool(told.contacts),
    ]
    return f"{', '.join(filter(None, parts))}. {left_out}".strip()
