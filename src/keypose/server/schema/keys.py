"""Keys of one clip: how they are chosen, what they are worth, how they are edited and taken away."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from keypose.server.schema.base import MOST_NAMES, ClipHash, Few, Finite, Frame, Plain, Said, Text, Told
from keypose.server.schema.clips import ClipRow, SwingBar

MOST_FRAMES = 20_000  # keys in one request
MOST_STEPS = 5_000  # of one edit
MOST_MOMENTS = 2 * MOST_STEPS + 2  # of its history: after each step the detail may change once

Names = Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=MOST_NAMES)]
Frames = Annotated[tuple[Frame, ...], Field(fail_fast=True, max_length=MOST_FRAMES)]
Step = Annotated[int, Field(ge=1, le=10_000, description="Places of every so many frames.")]
Triple = tuple[Finite, Finite, Finite]
Residual = Annotated[float, Field(ge=0.0, le=2.0)]


class RecipeTold(Told):
    """How keys are chosen, but for their number."""

    method: Text = "salient"
    joints: Names | None = None
    weights: Annotated[dict[Text, Finite], Few] | None = None
    pins: Frames = ()
    excluded: Frames = ()
    first: Frame | None = Field(None, description="The first frame that counts.")
    last: Frame | None = Field(None, description="The last one.")
    max_keys: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = None
    smoothing_s: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    options: Annotated[dict[Text, Any], Plain] | None = Field(
        None, description="Of the method: objective, cost, ...; None: what is best for the clip and still quick."
    )


class Cliff(Said):
    """A number of keys at which to stop."""

    keys: int
    strength: float


class LadderSaid(Said):
    """Keys for every number of keys."""

    method: str
    options: dict[str, Any] = Field(description="Of the method, as they were in the end.")
    counts: tuple[int, ...]
    costs: tuple[float, ...]
    unit: str = Field(description="Of the costs: mm, or units of the features.")
    order: tuple[int, ...] | None = Field(description="Frames by importance, where fewer keys are some of more keys.")
    selections: tuple[tuple[int, ...], ...] | None = Field(description="Else the frames for each count.")
    natural: int | None = Field(description="The method's own number of keys.")
    auto: int | None = Field(description="Where the curve of costs says to stop.")
    cliffs: tuple[Cliff, ...]
    took_ms: float


class WithinTold(Told):
    """Fewest keys of a recipe whose curves leave no joint farther off."""

    recipe: RecipeTold
    tolerance_mm: Annotated[float, Field(gt=0.0, le=10_000.0)]
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"


class WithinSaid(Said):
    """Those keys."""

    keys: int
    frames: tuple[int, ...]


class UnbakedTold(Told):
    """Curves through keys."""

    frames: Annotated[Frames, Field(min_length=1)]
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    polish: bool = Field(False, description="Nearest curves and the whole score, when one stops; else at once.")
    residual: Residual = 0.0
    step: Step = 1


class KeyStep(Told):
    """One edit of key poses or of keys. ``op`` says which; each takes what it needs of the rest."""

    op: Literal["rotate", "reach", "shift", "move_key", "insert_key", "delete_key", "mirror", "paste"]
    frame: Frame
    joint: Text | None = None
    quaternion: tuple[Finite, Finite, Finite, Finite] | None = None
    euler_degrees: Triple | None = None
    space: Literal["local", "parent", "world"] = "local"
    to: Triple | Frame | None = Field(None, description="A place in metres, as in /frames; or a frame, for move_key.")
    by: Triple | None = None
    from_frame: Frame | None = None
    ripple: bool = False
    spread_s: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    keep_feet: bool = False


class SwingStep(Told):
    """One edit of a swing, or of all swings of some joints."""

    op: Literal["scale", "shift", "lengthen", "shorten", "delete", "intensify"]
    joint: Text
    index: Annotated[int, Field(ge=0)] | None = None
    factor: Finite | None = None
    by_frames: int | None = None
    anchor: Literal["start", "middle", "end"] | None = Field(
        None, description="Of lengthen and shorten: what stays where it is in time; None: the middle."
    )


class KeysDraft(Told):
    """Keys under edit."""

    kind: Literal["keys"]
    frames: Annotated[Frames, Field(min_length=1)]
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    residual: Residual = 0.0
    steps: Annotated[tuple[KeyStep, ...], Field(fail_fast=True, max_length=MOST_STEPS)] = ()


class SwingsDraft(Told):
    """Swings under edit, over the capture."""

    kind: Literal["swings"]
    threshold: Annotated[float, Field(gt=0.0, le=10.0)] = 0.4
    steps: Annotated[tuple[SwingStep, ...], Field(fail_fast=True, max_length=MOST_STEPS)] = ()


Draft = Annotated[KeysDraft | SwingsDraft, Field(discriminator="kind")]


class EditedTold(Told):
    """An edit to look at."""

    draft: Draft
    step: Step = 1


class FramesHeader(Said):
    """What stands before the arrays ``positions`` (N, J, 3), ``ends`` (N, E, 3) and ``face``, float32, of a clip.

    ``face`` (N, 1, 3) is a point straight ahead of the head; (N, 0, 3): it is not known where one looks.
    Metres on a figure of 1.7 m, Y up, the floor at 0, the middle of the hips' path at X = Z = 0.
    """

    fps: float = Field(description="Of what is shown.")
    n_frames: int = Field(description="Of the clip.")
    step: int = Field(description="Row i shows frame i * step.")
    names: tuple[str, ...]
    parents: tuple[int, ...]
    end_joints: tuple[int, ...] = Field(description="The joint of each end site.")
    head: int | None = Field(description="The joint that carries the face; None: there is none.")


class ScoreSaid(Said):
    """How far a motion is off the capture, in mm on a figure of 1.7 m; null: not measured while one browses."""

    mean_mm: float
    p95_mm: float
    max_mm: float
    worst_frame: int
    worst_joint: str
    mean_deg: float | None
    max_deg: float | None
    foot_slide_mm: float | None
    original_foot_slide_mm: float | None
    key_acceleration: float | None
    stored_values: int | None
    bytes: int | None


class UnbakedHeader(Said):
    """What stands before ``positions``, ``ends``, ``face``; scored: ``per_frame_mm`` (T,), ``per_joint_mm`` (J,)."""

    fps: float
    n_frames: int
    step: int
    keys: tuple[int, ...]
    extremes: tuple[int, ...] = Field(description="Those of the keys that are; the others are breakdowns.")
    score: ScoreSaid | None = Field(description="None: the figure has no height.")


class MethodSaid(Said):
    """The keys of one method, and how far curves through them stray."""

    method: str
    keys: int
    frames: tuple[int, ...]
    score: ScoreSaid | None


class ComparedSaid(Said):
    """Methods side by side, with as many keys as each has up to ``keys``."""

    clip: ClipRow
    keys: int
    methods: tuple[MethodSaid, ...]


class EditedHeader(Said):
    """The same after an edit."""

    fps: float
    n_frames: int = Field(description="After the edit.")
    step: int
    keys: tuple[int, ...] | None = Field(description="None: the draft is one of swings.")
    extremes: tuple[int, ...] | None
    swings: tuple[SwingBar, ...] | None = Field(description="None: the draft is one of keys.")
    history: tuple[str, ...] = Field(description="The steps, as one would type them.")
    changed: tuple[int, int] | None = Field(description="First and last frame that the last step may have changed.")
    notes: tuple[str, ...] = Field(description="What the last step has to say.")
    missed_mm: float | None = Field(description="How far a hand or foot stays from where the last step sent it.")
    score: ScoreSaid | None = Field(description="None: there are more or fewer frames than before.")


class StripTold(Told):
    """Which poses of an edit to show side by side."""

    draft: Draft
    frames: Frames | None = Field(None, description="None: the keys of the draft, or the best ones of edited swings.")
    theme: Literal["light", "dark", "page"] = "light"
    layout: Literal["side", "time", "path", "expanded", "in-place"] = "side"
    height_px: Annotated[float, Field(ge=20.0, le=2000.0)] | None = None


class Moment(Told):
    """A place in the history of an edit."""

    steps: Annotated[int, Field(ge=0, le=MOST_STEPS)] = Field(description="So many are done.")
    residual: Residual


class DraftKept(Told):
    """What is kept of an edit: the steps that were undone stay, so that they can be done again."""

    draft: Draft
    done: Annotated[int, Field(ge=0, le=MOST_STEPS)] = Field(description="So many of the steps count.")
    moments: Annotated[tuple[Moment, ...], Field(fail_fast=True, max_length=MOST_MOMENTS)] | None = Field(
        None, description="The history, where the detail changed on the way; else each step is one."
    )
    at: Annotated[int, Field(ge=0, le=MOST_MOMENTS)] | None = Field(None, description="Which of the moments is now.")

    @model_validator(mode="after")
    def _fits(self) -> DraftKept:
        if self.done > len(self.draft.steps):
            raise ValueError(f"done={self.done}, but there are {len(self.draft.steps)} steps")
        return self


class DraftSaid(Said):
    """A draft as it was kept."""

    revision: int
    draft: Draft
    done: int
    moments: tuple[Moment, ...] | None = None
    at: int | None = None


class ExportTold(Told):
    """What to take away of one clip."""

    format: Text = Field(description="A suffix, such as .bvh, .glb, .keys.json, .strip.svg, .report.html")
    frames: Frames | None = Field(None, description="Keys; None: every frame, or the draft's.")
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    draft: Draft | None = None
    tolerance_mm: Annotated[float, Field(gt=0.0, le=1000.0)] | None = Field(None, description="For .kps.")
    lossless: bool = Field(False, description="For .kps: every number of the frames, in place of a tolerance.")
    theme: Literal["light", "dark"] = Field("light", description="Of strips.")
    layout: Literal["side", "time", "path", "expanded", "in-place"] = Field("side", description="Of strips.")


class ExportManyTold(Told):
    """What to take away of several."""

    clips: Annotated[tuple[ClipHash, ...], Field(fail_fast=True, min_length=1, max_length=1000)]
    format: Text
    keys: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = Field(None, description="None: every frame.")
    tolerance_mm: Annotated[float, Field(gt=0.0, le=1000.0)] | None = None
    lossless: bool = False
