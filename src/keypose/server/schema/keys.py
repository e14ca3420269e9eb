"""Keys of one clip: how they are chosen, what they are worth, how they are edited and taken away."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from keypose.server.schema.base import MOST_NAMES, ClipHash, Finite, Frame, Said, Text, Told

MOST_FRAMES = 20_000  # keys in one request
MOST_STEPS = 5_000  # of one edit

Names = Annotated[tuple[Text, ...], Field(max_length=MOST_NAMES)]
Frames = Annotated[tuple[Frame, ...], Field(max_length=MOST_FRAMES)]
Triple = tuple[Finite, Finite, Finite]


class RecipeTold(Told):
    """How keys are chosen, but for their number."""

    method: Text = "salient"
    joints: Names | None = None
    weights: dict[Text, Finite] | None = None
    pins: Frames = ()
    excluded: Frames = ()
    first: Frame | None = Field(None, description="The first frame that counts.")
    last: Frame | None = Field(None, description="The last one.")
    max_keys: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = None
    smoothing_s: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    options: dict[Text, Any] = Field(default_factory=dict, description="Of the method: objective, cost, ...")


class Cliff(Said):
    """A number of keys at which to stop."""

    keys: int
    strength: float


class LadderSaid(Said):
    """Keys for every number of keys."""

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
    """Fewest keys of a recipe whose in-betweens leave no joint farther off."""

    recipe: RecipeTold
    tolerance_mm: Annotated[float, Field(gt=0.0, le=10_000.0)]


class WithinSaid(Said):
    """Those keys."""

    keys: int
    frames: tuple[int, ...]


class UnbakedTold(Told):
    """Curves through keys."""

    frames: Annotated[tuple[Frame, ...], Field(min_length=1, max_length=MOST_FRAMES)]
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    polish: bool = False
    residual: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0


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


class KeysDraft(Told):
    """Keys under edit."""

    kind: Literal["keys"]
    frames: Annotated[tuple[Frame, ...], Field(min_length=1, max_length=MOST_FRAMES)]
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    residual: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    steps: Annotated[tuple[KeyStep, ...], Field(max_length=MOST_STEPS)] = ()


class SwingsDraft(Told):
    """Swings under edit, over the capture."""

    kind: Literal["swings"]
    threshold: Annotated[float, Field(gt=0.0, le=10.0)] = 0.4
    steps: Annotated[tuple[SwingStep, ...], Field(max_length=MOST_STEPS)] = ()


Draft = Annotated[KeysDraft | SwingsDraft, Field(discriminator="kind")]


class DraftKept(Told):
    """What is kept of an edit: the steps that were undone stay, so that they can be done again."""

    draft: Draft
    done: Annotated[int, Field(ge=0, le=MOST_STEPS)] = Field(description="So many of the steps count.")


class DraftSaid(Said):
    """A draft as it was kept."""

    revision: int
    draft: Draft
    done: int


class ExportTold(Told):
    """What to take away of one clip."""

    format: Text = Field(description="A suffix, such as .bvh, .glb, .keys.json, .strip.svg, .report.html")
    frames: Frames | None = Field(None, description="Keys; None: every frame, or the draft's.")
    interpolation: Literal["bezier", "natural", "linear"] = "bezier"
    draft: Draft | None = None
    tolerance_mm: Annotated[float, Field(gt=0.0, le=1000.0)] | None = Field(None, description="For .kps.")


class ExportManyTold(Told):
    """What to take away of several."""

    clips: Annotated[tuple[ClipHash, ...], Field(min_length=1, max_length=1000)]
    format: Text
    keys: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = Field(None, description="None: every frame.")
    tolerance_mm: Annotated[float, Field(gt=0.0, le=1000.0)] | None = None
