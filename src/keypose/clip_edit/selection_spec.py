"""How keys are selected, and how curves are fitted through them.

The API takes the classes as they are: their annotations are its schema.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from keypose.clip_edit.field_checks import (
    MAX_NAMES,
    MAX_TEXT,
    CheckedFields,
    Finite,
    Frame,
    PlainData,
    Text,
    sort_frames,
)
from keypose.errors import OptionError, format_count
from keypose.methods import METHODS
from keypose.model import Motion
from keypose.options import (
    DEFAULT_METHOD,
    CurveOptions,
    ExtremesOptions,
    FeatureKind,
    Interpolation,
    Option,
    RotationKind,
    SelectOptions,
    UnbakeOptions,
    option_of,
)
from keypose.options.clip_edit import MAX_KEYS, ClipKeyOptions
from keypose.validation import check_choice

MIN_LADDER_KEYS, FRAMES_PER_KEY, MAX_LADDER_KEYS = 60, 5, 400  # default size of a ladder
MAX_TOLERANCE_KEYS = 1200  # of a ladder, if a tolerance needs more than that
MIN_INBETWEEN_GAP_S = 1.0  # smallest gap between keys for which in-betweens are measured
MAX_SPANS = 120_000  # whose in-betweens are measured in about a second
MAX_CHORDS = 12_000_000  # whose chords are measured in two or three seconds
MAX_REQUIRED_KEYS = 2000  # of the smallest selection
FAST_METHOD = "farthest"
RESERVED_OPTIONS = ("pins", "excluded", "threads", "top_only")  # fields of their own, or not for clients to set


@dataclass(frozen=True)
class MethodSpec(CheckedFields):
    """A method with its options."""

    method: Annotated[str, option_of(SelectOptions, "method", max_length=MAX_TEXT)] = SelectOptions.method
    pins: Annotated[tuple[Frame, ...], option_of(SelectOptions, "pins", max_length=MAX_KEYS)] = ()
    excluded: Annotated[tuple[Frame, ...], option_of(SelectOptions, "excluded", max_length=MAX_KEYS)] = ()
    options: Annotated[
        dict[Text, Any] | None,
        Option("Of the method: objective, cost, ...; others: the best for the clip in interactive time."),
        PlainData(),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("pins", "excluded"):
            object.__setattr__(self, name, sort_frames(getattr(self, name)))
        check_choice("method", self.method, tuple(METHODS))
        names = tuple(name for name in METHODS[self.method].options if name not in RESERVED_OPTIONS)
        for name in self.options or ():
            if name not in names:
                expected = f"one of {', '.join(names)}" if names else "none"
                raise OptionError(f"is no option of {self.method}", option="options", value=name, expected=expected)

    def cache_key(self) -> tuple[Any, ...]:
        """Return a hashable value that is equal for equal specs only."""
        return _field_values(self, type(self))

    def frame_options(self) -> dict[str, tuple[int, ...]]:
        """Return pins and excluded frames that are set; OptionError if the method has none."""
        frame_sets = {name: getattr(self, name) for name in ("pins", "excluded") if getattr(self, name)}
        for name, frames in frame_sets.items():
            if name not in METHODS[self.method].options:
                supporting = ", ".join(row.name for row in METHODS.values() if name in row.options)
                expected = f"the method {supporting}"
                raise OptionError(f"with {self.method}", option=name, value=frames, expected=expected)
        return frame_sets


@dataclass(frozen=True)
class SelectionSpec(MethodSpec, ExtremesOptions):
    """How keys that all joints share are selected, without their number.

    Frames count from 0; ``first_frame`` and ``last_frame`` are both inclusive. Ladders do not depend on the options of
    extremes, which move the keys of one selection.
    """

    joints: Annotated[tuple[Text, ...] | None, option_of(SelectOptions, "joints", max_length=MAX_NAMES)] = None
    weights: Annotated[dict[Text, Finite] | None, option_of(SelectOptions, "weights", max_length=MAX_NAMES)] = None
    first_frame: Annotated[int | None, option_of(ClipKeyOptions, "first_frame")] = None
    last_frame: Annotated[int | None, option_of(ClipKeyOptions, "last_frame")] = None
    max_keys: Annotated[int | None, option_of(ClipKeyOptions, "max_keys")] = None
    features: Annotated[FeatureKind | None, option_of(SelectOptions, "features")] = None
    smoothing_s: Annotated[float, option_of(SelectOptions, "smoothing_s")] = SelectOptions.smoothing_s

    @property
    def uses_defaults(self) -> bool:
        """Whether ``kp.unbake`` takes all that is set: then it can select by the resulting curves."""
        sees_motion = self.features is None and not self.smoothing_s
        return self.method == DEFAULT_METHOD and not self.options and sees_motion

    @property
    def prefers_extremes(self) -> bool:
        """Whether keys are to be moved to extremes, other than by default."""
        return bool(self.extremes_first) or self.leading is not None

    def extremes_options(self) -> dict[str, Any]:
        """Return the keywords of ``kp.unbake`` that move keys to extremes."""
        return {each.name: getattr(self, each.name) for each in fields(ExtremesOptions)}

    def for_ladder(self) -> SelectionSpec:
        """Return the spec without what the ladder does not depend on."""
        return replace(self, extremes_first=None, leading=None)

    def for_section(self, first: int, last: int) -> SelectionSpec:
        """Return the spec for the section ``first`` to ``last`` of a motion, with frames counted from its start."""
        pins, excluded = (
            tuple(frame - first for frame in frames if first <= frame <= last) for frames in (self.pins, self.excluded)
        )
        return replace(self, first_frame=None, last_frame=None, pins=pins, excluded=excluded)

    def ladder_options(self, motion: Motion, defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the keywords for ``kp.ladder`` and ``kp.select`` besides motion, method and ``max_keys``.

        ``defaults`` are the options of the method that the spec does not set; None: those of ``default_options``.
        """
        first, last = self.frame_range(motion)
        unset_options = default_options(motion, self) if defaults is None else defaults
        options: dict[str, Any] = {**unset_options, **(self.options or {})}
        if self.joints is not None:
            options["joints"] = self.joints
        if self.weights:
            options["weights"] = dict(self.weights)
        if self.features is not None:
            options["features"] = self.features
        if self.smoothing_s:
            options["smoothing_s"] = self.smoothing_s
        if (first, last) != (0, motion.n_frames - 1):
            options["frames"] = (first, last + 1)
        return options | self.frame_options()

    def frame_range(self, motion: Motion) -> tuple[int, int]:
        """Return the first and the last frame of the range; OptionError if the motion has no such range."""
        end = motion.n_frames - 1
        first, last = (
            0 if self.first_frame is None else self.first_frame,
            end if self.last_frame is None else self.last_frame,
        )
        if first > last or last > end:
            option = "first_frame" if last <= end else "last_frame"
            raise OptionError(option=option, value=getattr(self, option), expected=f"a range within 0 to {end}")
        return first, last

    def ladder_max_keys(self, motion: Motion) -> int:
        """Return the largest number of keys of the ladder."""
        first, last = self.frame_range(motion)
        n = last - first + 1
        if self.max_keys is not None:
            return max(2, min(n, self.max_keys))
        required = max(len(self.pins) + 2, min_keys(n, self._max_gap(motion)))
        if required > MAX_REQUIRED_KEYS:
            raise OptionError(
                f"{format_count(n, 'frame', ',')} at once would need "
                f"{format_count(required, 'key', ',')} to begin with",
                code="too_slow",
                expected=f"a range of fewer frames, or another method: {FAST_METHOD} takes any number",
            )
        return max(2, min(n, max(min(max(MIN_LADDER_KEYS, n // FRAMES_PER_KEY), MAX_LADDER_KEYS), 2 * required)))

    def _max_gap(self, motion: Motion) -> int | None:
        gap = {**default_options(motion, self), **(self.options or {})}.get("max_gap_frames")
        return gap if isinstance(gap, int) else None  # other types are rejected by the method


def min_keys(n_frames: int, gap: int | None) -> int:
    """Return the smallest number of keys that are no farther apart than ``gap`` frames; None: no limit."""
    return 2 if gap is None or gap >= n_frames - 1 else math.ceil((n_frames - 1) / max(1, gap)) + 1


def default_options(motion: Motion, spec: SelectionSpec) -> dict[str, Any]:
    """Return the options that give the best keys in interactive time, besides those that the spec sets.

    Keys are best if selected by the error of the curves through them, which takes long for many frames at a high rate:
    there, and for very few keys, they are selected by the shape of the path alone. The longer the clip, the smaller
    the largest gap between keys.
    """
    if spec.method != DEFAULT_METHOD:
        return {}
    first, last = spec.frame_range(motion)
    n = last - first + 1
    inbetween_gap = min(n - 1, MAX_SPANS // n)
    is_enough = spec.max_keys is None or spec.max_keys >= min_keys(n, inbetween_gap)
    is_quick = n > 2 and inbetween_gap >= min(n - 1, MIN_INBETWEEN_GAP_S * motion.fps)
    cost = (spec.options or {}).get("cost")
    sees_motion = spec.features is None and not spec.smoothing_s
    if is_quick and is_enough and sees_motion and cost in (None, "inbetween"):
        return {"cost": "inbetween", "max_gap_frames": inbetween_gap}
    if cost == "inbetween":
        return {}
    chord_gap = MAX_CHORDS // n
    return {} if n - 1 <= 2 * chord_gap else {"max_gap_frames": chord_gap}


def tolerance_specs(
    spec: SelectionSpec, motion: Motion, tolerance_mm: float, curves: CurveSpec
) -> tuple[SelectionSpec, ...]:
    """Return the specs to try, in order, for the fewest keys whose curves stay within a tolerance."""
    interpolation = curves.interpolation or CurveOptions.interpolation
    if spec.uses_defaults and interpolation != "natural":
        first, last = spec.frame_range(motion)
        n = last - first + 1
        key_limits = (max(2, n // 2), max(2, n)) if spec.max_keys is None else (spec.max_keys,)
        options = {"cost": "inbetween", "interpolation": interpolation, "limit_mm": tolerance_mm}
        return tuple(replace(spec, max_keys=limit, options=options) for limit in key_limits)
    return (spec, replace(spec, max_keys=MAX_TOLERANCE_KEYS)) if spec.max_keys is None else (spec,)


# Curves


@dataclass(frozen=True, kw_only=True)
class CurveSpec(CheckedFields, CurveOptions):
    """How curves are fitted through keys: the keywords of ``kp.unbake``."""

    interpolation: Annotated[Interpolation | None, option_of(UnbakeOptions, "interpolation")] = None  # type: ignore[assignment]  # depends on the method
    rotation: Annotated[RotationKind | None, option_of(UnbakeOptions, "rotation")] = None  # type: ignore[assignment]
    polish_weights: Annotated[
        dict[Text, Finite] | None, option_of(CurveOptions, "polish_weights", max_length=MAX_NAMES)
    ] = None

    def curve_options(self) -> dict[str, Any]:
        """Return the keywords of ``kp.unbake``."""
        return {each.name: getattr(self, each.name) for each in fields(CurveSpec)}

    def curve_key(self) -> tuple[Any, ...]:
        """Return a hashable value that is equal for equal curves only."""
        return _field_values(self, CurveSpec)


@dataclass(frozen=True, kw_only=True)
class JointKeysSpec(MethodSpec):
    """How every joint gets keys of its own; without a number or a tolerance the method decides."""

    keys: Annotated[int | None, option_of(ClipKeyOptions, "keys", help="Number of keys of each joint.")] = None
    tolerance_mm: Annotated[float | None, option_of(ClipKeyOptions, "tolerance_mm")] = None

    def unbake_options(self) -> dict[str, Any]:
        """Return the keywords of ``kp.unbake``."""
        count = {"keys": self.keys, "tolerance_mm": self.tolerance_mm}
        return {"per": "joint", "method": self.method, **count, **(self.options or {}), **self.frame_options()}


@dataclass(frozen=True, kw_only=True)
class KeyedSpec(CurveSpec):
    """Keys and the curves through them: ``frames`` that all joints share, or ``joint_keys``."""

    frames: Annotated[
        tuple[Frame, ...] | None, Option("Keys that all joints share.", min_length=1, max_length=MAX_KEYS)
    ] = None
    joint_keys: Annotated[JointKeysSpec | None, Option("Keys of its own for every joint.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.frames is not None:
            object.__setattr__(self, "frames", sort_frames(self.frames))

    def check_keys(self) -> None:
        """Raise OptionError unless there are either ``frames`` or ``joint_keys``."""
        if (self.frames is None) == (self.joint_keys is None):
            raise OptionError(option="frames", value=self.frames, expected="either frames or joint_keys")

    def keyed_key(self) -> tuple[Any, ...]:
        """Return a hashable value that is equal for equal keys and curves only."""
        return _field_values(self, KeyedSpec)


def _field_values(spec: Any, spec_class: Any) -> tuple[Any, ...]:
    return tuple(_hashable(getattr(spec, each.name)) for each in fields(spec_class))


def _hashable(value: Any) -> Any:
    if isinstance(value, MethodSpec):
        return value.cache_key()
    if isinstance(value, Mapping):
        return tuple((name, _hashable(each)) for name, each in value.items())  # of weights the later ones count
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
