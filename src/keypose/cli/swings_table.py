"""The joints of one clip as a table with their timeline, and single swings as a list."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from keypose.batch.swings import ClipSwings, JointFigures
from keypose.cli import columns
from keypose.cli.columns import BETWEEN, Column
from keypose.cli.output import printable
from keypose.cli.swings_bars import BLOCKS, LEAST_COLUMNS, MOST_COLUMNS, PLAIN, STYLES, Scale, Signs, fastest
from keypose.swings import Swing

ROWS_SHOWN = 2_000
NAMES_SHOWN = 12
WIDEST_NAME = 18
BAR_WANTED = 36  # columns that the timeline is given before others have to go
NEEDLESS = ("part", "mean deg", "rest", "longest", "keys")  # on a narrow terminal, in this order
NEEDLESS_OF_SWINGS = ("part", "axis", "deg/s", "frames")


def joints(clip: ClipSwings, width: int, *, every: bool, plain: bool) -> list[RenderableType]:
    """A row for each joint that swings, or ``every`` one; then the feet, and what was left out."""
    assert clip.swings is not None
    told = [joint for joint in clip.joints if every or joint.n_swings or (joint.n_keys and not joint.left_out)]
    timeline = clip.swings.timeline()
    rows = {row.joint: row for row in timeline.rows}
    shown = told[:ROWS_SHOWN]
    parts: list[RenderableType] = []
    if shown:
        signs = PLAIN if plain else BLOCKS
        names = Column("joint", [columns.shortened(printable(joint.joint), WIDEST_NAME) for joint in shown])
        others, room = _columns_that_fit(names, _columns(shown), width)
        bars = [rows[joint.joint] for joint in shown]
        scale = Scale(clip.n_frames, room, fastest(bars), signs)
        grid = _grid(names, others, scale.axis(clip.fps))
        for n, (name, bar) in enumerate(zip(names.cells, bars, strict=True)):
            grid.add_row(Text(name), *(Text(column.cells[n]) for column in others), scale.bar(bar))
        for foot in dict.fromkeys(standing.foot for standing in timeline.contacts):
            stands = scale.feet(standing for standing in timeline.contacts if standing.foot == foot)
            grid.add_row(Text(f"{foot} foot", style="dim"), *(Text("") for _ in others), stands)
        parts += [grid, _legend(scale, signs, keyed=any(joint.keyed for joint in shown), feet=bool(timeline.contacts))]
    if len(told) > ROWS_SHOWN:
        parts.append(Text(f"and {len(told) - ROWS_SHOWN} more joints; --json has all"))
    if not every:
        parts += [Text(line, style="dim") for line in _others(clip.joints)]
    return parts


def listed(clip: ClipSwings, width: int) -> RenderableType:
    """The swings that were asked for, one by one."""
    assert clip.listed is not None and clip.swings is not None
    some = clip.listed[:ROWS_SHOWN]
    if not some:
        return Text("no swing fits")
    parts = dict(zip(clip.swings.skeleton.names, clip.swings.skeleton.anatomy.parts, strict=True))
    swings = [swing for _, swing in some]
    fps = clip.fps
    names = Column("joint", [printable(swing.joint) for swing in swings])
    others = [
        Column("part", [parts[swing.joint] or "" for swing in swings]),
        Column("index", [str(n) for n, _ in some], right=True),
        Column("frames", [f"{swing.start}-{swing.end}" for swing in swings], right=True),
        Column("from s", [f"{swing.start / fps:.2f}" for swing in swings], right=True),
        Column("to s", [f"{swing.end / fps:.2f}" for swing in swings], right=True),
        Column("lasts s", [f"{(swing.end - swing.start) / fps:.2f}" for swing in swings], right=True),
        Column("deg", [f"{swing.angle_deg:.1f}" for swing in swings], right=True),
        Column("deg/s", [f"{swing.angle_deg / (swing.end - swing.start) * fps:.0f}" for swing in swings], right=True),
        Column("axis", [_axis(swing) for swing in swings], right=True),
    ]
    kept = columns.without_needless(names, others, width, NEEDLESS_OF_SWINGS)
    return columns.table(names, kept, width)


def _columns(some: Sequence[JointFigures]) -> list[Column]:
    """Each column of the table of joints; keys only where there are some."""
    return [
        Column("part", [joint.part or "" for joint in some]),
        Column("swings", [str(joint.n_swings) for joint in some], right=True),
        Column("longest", [_cell(joint.longest_s, 2, " s") for joint in some], right=True),
        Column("swing", [_share(joint.swinging) for joint in some], right=True),
        Column("rest", [_share(joint.resting) for joint in some], right=True),
        *([Column("keys", [str(joint.n_keys) for joint in some], right=True)] if any(j.n_keys for j in some) else []),
        Column("mean deg", [_cell(joint.mean_deg, 0) for joint in some], right=True),
        Column("max deg", [_cell(joint.max_deg, 0) for joint in some], right=True),
    ]


def _columns_that_fit(names: Column, others: list[Column], width: int) -> tuple[list[Column], int]:
    """The columns beside which the timeline has room, and its columns."""
    for heading in NEEDLESS:
        if _room(names, others, width) >= BAR_WANTED:
            break
        others = [column for column in others if column.heading != heading]
    return others, max(LEAST_COLUMNS, min(MOST_COLUMNS, _room(names, others, width)))


def _room(names: Column, others: Sequence[Column], width: int) -> int:
    return width - 2 - sum(column.width + BETWEEN for column in (names, *others))


def _grid(names: Column, others: Sequence[Column], axis: str) -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(names.heading, no_wrap=True, style="cyan")
    for column in others:
        grid.add_column(column.heading, no_wrap=True, justify="right" if column.right else "left")
    grid.add_column(Text(axis), no_wrap=True)
    return grid


def _legend(scale: Scale, signs: Signs, *, keyed: bool, feet: bool) -> Text:
    text = Text()
    for n, sign in enumerate((signs.speeds[0], signs.speeds[len(signs.speeds) // 2], signs.speeds[-1])):
        text.append(sign, STYLES[n % 2])
    text.append(f" swings, the higher the faster (up to {scale.fastest:.0f} degrees a second)", "dim")
    signed = {"rest": signs.rest, "keys": f"{signs.keys}{signs.key}" if keyed else "", "stands": signs.stands * feet}
    for what, sign in signed.items():
        if not sign:
            continue
        text.append("  ").append(sign).append(f" {what}", "dim")
    return text


def _others(some: Sequence[JointFigures]) -> list[str]:
    """The joints that have no row."""
    still = [joint.joint for joint in some if not joint.n_swings and not joint.n_keys]
    raw = [joint.joint for joint in some if joint.left_out]
    lines = []
    for label, names in (("without a swing", still), ("kept frame by frame", raw)):
        if names:
            more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
            lines.append(f"{label}: {', '.join(map(printable, names[:NAMES_SHOWN]))}{more}")
    return lines


def _axis(swing: Swing) -> str:
    return " ".join(f"{round(part, 2) + 0.0:5.2f}" for part in swing.axis)  # -0.0 + 0.0 is 0.0


def _cell(value: float | None, decimals: int, unit: str = "") -> str:
    return "-" if value is None else f"{value:.{decimals}f}{unit}"


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"
