"""Joints of one clip as a table with a timeline, and single swings as a list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from keypose.batch.swings import JointSwingStats, SwingsResult
from keypose.cli import output
from keypose.cli.output import COLUMN_GAP, Column, escape_unprintable
from keypose.swings import Actions, Swing
from keypose.swings.timeline import ContactBar, Row

MAX_ROWS = 2_000
MAX_NAMES = 12
MAX_NAME_WIDTH = 18
PREFERRED_BAR_WIDTH = 36  # optional columns are dropped until the timeline has this width
MIN_COLUMNS = 20
MAX_COLUMNS = 80
OPTIONAL_JOINT_HEADINGS = ("part", "mean deg", "rest", "longest", "keys")  # dropped in this order on a narrow terminal
MIN_WHAT_WIDTH = 28  # of what happens in an action
MIN_FOLLOW_WIDTH = 12
MAX_FOLLOW_WIDTH = 24  # of the limbs that follow
OPTIONAL_SWING_HEADINGS = ("part", "axis", "deg/s", "frames")
STYLES = ("cyan", "magenta")  # alternating, to separate adjacent swings


@dataclass(frozen=True)
class Symbols:
    """The characters of bars."""

    speeds: str  # of swings, from slow to fast
    rest: str
    keys: str
    key_mark: str  # a key, between which a joint rotates evenly
    contact: str


BLOCKS = Symbols("▁▂▃▄▅▆▇█", "·", "─", "•", "━")
PLAIN = Symbols("_-=+*#%@", ".", "~", "o", "=")


def joint_table(clip: SwingsResult, width: int, *, all_joints: bool, plain: bool) -> list[RenderableType]:
    """Return a row per joint that swings (or ``all_joints``), contacts of feet, and a list of hidden joints."""
    assert clip.swings is not None
    selected_joints = [
        joint for joint in clip.joints if all_joints or joint.n_swings or (joint.n_keys and not joint.left_out)
    ]
    timeline = clip.swings.timeline()
    rows = {row.joint: row for row in timeline.rows}
    visible_joints = selected_joints[:MAX_ROWS]
    renderables: list[RenderableType] = []
    if visible_joints:
        signs = PLAIN if plain else BLOCKS
        names = Column(
            "joint", [output.shorten(escape_unprintable(joint.joint), MAX_NAME_WIDTH) for joint in visible_joints]
        )
        others, bar_width = _fit_columns(names, _joint_columns(visible_joints), width)
        bars = [rows[joint.joint] for joint in visible_joints]
        scale = TimeScale(clip.n_frames, bar_width, max_speed(bars), signs)
        grid = _grid(names, others, scale.axis(clip.fps))
        for n, (name, bar) in enumerate(zip(names.cells, bars, strict=True)):
            grid.add_row(Text(name), *(Text(column.cells[n]) for column in others), scale.bar(bar))
        for foot in dict.fromkeys(standing.foot for standing in timeline.contacts):
            stands = scale.feet(standing for standing in timeline.contacts if standing.foot == foot)
            grid.add_row(Text(f"{foot} foot", style="dim"), *(Text("") for _ in others), stands)
        renderables += [
            grid,
            _legend(
                scale, signs, keyed=any(joint.keyed_share for joint in visible_joints), feet=bool(timeline.contacts)
            ),
        ]
    if len(selected_joints) > MAX_ROWS:
        renderables.append(Text(f"and {len(selected_joints) - MAX_ROWS} more joints; --json has all"))
    if not all_joints:
        renderables += [Text(line, style="dim") for line in _hidden_joint_lines(clip.joints)]
    return renderables


def swing_list(clip: SwingsResult, width: int) -> RenderableType:
    """Return a table of the swings that match the filters."""
    assert clip.matches is not None and clip.swings is not None
    matches = clip.matches[:MAX_ROWS]
    if not matches:
        return Text("no swing fits")
    body_parts = dict(zip(clip.swings.skeleton.names, clip.swings.skeleton.anatomy.body_parts, strict=True))
    swings = [swing for _, swing in matches]
    fps = clip.fps
    names = Column("joint", [escape_unprintable(swing.joint) for swing in swings])
    others = [
        Column("part", [body_parts[swing.joint] or "" for swing in swings]),
        Column("index", [str(n) for n, _ in matches], right_aligned=True),
        Column("frames", [f"{swing.start}-{swing.end}" for swing in swings], right_aligned=True),
        Column("from s", [f"{swing.start / fps:.2f}" for swing in swings], right_aligned=True),
        Column("to s", [f"{swing.end / fps:.2f}" for swing in swings], right_aligned=True),
        Column("lasts s", [f"{(swing.end - swing.start) / fps:.2f}" for swing in swings], right_aligned=True),
        Column("deg", [f"{swing.angle_deg:.1f}" for swing in swings], right_aligned=True),
        Column(
            "deg/s",
            [f"{swing.angle_deg / (swing.end - swing.start) * fps:.0f}" for swing in swings],
            right_aligned=True,
        ),
        Column("axis", [_format_axis(swing) for swing in swings], right_aligned=True),
    ]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_SWING_HEADINGS)
    return output.build_table(names, visible_columns, width)


def action_list(actions: Actions, width: int) -> RenderableType:
    """Return a table of actions, or why there are none."""
    rows = actions.all[:MAX_ROWS]
    if not rows:
        return Text(actions.notes[0] if actions.notes else "no actions")
    starts = Column("from s", [f"{action.start_s:.2f}" for action in rows], right_aligned=True)
    ends = Column("to s", [f"{action.end_s:.2f}" for action in rows], right_aligned=True)
    what = [escape_unprintable(action.phrase) for action in rows]
    optional = [
        Column("deg", [f"{action.turn_deg:.0f}" if action.turn_deg else "" for action in rows], right_aligned=True),
        Column("m/s", [f"{action.speed_m_per_s:.1f}" for action in rows], right_aligned=True),
    ]
    lead = Column("lead", [escape_unprintable(action.lead) for action in rows])
    follow = [escape_unprintable(", ".join(action.follow)) for action in rows]
    what_width, follow_width = max(map(len, what)), min(max(map(len, (*follow, "follow"))), MAX_FOLLOW_WIDTH)
    while optional and _remaining_width(starts, [ends, *optional, lead], width) < what_width + follow_width:
        optional.pop()
    space = _remaining_width(starts, [ends, *optional, lead], width) - COLUMN_GAP
    follow_width = min(follow_width, space - COLUMN_GAP - min(what_width, MIN_WHAT_WIDTH))
    followers = []
    if follow_width >= MIN_FOLLOW_WIDTH:
        followers = [Column("follow", [output.shorten(text, follow_width) for text in follow])]
        space -= follow_width + COLUMN_GAP
    phrases = Column("what", [output.shorten(text, max(space, MIN_WHAT_WIDTH)) for text in what])
    return output.build_table(starts, [ends, phrases, *optional, lead, *followers], width)


def _joint_columns(joints: Sequence[JointSwingStats]) -> list[Column]:
    """Return the columns of the table of joints; keys only if there are any."""
    return [
        Column("part", [joint.body_part or "" for joint in joints]),
        Column("swings", [str(joint.n_swings) for joint in joints], right_aligned=True),
        Column("longest", [_format_cell(joint.max_duration_s, 2, " s") for joint in joints], right_aligned=True),
        Column("swing", [_format_percent(joint.swing_share) for joint in joints], right_aligned=True),
        Column("rest", [_format_percent(joint.rest_share) for joint in joints], right_aligned=True),
        *(
            [Column("keys", [str(joint.n_keys) for joint in joints], right_aligned=True)]
            if any(j.n_keys for j in joints)
            else []
        ),
        Column("mean deg", [_format_cell(joint.mean_deg, 0) for joint in joints], right_aligned=True),
        Column("max deg", [_format_cell(joint.max_deg, 0) for joint in joints], right_aligned=True),
    ]


def _fit_columns(names: Column, others: list[Column], width: int) -> tuple[list[Column], int]:
    """Return the columns that fit beside the timeline, and the width of the timeline."""
    for heading in OPTIONAL_JOINT_HEADINGS:
        if _remaining_width(names, others, width) >= PREFERRED_BAR_WIDTH:
            break
        others = [column for column in others if column.heading != heading]
    return others, max(MIN_COLUMNS, min(MAX_COLUMNS, _remaining_width(names, others, width)))


def _remaining_width(names: Column, others: Sequence[Column], width: int) -> int:
    return width - 2 - sum(column.width + COLUMN_GAP for column in (names, *others))


def _grid(names: Column, others: Sequence[Column], axis: str) -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(names.heading, no_wrap=True, style="cyan")
    for column in others:
        grid.add_column(column.heading, no_wrap=True, justify="right" if column.right_aligned else "left")
    grid.add_column(Text(axis), no_wrap=True)
    return grid


def _legend(scale: TimeScale, symbols: Symbols, *, keyed: bool, feet: bool) -> Text:
    text = Text()
    for n, sign in enumerate((symbols.speeds[0], symbols.speeds[len(symbols.speeds) // 2], symbols.speeds[-1])):
        text.append(sign, STYLES[n % 2])
    text.append(f" swings, the higher the faster (up to {scale.max_speed:.0f} degrees a second)", "dim")
    symbols_by_label = {
        "rest": symbols.rest,
        "keys": f"{symbols.keys}{symbols.key_mark}" if keyed else "",
        "stands": symbols.contact * feet,
    }
    for label, sign in symbols_by_label.items():
        if not sign:
            continue
        text.append("  ").append(sign).append(f" {label}", "dim")
    return text


def _hidden_joint_lines(joints: Sequence[JointSwingStats]) -> list[str]:
    """Return lines that list the joints without a row."""
    still = [joint.joint for joint in joints if not joint.n_swings and not joint.n_keys]
    raw = [joint.joint for joint in joints if joint.left_out]
    lines = []
    for label, names in (("without a swing", still), ("stored frame by frame", raw)):
        if names:
            more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
            lines.append(f"{label}: {', '.join(map(escape_unprintable, names[:MAX_NAMES]))}{more}")
    return lines


def _format_axis(swing: Swing) -> str:
    return " ".join(f"{round(part, 2) + 0.0:5.2f}" for part in swing.axis)  # -0.0 + 0.0 is 0.0


def _format_cell(value: float | None, decimals: int, unit: str = "") -> str:
    return "-" if value is None else f"{value:.{decimals}f}{unit}"


def _format_percent(fraction: float) -> str:
    return f"{100 * fraction:.0f} %"


@dataclass(frozen=True)
class TimeScale:
    """Map frames to columns and speeds to bar heights; ``max_speed`` has the full height."""

    n_frames: int
    columns: int
    max_speed: float  # degrees per second
    symbols: Symbols = BLOCKS

    def bar(self, row: Row) -> Text:
        """Return the bar of one joint: each column shows what lasts for at least half of its frames."""
        kinds = ("swing", "rest", "keys")
        frames_by_kind = {kind: np.zeros(self.columns) for kind in kinds}
        speed, parity = np.zeros(self.columns), np.zeros((2, self.columns))
        swing_index = 0
        for bar in row.bars:
            for column, frames in self._columns(bar.start, bar.end):
                frames_by_kind[bar.kind][column] += frames
                if bar.deg_per_s is not None:
                    speed[column] += frames * bar.deg_per_s
                    parity[swing_index % 2, column] += frames
            swing_index += bar.kind == "swing"
        text = Text(no_wrap=True)
        width = self.n_frames / self.columns
        for column in range(self.columns):
            main_kind = max(kinds, key=lambda kind: frames_by_kind[kind][column])
            frames = frames_by_kind[main_kind][column]
            if frames < width / 2:
                text.append(self.symbols.key_mark if frames_by_kind["keys"][column] else " ")
            elif main_kind == "swing":
                style = STYLES[int(parity[1, column] > parity[0, column])]
                text.append(self._symbol_for_speed(speed[column] / frames), style)
            else:
                text.append(*((self.symbols.rest, "dim") if main_kind == "rest" else (self.symbols.keys, "")))
        return text

    def feet(self, standings: Iterable[ContactBar]) -> Text:
        """Return a bar of the columns in which a foot is in contact for at least half of the frames."""
        frames_by_column = np.zeros(self.columns)
        for standing in standings:
            for column, frames in self._columns(standing.start, standing.end):
                frames_by_column[column] += frames
        return Text(
            "".join(
                self.symbols.contact if frames >= self.n_frames / self.columns / 2 else " "
                for frames in frames_by_column
            ),
            no_wrap=True,
        )

    def axis(self, fps: float) -> str:
        """Return the time axis, labelled with round seconds."""
        last_s = self.n_frames / fps
        labels = [" "] * (self.columns + 8)
        step = _round_step(last_s, self.columns / 8)
        for n in range(int(last_s / step) + 1):
            label = f"{n * step:g}" + ("" if n else " s")
            at = int(n * step / last_s * self.columns)
            if at + len(label) <= self.columns:
                labels[at : at + len(label)] = label
        return "".join(labels[: self.columns]).rstrip()

    def _columns(self, start: int, end: int) -> Iterable[tuple[int, float]]:
        """Yield the columns of the frames ``start`` to ``end``, with the number of these frames in each."""
        first, after = (frame * self.columns / self.n_frames for frame in (start, end + 1))
        for column in range(int(first), min(math.ceil(after), self.columns)):
            part = min(after, column + 1) - max(first, column)
            yield column, part * self.n_frames / self.columns

    def _symbol_for_speed(self, deg_per_s: float) -> str:
        """Return the symbol of a speed; heights grow with its square root, so that slow swings stay visible."""
        share = math.sqrt(min(1.0, deg_per_s / self.max_speed)) if self.max_speed > 0 else 0.0
        return self.symbols.speeds[min(int(share * len(self.symbols.speeds)), len(self.symbols.speeds) - 1)]


def max_speed(rows: Sequence[Row]) -> float:
    """Return the speed of the fastest swing, in degrees per second."""
    return max((bar.deg_per_s or 0.0 for row in rows for bar in row.bars), default=0.0)


def _round_step(span: float, labels: float) -> float:
    """Return a round number of seconds that divides ``span`` into at most ``labels`` steps."""
    sizes = (digit * 10.0**exponent for exponent in range(-4, 12) for digit in (1, 2, 5))
    return next(size for size in sizes if span / size <= max(1.0, labels))
