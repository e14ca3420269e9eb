"""Every option that the command line, the web API and Python share: type, default, range and help, declared once.

The command line and the API schema take these classes as they are. Functions of the Python API keep signatures of their
own; ``tests/api/test_options.py`` compares them with the classes. The functions check values against the same ranges.
Here are the options of files, keys, curves and swings; the modules of this package hold those of its other parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, get_type_hints

from keypose.errors import OptionError
from keypose.limits import Limits
from keypose.validation import check_int, check_number

ReferencePose: TypeAlias = Literal["auto", "keep", "drop"]
Gaps: TypeAlias = Literal["fill", "refuse"]
FeatureKind: TypeAlias = Literal["world", "root_matched", "unmatched", "parent_relative", "euler"]
Objective: TypeAlias = Literal["max", "sum"]
Cost: TypeAlias = Literal["chord", "integrated", "inbetween"]
Measure: TypeAlias = Literal["max", "mean"]
MeasuredInterpolation: TypeAlias = Literal["bezier", "linear"]
Interpolation: TypeAlias = Literal["bezier", "natural", "linear"]
RotationKind: TypeAlias = Literal["quaternion", "euler"]
Per: TypeAlias = Literal["pose", "joint"]
LeadingPart: TypeAlias = Literal["hips", "hands", "feet", "left_hand", "right_hand", "left_foot", "right_foot"]
Metric: TypeAlias = Literal["angle", "cosine"]
Fallback: TypeAlias = Literal["keys"]
Timing: TypeAlias = Literal["auto", "keys", "frames"]

DEFAULT_METHOD = "salient"
PIN_WORDS = ("contacts", "extremes")  # that are allowed among the frames of pins
MIN_FPS, MAX_FPS = 1e-3, 1e6
MIN_TOLERANCE_MM, MAX_TOLERANCE_MM = 1e-3, 1e4  # of stored motions, on a figure of 1.7 m
MAX_SMOOTHING_S = 3600.0
MAX_JUMP_PENALTY = 1e6
MAX_RESIDUAL = 10.0  # a larger number is probably a percentage
MAX_WINDOW_S = 10.0
MAX_THRESHOLD = math.pi  # the largest angle between axes
MAX_ANGLE_DEG = 180.0  # the largest angle between rotations
MAX_TRANSLATION_MM = 1e6  # a kilometre, on a figure of 1.7 m
MAX_RAD_PER_S = 1e6


class Bounds(TypedDict, total=False):
    """The range of a number, as keywords of ``check_number``."""

    above: float
    min_value: float
    max_value: float


@dataclass(frozen=True)
class Option:
    """The help text of an option, the range of its value, and the length of a text or sequence.

    The server reads them with pydantic, which calls the two methods that begin with ``__get_pydantic``.
    """

    help: str  # one or two sentences
    flag: str = ""  # of the command line, where it is not the name of the field; --no-... turns the option off
    flag_help: str = ""  # help of the flag, where it is not that of the option
    above: float | None = None
    min_value: float | None = None
    max_value: float | None = None
    min_length: int | None = None
    max_length: int | None = None

    @property
    def bounds(self) -> Bounds:
        """The range, without those ends that are open."""
        ends = {"above": self.above, "min_value": self.min_value, "max_value": self.max_value}
        return {name: end for name, end in ends.items() if end is not None}  # type: ignore[return-value]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the schema of ``source`` with the range and the length; numbers must be finite."""
        schema = handler(source)
        value_schema = schema["schema"] if schema["type"] == "nullable" else schema
        limits = {"gt": self.above, "ge": self.min_value, "le": self.max_value}
        limits |= {"min_length": self.min_length, "max_length": self.max_length}
        value_schema.update({name: limit for name, limit in limits.items() if limit is not None})
        if value_schema["type"] == "float":
            value_schema["allow_inf_nan"] = False
        elif value_schema["type"] == "tuple" and self.max_length is not None:
            value_schema["fail_fast"] = True  # a long list may have as many errors
        elif value_schema["type"] == "dict":  # a long mapping, too
            return {
                "type": "function-before",
                "function": {"type": "no-info", "function": self._check_size},
                "schema": schema,
            }
        return schema

    def _check_size(self, value: Any) -> Any:
        """Return ``value``; ValueError if it is a mapping with too many entries."""
        if isinstance(value, dict) and self.max_length is not None and len(value) > self.max_length:
            raise ValueError(f"{len(value)} entries, expected at most {self.max_length}")
        return value

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the JSON schema with the help text."""
        return handler(schema) | ({"description": self.help} if self.help else {})


_DECLARED: dict[type[Any], Mapping[str, Option]] = {}


def declared_options(options: type[Any]) -> Mapping[str, Option]:
    """Return the options of a class by field name."""
    if options not in _DECLARED:
        hints = get_type_hints(options, include_extras=True)
        _DECLARED[options] = {
            each.name: next(item for item in hints[each.name].__metadata__ if isinstance(item, Option))
            for each in fields(options)
        }
    return _DECLARED[options]


def option_of(options: type[Any], name: str, **changes: Any) -> Option:
    """Return the option of a field, with the ``changes`` of one use of it."""
    return replace(declared_options(options)[name], **changes)


def check_option_int(options: type[Any], name: str, value: Any) -> int:
    """Return ``value`` as an int within the range of the option ``name``. Raise OptionError otherwise."""
    option = declared_options(options)[name]
    try:
        return check_int(name, value, min_value=option.min_value, max_value=option.max_value)
    except OptionError as error:
        raise error.with_fields(option_class=options) from None


def check_option_number(options: type[Any], name: str, value: Any) -> float:
    """Return ``value`` as a finite float within the range of the option ``name``. Raise OptionError otherwise."""
    try:
        return check_number(name, value, **declared_options(options)[name].bounds)
    except OptionError as error:
        raise error.with_fields(option_class=options) from None


def default_of(options: type[Any], name: str) -> Any:
    """Return the default of a field."""
    declared = next(each for each in fields(options) if each.name == name)
    return declared.default if declared.default_factory is MISSING else declared.default_factory()


@dataclass(frozen=True)
class LoadOptions:
    """The keywords of ``load``; each reader uses those that apply to it."""

    reference_pose: Annotated[
        ReferencePose,
        Option(
            "A T-pose before the movement: separated if recognised (auto), left in the movement (keep), or frame 0 "
            "always separated (drop)."
        ),
    ] = "auto"
    asf: Annotated[Path | None, Option("The ASF skeleton of AMC files. Default: searched for beside each file.")] = None
    gaps: Annotated[Gaps, Option("Fill in markers that a C3D file lost for some frames, or refuse the file.")] = "fill"
    animation: Annotated[
        str | int | None, Option("Which animation of a file with several: its name, or its index from 0.")
    ] = None
    fps: Annotated[
        float | None,
        Option(
            "Frame rate of files that state none (AMC), and for sampling keys (glTF, USD, FBX).",
            flag="--read-fps",
            min_value=MIN_FPS,
            max_value=MAX_FPS,
        ),
    ] = None
    limits: Annotated[
        Limits,
        Option(
            "Limits on the size of a file, NAME=NUMBER: joints, depth, frames, bytes (after decompression), expansion "
            "(memory per byte of the file). May be given several times.",
            flag="--limit",
        ),
    ] = field(default_factory=Limits)


DEFAULT_LOAD_OPTIONS = LoadOptions()


class LoadKeywords(TypedDict, total=False):
    """The fields of LoadOptions, except limits, as keywords of functions that pass them on to ``load``."""

    reference_pose: ReferencePose
    asf: str | PathLike[str] | None
    gaps: Gaps
    animation: str | int | None
    fps: float | None


@dataclass(frozen=True)
class OutputOptions:
    """The keywords of ``save`` that are no motions; each writer uses those that apply to it."""

    reference_pose: Annotated[
        bool, Option("Write the separated T-pose as frame 0 again.", flag="--write-reference-pose")
    ] = False
    tolerance_mm: Annotated[
        float | None,
        Option(
            "Maximum error of any point, in mm on a figure of 1.7 m. Default: 1.",
            min_value=MIN_TOLERANCE_MM,
            max_value=MAX_TOLERANCE_MM,
        ),
    ] = None
    lossless: Annotated[bool, Option("Store the exact numbers of the file.")] = False
    into: Annotated[
        Path | None,
        Option(
            "A character (GLB): the result is a copy of it, with its meshes, skins and other animations, in which the "
            "animation that was read is replaced, or one is added."
        ),
    ] = None
    reduce_tracks: Annotated[
        bool,
        Option(
            "With a character, reduce tracks of scale and morph weights that have a key on every frame, within 0.1 % "
            "of their largest value.",
            flag="--no-reduce-tracks",
            flag_help="Keep all keys of the character's tracks of scale and morph weights. Default: those with a key "
            "on every frame are reduced, within 0.1 % of their largest value.",
        ),
    ] = True


@dataclass(frozen=True)
class JobOptions:
    """How work on many files is distributed."""

    jobs: Annotated[
        int | None,
        Option("Number of files processed at once. Default: one per core, fewer for few files.", min_value=1),
    ] = None


@dataclass(frozen=True)
class KeyCountOptions:
    """What decides the number of keys; at most one is set."""

    keys: Annotated[int | None, Option("Number of keys.", min_value=1)] = None
    tolerance_mm: Annotated[
        float | None,
        Option(
            "Fewest keys whose straight in-betweens keep every joint within this error, on a figure of 1.7 m.",
            min_value=0.0,
        ),
    ] = None
    auto: Annotated[bool, Option("Fewest keys whose fitted curves keep every joint within 1 % of the height.")] = False


@dataclass(frozen=True)
class FittedKeyCountOptions(KeyCountOptions):
    """What decides the number of keys with fitted curves between them."""

    tolerance_mm: Annotated[
        float | None,
        Option("Fewest keys whose curves keep every joint within this error, on a figure of 1.7 m.", min_value=0.0),
    ] = None
    auto: Annotated[bool, Option("Fewest keys whose curves keep every joint within 1 % of the height. Default.")] = (
        False
    )


@dataclass(frozen=True)
class FeatureOptions:
    """Which method chooses keys, and what it sees of the motion; None: the default of the method."""

    method: Annotated[str, Option("Selection method.", flag_help="Selection method; keypose methods lists them.")] = (
        DEFAULT_METHOD
    )
    max_keys: Annotated[int | None, Option("Largest number of keys on the error curve.", min_value=1)] = None
    joints: Annotated[
        str | tuple[str, ...] | None, Option("Joints, body parts or groups that count, such as hands,head.")
    ] = None
    weights: Annotated[
        Mapping[str, float] | None,
        Option(
            "Weights of joints, body parts or groups.",
            flag="--weight",
            flag_help="Weight of a joint, body part or group, such as hands=3. May be given several times.",
        ),
    ] = None
    features: Annotated[FeatureKind | None, Option("Features of the poses. Default: those of the method.")] = None
    smoothing_s: Annotated[
        float,
        Option(
            "Smooth the motion before choosing keys: sigma of a Gaussian, in seconds.",
            min_value=0.0,
            max_value=MAX_SMOOTHING_S,
        ),
    ] = 0.0


@dataclass(frozen=True)
class MethodOptions:
    """Options of methods, each of which takes some of them; None: the default of the method."""

    pins: Annotated[
        tuple[int | str, ...],
        Option(
            "Frames that must be keys.",
            flag="--pin",
            flag_help="Frames that must be keys, such as 30,88; the word contacts adds frames in which feet touch or "
            "leave the ground, extremes those in which a part of the body is at the end of its travel.",
        ),
    ] = ()
    excluded: Annotated[
        tuple[int, ...],
        Option(
            "Frames that must not be keys.",
            flag="--exclude",
            flag_help="Frames that must not be keys, such as 30,88.",
        ),
    ] = ()
    objective: Annotated[
        Objective | None, Option("Cost of a selection: the largest cost of its spans, or their sum.")
    ] = None
    cost: Annotated[
        Cost | None,
        Option(
            "Cost of a span: the largest distance from its chord, the sum of squared distances, or the error of the "
            "in-betweens that unbake fits, in mm. Default: chord; inbetween if the number of keys is automatic."
        ),
    ] = None
    interpolation: Annotated[
        MeasuredInterpolation | None,
        Option("In-betweens measured by --cost inbetween: fitted curves, or straight lines."),
    ] = None
    measure: Annotated[
        Measure | None,
        Option(
            "Cost of the in-betweens of a span: their largest error, or their mean error (best with --objective sum)."
        ),
    ] = None
    min_gap_frames: Annotated[int | None, Option("Minimum number of frames from one key to the next.", min_value=1)] = (
        None
    )
    max_gap_frames: Annotated[
        int | None,
        Option(
            "Maximum number of frames from one key to the next. Reduces the memory needed for long takes.", min_value=1
        ),
    ] = None
    loop: Annotated[bool, Option("The motion is a loop whose last pose equals its first.")] = False
    threads: Annotated[
        int | None, Option("Processor cores for one clip. Default: all for long clips.", min_value=1)
    ] = None
    threshold: Annotated[
        float | None,
        Option(
            "Error above which refine adds a key, as a fraction of the curve's range between two keys. Default: 0.13. "
            "Higher gives fewer keys.",
            min_value=0.0,
        ),
    ] = None


@dataclass(frozen=True)
class ExtremesOptions:
    """Whether keys are moved to extremes."""

    extremes_first: Annotated[
        bool | None,
        Option(
            "Of the selections with errors up to 5 % larger, take the one with most keys at extremes, where a part of "
            "the body is at the end of its travel. Default: with auto."
        ),
    ] = None
    leading: Annotated[
        LeadingPart | None,
        Option(
            "The part of the body that leads the motion: of these selections, take the one with most keys at the ends "
            "of its travel, and then of that of other parts."
        ),
    ] = None


@dataclass(frozen=True)
class SelectOptions(MethodOptions, ExtremesOptions, FeatureOptions):
    """How keys are chosen, without their number."""


InterpolationOption: TypeAlias = Annotated[
    Interpolation, Option("In-betweens: cubic curves fitted to the capture, natural splines, or straight lines.")
]


@dataclass(frozen=True, kw_only=True)
class CurveOptions:
    """How curves are fitted through keys."""

    interpolation: InterpolationOption = "bezier"
    rotation: Annotated[
        RotationKind, Option("Store rotations as quaternions, or as Euler angles in each joint's best order.")
    ] = "quaternion"
    shared_tangents: Annotated[
        bool, Option("Use one tangent per key instead of two: curves have no corners at keys.")
    ] = False
    jump_penalty: Annotated[
        float,
        Option("Weight of corners at keys in the fit: 0 none, 0.01 high.", min_value=0.0, max_value=MAX_JUMP_PENALTY),
    ] = 0.0
    polish: Annotated[
        bool | None,
        Option("Refit all tangents together to the world positions of joints. Default where possible."),
    ] = None
    polish_weights: Annotated[
        Mapping[str, float] | None,
        Option(
            "Weight of a joint, body part or group in --polish. Default: feet=3. May be given several times.",
            flag="--polish-weight",
        ),
    ] = None
    smooth: Annotated[
        bool | None,
        Option(
            "Limit the mean acceleration of joints at keys to 1.2 times the capture's, so that they do not jerk there. "
            "Default: polished curves with 93 % of the frames or more removed, if the mean error grows by less than "
            "15 % and the largest not at all."
        ),
    ] = None


ThresholdOption: TypeAlias = Annotated[
    float, Option("Maximum mean difference of axes within a swing, in radians.", min_value=0.0, max_value=MAX_THRESHOLD)
]


@dataclass(frozen=True)
class UnbakeOptions(FittedKeyCountOptions, ExtremesOptions, CurveOptions):
    """The keywords of ``unbake``, without those of its method."""

    method: Annotated[
        str,
        Option("Selection method: salient finds the best keys for the fitted curves; keypose methods lists others."),
    ] = DEFAULT_METHOD
    per: Annotated[
        Per, Option("Keys that all joints share, whole poses (pose), or keys of its own for every joint (joint).")
    ] = "pose"
    interpolation: Annotated[
        Interpolation | None,
        Option(
            "In-betweens: cubic curves fitted to the capture (bezier, the default), natural splines (the default for "
            "keys per joint by methods that see angles), or straight lines."
        ),
    ] = None  # type: ignore[assignment]  # depends on the method
    rotation: Annotated[
        RotationKind | None,
        Option(
            "Store rotations as quaternions (the default), or as Euler angles in each joint's best order; keys per "
            "joint by methods that see angles have those of the file."
        ),
    ] = None  # type: ignore[assignment]
    residual: Annotated[
        bool,
        Option(
            "Store the detail that the curves omit.",
            flag="--no-residual",
            flag_help="Do not store the detail that the curves omit. Then rebake cannot restore it.",
        ),
    ] = True
    max_keys: Annotated[int | None, Option("Largest number of keys on the error curve.", min_value=1)] = None
    threads: Annotated[
        int | None, Option("Processor cores for one clip. Default: all for long clips.", min_value=1)
    ] = None


@dataclass(frozen=True)
class CurveReductionOptions:
    """How plain curves are reduced to keys."""

    tolerance: Annotated[
        float | Mapping[str, float] | None,
        Option(
            "Largest distance of a curve from any of its samples, in its own units: one for all, or by curve or group.",
            flag_help="Largest distance of a curve from any of its samples, in its own units: a number, or for one "
            "curve or group, such as jaw=0.02. May be given several times.",
            above=0.0,
        ),
    ] = None
    keys: Annotated[
        int | Mapping[str, int] | None,
        Option(
            "Largest number of keys, instead of a tolerance: one for all, or by curve or group.",
            flag_help="Largest number of keys of a curve, instead of a tolerance: a number, or for one curve or group, "
            "such as jaw=12. May be given several times.",
            min_value=1,
        ),
    ] = None
    groups: Annotated[
        Mapping[str, Sequence[str]] | Literal["all"] | None,
        Option(
            "Curves that have keys at the same times, by group. Default: every curve has keys of its own.",
            flag="--group",
            flag_help="Curves that have keys at the same times, such as face=jaw,brow; the word all for all curves. "
            "May be given several times. Default: every curve has keys of its own.",
        ),
    ] = None
    interpolation: Annotated[
        MeasuredInterpolation, Option("Between keys: the cubics closest to the samples, or straight lines.")
    ] = "bezier"
    threads: Annotated[int | None, Option("Processor cores, for several curves. Default: all.", min_value=1)] = None


@dataclass(frozen=True)
class RebakeOptions:
    """How captured detail is added to an edit."""

    residual: Annotated[
        float, Option("Amount of detail: 0 none, 1 or 100% all of it, as captured.", max_value=MAX_RESIDUAL)
    ] = 0.7
    timing: Annotated[
        Timing,
        Option(
            "Detail moves with the n-th key (keys), or stays in its frames (frames). auto: keys if keys were moved in "
            "time."
        ),
    ] = "auto"


MAX_RETURN_S = 1e6


@dataclass(frozen=True)
class SwingOptions:
    """How swings are found."""

    threshold: ThresholdOption = 0.4
    metric: Annotated[Metric, Option("Difference of axes: their angle, or 1 minus its cosine.")] = "angle"
    smoothing_s: Annotated[
        float,
        Option("Width of the box filter of angular velocities, in seconds.", min_value=0.0, max_value=MAX_WINDOW_S),
    ] = 10 / 60
    window_s: Annotated[
        float,
        Option("Window that tests whether an axis is stable, in seconds.", above=0.0, max_value=MAX_WINDOW_S),
    ] = 20 / 60
    min_duration_s: Annotated[
        float, Option("Shorter swings are dropped, in seconds.", min_value=0.0, max_value=MAX_WINDOW_S)
    ] = 8 / 60
    rest_rad_per_s: Annotated[
        float,
        Option("Slower joints are at rest, in radians per second.", min_value=0.0, max_value=MAX_RAD_PER_S),
    ] = 0.003 * 60
    left_out: Annotated[
        str | tuple[str, ...] | None,
        Option("Joints, body parts or groups stored frame by frame, or none. Default: fingers, thumbs, toes."),
    ] = None
    fallback: Annotated[Fallback | None, Option("Use keys where swings are inaccurate: slow and still joints.")] = None
    fallback_deg: Annotated[
        float,
        Option(
            "Error above which --fallback applies, in degrees of a joint's rotation.",
            above=0.0,
            max_value=MAX_ANGLE_DEG,
        ),
    ] = 2.8
    translation_mm: Annotated[
        float,
        Option(
            "Maximum error of the curves of the hips' position, on a figure of 1.7 m.",
            min_value=0.0,
            max_value=MAX_TRANSLATION_MM,
        ),
    ] = 1.0


@dataclass(frozen=True)
class SwingBoundOptions:
    """The errors within which the smallest swings are found; None: no bound."""

    max_deg: Annotated[
        float | None,
        Option(
            "Find the smallest swings, with keys, whose rotations are all within this error, in degrees.",
            above=0.0,
            max_value=MAX_ANGLE_DEG,
        ),
    ] = None
    max_mm: Annotated[
        float | None,
        Option(
            "Find the smallest swings whose joint positions are all within this error, on a figure of 1.7 m.",
            above=0.0,
            max_value=MAX_TRANSLATION_MM,
        ),
    ] = None


@dataclass(frozen=True)
class TipOptions:
    """When an edited figure tips over."""

    min_duration_s: Annotated[float, Option("Shorter spans are ignored, in seconds.", min_value=0.0)] = 0.1
    worse_mm: Annotated[
        float,
        Option(
            "Minimum increase of the distance outside the support, against the largest one around that time before the "
            "edit, on a figure of 1.7 m.",
            min_value=0.0,
        ),
    ] = 50.0


ReturnOption: TypeAlias = Annotated[
    float,
    Option(
        "Time before and after edited swings in which joints return to their motion before the edit, in seconds.",
        min_value=0.0,
        max_value=MAX_RETURN_S,
    ),
]


@dataclass(frozen=True)
class SwingEditOptions:
    """How joints return to their motion beside edited swings."""

    return_s: ReturnOption = 1.0


@dataclass(frozen=True)
class SwingFilterOptions:
    """Which swings are selected; None: all."""

    index: Annotated[int | None, Option("The n-th swing of each joint, from 0; -1 is its last.")] = None
    at_s: Annotated[float | None, Option("Swings that are active at this time, in seconds.", min_value=0.0)] = None
    from_s: Annotated[float | None, Option("Swings that end at or after this time.", min_value=0.0)] = None
    to_s: Annotated[float | None, Option("Swings that start at or before this time.", min_value=0.0)] = None
    longer_s: Annotated[float | None, Option("Swings longer than this, in seconds.", min_value=0.0)] = None
    shorter_s: Annotated[float | None, Option("Swings shorter than this, in seconds.", above=0.0)] = None
    wider_deg: Annotated[float | None, Option("Swings with a larger angle, in degrees.", min_value=0.0)] = None
    narrower_deg: Annotated[float | None, Option("Swings with a smaller angle, in degrees.", above=0.0)] = None
