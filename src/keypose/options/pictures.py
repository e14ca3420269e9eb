"""Options of pictures: strips, timelines, curves, error curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from keypose.options import Option

Layout: TypeAlias = Literal["side", "time", "path", "expanded", "in-place"]
ThemeName: TypeAlias = Literal["light", "dark", "page", "notebook"]
PngTheme: TypeAlias = Literal["light", "dark"]  # without CSS variables
CurveValues: TypeAlias = Literal["auto", "euler", "positions"]

MIN_SIZE_PX, MAX_SIZE_PX = 80.0, 8000.0  # width and height of charts
MIN_STRIP_PX, MAX_STRIP_PX = 16.0, 20_000.0  # width and height of strips
MAX_FRAMES = 2**31 - 1  # frame numbers have 32 bits
MAX_POSES = 300  # keys and ghosts of a strip


@dataclass(frozen=True)
class PngOptions:
    """How a picture becomes a PNG."""

    scale: Annotated[float, Option("Pixels per px of a PNG.", min_value=0.01, max_value=100.0)] = 2.0


@dataclass(frozen=True)
class ChartOptions:
    """The appearance of a chart."""

    theme: Annotated[ThemeName, Option("The colour of the background.")] = "light"
    width_px: Annotated[float, Option("Width of the picture, in px.", min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)] = (
        960.0
    )
    title: Annotated[str | None, Option("The title. Default: the name of the motion.")] = None


@dataclass(frozen=True)
class TimelineOptions(ChartOptions):
    """The appearance of a timeline of swings."""

    joints: Annotated[
        str | tuple[str, ...] | None,
        Option(
            "Joints, body parts or groups to show, such as hands,head. Default: all that swing, except fingers and "
            "toes."
        ),
    ] = None
    actions: Annotated[bool, Option("Show actions above the joints: steps, kicks, turns and others.")] = False
    row_px: Annotated[float, Option("Height of a row, in px.", min_value=6.0, max_value=60.0)] = 15.0
    legend: Annotated[bool, Option("Explain the signs below the rows.")] = True


@dataclass(frozen=True)
class CurvePlotOptions(ChartOptions):
    """The appearance of motion curves."""

    joints: Annotated[
        str | tuple[str, ...] | None,
        Option(
            "Joints, body parts or groups to show, such as hands,head; keys are chosen from these only. Default: show "
            "the four that vary most, and choose keys from all joints of the method."
        ),
    ] = None
    axes: Annotated[str | tuple[str, ...] | None, Option("Axes to show, such as x,z. Default: all three.")] = None
    values: Annotated[
        CurveValues, Option("Euler angles, or positions in the world; auto: positions for markers only.")
    ] = "auto"
    saliency: Annotated[
        bool,
        Option(
            "Plot the saliency below the curves.",
            flag="--no-saliency",
            flag_help="Do not plot the saliency below the curves.",
        ),
    ] = True
    each_axis: Annotated[
        bool,
        Option("Give each axis a panel with its own saliency, candidates, extrema and, by default, the joint's keys."),
    ] = False
    panel_px: Annotated[float, Option("Height of each joint's panel, in px.", min_value=50.0, max_value=600.0)] = 130.0


@dataclass(frozen=True)
class ErrorPlotOptions(ChartOptions):
    """The appearance of an error curve, which is narrower."""

    width_px: Annotated[float, Option("Width of the picture, in px.", min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)] = (
        720.0
    )
    height_px: Annotated[
        float, Option("Height of the picture, in px.", min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)
    ] = 400.0
    unit: Annotated[str, Option("Unit of the costs.")] = ""
    label: Annotated[str, Option("Label of the cost axis.")] = "cost"
    n_frames: Annotated[
        int | None,
        Option("Number of frames, instead of that of the ladders.", min_value=1, max_value=MAX_FRAMES),
    ] = None
    cliffs: Annotated[bool, Option("Mark cliffs, or the knee, with their numbers of keys.")] = True


@dataclass(frozen=True)
class PathPlotOptions(ChartOptions):
    """The appearance of the path of a joint."""

    title: Annotated[str | None, Option("The title. Default: the names of the joint and of the motion.")] = None
    joint: Annotated[str, Option("The joint or body part whose path is drawn.")] = "right_hand"
    view: Annotated[
        str | float,
        Option(
            "Direction of the first view: best (shows most of the motion), front, left, right, back, three-quarter, or "
            "degrees from the figure's front to its left. The second view is from above."
        ),
    ] = "best"
    in_place: Annotated[bool, Option("Leave out the way that the hips travel over the floor.")] = False
    height_px: Annotated[
        float, Option("Height of the picture, in px.", min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)
    ] = 420.0


@dataclass(frozen=True)
class StripOptions:
    """The appearance of a strip of key poses."""

    layout: Annotated[
        Layout,
        Option(
            "Poses side by side, spaced by time, at their true positions, along the path but pushed apart so that no "
            "pose covers another, or all in one place."
        ),
    ] = "side"
    per_row: Annotated[int | None, Option("Number of poses in a row. Default: all.", min_value=1)] = None
    view: Annotated[
        str | float,
        Option(
            "Direction of view: best (shows most of the motion), front, left, right, back, three-quarter, or degrees "
            "from the figure's front to its left."
        ),
    ] = "best"
    ghosts: Annotated[int, Option("Number of faint poses between each two keys.", min_value=0, max_value=MAX_POSES)] = 0
    rank: Annotated[
        bool, Option("Draw less important poses more transparent, for methods that rank their keys, such as farthest.")
    ] = False
    captions: Annotated[
        bool,
        Option("Print frames and times.", flag="--no-captions", flag_help="Do not print frames and times."),
    ] = True
    title: Annotated[str | None, Option("The title. Default: none.")] = None
    theme: Annotated[ThemeName, Option("The colour of the background.")] = "light"
    height_px: Annotated[
        float | None,
        Option("Height of the picture, in px. Default: 180 per row.", min_value=MIN_STRIP_PX, max_value=MAX_STRIP_PX),
    ] = None
    width_px: Annotated[
        float | None, Option("Maximum width, in px.", min_value=MIN_STRIP_PX, max_value=MAX_STRIP_PX)
    ] = None
    size_px: Annotated[
        tuple[float, float] | None,
        Option("Exactly this size, WIDTHxHEIGHT, such as 320x90.", min_value=MIN_STRIP_PX, max_value=MAX_STRIP_PX),
    ] = None
    background: Annotated[
        bool, Option("Draw a background.", flag="--no-background", flag_help="Transparent background.")
    ] = True
    scale: Annotated[
        float | None,
        Option("Pixels per px of a PNG. Default: 2, or 1 with --size-px.", min_value=0.01, max_value=100.0),
    ] = None


@dataclass(frozen=True)
class PageOptions:
    """The appearance of a report."""

    title: Annotated[
        str | None,
        Option("The title of the page, or of the index of several. Default: the motion's name, or their number."),
    ] = None
