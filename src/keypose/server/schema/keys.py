"""Types of one clip: selections, curves, edits, drafts and export."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from keypose.clip_edit.clip_editor import SwingBar, SwingFigures
from keypose.clip_edit.drafts import MAX_STEPS, Draft, SwingsDraft
from keypose.clip_edit.export import ExportOptions, FileOptions
from keypose.clip_edit.field_checks import MAX_TEXT, Frames
from keypose.clip_edit.selection_spec import CurveSpec, KeyedSpec, SelectionSpec
from keypose.errors import OptionError, format_count
from keypose.metrics import ScoreFigures
from keypose.options import Option, option_of
from keypose.options.clip_edit import MAX_KEYS, ClipKeyOptions, Residual
from keypose.options.pictures import CurvePlotOptions, CurveValues, Layout, PngTheme, StripOptions
from keypose.server.schema import ClipHash, RequestModel, ResponseModel, Text, option_field
from keypose.server.schema.clips import ClipRow

MAX_FRAMES_LENGTH = 5000  # characters of a list of frames
MAX_STRIP_PX = 2000.0  # height of a strip that is drawn for a page
MAX_UNDO_STATES = 2 * MAX_STEPS + 2  # after each step the residual may change once

Stride = Annotated[int, Field(ge=1, le=10_000, description="Positions of every stride-th frame.")]
StripTheme = Literal["light", "dark", "page"]
CurvePicture = Literal["curves", "path", "saliency"]
Axes = Literal["x", "y", "z", "xy", "xz", "yz", "xyz"]


class Cliff(ResponseModel):
    """A number of keys beyond which costs fall slowly."""

    keys: int
    strength: float


class LadderResponse(ResponseModel):
    """The selections for every number of keys."""

    method: str
    options: dict[str, Any] = Field(description="Of the method, with defaults.")
    counts: tuple[int, ...]
    costs: tuple[float, ...]
    unit: str = Field(description="Of the costs: mm, or units of the features.")
    order: tuple[int, ...] | None = Field(
        description="Frames by importance, if smaller selections are part of larger ones."
    )
    selections: tuple[tuple[int, ...], ...] | None = Field(description="Otherwise the frames for each count.")
    natural: int | None = Field(description="The method's own number of keys.")
    auto: int | None = Field(
        description="Of these selections the fewest keys whose curves stay within 1 % of the height; none: no "
        "selection does."
    )
    cliffs: tuple[Cliff, ...]
    elapsed_ms: float


@dataclass(frozen=True, kw_only=True)
class SelectionRequest(CurveSpec):
    """The fewest keys of a spec whose curves stay within a tolerance, or a number of keys."""

    spec: SelectionSpec
    tolerance_mm: Annotated[float | None, option_of(ClipKeyOptions, "tolerance_mm")] = None
    keys: Annotated[int | None, option_of(ClipKeyOptions, "keys")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keys is not None and self.tolerance_mm is not None:
            raise OptionError(option="keys", value=self.keys, expected="either keys or tolerance_mm")


class SelectionResponse(ResponseModel):
    """The selected keys."""

    keys: int
    frames: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class CurvesRequest(KeyedSpec):
    """Curves through keys."""

    quick: Annotated[bool, Option("Curves without polish and a partial score, at once.")] = False
    residual: Residual = 0.0
    stride: Stride = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_keys()


@dataclass(frozen=True, kw_only=True)
class CurvePictureRequest(KeyedSpec):
    """A picture of one joint: its curves in the capture and through the keys, or its path."""

    joint: Annotated[Text, Option("Name of the joint.")]
    picture: Annotated[CurvePicture, Option("Curves over time, the path in space, or the saliency of each axis.")] = (
        "curves"
    )
    axes: Annotated[Axes | None, option_of(CurvePlotOptions, "axes")] = None
    values: Annotated[CurveValues, option_of(CurvePlotOptions, "values")] = CurvePlotOptions.values
    width_px: Annotated[float, option_of(CurvePlotOptions, "width_px")] = CurvePlotOptions.width_px
    theme: Annotated[StripTheme, option_of(CurvePlotOptions, "theme")] = "light"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_keys()


class EditRequest(RequestModel):
    """An edit to apply."""

    draft: Draft
    stride: Stride = 1


class SwingRequest(RequestModel):
    """A swing of a draft, by its joint and its index among the swings of the joint."""

    draft: SwingsDraft
    joint: Annotated[str, Field(max_length=MAX_TEXT)]
    index: Annotated[int, Field(ge=0)]


class FramesHeader(ResponseModel):
    """Header of the arrays ``positions`` (N, J, 3), ``ends`` (N, E, 3) and ``face``, float32, of a clip.

    ``face`` (N, 1, 3) is a point straight ahead of the head; (N, 0, 3): no face was recognised.
    Metres on a figure of 1.7 m, Y up, the floor at 0, the middle of the hips' path at X = Z = 0.
    """

    fps: float = Field(description="Of the rows.")
    n_frames: int = Field(description="Of the clip.")
    stride: int = Field(description="Row i is frame i * stride.")
    names: tuple[str, ...]
    parents: tuple[int, ...]
    end_joints: tuple[int, ...] = Field(description="Joint of each end site.")
    head: int | None = Field(description="Head joint; None: not recognised.")


class RefineRow(ResponseModel):
    """A joint in the table of curve refinement, which counts frames at 30 fps."""

    joint: str
    n_frames: int
    keys_per_axis: tuple[int, ...]
    overlap: int = Field(description="Frames that are keys on any axis.")
    keys: int = Field(description="After reduction.")
    removed_ratio: float = Field(description="Share of the frames that are no keys, 0 to 1.")
    max_error_ratio: float = Field(description="Largest error of the spline, as a share of the amplitude of an axis.")


class CurvesHeader(ResponseModel):
    """Header of ``positions``, ``ends``, ``face`` and, if scored, the errors of ``Score``.

    These are ``per_frame_mm`` (T,) and ``per_joint_mm`` (J,), which are means, and ``max_per_frame_mm`` (T,).
    """

    fps: float
    n_frames: int
    stride: int
    keys: tuple[int, ...]
    extremes: tuple[int, ...] = Field(description="Keys that are extremes; the others are breakdowns.")
    joint_keys: tuple[tuple[int, ...], ...] | None = Field(
        description="Keys of each joint, of its rotation and its translation; None: all joints share the keys."
    )
    refine: tuple[RefineRow, ...] | None = Field(
        description="The table of curve refinement, for keys of each joint by that method."
    )
    extreme_parts: tuple[tuple[str, ...], ...] = Field(
        description="For each key, the parts of the body at the end of their travel, the most prominent first."
    )
    score: ScoreFigures | None = Field(description="None: the figure has no height.")


class MethodComparison(ResponseModel):
    """The keys of one method, and the score of curves through them."""

    method: str
    keys: int
    frames: tuple[int, ...]
    score: ScoreFigures | None


class Comparison(ResponseModel):
    """Methods with their largest selections of up to ``keys`` keys."""

    clip: ClipRow
    keys: int
    methods: tuple[MethodComparison, ...]


class DisplacementRow(ResponseModel):
    """A span in which a joint has not returned to its motion before the step, though it had the time ``return_s``."""

    joint: str
    start: int = Field(description="First frame.")
    end: int = Field(description="Last frame.")
    max_deg: float


class EditHeader(ResponseModel):
    """Header of the arrays of an edit."""

    fps: float
    n_frames: int = Field(description="After the edit.")
    stride: int
    keys: tuple[int, ...] | None = Field(description="None: a draft of swings.")
    extremes: tuple[int, ...] | None
    swings: tuple[SwingBar, ...] | None = Field(description="None: a draft of keys.")
    history: tuple[str, ...] = Field(description="The steps as Python calls.")
    swing_figures: SwingFigures | None = Field(description="Of swings without steps and without captured detail.")
    contacts: dict[str, tuple[tuple[int, int], ...]] | None = Field(
        description="First and last frame of each contact, by foot, of a draft of swings."
    )
    changed_frames: tuple[int, int] | None = Field(
        description="First and last frame that the last step may have changed."
    )
    notes: tuple[str, ...] = Field(description="Of the last step.")
    displacements: tuple[DisplacementRow, ...] = Field(description="Of the last step of swings.")
    reach_error_mm: float | None = Field(description="Distance of a hand or foot from the target of the last step.")
    score: ScoreFigures | None = Field(description="None: the number of frames has changed.")


class SwingHeader(ResponseModel):
    """Header of the arc that the end of a bone describes in a swing.

    ``arc`` (K, 3), metres from the joint, and ``axis`` (3,) are in the frame of the joint's parent. ``origins`` (T, 3)
    and ``rotations`` (T, 3, 3) bring them to display space in each frame.
    """

    joint: str
    index: int
    start: int
    end: int
    start_angle_deg: float = Field(description="About the axis at the first frame, from -180 to 180.")
    angle_deg: float
    axis: tuple[float, float, float] = Field(description="Unit vector in the joint's own frame.")


class ActionRow(ResponseModel):
    """An action: a movement of one limb, of several limbs, or of the whole body."""

    kind: str
    limbs: tuple[str, ...] = Field(description="None: the whole body.")
    start: int
    end: int
    phrase: str
    description: str = Field(description="The phrase with duration and turn.")
    speed_m_per_s: float


class ActionList(ResponseModel):
    """The actions of a clip in order of time."""

    actions: tuple[ActionRow, ...]
    notes: tuple[str, ...] = Field(description="Why there are none.")


class PngStripQuery(BaseModel):
    """A strip of a clip as PNG, as a query string."""

    model_config = ConfigDict(frozen=True)

    frames: str | None = Field(
        None,
        pattern="^[0-9]{1,9}(,[0-9]{1,9})*$",
        max_length=MAX_FRAMES_LENGTH,
        description="Frames separated by commas; none: the stored strip.",
    )
    theme: PngTheme = option_field(StripOptions, "theme")
    layout: Layout = option_field(StripOptions, "layout")
    height_px: float | None = option_field(StripOptions, "height_px", max_value=MAX_STRIP_PX)


class StripQuery(PngStripQuery):
    """A strip of a clip as SVG, as a query string."""

    theme: StripTheme = option_field(StripOptions, "theme")  # type: ignore[assignment]  # has one more
    rank: bool = option_field(StripOptions, "rank")


class ComparisonQuery(BaseModel):
    """Methods to compare, as a query string."""

    model_config = ConfigDict(frozen=True)

    methods: str | None = Field(None, pattern="^[a-z]{1,20}(,[a-z]{1,20}){0,19}$", description="Separated by commas.")
    keys: int | None = option_field(ClipKeyOptions, "keys", max_value=MAX_KEYS)


class StripRequest(RequestModel):
    """A strip of an edit."""

    draft: Draft
    frames: Frames | None = Field(None, description="None: the keys of the draft, or the best ones of edited swings.")
    theme: StripTheme = option_field(StripOptions, "theme")
    layout: Layout = option_field(StripOptions, "layout")
    height_px: float | None = option_field(StripOptions, "height_px", max_value=MAX_STRIP_PX)


class UndoState(RequestModel):
    """A state in the history of an edit."""

    n_steps: Annotated[int, Field(ge=0, le=MAX_STEPS)] = Field(description="Number of steps applied.")
    residual: Residual


class DraftRequest(RequestModel):
    """A draft to save, with the steps that were undone, so that they can be redone."""

    draft: Draft
    n_applied: Annotated[int, Field(ge=0, le=MAX_STEPS)] = Field(
        description="Number of steps applied; the others were undone."
    )
    undo_states: Annotated[tuple[UndoState, ...], Field(fail_fast=True, max_length=MAX_UNDO_STATES)] | None = Field(
        None, description="The history, if the residual changed between steps; otherwise each step is a state."
    )
    undo_index: Annotated[int, Field(ge=0, le=MAX_UNDO_STATES)] | None = Field(
        None, description="Index of the current undo state."
    )

    @model_validator(mode="after")
    def _check_n_applied(self) -> DraftRequest:
        if self.n_applied > len(self.draft.steps):
            raise ValueError(f"n_applied={self.n_applied}, but there are {format_count(len(self.draft.steps), 'step')}")
        return self


class DraftResponse(ResponseModel):
    """A saved draft."""

    revision: int
    draft: Draft
    n_applied: int
    undo_states: tuple[UndoState, ...] | None = None
    undo_index: int | None = None


@dataclass(frozen=True)
class BatchExportRequest(FileOptions):
    """An export of several clips."""

    _: KW_ONLY
    clips: Annotated[tuple[ClipHash, ...], Field(fail_fast=True, min_length=1, max_length=1000)]


# Those types of requests that are no models of pydantic.
DRAFT: TypeAdapter[Draft] = TypeAdapter(Draft)
CURVES: TypeAdapter[CurvesRequest] = TypeAdapter(CurvesRequest)
CURVE_PICTURE: TypeAdapter[CurvePictureRequest] = TypeAdapter(CurvePictureRequest)
SELECTION: TypeAdapter[SelectionRequest] = TypeAdapter(SelectionRequest)
SWINGS_DRAFT: TypeAdapter[SwingsDraft] = TypeAdapter(SwingsDraft)
SPEC: TypeAdapter[SelectionSpec] = TypeAdapter(SelectionSpec)
EXPORT: TypeAdapter[ExportOptions] = TypeAdapter(ExportOptions)
FILE_OPTIONS: TypeAdapter[FileOptions] = TypeAdapter(FileOptions)
